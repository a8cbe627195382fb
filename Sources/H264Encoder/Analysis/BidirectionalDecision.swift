// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// The best vector and reference index of each list for a 16x16 block.
struct ListMotion {
  /// The vectors of list 0 and list 1, in quarter samples.
  var vectors: (MotionVector, MotionVector) = (.zero, .zero)
  /// refIdxL0 and refIdxL1.
  var indices: (Int8, Int8) = (0, 0)
}

/// The motion of a block of a B picture, by one list or both, and its cost.
struct BidirectionalCandidate {
  /// refIdxL0 and refIdxL1; negative where the list is not used.
  var references: (Int8, Int8) = (-1, -1)
  /// The vectors of list 0 and list 1, in quarter samples; zero where the list is not used.
  var vectors: (MotionVector, MotionVector) = (.zero, .zero)
  /// Distortion plus lambda times bits.
  var cost = Int32.max
}

/// Decision and coding of one macroblock of a B picture.
extension MacroblockCoder {
  /// Decides and codes the current macroblock.
  ///
  /// - Parameter isBudgetSpent: whether the picture's bit budget is spent, so that the macroblock takes
  ///   as few bits as possible.
  mutating func codeBidirectional(isBudgetSpent: Bool) {
    picture.syntax.info[m].directBlocks = 0
    loadMotionNeighboursL1()
    if isBudgetSpent {
      codeWithFewestBits(deriveDirectMotion())
      return
    }
    // Errors of a B picture are propagated to few pictures or none.
    lambdaResidual = lambdaSSD
    let compares = comparesDirect
    let otherDirect = compares ? otherDirectCost() : 0
    guard let direct = directCandidate(other: otherDirect) else { return }
    var lists = ListMotion()
    let whole = searchBidirectional(&lists)
    if compares { noteDirect(direct.cost, other: otherDirect, limit: whole.cost) }
    let decided = decideMotion(direct, whole, lists)
    if codesAsIntraBidirectional(limit: decided.motion.cost) { return }
    codeInterBidirectional(decided, direct, whole)
  }

  /// Direct prediction of a macroblock, before motion is searched.
  private struct DirectCandidate {
    /// The properties of the derived motion.
    let derived: DirectMotion
    /// Its cost; `Int32.max` where the derived motion is not allowed.
    var cost = Int32.max
    /// The squared error of luma and chroma without a residual; `Int.max` where it was not
    /// measured, as the prediction is far from the source.
    var skipCost = Int.max
  }

  /// The motion that was chosen by its estimated cost.
  private struct DecidedMotion {
    /// One of `MacroblockType`.
    var type = MacroblockType.direct
    /// A bit for each 8x8 block that is direct.
    var directBlocks: UInt8 = 0
    /// The motion of 16x16, and the cost of what was chosen.
    var motion = BidirectionalCandidate()
  }

  /// Measures direct prediction, and codes B_Skip at once where its residual quantises to zero or is
  /// not worth any bits.
  ///
  /// - Parameter other: the cost of the direct prediction that the slice does not use; 0 where both
  ///   are not compared.
  /// - Returns: the candidate; nil if the macroblock is coded.
  @inline(__always) private mutating func directCandidate(other: Int32) -> DirectCandidate? {
    var direct = DirectCandidate(derived: deriveDirectMotion())
    guard direct.derived.isAllowed else { return direct }
    setDirect()
    let division = direct.derived.division
    predictLumaBidirectional(division)
    // Beyond a mean absolute difference of 4 lambda, too many coefficients quantise to something.
    if ovt_sad(k, 0, source, reconstruction, stride) <= lambda &* 64 {
      predictChromaBidirectional(division)
      let error = Int(ovt_ssd(k, 0, source, reconstruction, stride))
      var isSkipped = error &* 187 <= lambdaSSD &* picture.tools.skip.errorPercentB && residualIsEmpty()
      if !isSkipped {
        k.pointee.ssdNV12(sourceChroma, reconstructionChroma, stride, errors)
        direct.skipCost = error &+ Int(errors[0]) &+ Int(errors[1])
        isSkipped = direct.skipCost <= (lambdaSSD &* picture.tools.skip.errorBitsB) >> 8
      }
      if isSkipped {
        if comparesDirect { noteSkip(other: other) }
        storeSkip()
        return nil
      }
    }
    direct.cost =
      distortion(shape: 0, source, reconstruction, stride) &+ (lambda &* MacroblockCoder.directBits) >> 4
    return direct
  }

  /// Chooses between direct prediction, one motion for the whole macroblock, and partitions, and
  /// leaves the motion in the grids.
  ///
  /// - Parameters:
  ///   - direct: direct prediction.
  ///   - whole: the best 16x16 motion.
  ///   - lists: the best 16x16 motion of each list.
  @inline(__always) private mutating func decideMotion(
    _ direct: DirectCandidate, _ whole: BidirectionalCandidate, _ lists: ListMotion
  ) -> DecidedMotion {
    var decided = DecidedMotion()
    decided.motion.cost = direct.cost
    if whole.cost < direct.cost {
      decided.motion = whole
      decided.type = MacroblockType.inter16x16
    }
    if decided.motion.cost > lambda &* picture.tools.partitions.thresholdB {
      decided.directBlocks = decidePartitionsBidirectional(
        &decided.type, &decided.motion, lists, direct.derived.isAllowed)
    }
    switch decided.type {
    case MacroblockType.direct:
      setDirect()
      decided.directBlocks = 15
    case MacroblockType.inter16x16: setGrids(5, width: 2, height: 2, decided.motion)
    default: break
    }
    return decided
  }

  /// Tries intra prediction, and codes it where it is cheaper than inter prediction.
  ///
  /// - Parameter cost: the cost of inter prediction.
  /// - Returns: whether the macroblock is coded.
  @inline(__always) private mutating func codesAsIntraBidirectional(limit cost: Int32) -> Bool {
    guard cost > lambda &* picture.tools.intra.thresholdB else { return false }
    let intra16 = decideIntra16x16(limit: cost)
    guard intra16.cost < cost &- (lambda &* 9) >> 4 else { return false }
    codeIntra(intra16, small: triesSmallIntra)
    return true
  }

  /// Codes the residual of inter prediction. Where the estimates are close, direct prediction, and one
  /// motion for the whole macroblock where partitions were chosen, are coded too and compared by rate
  /// and distortion.
  ///
  /// - Parameters:
  ///   - chosen: the motion that was chosen by estimates, which is in the grids.
  ///   - direct: direct prediction.
  ///   - whole: the best 16x16 motion.
  @inline(__always) private mutating func codeInterBidirectional(
    _ chosen: DecidedMotion, _ direct: DirectCandidate, _ whole: BidirectionalCandidate
  ) {
    var decided = chosen
    let headerBits =
      storeDifferencesBidirectional(decided.type, directBlocks: decided.directBlocks)
      &+ typeBits(decided.type, decided.motion)
    let directCost = codedDirectCost(decided, direct)
    let division = decided.type == MacroblockType.direct ? direct.derived.division : decided.type
    var coded = codeResidualBidirectional(division, headerBits: headerBits)
    compareWith16x16Bidirectional(&decided, &coded, headerBits: headerBits, whole)
    if directCost <= coded.cost {
      decided.type = MacroblockType.direct
      decided.directBlocks = 15
      let bits =
        storeDifferencesBidirectional(MacroblockType.direct, directBlocks: 15)
        &+ typeBits(MacroblockType.direct, decided.motion)
      setDirect()
      coded = codeResidualBidirectional(direct.derived.division, headerBits: bits)
    }
    if direct.skipCost < Int.max
      && direct.skipCost &* 100 <= coded.cost &* (100 &+ picture.tools.skip.preference)
    {
      setDirect()
      predictLumaBidirectional(direct.derived.division)
      predictChromaBidirectional(direct.derived.division)
      storeSkip()
      return
    }
    storeMotionBidirectional()
    let info = picture.syntax.info + m
    let isSkipped = coded.luma | coded.chroma == 0 && decided.type == MacroblockType.direct
    info.pointee.type = isSkipped ? MacroblockType.skip : decided.type
    info.pointee.qp = UInt8(qp)
    info.pointee.directBlocks = decided.directBlocks
    info.pointee.codedBlockPattern = coded.luma | coded.chroma << 4
    info.pointee.transform8x8 = coded.transform8x8 && coded.luma != 0 ? 1 : 0
  }

  /// Codes direct prediction where its estimated cost is close to that of the motion that was chosen,
  /// and restores the motion in the grids.
  ///
  /// - Parameters:
  ///   - decided: the motion that was chosen by estimates.
  ///   - direct: direct prediction.
  /// - Returns: squared error plus lambda times bits; `Int.max` where it was not coded.
  @inline(__always) private mutating func codedDirectCost(
    _ decided: DecidedMotion, _ direct: DirectCandidate
  ) -> Int {
    guard
      decided.type != MacroblockType.direct
        && Int(direct.cost) &* 100 < Int(decided.motion.cost) &* picture.tools.skip.directMargin
    else { return Int.max }
    storeMotionBidirectional()
    setDirect()
    let coded = codeResidualBidirectional(
      direct.derived.division, headerBits: typeBits(MacroblockType.direct, decided.motion))
    loadMotionBidirectional()
    return coded.cost
  }

  /// Codes one motion for the whole macroblock where partitions were chosen and its estimated cost is
  /// close to theirs, and leaves the cheaper of both coded and in the grids.
  ///
  /// - Parameters:
  ///   - decided: the motion that was chosen by estimates; becomes 16x16 where that costs no more.
  ///   - coded: its coded residual; is replaced likewise.
  ///   - headerBits: the estimated bits of all but its residual, in sixteenths.
  ///   - whole: the best 16x16 motion.
  @inline(__always) private mutating func compareWith16x16Bidirectional(
    _ decided: inout DecidedMotion, _ coded: inout CodedResidual, headerBits: Int,
    _ whole: BidirectionalCandidate
  ) {
    guard decided.type != MacroblockType.direct, decided.type != MacroblockType.inter16x16,
      Int(whole.cost) &* 100 < Int(decided.motion.cost) &* picture.tools.partitions.margin16x16B
    else { return }
    storeMotionBidirectional()
    setGrids(5, width: 2, height: 2, whole)
    let wholeBits =
      storeDifferencesBidirectional(MacroblockType.inter16x16, directBlocks: 0)
      &+ typeBits(MacroblockType.inter16x16, whole)
    let one = codeResidualBidirectional(MacroblockType.inter16x16, headerBits: wholeBits)
    if one.cost <= coded.cost {
      coded = one
      decided.type = MacroblockType.inter16x16
      decided.directBlocks = 0
    } else {
      loadMotionBidirectional()
      _ = storeDifferencesBidirectional(decided.type, directBlocks: decided.directBlocks)
      coded = codeResidualBidirectional(decided.type, headerBits: headerBits)
    }
  }

  /// Adds a macroblock that is skipped without a search to `directCosts`. Its prediction is in the
  /// reconstruction. The motion that a search would have found is taken to cost ten bits more than
  /// direct prediction.
  ///
  /// - Parameter other: the cost of the direct prediction that the slice does not use.
  private mutating func noteSkip(other: Int32) {
    let own =
      distortion(shape: 0, source, reconstruction, stride) &+ (lambda &* MacroblockCoder.directBits) >> 4
    noteDirect(own, other: other, limit: own &+ (lambda &* 10) >> 4)
  }

  /// The result of coding the residual over a prediction.
  private struct CodedResidual {
    /// The luma part of coded_block_pattern, 0 to 15.
    var luma: UInt8
    /// The chroma part of coded_block_pattern, 0 to 2.
    var chroma: UInt8
    /// transform_size_8x8_flag
    var transform8x8: Bool
    /// Squared error plus lambda times bits, of luma and chroma.
    var cost: Int
  }

  /// Predicts the macroblock with the motion in the grids and codes the residual.
  ///
  /// - Parameters:
  ///   - division: how the macroblock is divided for prediction, one of `MacroblockType`.
  ///   - headerBits: the estimated bits of all but the residual, in sixteenths.
  /// - Returns: what was coded and its cost.
  private mutating func codeResidualBidirectional(_ division: UInt8, headerBits: Int) -> CodedResidual {
    predictLumaBidirectional(division)
    predictChromaBidirectional(division)
    picture.syntax.info[m].codedDC = 0
    let luma = codeInterLumaByCost()
    let chroma = codeChroma(intra: false)
    k.pointee.ssdNV12(sourceChroma, reconstructionChroma, stride, errors)
    let cost =
      luma.cost &+ Int(errors[0]) &+ Int(errors[1])
      &+ (lambdaSSD &* (headerBits &+ chromaBits(chroma))) >> 12
    return CodedResidual(
      luma: luma.pattern, chroma: chroma, transform8x8: luma.transform8x8, cost: cost)
  }

  /// Codes the macroblock as B_Skip, or, where the derived vectors are not allowed, as 16x16 from
  /// list 0 without a residual.
  ///
  /// - Parameter direct: the properties of the derived motion.
  private mutating func codeWithFewestBits(_ direct: DirectMotion) {
    if direct.isAllowed {
      setDirect()
      let division = direct.division
      predictLumaBidirectional(division)
      predictChromaBidirectional(division)
      storeSkip()
      return
    }
    storeSkip()
    var candidate = BidirectionalCandidate()
    candidate.references.0 = 0
    candidate.vectors.0 = clampToLimits(predictMotion(slot: 5, width: 2, reference: 0))
    setGrids(5, width: 2, height: 2, candidate)
    predictLumaBidirectional(MacroblockType.inter16x16)
    predictChromaBidirectional(MacroblockType.inter16x16)
    picture.syntax.info[m].type = MacroblockType.inter16x16
    picture.syntax.info[m].directBlocks = 0
    _ = storeDifferencesBidirectional(MacroblockType.inter16x16, directBlocks: 0)
    storeMotionBidirectional()
  }

  /// Compares a block with its prediction by SATD, or by SAD where the effort does not use SATD.
  ///
  /// - Parameters:
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - source: the source block, in rows of 16 samples.
  ///   - prediction: the prediction.
  ///   - stride: bytes from one row of the prediction to the next.
  @inline(__always) mutating func distortion(
    shape: Int32, _ source: UnsafePointer<UInt8>, _ prediction: UnsafePointer<UInt8>, _ stride: Int
  ) -> Int32 {
    picture.tools.motion.usesSATD
      ? ovt_satd(k, shape, source, prediction, stride) : ovt_sad(k, shape, source, prediction, stride)
  }

  /// Sets the motion of 8x8 blocks in the grids of both lists.
  ///
  /// - Parameters:
  ///   - slot: the grid's entry of the first block.
  ///   - width: the number of blocks in a row.
  ///   - height: the number of rows.
  ///   - c: the motion.
  @inline(__always) mutating func setGrids(
    _ slot: Int, width: Int, height: Int, _ c: BidirectionalCandidate
  ) {
    setGrid(slot, width: width, height: height, c.vectors.0, c.references.0)
    setGrid(slot &+ MacroblockCoder.gridL1, width: width, height: height, c.vectors.1, c.references.1)
  }

  /// Estimates the bits of mb_type and coded_block_pattern.
  ///
  /// - Parameters:
  ///   - type: one of `MacroblockType`.
  ///   - c: the motion, which says whether one or both lists are used.
  /// - Returns: sixteenths of a bit.
  private mutating func typeBits(_ type: UInt8, _ c: BidirectionalCandidate) -> Int {
    switch type {
    case MacroblockType.direct: return 48
    case MacroblockType.inter16x16: return c.references.0 >= 0 && c.references.1 >= 0 ? 112 : 80
    default: return 144
    }
  }

  /// Estimates the bits of a reference index of a B picture.
  ///
  /// - Parameters:
  ///   - r: the index.
  ///   - list: 0 or 1.
  /// - Returns: bits; 0 where the list has one entry.
  mutating func referenceBits(_ r: Int, list: Int) -> Int32 {
    let count = list == 0 ? picture.referenceCount : picture.referenceCountL1
    return count < 2 ? 0 : r == 0 ? 1 : Int32(2 &* r &+ 1)
  }
}
