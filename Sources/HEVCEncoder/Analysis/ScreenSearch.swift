// SPDX-License-Identifier: Apache-2.0

/// The search of vectors in pictures of which large parts have moved.
extension CodingTreeCoder {
  /// Calls `body` with the vectors of a scroll and of moved parts, and with those to where the last
  /// picture showed blocks of 8x8 samples of a block.
  @inline(__always) func forEachScreenVector(_ block: PredictionBlock, _ body: (Motion) -> Void) {
    if screen.scroll != 0 { body(Self.motion(0, screen.scroll)) }
    for i in 0..<screen.displacements.count {
      let vector = screen.displacements[i]
      body(Motion(x: vector.x, y: vector.y, reference: 0))
    }
    guard screen.displacements.repeats != nil else { return }
    // Larger units seldom repeat as a whole unless they belong to a moved part.
    let (columns, rows) = (min(block.width, 16) / 8, min(block.height, 16) / 8)
    for row in 0..<rows {
      for column in 0..<columns {
        if let (x, y) = screen.repeated(block.x &+ column &* 8, block.y &+ row &* 8) {
          body(Self.motion(x, y))
        }
      }
    }
  }

  @inline(__always) private static func motion(_ x: Int, _ y: Int) -> Motion {
    // A vector has 16 bits (8.5.3.2.1).
    Motion(
      x: Int16(truncatingIfNeeded: min(max(x, -8190), 8190) &* 4),
      y: Int16(truncatingIfNeeded: min(max(y, -8190), 8190) &* 4), reference: 0)
  }

  /// Whether the cost of a vector, by SAD or SATD and bits, is below the noise of quantisation: the
  /// square root of lambda for each sample.
  @inline(__always) func isExact(_ cost: Int, _ block: PredictionBlock) -> Bool {
    cost <= (lambdaSATD &* block.width &* block.height) &>> 4
  }
}
