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

/// Decision of one macroblock of a B picture.
extension MacroblockCoder {
  /// Decides and codes the current macroblock.
  ///
  /// - Parameter isBudgetSpent: whether the picture's bit budget is spent, so that the macroblock
  ///   takes as few bits as possible.
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
    let best16x16 = searchBidirectional(&lists)
    if compares { addDirectCosts(direct.cost, other: otherDirect, limit: best16x16.cost) }
    let decided = decideMotion(direct, best16x16, lists)
    if codesAsIntraBidirectional(limit: decided.motion.cost) { return }
    codeInterBidirectional(decided, direct, best16x16)
  }

  /// Direct prediction of a macroblock, before motion is searched.
  struct DirectCandidate {
    /// The properties of the derived motion.
    let derived: DirectMotion
    /// Its cost; `Int32.max` where the derived motion is not allowed.
    var cost = Int32.max
    /// The squared error of luma and chroma without a residual; `Int.max` where it was not
    /// measured, as the prediction is far from the source.
    var skipCost = Int.max
  }

  /// The motion that was chosen by its estimated cost.
  struct DecidedMotion {
    /// One of `MacroblockType`.
    var type = MacroblockType.direct
    /// A bit for each 8x8 block that is direct.
    var directBlocks: UInt8 = 0
    /// The motion of 16x16, and the cost of what was chosen.
    var motion = BidirectionalCandidate()
  }

  /// Measures direct prediction, and codes B_Skip at once where its residual quantises to zero or
  /// is not worth any bits.
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
      var isSkipped = error &* 187 <= lambdaSSD &* picture.settings.skip.errorPercentB && residualIsEmpty()
      if !isSkipped {
        ovt_ssd_nv12(k, sourceChroma, reconstructionChroma, stride, errors)
        direct.skipCost = error &+ Int(errors[0]) &+ Int(errors[1])
        isSkipped = direct.skipCost <= (lambdaSSD &* picture.settings.skip.errorBitsB) >> 8
      }
      if isSkipped {
        if comparesDirect { addSkipCosts(other: other) }
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
  ///   - best16x16: the best 16x16 motion.
  ///   - lists: the best 16x16 motion of each list.
  @inline(__always) private mutating func decideMotion(
    _ direct: DirectCandidate, _ best16x16: BidirectionalCandidate, _ lists: ListMotion
  ) -> DecidedMotion {
    var decided = DecidedMotion()
    decided.motion.cost = direct.cost
    if best16x16.cost < direct.cost {
      decided.motion = best16x16
      decided.type = MacroblockType.inter16x16
    }
    if decided.motion.cost > lambda &* picture.settings.partitions.thresholdB {
      decided.directBlocks = decidePartitionsBidirectional(
        &decided.type, &decided.motion, lists, direct.derived.isAllowed)
    }
    switch decided.type {
    case MacroblockType.direct:
      setDirect()
      decided.directBlocks = 15
    case MacroblockType.inter16x16: setGrids(MotionGrid.block0, width: 2, height: 2, decided.motion)
    default: break
    }
    return decided
  }

  /// Tries intra prediction, and codes it where it is cheaper than inter prediction.
  ///
  /// - Parameter cost: the cost of inter prediction.
  /// - Returns: whether the macroblock is coded.
  @inline(__always) private mutating func codesAsIntraBidirectional(limit cost: Int32) -> Bool {
    guard cost > lambda &* picture.settings.intra.thresholdB else { return false }
    let intra16 = decideIntra16x16(limit: cost)
    guard intra16.cost < cost &- (lambda &* 9) >> 4 else { return false }
    codeIntra(intra16, small: triesSmallIntra)
    return true
  }

  /// Adds a macroblock that is skipped without a search to `directCosts`. Its prediction is in the
  /// reconstruction. The motion that a search would have found is taken to cost ten bits more than
  /// direct prediction.
  ///
  /// - Parameter other: the cost of the direct prediction that the slice does not use.
  private mutating func addSkipCosts(other: Int32) {
    let own =
      distortion(shape: 0, source, reconstruction, stride) &+ (lambda &* MacroblockCoder.directBits) >> 4
    addDirectCosts(own, other: other, limit: own &+ (lambda &* 10) >> 4)
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
    picture.settings.motion.usesSATD
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
