// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

// residual() of 4:4:4 pictures (7.3.5.3, ChromaArrayType 3).
extension CAVLCWriter {
  /// Writes the levels of a macroblock: those of Cb and Cr as those of luma, with the counts of
  /// their own blocks.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  ///   - levels: its levels, a `LevelLayout` for each component.
  @inline(never)
  mutating func componentResidual(
    _ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>, _ levels: UnsafePointer<Int16>
  ) {
    for c in 0..<3 {
      lumaResidual(
        mb, UnsafePointer(picture.nonZero) + (c &* picture.componentCounts &+ m &* 24),
        levels + c &* LevelLayout.count, codedDC: mb.pointee.codedDC &>> UInt8(c) & 1 != 0)
    }
  }

  /// codeNum of coded_block_pattern as me(v) where ChromaArrayType is 0 or 3 (Table 9-4).
  ///
  /// - Parameters:
  ///   - pattern: coded_block_pattern, 0 to 15.
  ///   - isInter: whether the macroblock is predicted as Inter.
  static func patternNumber(_ pattern: UInt8, isInter: Bool) -> Int {
    // A nibble for each pattern, that of 0 lowest.
    let numbers: UInt64 = isInter ? 0x9DC8_B7F4_AE63_5210 : 0x0549_38FD_2E7C_6BA1
    return Int(truncatingIfNeeded: numbers >> UInt64(pattern &* 4) & 15)
  }
}
