// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Mode decision and coding of a macroblock of a P picture.
extension MacroblockCoder {
  /// Decides and codes the current macroblock.
  mutating func codeInterPicture() {
    let mustBeIntra = mbX >= picture.refreshFrom && mbX < picture.refreshTo
    if mustBeIntra {
      codeIntra(decideIntra16x16(), small: triesSmallIntra)
      return
    }
    guard let skip = skipCandidate() else { return }
    let best16x16 = search16x16()
    var type = MacroblockType.inter16x16
    var cost = best16x16.best.cost
    searchPartitions(&type, &cost, best16x16)
    let triesIntra = cost > lambda &* picture.settings.intra.threshold
    if triesIntra && codesAsIntra(limit: cost) { return }
    codeInter(type, cost, best16x16, skip, isOverwritten: triesIntra)
  }

  /// P_Skip, before motion is searched.
  private struct SkipCandidate {
    /// The derived vector (8.4.1.1).
    var motion: MotionVector
    /// The vector is within the limits of the level and the picture.
    var isAllowed: Bool
    /// The squared error of luma and chroma; `Int.max` where it was not measured, as the prediction
    /// is far from the source.
    var cost = Int.max
  }

  /// The best vector for the macroblock as one block of 16x16.
  private struct Motion16x16 {
    var best: MotionCandidate
    /// refIdxL0
    var reference: Int
    /// The predicted vector for this reference.
    var prediction: MotionVector
  }

  /// Predicts P_Skip, and codes it at once where its residual quantises to zero or is not worth any
  /// bits.
  /// - Returns: the candidate; nil if the macroblock is coded.
  @inline(__always) private mutating func skipCandidate() -> SkipCandidate? {
    let motion = predictSkipMotion()
    var skip = SkipCandidate(
      motion: motion,
      isAllowed: Int(motion.x) >= minX && Int(motion.x) <= maxX && Int(motion.y) >= minY
        && Int(motion.y) <= maxY)
    guard skip.isAllowed else { return skip }
    // The memory of the reconstruction may hold the samples already where nothing has moved.
    let isThere = stream.changed[m] <= picture.heldPicture && motion == .zero
    if !isThere {
      predictLuma(reconstruction, stride, x: 0, y: 0, width: 0, height: 16, motion, reference: 0)
    }
    // Beyond a mean absolute difference of 4 lambda, too many coefficients quantise to something.
    guard stream.isLossless || ovt_sad(k, 0, source, reconstruction, stride) <= lambda &* 64 else {
      return skip
    }
    if !isThere {
      predictChroma(reconstructionChroma, stride, x: 0, y: 0, width: 0, height: 16, motion, reference: 0)
    }
    if stream.isLossless {
      if componentError() != 0 { return skip }
      storeSkip(motion)
      return nil
    }
    let error = Int(ovt_ssd(k, 0, source, reconstruction, stride))
    // A residual that quantises to zero may still hide a motion of a quarter sample, whose
    // error the pictures that refer to this one would take over. So P_Skip is chosen without a
    // search only where the error is well below the quantisation noise (step^2 / 12 a sample,
    // which is 0.535 lambda).
    if error &* 187 <= lambdaSSD &* picture.settings.skip.errorPercent && residualIsEmpty() {
      storeSkip(motion)
      return nil
    }
    skip.cost = stream.is444 ? componentError() : error &+ chromaError()
    let bits = picture.settings.skip.errorBits
    let isStill = motion == .zero && standsOrIsNone(MotionGrid.b) && standsOrIsNone(MotionGrid.a)
    if skip.cost <= (lambdaSSD &* (isStill ? bits.still : bits.moving)) >> 8 {
      storeSkip(motion)
      return nil
    }
    return skip
  }

  /// Searches for a vector of the whole macroblock in each reference, and leaves the best in the
  /// grid.
  @inline(__always) private mutating func search16x16() -> Motion16x16 {
    var found = Motion16x16(
      best: MotionCandidate(v: .zero, cost: Int32.max), reference: 0, prediction: .zero)
    let starts = scratch.startVectors
    for r in 0..<picture.referenceCount {
      if r > 0 && found.best.cost <= lambda &* picture.settings.motion.referenceThreshold { break }
      let p = predictMotion(slot: MotionGrid.block0, width: 2, reference: Int8(truncatingIfNeeded: r))
      let n = gatherCandidates(starts, p, reference: r)
      var c = searchMotion(
        shape: 0, x: 0, y: 0, reference: r, prediction: p, starts: starts, count: n)
      c.cost &+= (lambda &* referenceBits(r)) >> 4
      if r == 0 || c.cost &+ c.chroma < found.best.cost &+ found.best.chroma {
        found = Motion16x16(best: c, reference: r, prediction: p)
      }
    }
    setGrid(MotionGrid.block0, width: 2, height: 2, found.best.v, Int8(truncatingIfNeeded: found.reference))
    return found
  }

  /// Searches for partitions where one vector leaves a large cost.
  /// - Parameters:
  ///   - type: becomes the type of the best partitions if they are better.
  ///   - cost: the cost of one vector, then that of the best.
  ///   - best16x16: the best vector of the whole macroblock.
  @inline(__always) private mutating func searchPartitions(
    _ type: inout UInt8, _ cost: inout Int32, _ best16x16: Motion16x16
  ) {
    let repeats =
      picture.displacements.repeats != nil && cost > lambda &* MacroblockCoder.repeatThreshold
      ? findRepeats() : 0
    guard
      repeats != 0 || cost > lambda &* picture.settings.partitions.threshold && mayBeParted(best16x16.best.v)
    else { return }
    // `BlockPositionTable` gives vectors into the first reference picture.
    let reference = repeats != 0 ? 0 : best16x16.reference
    decidePartitions(&type, &cost, best16x16.best, reference, repeats: repeats)
    if type == MacroblockType.inter16x16 && reference != best16x16.reference {
      setGrid(
        MotionGrid.block0, width: 2, height: 2, best16x16.best.v,
        Int8(truncatingIfNeeded: best16x16.reference))
    }
  }

  /// Tries intra prediction, and codes it where it is cheaper than inter prediction.
  /// - Parameter cost: the cost of inter prediction.
  /// - Returns: whether the macroblock is coded.
  @inline(__always) private mutating func codesAsIntra(limit cost: Int32) -> Bool {
    let intra16 = decideIntra16x16(limit: cost)
    let below = cost &- (lambda &* 4) >> 4 &- (cost &* picture.settings.intra.handicap) / 100
    let around = intraNeighbours
    let margins = picture.settings.intra.smallMargin
    let margin = around == 0 ? margins.alone : around == 1 ? margins.besideOne : margins.besideMore
    return Int(intra16.cost) &* 100 < Int(below) &* margin
      && codeIntra(intra16, below: below, small: around >= picture.settings.intra.smallNeighbours)
  }

  /// Codes the residual of inter prediction, or P_Skip where that costs no more.
  /// - Parameters:
  ///   - decided: the macroblock's type, whose motion is in the grid.
  ///   - cost: its cost.
  ///   - best16x16: the best vector of the whole macroblock.
  ///   - skip: P_Skip.
  ///   - isOverwritten: intra prediction has overwritten the prediction of P_Skip.
  @inline(__always) private mutating func codeInter(
    _ decided: UInt8, _ cost: Int32, _ best16x16: Motion16x16, _ skip: SkipCandidate, isOverwritten: Bool
  ) {
    let info = picture.syntax.info + m
    var type = decided
    let isCoded = compareWith16x16(&type, cost, best16x16.best, best16x16.reference, best16x16.prediction)
    info.pointee.type = type
    info.pointee.qp = UInt8(qp)
    info.pointee.codedDC = 0
    storeDifferences(type, best16x16.prediction)
    storeMotion()
    // The reconstruction may hold the prediction already if the motion is that of P_Skip.
    let isSkipMotion =
      type == MacroblockType.inter16x16 && best16x16.reference == 0 && best16x16.best.v == skip.motion
    if skip.cost == Int.max || !isSkipMotion {
      predictInter(type)
    } else if isOverwritten || isCoded {
      predictLuma(reconstruction, stride, x: 0, y: 0, width: 0, height: 16, skip.motion, reference: 0)
      if stream.is444 {
        compensateComponents(
          reconstructionChroma, x: 0, y: 0, width: 0, height: 16, skip.motion, reference: 0)
      }
    }
    let residual = codeInterLumaByCost()
    let luma = residual.pattern
    // At 4:4:4 the residual is that of all components.
    let chroma = stream.is444 ? 0 : codeChroma(intra: false)
    if skip.cost < Int.max {
      let bits = headerBits(type) &+ chromaBits(chroma)
      let coded =
        residual.cost &+ (stream.is444 ? 0 : chromaError()) &+ (lambdaSSD &* bits) >> 12
      if skip.cost &* 100 <= coded &* (100 &+ picture.settings.skip.preference) {
        if !isSkipMotion || luma != 0 {
          predictLuma(reconstruction, stride, x: 0, y: 0, width: 0, height: 16, skip.motion, reference: 0)
        }
        if !isSkipMotion || chroma != 0 || stream.is444 && luma != 0 {
          predictChroma(
            reconstructionChroma, stride, x: 0, y: 0, width: 0, height: 16, skip.motion, reference: 0)
        }
        storeSkip(skip.motion)
        return
      }
    }
    info.pointee.codedBlockPattern = luma | chroma << 4
    info.pointee.transform8x8 = residual.transform8x8 && luma != 0 ? 1 : 0
    if luma | chroma == 0 && isSkipMotion && skip.isAllowed {
      info.pointee.type = MacroblockType.skip
      clear(picture.syntax.motionDifference + m &* 16)
    }
  }

  /// Codes the macroblock in as few bits as possible, as the picture's bit budget is spent: P_Skip,
  /// or where this is not allowed 16x16 without a residual; in intra pictures and columns,
  /// Intra_16x16 without a residual.
  mutating func codeWithFewestBits() {
    let info = picture.syntax.info + m
    info.pointee.qp = UInt8(qp)
    info.pointee.codedDC = 0
    info.pointee.transform8x8 = 0
    info.pointee.codedBlockPattern = 0
    stream.codedBlocks[m] = 0
    clearCounts()
    let mustBeIntra = mbX >= picture.refreshFrom && mbX < picture.refreshTo
    if picture.isIntraPicture || mustBeIntra {
      storeNoMotion()
      storeIntraModesDC()
      let mode = decideIntra16x16().mode
      predictIntra16x16(mode)
      info.pointee.type = MacroblockType.intra16x16
      info.pointee.intra16x16Mode = UInt8(mode > 3 ? 2 : mode)
      info.pointee.intraChromaMode = 0
      if stream.is444 { return }
      let left = intraAvailable & Availability.left != 0
      let top = intraAvailable & Availability.top != 0
      ovt_intra_chroma(k, left ? (top ? 0 : 4) : (top ? 5 : 6), reconstructionChroma, stride)
      return
    }
    let skip = predictSkipMotion()
    let v = clampToLimits(skip)
    setGrid(MotionGrid.block0, width: 2, height: 2, v, 0)
    predictInter(MacroblockType.inter16x16)
    if v == skip {
      storeSkip(v)
    } else {
      info.pointee.type = MacroblockType.inter16x16
      storeDifferences(
        MacroblockType.inter16x16, predictMotion(slot: MotionGrid.block0, width: 2, reference: 0))
      storeMotion()
    }
  }

  /// Whether an entry of the grid has no vector, or the zero vector.
  @inline(__always) private func standsOrIsNone(_ slot: Int) -> Bool {
    gridReference[slot] < 0 || gridMotion[slot] == .zero
  }

  /// Whether a neighbour is intra, or its vector differs from `v` by more than
  /// `EffortSettings.Partitions.neighbourDistance`.
  @inline(__always) private func mayBeParted(_ v: MotionVector) -> Bool {
    let distance = picture.settings.partitions.neighbourDistance
    @inline(__always) func differs(_ slot: Int) -> Bool {
      let reference = gridReference[slot]
      if reference < 0 { return reference == -1 }
      let w = gridMotion[slot]
      return abs(Int(w.x) &- Int(v.x)) > distance || abs(Int(w.y) &- Int(v.y)) > distance
    }
    return distance < 0 || differs(MotionGrid.a) || differs(MotionGrid.aLower) || differs(MotionGrid.b)
      || differs(MotionGrid.bRight) || differs(MotionGrid.c)
  }

  /// The number of neighbours A, B, C and D that are intra.
  @inline(__always) private var intraNeighbours: Int {
    (gridReference[MotionGrid.a] == -1 ? 1 : 0) &+ (gridReference[MotionGrid.b] == -1 ? 1 : 0)
      &+ (gridReference[MotionGrid.c] == -1 ? 1 : 0)
      &+ (gridReference[MotionGrid.d] == -1 ? 1 : 0)
  }

  /// Whether intra macroblocks of P and B pictures may be Intra_8x8 and Intra_4x4 whatever their
  /// neighbours are.
  var triesSmallIntra: Bool { picture.settings.intra.smallNeighbours == 0 }

  /// Stores the macroblock as P_Skip.
  ///
  /// - Parameter v: its vector.
  mutating func storeSkip(_ v: MotionVector) {
    let info = picture.syntax.info + m
    setGrid(MotionGrid.block0, width: 2, height: 2, v, 0)
    storeMotion()
    clear(picture.syntax.motionDifference + m &* 16)
    info.pointee.type = MacroblockType.skip
    info.pointee.qp = UInt8(qp)
    info.pointee.codedBlockPattern = 0
    info.pointee.codedDC = 0
    info.pointee.transform8x8 = 0
    stream.codedBlocks[m] = 0
    clearCounts()
  }

  /// Whether the whole residual over the prediction in the reconstruction quantises to zero. A
  /// residual that is slightly larger is left to the comparison of costs: skipping it here would
  /// lose more than it saves.
  mutating func residualIsEmpty() -> Bool {
    let q = stream.quant + qp
    return k.pointee.isEmpty16x16(
      source, reconstruction, stride, q.pointee.multiplier4x4, q.pointee.biasInter4x4)
      != 0
      && chromaResidualIsEmpty()
  }

  /// Whether the chroma residual quantises to zero.
  private mutating func chromaResidualIsEmpty() -> Bool {
    if stream.is444 { return chromaComponentsAreEmpty() }
    let q = stream.quant + chromaQP(qp)
    return k.pointee.isEmptyNV12(
      sourceChroma, reconstructionChroma, stride, q.pointee.multiplier4x4, q.pointee.biasInter4x4,
      q.pointee.multiplierDC,
      q.pointee.biasDCInter) != 0
  }
}
