// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Estimates of the bits of inter macroblocks, from which costs are compared.
extension MacroblockCoder {
  /// Estimates the bits of a reference index of a P picture; 0 where there is one reference
  /// picture.
  mutating func referenceBits(_ r: Int) -> Int32 {
    picture.referenceCount < 2 ? 0 : r == 0 ? 1 : Int32(2 &* r &+ 1)
  }

  /// Estimates the bits of mb_type, coded_block_pattern and mvd.
  ///
  /// - Parameter type: the macroblock type.
  /// - Returns: sixteenths of a bit.
  mutating func headerBits(_ type: UInt8) -> Int {
    let d = picture.syntax.motionDifference + m &* 16
    @inline(__always) func bits(_ i: Int) -> Int {
      Int(stream.motionBits[Int(d[i].x)]) &+ Int(stream.motionBits[Int(d[i].y)])
    }
    switch type {
    case MacroblockType.inter16x16: return 48 &+ bits(0)
    case MacroblockType.inter16x8: return 80 &+ bits(0) &+ bits(8)
    case MacroblockType.inter8x16: return 80 &+ bits(0) &+ bits(2)
    default: return 112 &+ bits(0) &+ bits(2) &+ bits(8) &+ bits(10)
    }
  }

  /// Estimates the bits of the chroma levels.
  ///
  /// - Parameter pattern: the chroma part of coded_block_pattern, 0 to 2.
  /// - Returns: sixteenths of a bit.
  mutating func chromaBits(_ pattern: UInt8) -> Int {
    if pattern == 0 { return 0 }
    var bits = 16
    let info = picture.syntax.info + m
    for c in 0..<2 where info.pointee.codedDC & UInt8(2 << c) != 0 {
      let list = levels + (LevelLayout.chromaDC &+ c &* 4)
      for i in 0..<4 where list[i] != 0 {
        bits &+= 30 &+ Int(ovt_level_size_bits(Int32(list[i].magnitude)))
      }
    }
    if pattern < 2 { return bits }
    let nonZero = picture.syntax.nonZero + (m &* 24 &+ 16)
    for i in 0..<8 {
      if nonZero[i] == 0 {
        bits &+= 6
        continue
      }
      let list = levels + (LevelLayout.chromaAC &+ i &* 16)
      bits &+= Int(ovt_level_bits(list, UInt64(ovt_nonzero_levels16(list)), 0))
    }
    return bits
  }
}
