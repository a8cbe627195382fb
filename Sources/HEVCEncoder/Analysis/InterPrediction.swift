// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels

/// Inter prediction (8.5.3.3) from one or two reference pictures.
extension CodingTreeCoder {
  /// The samples of a reference picture at a vector, where these are at half samples; nil
  /// elsewhere. Weights are applied: exactly at whole samples, elsewhere with another rounding.
  @inline(__always) func planeAt(
    _ motion: Motion, _ list: Int, _ block: PredictionBlock
  ) -> UnsafePointer<Sample>? {
    let (mx, my) = (Int(motion.x), Int(motion.y))
    guard (mx | my) & 1 == 0 else { return nil }
    let plane = (mx >> 1 & 1) | (my >> 1 & 1) << 1
    let samples = pixels.reference(list, Int(motion.reference)).halfSamples
    let row: Int = block.y &+ (my >> 2)
    let column: Int = block.x &+ (mx >> 2)
    if plane != 0 {
      samples.require(column, row, width: block.width, height: block.height, layout, kernels)
    }
    return UnsafePointer(samples.planes[plane] + (row &* layout.lumaStride &+ column))
  }

  /// The luma sample of a reference picture at the whole part of a vector.
  @inline(__always) private func lumaAt(
    _ motion: Motion, _ list: Int, _ block: PredictionBlock
  ) -> UnsafePointer<Sample> {
    let row: Int = block.y &+ (Int(motion.y) >> 2)
    let column: Int = block.x &+ (Int(motion.x) >> 2)
    let plane = pixels.reference(list, Int(motion.reference)).planes.luma
    return UnsafePointer(plane + (row &* layout.lumaStride &+ column))
  }

  /// Predicts luma of a block from one picture (8.5.3.3.3.1).
  func predictLuma(
    _ motion: Motion, _ list: Int, _ block: PredictionBlock, _ output: UnsafeMutablePointer<Sample>,
    _ stride: Int
  ) {
    let isWeighted = picture.isWeighted && !picture.weight(list, motion.reference).isDefault(0)
    if !isWeighted || (motion.x | motion.y) & 3 == 0,
      let plane = planeAt(motion, list, block)
    {
      if block.width == block.height {
        blocks.copy(plane, layout.lumaStride, output, stride, block.width)
        return
      }
      for row in 0..<block.height {
        (output + row &* stride).update(from: plane + row &* layout.lumaStride, count: block.width)
      }
      return
    }
    let (width, height) = (Int32(block.width), Int32(block.height))
    let (dx, dy) = (Int32(motion.x & 3), Int32(motion.y & 3))
    let source = lumaAt(motion, list, block)
    guard isWeighted else {
      Kernels.luma(kernels, output, stride, source, layout.lumaStride, width, height, dx, dy)
      return
    }
    Kernels.lumaHigh(kernels, intermediates, 32, source, layout.lumaStride, width, height, dx, dy)
    weigh(output, stride, component: 0, picture.weight(list, motion.reference), width, height)
  }

  /// Weighs intermediate values of one reference picture (8.5.3.3.4.3).
  /// - Parameters:
  ///   - output: receives the samples.
  ///   - stride: the samples from one row to the next.
  ///   - component: luma (0), Cb (1) or Cr (2).
  ///   - weight: the weights of the picture.
  ///   - width: the width of the block in samples.
  ///   - height: its height.
  private func weigh(
    _ output: UnsafeMutablePointer<Sample>, _ stride: Int, component: Int, _ weight: ReferenceWeight,
    _ width: Int32, _ height: Int32
  ) {
    let own = weight[component]
    Kernels.weigh(
      kernels, output, stride, intermediates, 32, width, height,
      weight.shift(component) &+ 14 &- Int32(Sample.bitDepth), own.weight,
      own.offset &<< Int32(Sample.extraBits))
  }

  /// Joins the intermediate values of two reference pictures: their mean, or with weights
  /// (8.5.3.3.4.2, 8.5.3.3.4.3). The parameters are those of `weigh`.
  private func join(
    _ output: UnsafeMutablePointer<Sample>, _ stride: Int, component: Int, _ pair: MotionPair,
    _ width: Int32, _ height: Int32
  ) {
    let second = intermediates + 1024
    if picture.isWeighted {
      let a = picture.weight(0, pair.first.reference)
      let b = picture.weight(1, pair.second.reference)
      if !a.isDefault(component) || !b.isDefault(component) {
        let (own, other) = (a[component], b[component])
        let extra = Int32(Sample.extraBits)
        Kernels.weighBoth(
          kernels, output, stride, intermediates, second, 32, width, height,
          a.shift(component) &+ 14 &- Int32(Sample.bitDepth), own.weight, other.weight,
          own.offset &<< extra, other.offset &<< extra)
        return
      }
    }
    Kernels.average(kernels, output, stride, intermediates, second, 32, width, height)
  }

  /// Predicts luma of a block.
  /// - Parameters:
  ///   - pair: the motion of the block.
  ///   - block: the block.
  ///   - output: receives luma in rows of 32 samples.
  func predictLuma(
    _ pair: MotionPair, _ block: PredictionBlock, _ output: UnsafeMutablePointer<Sample>
  ) {
    if pair.isBidirectional {
      predictLuma(pair, block, output, 32)
    } else {
      let list = pair.first.reference >= 0 ? 0 : 1
      predictLuma(pair[list], list, block, output, 32)
    }
  }

  /// Predicts Cb and Cr of a block to its place in `predictionCb` and `predictionCr`.
  func predictChroma(_ pair: MotionPair, _ block: PredictionBlock) {
    if pair.isBidirectional {
      predictBothChroma(pair, block)
    } else {
      let list = pair.first.reference >= 0 ? 0 : 1
      predictChroma(pair[list], list, block)
    }
  }

  /// Predicts luma of a block from two pictures (8.5.3.3.4.2).
  private func predictLuma(
    _ pair: MotionPair, _ block: PredictionBlock, _ output: UnsafeMutablePointer<Sample>,
    _ stride: Int
  ) {
    let (width, height) = (Int32(block.width), Int32(block.height))
    for list in 0..<2 {
      let motion = pair[list]
      Kernels.lumaHigh(
        kernels, intermediates + list &* 1024, 32, lumaAt(motion, list, block), layout.lumaStride, width,
        height, Int32(motion.x & 3), Int32(motion.y & 3))
    }
    join(output, stride, component: 0, pair, width, height)
  }

  /// The index of a chroma sample of a reference picture at the whole part of a vector.
  @inline(__always) private func chromaAt(_ motion: Motion, _ block: PredictionBlock) -> Int {
    let row: Int = block.y / 2 &+ (Int(motion.y) >> 3)
    let column: Int = block.x / 2 &+ (Int(motion.x) >> 3)
    return row &* layout.chromaStride &+ column
  }

  /// Where the prediction of chroma of a block goes.
  @inline(__always) private func chromaOutput(_ block: PredictionBlock) -> Int {
    let (dx, dy) = (block.x &- block.unitX, block.y &- block.unitY)
    return dy / 2 &* 16 &+ dx / 2
  }

  /// Predicts Cb and Cr of a block from one picture (8.5.3.3.3.2).
  private func predictChroma(_ motion: Motion, _ list: Int, _ block: PredictionBlock) {
    let (mx, my) = (Int32(motion.x & 7), Int32(motion.y & 7))
    let planes = pixels.reference(list, Int(motion.reference)).planes
    let (at, to) = (chromaAt(motion, block), chromaOutput(block))
    let (width, height) = (Int32(block.width / 2), Int32(block.height / 2))
    for component in 1..<3 {
      let source = (component == 1 ? planes.cb : planes.cr) + at
      let output = (component == 1 ? predictionCb : predictionCr) + to
      if picture.isWeighted, !picture.weight(list, motion.reference).isDefault(component) {
        Kernels.chromaHigh(
          kernels, intermediates, 32, source, layout.chromaStride, width, height, mx, my)
        weigh(
          output, 16, component: component, picture.weight(list, motion.reference), width, height)
      } else {
        Kernels.chroma(kernels, output, 16, source, layout.chromaStride, width, height, mx, my)
      }
    }
  }

  /// Predicts Cb and Cr of a block from two pictures.
  private func predictBothChroma(_ pair: MotionPair, _ block: PredictionBlock) {
    let to = chromaOutput(block)
    let (width, height) = (Int32(block.width / 2), Int32(block.height / 2))
    for component in 0..<2 {
      for list in 0..<2 {
        let motion = pair[list]
        let planes = pixels.reference(list, Int(motion.reference)).planes
        Kernels.chromaHigh(
          kernels, intermediates + list &* 1024, 32,
          (component == 0 ? planes.cb : planes.cr) + chromaAt(motion, block), layout.chromaStride,
          width, height, Int32(motion.x & 7), Int32(motion.y & 7))
      }
      join(
        (component == 0 ? predictionCb : predictionCr) + to, 16, component: component &+ 1, pair, width,
        height)
    }
  }

  // MARK: Comparison

  /// The SATD of a block. Of two predictions it compares the mean of the rounded samples.
  /// - Parameter limit: the SATD from which on it need not be exact.
  func satd(_ pair: MotionPair, _ block: PredictionBlock, limit: Int = .max) -> Int {
    let source = pixels.source.luma + block.y &* layout.lumaStride + block.x
    guard pair.isBidirectional else {
      let list = pair.first.reference >= 0 ? 0 : 1
      if let plane = planeAt(pair[list], list, block) {
        return compare(source, plane, layout.lumaStride, block, limit: limit)
      }
      predictLuma(pair[list], list, block, searchScratch, 32)
      return compare(source, searchScratch, 32, block, limit: limit)
    }
    let first = planeAt(pair.first, 0, block)
    let second = planeAt(pair.second, 1, block)
    let mean = searchScratch + 2048
    if let first, let second {
      average(mean, first, second, layout.lumaStride, block)
    } else {
      predictLuma(pair.first, 0, block, searchScratch, 32)
      predictLuma(pair.second, 1, block, searchScratch + 1024, 32)
      average(mean, searchScratch, searchScratch + 1024, 32, block)
    }
    return compare(source, mean, 32, block, limit: limit)
  }

  /// Writes the mean of two blocks, in rows of 32 samples.
  @inline(__always) func average(
    _ output: UnsafeMutablePointer<Sample>, _ first: UnsafePointer<Sample>,
    _ second: UnsafePointer<Sample>, _ stride: Int, _ block: PredictionBlock
  ) {
    Kernels.mean(kernels, output, 32, first, second, stride, Int32(block.width), Int32(block.height))
  }

  /// The SATD of a block of any shape, by squares of 8x8 samples.
  /// - Parameter limit: the SATD from which on it need not be exact: the comparison of 32x32
  ///   samples ends with the quarter that reaches it.
  func compare(
    _ source: UnsafePointer<Sample>, _ other: UnsafePointer<Sample>, _ stride: Int,
    _ block: PredictionBlock, limit: Int = .max
  ) -> Int {
    let side = min(block.width, block.height)
    if side == 32 && limit != Int.max {
      var sum = 0
      for quarter in 0..<4 {
        let (x, y) = (quarter & 1 &* 16, quarter &>> 1 &* 16)
        sum &+= Int(
          Kernels.satd8(
            kernels, 4, source + y &* layout.lumaStride + x, layout.lumaStride,
            other + y &* stride + x, stride))
        if sum >= limit { break }
      }
      return sum
    }
    let log2Size = Int32(side.trailingZeroBitCount)
    var sum = Int(Kernels.satd8(kernels, log2Size, source, layout.lumaStride, other, stride))
    if block.width > side {
      sum &+= Int(
        Kernels.satd8(kernels, log2Size, source + side, layout.lumaStride, other + side, stride))
    } else if block.height > side {
      sum &+= Int(
        Kernels.satd8(
          kernels, log2Size, source + side &* layout.lumaStride, layout.lumaStride, other + side &* stride,
          stride))
    }
    return sum
  }
}
