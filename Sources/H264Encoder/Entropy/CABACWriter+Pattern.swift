// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

// coded_block_pattern, transform_size_8x8_flag and mb_qp_delta (7.3.5).
extension CABACWriter {
  /// Writes what follows the prediction: coded_block_pattern, transform_size_8x8_flag, mb_qp_delta
  /// and the residual.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  ///   - levels: its levels (`LevelLayout`).
  @inline(__always) mutating func patternAndResidual(
    _ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>, _ levels: UnsafePointer<Int16>
  ) {
    var e = engine
    let type = mb.pointee.type
    let pattern = mb.pointee.codedBlockPattern
    if type != MacroblockType.intra16x16 {
      codedBlockPattern(&e, mb)
      if type >= MacroblockType.inter16x16 {
        if slice.transform8x8Mode && pattern & 15 != 0
          && (type != MacroblockType.inter8x8 || mb.pointee.hasOnlyWholeSubMacroblocks)
        {
          e.encode(UInt32(mb.pointee.transform8x8), transformFlagContext(mb))
        } else {
          mb.pointee.transform8x8 = 0
        }
      }
      if pattern == 0 {
        mb.pointee.qp = UInt8(truncatingIfNeeded: qp)
        mb.pointee.codedDC = 0
        previousDelta = false
        engine = e
        return
      }
    }
    qpDelta(&e, mb)
    engine = e
    if slice.is444 { componentResidual(m, mb, levels) } else { residual(m, mb, levels) }
  }

  /// Writes coded_block_pattern (9.3.3.1.1.4).
  ///
  /// - Parameters:
  ///   - e: the engine.
  ///   - mb: the macroblock.
  @inline(__always) private func codedBlockPattern(
    _ e: inout CABACEngine, _ mb: UnsafeMutablePointer<MacroblockInfo>
  ) {
    let hasLeft = mb.pointee.available & Availability.left != 0
    let hasTop = mb.pointee.available & Availability.top != 0
    let leftPattern = hasLeft ? UInt32((mb - 1).pointee.codedBlockPattern) : 0x0F
    let topPattern = hasTop ? UInt32((mb - picture.widthInMbs).pointee.codedBlockPattern) : 0x0F
    let luma = UInt32(mb.pointee.codedBlockPattern) & 15
    // A bit is set where a block is not coded, which is what the contexts count.
    let none = ~luma
    let noneLeft = ~leftPattern
    let noneTop = ~topPattern
    e.encode(
      luma & 1, 73 &+ Int(truncatingIfNeeded: (noneLeft &>> 1 & 1) &+ (noneTop &>> 1 & 2)))
    e.encode(
      luma &>> 1 & 1, 73 &+ Int(truncatingIfNeeded: (none & 1) &+ (noneTop &>> 2 & 2)))
    e.encode(
      luma &>> 2 & 1, 73 &+ Int(truncatingIfNeeded: (noneLeft &>> 3 & 1) &+ (none &<< 1 & 2)))
    e.encode(
      luma &>> 3, 73 &+ Int(truncatingIfNeeded: (none &>> 2 & 1) &+ (none & 2)))
    if slice.is444 { return }
    let chroma = mb.pointee.codedBlockPattern &>> 4
    var context = 77
    if leftPattern >= 16 { context &+= 1 }
    if topPattern >= 16 { context &+= 2 }
    if chroma == 0 {
      e.encode(0, context)
      return
    }
    e.encode(1, context)
    context = 81
    if leftPattern >= 32 { context &+= 1 }
    if topPattern >= 32 { context &+= 2 }
    e.encode(chroma == 2 ? 1 : 0, context)
  }

  /// Writes mb_qp_delta (9.3.3.1.1.5).
  ///
  /// - Parameters:
  ///   - e: the engine.
  ///   - mb: the macroblock.
  @inline(__always) private mutating func qpDelta(
    _ e: inout CABACEngine, _ mb: UnsafeMutablePointer<MacroblockInfo>
  ) {
    var delta = Int(mb.pointee.qp) &- qp
    qp = Int(mb.pointee.qp)
    if delta == 0 {
      e.encode(0, previousDelta ? 61 : 60)
      previousDelta = false
      return
    }
    // QP wraps around in 0...51 (7.4.5).
    if delta > 25 { delta &-= 52 } else if delta < -26 { delta &+= 52 }
    let mapped = delta > 0 ? 2 &* delta &- 1 : -2 &* delta
    e.encode(1, previousDelta ? 61 : 60)
    var context = 62
    for _ in 1..<mapped {
      e.encode(1, context)
      context = 63
    }
    e.encode(0, context)
    previousDelta = true
  }

  /// ctxIdx of transform_size_8x8_flag.
  @inline(__always) func transformFlagContext(_ mb: UnsafeMutablePointer<MacroblockInfo>) -> Int {
    var context = 399
    if mb.pointee.available & Availability.left != 0 { context &+= Int((mb - 1).pointee.transform8x8) }
    if mb.pointee.available & Availability.top != 0 {
      context &+= Int((mb - picture.widthInMbs).pointee.transform8x8)
    }
    return context
  }
}
