// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Coding of the luma residual of inter macroblocks. Both transforms may be tried, and each 8x8
/// block is coded only if the squared error that it removes exceeds lambda times its bits.
extension MacroblockCoder {
  /// The result of coding the residual with one transform.
  struct Trial {
    /// Squared error plus lambda times bits.
    var cost = 0
    /// The luma part of coded_block_pattern.
    var pattern: UInt8 = 0
  }

  /// The levels of trial `i`: 0 for the 4x4 transform, 1 for 8x8.
  @inline(__always) private mutating func trialLevels(_ i: Int) -> UnsafeMutablePointer<Int16> {
    rdLevels + i &* 256
  }
  /// The reconstructed samples of trial `i`, in rows of 16.
  @inline(__always) private mutating func trialSamples(_ i: Int) -> UnsafeMutablePointer<UInt8> {
    rdSamples + i &* 256
  }

  /// The squared error of the prediction in the reconstruction, for each 8x8 block.
  @inline(__always) mutating func predictionErrors() -> UnsafeMutablePointer<Int32> {
    for b8 in 0..<4 {
      errors[b8] = ovt_ssd(
        k, 3, source + ((b8 >> 1) &* 128 &+ (b8 & 1) &* 8),
        reconstruction + ((b8 >> 1) &* 8 &* stride &+ (b8 & 1) &* 8), stride)
    }
    return errors
  }

  /// Codes the residual of luma, or of all components at 4:4:4, over the prediction in the
  /// reconstruction, with the transform that costs less.
  ///
  /// - Returns: the luma part of coded_block_pattern, transform_size_8x8_flag, and squared error
  ///   plus lambda times bits.
  mutating func codeInterLumaByCost() -> (pattern: UInt8, transform8x8: Bool, cost: Int) {
    if stream.is444 { return codeInterComponentsByCost() }
    let zero = predictionErrors()
    let eightFirst = stream.transform8x8Allowed && picture.settings.residual.transforms == .eightFirst
    var useEight = eightFirst
    var best = eightFirst ? try8x8(zero) : try4x4(zero)
    if stream.transform8x8Allowed && (best.pattern != 0 || picture.settings.residual.transforms == .both) {
      let other = eightFirst ? try4x4(zero) : try8x8(zero)
      // Equal costs are decided for the 4x4 transform.
      if other.cost < best.cost || eightFirst && other.cost == best.cost {
        useEight = !eightFirst
        best = other
      }
    }
    let nonZero = picture.syntax.nonZero + m &* 24
    clearLumaCounts(nonZero)
    stream.codedBlocks[m] = 0
    if best.pattern == 0 { return (0, false, best.cost) }
    store(best.pattern, eight: useEight)
    return (best.pattern, useEight, best.cost)
  }

  /// Codes the residual with the 4x4 transform, as trial 0.
  ///
  /// - Parameter zero: the squared error of each 8x8 block without levels.
  mutating func try4x4(_ zero: UnsafePointer<Int32>) -> Trial {
    let q = stream.quant + qp
    var result = Trial()
    let samples = trialSamples(0)
    let levels = trialLevels(0)
    k.pointee.forward4x4x16(coefficients, source, reconstruction, stride)
    let optimises = picture.settings.residual.usesRDOQ
    let bias =
      optimises
      ? q.pointee.biasNearest4x4
      : picture.settings.residual.roundsFinely ? q.pointee.biasIntra4x4 : q.pointee.biasInter4x4
    if optimises { originals.update(from: coefficients, count: 256) }
    for b8 in 0..<4 {
      let coef = coefficients + b8 &* 64
      let error = Int(zero[b8])
      var mask = k.pointee.quant4x4x4(coef, q.pointee.multiplier4x4, bias)
      if mask == 0 {
        result.cost &+= error
        continue
      }
      var bits: Int32 = 0
      for b in 0..<4 {
        if mask & (1 << Int32(b)) == 0 {
          bits &+= 6
          continue
        }
        let level = levels + (b8 &* 64 &+ b &* 16)
        k.pointee.scan4x4(level, coef + b &* 16)
        var list = UInt64(ovt_nonzero_levels16(level))
        if optimises {
          list = optimiseLevels(
            level, coef + b &* 16, original: originals + (b8 &* 64 &+ b &* 16),
            multiplier: q.pointee.multiplier4x4, scan: ovt_zigzag4x4(), mask: list, first: 0, is8x8: false,
            lambda: rdoqLambda)
          if list == 0 { mask &= ~(1 << Int32(b)) }
        }
        bits &+= ovt_level_bits(level, list, 0)
      }
      if mask == 0 {
        result.cost &+= error
        continue
      }
      k.pointee.scale4x4x4(coef, q.pointee.scale4x4)
      let at = samples + ((b8 >> 1) &* 128 &+ (b8 & 1) &* 8)
      let offset = (b8 >> 1) &* 8 &* stride &+ (b8 & 1) &* 8
      ovt_copy8x8(at, 16, reconstruction + offset, stride)
      k.pointee.inverse4x4x4(at, 16, coef)
      let src = source + ((b8 >> 1) &* 128 &+ (b8 & 1) &* 8)
      let coded = Int(ovt_ssd(k, 3, src, at, 16)) &+ (lambdaResidual &* Int(bits)) >> 12
      if coded < error {
        result.cost &+= coded
        result.pattern |= 1 << UInt8(b8)
        keptMasks[b8] = mask
      } else {
        result.cost &+= error
      }
    }
    return result
  }

  /// Codes the residual with the 8x8 transform, as trial 1.
  ///
  /// - Parameter zero: the squared error of each 8x8 block without levels.
  mutating func try8x8(_ zero: UnsafePointer<Int32>) -> Trial {
    let q = stream.quant + qp
    var result = Trial()
    let samples = trialSamples(1)
    let levels = trialLevels(1)
    k.pointee.forward8x8x4(coefficients, source, reconstruction, stride)
    let optimises = picture.settings.residual.usesRDOQ
    let bias =
      optimises
      ? q.pointee.biasNearest8x8
      : picture.settings.residual.roundsFinely ? q.pointee.biasIntra8x8 : q.pointee.biasInter8x8
    if optimises { originals.update(from: coefficients, count: 256) }
    for b8 in 0..<4 {
      let coef = coefficients + b8 &* 64
      let error = Int(zero[b8])
      if k.pointee.quant8x8(coef, q.pointee.multiplier8x8, bias) == 0 {
        result.cost &+= error
        continue
      }
      let level = levels + b8 &* 64
      k.pointee.scan8x8(level, coef)
      var list = ovt_nonzero_levels64(level)
      if optimises {
        list = optimiseLevels(
          level, coef, original: originals + b8 &* 64, multiplier: q.pointee.multiplier8x8,
          scan: ovt_zigzag8x8(), mask: list, first: 0, is8x8: true, lambda: rdoqLambda)
        if list == 0 {
          result.cost &+= error
          continue
        }
      }
      let bits = ovt_level_bits(level, list, 1)
      k.pointee.scale8x8(coef, q.pointee.scale8x8, q.pointee.shift8x8)
      let at = samples + ((b8 >> 1) &* 128 &+ (b8 & 1) &* 8)
      let offset = (b8 >> 1) &* 8 &* stride &+ (b8 & 1) &* 8
      ovt_copy8x8(at, 16, reconstruction + offset, stride)
      k.pointee.inverse8x8(at, 16, coef)
      let src = source + ((b8 >> 1) &* 128 &+ (b8 & 1) &* 8)
      let coded = Int(ovt_ssd(k, 3, src, at, 16)) &+ (lambdaResidual &* Int(bits)) >> 12
      if coded < error {
        result.cost &+= coded
        result.pattern |= 1 << UInt8(b8)
      } else {
        result.cost &+= error
      }
    }
    return result
  }

  /// Makes a trial's levels and samples those of the macroblock.
  ///
  /// - Parameters:
  ///   - pattern: the luma part of coded_block_pattern.
  ///   - eight: whether the trial is that of the 8x8 transform.
  mutating func store(_ pattern: UInt8, eight: Bool) {
    let nonZero = picture.syntax.nonZero + m &* 24
    let from = trialLevels(eight ? 1 : 0)
    let samples = trialSamples(eight ? 1 : 0)
    var coded: UInt16 = 0
    for b8 in 0..<4 where pattern & (1 << UInt8(b8)) != 0 {
      let raster = (b8 >> 1) &* 8 &+ (b8 & 1) &* 2
      let list = levels + b8 &* 64
      UnsafeMutableRawPointer(list).copyMemory(from: from + b8 &* 64, byteCount: 128)
      ovt_copy8x8(
        reconstruction + ((b8 >> 1) &* 8 &* stride &+ (b8 & 1) &* 8), stride,
        samples + ((b8 >> 1) &* 128 &+ (b8 & 1) &* 8), 16)
      if eight {
        coded |= 0x33 << UInt16(raster)
        storeCounts8x8(nonZero + raster, b8, ovt_nonzero_levels64(list))
        continue
      }
      for b in 0..<4 where keptMasks[b8] & (1 << Int32(b)) != 0 {
        let at = raster &+ (b >> 1) &* 4 &+ (b & 1)
        nonZero[at] = UInt8(ovt_nonzero_levels16(list + b &* 16).nonzeroBitCount)
        coded |= 1 << UInt16(at)
      }
    }
    stream.codedBlocks[m] = coded
  }
}
