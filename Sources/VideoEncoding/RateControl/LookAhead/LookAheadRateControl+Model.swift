// SPDX-License-Identifier: Apache-2.0

/// The model of bits: what the pictures of the look-ahead and those after it take at a QP.
extension LookAheadRateControl {
  /// Bits that it takes to refine static pictures, which have no residual that would
  /// tell.
  ///
  /// A slightly lower QP costs nothing and changes nothing, since the errors stay within the
  /// quantiser's dead zone. After `stepsOfRefinement` steps the whole picture is coded again, and
  /// that takes about as many bits as an intra picture.
  func refinement(to qp: Double) -> Double {
    guard let visibleQP, qp < visibleQP else { return 0 }
    let part = min((visibleQP - qp) / LookAheadRateControl.stepsOfRefinement, 1)
    return max(intraBits(qp) * part - near(qp), 0)
  }

  /// Bits that the next reference picture would take as an intra picture.
  func intraBits(_ qp: Double) -> Double {
    kinds[0].ratio.value * BitModel.units(nextIntra, qp: qp)
  }

  /// Computes the sums over the look-ahead.
  mutating func measure(_ upcoming: [PictureForecast], isEnding: Bool) {
    for i in ahead.indices { ahead[i] = ResidualHistogram() }
    aheadSeconds = upcoming.reduce(0) { $0 + $1.duration }
    let isEnding = isEnding || endsWithLookAhead
    isNearEnd = isEnding
    var numbers = [0.0, 0.0, 0.0]
    aheadEvidence = upcoming.reduce(0) { $0 + unseen.evidence(of: $1) }
    activeSeconds.ahead = upcoming.reduce(0) { $0 + unseen.activeSeconds(of: $1) }
    for i in treeOffsetFraction.indices { treeOffsetFraction[i] = 0 }
    sinceIntra.known = sinceIntra.coded
    for (n, picture) in upcoming.enumerated() {
      let kind = picture.kind.rawValue
      if picture.kind == .intra { sinceIntra.known = 0 }
      sinceIntra.known += picture.duration
      ahead[kind] += picture.residual
      numbers[kind] += 1
      // Near the end of the stream few pictures are left that refer to this one.
      let after = Double(upcoming.count - 1 - n)
      treeOffsetFraction[kind] += isEnding ? 1 - exp2Approx(-after / LookAheadRateControl.treeHalfLife) : 1
    }
    for i in treeOffsetFraction.indices { treeOffsetFraction[i] /= max(numbers[i], 1) }
    intraPictures.ahead = numbers[0]
  }

  /// The QP at which the stream meets its average or constant bit rate, as far as it may change
  /// from that of the last picture.
  /// - Parameters:
  ///   - count: the number of pictures in the look-ahead.
  ///   - isEnding: whether the stream ends with them.
  package mutating func averageQP(_ count: Int, isEnding: Bool) -> Double {
    let rate = Double(settings.targetRate ?? 0)
    var horizon: Double
    var balance: Double
    if case .constant = settings.rate, let buffer {
      balance = wantedFullness(buffer, isEnding: isEnding) - buffer.fullness
      horizon = max(buffer.size / rate - aheadSeconds, 0)
      // Pictures after the end cannot make up for a deviation.
      if let left = secondsLeft, joined?.hasFramesAfter != true { horizon = min(horizon, left) }
    } else {
      balance = spent - rate * elapsed
      if isEnding {
        horizon = 0
      } else if let expected = settings.expectedDuration, expected > elapsed + aheadSeconds {
        // A deviation that shows only after the horizon leaves time to correct it.
        horizon = min(expected - elapsed - aheadSeconds, max(LookAheadRateControl.longestHorizon, elapsed))
      } else {
        // Saved bits are spent slowly: they were not needed when it came in, and a scene that
        // began with all of it would have to become coarser when it is gone.
        let saved = max(-balance, 0) / max(rate, 1)
        let spending = LookAheadRateControl.spendingTime
        horizon = max(1, elapsed * 0.3, min(saved * spending.perSecond, spending.maximum))
      }
    }
    let wanted = max(rate * (aheadSeconds + horizon) - balance, rate * (aheadSeconds + horizon) * 0.1)
    var low = 0.0
    var high = 51.0
    for _ in 0..<14 {
      let middle = (low + high) / 2
      if demand(middle, horizon: horizon) > wanted { low = middle } else { high = middle }
    }
    var qp = (low + high) / 2
    // The bits that a lower QP would take are kept for pictures not known yet; content that stands
    // still would not look better.
    let isLimited = settings.isConstantRate ? isQuiet : horizon > 0 || refinement(to: qp) > 0
    if isLimited {
      qp = max(qp, unseen.finestQP(rate: rate))
    }
    guard let last else { return qp }
    return paced(qp, last: last, isFast: elapsed < 1 || isEnding, count: count)
  }

  /// Where the duration of the stream is not known: the time in seconds within which each second of
  /// the bit rate that was saved is spent, and the longest time within which all of it is. Savings
  /// of two seconds thus raise the rate by an eighth for 16 s.
  private static let spendingTime = (perSecond: 8.0, maximum: 20.0)

  /// Whether what quiet content saves is spread over the content to come: where the end of the
  /// stream is not known, or hard limits keep it from being made up for later.
  ///
  /// A file at an average rate has neither. It plans for the time that is left, and is encoded
  /// again where that misses the rate; its worst second would be up to 0.8 dB worse.
  var spreadsSavings: Bool { secondsLeft == nil || !limits.isEmpty }

  /// Whether the pictures of the look-ahead have little residual, so that they say little of what
  /// follows.
  private var isQuiet: Bool { aheadEvidence < aheadSeconds * 0.5 }

  /// Bits that the look-ahead and `horizon` seconds of the content expected after it would take at
  /// a QP.
  func demand(_ qp: Double, horizon: Double) -> Double {
    near(qp) + refinement(to: qp) + contentRate(qp, horizon: horizon) * horizon
  }

  /// Bits per second that the content expected after the look-ahead would take at a QP.
  ///
  /// That is the mean of what was coded and of the look-ahead. Black and still pictures count for a
  /// share of their time only: what moves after them is expected to go on, and not to stop for as
  /// long as they lasted. Intra pictures are counted by time, since key frames come by time.
  /// - Parameters:
  ///   - qp: the QP.
  ///   - horizon: the seconds that are meant (`intraFraction`).
  func contentRate(_ qp: Double, horizon: Double) -> Double {
    var all = 0.0
    let seconds = max(contentSeconds + aheadSeconds, 1e-3)
    // A constant rate makes up for a deviation within the time that its buffer holds.
    let isConstant = settings.isConstantRate
    let active =
      isConstant || !spreadsSavings ? seconds : max(activeSeconds.coded + activeSeconds.ahead, 1e-3)
    let intra = intraFraction(horizon: horizon)
    for kind in kinds.indices {
      let learned = kinds[kind]
      let own = qp + LookAheadRateControl.offsets[kind] - learned.meanTreeOffset
      // The pictures so far may span too short a time to tell how often key frames come.
      let time = kind == 0 ? max(seconds, secondsOfKeyFrames) : active
      let bits = learned.bits(ahead[kind], qp: own) + learned.bits(learned.residual, qp: own)
      all += (kind == 0 ? intra : 1) * bits / time
    }
    return isConstant ? all : unseen.rate(observed: all, qp: qp, ahead: aheadEvidence)
  }

  /// Bits that the pictures of the look-ahead would take at a QP.
  func near(_ qp: Double) -> Double {
    kinds.indices.reduce(0) { sum, kind in
      let learned = kinds[kind]
      let own = qp + LookAheadRateControl.offsets[kind] - learned.meanTreeOffset * treeOffsetFraction[kind]
      return sum + learned.bits(ahead[kind], qp: own)
    }
  }

  /// The share of the intra pictures so far that repeats in the rest of the stream, 0 to 1. Where
  /// the stream ends before the next periodic key frame is due, the first one is not repeated, only
  /// those at scene cuts.
  package func intraFraction(horizon: Double) -> Double {
    let count = intraPictures.coded + intraPictures.ahead
    guard let expected = settings.expectedDuration, count > 0,
      expected <= elapsed + aheadSeconds + horizon + 1e-6, sinceIntra.known + horizon < secondsOfKeyFrames
    else { return 1 }
    return max(count - 1, 0) / count
  }

  /// Seconds from one key frame to the next where no scene cut or caller asks for one earlier.
  var secondsOfKeyFrames: Double {
    min(
      Double(settings.mostPicturesOfGroup) / settings.frameRate, settings.keyFrameDuration ?? .infinity)
  }

  /// Forecasts the bits of each picture of the look-ahead at a QP, with the statistics of the
  /// previous pass where there are some.
  mutating func foresee(_ upcoming: [PictureForecast], qp: Double) {
    forecast.begin()
    for picture in upcoming { forecast.append(bits(picture, qp: qp)) }
    if let remaining { forecast.correct(upcoming, by: remaining, qp: qp) }
  }

  /// Bits that a picture would take at a QP, by its residual alone.
  package func bits(_ picture: PictureForecast, qp: Double) -> Double {
    let kind = picture.kind.rawValue
    let learned = kinds[kind]
    return learned.bits(
      picture.residual, qp: qp + LookAheadRateControl.offsets[kind] - learned.meanTreeOffset)
  }
}
