// SPDX-License-Identifier: Apache-2.0

/// The accounting of the bits of coded pictures, from which the next ones are planned.
extension LowLatencyRateControl {
  // MARK: - After the frame

  /// Adds a frame, or 0 bits for one that was dropped, to the queue, to the account of its layer
  /// and to the limits.
  package mutating func account(_ bits: Double) {
    if cautiousFrames > 0 {
      cautiousFrames -= 1
      cautiousBits -= bits
    }
    if let rate = settings.averageBitRate {
      link.send(bits)
      layers[layer].account = max(
        layers[layer].account + bits - accountCredit, -rate * LowLatencyRateControl.memory.rest)
    }
    limits.account(bits, duration: 0)
  }

  /// Learns from a frame that was coded.
  /// - Parameters:
  ///   - bits: the bits of its access unit.
  ///   - qp: the mean QP of its rows, without the offsets of adaptive quantisation, which the plan
  ///     does not know either.
  ///   - isKeyFrame: whether it is an IDR picture.
  ///   - isSceneChange: whether a new scene begins with it.
  ///   - isCurtailed: whether it was coded again with fewer bits because of a hard limit.
  ///   - highestQP: the highest QP of a row; nil: the mean.
  ///   - rowBits: the bits of each macroblock row.
  package mutating func finish(
    bits: Int, qp: Double, isKeyFrame: Bool, isSceneChange: Bool, isCurtailed: Bool = false,
    highestQP: Int? = nil, rowBits: UnsafePointer<Int32>
  ) {
    account(Double(bits))
    guard settings.averageBitRate != nil else { return }
    rateChanged = false
    if !isFixed { floor.record(min(max(qp, 0), 51), duration: duration) }
    // The same condition as in `RowBudget.isExhausted`.
    let isExhausted =
      isCurtailed || Double(bits + 512) + Double(rows * columns) * cheapest(isKeyFrame) > lastLimit
    learnShares(bits, isKeyFrame, rowBits, isExhausted)
    let units = BitModel.units(residual, qp: max(qp, 0), highest: highestPlannedQP)
    layers[layer].bits = Double(bits)
    let isStarved = isCurtailed || isExhausted && isLimited
    layers[layer].isStarved = isStarved
    finishStill(bits, qp: highestQP.map(Double.init) ?? qp, isComplete: !isExhausted)
    if isUnpredicted {
      if !isCurtailed { intraRatio.learn(bits: Double(bits), units: units, weight: 0.5) }
      // A new scene begins: its frames are not like those before.
      for i in layers.indices {
        layers[i].isKnown = false
        (layers[i].actualBits, layers[i].expected) = (0, 0)
        // The QP of the first frame of a stream is taken even if the caller set it: there is no
        // other.
        if !isFixed || layers[i].qp == 0 { layers[i].qp = qp }
        layers[i].isStarved = isStarved
      }
      cascade.restart()
      framesSinceKey = 0
      return
    }
    framesSinceKey += 1
    // A frame that refers to older ones says little about those that follow.
    if hasChosenReferences { return }
    if isStill || isCurtailed || units * ratio < frameShareBits * 0.01 { return }
    let kept = max(1 - duration / LowLatencyRateControl.memory.model, 0)
    layers[layer].actualBits = layers[layer].actualBits * kept + Double(bits)
    layers[layer].expected = layers[layer].expected * kept + units * ratio
    let misses = abs(log2Approx(Double(max(bits, 1)) / (units * ratio)))
    let learning = LowLatencyRateControl.learning
    layers[layer].ratio.learn(
      bits: Double(bits), units: units,
      weight: framesSinceKey < 3 ? learning.early : misses > 1 ? learning.missed : learning.typical)
    // The rows may have changed the QP from the planned one.
    if isFixed { return }
    let miss = qp - offset - layers[layer].qp
    if abs(miss) > 1 { layers[layer].qp += miss * 0.5 }
  }

  /// Tells the refinement of still pictures what the frame has become.
  /// - Parameters:
  ///   - bits: the bits of its access unit.
  ///   - qp: the highest QP of its rows.
  ///   - isComplete: whether the bits sufficed for all macroblocks.
  private mutating func finishStill(_ bits: Int, qp: Double, isComplete: Bool) {
    if !isStill { return still.finishChange(duration: duration, highestQP: qp, isComplete: isComplete) }
    if !isComplete { return still.restart(at: 51) }
    if hasChosenReferences { return still.restart(at: qp) }
    guard layer == 0 else { return }
    let waits = link.backlog > frameShareBits * 2
    still.finishStill(
      duration: duration, highestQP: qp,
      excess: waits ? log2Approx(Double(max(bits, 1)) / max(frameShareBits, 1)) : 0)
  }

  /// Takes the share of each macroblock row into the mean.
  mutating func learnShares(
    _ bits: Int, _ isKeyFrame: Bool, _ rowBits: UnsafePointer<Int32>, _ isExhausted: Bool
  ) {
    let shares = isKeyFrame ? sharesI : sharesP
    // A new scene has nothing of the one before.
    let part: Float = isUnpredicted && !isKeyFrame ? 1 : 0.5
    let total = Float(max(bits, 1))
    var sum: Float = 0
    for y in 0..<rows {
      var now = max(Float(rowBits[y]), 1) / total
      // Rows that got no bits because none were left would otherwise never get any again.
      if isExhausted { now = max(now, 1 / Float(rows)) }
      shares[y] += (now - shares[y]) * part
      sum += shares[y]
    }
    guard isExhausted else { return }
    for y in 0..<rows { shares[y] /= sum }
  }
}
