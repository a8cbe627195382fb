// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Mode decision and coding of intra macroblocks of 4:4:4 pictures. Cb and Cr are predicted with
/// the modes of luma (8.3.4.5), so that modes are compared by the sum over all components.
extension MacroblockCoder {
  /// Predicts all components by a mode of Intra_16x16, into the reconstruction.
  ///
  /// - Parameter mode: the mode in the numbering of the kernels.
  mutating func predictIntra16x16Components(_ mode: Int) {
    for c in 0..<3 { ovt_intra16x16(k, Int32(mode), reconstruction + c &* stream.componentOffset, stride) }
  }

  /// The difference of all components from a prediction by Intra_16x16 that is in the
  /// reconstruction.
  ///
  /// - Parameter mode: the mode in the numbering of the kernels.
  mutating func intra16x16Distortion(_ mode: Int) -> Int32 {
    var sum: Int32 = 0
    for c in 0..<3 {
      let source = source + c &* MacroblockCoder.componentSamples
      let at = reconstruction + c &* stream.componentOffset
      if stream.isLossless {
        predictLossless16x16(mode, source, at)
        sum &+= ovt_sad(k, 0, source, scratch.prediction, 16)
      } else {
        sum &+= ovt_satd(k, 0, source, at, stride)
      }
    }
    return sum
  }

  /// Codes the residual of all components of an Intra_16x16 macroblock over the predictions in the
  /// reconstruction.
  ///
  /// - Parameter mode: the mode in the numbering of the kernels.
  /// - Returns: the luma part of coded_block_pattern, which counts for all components: 0 or 15.
  mutating func codeIntra16x16Components(_ mode: Int) -> UInt8 {
    let info = picture.syntax.info + m
    var pattern: UInt8 = 0
    var codedDC: UInt8 = 0
    var coded: UInt16 = 0
    for c in 0..<3 {
      select(c)
      pattern |= stream.isLossless ? codeLossless16x16(mode) : codeIntra16x16()
      codedDC |= (info.pointee.codedDC & 1) << UInt8(c)
      if c == 0 { coded = stream.codedBlocks[m] }
    }
    select(0)
    info.pointee.codedDC = codedDC
    // bS depends on the levels of luma alone (8.7.2.1).
    stream.codedBlocks[m] = coded
    return pattern
  }

  /// Codes all components as Intra_4x4, block by block.
  ///
  /// - Parameter limit: the cost from which coding is given up.
  /// - Returns: SATD plus lambda times the bits of the modes, and the luma part of
  ///   coded_block_pattern; nil where it was given up.
  mutating func codeIntra4x4Components(limit: Int32) -> (cost: Int32, pattern: UInt8)? {
    var cost = (lambda &* 8) >> 4
    var pattern: UInt8 = 0
    var coded: UInt16 = 0
    let modes = picture.syntax.intraModes + m &* 16
    for blkIdx in 0..<16 {
      let r = Int(ovt_raster(Int32(blkIdx)))
      let offset = (r >> 2) &* 4 &* stride &+ (r & 3) &* 4
      let srcOffset = (r >> 2) &* 64 &+ (r & 3) &* 4
      let n = neighbours4x4(blkIdx)
      for c in 0..<3 {
        loadEdge4x4(
          reconstruction + (c &* stream.componentOffset &+ offset), edge + c &* MacroblockCoder.edgeSize,
          left: n.left, top: n.top, corner: n.corner, right: n.right)
      }
      let predicted = predictedIntraMode(r)
      var allowed = MacroblockCoder.allowedSmallModes(left: n.left, top: n.top, corner: n.corner)
      let dcMode = n.left ? (n.top ? 2 : 9) : (n.top ? 10 : 11)
      var best = Int32.max
      var bestMode = 2
      while allowed != 0 {
        let mode = allowed.trailingZeroBitCount
        allowed &= allowed &- 1
        var found = (lambda &* (mode == predicted ? 1 : 4)) >> 4
        for c in 0..<3 where found < best {
          let src = source + (c &* MacroblockCoder.componentSamples &+ srcOffset)
          predict4x4(mode == 2 ? dcMode : mode, scratch.prediction, 16, c, src)
          found &+=
            stream.isLossless
            ? ovt_sad(k, 6, src, scratch.prediction, 16) : ovt_satd(k, 6, src, scratch.prediction, 16)
        }
        if found < best {
          best = found
          bestMode = mode
        }
      }
      cost &+= best
      if cost >= limit { return nil }
      modes[r] = Int8(bestMode)
      for c in 0..<3 {
        select(c)
        let at = reconstruction + offset
        let src = source + srcOffset
        predict4x4(bestMode == 2 ? dcMode : bestMode, at, stride, c, src)
        let hasLevels =
          stream.isLossless ? codeLossless4x4(blkIdx, at, src) : codeIntra4x4Block(blkIdx, at, src)
        if hasLevels {
          pattern |= 1 << UInt8(blkIdx >> 2)
          if c == 0 { coded |= 1 << UInt16(r) }
        }
      }
      select(0)
    }
    stream.codedBlocks[m] = coded
    return (cost, pattern)
  }

  /// Predicts a 4x4 block from the edge of a component.
  ///
  /// - Parameters:
  ///   - mode: the mode in the numbering of the kernels.
  ///   - dst: receives the prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - c: the component.
  ///   - src: the source block, in rows of 16 samples.
  @inline(__always) private mutating func predict4x4(
    _ mode: Int, _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, _ c: Int, _ src: UnsafePointer<UInt8>
  ) {
    let edge = edge + c &* MacroblockCoder.edgeSize
    ovt_intra4x4(k, Int32(mode), dst, dstStride, edge)
    if stream.isLossless && mode < 2 { predictFromNeighbours(mode, dst, dstStride, src, size: 4) }
  }

  /// Codes all components as Intra_8x8, block by block.
  ///
  /// - Parameter limit: the cost from which coding is given up.
  /// - Returns: SATD plus lambda times the bits of the modes, and the luma part of
  ///   coded_block_pattern; nil where it was given up.
  mutating func codeIntra8x8Components(limit: Int32) -> (cost: Int32, pattern: UInt8)? {
    var cost = (lambda &* 4) >> 4
    var pattern: UInt8 = 0
    var coded: UInt16 = 0
    let modes = picture.syntax.intraModes + m &* 16
    for b8 in 0..<4 {
      let r = (b8 >> 1) &* 8 &+ (b8 & 1) &* 2
      let offset = (b8 >> 1) &* 8 &* stride &+ (b8 & 1) &* 8
      let srcOffset = (b8 >> 1) &* 128 &+ (b8 & 1) &* 8
      let n = neighbours8x8(b8)
      for c in 0..<3 {
        let shift = c &* MacroblockCoder.edgeSize
        loadEdge8x8(
          reconstruction + (c &* stream.componentOffset &+ offset), edge + shift,
          left: n.left, top: n.top, corner: n.corner, right: n.right)
        k.pointee.filterEdge8x8(
          filteredEdge + shift, edge + shift,
          (n.left ? 1 : 0) | (n.top ? 2 : 0) | (n.corner ? 4 : 0))
      }
      let predicted = predictedIntraMode(r)
      var allowed = MacroblockCoder.allowedSmallModes(left: n.left, top: n.top, corner: n.corner)
      let dcMode = n.left ? (n.top ? 2 : 9) : (n.top ? 10 : 11)
      var best = Int32.max
      var bestMode = 2
      while allowed != 0 {
        let mode = allowed.trailingZeroBitCount
        allowed &= allowed &- 1
        var found = (lambda &* (mode == predicted ? 1 : 4)) >> 4
        for c in 0..<3 where found < best {
          ovt_intra8x8(
            k, Int32(mode == 2 ? dcMode : mode), scratch.prediction, 16,
            filteredEdge + c &* MacroblockCoder.edgeSize)
          found &+= ovt_satd(
            k, 3, source + (c &* MacroblockCoder.componentSamples &+ srcOffset), scratch.prediction, 16)
        }
        if found < best {
          best = found
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
      for c in 0..<3 {
        select(c)
        let at = reconstruction + offset
        ovt_intra8x8(
          k, Int32(bestMode == 2 ? dcMode : bestMode), at, stride,
          filteredEdge + c &* MacroblockCoder.edgeSize)
        if codeIntra8x8Block(b8, at, source + srcOffset) {
          pattern |= 1 << UInt8(b8)
          if c == 0 { coded |= 0x33 << UInt16(r) }
        }
      }
      select(0)
    }
    stream.codedBlocks[m] = coded
    return (cost, pattern)
  }

  /// Estimates the bits of the levels of all components, and of their DC levels.
  ///
  /// - Parameters:
  ///   - is8x8: whether the transform is 8x8.
  ///   - pattern: the luma part of coded_block_pattern.
  /// - Returns: sixteenths of a bit.
  mutating func componentLevelBits(is8x8: Bool, _ pattern: UInt8) -> Int {
    var bits = 0
    let codedDC = picture.syntax.info[m].codedDC
    for c in 0..<3 {
      select(c)
      bits &+= levelBits(is8x8: is8x8, pattern)
      if codedDC >> UInt8(c) & 1 != 0 {
        let list = levels + LevelLayout.lumaDC
        bits &+= Int(ovt_level_bits(list, UInt64(ovt_nonzero_levels16(list)), 0))
      }
    }
    select(0)
    return bits
  }
}
