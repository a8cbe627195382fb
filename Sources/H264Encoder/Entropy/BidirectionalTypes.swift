// SPDX-License-Identifier: Apache-2.0
/// mb_type and sub_mb_type of B slices. Their numbers combine the shape of partitions with the
/// lists that each is predicted from.
extension PictureSyntax {
  /// The lists that an 8x8 block is predicted from.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - block: the block, 0 to 3.
  /// - Returns: 0 for list 0, 1 for list 1, 2 for both.
  @inline(__always) func direction(_ m: Int, _ block: Int) -> Int {
    referenceIndexL1[m &* 4 &+ block] < 0 ? 0 : referenceIndex[m &* 4 &+ block] < 0 ? 1 : 2
  }

  /// mb_type of an inter macroblock in a B slice (Table 7-14).
  ///
  /// - Parameter m: the macroblock's address.
  func bidirectionalType(_ m: Int) -> Int {
    switch info[m].type {
    case MacroblockType.direct: return 0
    case MacroblockType.inter16x16: return 1 &+ direction(m, 0)
    case MacroblockType.inter8x8: return 22
    default:
      let isTall = info[m].type == MacroblockType.inter8x16
      let first = direction(m, 0)
      let second = direction(m, isTall ? 1 : 2)
      let type: Int
      switch (first, second) {
      case (0, 0): type = 4
      case (1, 1): type = 6
      case (0, 1): type = 8
      case (1, 0): type = 10
      case (0, 2): type = 12
      case (1, 2): type = 14
      case (2, 0): type = 16
      case (2, 1): type = 18
      default: type = 20
      }
      return isTall ? type &+ 1 : type
    }
  }

  /// sub_mb_type of an 8x8 block in a B slice (Table 7-18).
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - block: the block, 0 to 3.
  func bidirectionalSubType(_ m: Int, _ block: Int) -> Int {
    if info[m].directBlocks &>> UInt8(truncatingIfNeeded: block) & 1 != 0 { return 0 }
    let direction = direction(m, block)
    switch info[m].subMacroblockType(block) {
    case SubMacroblockType.whole8x8: return 1 &+ direction
    case SubMacroblockType.halves8x4: return 4 &+ 2 &* direction
    case SubMacroblockType.halves4x8: return 5 &+ 2 &* direction
    default: return 10 &+ direction
    }
  }

  /// The 8x8 blocks in which the macroblock partitions begin.
  ///
  /// - Parameter type: the macroblock type.
  /// - Returns: a bit for each 8x8 block.
  @inline(__always) func partitionFirsts(_ type: UInt8) -> UInt8 {
    switch type {
    case MacroblockType.inter16x16: 1
    case MacroblockType.inter16x8: 5
    case MacroblockType.inter8x16: 3
    default: 15
    }
  }
}
