// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Coding without loss in 4:4:4 pictures: at QP'Y 0 with qpprime_y_zero_transform_bypass_flag, the
/// levels are the differences from the prediction themselves (8.5.15), and the reconstruction is
/// the source.
///
/// With vertical and horizontal intra prediction, each difference is that from the sample above or
/// at the left, which is known exactly: those predictions are made of the source.
extension MacroblockCoder {
  /// Replaces a block's vertical or horizontal prediction by the neighbouring samples of each
  /// sample, after the first row or column, which has been predicted.
  ///
  /// - Parameters:
  ///   - mode: 0 for vertical, 1 for horizontal.
  ///   - dst: the prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - src: the source block, in rows of 16 samples.
  ///   - size: the block's width and height.
  @inline(__always) mutating func predictFromNeighbours(
    _ mode: Int, _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, _ src: UnsafePointer<UInt8>, size: Int
  ) {
    for y in 0..<size {
      for x in 0..<size {
        if mode == 0 {
          if y > 0 { dst[y &* dstStride &+ x] = src[y &* 16 &+ x &- 16] }
        } else if x > 0 {
          dst[y &* dstStride &+ x] = src[y &* 16 &+ x &- 1]
        }
      }
    }
  }

  /// Copies the prediction of Intra_16x16 to `scratch.prediction`, as its differences are coded.
  ///
  /// - Parameters:
  ///   - mode: the mode in the numbering of the kernels.
  ///   - source: the source of the component, in rows of 16 samples.
  ///   - at: the prediction in the reconstruction.
  mutating func predictLossless16x16(
    _ mode: Int, _ source: UnsafePointer<UInt8>, _ at: UnsafePointer<UInt8>
  ) {
    ovt_copy(k, 0, scratch.prediction, 16, at, stride, 16)
    if mode < 2 { predictFromNeighbours(mode, scratch.prediction, 16, source, size: 16) }
  }

  /// Stores the differences of a 4x4 block in raster order.
  @inline(__always) private mutating func subtract4x4(
    _ difference: UnsafeMutablePointer<Int16>, _ src: UnsafePointer<UInt8>,
    _ prediction: UnsafePointer<UInt8>,
    _ predictionStride: Int
  ) {
    for y in 0..<4 {
      for x in 0..<4 {
        difference[y &* 4 &+ x] =
          Int16(src[y &* 16 &+ x]) &- Int16(prediction[y &* predictionStride &+ x])
      }
    }
  }

  /// Codes the selected component of an Intra_16x16 macroblock over the prediction in the
  /// reconstruction.
  ///
  /// - Parameter mode: the mode in the numbering of the kernels.
  /// - Returns: the luma part of coded_block_pattern, 0 or 15.
  mutating func codeLossless16x16(_ mode: Int) -> UInt8 {
    predictLossless16x16(mode, source, reconstruction)
    let counts = picture.syntax.nonZero + m &* 24
    var coded: UInt16 = 0
    for b in 0..<16 {
      let r = Int(ovt_raster(Int32(b)))
      let offset = (r >> 2) &* 64 &+ (r & 3) &* 4
      subtract4x4(coefficients, source + offset, scratch.prediction + offset, 16)
      dc[r] = coefficients[0]
      coefficients[0] = 0
      let level = levels + b &* 16
      k.pointee.scan4x4(level, coefficients)
      let list = ovt_nonzero_levels16(level)
      counts[r] = UInt8(list.nonzeroBitCount)
      if list != 0 { coded |= 1 << UInt16(r) }
    }
    k.pointee.scan4x4(levels + LevelLayout.lumaDC, dc)
    picture.syntax.info[m].codedDC = ovt_nonzero_levels16(levels + LevelLayout.lumaDC) != 0 ? 1 : 0
    ovt_copy(k, 0, reconstruction, stride, source, 16, 16)
    stream.codedBlocks[m] = coded
    return coded != 0 ? 15 : 0
  }

  /// Codes an Intra_4x4 block of the selected component over its prediction in the reconstruction.
  ///
  /// - Parameters:
  ///   - blkIdx: luma4x4BlkIdx.
  ///   - at: the block in the reconstruction.
  ///   - src: the source block, in rows of 16 samples.
  /// - Returns: whether it has levels.
  mutating func codeLossless4x4(
    _ blkIdx: Int, _ at: UnsafeMutablePointer<UInt8>, _ src: UnsafePointer<UInt8>
  ) -> Bool {
    subtract4x4(coefficients, src, at, stride)
    let level = levels + blkIdx &* 16
    k.pointee.scan4x4(level, coefficients)
    let list = ovt_nonzero_levels16(level)
    picture.syntax.nonZero[m &* 24 &+ Int(ovt_raster(Int32(blkIdx)))] = UInt8(list.nonzeroBitCount)
    ovt_copy(k, 2, at, stride, src, 16, 4)
    return list != 0
  }

  /// Codes the differences of all components of an inter macroblock from the predictions in the
  /// reconstruction.
  ///
  /// - Returns: the luma part of coded_block_pattern, transform_size_8x8_flag, which is 0, and
  ///   lambda times bits.
  mutating func codeInterLossless() -> (pattern: UInt8, transform8x8: Bool, cost: Int) {
    var pattern: UInt8 = 0
    var coded: UInt16 = 0
    var bits = 0
    for c in 0..<3 {
      select(c)
      let counts = picture.syntax.nonZero + m &* 24
      for b in 0..<16 {
        let r = Int(ovt_raster(Int32(b)))
        subtract4x4(
          coefficients, source + ((r >> 2) &* 64 &+ (r & 3) &* 4),
          reconstruction + ((r >> 2) &* 4 &* stride &+ (r & 3) &* 4), stride)
        let level = levels + b &* 16
        k.pointee.scan4x4(level, coefficients)
        let list = ovt_nonzero_levels16(level)
        counts[r] = UInt8(list.nonzeroBitCount)
        bits &+= Int(ovt_level_bits(level, UInt64(list), 0))
        if list == 0 { continue }
        pattern |= 1 << UInt8(b >> 2)
        if c == 0 { coded |= 1 << UInt16(r) }
      }
      ovt_copy(k, 0, reconstruction, stride, source, 16, 16)
    }
    select(0)
    stream.codedBlocks[m] = coded
    return (pattern, false, (lambdaSSD &* bits) >> 12)
  }
}
