// SPDX-License-Identifier: Apache-2.0

/// The bits that a picture should have, by what is known of it before it is coded.
extension LowLatencyRateControl {
  /// The aim for a key frame or a scene cut: as good as the link allows at once, since later frames
  /// refer to it.
  mutating func unpredictedAim(_ room: Double) -> Aim {
    let parts = LowLatencyRateControl.parts
    let even = link.evenRoom(keeping: LowLatencyRateControl.reserve.new)
    let least = min(
      frameShareBits * LowLatencyRateControl.least.shares, room * LowLatencyRateControl.least.part)
    let bits = min(
      max(room * parts.new, least), max(even * parts.newEven, frameShareBits),
      frameShareBits * parts.newShares)
    floor.restart()
    let unpredictedQPLimit = LowLatencyRateControl.unpredictedQPLimit
    var qp = qp(for: bits)
    qp += max(unpredictedQPLimit.above - qp, 0) * unpredictedQPLimit.part
    qp = max(qp, floor.qp)
    return (qp, min(bits, self.bits(at: qp)), room * 0.95)
  }

  /// The aim for a frame that is predicted from others.
  /// - Parameters:
  ///   - room: the bits that the bound and hard limits leave for it.
  ///   - rate: the target rate in bits per second.
  ///   - novelty: `PreAnalysisResult.novelty`.
  mutating func interAim(_ room: Double, rate: Double, novelty: Double) -> Aim {
    followContent()
    if isStill { return stillAim(room, rate: rate) }
    let state = layers[layer]
    let correction = LowLatencyRateControl.correction
    let standing =
      link.standing - link.bound(duration: typicalDuration) * rate * LowLatencyRateControl.standing
    let part = 1 - max(state.account, standing) / (rate * LowLatencyRateControl.memory.excess)
    let wanted = frameShareBits * min(max(part, correction.minimum), correction.maximum)
    let maximum = largestTypical(room)
    var qp = BitModel.qp(
      state.typical, units: wanted / (ratio * modelError(state)), highest: highestPlannedQP)
    if !rateChanged && framesSinceKey > 1 {
      let pace = LowLatencyRateControl.pace
      qp = min(max(qp, state.qp - pace.down), state.qp + pace.up)
    }
    if layer == 0 && hasWholeShare {
      let (none, full) = LowLatencyRateControl.cascadeNovelty
      let inherited = min(max((none - novelty) / (none - full), 0), 1)
      // Just after a reduction of the rate no frame takes more bits for the sake of later ones.
      offset = cascade.next(strength: cautiousFrames > 0 ? 0 : inherited)
      qp += offset
    }
    floor.pass(duration)
    // The QP is never below the one at which the frame fits.
    qp = max(qp, self.qp(for: maximum), floor.qp, still.lowestQP)
    return (qp, min(bits(at: qp), maximum), min(room * 0.95, max(maximum * 1.5, frameShareBits * 2)))
  }

  /// The ratio of the bits of recent frames to those that the model gave, 0.5 to 2. The model's
  /// factor is a mean of logarithms, which is that of a typical frame; where every fourth frame
  /// takes most of the bits, the mean of the bits is higher.
  func modelError(_ state: Layer) -> Double {
    min(max((state.actualBits + frameShareBits) / (state.expected + frameShareBits), 0.5), 2)
  }

  /// Takes the residual of the frame into the mean of its layer.
  mutating func followContent() {
    if !layers[layer].isKnown {
      if !layers[layer].ratio.isKnown {
        layers[layer].qp = (layers.first { $0.ratio.isKnown }?.qp ?? layers[layer].qp) + 1
      }
      layers[layer].typical = residual
      layers[layer].isKnown = true
      return
    }
    layers[layer].typical.approach(
      residual, by: Float(min(duration / LowLatencyRateControl.memory.pictures, 1)))
  }

  /// The most bits that an ordinary frame may take: beyond its share a part of what the bound and
  /// the even rate leave, so that several large frames approach the bound but never exceed it.
  func largestTypical(_ room: Double) -> Double {
    let part = LowLatencyRateControl.parts.picture
    let even = max(
      link.evenRoom(keeping: LowLatencyRateControl.reserve.picture),
      frameShareBits * LowLatencyRateControl.minRoom.even)
    return min(
      room * 0.9, frameShareBits + max(room - frameShareBits, 0) * part,
      min(even, frameShareBits) + max(even - frameShareBits, 0) * part)
  }

  /// The QP and the bits for a change after the picture was static, when the queue is empty: the
  /// change is sharp at once if the bound leaves enough bits; otherwise some bits are reserved for
  /// the frames that sharpen it.
  mutating func changeAim(_ room: Double) -> Aim {
    if isUnpredicted { floor.restart() } else { followContent() }
    floor.pass(isUnpredicted ? 0 : duration)
    let even = link.evenRoom(keeping: LowLatencyRateControl.reserve.picture)
    let parts = LowLatencyRateControl.changeParts
    let availableBits = max(min(room, even), min(room, frameShareBits))
    var qp = still.changeQP
    if bits(at: qp) > availableBits * parts.sharp { qp = max(qp, self.qp(for: availableBits * parts.coarse)) }
    return (qp, min(bits(at: qp), availableBits * parts.maximum), availableBits * parts.maximum)
  }

  /// The aim for a static picture, which takes no bits until the QP falls far enough to
  /// improve it, whatever the model says.
  mutating func stillAim(_ room: Double, rate: Double) -> Aim {
    let maximum = largestTypical(room)
    let typicalMaximum = min(room * 0.95, max(maximum * 1.5, frameShareBits * 2))
    // If macroblocks were skipped for lack of bits, the last frame says nothing about the QP. The
    // QP rises until the bits suffice for the whole picture.
    if layers[layer].isStarved {
      let qp = min(layers[layer].qp + LowLatencyRateControl.starvedStep, Double(highestPlannedQP))
      return (qp, min(bits(at: qp), maximum), typicalMaximum)
    }
    let step = still.next(
      share: frameShareBits, backlog: link.backlog, rate: rate,
      mayImprove: layer == 0 && !hasChosenReferences && !isFixed && cautiousFrames == 0)
    // Older references may lack what the last picture has.
    let qp = hasChosenReferences ? max(step.qp, still.changeQP) : step.qp
    guard let limit = step.maximum else { return (qp, min(bits(at: qp), maximum), typicalMaximum) }
    highestRowQP = step.highestQP
    return (qp, min(limit, room * 0.9), min(limit, room * 0.95))
  }
}
