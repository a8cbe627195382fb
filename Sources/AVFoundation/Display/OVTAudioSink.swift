// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Plays the audio of an `AVSampleBufferAudioRenderer` or an `AVPlayer`. This protocol is an
/// addition of this package.
///
/// The product `OpenVideoToolboxDisplay` contains a sink for the system's audio device. Without a
/// sink audio is consumed at the pace of its timebase.
public protocol OVTAudioSink: AnyObject, Sendable {
  /// Fills a buffer with interleaved samples from -1 to 1.
  ///
  /// - Parameters:
  ///   - samples: The buffer, whose size is a whole number of frames.
  ///   - hostTime: The time of the host clock at which the first frame will be heard.
  typealias Source =
    @Sendable (_ samples: UnsafeMutableBufferPointer<Float>, _ hostTime: CMTime) -> Void

  /// Starts to ask for audio. Called again when the format changes.
  /// - Parameters:
  ///   - sampleRate: Frames per second.
  ///   - channels: The number of channels.
  ///   - source: Provides the audio. The sink may call it from any thread, but not from several at
  ///     once.
  /// - Throws: An error if the device cannot be used.
  func start(sampleRate: Double, channels: Int, source: @escaping Source) throws
  /// Stops asking for audio. The source is not called after this method has returned.
  func stop()
}
