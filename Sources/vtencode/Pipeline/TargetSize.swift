// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

extension EncodingPlan {
  /// The bytes of a file in which a movie's index and headers are estimated to be: a part of the
  /// whole, and some for each frame.
  private static func overhead(of bytes: Double, frames: Double) -> Double {
    4096 + bytes * 0.002 + frames * 24
  }

  /// Sets the bit rate so that the file has at most a size.
  /// - Parameters:
  ///   - bytes: the size; nil changes nothing.
  ///   - source: the movie, which must say how long it is.
  ///   - destination: the output, which decides whether there is audio.
  /// - Throws: a `Failure` if the size is too small for the movie.
  mutating func setTargetSize(
    _ bytes: Int64?, source: MovieSource, destination: Destination
  ) throws {
    guard let bytes else { return }
    guard let seconds = expectedDuration(of: source), !isStill else {
      throw Failure(
        "--target-size requires a movie with a known duration, or --duration", status: 64)
    }
    let audio = audioRate(of: source, in: destination)
    let size = Double(bytes)
    let frames = seconds * source.frameRate
    let rate = (size - Self.overhead(of: size, frames: frames)) * 8 / seconds - audio
    guard rate >= Double(BitRate.allowed.lowerBound) * 8 else {
      throw Failure(
        "\(TextFormat.bytes(Int(clamping: bytes))) are too few for \(TextFormat.fixed(seconds, 1)) s"
          + (audio > 0 ? " with audio of \(TextFormat.bitRate(audio))" : "")
          + "; give a larger --target-size" + (audio > 0 ? ", --no-audio or a lower --audio-bitrate" : ""),
        status: 64)
    }
    targetBytes = bytes
    quality = nil
    bitRate = min(Int(rate * 0.985), maximumRate ?? .max, BitRate.allowed.upperBound)
  }

  /// The bit rate of the audio tracks that will be written, in bits a second.
  private func audioRate(of source: MovieSource, in destination: Destination) -> Double {
    guard destination.holdsAudio, audio != .none else { return 0 }
    return source.audioTracks.reduce(0) { sum, track in
      let isCopied = audio == .copy || audio == .auto && (track.format.map { destination.plays($0) } ?? false)
      let encoded = Double(audioBitRate ?? min(64_000 * min(track.channels, 6), 384_000))
      return sum + (isCopied && track.dataRate > 0 ? track.dataRate : encoded)
    }
  }
}
