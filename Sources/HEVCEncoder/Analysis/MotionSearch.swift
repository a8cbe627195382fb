// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// A vector that was found, and what it costs.
struct FoundMotion: BitwiseCopyable {
  var unit = PredictionUnit()
  /// SATD and the cost of the bits.
  var cost = Int.max
  /// The bits of merge_flag, ref_idx, the vector and its predictor, in sixteenths of a bit.
  var bits = 0
}

/// Vectors that the search found, by the size of the unit, list and reference.
struct SearchStarts: BitwiseCopyable {
  private let vectors: UnsafeMutablePointer<Motion>
  /// The reference of the best vector, by size and list; -1 where none was searched.
  private let references: UnsafeMutablePointer<Int16>

  init(memory: inout EncoderMemory) {
    vectors = memory.allocate(Motion.self, count: 6 * 2 * PictureContext.listSize)
    references = memory.allocate(Int16.self, count: 6 * 2)
    for log2Size in 0..<6 { forget(log2Size) }
  }

  /// The vector of a unit of a size; it has no reference where none was searched.
  subscript(_ log2Size: Int, _ list: Int, _ reference: Int) -> Motion {
    @inline(__always) get { vectors[(log2Size &* 2 &+ list) &* PictureContext.listSize &+ reference] }
    nonmutating set { vectors[(log2Size &* 2 &+ list) &* PictureContext.listSize &+ reference] = newValue }
  }

  /// Removes the vectors of a size.
  func forget(_ log2Size: Int) {
    let count = 2 * PictureContext.listSize
    (vectors + log2Size * count).update(repeating: Motion(), count: count)
    (references + log2Size * 2).update(repeating: -1, count: 2)
  }

  /// The reference of the best vector of a unit of a size; -1 where none was searched.
  @inline(__always) func best(_ log2Size: Int, _ list: Int) -> Int16 {
    references[log2Size &* 2 &+ list]
  }

  @inline(__always) func setBest(_ log2Size: Int, _ list: Int, _ reference: Int16) {
    references[log2Size &* 2 &+ list] = reference
  }
}

/// The search of motion vectors: a diamond by SAD at whole samples, then half and quarter samples
/// by SATD. Quarter samples are estimated by the mean of the two nearest half samples; the samples
/// that are coded are interpolated as the standard says.
extension CodingTreeCoder {
  /// Searches vectors in all reference pictures of the effort, in B slices in both lists.
  /// - Parameter block: the prediction block.
  func search(_ block: PredictionBlock) -> FoundMotion {
    let forward = search(block, list: 0)
    guard picture.isBidirectional else { return forward }
    let backward = search(block, list: 1)
    return best(forward, backward, block)
  }

  /// Searches a vector in the reference pictures of a list.
  private func search(_ block: PredictionBlock, list: Int) -> FoundMotion {
    var best = FoundMotion()
    let count = list == 0 ? picture.referenceCount : picture.referenceCountL1
    let log2Size = block.unitSize.trailingZeroBitCount
    let parent = block.mode == .whole ? log2Size &+ 1 : log2Size
    for reference in 0..<min(count, settings.references) {
      // A unit that divides another is searched in the pictures of that one's vector and of merge
      // candidates.
      if reference > 0 && parent <= 5 && !isLikely(reference, list, parent: parent) {
        if block.mode == .whole { starts[log2Size, list, reference] = Motion() }
        continue
      }
      let found = search(block, list, reference: reference)
      if found.cost < best.cost { best = found }
    }
    if block.mode == .whole { starts.setBest(log2Size, list, best.unit.motion[list].reference) }
    return best
  }

  /// Whether a reference picture is that of the unit that is divided, or of a merge candidate.
  private func isLikely(_ reference: Int, _ list: Int, parent: Int) -> Bool {
    let index = Int16(truncatingIfNeeded: reference)
    if starts.best(parent, list) == index { return true }
    for i in 0..<3 where merges[i][list].reference == index { return true }
    return false
  }

  /// The best of the vector of list 0, that of list 1, and both.
  private func best(
    _ forward: FoundMotion, _ backward: FoundMotion, _ block: PredictionBlock
  ) -> FoundMotion {
    var both = forward
    both.unit.motion.second = backward.unit.motion.second
    both.unit.second = backward.unit.second
    // merge_flag is in the bits of both.
    both.bits = forward.bits &+ backward.bits &- motionBits.mergeFlag &+ directionBits(block).both
    both.cost = satd(both.unit.motion, block) &+ costSATD(bits: both.bits)
    var single = forward.cost <= backward.cost ? forward : backward
    let direction =
      directionBits(block).one
      &+ bits(
        forward.cost <= backward.cost ? 0 : 1, Contexts.interPrediction &+ 4)
    single.bits &+= direction
    single.cost &+= costSATD(bits: direction)
    return both.cost < single.cost ? both : single
  }

  /// The bits of inter_pred_idc for one list, but for which one, and for both.
  private func directionBits(_ block: PredictionBlock) -> (one: Int, both: Int) {
    let context = Contexts.interPrediction &+ 5 &- block.unitSize.trailingZeroBitCount
    return (bits(0, context), bits(1, context))
  }

  /// The bits of the difference of a vector and its predictor.
  @inline(__always) func bits(_ x: Int, _ y: Int, _ predictor: Motion) -> Int {
    motionBits.difference(x &- Int(predictor.x)) &+ motionBits.difference(y &- Int(predictor.y))
  }

  private func search(_ block: PredictionBlock, _ list: Int, reference: Int) -> FoundMotion {
    // Parts begin with the vector of their unit, units with that of the unit that they divide.
    let log2Size = block.unitSize.trailingZeroBitCount
    let parentSize = block.mode == .whole ? log2Size &+ 1 : log2Size
    let parent = parentSize <= 5 ? starts[parentSize, list, reference] : Motion()
    let predictors = motion.predictors(block, list: list, reference: reference)
    var best = wholeSampleSearch(block, list, reference, predictors.0)
    test(predictors.0, &best)
    if predictors.1 != predictors.0 { test(predictors.1, &best) }
    test(Motion(x: 0, y: 0, reference: 0), &best)
    if parent.reference >= 0 { test(parent, &best) }
    for i in 0..<3 {
      let merge = merges[i][list]
      if merge.reference == Int16(truncatingIfNeeded: reference) { test(merge, &best) }
    }

    if list == 0 && reference == 0 {
      // Content that has moved as a whole is predicted much better from there. A little better is a
      // chance match in text, from which the search does not come to the right one.
      let limit = best.cost / 4 &* 3
      forEachScreenVector(block) { test($0, below: limit, &best) }
    }
    // Screens move by whole samples.
    let isExact = screen.isScreen && isExact(best.cost, block)

    let start = (x: best.x, y: best.y, cost: best.cost)
    if !isExact { descend(from: 2, &best) }
    // Where no larger unit was searched and the match is poor, a second descent begins with long
    // strides: text and patterns have many minima between which these choose badly.
    let poor = (3 &<< Sample.extraBits) &* block.width &* block.height
    if !isExact && best.cost > poor && parent.reference < 0 {
      let short = (x: best.x, y: best.y, cost: best.cost)
      (best.x, best.y, best.cost) = (start.x, start.y, start.cost)
      descend(from: settings.searchStride, &best)
      if short.cost <= best.cost { (best.x, best.y, best.cost) = (short.x, short.y, short.cost) }
    }
    let found = refine(
      block, list, reference, best.x &* 4, best.y &* 4, predictors, isExact: isExact)
    if block.mode == .whole { starts[log2Size, list, reference] = found.unit.motion[list] }
    return found
  }

  /// Refines a vector of whole samples by half and quarter samples.
  /// - Parameter isExact: whether it is good as it is.
  private func refine(
    _ block: PredictionBlock, _ list: Int, _ reference: Int, _ startX: Int, _ startY: Int,
    _ predictors: (Motion, Motion), isExact: Bool
  ) -> FoundMotion {
    let stride = layout.lumaStride
    let source = pixels.source.luma + block.y &* stride + block.x
    var (x, y) = (startX, startY)
    var cost = Int.max
    // Costs of positions that are not the best need not be exact.
    func total(_ cx: Int, _ cy: Int) -> Int {
      let bits = costSATD(bits: bits(cx, cy, predictors.0))
      var candidate = Motion(reference: Int16(truncatingIfNeeded: reference))
      candidate.x = Int16(truncatingIfNeeded: cx)
      candidate.y = Int16(truncatingIfNeeded: cy)
      let limit = cost == Int.max ? cost : cost &- bits
      return satd(candidate, list, block, source, limit: limit) &+ bits
    }
    cost = total(x, y)
    func refine(step: Int, rounds: Int) {
      var left = rounds
      while left > 0 {
        left &-= 1
        let (px, py) = (x, y)
        // The four nearest, then the diagonal between the best of either direction.
        let (left, right) = (total(px &- step, py), total(px &+ step, py))
        let (above, below) = (total(px, py &- step), total(px, py &+ step))
        let (leastX, sideX) = right < left ? (right, step) : (left, 0 &- step)
        let (leastY, sideY) = below < above ? (below, step) : (above, 0 &- step)
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
    if !isExact {
      refine(step: 2, rounds: settings.halfRounds)
      refine(step: 1, rounds: settings.quarterRounds)
    }
    var found = FoundMotion()
    found.unit.motion[list] = Motion(
      x: Int16(truncatingIfNeeded: x), y: Int16(truncatingIfNeeded: y),
      reference: Int16(truncatingIfNeeded: reference))
    let bits0 = bits(x, y, predictors.0)
    let bits1 = bits(x, y, predictors.1)
    let predictor = bits1 < bits0 ? predictors.1 : predictors.0
    let difference = VectorDifference(
      predictor: bits1 < bits0 ? 1 : 0, x: Int16(truncatingIfNeeded: x &- Int(predictor.x)),
      y: Int16(truncatingIfNeeded: y &- Int(predictor.y)))
    if list == 0 { found.unit.first = difference } else { found.unit.second = difference }
    let count = list == 0 ? picture.referenceCount : picture.referenceCountL1
    let referenceBits = count > 1 ? 16 &* min(reference &+ 1, count &- 1) : 0
    found.bits = min(bits0, bits1) &+ motionBits.mergeFlag &+ 16 &+ referenceBits
    found.cost = cost &- costSATD(bits: bits0) &+ costSATD(bits: found.bits)
    return found
  }

  /// The SATD of a block at a vector; at quarter samples an estimate.
  /// - Parameter limit: the SATD from which on it need not be exact.
  private func satd(
    _ motion: Motion, _ list: Int, _ block: PredictionBlock, _ source: UnsafePointer<Sample>,
    limit: Int
  ) -> Int {
    if let plane = planeAt(motion, list, block) {
      return compare(source, plane, layout.lumaStride, block, limit: limit)
    }
    // The two half samples around a quarter sample; on a diagonal those that are half a sample in
    // one direction alone.
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
    guard let first = planeAt(a, list, block),
      let second = planeAt(b, list, block)
    else { return Int(Int32.max) }
    average(searchScratch, first, second, layout.lumaStride, block)
    return compare(source, searchScratch, 32, block, limit: limit)
  }
}
