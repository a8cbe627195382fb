// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels

/// A vector that was found, and what it costs.
struct FoundMotion: BitwiseCopyable {
  var unit = PredictionUnit()
  /// SATD and the cost of the bits.
  var cost = Int.max
  /// The bits of merge_flag, ref_idx, the vector and its predictor, in sixteenths of a bit.
  var bits = 0
}

/// The search of motion vectors: a diamond by SAD at whole samples, then half and quarter samples by
/// SATD. Quarter samples are estimated by the mean of the two nearest half samples; the samples
/// that are coded are interpolated as the standard says.
extension CodingTreeCoder {
  /// Searches a vector in all reference pictures of the effort.
  /// - Parameters:
  ///   - block: the prediction block.
  ///   - parent: a vector to begin with; nil: none.
  func search(_ block: PredictionBlock, parent: Motion?) -> FoundMotion {
    var best = FoundMotion()
    for reference in 0..<min(picture.referenceCount, settings.references) {
      let found = search(block, reference: reference, parent: parent)
      if found.cost < best.cost { best = found }
    }
    return best
  }

  /// The bits of a component of a vector difference, in sixteenths (9.3.3.5: EG1 after two flags).
  @inline(__always) private static func bits(_ difference: Int) -> Int {
    let magnitude = difference < 0 ? 0 &- difference : difference
    if magnitude < 2 { return magnitude == 0 ? 10 : 40 }
    return 64 &+ 32 &* (Int.bitWidth &- 1 &- (magnitude &>> 1).leadingZeroBitCount)
  }

  @inline(__always) private static func bits(_ x: Int, _ y: Int, _ predictor: Motion) -> Int {
    bits(x &- Int(predictor.x)) &+ bits(y &- Int(predictor.y))
  }

  private static func shape(_ block: PredictionBlock) -> Int32 {
    let shape =
      switch (block.width, block.height) {
      case (32, 32): OVT_32x32
      case (32, 16): OVT_32x16
      case (16, 32): OVT_16x32
      case (16, 16): OVT_16x16
      case (16, 8): OVT_16x8
      case (8, 16): OVT_8x16
      default: OVT_8x8
      }
    return Int32(shape)
  }

  private func search(_ block: PredictionBlock, reference: Int, parent: Motion?) -> FoundMotion {
    let predictors = motion.predictors(block, reference: reference)
    let stride = layout.lumaStride
    let source = picture.source.luma + block.y &* stride + block.x
    let plane = UnsafePointer(
      picture.references[reference].planes.luma + block.y &* stride + block.x)
    let shape = Self.shape(block)
    // Whole samples that may be referred to. A vector has 16 bits (8.5.3.2.1).
    let reach = PlaneLayout.reach &- 1
    let longest = 8188
    let minX = max(-reach &- block.x, -longest)
    let maxX = min(layout.width &+ reach &- block.width &- block.x, longest)
    let minY = max(-reach &- block.y, -longest)
    let maxY = min(layout.height &+ reach &- block.height &- block.y, longest)

    var x = 0
    var y = 0
    var cost = Int.max
    func test(_ candidate: Motion) {
      let cx = min(max((Int(candidate.x) &+ 2) >> 2, minX), maxX)
      let cy = min(max((Int(candidate.y) &+ 2) >> 2, minY), maxY)
      if cost != Int.max && cx == x && cy == y { return }
      let sad = Int(ovt_hevc_sad8(kernels, shape, source, stride, plane + cy &* stride + cx, stride))
      let total = sad &+ costSATD(bits: Self.bits(cx &* 4, cy &* 4, predictors.0))
      if total < cost {
        cost = total
        x = cx
        y = cy
      }
    }
    test(predictors.0)
    if predictors.1 != predictors.0 { test(predictors.1) }
    test(Motion(x: 0, y: 0, reference: 0))
    if let parent { test(parent) }
    for i in 0..<3 where merges[i].reference == Int16(truncatingIfNeeded: reference) { test(merges[i]) }

    // A diamond: wide steps while they help, then single ones.
    var costs: (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
    var step = 2
    var left = settings.searchSteps
    while left > 0 {
      left &-= 1
      guard x &- step >= minX, x &+ step <= maxX, y &- step >= minY, y &+ step <= maxY else { break }
      let at = plane + y &* stride + x
      withUnsafeMutablePointer(to: &costs) {
        $0.withMemoryRebound(to: Int32.self, capacity: 4) {
          ovt_hevc_sad_x48(
            kernels, shape, source, stride, at - step &* stride, at + step &* stride, at - step,
            at + step, stride, $0)
        }
      }
      let (px, py) = (x, y)
      func take(_ sad: Int32, _ dx: Int, _ dy: Int) {
        let total =
          Int(sad) &+ costSATD(bits: Self.bits((px &+ dx) &* 4, (py &+ dy) &* 4, predictors.0))
        if total < cost {
          cost = total
          x = px &+ dx
          y = py &+ dy
        }
      }
      take(costs.0, 0, -step)
      take(costs.1, 0, step)
      take(costs.2, -step, 0)
      take(costs.3, step, 0)
      if x == px && y == py {
        if step == 1 { break }
        step = 1
      }
    }
    return refine(block, reference, x &* 4, y &* 4, predictors)
  }

  /// Refines a vector of whole samples by half and quarter samples.
  private func refine(
    _ block: PredictionBlock, _ reference: Int, _ startX: Int, _ startY: Int,
    _ predictors: (Motion, Motion)
  ) -> FoundMotion {
    let stride = layout.lumaStride
    let source = picture.source.luma + block.y &* stride + block.x
    var (x, y) = (startX, startY)
    func total(_ cx: Int, _ cy: Int) -> Int {
      var candidate = Motion(reference: Int16(truncatingIfNeeded: reference))
      candidate.x = Int16(truncatingIfNeeded: cx)
      candidate.y = Int16(truncatingIfNeeded: cy)
      return satd(candidate, block, source) &+ costSATD(bits: Self.bits(cx, cy, predictors.0))
    }
    var cost = total(x, y)
    for (step, rounds) in [(2, settings.halfRounds), (1, settings.quarterRounds)] {
      for _ in 0..<rounds {
        let (px, py) = (x, y)
        // The four nearest, then the diagonal between the best of either direction.
        var sideX = 0
        var sideY = 0
        var leastX = Int.max
        var leastY = Int.max
        for side in [-step, step] {
          let costX = total(px &+ side, py)
          if costX < leastX {
            leastX = costX
            sideX = side
          }
          let costY = total(px, py &+ side)
          if costY < leastY {
            leastY = costY
            sideY = side
          }
        }
        if leastX < cost {
          cost = leastX
          x = px &+ sideX
        }
        if leastY < cost {
          cost = leastY
          (x, y) = (px, py &+ sideY)
        }
        let diagonal = total(px &+ sideX, py &+ sideY)
        if diagonal < cost {
          cost = diagonal
          (x, y) = (px &+ sideX, py &+ sideY)
        }
        if x == px && y == py { break }
      }
    }
    var found = FoundMotion()
    found.unit.motion = Motion(
      x: Int16(truncatingIfNeeded: x), y: Int16(truncatingIfNeeded: y),
      reference: Int16(truncatingIfNeeded: reference))
    let bits0 = Self.bits(x, y, predictors.0)
    let bits1 = Self.bits(x, y, predictors.1)
    let predictor = bits1 < bits0 ? predictors.1 : predictors.0
    found.unit.predictor = bits1 < bits0 ? 1 : 0
    found.unit.differenceX = Int16(truncatingIfNeeded: x &- Int(predictor.x))
    found.unit.differenceY = Int16(truncatingIfNeeded: y &- Int(predictor.y))
    let referenceBits =
      picture.referenceCount > 1 ? 16 &* min(reference &+ 1, picture.referenceCount &- 1) : 0
    found.bits = min(bits0, bits1) &+ 32 &+ referenceBits
    found.cost = cost &- costSATD(bits: bits0) &+ costSATD(bits: found.bits)
    return found
  }

  /// The SATD of a block at a vector; at quarter samples an estimate.
  private func satd(_ motion: Motion, _ block: PredictionBlock, _ source: UnsafePointer<UInt8>) -> Int {
    if let plane = planeAt(motion, block.x, block.y) {
      return compare(source, plane, layout.lumaStride, block)
    }
    // The two half samples around a quarter sample; on a diagonal those that are half a sample in one
    // direction alone.
    let (mx, my) = (Int(motion.x), Int(motion.y))
    var (a, b) = (motion, motion)
    if my & 1 == 0 {
      a.x &-= 1
      b.x &+= 1
    } else if mx & 1 == 0 {
      a.y &-= 1
      b.y &+= 1
    } else {
      let isRising = ((mx &- 1) &+ (my &- 1)) & 2 == 0
      a.x &-= 1
      b.x &+= 1
      a.y = isRising ? motion.y &+ 1 : motion.y &- 1
      b.y = isRising ? motion.y &- 1 : motion.y &+ 1
    }
    guard let first = planeAt(a, block.x, block.y), let second = planeAt(b, block.x, block.y) else {
      return Int(Int32.max)
    }
    let k = videoKernels
    let (stride, height) = (layout.lumaStride, Int32(block.height))
    switch block.width {
    case 32: k.pointee.average.3?(searchScratch, 32, first, second, stride, height)
    case 16: k.pointee.average.0?(searchScratch, 32, first, second, stride, height)
    default: k.pointee.average.1?(searchScratch, 32, first, second, stride, height)
    }
    return compare(source, searchScratch, 32, block)
  }

  /// The SATD of a block of any shape, by squares of 8x8 samples.
  private func compare(
    _ source: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, _ stride: Int, _ block: PredictionBlock
  ) -> Int {
    let side = min(block.width, block.height)
    let log2Size = Int32(side.trailingZeroBitCount)
    var sum = Int(ovt_hevc_satd88(kernels, log2Size, source, layout.lumaStride, other, stride))
    if block.width > side {
      sum &+= Int(
        ovt_hevc_satd88(kernels, log2Size, source + side, layout.lumaStride, other + side, stride))
    } else if block.height > side {
      sum &+= Int(
        ovt_hevc_satd88(
          kernels, log2Size, source + side &* layout.lumaStride, layout.lumaStride, other + side &* stride,
          stride))
    }
    return sum
  }
}
