// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Transform, quantisation and reconstruction of luma over a prediction in the reconstruction.
extension MacroblockCoder {
  /// Scores a list of levels, to decide whether coding it lowers the rate-distortion cost: isolated
  /// levels of magnitude 1 at high frequencies take more bits than their error is worth.
  ///
  /// - Parameters:
  ///   - level: the levels in scan order.
  ///   - mask: a bit for each level that is not zero.
  /// - Returns: the score; 9 at once where a level has a magnitude above 1.
  @inline(__always) mutating func levelScore(_ level: UnsafePointer<Int16>, _ mask: UInt64) -> Int {
    var rest = mask
    var score = 0
    var next = 0
    while rest != 0 {
      let i = rest.trailingZeroBitCount
      if level[i] > 1 || level[i] < -1 { return 9 }
      let run = i &- next
      score &+= run == 0 ? 3 : run < 3 ? 2 : run < 6 ? 1 : 0
      next = i &+ 1
      rest &= rest &- 1
    }
    return score
  }

  /// Stores total_coeff of a block with the 8x8 transform as the entropy coder reads it, and for
  /// CAVLC interleaves its levels to four lists (7.3.5.3.2).
  ///
  /// - Parameters:
  ///   - counts: the block's first entry of `PictureSyntax.nonZero`.
  ///   - b8: the block, 0 to 3.
  ///   - mask: a bit for each level that is not zero.
  @inline(__always) mutating func storeCounts8x8(
    _ counts: UnsafeMutablePointer<UInt8>, _ b8: Int, _ mask: UInt64
  ) {
    if stream.cabac {
      setCounts(counts, UInt8(min(mask.nonzeroBitCount, 16)))
      return
    }
    let list = levels + b8 &* 64
    k.pointee.interleave8x8(scratch.coefficients8x8, list)
    UnsafeMutableRawPointer(list).copyMemory(from: scratch.coefficients8x8, byteCount: 128)
    for i in 0..<4 {
      // List i holds scan positions i, i + 4, i + 8, ...
      let bits = (mask >> UInt64(i)) & 0x1111_1111_1111_1111
      counts[(i >> 1) &* 4 &+ (i & 1)] = UInt8(bits.nonzeroBitCount)
    }
  }

  /// Sets the counts of the four 4x4 blocks of an 8x8 block.
  @inline(__always) mutating func setCounts(_ counts: UnsafeMutablePointer<UInt8>, _ value: UInt8) {
    counts[0] = value
    counts[1] = value
    counts[4] = value
    counts[5] = value
  }

  /// Clears the 16 counts of luma.
  @inline(__always) mutating func clearLumaCounts(_ counts: UnsafeMutablePointer<UInt8>) {
    let p = UnsafeMutableRawPointer(counts)
    p.storeBytes(of: 0, as: UInt64.self)
    p.storeBytes(of: 0, toByteOffset: 8, as: UInt64.self)
  }

  /// Clears the eight counts of chroma.
  @inline(__always) mutating func clearChromaCounts(_ counts: UnsafeMutablePointer<UInt8>) {
    UnsafeMutableRawPointer(counts + 16).storeBytes(of: 0, as: UInt64.self)
  }

  // MARK: - Intra

  /// Codes the luma residual of an Intra_16x16 macroblock over the prediction in the
  /// reconstruction.
  ///
  /// - Returns: the luma part of coded_block_pattern, 0 or 15.
  mutating func codeIntra16x16() -> UInt8 {
    let q = stream.quant + qp
    let nonZero = picture.syntax.nonZero + m &* 24
    let info = picture.syntax.info + m
    k.pointee.forward4x4x16(coefficients, source, reconstruction, stride)
    for b in 0..<16 {
      dc[Int(ovt_raster(Int32(b)))] = coefficients[b &* 16]
      coefficients[b &* 16] = 0
    }
    k.pointee.hadamard4x4Forward(dc)
    let hasDC = k.pointee.quantDC(dc, 16, q.pointee.multiplierDC, q.pointee.biasDCIntra) != 0
    info.pointee.codedDC = hasDC ? 1 : 0
    k.pointee.scan4x4(levels + LevelLayout.lumaDC, dc)
    if hasDC {
      k.pointee.hadamard4x4Inverse(dc)
      scaleLumaDC(q.pointee.scaleDC)
    }

    let optimises = picture.settings.residual.usesRDOQ
    let bias = optimises ? q.pointee.biasNearest4x4 : q.pointee.biasIntra4x4
    if optimises { originals.update(from: coefficients, count: 256) }
    clearLumaCounts(nonZero)
    var anyAC = false
    var coded: UInt16 = 0
    var score = 0
    for b8 in 0..<4 {
      let coef = coefficients + b8 &* 64
      let mask = k.pointee.quant4x4x4(coef, q.pointee.multiplier4x4, bias)
      for b in 0..<4 {
        let level = levels + (b8 &* 64 &+ b &* 16)
        if mask & (1 << Int32(b)) == 0 { continue }
        k.pointee.scan4x4(level, coef + b &* 16)
        var list = ovt_nonzero_levels16(level)
        if optimises {
          list = UInt32(
            truncatingIfNeeded: optimiseLevels(
              level, coef + b &* 16, original: originals + (b8 &* 64 &+ b &* 16),
              multiplier: q.pointee.multiplier4x4, scan: ovt_zigzag4x4(), mask: UInt64(list), first: 1,
              is8x8: false, lambda: rdoqLambda))
        }
        if list == 0 { continue }
        score &+= levelScore(level, UInt64(list) & ~1)
        let at = (b8 >> 1) &* 8 &+ (b8 & 1) &* 2 &+ (b >> 1) &* 4 &+ (b & 1)
        nonZero[at] = UInt8(list.nonzeroBitCount)
        coded |= 1 << UInt16(at)
        anyAC = true
      }
      if mask != 0 { k.pointee.scale4x4x4(coef, q.pointee.scale4x4) }
    }
    if anyAC && score < 6 && !picture.isIntraPicture {
      anyAC = false
      clearLumaCounts(nonZero)
      coded = 0
    }
    if anyAC {
      for b in 0..<16 { coefficients[b &* 16] = dc[Int(ovt_raster(Int32(b)))] &* (hasDC ? 1 : 0) }
      k.pointee.inverse4x4x16(reconstruction, stride, coefficients)
    } else if hasDC {
      for b in 0..<16 {
        let r = Int(ovt_raster(Int32(b)))
        k.pointee.inverse4x4DC(
          reconstruction + ((r >> 2) &* 4 &* stride &+ (r & 3) &* 4), stride, Int32(dc[r]))
      }
    }
    stream.codedBlocks[m] = coded
    return anyAC ? 15 : 0
  }

  /// Scales the DC coefficients of Intra_16x16 after their inverse transform (8.5.10).
  ///
  /// - Parameter scale: `QuantTables.scaleDC`.
  private mutating func scaleLumaDC(_ scale: Int32) {
    // The scale includes the shift by qP / 6; with the flat matrix, a rounding shift by 2 is left.
    for i in 0..<16 {
      dc[i] = Int16(truncatingIfNeeded: (Int32(dc[i]) &* scale &+ 2) >> 2)
    }
  }

  /// Codes an Intra_4x4 block over its prediction in the reconstruction.
  ///
  /// - Parameters:
  ///   - blkIdx: luma4x4BlkIdx.
  ///   - at: the block in the reconstruction.
  ///   - src: the source block, in rows of 16 samples.
  /// - Returns: whether it has levels.
  mutating func codeIntra4x4Block(
    _ blkIdx: Int, _ at: UnsafeMutablePointer<UInt8>, _ src: UnsafePointer<UInt8>
  ) -> Bool {
    let q = stream.quant + qp
    let raster = Int(ovt_raster(Int32(blkIdx)))
    let coef = coefficients + blkIdx &* 16
    let counts = picture.syntax.nonZero + (m &* 24 &+ raster)
    counts.pointee = 0
    k.pointee.forward4x4(coef, src, at, stride)
    let optimises = picture.settings.residual.usesRDOQ
    if optimises { originals.update(from: coef, count: 16) }
    let bias = optimises ? q.pointee.biasNearest4x4 : q.pointee.biasIntra4x4
    if k.pointee.quant4x4(coef, q.pointee.multiplier4x4, bias) == 0 { return false }
    let level = levels + blkIdx &* 16
    k.pointee.scan4x4(level, coef)
    var list = ovt_nonzero_levels16(level)
    if optimises {
      list = UInt32(
        truncatingIfNeeded: optimiseLevels(
          level, coef, original: originals, multiplier: q.pointee.multiplier4x4, scan: ovt_zigzag4x4(),
          mask: UInt64(list), first: 0, is8x8: false, lambda: rdoqLambda))
    }
    if list == 0 { return false }
    counts.pointee = UInt8(list.nonzeroBitCount)
    k.pointee.scale4x4(coef, q.pointee.scale4x4)
    k.pointee.inverse4x4(at, stride, coef)
    return true
  }

  /// Codes an Intra_8x8 block over its prediction in the reconstruction.
  ///
  /// - Parameters:
  ///   - b8: luma8x8BlkIdx.
  ///   - at: the block in the reconstruction.
  ///   - src: the source block, in rows of 16 samples.
  /// - Returns: whether it has levels.
  mutating func codeIntra8x8Block(_ b8: Int, _ at: UnsafeMutablePointer<UInt8>, _ src: UnsafePointer<UInt8>)
    -> Bool
  {
    let q = stream.quant + qp
    let raster = (b8 >> 1) &* 8 &+ (b8 & 1) &* 2
    let coef = coefficients + b8 &* 64
    let counts = picture.syntax.nonZero + (m &* 24 &+ raster)
    setCounts(counts, 0)
    k.pointee.forward8x8(coef, src, at, stride)
    let optimises = picture.settings.residual.usesRDOQ
    if optimises { originals.update(from: coef, count: 64) }
    let bias = optimises ? q.pointee.biasNearest8x8 : q.pointee.biasIntra8x8
    if k.pointee.quant8x8(coef, q.pointee.multiplier8x8, bias) == 0 { return false }
    let level = levels + b8 &* 64
    k.pointee.scan8x8(level, coef)
    var mask = ovt_nonzero_levels64(level)
    if optimises {
      mask = optimiseLevels(
        level, coef, original: originals, multiplier: q.pointee.multiplier8x8, scan: ovt_zigzag8x8(),
        mask: mask, first: 0, is8x8: true, lambda: rdoqLambda)
    }
    if mask == 0 { return false }
    storeCounts8x8(counts, b8, mask)
    k.pointee.scale8x8(coef, q.pointee.scale8x8, q.pointee.shift8x8)
    k.pointee.inverse8x8(at, stride, coef)
    return true
  }
}
