// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels

/// Coding tree units that take the fewest bits, where a picture has none left.
extension CodingTreeCoder {
  /// Codes a coding tree unit with skipped units, or in I slices with intra units without a
  /// residual.
  mutating func codeCheapest(x: Int, y: Int) { codeCheapest(x, y, 5) }

  private mutating func codeCheapest(_ x: Int, _ y: Int, _ log2Size: Int) {
    let size = 1 &<< log2Size
    guard x &+ size <= layout.width, y &+ size <= layout.height else {
      let half = size &>> 1
      for part in 0..<4 {
        let (px, py) = (x &+ (part & 1) &* half, y &+ (part &>> 1) &* half)
        if px < layout.width && py < layout.height { codeCheapest(px, py, log2Size &- 1) }
      }
      return
    }
    if !isIntraSlice && !mustBeIntra && codeSkipped(x, y, log2Size) { return }
    codePlainIntra(x, y, log2Size)
  }
}
