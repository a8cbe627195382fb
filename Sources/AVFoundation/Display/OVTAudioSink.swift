// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Of this package, not Apple's: where the sound of an `AVSampleBufferAudioRenderer` or an `AVPlayer` is heard.
///
/// The product `OpenVideoToolboxDisplay` has one for the machine's sound device. Without a sink sound is consumed in
/// silence, at the pace of its time line.
public protocol OVTAudioSink: AnyObject, Sendable {
  /// Fills a buffer with interleaved samples from -1 to 1.
  ///
  /// Of the parameters:
  ///
  /// - `samples`: As many as the sink wants, a whole number of frames.
  /// - `hostTime`: When the first of them will be heard, by the host's clock.
  typealias Source =
    @Sendable (_ samples: UnsafeMutableBufferPointer<Float>, _ hostTime: CMTime) -> Void

  /// Begins to ask for sound; called again when the format changes. The source may be called from any thread, one call
  /// at a time.
  func start(sampleRate: Double, channels: Int, source: @escaping Source) throws
  /// Asks for nothing more once this has returned.
  func stop()
}
