// SPDX-License-Identifier: Apache-2.0
import CoreAudioTypes

/// Provides the audio that a tap processes: floating-point samples, with a separate buffer for each
/// channel.
package final class TapSource {
  package struct Part {
    /// Pointers to the first sample of each channel, which are valid until the next call.
    package var planes: [UnsafeMutablePointer<Float>]
    package var frames: Int
    package var flags: MTAudioProcessingTapFlags
    package var range: CMTimeRange

    package init(
      planes: [UnsafeMutablePointer<Float>], frames: Int, flags: MTAudioProcessingTapFlags, range: CMTimeRange
    ) {
      self.planes = planes
      self.frames = frames
      self.flags = flags
      self.range = range
    }
  }

  package let channels: Int
  /// Returns the given number of frames, or fewer if fewer are left.
  let take: (Int) -> Part

  package init(channels: Int, take: @escaping (Int) -> Part) {
    self.channels = channels
    self.take = take
  }
}
