// SPDX-License-Identifier: Apache-2.0
/// Chooses the QP of each frame before it is coded, and whether to drop it. It knows the present
/// frame only: there is no look-ahead.
///
/// The transmission is modelled as a link with the target bit rate and a queue in which no frame
/// may wait longer than a bound (`TransmissionQueue`). Within the bound the queue absorbs the
/// differences between frames. The QP is the one at which recent frames and the present one would
/// have taken the target rate (`BitModel`, from the residual that `PreAnalysis` finds), and a
/// deviation from the rate is corrected over seconds. A frame that would take too much of the time
/// that the bound leaves gets a higher QP at once. Key frames and scene cuts may take most of it.
/// Every temporal layer has its own share of the rate. Hard limits bound the size of the frame.
struct LowLatencyRateControl {
  /// What was decided for a frame.
  struct Decision {
    /// Whether the frame is dropped.
    var drop = false
    /// The QP that the frame is to begin with, 0 to 51.
    var qp = 26
    /// The bits that its rows share; nil where there is neither a rate nor a hard limit.
    var budget: RowBudget?
    /// The bits that hard limits and the bound leave for the frame; nil without either.
    var largest: Double?
    /// The bits that hard limits leave for it; nil without any.
    var allowed: Double?
  }

  /// The state of a temporal layer.
  private struct Layer {
    /// The bits sent beyond the layer's share of the rate; below 0 where bits are left.
    var account = 0.0
    /// The moving mean of the residual histograms of recent frames.
    var usual = ResidualHistogram()
    /// Whether `usual` and the model's sums are those of the present scene.
    var isKnown = false
    /// The ratio of bits to model units.
    var ratio = BitRatio()
    /// The bits of the layer's recent frames, and the bits that the model gave for them: sums that
    /// decay over `memory.model` seconds.
    var came = 0.0
    var expected = 0.0
    /// The QP of the layer's last frame without the cascade's offset, and the bits of that frame.
    var qp = 0.0
    var bits = 0.0
    /// Whether its last frame took far less than its share.
    var isIdle = false
    /// Whether the bits of its last frame were not enough for all macroblocks.
    var isStarved = false
  }

  /// Times in seconds: of the moving mean of residuals, of the comparison of the model with the
  /// results, of working off bits beyond the rate, and the duration of the rate that a layer may
  /// keep unused. (A frame can take little more than its share at once but far less, so unused bits
  /// must be kept until they can be used, the more so at few frames per second.)
  private static let memory = (pictures: 0.15, model: 0.5, excess: 1.0, rest: 0.4)
  /// The least and the most that a frame is meant to take, in shares, to work off bits beyond the
  /// rate or to use bits left.
  private static let correction = (least: 0.65, most: 1.5)
  /// Shares of the bits that the bound and the even rate leave. `picture`: that any frame may take
  /// beyond its own share. `new` and `newEven`: that a key frame or a scene cut may take of the
  /// bound and of the even rate. `newShares` is the most for such a frame, as a multiple of a
  /// frame's share.
  private static let parts = (picture: 0.25, new: 0.5, newEven: 0.8, newShares: 8.0)
  /// The bits that a key frame or a scene cut may take in any case, as a multiple of a frame's
  /// share, as far as that is at most `part` of what the bound leaves. At few frames per second
  /// half of the bound is little more than one share.
  private static let least = (shares: 3.0, part: 0.7)
  /// The share of the bound that the standing queue may take, so that unused bits can be used; what
  /// stands beyond it is worked off.
  private static let standing = 0.3
  /// A key frame or a scene cut whose QP could be below `above` goes only `part` of the way below
  /// it. Moving content refers to it little, and still content is refined by the frames that
  /// follow.
  private static let restraint = (above: 28.0, part: 0.5)
  /// The least bits that a frame has room for whatever came before, in shares: within the bound of
  /// the link, and within the even rate.
  private static let leastRoom = (line: 0.3, even: 0.05)
  /// The part of their share that the frames of the next seconds shall still have, after a key
  /// frame or a scene cut and after any other frame.
  private static let reserve = (new: 0.6, picture: 0.5)
  /// The QP steps per frame by which the QP of ordinary frames may fall and rise.
  private static let pace = (down: 2.0, up: 5.0)
  /// The novelty (`PreAnalysisResult.novelty`) above which the next frames hardly refer to a frame,
  /// so that the cascade is off, and the novelty below which it has its full strength.
  private static let propagatedCosts = (none: PreAnalysisResult.mostlyNew, full: 0.3)
  /// The weight of a frame in the learned ratio of bits to units: usually, after an error by a
  /// factor of two or more, and in the first frames after a key frame.
  private static let learning = (usual: 0.25, missed: 0.5, early: 0.6)
  /// The QP steps from a still frame that took next to nothing to the next frame: where the layer
  /// has used its share, and where bits are left.
  private static let refinement = (least: -5.0, most: -10.0)
  /// The QP steps from a still frame that a hard limit left too few bits for to the next one.
  private static let starvedStep = 4.0
  /// The seconds of the rate by which a layer may be beyond its share while a still picture is
  /// refined.
  private static let refinementQueue = 0.1
  /// The exponent by which bits fall with the quantiser step where only refinement is coded.
  private static let refinementSlope = 1.3
  /// The bits of a frame's start codes, delimiter and slice header, and those of a key frame, which
  /// has parameter sets in addition.
  private static let headers = (frame: 256.0, keyFrame: 1024.0)
  /// The largest number of typical frame intervals for which a pause gives a layer its share of the
  /// rate.
  private static let longestGain = 3.0
  /// The number of frames after a reduction of the rate that together keep to the new one.
  private static let cautiousFrameCount = 10

  /// The configuration of the stream.
  private var configuration: H264EncoderConfiguration
  /// The state of each temporal layer, by its number.
  private var layers = [Layer](repeating: Layer(), count: 8)
  /// The link with the target rate.
  private var line: TransmissionQueue
  /// The hard limits.
  private var limits: HardLimits
  /// The QP offsets of the frames after a key frame.
  private var cascade = QualityCascade()
  /// The ratio of bits to units of frames that are not predicted from others.
  private var intraRatio = BitRatio()
  /// The lowest QP that the present scene may have.
  private var floor = SceneMinimumQP()
  /// The number of frames since the last key frame or scene cut.
  private var framesSinceKey = 0
  /// Whether the rate has changed since the last frame.
  private var rateChanged = false
  /// The typical time between frames.
  private var interval: TypicalFrameInterval
  /// After a reduction of the rate: the number of frames that have to fit the new rate together,
  /// and the bits left for them.
  private var cautiousFrames = 0
  private var cautiousBits = 0.0
  /// The number of macroblock rows and columns.
  private let rows: Int
  private let columns: Int
  /// The shares of the bits that each macroblock row took in P pictures and in key frames
  /// (`RowBudget.shares`).
  private let sharesP: UnsafeMutablePointer<Float>
  private let sharesI: UnsafeMutablePointer<Float>

  // The frame being coded:
  /// The temporal layer of the frame.
  private var layer = 0
  /// Seconds since the frame before.
  private var duration = 0.0
  /// The frame's part of the bits that a frame gets on average (`H264FrameOptions.budgetShare`).
  private var share = 1.0
  /// The bits that the frame gets by its share, for a typical interval.
  private var perFrame = 0.0
  /// The bits by which the time since the last frame relieves the account of its layer.
  private var gained = 0.0
  /// The residual of the frame by the pre-analysis.
  private var residual = ResidualHistogram()
  /// Whether it is a key frame or a scene cut, so that nothing predicts it.
  private var isNew = false
  /// Whether the caller has set its QP, so that it says nothing about other frames.
  private var isFixed = false
  /// Whether the caller has set its references, which are then further away than usual.
  private var isRepair = false
  /// Whether the picture stands still.
  private var isStill = false
  /// Whether hard limits leave fewer bits than the link.
  private var isLimited = false
  /// The bits beyond which its macroblocks were skipped.
  private var lastLimit = Double.infinity

  /// Begins a stream. The memory of the row shares is allocated from `memory`.
  init(_ configuration: H264EncoderConfiguration, memory: inout EncoderMemory) {
    self.configuration = configuration
    interval = TypicalFrameInterval(seconds: 1 / configuration.frameRate)
    line = TransmissionQueue(rate: configuration.rate ?? 0, bound: configuration.lowLatency.maximumQueueDelay)
    limits = HardLimits(configuration.dataRateLimits)
    rows = (configuration.height + 15) / 16
    columns = (configuration.width + 15) / 16
    sharesP = memory.allocate(Float.self, count: rows)
    sharesI = memory.allocate(Float.self, count: rows)
    for y in 0..<rows {
      sharesP[y] = 1 / Float(rows)
      sharesI[y] = 1 / Float(rows)
    }
  }

  /// Changes the configuration from the next frame on.
  mutating func reconfigure(_ new: H264EncoderConfiguration) {
    if let old = configuration.rate, let rate = new.rate, old != rate {
      rateChanged = true
      // Bits saved or overspent at the old rate say little about the new one.
      let frame = rate / new.frameRate
      for i in layers.indices { layers[i].account = min(max(layers[i].account, 0), frame) }
      line.change(rate: rate)
      floor.forget()
      cautiousFrames = 0
      if rate < old {
        cautiousFrames = LowLatencyRateControl.cautiousFrameCount
        cautiousBits = 0.97 * rate * usualDuration * Double(cautiousFrames)
      }
    } else if let rate = new.rate {
      line.rate = rate
    }
    line.bound = new.lowLatency.maximumQueueDelay
    limits.change(to: new.dataRateLimits)
    configuration = new
  }

  /// Whether frames need `PreAnalysis`.
  var needsPreAnalysis: Bool { configuration.rate != nil }

  // MARK: - Before the frame

  /// Decides about the next frame.
  /// - Parameters:
  ///   - isKeyFrame: whether it is an IDR picture.
  ///   - isSceneChange: whether a new scene begins with it.
  ///   - options: what the caller wants of the frame.
  ///   - facts: what the pre-analysis found.
  mutating func plan(
    isKeyFrame: Bool, isSceneChange: Bool, options: H264FrameOptions, facts: PreAnalysisResult
  ) -> Decision {
    layer = options.temporalLayer
    // Longer or shorter durations say nothing more about bits, and could exceed the range of
    // numbers.
    duration = min(max(options.duration ?? 1 / configuration.frameRate, 1e-4), 120)
    isRepair = options.references != .automatic && !isKeyFrame
    isNew = isKeyFrame || isSceneChange
    isFixed = options.qp != nil
    var decision = Decision()
    let (minQP, maxQP) = (configuration.minimumQP, configuration.maximumQP)
    interval.take(duration)
    // The frame is sent now: the windows of the limits have moved on by as much.
    limits.pass(seconds: duration)
    let allowed = limits.largestFrame(duration: min(duration, usualDuration))
    (decision.largest, decision.allowed) = (allowed, allowed)

    guard let rate = configuration.rate else {
      var qp = options.qp ?? 26
      if options.qp == nil, case .constantQP(let fixed) = configuration.lowLatency.rateControl { qp = fixed }
      decision.qp = min(max(qp, minQP), maxQP)
      if let allowed { limit(&decision, target: allowed * 0.9, maximum: allowed, most: allowed, isKeyFrame) }
      return decision
    }

    line.drain(duration)
    share = options.budgetShare
    // The bits of a frame do not follow the jitter of its time, and a frame that fills a link that
    // a pause has emptied would arrive late.
    perFrame = rate * usualDuration * share
    gained = rate * min(duration, usualDuration * LowLatencyRateControl.longestGain) * share
    residual = facts.residual
    isStill = facts.isStill && !isNew
    offset = 0
    var room = max(line.room(duration: usualDuration), perFrame * LowLatencyRateControl.leastRoom.line)
    isLimited = allowed.map { $0 < room } ?? false
    if let allowed { room = min(room, allowed) }

    let aim = isNew ? newPicture(room) : pictureAfterOthers(room, rate: rate, novelty: facts.novelty)
    var (target, maximum) = (aim.bits, aim.most)
    var qp = aim.qp
    if cautiousFrames > 0 && !isKeyFrame {
      let fair = max(cautiousBits, 0) / Double(cautiousFrames) * share
      let most = min(fair * 0.92, rateChanged ? perFrame * 0.9 : .infinity)
      if target > most {
        target = most
        qp = max(qp, self.qp(for: target))
      }
      maximum = min(maximum, max(min(fair * (rateChanged ? 1.15 : 1.5), cautiousBits), 1000))
    }
    if let bits = options.targetBits {
      target = Double(bits)
      maximum = target * 1.25
      qp = self.qp(for: target)
    }
    if let allowed, target > allowed * 0.93 {
      target = allowed * 0.93
      qp = max(qp, self.qp(for: target))
    }
    if let fixed = options.qp { qp = Double(fixed) }
    qp = qp.isFinite ? min(max(qp, Double(minQP)), Double(maxQP)) : Double(maxQP)
    decision.qp = Int(qp.rounded())

    if configuration.lowLatency.allowsFrameDropping,
      isKeyFrame ? mustWait(isKeyFrame: true, allowed: allowed) : mustDrop(allowed: allowed)
    {
      // Time passes nevertheless and drains the queue.
      decision.drop = true
      account(0)
      return decision
    }
    if isFixed {
      // The QP replaces the choice of the rate control for this frame alone: only hard limits bound
      // its size.
      if let allowed { limit(&decision, target: allowed * 0.9, maximum: allowed, most: allowed, isKeyFrame) }
      lastLimit = allowed ?? .infinity
      return decision
    }
    layers[layer].qp = qp - offset
    limit(&decision, target: target, maximum: min(maximum, room), most: room, isKeyFrame)
    if maxQP < 51 {
      // With an upper limit of the QP a frame may take more than it should. Later frames are
      // dropped for that where allowed, but no macroblock is coded as skipped.
      decision.budget?.limit = allowed ?? .infinity
    } else {
      decision.largest = room
    }
    lastLimit = decision.budget?.limit ?? .infinity
    return decision
  }

  /// The typical time between frames, in seconds.
  private var usualDuration: Double { interval.seconds }

  /// The aim for a frame: its QP, its bits, and the most bits that it may take.
  private typealias Aim = (qp: Double, bits: Double, most: Double)

  /// The factor from model units to bits for the present frame.
  private var ratio: Double {
    if isNew { return intraRatio.value }
    let state = layers[layer]
    // The first frame of a layer is taken to be like those of the layers below.
    let known = state.ratio.isKnown ? state.ratio : layers.first { $0.ratio.isKnown }?.ratio ?? intraRatio
    return known.value * (isRepair ? 2.5 : 1)
  }

  /// The QP at which the present frame takes a number of bits.
  private func qp(for bits: Double) -> Double { BitModel.qp(residual, units: max(bits, 1) / ratio) }

  /// The bits that the present frame takes at a QP.
  private func bits(at qp: Double) -> Double { BitModel.units(residual, qp: qp) * ratio }

  /// The aim for a key frame or a scene cut: as good as the link allows at once, since later frames
  /// refer to it.
  private mutating func newPicture(_ room: Double) -> Aim {
    let parts = LowLatencyRateControl.parts
    let even = line.evenRoom(keeping: LowLatencyRateControl.reserve.new)
    let least = min(perFrame * LowLatencyRateControl.least.shares, room * LowLatencyRateControl.least.part)
    let bits = min(
      max(room * parts.new, least), max(even * parts.newEven, perFrame), perFrame * parts.newShares)
    floor.restart()
    let restraint = LowLatencyRateControl.restraint
    var qp = qp(for: bits)
    qp += max(restraint.above - qp, 0) * restraint.part
    qp = max(qp, floor.qp)
    return (qp, min(bits, self.bits(at: qp)), room * 0.95)
  }

  /// The aim for a frame that is predicted from others.
  /// - Parameters:
  ///   - room: the bits that the bound and hard limits leave for it.
  ///   - rate: the target rate in bits per second.
  ///   - novelty: `PreAnalysisResult.novelty`.
  private mutating func pictureAfterOthers(_ room: Double, rate: Double, novelty: Double) -> Aim {
    followContent()
    let state = layers[layer]
    let correction = LowLatencyRateControl.correction
    let standing = line.standing - line.bound(duration: usualDuration) * rate * LowLatencyRateControl.standing
    let part = 1 - max(state.account, standing) / (rate * LowLatencyRateControl.memory.excess)
    let wanted = perFrame * min(max(part, correction.least), correction.most)
    let most = largestUsual(room)
    var qp: Double
    if isStill {
      qp = refined(state, wanted)
    } else {
      qp = BitModel.qp(state.usual, units: wanted / (ratio * modelError(state)))
      if !rateChanged && framesSinceKey > 1 {
        let pace = LowLatencyRateControl.pace
        qp = min(max(qp, state.qp - pace.down), state.qp + pace.up)
      }
      if layer == 0 && hasWholeShare {
        let (none, full) = LowLatencyRateControl.propagatedCosts
        let inherited = min(max((none - novelty) / (none - full), 0), 1)
        // Just after a reduction of the rate no frame takes more bits for the sake of later ones.
        offset = cascade.next(strength: cautiousFrames > 0 ? 0 : inherited)
        qp += offset
      }
      floor.pass(duration)
      // The QP is never below the one at which the frame fits.
      qp = max(qp, self.qp(for: most))
      // The refinement of a still picture takes no bits that other frames need.
      if !isStill { qp = max(qp, floor.qp) }
    }
    return (qp, min(bits(at: qp), most), min(room * 0.95, max(most * 1.5, perFrame * 2)))
  }

  /// Whether the frame has its full share, as all frames of a stream without temporal layers have.
  private var hasWholeShare: Bool { abs(share - 1) < 0.05 }

  /// The ratio of the bits of recent frames to those that the model gave, 0.5 to 2. The model's
  /// factor is a mean of logarithms, which is that of a typical frame; where every fourth frame
  /// takes most of the bits, the mean of the bits is higher.
  private func modelError(_ state: Layer) -> Double {
    min(max((state.came + perFrame) / (state.expected + perFrame), 0.5), 2)
  }

  /// Takes the residual of the frame into the mean of its layer.
  private mutating func followContent() {
    if !layers[layer].isKnown {
      if !layers[layer].ratio.isKnown {
        layers[layer].qp = (layers.first { $0.ratio.isKnown }?.qp ?? layers[layer].qp) + 1
      }
      layers[layer].usual = residual
      layers[layer].isKnown = true
      return
    }
    layers[layer].usual.approach(
      residual, by: Float(min(duration / LowLatencyRateControl.memory.pictures, 1)))
  }

  /// The most bits that an ordinary frame may take: beyond its share a part of what the bound and
  /// the even rate leave, so that several large frames approach the bound but never exceed it.
  private func largestUsual(_ room: Double) -> Double {
    let part = LowLatencyRateControl.parts.picture
    let even = max(
      line.evenRoom(keeping: LowLatencyRateControl.reserve.picture),
      perFrame * LowLatencyRateControl.leastRoom.even)
    return min(
      room * 0.9, perFrame + max(room - perFrame, 0) * part,
      min(even, perFrame) + max(even - perFrame, 0) * part)
  }

  /// The QP offset of the cascade for the present frame.
  private var offset = 0.0

  /// The QP of a still picture, which takes no bits until the QP falls far enough to refine it,
  /// whatever the model says.
  /// - Parameters:
  ///   - state: the state of the frame's layer.
  ///   - wanted: the bits that the frame should take.
  private func refined(_ state: Layer, _ wanted: Double) -> Double {
    // If macroblocks were skipped for lack of bits, the last frame says nothing about the QP. The
    // QP rises until the bits suffice for the whole picture.
    if state.isStarved { return min(state.qp + LowLatencyRateControl.starvedStep, 51) }
    if state.isIdle {
      // The queue is worked off first: it would delay the first frame with motion, and a scene cut.
      if state.account > (configuration.rate ?? 0) * LowLatencyRateControl.refinementQueue { return state.qp }
      return state.qp
        + (state.account <= 0
          ? LowLatencyRateControl.refinement.most : LowLatencyRateControl.refinement.least)
    }
    let change = 6 / LowLatencyRateControl.refinementSlope * log2Approx(max(state.bits, 1) / max(wanted, 1))
    return state.qp + max(-3, min(4, abs(change) < 0.4 ? 0 : change * 0.5))
  }

  /// Sets the budget of the frame's rows.
  /// - Parameters:
  ///   - decision: gets the budget.
  ///   - target: the bits that the frame should take.
  ///   - maximum: the bits beyond which the QP of its rows rises.
  ///   - most: the bits beyond which its macroblocks are skipped.
  ///   - isKeyFrame: whether it is an IDR picture.
  private func limit(
    _ decision: inout Decision, target: Double, maximum: Double, most: Double, _ isKeyFrame: Bool
  ) {
    decision.budget = RowBudget(
      target: max(target, 64), maximum: max(maximum, 64), limit: max(most, 64),
      cheapest: cheapest(isKeyFrame),
      minQP: configuration.minimumQP, maxQP: configuration.maximumQP,
      shares: isKeyFrame ? sharesI : sharesP)
  }

  /// The bits of the cheapest macroblock.
  private func cheapest(_ isKeyFrame: Bool) -> Double {
    RowBudget.cheapest(isKeyFrame: isKeyFrame, cabac: configuration.cabac)
  }

  /// Whether hard limits leave too few bits for a frame's headers and its cheapest macroblocks now,
  /// but will leave enough when time has passed.
  private func mustWait(isKeyFrame: Bool, allowed: Double?) -> Bool {
    let headers = LowLatencyRateControl.headers
    let least =
      (isKeyFrame ? headers.keyFrame : headers.frame) + Double(rows * columns) * cheapest(isKeyFrame)
    guard let allowed, least > allowed else { return false }
    return least
      <= limits.largestFrame(duration: min(duration, usualDuration), afterPause: true) ?? .infinity
  }

  /// Whether the frame would exceed the bound of the link, or a hard limit, even at the highest QP.
  private func mustDrop(allowed: Double?) -> Bool {
    let least = bits(at: Double(configuration.maximumQP))
    if let allowed, least > allowed { return true }
    if mustWait(isKeyFrame: false, allowed: allowed) { return true }
    let room = line.room(duration: usualDuration)
    // Frames that no other frame refers to are dropped first.
    if layer > 0 { return least > room - line.bound(duration: usualDuration) * line.rate * 0.5 }
    // A frame that takes longer than the bound by itself is sent as soon as the link is free.
    return least > room && line.backlog > 0
  }

  // MARK: - After the frame

  /// Adds a frame, or 0 bits for one that was dropped, to the queue, to the account of its layer
  /// and to the limits.
  private mutating func account(_ bits: Double) {
    if cautiousFrames > 0 {
      cautiousFrames -= 1
      cautiousBits -= bits
    }
    if let rate = configuration.rate {
      line.send(bits)
      layers[layer].account = max(
        layers[layer].account + bits - gained, -rate * LowLatencyRateControl.memory.rest)
    }
    limits.account(bits, duration: 0)
  }

  /// Learns from a frame that was coded.
  /// - Parameters:
  ///   - bits: the bits of its access unit.
  ///   - qp: the mean QP of its macroblocks.
  ///   - isKeyFrame: whether it is an IDR picture.
  ///   - isSceneChange: whether a new scene begins with it.
  ///   - isCurtailed: whether it was coded again with fewer bits because of a hard limit.
  ///   - rowBits: the bits of each macroblock row.
  mutating func finish(
    bits: Int, qp: Double, isKeyFrame: Bool, isSceneChange: Bool, isCurtailed: Bool = false,
    rowBits: UnsafePointer<Int32>
  ) {
    account(Double(bits))
    guard configuration.rate != nil else { return }
    rateChanged = false
    if !isFixed { floor.note(min(max(qp, 0), 51), duration: duration) }
    // The same condition as in `RowBudget.isExhausted`.
    let isExhausted =
      isCurtailed || Double(bits + 512) + Double(rows * columns) * cheapest(isKeyFrame) > lastLimit
    learnShares(bits, isKeyFrame, rowBits, isExhausted)
    let units = BitModel.units(residual, qp: min(max(qp, 0), 51))
    layers[layer].bits = Double(bits)
    let isStarved = isCurtailed || isExhausted && isLimited
    layers[layer].isStarved = isStarved
    if isNew {
      if !isCurtailed { intraRatio.learn(bits: Double(bits), units: units, weight: 0.5) }
      // A new scene begins: its frames are not like those before.
      for i in layers.indices {
        layers[i].isKnown = false
        (layers[i].came, layers[i].expected) = (0, 0)
        // The QP of the first frame of a stream is taken even if the caller set it: there is no
        // other.
        if !isFixed || layers[i].qp == 0 { layers[i].qp = qp }
        layers[i].isIdle = false
        layers[i].isStarved = isStarved
      }
      cascade.restart()
      framesSinceKey = 0
      return
    }
    framesSinceKey += 1
    // A frame that refers to older ones says little about those that follow.
    if isRepair { return }
    layers[layer].isIdle = Double(bits) < perFrame * 0.2
    if isStill || isCurtailed || units * ratio < perFrame * 0.01 { return }
    let kept = max(1 - duration / LowLatencyRateControl.memory.model, 0)
    layers[layer].came = layers[layer].came * kept + Double(bits)
    layers[layer].expected = layers[layer].expected * kept + units * ratio
    let misses = abs(log2Approx(Double(max(bits, 1)) / (units * ratio)))
    let learning = LowLatencyRateControl.learning
    layers[layer].ratio.learn(
      bits: Double(bits), units: units,
      weight: framesSinceKey < 3 ? learning.early : misses > 1 ? learning.missed : learning.usual)
    // The rows may have changed the QP from the planned one.
    if isFixed { return }
    let miss = qp - offset - layers[layer].qp
    if abs(miss) > 1 { layers[layer].qp += miss * 0.5 }
  }

  /// Takes the share of each macroblock row into the mean.
  private mutating func learnShares(
    _ bits: Int, _ isKeyFrame: Bool, _ rowBits: UnsafePointer<Int32>, _ isExhausted: Bool
  ) {
    let shares = isKeyFrame ? sharesI : sharesP
    let total = Float(max(bits, 1))
    var sum: Float = 0
    for y in 0..<rows {
      var now = max(Float(rowBits[y]), 1) / total
      // Rows that got no bits because none were left would otherwise never get any again.
      if isExhausted { now = max(now, 1 / Float(rows)) }
      shares[y] = shares[y] * 0.5 + now * 0.5
      sum += shares[y]
    }
    guard isExhausted else { return }
    for y in 0..<rows { shares[y] /= sum }
  }
}

extension H264EncoderConfiguration {
  /// Bits per second of the low-latency mode; nil with a constant QP.
  fileprivate var rate: Double? { lowLatency.averageBitRate.map(Double.init) }
}
