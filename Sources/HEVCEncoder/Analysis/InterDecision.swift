// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels

/// The choice of an inter unit: merge and skip, a searched vector, two parts, or intra.
extension CodingTreeCoder {
  /// Tries a unit with inter prediction, and with intra prediction where that can be cheaper. The
  /// best is the first trial of its size.
  /// - Returns: whether dividing the unit cannot pay.
  mutating func tryInter(_ x: Int, _ y: Int, _ log2Size: Int) -> Bool {
    let best = trials + (5 &- log2Size) &* 2
    let block = PredictionBlock(x: x, y: y, size: 1 &<< log2Size)
    motion.merge(block, merges)

    // The merge candidates with the least SATD are coded.
    var list = MergeList()
    for i in 0..<settings.mergeCandidates {
      let candidate = merges[i]
      guard isInReach(candidate, block), !isRepeated(i) else { continue }
      let bits = costSATD(bits: 8 &+ mergeBits(i))
      // Only the best one is of interest where one is coded.
      let limit = settings.codedMerges == 1 && list.count > 0 ? list.leastCost &- bits : Int.max
      list.insert(i, satd(candidate, block, limit: limit) &+ bits)
    }
    let mergeCost = list.leastCost
    // In a screen a vector may be exact where no neighbour has it; the merge candidates need not be
    // coded then.
    var early: FoundMotion?
    var merged = min(list.count, settings.codedMerges)
    if screen.isScreen && !isExact(mergeCost / 4, block) {
      let found = search(block)
      if found.cost < mergeCost / 4 { merged = 0 }
      early = found
    }
    for rank in 0..<merged {
      let index = list.index(rank)
      begin(best + 1, block)
      best[1].unit.first.motion = merges[index]
      best[1].unit.first.mergeIndex = Int8(truncatingIfNeeded: index)
      let isEmpty = codeMerge(best, block)
      if isEmpty && rank == 0 { return true }
    }

    // A searched vector.
    let found = early ?? search(block)
    if found.cost < mergeCost || list.count == 0 || settings.codesEveryVector {
      begin(best + 1, block)
      best[1].unit.first = found.unit
      codeInter(best, block, bits: interUnitBits(x, y, .whole) &+ found.bits)
      keepBetter(best)
    }
    let interCost = min(found.cost, mergeCost)
    if settings.triesPartitions && log2Size > 3 && best.pointee.unit.hasResidual {
      tryPartition(best, block, .horizontal, wholeCost: interCost)
      tryPartition(best, block, .vertical, wholeCost: interCost)
    }
    guard best.pointee.unit.hasResidual else { return false }
    guard log2Size >= settings.smallestIntra else { return false }
    let estimate = intraEstimate(x, y, log2Size)
    if (estimate.least &+ costSATD(bits: 144)) &* 16 < interCost &* settings.intraMargin {
      tryIntra(x, y, log2Size, estimate)
    }
    return false
  }

  /// Whether a vector refers to samples within the padding of the reference picture.
  @inline(__always) func isInReach(_ pair: MotionPair, _ block: PredictionBlock) -> Bool {
    (pair.first.reference < 0 || isInReach(pair.first, block))
      && (pair.second.reference < 0 || isInReach(pair.second, block))
  }

  @inline(__always) private func isInReach(_ motion: Motion, _ block: PredictionBlock) -> Bool {
    let x: Int = block.x &+ (Int(motion.x) >> 2)
    let y: Int = block.y &+ (Int(motion.y) >> 2)
    let reach = PlaneLayout.reach
    let right: Int = layout.width &+ reach &- 1 &- block.width
    let bottom: Int = layout.height &+ reach &- 1 &- block.height
    guard x >= -reach && y >= -reach && x <= right && y <= bottom else { return false }
    // The filters of luma and chroma reach four rows of luma further down.
    let below = motion.y & 7 == 0 ? 0 : 4
    return referenceEnd == Int.max || y &+ block.height &+ below <= referenceEnd
  }

  /// Whether a merge candidate is the same as an earlier one.
  @inline(__always) private func isRepeated(_ i: Int) -> Bool {
    for j in 0..<i where merges[j] == merges[i] { return true }
    return false
  }

  private func begin(_ trial: UnsafeMutablePointer<Trial<Sample>>, _ block: PredictionBlock) {
    trial.pointee.unit = CodingUnit()
    trial.pointee.unit.x = Int32(truncatingIfNeeded: block.unitX)
    trial.pointee.unit.y = Int32(truncatingIfNeeded: block.unitY)
    let log2Size = block.unitSize.trailingZeroBitCount
    trial.pointee.unit.log2Size = UInt8(truncatingIfNeeded: log2Size)
    trial.pointee.unit.kind = .inter
  }

  // MARK: Prediction

  /// Predicts luma of a unit into `prediction`.
  private func predictLuma(_ unit: CodingUnit, _ block: PredictionBlock) {
    if unit.partMode == .whole {
      predictLuma(unit.first.motion, block, prediction)
      return
    }
    for part in 0..<2 {
      let half = PredictionBlock(
        x: block.unitX, y: block.unitY, size: block.unitSize, mode: unit.partMode, part: part)
      let to: Int = (half.y &- block.unitY) &* 32 &+ (half.x &- block.unitX)
      predictLuma((part == 0 ? unit.first : unit.second).motion, half, prediction + to)
    }
  }

  /// Predicts Cb and Cr of a unit into `predictionCb` and `predictionCr`.
  private func predictChroma(_ unit: CodingUnit, _ block: PredictionBlock) {
    if unit.partMode == .whole {
      predictChroma(unit.first.motion, block)
      return
    }
    for part in 0..<2 {
      let half = PredictionBlock(
        x: block.unitX, y: block.unitY, size: block.unitSize, mode: unit.partMode, part: part)
      predictChroma((part == 0 ? unit.first : unit.second).motion, half)
    }
  }

  // MARK: Coding

  /// Codes the second trial as a merged unit, with its residual and skipped, and keeps the better
  /// of both.
  /// - Returns: whether its residual is negligible, so that nothing else need be tried.
  private mutating func codeMerge(
    _ best: UnsafeMutablePointer<Trial<Sample>>, _ block: PredictionBlock
  ) -> Bool {
    let index = Int(best[1].unit.first.mergeIndex)
    predictLuma(best[1].unit, block)
    predictChroma(best[1].unit, block)
    var coded = codeLumaResidual(best + 1, block, hasLimit: false)
    codeChromaResidual(best + 1, block, hasLimit: false, &coded)
    let plain = predictionError(block)
    let indexBits = mergeBits(index)
    let skipped = skipBits(block.unitX, block.unitY, 1) &+ indexBits
    let skipCost = plain &+ cost(bits: skipped)
    let isEmpty = !best[1].unit.hasResidual
    let isNegligible = coded.isNegligible
    let bits =
      interUnitBits(block.unitX, block.unitY, .whole) &+ self.bits(1, Contexts.mergeFlag) &+ indexBits
      &+ coded.bits
    best[1].cost = coded.error &+ cost(bits: bits)
    best[1].unit.bits = Int32(truncatingIfNeeded: bits)
    if isEmpty || skipCost <= best[1].cost {
      best[1].unit.kind = .skip
      (best[1].unit.cbfLuma, best[1].unit.cbfCb, best[1].unit.cbfCr) = (0, 0, 0)
      best[1].unit.isSplit = false
      best[1].cost = skipCost
      best[1].unit.bits = Int32(truncatingIfNeeded: skipped)
      takePrediction(best + 1)
    }
    keepBetter(best)
    return isNegligible
  }

  /// Codes the second trial, whose unit has its motion, and sets its cost. Chroma is left out where
  /// luma alone costs as much as the best trial or as `costLimit`.
  /// - Parameter bits: those of its modes and motion, in sixteenths of a bit.
  private mutating func codeInter(
    _ best: UnsafeMutablePointer<Trial<Sample>>, _ block: PredictionBlock, bits: Int
  ) {
    let trial = best + 1
    predictLuma(trial.pointee.unit, block)
    var coded = codeLumaResidual(trial, block, hasLimit: true)
    trial.pointee.cost = coded.error &+ cost(bits: bits)
    if trial.pointee.cost < min(best.pointee.cost, costLimit) {
      predictChroma(trial.pointee.unit, block)
      codeChromaResidual(trial, block, hasLimit: true, &coded)
    }
    let total =
      bits &+ coded.bits &+ self.bits(trial.pointee.unit.hasResidual ? 1 : 0, Contexts.rootCBF)
    trial.pointee.cost = coded.error &+ cost(bits: total)
    trial.pointee.unit.bits = Int32(truncatingIfNeeded: total)
  }

  // MARK: Parts

  /// Tries a unit of two parts, and codes it where its SATD and bits are less than those of the
  /// whole unit.
  private mutating func tryPartition(
    _ best: UnsafeMutablePointer<Trial<Sample>>, _ block: PredictionBlock, _ mode: PartMode,
    wholeCost: Int
  ) {
    let trial = best + 1
    begin(trial, block)
    trial.pointee.unit.partMode = mode
    var bits = interUnitBits(block.unitX, block.unitY, mode)
    var total = costSATD(bits: bits &- interUnitBits(block.unitX, block.unitY, .whole))
    for part in 0..<2 {
      let half = PredictionBlock(
        x: block.unitX, y: block.unitY, size: block.unitSize, mode: mode, part: part)
      motion.merge(half, merges)
      var found = search(half)
      for i in 0..<settings.mergeCandidates where isInReach(merges[i], half) && !isRepeated(i) {
        let mergedBits = self.bits(1, Contexts.mergeFlag) &+ mergeBits(i)
        let cost = satd(merges[i], half) &+ costSATD(bits: mergedBits)
        guard cost < found.cost else { continue }
        found = FoundMotion()
        found.unit.motion = merges[i]
        found.unit.mergeIndex = Int8(truncatingIfNeeded: i)
        (found.cost, found.bits) = (cost, mergedBits)
      }
      bits &+= found.bits
      total &+= found.cost
      if total >= wholeCost { return }
      if part == 0 {
        trial.pointee.unit.first = found.unit
        fillMotion(found.unit.motion, half)
      } else {
        trial.pointee.unit.second = found.unit
      }
    }
    // Two equal vectors are a unit of one part.
    if trial.pointee.unit.first.motion == trial.pointee.unit.second.motion { return }
    codeInter(best, block, bits: bits)
    keepBetter(best)
  }

  /// Writes the motion of a part into the picture, where that of the second part is predicted from
  /// it; `commit` overwrites it.
  private func fillMotion(_ motion: MotionPair, _ block: PredictionBlock) {
    let at = map.index(block.x, block.y)
    for v in 0..<block.height / 8 {
      (picture.target.motion + at + v &* map.width).update(repeating: motion, count: block.width / 8)
    }
  }
}

extension CodingTreeCoder {
  /// Codes a unit as skipped with the first merge candidate that can be referred to.
  /// - Returns: whether there is one.
  mutating func codeSkipped(_ x: Int, _ y: Int, _ log2Size: Int) -> Bool {
    let block = PredictionBlock(x: x, y: y, size: 1 &<< log2Size)
    motion.merge(block, merges)
    for i in 0..<MotionCandidates.mergeCount where isInReach(merges[i], block) {
      begin(trials, block)
      trials[0].unit.kind = .skip
      trials[0].unit.first.motion = merges[i]
      trials[0].unit.first.mergeIndex = Int8(truncatingIfNeeded: i)
      trials[0].unit.bits = Int32(truncatingIfNeeded: 6 &+ 16 &* i)
      predictLuma(trials[0].unit, block)
      predictChroma(trials[0].unit, block)
      takePrediction(trials)
      commit(trials[0])
      return true
    }
    return false
  }
}
