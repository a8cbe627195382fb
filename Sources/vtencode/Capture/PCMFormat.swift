// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// The audio format between its source and an encoder.
enum PCMFormat {
  /// Frames per second.
  static let rate = 48_000

  /// Interleaved samples of 32 bits in floating point, at 48 kHz.
  static func floats(channels: Int) -> AudioStreamBasicDescription {
    AudioStreamBasicDescription(
      mSampleRate: Double(rate), mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsFloat | kAudioFormatFlagIsPacked,
      mBytesPerPacket: 4 * UInt32(channels), mFramesPerPacket: 1, mBytesPerFrame: 4 * UInt32(channels),
      mChannelsPerFrame: UInt32(channels), mBitsPerChannel: 32, mReserved: 0)
  }
}

extension AudioJoiner.Piece {
  /// Makes the sample of the piece for a writer.
  /// - Parameter origin: the time of position 0.
  func sample(from origin: CMTime = .zero) throws -> CMSampleBuffer {
    let channels = data.count / 4 / max(frames, 1)
    let format = try CMFormatDescription(audioStreamBasicDescription: PCMFormat.floats(channels: channels))
    let block = try CMBlockBuffer(length: data.count)
    try data.withUnsafeBytes { try block.replaceDataBytes(with: $0) }
    let scale = CMTimeScale(PCMFormat.rate)
    return try CMSampleBuffer(
      dataBuffer: block, formatDescription: format, numSamples: frames,
      sampleTimings: [
        CMSampleTimingInfo(
          duration: CMTime(value: 1, timescale: scale),
          presentationTimeStamp: origin + CMTime(value: position, timescale: scale),
          decodeTimeStamp: .invalid)
      ], sampleSizes: [4 * channels])
  }
}
