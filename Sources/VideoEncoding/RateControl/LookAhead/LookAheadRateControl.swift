// SPDX-License-Identifier: Apache-2.0

/// A picture that has not been coded yet, described as the rate control needs it.
package struct PictureForecast {
  /// The residual energy of its macroblocks, without the QP offsets of the macroblock tree.
  package var residual: ResidualHistogram
  /// The type of its slices.
  package var kind: Kind
  /// Seconds until the next picture in output order.
  package var duration: Double

  /// The type of a picture's slices; the raw value indexes every array that has one element per
  /// type.
  package enum Kind: Int {
    case intra, predicted, bidirectional
  }

  /// Creates a forecast; the properties describe the parameters.
  package init(residual: ResidualHistogram, kind: Kind, duration: Double) {
    self.residual = residual
    self.kind = kind
    self.duration = duration
  }
}

extension LookAheadSettings {
  /// The settings with `partRate` in place of the average of the stream, where the stream is a part
  /// of another one. Otherwise the settings themselves.
  fileprivate var planned: LookAheadSettings {
    guard let partRate, case .average = rate else { return self }
    var planned = self
    planned.rate = .average(partRate)
    return planned
  }
}

/// Chooses the QP of each picture of a stream that is encoded with a look-ahead, so that the
/// quality is constant as far as the average bit rate and the decoder's buffer allow.
///
/// The QP is the one at which the sum of three amounts is what the bit rate allows: the bits spent
/// so far, the bits that the pictures of the look-ahead are forecast to take, and the bits that
/// pictures like those coded so far would take during a horizon after the look-ahead. The QP
/// therefore changes slowly, and near the end of the stream the bits that are left are known.
package struct LookAheadRateControl {
  /// The statistics of the coded pictures of one type.
  package struct TypeStatistics {
    /// The factor from the units of `BitModel` to bits.
    var ratio = BitRatio()
    /// The bits of macroblocks without a residual, as a share of what `BitModel` has for them, at
    /// most 1. It is learnt from static pictures.
    var stillShare = 1.0
    /// The QP steps by which the offsets of the macroblock tree lower the mean QP of such pictures
    /// below the picture's QP: a moving mean.
    var meanTreeOffset = 0.0
    /// Whether `meanTreeOffset` has been measured on a picture of this type.
    var isFinerKnown = false
    /// The sum of the residual histograms of the coded pictures, which decays with the time
    /// constant `memory`.
    package var residual = ResidualHistogram()

    /// Bits of pictures of this type.
    /// - Parameters:
    ///   - histogram: the residual of one or several pictures.
    ///   - qp: their QP.
    func bits(_ histogram: ResidualHistogram, qp: Double) -> Double {
      let units = BitModel.units(histogram, qp: qp)
      guard stillShare < 1 else { return ratio.value * units }
      return ratio.value * max(units - (1 - stillShare) * BitModel.leastUnits(histogram), 1e-6)
    }

    /// Learns from a static picture.
    /// - Parameters:
    ///   - bits: its bits.
    ///   - units: its units at its QP.
    mutating func learnStill(bits: Double, units: Double) {
      let seen = min(max(bits / (ratio.value * max(units, 1e-6)), 0.01), 1)
      stillShare += (seen - stillShare) * 0.2
    }
  }

  /// The configuration; its bit rate is that of `part` where the stream is a part of another one.
  package var settings: LookAheadSettings
  /// The state of the decoder's buffer; nil where the configuration has none.
  package var buffer: BufferState?
  /// The bits that left the buffer in each window of the hard limits, by removal time.
  var limits: HardLimits
  /// Scratch memory of `allowed`: the forecast bits and the duration in seconds of each picture of
  /// the look-ahead.
  var limitForecast: [(bits: Double, seconds: Double)] = []
  /// Whether the rest of the stream, by the previous pass, needs every bit that the buffer lets
  /// through.
  var needsAllBufferBits = false
  /// The forecast bits of the pictures of the look-ahead at the QP that was tried last.
  var forecast = PassForecast()
  /// The agreement on the buffer's fullness at the joins; nil where no other stream precedes or
  /// follows this one in the same buffer.
  package var joined: JoinedBuffer?
  /// One element per picture type, by the raw value of `PictureForecast.Kind`.
  var kinds = [TypeStatistics(), TypeStatistics(), TypeStatistics()]
  /// The seconds of video that the sums `TypeStatistics.residual` stand for; they decay likewise.
  var contentSeconds = 0.0
  /// The same with still pictures counted for a share of their time
  /// (`UnseenContentModel.activeSeconds(of:)`), and that of the present look-ahead.
  var activeSeconds = (coded: 0.0, ahead: 0.0)
  /// The number of intra pictures in the sums `TypeStatistics.residual`, which decays likewise, and
  /// in the look-ahead.
  var intraPictures = (coded: 0.0, ahead: 0.0)
  /// Seconds from the start of the last intra picture to the end of what was coded, and to the end
  /// of the look-ahead.
  var sinceIntra = (coded: 0.0, known: 0.0)
  /// Bits that count against the average bit rate. A long easy passage cannot lower it without
  /// bound (see `finish`).
  var spent = 0.0
  /// All bits of the stream so far.
  package var total = 0.0
  /// Seconds of video coded so far.
  var elapsed = 0.0
  /// Whether the stream ends with the look-ahead.
  var isNearEnd = false
  /// The QP of the picture planned last, before the offset of its type; nil for the first picture
  /// and after a change of the bit rate.
  package var last: Double?
  /// The same before the QP was raised to fit into the buffer, where a previous pass is known. When
  /// the buffer has room again, the QP continues from this value.
  var lastPassQP: Double?
  /// The residual of the next reference picture if all its macroblocks were intra predicted, with
  /// all its QP offsets.
  var nextIntra = ResidualHistogram()
  /// The QP, before the offset of its type, of the last I or P picture that took at least the share
  /// `coded` of the bits of an intra picture. Pictures since then have copied what it shows.
  package var visibleQP: Double?
  /// Bits that the picture planned last would take as an intra picture.
  var plannedIntraBits = 0.0
  /// The bit rate expected of pictures after the look-ahead.
  var unseen: UnseenContentModel
  /// Seconds of evidence in the present look-ahead (`UnseenContentModel.evidence(of:)`).
  var aheadEvidence = 0.0
  /// The sums of the residual histograms of the present look-ahead, one per picture type, and the
  /// seconds that it lasts.
  package var ahead = [ResidualHistogram(), ResidualHistogram(), ResidualHistogram()]
  var aheadSeconds = 0.0
  /// For each picture type, the share of `TypeStatistics.meanTreeOffset` that its pictures of the
  /// look-ahead have, 0 to 1: near the end of a stream few pictures are left that refer to them.
  var treeOffsetFraction = [1.0, 1.0, 1.0]

  /// QP offsets of I, P and B pictures, in that order. The offsets of the macroblock tree are added
  /// to them.
  package static let offsets = [-2.5, 0, 1]
  /// The time constant in seconds of the moving sums of residuals.
  package static let memory = 30.0
  /// The QP steps from one picture to the next: usually, and in the first second and at the end of
  /// a stream.
  static let pace = (typical: 0.5, fast: 1.5)
  /// The share of the buffer that planning keeps free, for bits that the model does not foresee.
  package static let margin = 0.1
  /// The share of a hard limit that planning keeps free, for bits that the model does not foresee,
  /// and the share of the limit's rate that it keeps for pictures after the look-ahead.
  static let (limitMargin, limitReserve) = (0.02, 0.25)
  /// The number of following pictures that bring half of the cost that the macroblock tree
  /// propagates to a picture.
  static let treeHalfLife = 8.0
  /// The longest horizon in seconds after the look-ahead where the duration of the stream is
  /// known; once more than that has been coded, the horizon may be as long as what was coded.
  static let longestHorizon = 60.0
  /// The QP steps by which the QP must fall until a picture without motion is coded again. The
  /// error after quantisation is at most half a quantiser step; it exceeds the dead zone of inter
  /// prediction, 5/6 of a step, when the step has become 0.6 of what it was.
  static let stepsOfRefinement = 4.5
  /// The share of the bits of an intra picture from which on a picture counts as having coded the
  /// visible content (`visibleQP`).
  package static let coded = 0.15
  /// The share of the buffer that a constant rate aims to keep filled.
  static let constantRateFullness = 0.6

  /// The forecast of the previous pass for the pictures not coded yet; nil without a previous pass.
  var remaining: RemainingPass?

  /// - Parameters:
  ///   - settings: the configuration, validated.
  ///   - pass: the statistics of the previous pass; nil in a first pass.
  ///   - joined: the agreement with the streams that precede or follow this one in the same buffer;
  ///     nil for a stream of its own.
  package init(_ settings: LookAheadSettings, pass: (any PassSource)? = nil, joined: JoinedBuffer? = nil) {
    self.settings = settings.planned
    let geometry = PictureGeometry(
      width: settings.width, height: settings.height)
    unseen = UnseenContentModel(
      macroblocks: geometry.macroblockCount, frameRate: settings.frameRate)
    limits = HardLimits(settings.dataRateLimits)
    self.joined = joined
    let buffer = settings.buffer.map { BufferState($0) }
    self.buffer = buffer
    let end = joined.flatMap { joined in buffer.map { joined.hasFramesAfter ? joined.wanted($0) : 0 } }
    remaining = pass.map { RemainingPass($0, buffer: buffer, end: end ?? 0, isFollowed: true) }
    // The first pictures have to fit into the buffer too: their ratios are taken from the previous
    // pass.
    if buffer != nil, let pass { learn(pass) }
    begin(at: 0)
  }

  /// Whether frames have to fit into a buffer or keep to hard limits.
  package var isLimited: Bool { buffer != nil || !limits.isEmpty }

  /// Learns the ratio of bits to model units of each picture type from the first pictures of a
  /// previous pass.
  package mutating func learn(_ pass: any PassSource) {
    var first = pass.cursor()
    for _ in 0..<LookAheadRateControl.learned {
      guard let picture = first.next() else { return }
      guard picture.bits > 200 else { continue }
      let kind = picture.kind.rawValue
      let units = BitModel.units(picture.residual, qp: picture.qp + LookAheadRateControl.offsets[kind])
      let informativeness = BitModel.informativeness(picture.residual, units: units)
      guard informativeness > BitModel.leastInformativeness else { continue }
      kinds[kind].ratio.learn(
        bits: Double(picture.bits), units: units, weight: 0.1, informativeness: informativeness)
    }
  }
  /// The number of pictures that `learn(_:)` reads.
  static let learned = 100

  /// Sets the time at which this stream begins, in seconds from the start of the movie that it is
  /// joined to.
  package mutating func begin(at seconds: Double) {
    joined?.begin(at: seconds)
    if let joined, let buffer { self.buffer?.begin(fullness: joined.joinFullness(buffer)) }
  }

  /// Changes the configuration from the next picture on.
  package mutating func reconfigure(_ new: LookAheadSettings) {
    let new = new.planned
    if let rate = new.targetRate.map(Double.init), settings.targetRate != new.targetRate {
      if let old = settings.targetRate.map(Double.init) {
        // The saved or overspent bits remain the same number of seconds of the bit rate.
        spent = elapsed * rate + (spent - elapsed * old) * rate / old
        total = elapsed * rate + (total - elapsed * old) * rate / old
      } else {
        // With constant quality there is no target rate, so no bits were saved or overspent.
        spent = elapsed * rate
        total = spent
      }
      (last, lastPassQP, visibleQP) = (nil, nil, nil)
    }
    if let limit = new.buffer {
      if buffer == nil { buffer = BufferState(limit) } else { buffer?.change(to: limit) }
    } else {
      buffer = nil
    }
    if new.dataRateLimits != settings.dataRateLimits {
      limits.change(to: new.dataRateLimits)
    }
    settings = new
  }

  // MARK: - Planning

  /// Chooses the QP of the next picture.
  /// - Parameters:
  ///   - upcoming: the pictures whose bits are not known yet, in decoding order: those being coded,
  ///     the next one and those after it.
  ///   - intra: the residual of the next reference picture if all its macroblocks were intra
  ///     predicted, with all its QP offsets.
  ///   - isEnding: whether the stream ends with these pictures.
  /// - Returns: the QP without the offset of the picture's type.
  package mutating func plan(
    _ upcoming: [PictureForecast], intra: ResidualHistogram, isEnding: Bool
  ) -> Double {
    var qp: Double
    nextIntra = intra
    needsAllBufferBits = false
    switch settings.rate {
    case .constantQP(let constant): return Double(constant)
    case .quality(let quality): qp = quality
    case .average, .constant:
      measure(upcoming, isEnding: isEnding)
      if let remembered = passQP(isEnding: isEnding) {
        lastPassQP = remembered
        qp = remembered
      } else {
        qp = averageQP(upcoming.count, isEnding: isNearEnd)
      }
    }
    if let buffer { qp = fitting(qp, upcoming, buffer, isEnding: isEnding) }
    if !limits.isEmpty { qp = allowed(qp, upcoming) }
    qp = min(max(qp, Double(settings.minimumQP)), Double(settings.maximumQP))
    if let remaining, isLimited {
      foresee(upcoming, qp: qp)
      forecast.plan(remaining, upcoming, qp: qp)
    }
    last = qp
    plannedIntraBits = intraBits(qp)
    return qp
  }

  /// The QP at which the rest of the stream takes the bits that are left, by the statistics of the
  /// previous pass; nil where there are none or the rate is not an average.
  mutating func passQP(isEnding: Bool) -> Double? {
    guard case .average = settings.rate, let remaining, !remaining.isFinished else { return nil }
    let rate = Double(settings.targetRate ?? 0)
    let share = rate * remaining.seconds
    let wanted = max(rate * (elapsed + remaining.seconds) - total, share * 0.2)
    var qp: Double
    (qp, needsAllBufferBits) = remaining.plan(bits: wanted, buffer: buffer)
    guard let last = lastPassQP ?? last else { return qp }
    if qp < last, refinement(to: qp) > 0 {
      // The pass does not say how many bits it takes to refine static pictures.
      var low = qp
      var high = last
      for _ in 0..<5 {
        let middle = (low + high) / 2
        let left = max(wanted - refinement(to: middle), 0)
        if remaining.plan(bits: left, buffer: buffer).qp > middle { low = middle } else { high = middle }
      }
      // Errors at a QP below that are not visible.
      qp = max(high, min(last, unseen.finestQP(rate: rate)))
    }
    // In the last second there is no time to return slowly.
    let isLate = isEnding || remaining.seconds < 1
    return paced(qp, last: last, isFast: isLate, count: LookAheadRateControl.pictures)
  }

  /// Limits the change of the QP from one picture to the next.
  /// - Parameters:
  ///   - wanted: the QP to approach.
  ///   - last: the QP of the last picture.
  ///   - isFast: whether to use the faster pace, where no time is left to approach slowly.
  ///   - count: the number of pictures within which the QP falls to `wanted`; it rises in half as
  ///     many.
  /// - Returns: a QP between `last` and `wanted`.
  func paced(_ wanted: Double, last: Double, isFast: Bool, count: Int) -> Double {
    let pace = isFast ? LookAheadRateControl.pace.fast : LookAheadRateControl.pace.typical
    let up = max(pace, 2 * (wanted - last) / Double(max(count, 1)))
    let down = max(pace, (last - wanted) / Double(max(count, 1)))
    return min(max(wanted, last - down), last + up)
  }
  /// The value of `count` where a previous pass is known.
  package static let pictures = 20

  /// Seconds of the stream after the look-ahead; nil where the duration is not known, or was
  /// exceeded and so was wrong.
  var secondsLeft: Double? {
    guard let expected = settings.expectedDuration else { return nil }
    let left = expected - elapsed - aheadSeconds
    return left > -max(2 / settings.frameRate, expected * 0.01) ? max(left, 0) : nil
  }

  /// Whether the look-ahead reaches the end of a stream whose duration is known. It is derived from
  /// the duration because a caller that completes frames does not say whether others will follow.
  var endsWithLookAhead: Bool {
    secondsLeft.map { $0 < 1 / settings.frameRate } ?? false
  }

  /// Whether the plan of the next picture should wait until all pictures in flight have their final
  /// size. That is so in the first seconds and at the end of a stream: the bits of a few pictures
  /// would miss the average rate by percent there.
  package var needsAllKnown: Bool { elapsed < LookAheadRateControl.begin || isNearEnd }
  /// Seconds that count as the first ones.
  package static let begin = 10.0
}
