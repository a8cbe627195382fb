// SPDX-License-Identifier: Apache-2.0

extension ResidualHistogram {
  /// Adds a macroblock of which prediction leaves so much, and whose QP is so many steps above the picture's. A step less
  /// is as many bits as a sixth of a doubling more to code.
  @inline(__always) fileprivate static func add(
    cost: Int32, offset: Float, to counts: UnsafeMutablePointer<Float>
  ) {
    // 2 log2(cost + 1), to an eighth.
    let x = Int(max(cost, 0)) &+ 1
    let whole = Int.bitWidth &- 1 &- x.leadingZeroBitCount
    let fraction = whole >= 3 ? (x >> (whole &- 3)) & 7 : (x << (3 &- whole)) & 7
    let position = Float(whole &* 2) + Float(fraction) * 0.25 - offset * (1 / 3)
    let clamped = min(max(position - 0.25, 0), Float(ResidualHistogram.bins - 1))
    let bin = Int(clamped)
    let part = clamped - Float(bin)
    counts[bin] += 1 - part
    if part > 0 { counts[min(bin &+ 1, ResidualHistogram.bins &- 1)] += part }
  }

  static func += (a: inout ResidualHistogram, b: ResidualHistogram) { a.counts += b.counts }
}

extension QueuedPicture {
  /// Fills in what prediction leaves, with the offsets by activity.
  func takeResiduals(_ count: Int, hasInter: Bool) {
    intraResidual = residual(intraCosts, activityOffsets, count)
    interResidual = hasInter ? residual(interCosts, activityOffsets, count) : intraResidual
  }

  /// Fills in what prediction from the pictures leaves that it will refer to.
  func takeRelated(_ count: Int) {
    referenceResidual = residual(costs, activityOffsets, count)
    hasCosts = true
  }

  /// What prediction leaves of it as it is coded, with all offsets.
  func finalResidual(_ count: Int) -> ResidualHistogram {
    residual(kind.isKey ? intraCosts : hasCosts ? costs : interCosts, offsets, count)
  }

  /// What intra prediction alone would leave, with all offsets.
  func finalIntraResidual(_ count: Int) -> ResidualHistogram { residual(intraCosts, offsets, count) }

  private func residual(
    _ costs: UnsafeMutablePointer<Int32>, _ offsets: UnsafeMutablePointer<Float>, _ count: Int
  ) -> ResidualHistogram {
    var histogram = ResidualHistogram()
    // By address: a lane of a vector that is not known before costs all of it to be stored and read again.
    withUnsafeMutableBytes(of: &histogram.counts) { bytes in
      guard let base = bytes.baseAddress else { return }
      let counts = base.bindMemory(to: Float.self, capacity: ResidualHistogram.bins)
      for m in 0..<count { ResidualHistogram.add(cost: costs[m], offset: offsets[m], to: counts) }
    }
    return histogram
  }

  /// What prediction leaves, before offsets of quality that is inherited.
  var plainResidual: ResidualHistogram {
    kind.isKey ? intraResidual : hasCosts ? referenceResidual : interResidual
  }
}
