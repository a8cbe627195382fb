// SPDX-License-Identifier: Apache-2.0

/// A picture that has not been coded yet, described as the rate control needs it.
struct PictureForecast {
  /// The residual energy of its macroblocks, without the QP offsets of the macroblock tree.
  var residual: ResidualHistogram
  /// The type of its slices.
  var kind: Kind
  /// Seconds until the next picture in output order.
  var duration: Double

  /// The type of a picture's slices; the raw value indexes every array that has one element per
  /// type.
  enum Kind: Int {
    case intra, predicted, bidirectional
  }
}

extension H264EncoderConfiguration {
  /// The configuration with the bit rate of `part` in place of the average of the stream, where the
  /// stream is a part of another one. Otherwise the configuration itself.
  fileprivate var planned: H264EncoderConfiguration {
    guard let part = lookAhead.part, case .average = lookAhead.rate else { return self }
    var planned = self
    planned.lookAhead.rate = .average(part.rate)
    return planned
  }
}

/// Chooses the QP of each picture of a stream that is encoded with a look-ahead, so that the
/// quality is constant as far as the average bit rate and the decoder's buffer allow.
///
/// The QP is the one at which the sum of three amounts is what the bit rate allows: the bits spent
/// so far, the bits that the pictures of the look-ahead are forecast to take, and the bits that
/// pictures like those coded so far would take during a horizon behind the look-ahead. The QP
/// therefore changes slowly, and near the end of the stream the bits that are left are known.
struct LookAheadRateControl {
  /// What has been learned from the coded pictures of one type.
  private struct Learned {
    /// The factor from the units of `BitModel` to bits.
    var ratio = BitRatio()
    /// The QP steps by which the offsets of the macroblock tree lower the mean QP of such pictures
    /// below the picture's QP: a moving mean.
    var finer = 0.0
    /// Whether `finer` has been measured on a picture of this type.
    var isFinerKnown = false
    /// The sum of the residual histograms of the coded pictures, which decays with the time
    /// constant `memory`.
    var residual = ResidualHistogram()
  }

  /// The configuration; its bit rate is that of `part` where the stream is a part of another one.
  private var configuration: H264EncoderConfiguration
  /// The state of the decoder's buffer; nil where the configuration has none.
  private(set) var buffer: BufferState?
  /// The bits that left the buffer in each window of the hard limits, by removal time.
  private var limits: HardLimits
  /// Scratch memory of `allowed`: the forecast bits and the duration in seconds of each picture of
  /// the look-ahead.
  private var trial: [(bits: Double, seconds: Double)] = []
  /// Whether the rest of the stream, by the previous pass, needs every bit that the buffer lets
  /// through.
  private var takesAll = false
  /// The forecast bits of the pictures of the look-ahead at the QP that was tried last.
  private var foresight = PassForecast()
  /// The agreement on the buffer's fullness at the joins; nil where no other stream precedes or
  /// follows this one in the same buffer.
  private(set) var joined: JoinedBuffer?
  /// One element per picture type, by the raw value of `PictureForecast.Kind`.
  private var kinds = [Learned(), Learned(), Learned()]
  /// The seconds of video that the sums `Learned.residual` stand for; they decay likewise.
  private var contentSeconds = 0.0
  /// The number of intra pictures in the sums `Learned.residual`, which decays likewise, and in the
  /// look-ahead.
  private var intraPictures = (coded: 0.0, ahead: 0.0)
  /// Seconds from the start of the last intra picture to the end of what was coded, and to the end
  /// of the look-ahead.
  private var sinceIntra = (coded: 0.0, known: 0.0)
  /// Bits that count against the average bit rate. A long easy passage cannot lower it without
  /// bound (see `finish`).
  private var spent = 0.0
  /// All bits of the stream so far.
  private var total = 0.0
  /// Seconds of video coded so far.
  private var elapsed = 0.0
  /// Whether the stream ends with the look-ahead.
  private var isNearEnd = false
  /// The QP of the picture planned last, before the offset of its type; nil for the first picture
  /// and after a change of the bit rate.
  private var last: Double?
  /// The same before the QP was raised to fit into the buffer, where a previous pass is known. When
  /// the buffer has room again, the QP goes on from this value.
  private var lastRemembered: Double?
  /// The residual of the next reference picture if all its macroblocks were intra predicted, with
  /// all its QP offsets.
  private var nextIntra = ResidualHistogram()
  /// The QP, before the offset of its type, of the last I or P picture that took at least the share
  /// `coded` of the bits of an intra picture. Pictures since then have copied what it shows.
  private var shown: Double?
  /// Bits that the picture planned last would take as an intra picture.
  private var plannedIntraBits = 0.0
  /// The bit rate expected of pictures behind the look-ahead.
  private var unseen: UnseenContentModel
  /// Seconds of evidence in the present look-ahead (`UnseenContentModel.evidence(of:)`).
  private var aheadEvidence = 0.0
  /// The sums of the residual histograms of the present look-ahead, one per picture type, and the
  /// seconds that it lasts.
  private var ahead = [ResidualHistogram(), ResidualHistogram(), ResidualHistogram()]
  private var aheadSeconds = 0.0
  /// For each picture type, the share of `Learned.finer` that its pictures of the look-ahead have,
  /// 0 to 1: near the end of a stream few pictures are left that refer to them.
  private var inheritance = [1.0, 1.0, 1.0]

  /// QP offsets of I, P and B pictures, in that order. The offsets of the macroblock tree come on
  /// top.
  static let offsets = [-2.5, 0, 1]
  /// The time constant in seconds of the moving sums of residuals.
  private static let memory = 30.0
  /// The QP steps from one picture to the next: usually, and in the first second and at the end of
  /// a stream.
  private static let pace = (usual: 0.5, fast: 1.5)
  /// The share of the buffer that planning keeps free, for bits that the model does not foresee.
  private static let margin = 0.1
  /// The share of a hard limit that planning keeps free, for bits that the model does not foresee,
  /// and the share of the limit's rate that it keeps for pictures behind the look-ahead.
  private static let (limitMargin, limitReserve) = (0.02, 0.25)
  /// The number of following pictures that bring half of the cost that the macroblock tree
  /// propagates to a picture.
  private static let heirs = 8.0
  /// The longest horizon in seconds behind the look-ahead where the duration of the stream is
  /// known; once more than that has been coded, the horizon may be as long as what was coded.
  private static let farthest = 60.0
  /// The model's units per macroblock from which on a picture counts in full for `Learned.ratio`.
  private static let informativeUnits = 0.01
  /// The QP steps by which the QP must fall until a picture without motion is coded anew. The error
  /// after quantisation is at most half a quantiser step; it exceeds the dead zone of inter
  /// prediction, 5/6 of a step, when the step has become 0.6 of what it was.
  private static let stepsOfRefinement = 4.5
  /// The share of the bits of an intra picture from which on a picture counts as having coded the
  /// visible content (`shown`).
  private static let coded = 0.15
  /// The share of the buffer that a constant rate aims to keep filled.
  private static let comfort = 0.6

  /// What the previous pass says of the pictures not coded yet; nil without a previous pass.
  private var remaining: RemainingPass?

  /// - Parameters:
  ///   - configuration: the configuration, validated.
  ///   - pass: the statistics of the previous pass; nil in a first pass.
  ///   - joined: the agreement with the streams that precede or follow this one in the same buffer;
  ///     nil for a stream of its own.
  init(_ configuration: H264EncoderConfiguration, pass: (any PassSource)? = nil, joined: JoinedBuffer? = nil)
  {
    self.configuration = configuration.planned
    let geometry = PictureGeometry(
      width: configuration.width, height: configuration.height)
    unseen = UnseenContentModel(
      macroblocks: geometry.macroblockCount, frameRate: configuration.frameRate)
    limits = HardLimits(configuration.dataRateLimits)
    self.joined = joined
    let buffer = configuration.lookAhead.buffer.map { BufferState($0) }
    self.buffer = buffer
    let end = joined.flatMap { joined in buffer.map { joined.hasFramesAfter ? joined.wanted($0) : 0 } }
    remaining = pass.map { RemainingPass($0, buffer: buffer, end: end ?? 0, isFollowed: true) }
    // The first pictures have to fit into the buffer too: their ratios are taken from the previous
    // pass.
    if buffer != nil, let pass { learn(pass) }
    begin(at: 0)
  }

  /// Whether frames have to fit into a buffer or keep to hard limits.
  var isLimited: Bool { buffer != nil || !limits.isEmpty }

  /// Learns the ratio of bits to model units of each picture type from the first pictures of a
  /// previous pass.
  private mutating func learn(_ pass: any PassSource) {
    var first = pass.cursor()
    for _ in 0..<LookAheadRateControl.learned {
      guard let picture = first.next() else { return }
      guard picture.bits > 200 else { continue }
      let kind = picture.kind.rawValue
      let units = BitModel.units(picture.residual, qp: picture.qp + LookAheadRateControl.offsets[kind])
      kinds[kind].ratio.learn(bits: Double(picture.bits), units: units, weight: 0.1)
    }
  }
  /// The number of pictures that `learn(_:)` reads.
  private static let learned = 100

  /// Sets the time at which this stream begins, in seconds from the start of the movie that it is
  /// joined to.
  mutating func begin(at seconds: Double) {
    joined?.begin(at: seconds)
    if let joined, let buffer { self.buffer?.begin(fullness: joined.agreed(buffer)) }
  }

  /// Changes the configuration from the next picture on.
  mutating func reconfigure(_ new: H264EncoderConfiguration) {
    let new = new.planned
    if let rate = new.targetRate.map(Double.init), configuration.targetRate != new.targetRate {
      if let old = configuration.targetRate.map(Double.init) {
        // What was saved or overspent remains the same number of seconds of the bit rate.
        spent = elapsed * rate + (spent - elapsed * old) * rate / old
        total = elapsed * rate + (total - elapsed * old) * rate / old
      } else {
        // Constant quality owes no bits.
        spent = elapsed * rate
        total = spent
      }
      (last, lastRemembered, shown) = (nil, nil, nil)
    }
    if let limit = new.lookAhead.buffer {
      if buffer == nil { buffer = BufferState(limit) } else { buffer?.change(to: limit) }
    } else {
      buffer = nil
    }
    if new.dataRateLimits != configuration.dataRateLimits {
      limits.change(to: new.dataRateLimits)
    }
    configuration = new
  }

  // MARK: - Planning

  /// Chooses the QP of the next picture.
  /// - Parameters:
  ///   - upcoming: the pictures whose bits are not known yet, in decoding order: those being coded,
  ///     the next one and those behind it.
  ///   - intra: the residual of the next reference picture if all its macroblocks were intra
  ///     predicted, with all its QP offsets.
  ///   - isEnding: whether the stream ends with these pictures.
  /// - Returns: the QP without the offset of the picture's type.
  mutating func plan(
    _ upcoming: [PictureForecast], intra: ResidualHistogram, isEnding: Bool
  ) -> Double {
    var qp: Double
    nextIntra = intra
    takesAll = false
    switch configuration.lookAhead.rate {
    case .constantQP(let constant): return Double(constant)
    case .quality(let quality): qp = quality
    case .average, .constant:
      measure(upcoming, isEnding: isEnding)
      if let remembered = rememberedQP(isEnding: isEnding) {
        lastRemembered = remembered
        qp = remembered
      } else {
        qp = averageQP(upcoming.count, isEnding: isNearEnd)
      }
    }
    if let buffer { qp = fitting(qp, upcoming, buffer, isEnding: isEnding) }
    if !limits.isEmpty { qp = allowed(qp, upcoming) }
    qp = min(max(qp, Double(configuration.minimumQP)), Double(configuration.maximumQP))
    if let remaining, isLimited {
      foresee(upcoming, qp: qp)
      foresight.plan(remaining, upcoming, qp: qp)
    }
    last = qp
    plannedIntraBits = intraBits(qp)
    return qp
  }

  /// The QP at which the rest of the stream takes the bits that are left, by the statistics of the
  /// previous pass; nil where there are none or the rate is no average.
  private mutating func rememberedQP(isEnding: Bool) -> Double? {
    guard case .average = configuration.lookAhead.rate, let remaining, !remaining.isOver else { return nil }
    let rate = Double(configuration.targetRate ?? 0)
    let share = rate * remaining.seconds
    let wanted = max(rate * (elapsed + remaining.seconds) - total, share * 0.2)
    var qp: Double
    (qp, takesAll) = remaining.plan(bits: wanted, buffer: buffer)
    guard let last = lastRemembered ?? last else { return qp }
    if qp < last, refinement(to: qp) > 0 {
      // The pass does not say how many bits it takes to refine pictures that stand still.
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
  private func paced(_ wanted: Double, last: Double, isFast: Bool, count: Int) -> Double {
    let pace = isFast ? LookAheadRateControl.pace.fast : LookAheadRateControl.pace.usual
    let up = max(pace, 2 * (wanted - last) / Double(max(count, 1)))
    let down = max(pace, (last - wanted) / Double(max(count, 1)))
    return min(max(wanted, last - down), last + up)
  }
  /// The value of `count` where a previous pass is known.
  private static let pictures = 20

  /// Bits that it takes to refine pictures that stand still, which have no residual that would
  /// tell.
  ///
  /// A slightly lower QP costs nothing and changes nothing, since the errors stay within the
  /// quantiser's dead zone. After `stepsOfRefinement` steps the whole picture is coded anew, and
  /// that takes about as many bits as an intra picture.
  private func refinement(to qp: Double) -> Double {
    guard let shown, qp < shown else { return 0 }
    let part = min((shown - qp) / LookAheadRateControl.stepsOfRefinement, 1)
    return max(intraBits(qp) * part - near(qp), 0)
  }

  /// Bits that the next reference picture would take as an intra picture.
  private func intraBits(_ qp: Double) -> Double {
    kinds[0].ratio.value * BitModel.units(nextIntra, qp: qp)
  }

  /// Computes the sums over the look-ahead.
  private mutating func measure(_ upcoming: [PictureForecast], isEnding: Bool) {
    for i in ahead.indices { ahead[i] = ResidualHistogram() }
    aheadSeconds = upcoming.reduce(0) { $0 + $1.duration }
    let isEnding = isEnding || endsWithLookAhead
    isNearEnd = isEnding
    var numbers = [0.0, 0.0, 0.0]
    aheadEvidence = upcoming.reduce(0) { $0 + unseen.evidence(of: $1) }
    for i in inheritance.indices { inheritance[i] = 0 }
    sinceIntra.known = sinceIntra.coded
    for (n, picture) in upcoming.enumerated() {
      let kind = picture.kind.rawValue
      if picture.kind == .intra { sinceIntra.known = 0 }
      sinceIntra.known += picture.duration
      ahead[kind] += picture.residual
      numbers[kind] += 1
      // Near the end of the stream few pictures are left that refer to this one.
      let after = Double(upcoming.count - 1 - n)
      inheritance[kind] += isEnding ? 1 - exp2Approx(-after / LookAheadRateControl.heirs) : 1
    }
    for i in inheritance.indices { inheritance[i] /= max(numbers[i], 1) }
    intraPictures.ahead = numbers[0]
  }

  /// The QP at which the stream meets its average or constant bit rate, as far as it may change
  /// from that of the last picture.
  /// - Parameters:
  ///   - count: the number of pictures in the look-ahead.
  ///   - isEnding: whether the stream ends with them.
  private mutating func averageQP(_ count: Int, isEnding: Bool) -> Double {
    let rate = Double(configuration.targetRate ?? 0)
    var horizon: Double
    var balance: Double
    if case .constant = configuration.lookAhead.rate, let buffer {
      balance = wantedFullness(buffer, isEnding: isEnding) - buffer.fullness
      horizon = max(buffer.size / rate - aheadSeconds, 0)
      // Pictures after the end cannot make up for a deviation.
      if let left = secondsLeft, joined?.hasFramesAfter != true { horizon = min(horizon, left) }
    } else {
      balance = spent - rate * elapsed
      if isEnding {
        horizon = 0
      } else if let expected = configuration.lookAhead.expectedDuration, expected > elapsed + aheadSeconds {
        // A deviation that shows only after the horizon leaves time to correct it.
        horizon = min(expected - elapsed - aheadSeconds, max(LookAheadRateControl.farthest, elapsed))
      } else {
        horizon = max(1, elapsed * 0.3)
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
    if horizon > 0 || refinement(to: qp) > 0,
      case .average = configuration.lookAhead.rate
    {
      qp = max(qp, unseen.finestQP(rate: rate))
    }
    guard let last else { return qp }
    return paced(qp, last: last, isFast: elapsed < 1 || isEnding, count: count)
  }

  /// Bits that a constant rate aims to leave in the decoder's buffer behind the look-ahead: usually
  /// `comfort` of its size, as room for larger and smaller pictures. Towards the end of a stream
  /// whose duration is known, the fullness that the buffer began with, so that the size of the
  /// stream corresponds to the rate.
  private func wantedFullness(_ buffer: BufferState, isEnding: Bool) -> Double {
    if isEnding, let joined, joined.hasFramesAfter { return joined.wanted(buffer) }
    let middle = buffer.size * LookAheadRateControl.comfort
    guard joined?.hasFramesAfter != true, let left = secondsLeft else { return middle }
    let share = max(1 - left * buffer.rate / (LookAheadRateControl.returning * buffer.size), 0)
    return middle + (buffer.agreedFullness - middle) * share
  }
  /// The time within which the fullness returns to its initial value, as a multiple of the time
  /// that the buffer takes to fill.
  private static let returning = 4.0

  /// Seconds of the stream behind the look-ahead; nil where the duration is not known, or was
  /// exceeded and so was wrong.
  private var secondsLeft: Double? {
    guard let expected = configuration.lookAhead.expectedDuration else { return nil }
    let left = expected - elapsed - aheadSeconds
    return left > -max(2 / configuration.frameRate, expected * 0.01) ? max(left, 0) : nil
  }

  /// Whether the look-ahead reaches the end of a stream whose duration is known. It is derived from
  /// the duration because a caller that completes frames does not say whether others will follow.
  private var endsWithLookAhead: Bool {
    secondsLeft.map { $0 < 1 / configuration.frameRate } ?? false
  }

  /// Bits that the look-ahead and `horizon` seconds of the content expected behind it would take at
  /// a QP.
  private func demand(_ qp: Double, horizon: Double) -> Double {
    var all = 0.0
    let seconds = max(contentSeconds + aheadSeconds, 1e-3)
    let intra = intraShare(horizon: horizon)
    for kind in kinds.indices {
      let learned = kinds[kind]
      let own = qp + LookAheadRateControl.offsets[kind] - learned.finer
      // The pictures so far may span too short a time to tell how often key frames come.
      let time = kind == 0 ? max(seconds, secondsOfKeyFrames) : seconds
      let units = BitModel.units(ahead[kind], qp: own) + BitModel.units(learned.residual, qp: own)
      all += learned.ratio.value * (kind == 0 ? intra : 1) * units / time
    }
    // A constant rate makes up for a deviation within the time that its buffer holds.
    if !configuration.isConstantRate {
      all = unseen.rate(observed: all, qp: qp, ahead: aheadEvidence)
    }
    return near(qp) + refinement(to: qp) + all * horizon
  }

  /// Bits that the pictures of the look-ahead would take at a QP.
  private func near(_ qp: Double) -> Double {
    kinds.indices.reduce(0) { sum, kind in
      let learned = kinds[kind]
      let own = qp + LookAheadRateControl.offsets[kind] - learned.finer * inheritance[kind]
      return sum + learned.ratio.value * BitModel.units(ahead[kind], qp: own)
    }
  }

  /// The share of the intra pictures so far that repeats in the rest of the stream, 0 to 1. Where
  /// the stream ends before the next periodic key frame is due, the first one is not repeated, only
  /// those at scene cuts.
  private func intraShare(horizon: Double) -> Double {
    let count = intraPictures.coded + intraPictures.ahead
    guard let expected = configuration.lookAhead.expectedDuration, count > 0,
      expected <= elapsed + aheadSeconds + horizon + 1e-6, sinceIntra.known + horizon < secondsOfKeyFrames
    else { return 1 }
    return max(count - 1, 0) / count
  }

  /// Seconds from one key frame to the next where no scene cut or caller asks for one earlier.
  private var secondsOfKeyFrames: Double {
    let interval = configuration.keyFrameInterval ?? LookAheadQueue.usualInterval
    return min(
      Double(interval) / configuration.frameRate, configuration.lookAhead.keyFrameDuration ?? .infinity)
  }

  /// Forecasts the bits of each picture of the look-ahead at a QP, with the statistics of the
  /// previous pass where there are some.
  private mutating func foresee(_ upcoming: [PictureForecast], qp: Double) {
    foresight.begin()
    for picture in upcoming { foresight.append(bits(picture, qp: qp)) }
    if let remaining { foresight.correct(upcoming, by: remaining, qp: qp) }
  }

  /// Bits that a picture would take at a QP, by its residual alone.
  private func bits(_ picture: PictureForecast, qp: Double) -> Double {
    let kind = picture.kind.rawValue
    let learned = kinds[kind]
    return learned.ratio.value
      * BitModel.units(picture.residual, qp: qp + LookAheadRateControl.offsets[kind] - learned.finer)
  }

  /// The lowest QP, from `wanted` upwards, at which no picture of the look-ahead empties the
  /// buffer. Where the rest of the stream needs all bits that the buffer lets through, `filling`
  /// may lower it again.
  /// - Parameters:
  ///   - wanted: the QP that the bit rate or the quality asks for.
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - buffer: the buffer's state before the first of them.
  ///   - isEnding: whether the stream ends with them.
  private mutating func fitting(
    _ wanted: Double, _ upcoming: [PictureForecast], _ buffer: BufferState, isEnding: Bool
  ) -> Double {
    let end = endFullness(buffer, seconds: upcoming.reduce(0) { $0 + $1.duration }, isEnding: isEnding)
    var qp = wanted
    while qp < 51, !fits(upcoming, buffer, qp: qp, end: end) { qp += 0.5 }
    qp = min(qp, 51)
    guard remaining?.expected(0, qp: qp) != nil else { return qp }
    // Where all bits that arrive are needed, half a step too much would waste some of them.
    for step in [0.25, 0.125] where qp - step > wanted && fits(upcoming, buffer, qp: qp - step, end: end) {
      qp -= step
    }
    return takesAll ? filling(qp, upcoming, buffer) : qp
  }

  /// Whether the pictures of the look-ahead fit into the buffer at a QP.
  /// - Parameters:
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - buffer: the buffer's state before the first of them.
  ///   - qp: the QP without the offset of the picture type.
  ///   - end: the bits that have to be in the buffer behind them; nil: any number.
  private mutating func fits(
    _ upcoming: [PictureForecast], _ buffer: BufferState, qp: Double, end: Double?
  ) -> Bool {
    let margin = buffer.size * LookAheadRateControl.margin
    var state = buffer
    foresee(upcoming, qp: qp)
    for (n, picture) in upcoming.enumerated() {
      let taken = foresight.bits[n]
      // For later pictures the QP can still be raised: half the margin is enough.
      let least = n == 0 ? min(margin, state.fullness * 0.3) : margin * 0.5
      if taken > state.fullness - least { return false }
      state.remove(bits: taken, seconds: picture.duration)
    }
    return end.map { state.fullness >= $0 } ?? true
  }

  /// Lowers the QP of the first picture so that it also uses the bits that would overflow the
  /// buffer during the next pictures.
  /// - Parameters:
  ///   - planned: the QP to start from.
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - buffer: the buffer's state before the first of them.
  /// - Returns: `planned` or less, at least 0.5.
  private mutating func filling(_ planned: Double, _ upcoming: [PictureForecast], _ buffer: BufferState)
    -> Double
  {
    foresee(upcoming, qp: planned)
    var state = buffer
    var lost = 0.0
    for (n, picture) in upcoming.prefix(PassForecast.reach).enumerated() {
      lost += state.remove(bits: foresight.bits[n], seconds: picture.duration)
    }
    guard lost > 0, let first = foresight.bits.first, first > 0 else { return planned }
    let wanted = min(first + lost, buffer.fullness * 0.5)
    var qp = planned
    while qp > max(planned - LookAheadRateControl.farthestDown, 0.5), foresight.bits[0] < wanted {
      qp -= 0.5
      foresee(upcoming, qp: qp)
    }
    return qp
  }

  /// The most QP steps by which `filling` lowers the QP.
  private static let farthestDown = 4.0

  /// The lowest QP, from `wanted` upwards, at which the pictures of the look-ahead keep to the hard
  /// limits; 51 if there is none.
  private mutating func allowed(_ wanted: Double, _ upcoming: [PictureForecast]) -> Double {
    var qp = wanted
    while qp < 51 {
      trial.removeAll(keepingCapacity: true)
      foresee(upcoming, qp: qp)
      for (n, picture) in upcoming.enumerated() { trial.append((foresight.bits[n], picture.duration)) }
      let fits = limits.allow(
        trial, margin: LookAheadRateControl.limitMargin, reserve: LookAheadRateControl.limitReserve)
      if fits { return qp }
      qp += 0.5
    }
    return 51
  }

  /// Bits that have to be in the buffer behind the look-ahead, where another stream follows in the
  /// same buffer.
  ///
  /// That is the agreed fullness less what the rest of this stream lets arrive. Where the duration
  /// is not known, it is the agreed fullness itself, as long as the look-ahead is too short to fill
  /// the buffer that far by itself.
  /// - Parameters:
  ///   - buffer: the buffer's state.
  ///   - seconds: the duration of the look-ahead.
  ///   - isEnding: whether the stream ends with the look-ahead.
  /// - Returns: nil where there is no such demand.
  private func endFullness(_ buffer: BufferState, seconds: Double, isEnding: Bool) -> Double? {
    guard let joined, joined.hasFramesAfter else { return nil }
    let end = joined.wanted(buffer)
    if isEnding { return end }
    var left: Double?
    if let remaining, !remaining.isOver {
      left = remaining.seconds - seconds
    } else if let expected = configuration.lookAhead.expectedDuration {
      left = expected - elapsed - seconds
    }
    guard let left else { return seconds * buffer.rate < 2 * end ? end : nil }
    let needed = end - max(left, 0) * buffer.rate * LookAheadRateControl.refill
    return needed > 0 ? needed : nil
  }

  /// The share of the bits arriving behind the look-ahead that may count towards the agreed
  /// fullness; pictures take the rest.
  private static let refill = 0.5

  /// Whether the plan of the next picture should wait until all pictures in flight have their final
  /// size. That is so in the first seconds and at the end of a stream: the bits of a few pictures
  /// would miss the average rate by percent there.
  var needsAllKnown: Bool { elapsed < LookAheadRateControl.begin || isNearEnd }
  /// Seconds that count as the first ones.
  private static let begin = 10.0

  // MARK: - Results

  /// The bits that the first of the given pictures may take.
  /// - Parameters:
  ///   - upcoming: the pictures not coded yet, in decoding order.
  ///   - intervals: seconds from the removal of each of them from the buffer to that of the next.
  /// - Returns: nil where there is neither a buffer nor a hard limit.
  func room(_ upcoming: [PictureForecast], intervals: [Double]) -> Double? {
    let left = limits.room(duration: intervals.first ?? 0, reserve: LookAheadRateControl.limitReserve)
    guard let buffer else { return left }
    return min(joined?.room(upcoming, intervals: intervals, buffer) ?? buffer.fullness, left ?? .infinity)
  }

  /// The bits that the buffer may hold when the next picture is removed; filler data takes the
  /// rest.
  /// - Parameters:
  ///   - isLast: whether the picture just coded is the last one of the stream.
  ///   - seconds: from its removal to the next one.
  /// - Returns: the size of the buffer, or the agreed fullness after the last picture of a constant
  ///   rate that another stream follows; nil without a buffer.
  func most(isLast: Bool, seconds: Double) -> Double? {
    guard let buffer else { return nil }
    guard isLast, var joined, joined.isConstant, joined.hasFramesAfter else { return buffer.size }
    joined.advance(seconds: seconds)
    return joined.agreed(buffer)
  }

  /// The bits by which the buffer's fullness after the last picture misses the agreed one. With an
  /// average rate only a lower fullness counts.
  var miss: Double {
    guard let buffer, let joined, joined.hasFramesAfter else { return 0 }
    let over = buffer.fullness - joined.agreed(buffer)
    // Times are sums of floating-point numbers: less than half a bit is rounding.
    return abs(over) < 0.5 ? 0 : joined.isConstant ? abs(over) : max(-over, 0)
  }

  /// Learns from a picture that was coded.
  /// - Parameters:
  ///   - bits: the bits of its access unit.
  ///   - qp: the QP that it was coded with, without the offset of its type.
  ///   - picture: its forecast, whose residual has no offsets of the macroblock tree.
  ///   - cascaded: the offset of the quality cascade, in QP steps, which is a part of its offset
  ///     beyond that of its type.
  ///   - final: its residual with all QP offsets of its macroblocks.
  mutating func finish(
    bits: Double, qp: Double, picture: PictureForecast, cascaded: Double, final: ResidualHistogram
  ) {
    let kind = picture.kind.rawValue
    let own = qp + LookAheadRateControl.offsets[kind]
    if picture.kind != .bidirectional, bits > plannedIntraBits * LookAheadRateControl.coded { shown = qp }
    let units = BitModel.units(final, qp: own + cascaded)
    // The bits of a picture without a residual in the model (black, still, or a fade that weighted
    // prediction predicts) say nothing of those that have one.
    let informativeness = min(
      units / max(Double(final.counts.sum()), 1) / LookAheadRateControl.informativeUnits, 1)
    if bits > 200, informativeness > 0.01 {
      // Near the end, the last pictures are the best guess for those that are left.
      let isFast = elapsed < 1 || isNearEnd
      kinds[kind].ratio.learn(
        bits: bits, units: units, weight: (isFast ? 0.3 : 0.1) * informativeness)
      for other in kind + 1..<max(kinds.count, kind + 1) where !kinds[other].ratio.isKnown {
        kinds[other].ratio = BitRatio(guess: kinds[kind].ratio, by: 0.3)
      }
    }
    let finer = own - BitModel.qp(picture.residual, units: BitModel.units(final, qp: own))
    if finer.isFinite, abs(finer) < 20, informativeness > 0.01 {
      kinds[kind].finer +=
        (finer - kinds[kind].finer) * (kinds[kind].isFinerKnown ? 0.1 * informativeness : 1)
      if bits > 200 { kinds[kind].isFinerKnown = true }
    }
    let keep = Float(max(1 - picture.duration / LookAheadRateControl.memory, 0.5))
    for i in kinds.indices { kinds[i].residual.counts *= keep }
    contentSeconds = contentSeconds * Double(keep) + picture.duration
    intraPictures.coded = intraPictures.coded * Double(keep) + (picture.kind == .intra ? 1 : 0)
    sinceIntra.coded = (picture.kind == .intra ? 0 : sinceIntra.coded) + picture.duration
    kinds[kind].residual += picture.residual
    unseen.note(picture)
    foresight.note(bits: bits, qp: qp)
    remaining?.note(bits: bits, qp: qp, isIntra: picture.kind == .intra)
    total += bits
    spent += bits
    elapsed += picture.duration
    // Bits that easy content does not use are not saved up without bound.
    if let rate = configuration.targetRate {
      spent = max(spent, Double(rate) * (elapsed - max(2, elapsed * 0.5)))
    }
  }

  /// Corrects the time after the last picture has been shown longer than it was expected to be.
  /// - Parameters:
  ///   - seconds: the difference.
  ///   - isInBuffer: whether the buffer filled during that time.
  mutating func correct(seconds: Double, isInBuffer: Bool) {
    elapsed += seconds
    guard isInBuffer else { return }
    buffer?.pass(seconds: seconds)
    limits.pass(seconds: seconds)
  }

  /// Removes an access unit from the buffer.
  /// - Parameters:
  ///   - bits: its bits, filler data included.
  ///   - seconds: the time until the next one is removed.
  mutating func remove(bits: Double, seconds: Double) {
    buffer?.remove(bits: bits, seconds: seconds)
    limits.account(bits, duration: seconds)
    joined?.advance(seconds: seconds)
  }
}
