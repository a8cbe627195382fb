// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The frames of a movie of which parts were encoded again: a silo with all of the first version,
/// and further silos with the frames that replace some of its frames. No frame is removed from a
/// silo before its replacement is complete, so that a pass that fails, for example on a full disk,
/// leaves the movie as it was.
package struct LayeredSilo {
  /// A range of decode times, and the silo whose frames are those of it.
  private struct Piece {
    var range: CMTimeRange
    let silo: VTFrameSilo
  }

  /// The silo with all frames of the first version.
  package let whole: VTFrameSilo
  /// The replaced ranges, ascending and without overlap.
  private var pieces: [Piece] = []

  /// Creates a movie of which nothing is replaced.
  /// - Parameter whole: The silo with all frames.
  package init(_ whole: VTFrameSilo) { self.whole = whole }

  /// Replaces the frames of some ranges.
  /// - Parameters:
  ///   - ranges: Ranges of decode times, ascending and without overlap.
  ///   - silo: The frames that replace those of the ranges; it must not have any others.
  package mutating func replace(_ ranges: [CMTimeRange], with silo: VTFrameSilo) {
    for range in ranges {
      pieces = pieces.flatMap { piece in
        Self.rest(of: piece.range, without: range).map { Piece(range: $0, silo: piece.silo) }
      }
    }
    pieces += ranges.map { Piece(range: $0, silo: silo) }
    pieces.sort { $0.range.start < $1.range.start }
  }

  /// The parts of a range that lie outside another one.
  private static func rest(of range: CMTimeRange, without other: CMTimeRange) -> [CMTimeRange] {
    guard other.start < range.end, range.start < other.end else { return [range] }
    var rest: [CMTimeRange] = []
    if range.start < other.start { rest.append(CMTimeRange(start: range.start, end: other.start)) }
    if other.end < range.end { rest.append(CMTimeRange(start: other.end, end: range.end)) }
    return rest
  }

  /// Calls a closure with each frame, in decode order.
  /// - Parameters:
  ///   - range: The range of decode times; nil for all.
  ///   - body: Called with each frame; a result other than `noErr` ends the calls.
  /// - Returns: `noErr`, the result of `body` that has ended the calls, or the error of a silo.
  package func forEach(in range: CMTimeRange? = nil, _ body: (CMSampleBuffer) -> OSStatus) -> OSStatus {
    var left = pieces[...]
    if let range {
      left =
        left.compactMap { piece in
          let both = CMTimeRange(
            start: max(piece.range.start, range.start), end: min(piece.range.end, range.end))
          return piece.range.start < range.end && range.start < piece.range.end
            ? Piece(range: both, silo: piece.silo) : nil
        }[...]
    }
    var covered: CMTimeRange?
    func outputNextFrame() -> OSStatus {
      let piece = left.removeFirst()
      covered = piece.range
      return VTFrameSiloCallBlockForEachSampleBuffer(piece.silo, in: piece.range, handler: body)
    }
    let status = VTFrameSiloCallBlockForEachSampleBuffer(whole, in: range ?? .invalid) { sample in
      let decodeTime = sample.decodeTimeStamp
      let time = decodeTime.isNumeric ? decodeTime : sample.presentationTimeStamp
      while let next = left.first, next.range.start <= time {
        let status = outputNextFrame()
        guard status == noErr else { return status }
      }
      if let covered, time < covered.end { return noErr }
      return body(sample)
    }
    guard status == noErr else { return status }
    while !left.isEmpty {
      let status = outputNextFrame()
      guard status == noErr else { return status }
    }
    return noErr
  }
}
