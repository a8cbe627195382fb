// SPDX-License-Identifier: Apache-2.0

/// The accounting of the bits of coded pictures, from which the next ones are planned.
extension LookAheadRateControl {
  /// Learns from a picture that was coded.
  /// - Parameters:
  ///   - bits: the bits of its access unit.
  ///   - qp: the QP that it was coded with, without the offset of its type.
  ///   - picture: its forecast, whose residual has no offsets of the macroblock tree.
  ///   - cascaded: the offset of the quality cascade, in QP steps, which is a part of its offset
  ///     beyond that of its type.
  ///   - final: its residual with all QP offsets of its macroblocks.
  package mutating func finish(
    bits: Double, qp: Double, picture: PictureForecast, cascaded: Double, final: ResidualHistogram
  ) {
    let kind = picture.kind.rawValue
    let own = qp + LookAheadRateControl.offsets[kind]
    if picture.kind != .bidirectional, bits > plannedIntraBits * LookAheadRateControl.coded { visibleQP = qp }
    let units = BitModel.units(final, qp: own + cascaded)
    let informativeness = BitModel.informativeness(final, units: units)
    if bits > 200, informativeness > BitModel.leastInformativeness {
      // The first second of motion comes when black or a still picture is over. Near the end, the
      // last pictures are the best guess for those that are left.
      let isFast = unseen.evidence < 1 || isNearEnd
      kinds[kind].ratio.learn(
        bits: bits, units: units, weight: isFast ? 0.3 : 0.1, informativeness: informativeness)
      for other in kind + 1..<max(kinds.count, kind + 1) where !kinds[other].ratio.isKnown {
        kinds[other].ratio = BitRatio(guess: kinds[kind].ratio, by: 0.3)
      }
    }
    if informativeness <= BitModel.leastInformativeness { kinds[kind].learnStill(bits: bits, units: units) }
    let meanTreeOffset = own - BitModel.qp(picture.residual, units: BitModel.units(final, qp: own))
    if meanTreeOffset.isFinite, abs(meanTreeOffset) < 20,
      informativeness > BitModel.leastInformativeness
    {
      kinds[kind].meanTreeOffset +=
        (meanTreeOffset - kinds[kind].meanTreeOffset) * (kinds[kind].isFinerKnown ? 0.1 * informativeness : 1)
      if bits > 200 { kinds[kind].isFinerKnown = true }
    }
    let keep = Float(max(1 - picture.duration / LookAheadRateControl.memory, 0.5))
    for i in kinds.indices { kinds[i].residual.counts *= keep }
    contentSeconds = contentSeconds * Double(keep) + picture.duration
    activeSeconds.coded = activeSeconds.coded * Double(keep) + unseen.activeSeconds(of: picture)
    intraPictures.coded = intraPictures.coded * Double(keep) + (picture.kind == .intra ? 1 : 0)
    sinceIntra.coded = (picture.kind == .intra ? 0 : sinceIntra.coded) + picture.duration
    kinds[kind].residual += picture.residual
    unseen.add(picture)
    forecast.record(bits: bits, qp: qp)
    remaining?.record(bits: bits, qp: qp, isIntra: picture.kind == .intra)
    total += bits
    spent += bits
    elapsed += picture.duration
    // Bits that easy content does not use are not saved up without bound.
    if let rate = settings.targetRate {
      let saving = LookAheadRateControl.longestSaving
      let maximum = secondsLeft != nil && spreadsSavings ? saving.knownEnd : saving.typical
      spent = max(spent, Double(rate) * (elapsed - max(maximum, elapsed * 0.5)))
    }
  }

  /// The most seconds of the bit rate that are saved up, where that is more than half of what was
  /// coded: in a stream with hard limits whose end is known, so that they can be used up by then,
  /// and in others.
  private static let longestSaving = (knownEnd: 10.0, typical: 2.0)

  /// Corrects the time after the last picture has been shown longer than it was expected to be.
  /// - Parameters:
  ///   - seconds: the difference.
  ///   - isInBuffer: whether the buffer filled during that time.
  package mutating func correct(seconds: Double, isInBuffer: Bool) {
    elapsed += seconds
    guard isInBuffer else { return }
    buffer?.pass(seconds: seconds)
    limits.pass(seconds: seconds)
  }

  /// Removes an access unit from the buffer.
  /// - Parameters:
  ///   - bits: its bits, filler data included.
  ///   - seconds: the time until the next one is removed.
  package mutating func remove(bits: Double, seconds: Double) {
    buffer?.remove(bits: bits, seconds: seconds)
    limits.account(bits, duration: seconds)
    joined?.advance(seconds: seconds)
  }
}
