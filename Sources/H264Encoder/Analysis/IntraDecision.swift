// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Mode decision of Intra_16x16 and of chroma (8.3.3, 8.3.4), by SATD and the bits of the modes,
/// and coding of intra macroblocks.
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
      predictIntra16x16(mode)
      let bits: Int32 = mode == 3 ? 5 : mode >= 2 ? 3 : 4
      let distortion =
        stream.is444 ? intra16x16Distortion(mode) : ovt_satd(k, 0, source, reconstruction, stride)
      let cost = distortion &+ (lambda &* bits) >> 4
      if cost < best {
        best = cost
        bestMode = mode
      }
      if cost > 2 &* limit { break }
    }
    return (bestMode, best)
  }

  /// Predicts luma, or all components at 4:4:4, by a mode of Intra_16x16, into the reconstruction.
  ///
  /// - Parameter mode: the mode in the numbering of the kernels.
  @inline(__always) mutating func predictIntra16x16(_ mode: Int) {
    if stream.is444 {
      predictIntra16x16Components(mode)
    } else {
      ovt_intra16x16(k, Int32(mode), reconstruction, stride)
    }
  }

  /// The squared error of luma, or of all components at 4:4:4.
  @inline(__always) private mutating func codedError() -> Int {
    stream.is444 ? componentError() : Int(ovt_ssd(k, 0, source, reconstruction, stride))
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
      let cost = ovt_satd_nv12(k, sourceChroma, reconstructionChroma, stride) &+ (lambda &* bits) >> 4
      if cost < best {
        best = cost
        bestMode = mode
      }
    }
    if last != bestMode { ovt_intra_chroma(k, Int32(bestMode), reconstructionChroma, stride) }
    picture.syntax.info[m].intraChromaMode = UInt8(bestMode > 3 ? 0 : bestMode)
    return codeChroma(intra: true)
  }

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
    let byCost = picture.settings.intra.choosesSizeByRate && stream.cabac
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
      predictIntra16x16(best16.mode)
      info.pointee.intra16x16Mode = UInt8(best16.mode > 3 ? 2 : best16.mode)
      pattern = stream.is444 ? codeIntra16x16Components(best16.mode) : codeIntra16x16()
    }
    info.pointee.transform8x8 = type == MacroblockType.intra8x8 ? 1 : 0
    if stream.is444 {
      info.pointee.intraChromaMode = 0
      info.pointee.codedBlockPattern = pattern
      return true
    }
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
    predictIntra16x16(best16.mode)
    var pattern = stream.is444 ? codeIntra16x16Components(best16.mode) : codeIntra16x16()
    var bits: Int = 16 &* (best16.mode == 3 ? 5 : 4)
    if stream.is444 {
      bits &+= componentLevelBits(is8x8: false, pattern)
    } else {
      if picture.syntax.info[m].codedDC & 1 != 0 {
        let list = levels + LevelLayout.lumaDC
        bits &+= Int(ovt_level_bits(list, UInt64(ovt_nonzero_levels16(list)), 0))
      }
      if pattern != 0 { bits &+= levelBits(is8x8: false, 15) }
    }
    var least = codedError() &+ (lambdaSSD &* bits) >> 12
    picture.syntax.info[m].codedDC = 0
    pattern = 0
    if stream.transform8x8Allowed, let result = codeIntra8x8(limit: limit) {
      let cost =
        codedError()
        &+ (lambdaSSD &* (codedBits(is8x8: true, result.pattern) &+ modeBits(is8x8: true) &+ 48)) >> 12
      if cost < least {
        least = cost
        type = MacroblockType.intra8x8
        pattern = result.pattern
      }
    }
    if let result = codeIntra4x4(limit: limit) {
      let cost =
        codedError()
        &+ (lambdaSSD &* (codedBits(is8x8: false, result.pattern) &+ modeBits(is8x8: false) &+ 48)) >> 12
      if cost < least {
        type = MacroblockType.intra4x4
        return result.pattern
      }
    }
    if type == MacroblockType.intra8x8 { pattern = codeIntra8x8(limit: Int32.max)?.pattern ?? 0 }
    return pattern
  }

  /// Estimates the bits of the levels of luma, or of all components at 4:4:4; parameters are those
  /// of `levelBits`.
  @inline(__always) private mutating func codedBits(is8x8: Bool, _ pattern: UInt8) -> Int {
    stream.is444
      ? componentLevelBits(is8x8: is8x8, pattern) : levelBits(is8x8: is8x8, pattern)
  }

  /// Estimates the bits of the macroblock's luma levels.
  ///
  /// - Parameters:
  ///   - is8x8: whether the transform is 8x8.
  ///   - pattern: the luma part of coded_block_pattern.
  /// - Returns: sixteenths of a bit.
  mutating func levelBits(is8x8: Bool, _ pattern: UInt8) -> Int {
    let nonZero = picture.syntax.nonZero + m &* 24
    var bits = 0
    for b8 in 0..<4 where pattern & (1 << UInt8(b8)) != 0 {
      let list = levels + b8 &* 64
      if is8x8 {
        // At 4:4:4 another component may be the one that has levels.
        let isCoded = nonZero[(b8 >> 1) &* 8 &+ (b8 & 1) &* 2] != 0
        bits &+= isCoded ? Int(ovt_level_bits(list, ovt_nonzero_levels64(list), 1)) : 6
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
  /// - Parameter samples: receives 256 luma, 64 Cb and 64 Cr samples; at 4:4:4, 256 of each.
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
    if stream.is444 {
      copyComponents(samples: samples)
      return
    }
    let nonZero = picture.syntax.nonZero + m &* 24
    for i in 0..<24 { nonZero[i] = 16 }
    ovt_copy(k, 0, reconstruction, stride, source, 16, 16)
    ovt_copy(k, 0, reconstructionChroma, stride, sourceChroma, 16, 8)
    for i in 0..<256 { samples[i] = source[i] }
    for y in 0..<8 {
      k.pointee.video.deinterleaveRow(
        samples + (256 &+ y &* 8), samples + (320 &+ y &* 8), sourceChroma + y &* 16, 8)
    }
  }
}
