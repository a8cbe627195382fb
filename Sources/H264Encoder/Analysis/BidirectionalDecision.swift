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
    let info = picture.syntax.info + m
    info.pointee.directBlocks = 0
    loadMotionNeighboursL1()
    if isBudgetSpent {
      codeWithFewestBits(deriveDirectMotion())
      return
    }
    // Errors of a B picture are propagated to few pictures or none.
    lambdaResidual = lambdaSSD
    let compares = comparesDirect
    let otherDirect = compares ? otherDirectCost() : 0
    let direct = deriveDirectMotion()
    let directAllowed = direct.isAllowed

    // B_Skip: the derived motion without a residual, where the residual quantises to zero.
    var skipCost = Int.max
    var best = BidirectionalCandidate()
    var type = MacroblockType.direct
    var directCost = Int32.max
    if directAllowed {
      setDirect()
      let division = direct.division
      predictLumaBidirectional(division)
      let isClose = ovt_sad(k, 0, source, reconstruction, stride) <= lambda &* 64
      if isClose {
        predictChromaBidirectional(division)
        let error = Int(ovt_ssd(k, 0, source, reconstruction, stride))
        if error &* 187 <= lambdaSSD &* picture.tools.skip.errorPercentB && residualIsEmpty() {
          if compares { noteSkip(other: otherDirect) }
          storeSkip()
          return
        }
        k.pointee.ssdNV12(sourceChroma, reconstructionChroma, stride, errors)
        skipCost = error &+ Int(errors[0]) &+ Int(errors[1])
        if skipCost <= (lambdaSSD &* picture.tools.skip.errorBitsB) >> 8 {
          if compares { noteSkip(other: otherDirect) }
          storeSkip()
          return
        }
      }
      directCost =
        distortion(shape: 0, source, reconstruction, stride) &+ (lambda &* MacroblockCoder.directBits) >> 4
      best.cost = directCost
    }

    var lists = ListMotion()
    let whole = searchBidirectional(&lists)
    if compares { noteDirect(directCost, other: otherDirect, limit: whole.cost) }
    if whole.cost < best.cost {
      best = whole
      type = MacroblockType.inter16x16
    }
    var directBlocks: UInt8 = 0
    if best.cost > lambda &* picture.tools.partitions.thresholdB {
      directBlocks = decidePartitionsBidirectional(&type, &best, lists, directAllowed)
    }
    switch type {
    case MacroblockType.direct:
      setDirect()
      directBlocks = 15
    case MacroblockType.inter16x16: setGrids(5, width: 2, height: 2, best)
    default: break
    }
    let cost = best.cost

    // Intra prediction, where it could be cheaper.
    if cost > lambda &* picture.tools.intra.thresholdB {
      let intra16 = decideIntra16x16(limit: cost)
      let below = cost &- (lambda &* 9) >> 4
      if intra16.cost < below {
        codeIntra(intra16, small: triesSmallIntra)
        return
      }
    }

    var header = storeDifferencesBidirectional(type, directBlocks: directBlocks) &+ typeBits(type, best)
    let directHeader = typeBits(MacroblockType.direct, best)
    let directDivision = direct.division
    // Where the estimates are close, direct prediction is coded too and compared by rate and
    // distortion.
    var inferred = Int.max
    if type != MacroblockType.direct
      && Int(directCost) &* 100 < Int(best.cost) &* picture.tools.skip.directMargin
    {
      storeMotionBidirectional()
      setDirect()
      inferred = codeResidualBidirectional(directDivision, headerBits: directHeader).cost
      loadMotionBidirectional()
    }
    let division = type == MacroblockType.direct ? directDivision : type
    var coded = codeResidualBidirectional(division, headerBits: header)
    // Likewise one motion for the whole macroblock, where partitions were chosen.
    if type != MacroblockType.direct, type != MacroblockType.inter16x16,
      Int(whole.cost) &* 100 < Int(cost) &* picture.tools.partitions.margin16x16B
    {
      storeMotionBidirectional()
      setGrids(5, width: 2, height: 2, whole)
      let wholeHeader =
        storeDifferencesBidirectional(MacroblockType.inter16x16, directBlocks: 0)
        &+ typeBits(MacroblockType.inter16x16, whole)
      let one = codeResidualBidirectional(MacroblockType.inter16x16, headerBits: wholeHeader)
      if one.cost <= coded.cost {
        coded = one
        type = MacroblockType.inter16x16
        directBlocks = 0
      } else {
        loadMotionBidirectional()
        _ = storeDifferencesBidirectional(type, directBlocks: directBlocks)
        coded = codeResidualBidirectional(division, headerBits: header)
      }
    }
    if inferred <= coded.cost {
      type = MacroblockType.direct
      directBlocks = 15
      header = storeDifferencesBidirectional(type, directBlocks: 15) &+ directHeader
      setDirect()
      coded = codeResidualBidirectional(directDivision, headerBits: header)
    }
    if skipCost < Int.max && skipCost &* 100 <= coded.cost &* (100 &+ picture.tools.skip.preference) {
      setDirect()
      predictLumaBidirectional(directDivision)
      predictChromaBidirectional(directDivision)
      storeSkip()
      return
    }
    storeMotionBidirectional()
    info.pointee.type = type
    info.pointee.qp = UInt8(qp)
    info.pointee.directBlocks = directBlocks
    info.pointee.codedBlockPattern = coded.luma | coded.chroma << 4
    info.pointee.transform8x8 = coded.transform8x8 && coded.luma != 0 ? 1 : 0
    if coded.luma | coded.chroma == 0 && type == MacroblockType.direct {
      info.pointee.type = MacroblockType.skip
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
