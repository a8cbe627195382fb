// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Chroma residual (8.5.11) over a prediction that stands in the picture.
extension MacroblockCoder {
  /// Codes Cb and Cr of the macroblock. Returns the chroma part of coded_block_pattern, 0 to 2.
  mutating func codeChroma(intra: Bool) -> UInt8 {
    let q = f.quant + chromaQP(qp)
    let nonZero = f.syntax.nonZero + m &* 24
    let info = f.syntax.info + m
    let coef = chromaCoefficients
    clearChromaCounts(nonZero)
    k.pointee.forwardNV12(coef, sourceChroma, pictureChroma, stride)

    var codedDC: UInt8 = 0
    for c in 0..<2 {
      let base = coef + c &* 64
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
        let list = k.pointee.nonZeroMask16(level)
        score &+= keepScore(level, UInt64(list))
        nonZero[16 &+ c &* 4 &+ b] = UInt8(list.nonzeroBitCount)
        anyAC = true
        acMask |= 1 << Int32(c &* 4 &+ b)
      }
    }
    if anyAC && score < 7 && !f.isIntraPicture {
      anyAC = false
      clearChromaCounts(nonZero)
    }
    info.pointee.codedDC = (info.pointee.codedDC & 1) | codedDC
    if !anyAC && codedDC == 0 { return 0 }

    // Scaling (8.5.11.2): DC through the inverse 2x2 transform.
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
    k.pointee.inverseNV12(pictureChroma, stride, coef)
    return anyAC ? 2 : 1
  }
}
