// SPDX-License-Identifier: Apache-2.0
import CoreAudioTypes

/// Gives a tap the sound that it is to process: floating-point samples, each channel on its own.
package final class TapSource {
  package struct Part {
    /// The first sample of each channel, valid until the next call.
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
  /// Gives as many frames as are asked for, or those that are left.
  let take: (Int) -> Part

  package init(channels: Int, take: @escaping (Int) -> Part) {
    self.channels = channels
    self.take = take
  }
}
