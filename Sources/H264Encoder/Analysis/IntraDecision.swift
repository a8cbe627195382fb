// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Mode decision of intra prediction (8.3), by SATD and the bits of the modes, and coding of intra
/// macroblocks.
extension MacroblockCoder {
  /// Lists the modes of Intra_16x16 that the available neighbours allow.
  ///
  /// - Parameter modes: receives the modes, in the numbering of the kernels.
  /// - Returns: the number of modes.
  private mutating func allowedModes16x16(_ modes: inout (UInt8, UInt8, UInt8, UInt8)) -> Int {
    let left = intraAvailable & Availability.left != 0
    let top = intraAvailable & Availability.top != 0
    var n = 0
    func add(_ mode: UInt8) {
      switch n {
      case 0: modes.0 = mode
      case 1: modes.1 = mode
      case 2: modes.2 = mode
      default: modes.3 = mode
      }
      n += 1
    }
    // DC first; then vertical, horizontal and plane, in the numbering of the kernels.
    add(left ? (top ? 2 : 4) : (top ? 5 : 6))
    if top { add(0) }
    if left { add(1) }
    if left && top && intraAvailable & Availability.topLeft != 0 { add(3) }
    return n
  }

  /// Finds the cheapest mode of Intra_16x16.
  ///
  /// - Parameter limit: the cost of the best prediction so far. No further mode is tried once one
  ///   costs more than twice this.
  /// - Returns: the mode in the numbering of the kernels, and its SATD plus lambda times the bits
  ///   of the mode.
  mutating func decideIntra16x16(limit: Int32 = Int32.max / 4) -> (mode: Int, cost: Int32) {
    var modes: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
    let n = allowedModes16x16(&modes)
    var best = Int32.max
    var bestMode = 2
    for i in 0..<n {
      let mode = Int(i == 0 ? modes.0 : i == 1 ? modes.1 : i == 2 ? modes.2 : modes.3)
      ovt_intra16x16(k, Int32(mode), reconstruction, stride)
      let bits: Int32 = mode == 3 ? 5 : mode >= 2 ? 3 : 4
      let cost = ovt_satd(k, 0, source, reconstruction, stride) &+ (lambda &* bits) >> 4
      if cost < best {
        best = cost
        bestMode = mode
      }
      if cost > 2 &* limit { break }
    }
    return (bestMode, best)
  }

  /// Predicts chroma with its cheapest mode, which becomes intra_chroma_pred_mode, and codes the
  /// residual.
  ///
  /// - Returns: the chroma part of coded_block_pattern, 0 to 2.
  mutating func codeIntraChroma() -> UInt8 {
    let left = intraAvailable & Availability.left != 0
    let top = intraAvailable & Availability.top != 0
    let dcMode = left ? (top ? 0 : 4) : (top ? 5 : 6)
    var best = Int32.max
    var bestMode = dcMode
    var last = -1
    for i in 0..<4 {
      let mode = i == 0 ? dcMode : i
      if i == 1 && !left { continue }
      if i == 2 && !top { continue }
      if i == 3 && !(left && top && intraAvailable & Availability.topLeft != 0) { continue }
      ovt_intra_chroma(k, Int32(mode), reconstructionChroma, stride)
      last = mode
      let bits: Int32 = i == 0 ? 1 : i == 3 ? 4 : i == 1 ? 2 : 3
      let cost = k.pointee.satdNV12(sourceChroma, reconstructionChroma, stride) &+ (lambda &* bits) >> 4
      if cost < best {
        best = cost
        bestMode = mode
      }
    }
    if last != bestMode { ovt_intra_chroma(k, Int32(bestMode), reconstructionChroma, stride) }
    picture.syntax.info[m].intraChromaMode = UInt8(bestMode > 3 ? 0 : bestMode)
    return codeChroma(intra: true)
  }

  // MARK: - 4x4 and 8x8

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

  /// Codes the luma as Intra_4x4, block by block.
  ///
  /// - Parameter limit: the cost from which coding is given up.
  /// - Returns: SATD plus lambda times the bits of the modes, and the luma part of
  ///   coded_block_pattern; nil where it was given up.
  mutating func codeIntra4x4(limit: Int32) -> (cost: Int32, pattern: UInt8)? {
    var cost = (lambda &* 8) >> 4
    var pattern: UInt8 = 0
    var coded: UInt16 = 0
    let modes = picture.syntax.intraModes + m &* 16
    for blkIdx in 0..<16 {
      let r = Int(ovt_raster(Int32(blkIdx)))
      let bx = r & 3
      let by = r >> 2
      let at = reconstruction + (by &* 4 &* stride &+ bx &* 4)
      let src = source + (by &* 64 &+ bx &* 4)
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
      loadEdge4x4(at, left: left, top: top, corner: corner, right: right)

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

  /// Copies the 13 neighbouring samples of a 4x4 block to `edge`. Where the row above right is not
  /// available, the last sample above is repeated (8.3.1.2).
  ///
  /// - Parameters:
  ///   - at: the block in the reconstruction.
  ///   - left: whether the samples at the left are available.
  ///   - top: whether the samples above are available.
  ///   - corner: whether the sample above left is available.
  ///   - right: whether the samples above right are available.
  @inline(__always) private mutating func loadEdge4x4(
    _ at: UnsafeMutablePointer<UInt8>, left: Bool, top: Bool, corner: Bool, right: Bool
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
    var cost = (lambda &* 4) >> 4
    var pattern: UInt8 = 0
    var coded: UInt16 = 0
    let modes = picture.syntax.intraModes + m &* 16
    for b8 in 0..<4 {
      let bx = b8 & 1
      let by = b8 >> 1
      let r = by &* 8 &+ bx &* 2
      let at = reconstruction + (by &* 8 &* stride &+ bx &* 8)
      let src = source + (by &* 128 &+ bx &* 8)
      let left = bx > 0 || intraAvailable & Availability.left != 0
      let top = by > 0 || intraAvailable & Availability.top != 0
      let corner: Bool
      let right: Bool
      switch b8 {
      case 0:
        corner = intraAvailable & Availability.topLeft != 0
        right = top
      case 1:
        corner = top
        right = intraAvailable & Availability.topRight != 0
      case 2:
        corner = left
        right = true
      default:
        corner = true
        right = false
      }
      loadEdge8x8(at, left: left, top: top, corner: corner, right: right)
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

  /// Copies the 25 neighbouring samples of an 8x8 block to `edge`. Where the row above right is not
  /// available, the last sample above is repeated (8.3.2.2).
  ///
  /// - Parameters:
  ///   - at: the block in the reconstruction.
  ///   - left: whether the samples at the left are available.
  ///   - top: whether the samples above are available.
  ///   - corner: whether the sample above left is available.
  ///   - right: whether the samples above right are available.
  @inline(__always) private mutating func loadEdge8x8(
    _ at: UnsafeMutablePointer<UInt8>, left: Bool, top: Bool, corner: Bool, right: Bool
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

  // MARK: - The macroblock

  /// Codes the macroblock as intra, if that costs less than its best other prediction.
  ///
  /// - Parameters:
  ///   - best16: the best mode of Intra_16x16, in the numbering of the kernels, and its cost.
  ///   - other: the cost of the best other prediction; `Int32.max` where the macroblock has to be
  ///     intra.
  ///   - small: whether Intra_8x8 and Intra_4x4 are tried.
  /// - Returns: whether the macroblock was coded; if not, its luma in the reconstruction is
  ///   undefined.
  @discardableResult
  mutating func codeIntra(
    _ best16: (mode: Int, cost: Int32), below other: Int32 = Int32.max, small: Bool
  ) -> Bool {
    let info = picture.syntax.info + m
    storeNoMotion()
    info.pointee.codedDC = 0
    info.pointee.transform8x8 = 0
    info.pointee.qp = UInt8(qp)

    var pattern: UInt8 = 0
    var type = MacroblockType.intra16x16
    let byCost = picture.tools.intra.choosesSizeByRate && stream.cabac
    if byCost && other == Int32.max {
      pattern = codeIntraByCost(best16, &type)
    } else if small {
      var limit = min(best16.cost, other)
      if stream.transform8x8Allowed, let result = codeIntra8x8(limit: limit) {
        limit = result.cost
        pattern = result.pattern
        type = MacroblockType.intra8x8
      }
      if let result = codeIntra4x4(limit: limit) {
        pattern = result.pattern
        type = MacroblockType.intra4x4
      } else if type == MacroblockType.intra8x8 {
        // The trial of Intra_4x4 has overwritten the samples and levels of Intra_8x8.
        pattern = codeIntra8x8(limit: Int32.max)?.pattern ?? 0
      }
    }
    if type == MacroblockType.intra16x16, best16.cost >= other { return false }
    if byCost && other < Int32.max {
      type = MacroblockType.intra16x16
      pattern = codeIntraByCost(best16, &type)
    }
    info.pointee.type = type
    if type == MacroblockType.intra16x16 {
      storeIntraModesDC()
      ovt_intra16x16(k, Int32(best16.mode), reconstruction, stride)
      info.pointee.intra16x16Mode = UInt8(best16.mode > 3 ? 2 : best16.mode)
      pattern = codeIntra16x16()
    }
    info.pointee.transform8x8 = type == MacroblockType.intra8x8 ? 1 : 0
    if type != MacroblockType.intra16x16 { clearUncodedCounts(pattern) }
    info.pointee.codedBlockPattern = pattern | codeIntraChroma() << 4
    return true
  }

  /// Codes the luma with each block size, and leaves it coded with the one whose squared error plus
  /// lambda times bits is least; Intra_16x16 is left to the caller.
  ///
  /// - Parameters:
  ///   - best16: the best mode of Intra_16x16 and its cost.
  ///   - type: the macroblock type; is replaced where smaller blocks cost less.
  /// - Returns: the luma part of coded_block_pattern of Intra_8x8 or Intra_4x4.
  private mutating func codeIntraByCost(_ best16: (mode: Int, cost: Int32), _ type: inout UInt8) -> UInt8 {
    let limit = best16.cost &+ best16.cost >> 1
    storeIntraModesDC()
    ovt_intra16x16(k, Int32(best16.mode), reconstruction, stride)
    var pattern = codeIntra16x16()
    var bits: Int = 16 &* (best16.mode == 3 ? 5 : 4)
    if picture.syntax.info[m].codedDC & 1 != 0 {
      let list = levels + LevelLayout.lumaDC
      bits &+= Int(ovt_level_bits(list, UInt64(ovt_nonzero_levels16(list)), 0))
    }
    if pattern != 0 { bits &+= levelBits(is8x8: false, 15) }
    var least = Int(ovt_ssd(k, 0, source, reconstruction, stride)) &+ (lambdaSSD &* bits) >> 12
    picture.syntax.info[m].codedDC = 0
    pattern = 0
    if stream.transform8x8Allowed, let result = codeIntra8x8(limit: limit) {
      let cost =
        Int(ovt_ssd(k, 0, source, reconstruction, stride))
        &+ (lambdaSSD &* (levelBits(is8x8: true, result.pattern) &+ modeBits(is8x8: true) &+ 48)) >> 12
      if cost < least {
        least = cost
        type = MacroblockType.intra8x8
        pattern = result.pattern
      }
    }
    if let result = codeIntra4x4(limit: limit) {
      let cost =
        Int(ovt_ssd(k, 0, source, reconstruction, stride))
        &+ (lambdaSSD &* (levelBits(is8x8: false, result.pattern) &+ modeBits(is8x8: false) &+ 48)) >> 12
      if cost < least {
        type = MacroblockType.intra4x4
        return result.pattern
      }
    }
    if type == MacroblockType.intra8x8 { pattern = codeIntra8x8(limit: Int32.max)?.pattern ?? 0 }
    return pattern
  }

  /// Estimates the bits of the macroblock's luma levels.
  ///
  /// - Parameters:
  ///   - is8x8: whether the transform is 8x8.
  ///   - pattern: the luma part of coded_block_pattern.
  /// - Returns: sixteenths of a bit.
  private mutating func levelBits(is8x8: Bool, _ pattern: UInt8) -> Int {
    let nonZero = picture.syntax.nonZero + m &* 24
    var bits = 0
    for b8 in 0..<4 where pattern & (1 << UInt8(b8)) != 0 {
      let list = levels + b8 &* 64
      if is8x8 {
        bits &+= Int(ovt_level_bits(list, ovt_nonzero_levels64(list), 1))
        continue
      }
      for b in 0..<4 {
        if nonZero[Int(ovt_raster(Int32(b8 &* 4 &+ b)))] == 0 {
          bits &+= 6
        } else {
          bits &+= Int(ovt_level_bits(list + b &* 16, UInt64(ovt_nonzero_levels16(list + b &* 16)), 0))
        }
      }
    }
    return bits
  }

  /// Estimates the bits of the macroblock's Intra_4x4 or Intra_8x8 modes, in sixteenths.
  private mutating func modeBits(is8x8: Bool) -> Int {
    let modes = picture.syntax.intraModes + m &* 16
    var bits = 0
    var i: Int = 0
    while i < 16 {
      let r = Int(ovt_raster(Int32(i)))
      bits &+= Int(modes[r]) == predictedIntraMode(r) ? 12 : 56
      i &+= is8x8 ? 4 : 1
    }
    return bits
  }

  /// Clears the level counts of the 8x8 blocks that coded_block_pattern marks as not coded.
  ///
  /// - Parameter pattern: the luma part of coded_block_pattern.
  private mutating func clearUncodedCounts(_ pattern: UInt8) {
    let nonZero = picture.syntax.nonZero + m &* 24
    for b8 in 0..<4 where pattern & (1 << UInt8(b8)) == 0 {
      setCounts(nonZero + ((b8 >> 1) &* 8 &+ (b8 & 1) &* 2), 0)
    }
  }

  /// Codes the macroblock as I_PCM (7.3.5).
  ///
  /// - Parameter samples: receives 256 luma, 64 Cb and 64 Cr samples.
  mutating func codePCM(samples: UnsafeMutablePointer<UInt8>) {
    let info = picture.syntax.info + m
    storeNoMotion()
    storeIntraModesDC()
    info.pointee.type = MacroblockType.pcm
    info.pointee.transform8x8 = 0
    info.pointee.codedBlockPattern = 0x2F
    info.pointee.codedDC = 7
    info.pointee.intraChromaMode = 0
    info.pointee.qp = UInt8(qp)
    stream.codedBlocks[m] = 0xFFFF
    let nonZero = picture.syntax.nonZero + m &* 24
    for i in 0..<24 { nonZero[i] = 16 }
    ovt_copy(k, 0, reconstruction, stride, source, 16, 16)
    ovt_copy(k, 0, reconstructionChroma, stride, sourceChroma, 16, 8)
    for i in 0..<256 { samples[i] = source[i] }
    for y in 0..<8 {
      k.pointee.deinterleaveRow(
        samples + (256 &+ y &* 8), samples + (320 &+ y &* 8), sourceChroma + y &* 16, 8)
    }
  }
}
