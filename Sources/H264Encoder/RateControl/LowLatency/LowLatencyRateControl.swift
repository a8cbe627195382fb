// SPDX-License-Identifier: Apache-2.0
/// Decides each frame's QP before it is coded, and whether to drop it. One frame deep: no look-ahead.
///
/// The model is a line of the asked rate before which no frame may wait longer than a bound (`TransmissionQueue`). Within the
/// bound the queue absorbs what pictures differ: the QP is the one at which the pictures of the last moments, and
/// this one, would have used the rate (`BitModel`, from `PreAnalysis`), and what is beyond the rate is worked off over
/// seconds. A picture that would fill too much of what the bound leaves is coarser at once. Key frames and cuts may
/// take most of the bound. Every temporal layer has an account of its share. Hard limits cap the frame.
struct LowLatencyRateControl {
  struct Decision {
    var drop = false
    var qp = 26
    var budget: RowBudget?
    /// Bits that the limits and the bound leave for the frame, nil without either.
    var largest: Double?
    /// Bits that hard limits leave for it, nil without any.
    var allowed: Double?
  }

  /// State of a temporal layer.
  private struct Layer {
    /// Bits sent beyond the layer's share of the rate; below 0: left over.
    var account = 0.0
    /// What pictures of late left after prediction: a moving mean.
    var usual = ResidualHistogram()
    var isKnown = false
    var ratio = BitRatio()
    /// What came of its pictures of the last moments, and what the model made of them, in bits.
    var came = 0.0
    var expected = 0.0
    /// The QP of its last frame, and its bits.
    var qp = 0.0
    var bits = 0.0
    /// Its last frame took far less than it could have.
    var isIdle = false
    /// Its last frame had not enough for all of its macroblocks.
    var isStarved = false
  }

  /// Seconds over which the mean of the pictures goes, over which the model is held against what came, over which what is
  /// beyond the rate is worked off, and what of the rate a layer keeps as left over. (A picture may take little more than its share at once, but far less: what is
  /// left over must keep until it can be used, the more so at few pictures a second.)
  private static let memory = (pictures: 0.15, model: 0.5, excess: 1.0, rest: 0.4)
  /// Least and most of its share that a picture is meant to take to work off what is beyond the rate, or left over.
  private static let correction = (least: 0.65, most: 1.5)
  /// Parts of what the bound leaves, and of what keeps the rate even: for any picture beyond its share, for a key
  /// frame or a cut, of the bound and of what keeps the rate even; and the latter's most in shares of a frame.
  private static let parts = (picture: 0.25, new: 0.5, newEven: 0.8, newShares: 8.0)
  /// Shares of a frame that a key frame or a cut may take in any case, and the part of the bound that this may be: at few pictures
  /// a second half of the bound is little more than one share.
  private static let least = (shares: 3.0, part: 0.7)
  /// Part of the bound that may be waiting whatever comes, so that what was left over can be used; what stands beyond it is
  /// worked off.
  private static let standing = 0.3
  /// A key frame or a cut that could be finer than the first is so by the second part alone: what moves inherits little of it,
  /// and what stands still is refined by those after it.
  private static let restraint = (above: 28.0, part: 0.5)
  /// Least of its share that a picture has room for, whatever came before.
  private static let leastRoom = (line: 0.3, even: 0.05)
  /// Parts of their share that pictures of the next seconds are to have still: after a key frame or a cut, after any.
  private static let reserve = (new: 0.6, picture: 0.5)
  /// How fast the QP of ordinary pictures falls and rises, in steps a picture.
  private static let pace = (down: 2.0, up: 5.0)
  /// Above the first novelty what follows a picture inherits little of it; below the second, most.
  private static let propagatedCosts = (none: PreAnalysisResult.mostlyNew, full: 0.3)
  /// Weights of a picture in what is known of the factor: usually, after a miss by half, after a key frame.
  private static let learning = (usual: 0.25, missed: 0.5, early: 0.6)
  /// By how much the QP falls from a frame of a still picture that took next to nothing to the next one.
  private static let refinement = (least: -5.0, most: -10.0)
  /// By how much it rises from one that a hard limit left nothing for in part.
  private static let starvedStep = 4.0
  /// Seconds of the rate beyond it that a still picture is refined at.
  private static let refinementQueue = 0.1
  /// How bits fall with the step size where only refinement is coded.
  private static let refinementSlope = 1.3
  /// Bits of the headers of a frame, start codes, delimiter and a slice's header, and of those of a key frame, which parameter sets come
  /// before.
  private static let headers = (frame: 256.0, keyFrame: 1024.0)
  /// Usual intervals of which a pause gives a layer its share of the rate.
  private static let longestGain = 3.0
  /// Frames after a fall of the rate that together keep to the new one.
  private static let cautiousFrameCount = 10

  private var configuration: H264EncoderConfiguration
  private var layers = [Layer](repeating: Layer(), count: 8)
  private var line: TransmissionQueue
  private var limits: HardLimits
  private var cascade = QualityCascade()
  /// The factor of pictures that nothing predicts.
  private var intraRatio = BitRatio()
  private var floor = SceneMinimumQP()
  private var framesSinceKey = 0
  private var rateChanged = false
  private var interval: TypicalFrameInterval
  /// After a fall of the rate: frames that must fit the new rate together, and the bits left for them.
  private var cautiousFrames = 0
  private var cautiousBits = 0.0
  private let rows: Int
  private let columns: Int
  private let sharesP: UnsafeMutablePointer<Float>
  private let sharesI: UnsafeMutablePointer<Float>

  // The frame being coded.
  private var layer = 0
  private var duration = 0.0
  private var share = 1.0
  /// Its share of the rate in bits.
  private var perFrame = 0.0
  /// What the time since the last frame gives it.
  private var gained = 0.0
  private var residual = ResidualHistogram()
  /// Nothing predicts it: a key frame or a cut.
  private var isNew = false
  /// Its QP was asked for: it says nothing of what others are to have.
  private var isFixed = false
  /// It was told what to refer to: that is further away than usual.
  private var isRepair = false
  private var isStill = false
  /// Hard limits leave less than the line.
  private var isLimited = false
  /// Bits beyond which its macroblocks were skipped.
  private var lastLimit = Double.infinity

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

  mutating func reconfigure(_ new: H264EncoderConfiguration) {
    if let old = configuration.rate, let rate = new.rate, old != rate {
      rateChanged = true
      // What was saved or overspent at the old rate says little about the new one.
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

  mutating func plan(
    isKeyFrame: Bool, isSceneChange: Bool, options: H264FrameOptions, facts: PreAnalysisResult
  ) -> Decision {
    layer = options.temporalLayer
    // Beyond these a duration says nothing more about bits, and could leave the range of numbers.
    duration = min(max(options.duration ?? 1 / configuration.frameRate, 1e-4), 120)
    isRepair = options.references != .automatic && !isKeyFrame
    isNew = isKeyFrame || isSceneChange
    isFixed = options.qp != nil
    var decision = Decision()
    let (minQP, maxQP) = (configuration.minimumQP, configuration.maximumQP)
    interval.take(duration)
    // It is sent now: what was sent before has passed by as much.
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
    // Uneven times are no reason for uneven pictures, and a frame that fills the line that a pause has emptied would
    // come late.
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
      // The time passes and drains the line.
      decision.drop = true
      account(0)
      return decision
    }
    if isFixed {
      // In place of what rate control would choose, for this picture alone: hard limits bound it, and nothing else.
      if let allowed { limit(&decision, target: allowed * 0.9, maximum: allowed, most: allowed, isKeyFrame) }
      lastLimit = allowed ?? .infinity
      return decision
    }
    layers[layer].qp = qp - offset
    limit(&decision, target: target, maximum: min(maximum, room), most: room, isKeyFrame)
    if maxQP < 51 {
      // With a cap on the QP a frame may cost more than it should; frames after it are dropped for that where that
      // is allowed, and no macroblock is given up.
      decision.budget?.limit = allowed ?? .infinity
    } else {
      decision.largest = room
    }
    lastLimit = decision.budget?.limit ?? .infinity
    return decision
  }

  /// The usual time between frames.
  private var usualDuration: Double { interval.seconds }

  private typealias Aim = (qp: Double, bits: Double, most: Double)

  private var ratio: Double {
    if isNew { return intraRatio.value }
    let state = layers[layer]
    // A layer's first frame is as those of the layers below.
    let known = state.ratio.isKnown ? state.ratio : layers.first { $0.ratio.isKnown }?.ratio ?? intraRatio
    return known.value * (isRepair ? 2.5 : 1)
  }

  /// The QP at which this picture takes so many bits.
  private func qp(for bits: Double) -> Double { BitModel.qp(residual, units: max(bits, 1) / ratio) }

  private func bits(at qp: Double) -> Double { BitModel.units(residual, qp: qp) * ratio }

  /// A key frame or a cut: as good as the line allows at once, since what follows inherits it.
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
        // Just after a fall of the rate no picture takes what others are to inherit.
        offset = cascade.next(strength: cautiousFrames > 0 ? 0 : inherited)
        qp += offset
      }
      floor.pass(duration)
      // Never finer than what fits.
      qp = max(qp, self.qp(for: most))
      // Nothing else needs what refines a still picture.
      if !isStill { qp = max(qp, floor.qp) }
    }
    return (qp, min(bits(at: qp), most), min(room * 0.95, max(most * 1.5, perFrame * 2)))
  }

  /// Without layers a frame has all that its duration gives.
  private var hasWholeShare: Bool { abs(share - 1) < 0.05 }

  /// By how much more comes than the model says. Its factor is a mean of logarithms, that of a usual picture; where every
  /// fourth picture takes most of the bits, pictures take more than that in the mean.
  private func modelError(_ state: Layer) -> Double {
    min(max((state.came + perFrame) / (state.expected + perFrame), 0.5), 2)
  }

  /// Takes the picture into the mean of those of its layer.
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

  /// The most that an ordinary picture may take: beyond its share a part of what the bound leaves, so that several
  /// such pictures come ever closer to it and never pass it.
  private func largestUsual(_ room: Double) -> Double {
    let part = LowLatencyRateControl.parts.picture
    let even = max(
      line.evenRoom(keeping: LowLatencyRateControl.reserve.picture),
      perFrame * LowLatencyRateControl.leastRoom.even)
    return min(
      room * 0.9, perFrame + max(room - perFrame, 0) * part,
      min(even, perFrame) + max(even - perFrame, 0) * part)
  }

  /// Of the cascade, for the frame being coded.
  private var offset = 0.0

  /// A picture that stands still takes nothing until the QP falls far enough to refine it, whatever the model says.
  private func refined(_ state: Layer, _ wanted: Double) -> Double {
    // What was left out says nothing: all of the picture has its turn at a QP that there is enough for.
    if state.isStarved { return min(state.qp + LowLatencyRateControl.starvedStep, 51) }
    if state.isIdle {
      // What waits goes first: it would delay whatever begins to move, and a cut.
      if state.account > (configuration.rate ?? 0) * LowLatencyRateControl.refinementQueue { return state.qp }
      return state.qp
        + (state.account <= 0
          ? LowLatencyRateControl.refinement.most : LowLatencyRateControl.refinement.least)
    }
    let change = 6 / LowLatencyRateControl.refinementSlope * log2Approx(max(state.bits, 1) / max(wanted, 1))
    return state.qp + max(-3, min(4, abs(change) < 0.4 ? 0 : change * 0.5))
  }

  private func limit(
    _ decision: inout Decision, target: Double, maximum: Double, most: Double, _ isKeyFrame: Bool
  ) {
    decision.budget = RowBudget(
      target: max(target, 64), maximum: max(maximum, 64), limit: max(most, 64),
      cheapest: cheapest(isKeyFrame),
      minQP: configuration.minimumQP, maxQP: configuration.maximumQP,
      shares: isKeyFrame ? sharesI : sharesP)
  }

  private func cheapest(_ isKeyFrame: Bool) -> Double {
    RowBudget.cheapest(isKeyFrame: isKeyFrame, cabac: configuration.cabac)
  }

  /// Whether hard limits leave no room for a frame's headers and its cheapest macroblocks, and will when time has passed.
  private func mustWait(isKeyFrame: Bool, allowed: Double?) -> Bool {
    let headers = LowLatencyRateControl.headers
    let least =
      (isKeyFrame ? headers.keyFrame : headers.frame) + Double(rows * columns) * cheapest(isKeyFrame)
    guard let allowed, least > allowed else { return false }
    return least
      <= limits.largestFrame(duration: min(duration, usualDuration), afterPause: true) ?? .infinity
  }

  /// Whether the frame, even at the highest QP, would make the line late.
  private func mustDrop(allowed: Double?) -> Bool {
    let least = bits(at: Double(configuration.maximumQP))
    if let allowed, least > allowed { return true }
    if mustWait(isKeyFrame: false, allowed: allowed) { return true }
    let room = line.room(duration: usualDuration)
    // Frames that nothing refers to go first.
    if layer > 0 { return least > room - line.bound(duration: usualDuration) * line.rate * 0.5 }
    // A frame that takes longer than the bound is sent as soon as the line is free for it.
    return least > room && line.backlog > 0
  }

  // MARK: - After the frame

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

  /// Takes in what the frame became. `rowBits` are the bits of each macroblock row, `isCurtailed` says that it has less than it wanted
  /// (a hard limit).
  mutating func finish(
    bits: Int, qp: Double, isKeyFrame: Bool, isSceneChange: Bool, isCurtailed: Bool = false,
    rowBits: UnsafePointer<Int32>
  ) {
    account(Double(bits))
    guard configuration.rate != nil else { return }
    rateChanged = false
    if !isFixed { floor.note(min(max(qp, 0), 51), duration: duration) }
    // As `RowBudget.isExhausted` saw it.
    let isExhausted =
      isCurtailed || Double(bits + 512) + Double(rows * columns) * cheapest(isKeyFrame) > lastLimit
    learnShares(bits, isKeyFrame, rowBits, isExhausted)
    let units = BitModel.units(residual, qp: min(max(qp, 0), 51))
    layers[layer].bits = Double(bits)
    let isStarved = isCurtailed || isExhausted && isLimited
    layers[layer].isStarved = isStarved
    if isNew {
      if !isCurtailed { intraRatio.learn(bits: Double(bits), units: units, weight: 0.5) }
      // What comes is another scene: its pictures are not those before.
      for i in layers.indices {
        layers[i].isKnown = false
        (layers[i].came, layers[i].expected) = (0, 0)
        // The first of a stream is all there is to go by.
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
    // What the rows made of it.
    if isFixed { return }
    let miss = qp - offset - layers[layer].qp
    if abs(miss) > 1 { layers[layer].qp += miss * 0.5 }
  }

  private mutating func learnShares(
    _ bits: Int, _ isKeyFrame: Bool, _ rowBits: UnsafePointer<Int32>, _ isExhausted: Bool
  ) {
    let shares = isKeyFrame ? sharesI : sharesP
    let total = Float(max(bits, 1))
    var sum: Float = 0
    for y in 0..<rows {
      var now = max(Float(rowBits[y]), 1) / total
      // Rows that got nothing because nothing was left would never get anything again.
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
