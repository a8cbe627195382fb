// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia
import Foundation

/// A packet of Opus.
struct OpusPacket: Sendable {
  var bytes: [UInt8]
  /// The place of its first sample on the time line of the audio, and its length, in samples of
  /// 48 kHz. The audio begins before its first sample by as much as the encoder delays it.
  var position: Int64
  var samples: Int
}

/// Encodes audio of 48 kHz as Opus, in packets of 20 ms (RFC 7587, 4.2).
final class OpusEncoding {
  static let rate = PCMFormat.rate
  /// The bit rate of a channel, in bits a second.
  private static let ratePerChannel = 48_000

  private let encoder: AudioEncoder
  private let source: AudioStreamBasicDescription
  private var joiner: AudioJoiner

  /// - Parameters:
  ///   - channels: one or two.
  ///   - maxRate: the highest bit rate that the other end wants, in bits a second; nil for none.
  /// - Throws: a `Failure` if libavcodec has no encoder of Opus.
  init(channels: Int, maxRate: Int? = nil) throws {
    guard AudioCodec.opus.isAvailable else {
      throw Failure("this libavcodec has no encoder of Opus (libopus); omit the audio with --no-audio")
    }
    source = PCMFormat.floats(channels: channels)
    joiner = AudioJoiner(channels: channels)
    var request = AudioEncoder.Request()
    request.codec = .opus
    request.sampleRate = Self.rate
    request.channels = channels
    request.bitRate = min(Self.ratePerChannel * channels, maxRate ?? .max)
    request.framesPerPacket = Self.rate / 50
    do { encoder = try AudioEncoder(request, source: source) } catch let error as MediaFileError {
      throw Failure("the audio cannot be encoded: \(error.detail)")
    }
  }

  /// Encodes audio.
  /// - Parameters:
  ///   - data: interleaved samples of 32 bits in floating point.
  ///   - position: the time of the first frame, in frames; what is before 0 is cut.
  /// - Returns: the packets that are complete.
  func encode(_ data: Data, at position: Int64) throws -> [OpusPacket] {
    guard let piece = joiner.add(data, at: position) else { return [] }
    return try encode(piece)
  }

  private func encode(_ piece: AudioJoiner.Piece) throws -> [OpusPacket] {
    do {
      let time = CMTime(value: piece.position, timescale: CMTimeScale(Self.rate))
      return try encoder.encode([UInt8](piece.data), source: source, time: time).map { sample in
        let start = sample.presentationTimeStamp.convertScale(CMTimeScale(Self.rate), method: .default)
        let bytes = try sample.dataBuffer?.dataBytes() ?? Data()
        return OpusPacket(bytes: [UInt8](bytes), position: start.value, samples: Self.rate / 50)
      }
    } catch let error as MediaFileError {
      throw Failure("the audio cannot be encoded: \(error.detail)")
    }
  }
}
