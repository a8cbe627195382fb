// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation

/// Decodes packets of Opus to interleaved samples of 32 bits in floating point, stereo at 48 kHz.
final class OpusDecoding {
  static let channels = 2

  private let decoder: AudioDecoder
  /// The number of packets that could not be decoded.
  private(set) var errors = 0

  /// - Throws: a `Failure` if libavcodec has no decoder of Opus.
  init() throws {
    do {
      var basic = AudioStreamBasicDescription()
      basic.mFormatID = kAudioFormatOpus
      basic.mSampleRate = Double(OpusEncoding.rate)
      basic.mChannelsPerFrame = UInt32(Self.channels)
      basic.mFramesPerPacket = UInt32(OpusEncoding.rate / 50)
      let format = try CMFormatDescription(audioStreamBasicDescription: basic)
      decoder = try AudioDecoder(
        format,
        format: AudioDecoder.Format(
          bits: 32, isFloat: true, isBigEndian: false, isInterleaved: true, sampleRate: OpusEncoding.rate,
          channels: Self.channels))
    } catch let error as MediaFileError {
      throw Failure("the audio cannot be decoded: \(error.detail)")
    }
  }

  /// Decodes a packet.
  /// - Returns: the samples; empty if it is damaged.
  func decode(_ bytes: [UInt8]) -> Data {
    guard let packet = bytes.withUnsafeBytes({ MediaPacket(copying: $0) }) else { return Data() }
    var samples = Data()
    do {
      try decoder.send(packet)
      // Silence has no data: its place stays empty until the next packet.
      while let chunk = try decoder.next() { samples.append(chunk.data) }
    } catch {
      samples = Data()
    }
    if samples.isEmpty { errors += 1 }
    return samples
  }
}
