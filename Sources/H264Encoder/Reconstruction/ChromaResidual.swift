// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Coding of the chroma residual (8.5.11) over a prediction in the reconstruction.
extension MacroblockCoder {
  /// In P and B pictures without rate-distortion optimised chroma, the AC levels of both planes are
  /// dropped where their score (`levelScore`), added up over all blocks, is below this.
  private static let minChromaScore = 4

  /// Codes the residual of Cb and Cr.
  ///
  /// - Parameter intra: whether the macroblock is intra, for the rounding of levels.
  /// - Returns: the chroma part of coded_block_pattern, 0 to 2.
  mutating func codeChroma(intra: Bool) -> UInt8 {
    let q = stream.quant + chromaQP(qp)
    let nonZero = picture.syntax.nonZero + m &* 24
    let info = picture.syntax.info + m
    let coef = chromaCoefficients
    clearChromaCounts(nonZero)
    k.pointee.forwardNV12(coef, sourceChroma, reconstructionChroma, stride)
    if picture.settings.residual.usesRDOQ && picture.settings.residual.usesChromaRDOQ {
      return codeChromaByCost(q)
    }

    var codedDC: UInt8 = 0
    for c in 0..<2 {
      let list = takeChromaDC(c)
      let bias = intra ? q.pointee.biasDCIntra : q.pointee.biasDCInter
      if k.pointee.quantDC(list, 4, q.pointee.multiplierDC, bias) != 0 { codedDC |= UInt8(2 << c) }
      let level = levels + (LevelLayout.chromaDC &+ c &* 4)
      for i in 0..<4 { level[i] = list[i] }
    }

    var anyAC = false
    var acMask: Int32 = 0
    let bias = intra ? q.pointee.biasIntra4x4 : q.pointee.biasInter4x4
    var score = 0
    for c in 0..<2 {
      let base = coef + c &* 64
      let mask = k.pointee.quant4x4x4(base, q.pointee.multiplier4x4, bias)
      if mask == 0 { continue }
      for b in 0..<4 where mask & (1 << Int32(b)) != 0 {
        let level = levels + (LevelLayout.chromaAC &+ (c &* 4 &+ b) &* 16)
        k.pointee.scan4x4(level, base + b &* 16)
        let list = ovt_nonzero_levels16(level)
        score &+= levelScore(level, UInt64(list))
        nonZero[16 &+ c &* 4 &+ b] = UInt8(list.nonzeroBitCount)
        anyAC = true
        acMask |= 1 << Int32(c &* 4 &+ b)
      }
    }
    if anyAC && score < MacroblockCoder.minChromaScore && !picture.isIntraPicture {
      anyAC = false
      clearChromaCounts(nonZero)
    }
    info.pointee.codedDC = (info.pointee.codedDC & 1) | codedDC
    if !anyAC && codedDC == 0 { return 0 }

    return reconstructChroma(q, codedDC: codedDC, acMask: anyAC ? acMask : 0)
  }

  /// Moves the DC coefficients of a plane out of its blocks and transforms them (8.5.11.1).
  ///
  /// - Parameter c: 0 for Cb, 1 for Cr.
  /// - Returns: the four coefficients.
  @inline(__always) private func takeChromaDC(_ c: Int) -> UnsafeMutablePointer<Int16> {
    let base = chromaCoefficients + c &* 64
    let (a, b, d, e) = (Int32(base[0]), Int32(base[16]), Int32(base[32]), Int32(base[48]))
    base[0] = 0
    base[16] = 0
    base[32] = 0
    base[48] = 0
    let list = dc + c &* 4
    list[0] = Int16(truncatingIfNeeded: a &+ b &+ d &+ e)
    list[1] = Int16(truncatingIfNeeded: a &- b &+ d &- e)
    list[2] = Int16(truncatingIfNeeded: a &+ b &- d &- e)
    list[3] = Int16(truncatingIfNeeded: a &- b &- d &+ e)
    return list
  }

  /// Quantises chroma with rate-distortion optimisation, as `optimiseLevels` does luma: it decides
  /// on each level, each list, AC as a whole, and the chroma of the macroblock as a whole.
  ///
  /// - Parameter q: the tables of chroma's QP.
  /// - Returns: the chroma part of coded_block_pattern, 0 to 2.
  private mutating func codeChromaByCost(_ q: UnsafePointer<QuantTables>) -> UInt8 {
    let nonZero = picture.syntax.nonZero + m &* 24
    let coef = chromaCoefficients
    // In percent. Errors of chroma weigh less in intra pictures, as later pictures refine chroma,
    // and in pictures that no other refers to, as they are not propagated.
    let share = picture.isIntraPicture ? 180 : picture.isReference ? 100 : 160
    let lambda = (rdoqLambda &* share / 100 &* MacroblockCoder.chromaLambda(qp &- chromaQP(qp))) >> 4
    var codedDC: UInt8 = 0
    var dcCost = 0
    for c in 0..<2 {
      let list = takeChromaDC(c)
      let cost = chooseChromaDC(
        list, levels + (LevelLayout.chromaDC &+ c &* 4), q.pointee.multiplierDC, lambda)
      if cost < 0 {
        codedDC |= UInt8(2 << c)
        dcCost &+= cost
      }
    }

    originals.update(from: coef, count: 128)
    var acMask: Int32 = 0
    // The coded_block_flags of eight blocks and a bit of coded_block_pattern.
    var acCost = lambda &* (8 &* 6 &+ 16)
    for c in 0..<2 {
      let base = coef + c &* 64
      let mask = k.pointee.quant4x4x4(base, q.pointee.multiplier4x4, q.pointee.biasNearest4x4)
      for b in 0..<4 where mask & (1 << Int32(b)) != 0 {
        let n = c &* 4 &+ b
        let level = levels + (LevelLayout.chromaAC &+ n &* 16)
        let original = originals + n &* 16
        k.pointee.scan4x4(level, base + b &* 16)
        let list = optimiseLevels(
          level, base + b &* 16, original: original, multiplier: q.pointee.multiplier4x4,
          scan: ovt_zigzag4x4(), mask: UInt64(ovt_nonzero_levels16(level)), first: 1, is8x8: false,
          lambda: lambda)
        if list == 0 { continue }
        nonZero[16 &+ n] = UInt8(list.nonzeroBitCount)
        acMask |= 1 << Int32(n)
        acCost &+= lambda &* (Int(ovt_level_bits(level, list & ~1, 0)) &- 11 &- 6)
        var rest = list
        while rest != 0 {
          let i = rest.trailingZeroBitCount
          rest &= rest &- 1
          let r = Int(ovt_zigzag4x4()[i])
          let exact = (Int(original[r].magnitude) &* Int(q.pointee.multiplier4x4[r])) >> 8
          let error = exact &- Int(level[i].magnitude) &* 256
          acCost &+= error &* error &- exact &* exact
        }
      }
    }
    if acCost >= 0 || acMask == 0 {
      if acMask != 0 { clearChromaCounts(nonZero) }
      acMask = 0
      acCost = 0
    }
    if codedDC != 0 || acMask != 0, dcCost &+ acCost &+ lambda &* 16 >= 0 {
      clearChromaCounts(nonZero)
      codedDC = 0
      acMask = 0
    }
    let info = picture.syntax.info + m
    info.pointee.codedDC = (info.pointee.codedDC & 1) | codedDC
    if acMask == 0 && codedDC == 0 { return 0 }
    return reconstructChroma(q, codedDC: codedDC, acMask: acMask)
  }

  /// The factor of lambda for chroma, in sixteenths.
  ///
  /// Errors are counted in squares of quantisation steps, which are smaller than luma's where
  /// chroma's QP is lower. This would ask for a factor of 2^(finer / 3). The square root of that is
  /// used, which is best for luma and chroma together, since chroma that is missing at high QPs
  /// stays missing in many later pictures.
  ///
  /// - Parameter finer: by how much chroma's QP is below luma's, 0 or more.
  @inline(__always) static func chromaLambda(_ finer: Int) -> Int {
    switch finer >> 1 {
    case ...0: 16
    case 1: 20
    case 2: 25
    case 3: 32
    case 4: 40
    case 5: 51
    default: 64
    }
  }

  /// Chooses the levels of a plane's DC coefficients by rate and distortion.
  ///
  /// - Parameters:
  ///   - list: the four transformed coefficients; is replaced by the levels.
  ///   - level: receives a copy of the levels.
  ///   - multiplier: `QuantTables.multiplierDC`.
  ///   - lambda: lambda for a sixteenth of a bit, in the units of `defaultRDOQLambda`.
  /// - Returns: the cost of the levels minus that of coding none; 0 if none is coded, else less.
  private mutating func chooseChromaDC(
    _ list: UnsafeMutablePointer<Int16>, _ level: UnsafeMutablePointer<Int16>, _ multiplier: Int32,
    _ lambda: Int
  ) -> Int {
    var total = lambda &* 8
    var zeros = 0
    var isAny = false
    for i in 0..<4 {
      let value = list[i]
      let exact = (Int(value.magnitude) &* Int(multiplier)) >> 8
      var size = (exact &+ 128) >> 8
      var least = lambda &* 11
      let none = exact &* exact
      if size > 0 {
        @inline(__always) func cost(_ size: Int) -> Int {
          let error = exact &- size &* 256
          return error &* error &- none &+ lambda &* (28 &+ Int(ovt_level_size_bits(Int32(size))))
        }
        var chosen = 0
        for candidate in max(size &- 1, 1)...size {
          let c = cost(candidate)
          if c < least { (least, chosen) = (c, candidate) }
        }
        size = chosen
      }
      if size > 0 {
        total &+= least &+ zeros
        zeros = 0
        isAny = true
      } else {
        zeros &+= lambda &* 11
      }
      list[i] = value < 0 ? Int16(truncatingIfNeeded: 0 &- size) : Int16(truncatingIfNeeded: size)
    }
    if !isAny || total >= 0 {
      for i in 0..<4 {
        list[i] = 0
        level[i] = 0
      }
      return 0
    }
    for i in 0..<4 { level[i] = list[i] }
    return total
  }

  /// Scales the levels (8.5.11.2), transforms them back and adds them to the prediction.
  ///
  /// - Parameters:
  ///   - q: the tables of chroma's QP.
  ///   - codedDC: `MacroblockInfo.codedDC`, of which bits 1 and 2 are read.
  ///   - acMask: a bit for each of the eight blocks that has AC levels. If there is none, all AC
  ///     coefficients are cleared.
  /// - Returns: the chroma part of coded_block_pattern, 1 or 2.
  private mutating func reconstructChroma(
    _ q: UnsafePointer<QuantTables>, codedDC: UInt8, acMask: Int32
  ) -> UInt8 {
    let coef = chromaCoefficients
    let anyAC = acMask != 0
    for c in 0..<2 {
      let base = coef + c &* 64
      if anyAC && acMask & (0xF << Int32(c &* 4)) != 0 {
        k.pointee.scale4x4x4(base, q.pointee.scale4x4)
      }
      let list = dc + c &* 4
      if codedDC & UInt8(2 << c) != 0 {
        let (a, b, d, e) = (Int32(list[0]), Int32(list[1]), Int32(list[2]), Int32(list[3]))
        let s = q.pointee.scaleDC
        list[0] = Int16(truncatingIfNeeded: ((a &+ b &+ d &+ e) &* s) >> 1)
        list[1] = Int16(truncatingIfNeeded: ((a &- b &+ d &- e) &* s) >> 1)
        list[2] = Int16(truncatingIfNeeded: ((a &+ b &- d &- e) &* s) >> 1)
        list[3] = Int16(truncatingIfNeeded: ((a &- b &- d &+ e) &* s) >> 1)
      } else {
        for i in 0..<4 { list[i] = 0 }
      }
    }
    if !anyAC {
      for i in 0..<128 { coef[i] = 0 }
    }
    for c in 0..<2 {
      for b in 0..<4 { coef[c &* 64 &+ b &* 16] = dc[c &* 4 &+ b] }
    }
    k.pointee.inverseNV12(reconstructionChroma, stride, coef)
    return anyAC ? 2 : 1
  }
}
