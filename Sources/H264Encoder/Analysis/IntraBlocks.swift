// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Mode decision and coding of Intra_4x4 and Intra_8x8 (8.3.1, 8.3.2), block by block, by SATD and
/// the bits of the modes.
extension MacroblockCoder {
  /// Predicts the intra mode of a 4x4 block, or of the 8x8 block that begins there (8.3.1.1,
  /// 8.3.2.1).
  ///
  /// - Parameter r: the 4x4 block's index in raster order.
  /// - Returns: predIntra4x4PredMode or predIntra8x8PredMode.
  @inline(__always) mutating func predictedIntraMode(_ r: Int) -> Int {
    let modes = picture.syntax.intraModes + m &* 16
    let left: Int8
    if r & 3 != 0 {
      left = modes[r &- 1]
    } else {
      left = available & Availability.left != 0 ? modes[r &+ 3 &- 16] : -1
    }
    let top: Int8
    if r >= 4 {
      top = modes[r &- 4]
    } else {
      top =
        available & Availability.top != 0
        ? picture.syntax.intraModes[(m &- stream.geometry.widthInMbs) &* 16 &+ 12 &+ r] : -1
    }
    if left < 0 || top < 0 { return 2 }
    return Int(min(left, top))
  }

  /// Lists the modes of Intra_4x4 and Intra_8x8 that the available neighbours allow. DC is always
  /// one of them.
  ///
  /// - Parameters:
  ///   - left: whether the samples at the left are available.
  ///   - top: whether the samples above are available.
  ///   - corner: whether the sample above left is available.
  /// - Returns: a bit for each of the nine modes.
  @inline(__always) static func allowedSmallModes(left: Bool, top: Bool, corner: Bool) -> Int {
    var set = 1 << 2
    if top { set |= 1 << 0 | 1 << 3 | 1 << 7 }
    if left { set |= 1 << 1 | 1 << 8 }
    if left && top && corner { set |= 1 << 4 | 1 << 5 | 1 << 6 }
    return set
  }

  /// Which neighbouring samples a 4x4 block has for intra prediction (6.4.11.4): at the left,
  /// above, above left and above right.
  ///
  /// - Parameter blkIdx: luma4x4BlkIdx.
  @inline(__always) mutating func neighbours4x4(
    _ blkIdx: Int
  ) -> (left: Bool, top: Bool, corner: Bool, right: Bool) {
    let r = Int(ovt_raster(Int32(blkIdx)))
    let (bx, by) = (r & 3, r >> 2)
    let left = bx > 0 || intraAvailable & Availability.left != 0
    let top = by > 0 || intraAvailable & Availability.top != 0
    let corner: Bool
    if bx > 0 {
      corner = top
    } else if by > 0 {
      corner = left
    } else {
      corner = intraAvailable & Availability.topLeft != 0
    }
    let right: Bool
    if by == 0 {
      right = bx < 3 ? top : intraAvailable & Availability.topRight != 0
    } else {
      // The block above right of blocks 3, 7, 11, 13 and 15 is coded later (6.4.11.4).
      right = (0b1010_1000_1000_1000 >> blkIdx) & 1 == 0
    }
    return (left, top, corner, right)
  }

  /// Which neighbouring samples an 8x8 block has for intra prediction; as `neighbours4x4`.
  ///
  /// - Parameter b8: luma8x8BlkIdx.
  @inline(__always) mutating func neighbours8x8(
    _ b8: Int
  ) -> (left: Bool, top: Bool, corner: Bool, right: Bool) {
    let left = b8 & 1 != 0 || intraAvailable & Availability.left != 0
    let top = b8 > 1 || intraAvailable & Availability.top != 0
    switch b8 {
    case 0: return (left, top, intraAvailable & Availability.topLeft != 0, top)
    case 1: return (left, top, top, intraAvailable & Availability.topRight != 0)
    case 2: return (left, top, left, true)
    default: return (left, top, true, false)
    }
  }

  /// Codes the luma as Intra_4x4, block by block.
  ///
  /// - Parameter limit: the cost from which coding is given up.
  /// - Returns: SATD plus lambda times the bits of the modes, and the luma part of
  ///   coded_block_pattern; nil where it was given up.
  mutating func codeIntra4x4(limit: Int32) -> (cost: Int32, pattern: UInt8)? {
    if stream.is444 { return codeIntra4x4Components(limit: limit) }
    var cost = (lambda &* 8) >> 4
    var pattern: UInt8 = 0
    var coded: UInt16 = 0
    let modes = picture.syntax.intraModes + m &* 16
    for blkIdx in 0..<16 {
      let r = Int(ovt_raster(Int32(blkIdx)))
      let at = reconstruction + ((r >> 2) &* 4 &* stride &+ (r & 3) &* 4)
      let src = source + ((r >> 2) &* 64 &+ (r & 3) &* 4)
      let (left, top, corner, right) = neighbours4x4(blkIdx)
      loadEdge4x4(at, edge, left: left, top: top, corner: corner, right: right)

      let predicted = predictedIntraMode(r)
      var allowed = MacroblockCoder.allowedSmallModes(left: left, top: top, corner: corner)
      let dcMode = left ? (top ? 2 : 9) : (top ? 10 : 11)
      var best = Int32.max
      var bestMode = 2
      while allowed != 0 {
        let mode = allowed.trailingZeroBitCount
        allowed &= allowed &- 1
        ovt_intra4x4(k, Int32(mode == 2 ? dcMode : mode), scratch.prediction, 16, edge)
        let bits: Int32 = mode == predicted ? 1 : 4
        let c = ovt_satd(k, 6, src, scratch.prediction, 16) &+ (lambda &* bits) >> 4
        if c < best {
          best = c
          bestMode = mode
        }
      }
      cost &+= best
      if cost >= limit { return nil }
      modes[r] = Int8(bestMode)
      ovt_intra4x4(k, Int32(bestMode == 2 ? dcMode : bestMode), at, stride, edge)
      if codeIntra4x4Block(blkIdx, at, src) {
        pattern |= 1 << UInt8(blkIdx >> 2)
        coded |= 1 << UInt16(r)
      }
    }
    stream.codedBlocks[m] = coded
    return (cost, pattern)
  }

  /// Copies the 13 neighbouring samples of a 4x4 block to an edge (`MacroblockCoder.edge`). Where
  /// the row above right is not available, the last sample above is repeated (8.3.1.2).
  ///
  /// - Parameters:
  ///   - at: the block in the reconstruction.
  ///   - edge: receives the samples.
  ///   - left: whether the samples at the left are available.
  ///   - top: whether the samples above are available.
  ///   - corner: whether the sample above left is available.
  ///   - right: whether the samples above right are available.
  @inline(__always) mutating func loadEdge4x4(
    _ at: UnsafeMutablePointer<UInt8>, _ edge: UnsafeMutablePointer<UInt8>, left: Bool, top: Bool,
    corner: Bool, right: Bool
  ) {
    let above = at - stride
    if top {
      let e = UnsafeMutableRawPointer(edge + 1)
      e.storeBytes(of: UnsafeRawPointer(above).loadUnaligned(as: UInt32.self), as: UInt32.self)
      if right {
        e.storeBytes(
          of: UnsafeRawPointer(above + 4).loadUnaligned(as: UInt32.self), toByteOffset: 4, as: UInt32.self)
      } else {
        e.storeBytes(of: UInt32(above[3]) &* 0x0101_0101, toByteOffset: 4, as: UInt32.self)
      }
    }
    if corner { edge[0] = above[-1] }
    if left {
      edge[-1] = at[-1]
      edge[-2] = at[stride &- 1]
      edge[-3] = at[2 &* stride &- 1]
      edge[-4] = at[3 &* stride &- 1]
    }
  }

  /// Codes the luma as Intra_8x8, block by block.
  ///
  /// - Parameter limit: the cost from which coding is given up.
  /// - Returns: SATD plus lambda times the bits of the modes, and the luma part of
  ///   coded_block_pattern; nil where it was given up.
  mutating func codeIntra8x8(limit: Int32) -> (cost: Int32, pattern: UInt8)? {
    if stream.is444 {
      // Without loss there is nothing that a smooth prediction of larger blocks could save.
      return stream.isLossless ? nil : codeIntra8x8Components(limit: limit)
    }
    var cost = (lambda &* 4) >> 4
    var pattern: UInt8 = 0
    var coded: UInt16 = 0
    let modes = picture.syntax.intraModes + m &* 16
    for b8 in 0..<4 {
      let r = (b8 >> 1) &* 8 &+ (b8 & 1) &* 2
      let at = reconstruction + ((b8 >> 1) &* 8 &* stride &+ (b8 & 1) &* 8)
      let src = source + ((b8 >> 1) &* 128 &+ (b8 & 1) &* 8)
      let (left, top, corner, right) = neighbours8x8(b8)
      loadEdge8x8(at, edge, left: left, top: top, corner: corner, right: right)
      k.pointee.filterEdge8x8(filteredEdge, edge, (left ? 1 : 0) | (top ? 2 : 0) | (corner ? 4 : 0))

      let predicted = predictedIntraMode(r)
      var allowed = MacroblockCoder.allowedSmallModes(left: left, top: top, corner: corner)
      let dcMode = left ? (top ? 2 : 9) : (top ? 10 : 11)
      var best = Int32.max
      var bestMode = 2
      while allowed != 0 {
        let mode = allowed.trailingZeroBitCount
        allowed &= allowed &- 1
        ovt_intra8x8(k, Int32(mode == 2 ? dcMode : mode), scratch.prediction, 16, filteredEdge)
        let bits: Int32 = mode == predicted ? 1 : 4
        let c = ovt_satd(k, 3, src, scratch.prediction, 16) &+ (lambda &* bits) >> 4
        if c < best {
          best = c
          bestMode = mode
        }
      }
      cost &+= best
      if cost >= limit { return nil }
      let value = Int8(bestMode)
      modes[r] = value
      modes[r &+ 1] = value
      modes[r &+ 4] = value
      modes[r &+ 5] = value
      ovt_intra8x8(k, Int32(bestMode == 2 ? dcMode : bestMode), at, stride, filteredEdge)
      if codeIntra8x8Block(b8, at, src) {
        pattern |= 1 << UInt8(b8)
        coded |= 0x33 << UInt16(r)
      }
    }
    stream.codedBlocks[m] = coded
    return (cost, pattern)
  }

  /// Copies the 25 neighbouring samples of an 8x8 block to an edge. Where the row above right is
  /// not available, the last sample above is repeated (8.3.2.2).
  ///
  /// - Parameters:
  ///   - at: the block in the reconstruction.
  ///   - edge: receives the samples.
  ///   - left: whether the samples at the left are available.
  ///   - top: whether the samples above are available.
  ///   - corner: whether the sample above left is available.
  ///   - right: whether the samples above right are available.
  @inline(__always) mutating func loadEdge8x8(
    _ at: UnsafeMutablePointer<UInt8>, _ edge: UnsafeMutablePointer<UInt8>, left: Bool, top: Bool,
    corner: Bool, right: Bool
  ) {
    let above = at - stride
    if top {
      let e = UnsafeMutableRawPointer(edge + 1)
      e.storeBytes(of: UnsafeRawPointer(above).loadUnaligned(as: UInt64.self), as: UInt64.self)
      if right {
        e.storeBytes(
          of: UnsafeRawPointer(above + 8).loadUnaligned(as: UInt64.self), toByteOffset: 8, as: UInt64.self)
      } else {
        e.storeBytes(
          of: UInt64(above[7]) &* 0x0101_0101_0101_0101, toByteOffset: 8, as: UInt64.self)
      }
    }
    if corner { edge[0] = above[-1] }
    if left {
      for i in 0..<8 { edge[-1 &- i] = at[i &* stride &- 1] }
    }
  }
}
