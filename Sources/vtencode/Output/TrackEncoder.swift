// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation

/// Makes the samples of a track as an output stores them: encodes audio as AAC, and leaves all
/// others as they are.
final class TrackEncoder {
  /// The format of the samples that `encode` returns.
  let format: CMFormatDescription
  private let encoder: AudioEncoder?

  /// - Throws: `MediaFileError` if the sound cannot be encoded; a `Failure` if the format is not
  ///   known.
  init(_ track: OutputTrack) throws {
    guard let encoding = track.encoding else {
      guard let format = track.format else { throw Failure("a track of unknown format cannot be written") }
      (self.format, encoder) = (format, nil)
      return
    }
    var request = AudioEncoder.Request()
    request.sampleRate = Int(encoding.sampleRate)
    request.channels = encoding.channels
    request.bitRate = encoding.bitRate
    let channels = UInt32(encoding.channels)
    // As `AudioTrack` decodes it.
    let source = AudioStreamBasicDescription(
      mSampleRate: encoding.sampleRate, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsFloat | kAudioFormatFlagIsPacked, mBytesPerPacket: 4 * channels,
      mFramesPerPacket: 1, mBytesPerFrame: 4 * channels, mChannelsPerFrame: channels, mBitsPerChannel: 32,
      mReserved: 0)
    let encoder = try AudioEncoder(request, source: source)
    (format, self.encoder) = (encoder.formatDescription, encoder)
  }

  /// - Returns: the samples that are complete.
  func encode(_ sample: CMSampleBuffer) throws -> [CMSampleBuffer] {
    guard let encoder else { return [sample] }
    guard let basic = sample.formatDescription?.audioStreamBasicDescription,
      let data = try sample.dataBuffer?.dataBytes()
    else { return [] }
    return try encoder.encode([UInt8](data), source: basic, time: sample.presentationTimeStamp)
  }

  /// - Returns: the last samples.
  func finish() throws -> [CMSampleBuffer] { try encoder?.finish() ?? [] }
}
