// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Coding of one inter macroblock of a B picture.
extension MacroblockCoder {
  /// Codes the residual of inter prediction. Where the estimates are close, direct prediction, and
  /// one motion for the whole macroblock where partitions were chosen, are coded too and compared
  /// by rate and distortion.
  ///
  /// - Parameters:
  ///   - chosen: the motion that was chosen by estimates, which is in the grids.
  ///   - direct: direct prediction.
  ///   - whole: the best 16x16 motion.
  @inline(__always) mutating func codeInterBidirectional(
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
      && direct.skipCost &* 100 <= coded.cost &* (100 &+ picture.settings.skip.preference)
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

  /// Codes direct prediction where its estimated cost is close to that of the motion that was
  /// chosen, and restores the motion in the grids.
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
        && Int(direct.cost) &* 100 < Int(decided.motion.cost) &* picture.settings.skip.directMargin
    else { return Int.max }
    storeMotionBidirectional()
    setDirect()
    let coded = codeResidualBidirectional(
      direct.derived.division, headerBits: typeBits(MacroblockType.direct, decided.motion))
    loadMotionBidirectional()
    return coded.cost
  }

  /// Codes one motion for the whole macroblock where partitions were chosen and its estimated cost
  /// is close to theirs, and leaves the cheaper of both coded and in the grids.
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
      Int(whole.cost) &* 100 < Int(decided.motion.cost) &* picture.settings.partitions.margin16x16B
    else { return }
    storeMotionBidirectional()
    setGrids(MotionGrid.block0, width: 2, height: 2, whole)
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
    ovt_ssd_nv12(k, sourceChroma, reconstructionChroma, stride, errors)
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
  mutating func codeWithFewestBits(_ direct: DirectMotion) {
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
    candidate.vectors.0 = clampToLimits(predictMotion(slot: MotionGrid.block0, width: 2, reference: 0))
    setGrids(MotionGrid.block0, width: 2, height: 2, candidate)
    predictLumaBidirectional(MacroblockType.inter16x16)
    predictChromaBidirectional(MacroblockType.inter16x16)
    picture.syntax.info[m].type = MacroblockType.inter16x16
    picture.syntax.info[m].directBlocks = 0
    _ = storeDifferencesBidirectional(MacroblockType.inter16x16, directBlocks: 0)
    storeMotionBidirectional()
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
}
