// SPDX-License-Identifier: Apache-2.0

/// A picture that is still to be coded, as the rate control sees it.
struct PictureForecast {
  var residual: ResidualHistogram
  var kind: Kind
  var duration: Double

  enum Kind: Int {
    case intra, predicted, bidirectional
  }
}

extension H264EncoderConfiguration {
  /// With the rate of the part, if it is for one.
  fileprivate var planned: H264EncoderConfiguration {
    guard let part = lookAhead.part, case .average = lookAhead.rate else { return self }
    var planned = self
    planned.lookAhead.rate = .average(part.rate)
    return planned
  }
}

/// Chooses the QP of each picture for a stream that is looked ahead in: one quality throughout, as far as the average
/// rate and the buffer allow.
///
/// The QP is the one at which what was spent, what the pictures of the look-ahead would take and what pictures like
/// those so far would take for some time after them meet the rate. So it changes slowly, and where the stream ends it
/// is known what is left.
struct LookAheadRateControl {
  /// What was learned of one kind of picture.
  private struct Learned {
    /// Bits for each unit of the model.
    var ratio = BitRatio()
    /// Steps of QP by which quality that is inherited makes pictures finer than the picture's QP says.
    var finer = 0.0
    var isFinerKnown = false
    /// Sums over pictures of late.
    var residual = ResidualHistogram()
  }

  private var configuration: H264EncoderConfiguration
  private(set) var buffer: BufferState?
  /// What was sent in the windows of hard limits, by the times that frames leave the buffer.
  private var limits: HardLimits
  /// Pictures of the look-ahead with what each would take.
  private var trial: [(bits: Double, seconds: Double)] = []
  /// The rest of the stream wants all that the buffer carries.
  private var takesAll = false
  private var foresight = PassForecast()
  /// Nil where no other stream goes on with the buffer.
  private(set) var joined: JoinedBuffer?
  /// By kind.
  private var kinds = [Learned(), Learned(), Learned()]
  /// Seconds that the sums of residuals stand for.
  private var contentSeconds = 0.0
  /// Intra pictures in the sums of residuals, and in the look-ahead.
  private var intraPictures = (coded: 0.0, ahead: 0.0)
  /// Seconds since the last intra picture began, of what was coded and of all that is known.
  private var sinceIntra = (coded: 0.0, known: 0.0)
  /// Bits and seconds of the stream.
  private var spent = 0.0
  /// Bits in all.
  private var total = 0.0
  private var elapsed = 0.0
  /// No picture comes after those of the look-ahead.
  private var isNearEnd = false
  /// QP of the last picture, before offsets of its kind.
  private var last: Double?
  /// The same before it was made to fit into the buffer, where a pass before says what is to come: when there is room again
  /// it goes on from there.
  private var lastRemembered: Double?
  /// What intra prediction alone would leave of the next picture that others refer to, with all its offsets.
  private var nextIntra = ResidualHistogram()
  /// QP of the last picture that coded what is shown, before offsets of its kind: others have left it as it was.
  private var shown: Double?
  /// Bits that the picture that was planned last would take as an intra picture.
  private var plannedIntraBits = 0.0
  /// What is expected behind the look-ahead.
  private var unseen: UnseenContentModel
  /// Seconds of evidence in the look-ahead at hand.
  private var aheadEvidence = 0.0
  /// The look-ahead at hand: sums, and seconds.
  private var ahead = [ResidualHistogram(), ResidualHistogram(), ResidualHistogram()]
  private var aheadSeconds = 0.0
  /// Of each kind, the part of the usual inheritance that its pictures of the look-ahead have.
  private var inheritance = [1.0, 1.0, 1.0]

  /// Steps of QP of intra, P and B pictures, beside what propagation gives them.
  static let offsets = [-2.5, 0, 1]
  /// Seconds over which content is remembered.
  private static let memory = 30.0
  /// Steps that the QP changes by from picture to picture: usually, and at the stream's begin and end.
  private static let pace = (usual: 0.5, fast: 1.5)
  /// Part of the buffer that planning leaves for what the model does not foresee.
  private static let margin = 0.1
  /// Part of a hard limit that planning leaves for what the model does not foresee, and part of its rate for what comes
  /// after the look-ahead.
  private static let (limitMargin, limitReserve) = (0.02, 0.25)
  /// Pictures after which half of what a picture hands on has come together.
  private static let heirs = 8.0
  /// Seconds that an expected end is looked ahead to at the most, while the stream is no longer than that.
  private static let farthest = 60.0
  /// Units of the model for each macroblock from which on a picture tells in full how many bits a unit is.
  private static let informativeUnits = 0.01
  /// Steps of QP after which a picture that stands still is coded anew: an error of half a step of the quantiser leaves the
  /// dead zone of inter prediction, 5/6 of a step, where that has become 0.6 of what it was.
  private static let stepsOfRefinement = 4.5
  /// Part of the bits of an intra picture from which on what is shown has been coded.
  private static let coded = 0.15
  /// Where a constant rate wants the buffer.
  private static let comfort = 0.6

  /// The rest of a stream that a pass has seen.
  private var remaining: RemainingPass?

  /// - Parameter joined: the buffer goes on from another stream, or in another.
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
    // The first pictures have to fit into the buffer too.
    if buffer != nil, let pass { learn(pass) }
    begin(at: 0)
  }

  /// Frames have to fit something.
  var isLimited: Bool { buffer != nil || !limits.isEmpty }

  /// What pictures of each kind took in a pass before.
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
  /// Pictures.
  private static let learned = 100

  /// The stream begins so many seconds after what it is joined to.
  mutating func begin(at seconds: Double) {
    joined?.begin(at: seconds)
    if let joined, let buffer { self.buffer?.begin(fullness: joined.agreed(buffer)) }
  }

  mutating func reconfigure(_ new: H264EncoderConfiguration) {
    let new = new.planned
    if let rate = new.targetRate.map(Double.init), configuration.targetRate != new.targetRate {
      if let old = configuration.targetRate.map(Double.init) {
        // What was saved or overspent stays the same time's worth.
        spent = elapsed * rate + (spent - elapsed * old) * rate / old
        total = elapsed * rate + (total - elapsed * old) * rate / old
      } else {
        // A quality owes nothing.
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

  /// The QP of the first of these pictures, without the offset of its kind.
  /// - Parameters:
  ///   - upcoming: in decoding order.
  ///   - intra: what intra prediction alone would leave of the next picture that others refer to, with all its offsets.
  ///   - isEnding: no other picture comes after them.
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

  /// The QP at which the rest of the stream, as a first pass has seen it, takes what is left of the rate.
  private mutating func rememberedQP(isEnding: Bool) -> Double? {
    guard case .average = configuration.lookAhead.rate, let remaining, !remaining.isOver else { return nil }
    let rate = Double(configuration.targetRate ?? 0)
    let share = rate * remaining.seconds
    let wanted = max(rate * (elapsed + remaining.seconds) - total, share * 0.2)
    var qp: Double
    (qp, takesAll) = remaining.plan(bits: wanted, buffer: buffer)
    guard let last = lastRemembered ?? last else { return qp }
    if qp < last, refinement(to: qp) > 0 {
      // The pass says nothing of what it takes to make pictures finer that stand still.
      var low = qp
      var high = last
      for _ in 0..<5 {
        let middle = (low + high) / 2
        let left = max(wanted - refinement(to: middle), 0)
        if remaining.plan(bits: left, buffer: buffer).qp > middle { low = middle } else { high = middle }
      }
      // Nor does anybody see errors below that.
      qp = max(high, min(last, unseen.finestQP(rate: rate)))
    }
    // At the end there is no time left to come back slowly.
    let isLate = isEnding || remaining.seconds < 1
    return paced(qp, last: last, isFast: isLate, count: LookAheadRateControl.pictures)
  }

  /// A QP on the way from that of the last picture to the one that is wanted.
  /// - Parameters:
  ///   - isFast: there is no time to come near slowly.
  ///   - count: pictures within which the QP falls to what is wanted; it rises in half as many.
  private func paced(_ wanted: Double, last: Double, isFast: Bool, count: Int) -> Double {
    let pace = isFast ? LookAheadRateControl.pace.fast : LookAheadRateControl.pace.usual
    let up = max(pace, 2 * (wanted - last) / Double(max(count, 1)))
    let down = max(pace, (last - wanted) / Double(max(count, 1)))
    return min(max(wanted, last - down), last + up)
  }
  /// The same where a pass is known.
  private static let pictures = 20

  /// Bits that it takes to make pictures finer that stand still: they have no residual that would tell.
  ///
  /// A little finer costs nothing and changes nothing, since the errors stay within the quantiser's dead zone; some steps finer,
  /// they are all coded anew, and that takes about what an intra picture would.
  private func refinement(to qp: Double) -> Double {
    guard let shown, qp < shown else { return 0 }
    let part = min((shown - qp) / LookAheadRateControl.stepsOfRefinement, 1)
    return max(intraBits(qp) * part - near(qp), 0)
  }

  /// Bits that the next picture that others refer to would take as an intra picture.
  private func intraBits(_ qp: Double) -> Double {
    kinds[0].ratio.value * BitModel.units(nextIntra, qp: qp)
  }

  /// Sums up the look-ahead.
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
      // Where the stream ends, few pictures are left to inherit.
      let after = Double(upcoming.count - 1 - n)
      inheritance[kind] += isEnding ? 1 - exp2Approx(-after / LookAheadRateControl.heirs) : 1
    }
    for i in inheritance.indices { inheritance[i] /= max(numbers[i], 1) }
    intraPictures.ahead = numbers[0]
  }

  /// - Parameters:
  ///   - count: pictures of the look-ahead.
  ///   - isEnding: no other picture comes after them.
  private mutating func averageQP(_ count: Int, isEnding: Bool) -> Double {
    let rate = Double(configuration.targetRate ?? 0)
    var horizon: Double
    var balance: Double
    if case .constant = configuration.lookAhead.rate, let buffer {
      balance = wantedFullness(buffer, isEnding: isEnding) - buffer.fullness
      horizon = max(buffer.size / rate - aheadSeconds, 0)
      // Nothing behind the end makes anything good.
      if let left = secondsLeft, joined?.hasFramesAfter != true { horizon = min(horizon, left) }
    } else {
      balance = spent - rate * elapsed
      if isEnding {
        horizon = 0
      } else if let expected = configuration.lookAhead.expectedDuration, expected > elapsed + aheadSeconds {
        // What is further off leaves time to correct.
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
    // What a finer QP would take is kept for what is not known yet, and does what stands still no good.
    if horizon > 0 || refinement(to: qp) > 0,
      case .average = configuration.lookAhead.rate
    {
      qp = max(qp, unseen.finestQP(rate: rate))
    }
    guard let last else { return qp }
    return paced(qp, last: last, isFast: elapsed < 1 || isEnding, count: count)
  }

  /// Bits that a constant rate is to leave in the decoder's buffer behind the look-ahead: room for pictures that take more or
  /// less, and towards the end of a stream whose length is known what it began with, so that what is stored is the rate's.
  private func wantedFullness(_ buffer: BufferState, isEnding: Bool) -> Double {
    if isEnding, let joined, joined.hasFramesAfter { return joined.wanted(buffer) }
    let middle = buffer.size * LookAheadRateControl.comfort
    guard joined?.hasFramesAfter != true, let left = secondsLeft else { return middle }
    let share = max(1 - left * buffer.rate / (LookAheadRateControl.returning * buffer.size), 0)
    return middle + (buffer.agreedFullness - middle) * share
  }
  /// Times that the buffer takes to fill, in which it comes back to what it began with.
  private static let returning = 4.0

  /// Behind the look-ahead, where the length is known; a stream that goes on for longer was not known.
  private var secondsLeft: Double? {
    guard let expected = configuration.lookAhead.expectedDuration else { return nil }
    let left = expected - elapsed - aheadSeconds
    return left > -max(2 / configuration.frameRate, expected * 0.01) ? max(left, 0) : nil
  }

  /// The look-ahead reaches the end of a stream whose length is known. Who completes frames does not say whether others
  /// will follow.
  private var endsWithLookAhead: Bool {
    secondsLeft.map { $0 < 1 / configuration.frameRate } ?? false
  }

  /// Bits that the look-ahead and `horizon` seconds of what is expected behind it would take.
  private func demand(_ qp: Double, horizon: Double) -> Double {
    var all = 0.0
    let seconds = max(contentSeconds + aheadSeconds, 1e-3)
    let intra = intraShare(horizon: horizon)
    for kind in kinds.indices {
      let learned = kinds[kind]
      let own = qp + LookAheadRateControl.offsets[kind] - learned.finer
      // Key frames of so short a time tell little of how often there will be some.
      let time = kind == 0 ? max(seconds, secondsOfKeyFrames) : seconds
      let units = BitModel.units(ahead[kind], qp: own) + BitModel.units(learned.residual, qp: own)
      all += learned.ratio.value * (kind == 0 ? intra : 1) * units / time
    }
    // A constant rate makes good what comes within the time that its buffer holds.
    if !configuration.isConstantRate {
      all = unseen.rate(observed: all, qp: qp, ahead: aheadEvidence)
    }
    return near(qp) + refinement(to: qp) + all * horizon
  }

  /// Bits that the look-ahead would take.
  private func near(_ qp: Double) -> Double {
    kinds.indices.reduce(0) { sum, kind in
      let learned = kinds[kind]
      let own = qp + LookAheadRateControl.offsets[kind] - learned.finer * inheritance[kind]
      return sum + learned.ratio.value * BitModel.units(ahead[kind], qp: own)
    }
  }

  /// Of the intra pictures so far, the part that the rest of the stream will have the like of: where it ends before the next
  /// key frame is due, only those at cuts.
  private func intraShare(horizon: Double) -> Double {
    let count = intraPictures.coded + intraPictures.ahead
    guard let expected = configuration.lookAhead.expectedDuration, count > 0,
      expected <= elapsed + aheadSeconds + horizon + 1e-6, sinceIntra.known + horizon < secondsOfKeyFrames
    else { return 1 }
    return max(count - 1, 0) / count
  }

  /// Seconds from a key frame to the next where nothing else asks for one.
  private var secondsOfKeyFrames: Double {
    let interval = configuration.keyFrameInterval ?? LookAheadQueue.usualInterval
    return min(
      Double(interval) / configuration.frameRate, configuration.lookAhead.keyFrameDuration ?? .infinity)
  }

  private mutating func foresee(_ upcoming: [PictureForecast], qp: Double) {
    foresight.begin()
    for picture in upcoming { foresight.append(bits(picture, qp: qp)) }
    if let remaining { foresight.correct(upcoming, by: remaining, qp: qp) }
  }

  private func bits(_ picture: PictureForecast, qp: Double) -> Double {
    let kind = picture.kind.rawValue
    let learned = kinds[kind]
    return learned.ratio.value
      * BitModel.units(picture.residual, qp: qp + LookAheadRateControl.offsets[kind] - learned.finer)
  }

  /// The least QP from `wanted` on with which no picture of the look-ahead empties the buffer.
  private mutating func fitting(
    _ wanted: Double, _ upcoming: [PictureForecast], _ buffer: BufferState, isEnding: Bool
  ) -> Double {
    let end = endFullness(buffer, seconds: upcoming.reduce(0) { $0 + $1.duration }, isEnding: isEnding)
    var qp = wanted
    while qp < 51, !fits(upcoming, buffer, qp: qp, end: end) { qp += 0.5 }
    qp = min(qp, 51)
    guard remaining?.expected(0, qp: qp) != nil else { return qp }
    // Where all that comes in is wanted, what half a step leaves would be lost.
    for step in [0.25, 0.125] where qp - step > wanted && fits(upcoming, buffer, qp: qp - step, end: end) {
      qp -= step
    }
    return takesAll ? filling(qp, upcoming, buffer) : qp
  }

  private mutating func fits(
    _ upcoming: [PictureForecast], _ buffer: BufferState, qp: Double, end: Double?
  ) -> Bool {
    let margin = buffer.size * LookAheadRateControl.margin
    var state = buffer
    foresee(upcoming, qp: qp)
    for (n, picture) in upcoming.enumerated() {
      let taken = foresight.bits[n]
      // What comes later can still be made coarser.
      let least = n == 0 ? min(margin, state.fullness * 0.3) : margin * 0.5
      if taken > state.fullness - least { return false }
      state.remove(bits: taken, seconds: picture.duration)
    }
    return end.map { state.fullness >= $0 } ?? true
  }

  /// The QP with which the first picture takes beside its own bits those that would find no room in the buffer behind the next
  /// pictures.
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

  /// Steps by which a picture is made finer at the most, so that nothing is lost.
  private static let farthestDown = 4.0

  /// The least QP from `wanted` on with which the pictures of the look-ahead keep to the hard limits.
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

  /// Bits that are to be left behind the look-ahead, where others go on with the buffer: what the rest of the stream does not
  /// bring. Where that is not known, what is agreed upon, as long as the look-ahead is no longer than it takes to come back.
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

  /// Part of what comes in behind the look-ahead that is counted upon: its pictures take the rest.
  private static let refill = 0.5

  /// The stream is short so far, or ends with what was planned last: the bits of a few pictures that are not known yet would
  /// miss the rate by per cents.
  var needsAllKnown: Bool { elapsed < LookAheadRateControl.begin || isNearEnd }
  /// Seconds.
  private static let begin = 10.0

  // MARK: - Results

  /// Bits that the first of these pictures may take.
  /// - Parameter intervals: seconds from the removal of each to that of the next.
  func room(_ upcoming: [PictureForecast], intervals: [Double]) -> Double? {
    let left = limits.room(duration: intervals.first ?? 0, reserve: LookAheadRateControl.limitReserve)
    guard let buffer else { return left }
    return min(joined?.room(upcoming, intervals: intervals, buffer) ?? buffer.fullness, left ?? .infinity)
  }

  /// Bits that the buffer may hold after a picture: all that it has room for, or what is agreed upon if it is the last
  /// picture of a constant rate.
  func most(isLast: Bool, seconds: Double) -> Double? {
    guard let buffer else { return nil }
    guard isLast, var joined, joined.isConstant, joined.hasFramesAfter else { return buffer.size }
    joined.advance(seconds: seconds)
    return joined.agreed(buffer)
  }

  /// Bits by which the buffer misses what is agreed upon, after the last picture.
  var miss: Double {
    guard let buffer, let joined, joined.hasFramesAfter else { return 0 }
    let over = buffer.fullness - joined.agreed(buffer)
    // Times are counted in doubles.
    return abs(over) < 0.5 ? 0 : joined.isConstant ? abs(over) : max(-over, 0)
  }

  /// Takes in what became of a picture.
  /// - Parameters:
  ///   - picture: with the residual before inherited quality.
  ///   - final: its residual with all offsets.
  ///   - qp: that it was coded with, without the offset of its kind.
  ///   - cascaded: by how much it was more than that of its kind.
  mutating func finish(
    bits: Double, qp: Double, picture: PictureForecast, cascaded: Double, final: ResidualHistogram
  ) {
    let kind = picture.kind.rawValue
    let own = qp + LookAheadRateControl.offsets[kind]
    if picture.kind != .bidirectional, bits > plannedIntraBits * LookAheadRateControl.coded { shown = qp }
    let units = BitModel.units(final, qp: own + cascaded)
    // The bits of a picture whose residual the model does not see (black, what stands still, a fade that weights predict) say
    // nothing of those that have one.
    let informativeness = min(
      units / max(Double(final.counts.sum()), 1) / LookAheadRateControl.informativeUnits, 1)
    if bits > 200, informativeness > 0.01 {
      // Where the stream ends, what came last is all that tells of what is left.
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
    // What the content could not use is not saved up for ever.
    if let rate = configuration.targetRate {
      spent = max(spent, Double(rate) * (elapsed - max(2, elapsed * 0.5)))
    }
  }

  /// The last picture was shown for so many seconds longer than it was thought to be.
  /// - Parameter isInBuffer: that time has filled the buffer.
  mutating func correct(seconds: Double, isInBuffer: Bool) {
    elapsed += seconds
    guard isInBuffer else { return }
    buffer?.pass(seconds: seconds)
    limits.pass(seconds: seconds)
  }

  /// The picture is out of the buffer, with its filler.
  mutating func remove(bits: Double, seconds: Double) {
    buffer?.remove(bits: bits, seconds: seconds)
    limits.account(bits, duration: seconds)
    joined?.advance(seconds: seconds)
  }
}
