// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The frames of a movie that was encoded again in parts: a silo with all of it, and others that hold what came in place of
/// some of its frames. Nothing is taken out of a silo before what comes in its place is whole, so that a pass that fails, on
/// a full disk too, leaves the movie as it was.
package struct LayeredSilo {
  /// A range of decode times, and the silo whose frames are those of it.
  private struct Piece {
    var range: CMTimeRange
    let silo: VTFrameSilo
  }

  package let whole: VTFrameSilo
  /// Ascending, and apart.
  private var pieces: [Piece] = []

  package init(_ whole: VTFrameSilo) { self.whole = whole }

  /// - Parameters:
  ///   - ranges: decode times, ascending and apart.
  ///   - silo: frames that take the place of those in the ranges; it has no others.
  package mutating func replace(_ ranges: [CMTimeRange], with silo: VTFrameSilo) {
    for range in ranges {
      pieces = pieces.flatMap { piece in
        Self.rest(of: piece.range, without: range).map { Piece(range: $0, silo: piece.silo) }
      }
    }
    pieces += ranges.map { Piece(range: $0, silo: silo) }
    pieces.sort { $0.range.start < $1.range.start }
  }

  private static func rest(of range: CMTimeRange, without other: CMTimeRange) -> [CMTimeRange] {
    guard other.start < range.end, range.start < other.end else { return [range] }
    var rest: [CMTimeRange] = []
    if range.start < other.start { rest.append(CMTimeRange(start: range.start, end: other.start)) }
    if other.end < range.end { rest.append(CMTimeRange(start: other.end, end: range.end)) }
    return rest
  }

  /// Gives each frame to `body`, in decode order.
  /// - Parameters:
  ///   - range: decode times; nil for all.
  ///   - body: what it returns other than noErr ends it.
  /// - Returns: What `body` or a silo said.
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
    func giveOne() -> OSStatus {
      let piece = left.removeFirst()
      covered = piece.range
      return VTFrameSiloCallBlockForEachSampleBuffer(piece.silo, in: piece.range, handler: body)
    }
    let status = VTFrameSiloCallBlockForEachSampleBuffer(whole, in: range ?? .invalid) { sample in
      let decoded = sample.decodeTimeStamp
      let time = decoded.isNumeric ? decoded : sample.presentationTimeStamp
      while let next = left.first, next.range.start <= time {
        let status = giveOne()
        guard status == noErr else { return status }
      }
      if let covered, time < covered.end { return noErr }
      return body(sample)
    }
    guard status == noErr else { return status }
    while !left.isEmpty {
      let status = giveOne()
      guard status == noErr else { return status }
    }
    return noErr
  }
}
