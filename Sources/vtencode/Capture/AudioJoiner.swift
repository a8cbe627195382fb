// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Joins pieces of audio at their times to one without gaps and overlaps, as an encoder needs it:
/// gaps become silence, and what overlaps is cut.
struct AudioJoiner {
  /// A piece of audio, as interleaved samples of 32 bits in floating point.
  struct Piece: Equatable {
    var data: Data
    /// The time of the first frame, in frames.
    var position: Int64
    var frames: Int
  }

  /// Differences below this are jitter of time stamps: 5 ms at 48 kHz.
  static let tolerance: Int64 = 240
  /// The longest gap that is filled at once, in frames: ten seconds. After a longer one the time of
  /// the next piece says so.
  static let longestFill: Int64 = 10 * 48_000

  let channels: Int
  /// The time of the next frame; nothing before it is output.
  private(set) var next: Int64

  /// - Parameters:
  ///   - channels: the number of channels.
  ///   - start: the time of the first frame.
  init(channels: Int, start: Int64 = 0) {
    (self.channels, next) = (channels, start)
  }

  private var frameSize: Int { 4 * channels }

  /// Adds a piece.
  /// - Parameters:
  ///   - data: the samples.
  ///   - position: the time of the first frame, in frames.
  /// - Returns: what is to be encoded next; nil if that is nothing.
  mutating func add(_ data: Data, at position: Int64) -> Piece? {
    let frames = data.count / frameSize
    let gap = position.subtractingReportingOverflow(next)
    guard !gap.overflow else { return nil }
    if gap.partialValue > Self.longestFill { next = position }
    if gap.partialValue > Self.longestFill || gap.partialValue.magnitude <= UInt64(Self.tolerance) {
      return take(data, frames)
    }
    if gap.partialValue > 0 {
      let missing = Int(gap.partialValue)
      return take(Data(count: missing * frameSize) + data, missing + frames)
    }
    guard gap.partialValue > -Int64(frames) else { return nil }
    let cut = Int(-gap.partialValue)
    return take(data.dropFirst(cut * frameSize), frames - cut)
  }

  /// Adds silence up to a time.
  /// - Returns: the silence; nil if the audio has come that far.
  mutating func fill(to position: Int64) -> Piece? {
    let missing = min(position - next, Self.longestFill)
    guard missing > 0 else { return nil }
    return take(Data(count: Int(missing) * frameSize), Int(missing))
  }

  private mutating func take(_ data: Data, _ frames: Int) -> Piece? {
    guard frames > 0 else { return nil }
    defer { next += Int64(frames) }
    return Piece(data: data, position: next, frames: frames)
  }
}
