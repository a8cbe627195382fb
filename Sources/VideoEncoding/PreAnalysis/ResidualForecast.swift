// SPDX-License-Identifier: Apache-2.0

extension ResidualHistogram {
  /// Adds a macroblock to a histogram. Its QP offset moves it by a third of a bin per QP step: one
  /// step less takes as many bits as a residual with a sixth of a doubling more. Where there is no
  /// residual, no step makes it one.
  /// - Parameters:
  ///   - cost: the SATD that prediction leaves, and what else the macroblock takes.
  ///   - least: the cost of a macroblock without residual.
  ///   - offset: the QP of the macroblock relative to that of the picture, in QP steps.
  ///   - counts: the bins. The macroblock is divided between the two nearest ones.
  @inline(__always) fileprivate static func add(
    cost: Int32, least: Int32, offset: Float, to counts: UnsafeMutablePointer<Float>
  ) {
    if cost <= least {
      counts[0] += 1
      return
    }
    // 2 log2(cost + 1), in steps of a quarter.
    let x = Int(cost) &+ 1
    let integerPart = Int.bitWidth &- 1 &- x.leadingZeroBitCount
    let fraction = integerPart >= 3 ? (x >> (integerPart &- 3)) & 7 : (x << (3 &- integerPart)) & 7
    let position = Float(integerPart &* 2) + Float(fraction) * 0.25 - offset * (1 / 3)
    let clamped = min(max(position - 0.25, 0), Float(ResidualHistogram.bins - 1))
    let bin = Int(clamped)
    let part = clamped - Float(bin)
    counts[bin] += 1 - part
    if part > 0 { counts[min(bin &+ 1, ResidualHistogram.bins &- 1)] += part }
  }

  /// Adds the counts of another histogram.
  package static func += (a: inout ResidualHistogram, b: ResidualHistogram) { a.counts += b.counts }
}

extension QueuedPicture {
  /// Fills in the residuals after intra prediction and after prediction from the picture before,
  /// with the QP offsets of the activity.
  /// - Parameters:
  ///   - count: the number of macroblocks.
  ///   - hasInter: whether there is a picture before; otherwise both are those of intra prediction.
  func takeResiduals(_ count: Int, hasInter: Bool) {
    intraResidual = residual(intraCosts, isIntra: true, activityOffsets, count)
    interResidual = hasInter ? residual(interCosts, isIntra: false, activityOffsets, count) : intraResidual
  }

  /// Fills in the residual after prediction from the pictures that the picture will refer to, with
  /// the QP offsets of the activity. `count` is the number of macroblocks.
  func computeReferenceResidual(_ count: Int) {
    referenceResidual = residual(costs, isIntra: false, activityOffsets, count)
    hasCosts = true
  }

  /// The residual of the picture as it is coded, with all QP offsets. `count` is the number of
  /// macroblocks.
  func finalResidual(_ count: Int) -> ResidualHistogram {
    kind.isKey
      ? finalIntraResidual(count) : residual(hasCosts ? costs : interCosts, isIntra: false, offsets, count)
  }

  /// The residual after intra prediction of all macroblocks, with all QP offsets. `count` is the
  /// number of macroblocks.
  func finalIntraResidual(_ count: Int) -> ResidualHistogram {
    residual(intraCosts, isIntra: true, offsets, count)
  }

  /// The histogram of the costs of macroblocks with QP offsets.
  private func residual(
    _ costs: UnsafeMutablePointer<Int32>, isIntra: Bool, _ offsets: UnsafeMutablePointer<Float>, _ count: Int
  ) -> ResidualHistogram {
    let least = Int32(
      isIntra ? LowResolutionAnalysis.intraOverhead : LowResolutionAnalysis.predictedVectorCost)
    var histogram = ResidualHistogram()
    // Through a pointer: to change one lane of a vector, the compiler would store and load all of
    // it.
    withUnsafeMutableBytes(of: &histogram.counts) { bytes in
      guard let base = bytes.baseAddress else { return }
      let counts = base.bindMemory(to: Float.self, capacity: ResidualHistogram.bins)
      for m in 0..<count {
        ResidualHistogram.add(cost: costs[m], least: least, offset: offsets[m], to: counts)
      }
    }
    return histogram
  }

  /// The residual of the picture as it is coded, with the QP offsets of the activity but without
  /// those of the macroblock tree.
  var residualWithoutTree: ResidualHistogram {
    kind.isKey ? intraResidual : hasCosts ? referenceResidual : interResidual
  }
}
