/// Decides each frame's QP before it is coded, and whether to drop it. One frame deep: no look-ahead.
///
/// Every temporal layer has a leaky bucket: frames fill it, the layer's share of the rate drains it. A
/// frame's target is its share of the rate less a part of what the bucket still holds, and more by a part of what was
/// not used of late. Bits are predicted
/// from the last frame of the layer by bits = C / step^a, with key frames predicted from their detail
/// (`PictureAnalysis.intraBits`). Hard limits count what was sent in their window and cap the frame.
struct RateController {
  struct Decision {
    var drop = false
    var qp = 26
    var budget: RowBudget?
    /// Bits that the limits leave for the frame, nil without limits.
    var largest: Double?
  }

  /// State of a temporal layer.
  private struct Layer {
    /// Bits sent beyond the layer's share of the rate.
    var fullness = 0.0
    /// Bits of the layer's share that were not used. The bucket forgets them at once, lest they come as one late frame;
    /// they come back over seconds, and are forgotten over seconds: a channel that was idle does not make up for it.
    var unused = 0.0
    /// When its last frame ended.
    var end = 0.0
    /// C of the model; 0: nothing known.
    var complexity = 0.0
    /// The QP of its last frame, before rounding.
    var qp = 0.0
    /// Its last frame took far less than it could have.
    var isIdle = false
  }

  private struct Sent {
    var time: Double
    var bits: Double
  }

  /// How bits fall with the step size in P frames.
  private static let slope = 1.3
  /// Seconds over which a bucket's excess is worked off, and over which what is left in it is used.
  private static let recovery = (excess: 1.0, rest: 0.25)
  /// Seconds of the rate that a bucket remembers as unused; of the layer's rate that come back; over how many; and in
  /// how many half of them are forgotten.
  private static let memory = (bucket: 0.25, unused: 0.5, use: 1.8, half: 3.0)
  /// By how much the QP falls from a frame of a still picture that took next to nothing to the next one.
  private static let refinement = (least: -5.0, most: -10.0)
  /// Frames after a cut of the rate that together keep to the new one.
  private static let cautiousFrameCount = 10

  /// Frames that the hard limits look back at.
  private static let historyCapacity = 4096

  private var configuration: EncoderConfiguration
  private var layers = [Layer](repeating: Layer(), count: 8)
  private var history: [Sent] = []
  private var time = 0.0
  private var rateChanged = false
  /// Bits sent beyond the rate, over all layers: what the channel still has to carry.
  private var debt = 0.0
  /// The usual time between frames, which a pause does not change at once.
  private var usualDuration: Double
  /// After a cut of the rate: frames that must fit the new rate together, and the bits left for them.
  private var cautiousFrames = 0
  private var cautiousBits = 0.0
  private var interIntraRatio = 0.25
  /// By how much frames miss their targets for a while, as a base-2 logarithm: what is asked of the QP is
  /// raised by it.
  private var bias = 0.0
  private let rows: Int
  private let macroblocks: Int
  private let sharesP: UnsafeMutablePointer<Float>
  private let sharesI: UnsafeMutablePointer<Float>

  // The frame being coded.
  private var layer = 0
  private var duration = 0.0
  private var share = 1.0
  /// The frame was told what to refer to: that is further away than usual.
  private var isRepair = false
  /// The bits that its QP was chosen for, before the bias.
  private var target = 0.0

  init(_ configuration: EncoderConfiguration, memory: inout EncoderMemory) {
    self.configuration = configuration
    usualDuration = 1 / configuration.frameRate
    rows = (configuration.height + 15) / 16
    macroblocks = rows * ((configuration.width + 15) / 16)
    sharesP = memory.allocate(Float.self, count: rows)
    sharesI = memory.allocate(Float.self, count: rows)
    for y in 0..<rows {
      sharesP[y] = 1 / Float(rows)
      sharesI[y] = 1 / Float(rows)
    }
    history.reserveCapacity(RateController.historyCapacity)
  }

  mutating func reconfigure(_ new: EncoderConfiguration) {
    if case .averageBitRate(let old) = configuration.rateControl,
      case .averageBitRate(let rate) = new.rateControl, old != rate
    {
      rateChanged = true
      // What was saved or overspent at the old rate says little about the new one.
      let frame = Double(rate) / new.frameRate
      for i in layers.indices {
        layers[i].fullness = min(max(layers[i].fullness, 0), frame)
        layers[i].unused = 0
      }
      debt = min(max(debt, 0), frame)
      cautiousFrames = 0
      if rate < old {
        cautiousFrames = RateController.cautiousFrameCount
        cautiousBits = 0.97 * Double(rate) * usualDuration * Double(cautiousFrames)
      }
    }
    followLimits(new.dataRateLimits)
    configuration = new
  }

  /// What was sent under a wider limit fills a narrower one by the same part: the frames after a cut have what the
  /// new limit gives to as many, rather than nothing until the window has passed.
  private mutating func followLimits(_ new: [EncoderConfiguration.DataRateLimit]) {
    let old = configuration.dataRateLimits
    guard old.count == new.count, zip(old, new).allSatisfy({ $0.seconds == $1.seconds && $0.bytes > 0 })
    else {
      return
    }
    let part = zip(old, new).map { Double($1.bytes) / Double($0.bytes) }.max() ?? 1
    guard part < 1 else { return }
    for i in history.indices { history[i].bits *= part }
  }

  static func step(_ qp: Double) -> Double { 0.625 * exp2Approx(qp / 6) }

  /// Whether frames need `PictureAnalysis`.
  var needsAnalysis: Bool {
    if case .averageBitRate = configuration.rateControl { return true }
    return !configuration.dataRateLimits.isEmpty
  }

  mutating func plan(
    isKeyFrame: Bool, isSceneChange: Bool, options: FrameOptions, analysis: PictureAnalysis
  ) -> Decision {
    layer = options.temporalLayer
    // Beyond these a duration says nothing more about bits, and could leave the range of numbers.
    duration = min(max(options.duration ?? 1 / configuration.frameRate, 1e-4), 120)
    share = options.budgetShare
    isRepair = options.references != .automatic && !isKeyFrame
    var decision = Decision()
    let minQP = configuration.minimumQP
    let maxQP = configuration.maximumQP
    let allowed = largestFrame()
    decision.largest = allowed

    guard case .averageBitRate(let rate) = configuration.rateControl else {
      var qp = options.qp ?? 26
      if options.qp == nil, case .constantQP(let fixed) = configuration.rateControl { qp = fixed }
      decision.qp = min(max(qp, minQP), maxQP)
      if let allowed { limit(&decision, target: allowed * 0.9, maximum: allowed, isKeyFrame, maxQP: maxQP) }
      time += duration
      return decision
    }

    usualDuration += (duration - usualDuration) * 0.2
    // After a pause the channel is empty, but a frame that fills it would come late.
    let perFrame = Double(rate) * min(duration, usualDuration * 1.5) * share
    let fullness = layers[layer].fullness
    let recovery = fullness > 0 ? RateController.recovery.excess : RateController.recovery.rest
    var target = perFrame - fullness * min(1, duration / recovery)
    target += max(layers[layer].unused, 0) * min(1, distance / RateController.memory.use)
    target = min(max(target, perFrame * 0.3), perFrame * 2)
    // A channel of this rate takes so long over the largest frame.
    var maximum = max(Double(rate) * 0.12, perFrame * 2.5)
    if isKeyFrame || isSceneChange {
      let backlog = max(0, debt)
      target = max(Double(rate) * 0.35 - backlog * 0.5, perFrame * 3)
      maximum = max(Double(rate) * 0.5, perFrame * 4)
    }
    if rateChanged && !isKeyFrame && cautiousFrames > 0 {
      maximum = max(perFrame * 1.15, 3000)
      target = min(target, perFrame * 0.9)
    }
    if cautiousFrames > 0 && !isKeyFrame {
      let fair = max(cautiousBits, 0) / Double(cautiousFrames) * share
      target = min(target, fair * 0.92)
      maximum = min(maximum, max(min(fair * 1.5, cautiousBits), 1000))
    }
    if let bits = options.targetBits {
      target = Double(bits)
      maximum = target * 1.25
    }
    if let allowed {
      maximum = min(maximum, allowed)
      target = min(target, allowed * 0.93)
    }

    target = max(target, 1)
    self.target = target
    let aim = isKeyFrame || isSceneChange ? target : target * exp2Approx(bias)
    var qp = predictQP(
      aim, refinesFrom: perFrame * 0.8, isKeyFrame: isKeyFrame, isSceneChange: isSceneChange, analysis)
    if let fixed = options.qp { qp = Double(fixed) }
    qp = qp.isFinite ? min(max(qp, Double(minQP)), Double(maxQP)) : Double(maxQP)
    decision.qp = Int(qp.rounded())

    if configuration.allowsFrameDropping && !isKeyFrame
      && mustDrop(rate: Double(rate), perFrame: perFrame, allowed: allowed, maxQP: maxQP)
    {
      // The time passes and drains the bucket.
      decision.drop = true
      account(0)
      return decision
    }
    limit(&decision, target: target, maximum: maximum, isKeyFrame, maxQP: maxQP)
    // With a cap on the QP a frame may cost more than it should; frames after it are dropped for that, and
    // no macroblock is given up.
    if configuration.allowsFrameDropping && maxQP < 51 { decision.budget?.limit = allowed ?? .infinity }
    layers[layer].qp = qp
    return decision
  }

  private func limit(
    _ decision: inout Decision, target: Double, maximum: Double, _ isKeyFrame: Bool, maxQP: Int
  ) {
    decision.budget = RowBudget(
      target: max(target, 64), maximum: max(maximum, 64), limit: max(maximum, 64),
      // P_Skip, and an intra prediction without residual.
      cheapest: isKeyFrame ? 6 : 0.125,
      minQP: configuration.minimumQP, maxQP: maxQP,
      shares: isKeyFrame ? sharesI : sharesP)
  }

  private mutating func predictQP(
    _ target: Double, refinesFrom leastRoom: Double, isKeyFrame: Bool, isSceneChange: Bool,
    _ analysis: PictureAnalysis
  ) -> Double {
    let state = layers[layer]
    if isKeyFrame || isSceneChange || state.complexity == 0 {
      if !isKeyFrame && !isSceneChange {
        // A layer's first frame: as the layers below.
        if let known = layers.first(where: { $0.complexity > 0 }) {
          return known.qp + (layer > 0 ? 1 : 0)
        }
        return analysis.intraQP(bits: target / interIntraRatio)
      }
      return analysis.intraQP(bits: target)
    }
    let complexity = state.complexity * (isRepair ? 2.5 : 1)
    let step = exp2Approx(log2Approx(max(complexity / target, 1e-6)) / RateController.slope)
    var qp = 6 * log2Approx(step / 0.625)
    if !rateChanged && !isRepair {
      // Steady content keeps a steady QP: small wishes wait.
      let change = qp - state.qp
      if state.isIdle && analysis.isStill && self.target >= leastRoom {
        // A still picture takes nothing until the QP falls far enough to refine it, whatever the model says.
        qp = state.qp + max(RateController.refinement.most, min(RateController.refinement.least, change))
      } else if abs(change) < 0.4 {
        qp = state.qp
      } else if state.isIdle {
        qp = state.qp + max(RateController.refinement.most, min(4, change))
      } else {
        qp = state.qp + max(-3, min(4, change * 0.5))
      }
    }
    return qp
  }

  /// Whether the frame, even at the highest QP, would make the channel late.
  private func mustDrop(rate: Double, perFrame: Double, allowed: Double?, maxQP: Int) -> Bool {
    let state = layers[layer]
    let cost = RateController.step(Double(maxQP))
    let least =
      state.complexity > 0 ? state.complexity / exp2Approx(log2Approx(cost) * RateController.slope) : 0
    if let allowed, least > allowed { return true }
    let after = debt + least - rate * duration
    if layer > 0 {
      // Frames that nothing refers to go first.
      return after > max(rate * 0.04, perFrame)
    }
    if after <= max(rate * 0.1, perFrame * 2) { return false }
    // A frame that takes longer than that is sent as soon as the channel is free for it.
    return debt > rate * duration
  }

  /// The most that the hard limits leave for the frame, in bits; nil: no limits.
  private func largestFrame() -> Double? {
    var least: Double?
    for limit in configuration.dataRateLimits {
      // Every window that ends with this frame begins after `time - seconds`.
      var used = 0.0
      for sent in history.reversed() {
        if sent.time <= time - limit.seconds + 1e-9 { break }
        used += sent.bits
      }
      let total = Double(limit.bytes) * 8
      let left = max(total - used, 0)
      // Keep something for the frames to come in this window: a key frame must not starve them.
      let frames = max(1, limit.seconds / duration)
      let reserve = total / frames
      let room = max(left - reserve * 0.5, min(left, reserve)) * 0.98
      least = min(least ?? room, room)
    }
    return least
  }

  /// Forgets what no window holds any more. If all is still in a window, its older half is kept in pairs,
  /// as if both had been sent with the later one: no window is then thought emptier than it is.
  private mutating func shortenHistory() {
    let longest = configuration.dataRateLimits.reduce(0) { max($0, $1.seconds) }
    history.removeAll { $0.time < time - longest }
    let older = history.count / 4
    guard history.count > RateController.historyCapacity * 3 / 4 else { return }
    for i in 0..<older {
      history[i] = Sent(
        time: history[2 * i + 1].time, bits: history[2 * i].bits + history[2 * i + 1].bits)
    }
    history.removeSubrange(older..<2 * older)
  }

  /// Seconds from the end of the layer's last frame to that of this one.
  private var distance: Double { max(time + duration - layers[layer].end, duration) }

  /// Fills the layer's bucket with a frame, and drains it by the layer's share of the rate.
  private mutating func fill(bits: Double, perFrame: Double, rate: Double) {
    let distance = distance
    let layerRate = min(perFrame / distance, rate)
    let memory = RateController.memory
    let filled = layers[layer].fullness + bits - perFrame
    let least = -rate * memory.bucket
    layers[layer].fullness = max(filled, least)
    layers[layer].end = time + duration
    // A pause says no more than a usual frame.
    let usual = min(1, usualDuration * 1.5 / duration)
    let rest = layers[layer].unused * exp2Approx(-distance / memory.half)
    layers[layer].unused = min(rest + perFrame * usual - bits, layerRate * memory.unused)
  }

  private mutating func account(_ bits: Double) {
    if cautiousFrames > 0 {
      cautiousFrames -= 1
      cautiousBits -= bits
    }
    if case .averageBitRate(let rate) = configuration.rateControl {
      let perFrame = Double(rate) * duration * share
      fill(bits: bits, perFrame: perFrame, rate: Double(rate))
      debt = max(debt + bits - Double(rate) * duration, -Double(rate) * 0.2)
    }
    if !configuration.dataRateLimits.isEmpty {
      history.append(Sent(time: time, bits: bits))
      if history.count >= RateController.historyCapacity { shortenHistory() }
    }
    time += duration
  }

  /// Takes in what the frame became. `rowBits` are the bits of each macroblock row.
  mutating func finish(
    bits: Int, qp: Double, isKeyFrame: Bool, isSceneChange: Bool, rowBits: UnsafePointer<Int32>
  ) {
    guard case .averageBitRate = configuration.rateControl else {
      if !configuration.dataRateLimits.isEmpty {
        time -= duration
        account(Double(bits))
      }
      return
    }
    account(Double(bits))
    rateChanged = false
    let shares = isKeyFrame ? sharesI : sharesP
    let total = Float(max(bits, 1))
    for y in 0..<rows {
      let now = max(Float(rowBits[y]), 1) / total
      shares[y] = shares[y] * 0.5 + now * 0.5
    }
    if isKeyFrame || isSceneChange {
      // Detail changed: start the P model from what P frames cost beside key frames so far.
      for i in layers.indices where i == layer || layers[i].complexity > 0 {
        let guess = Double(bits) * interIntraRatio
        layers[i].complexity =
          guess * exp2Approx(log2Approx(RateController.step(qp)) * RateController.slope)
        layers[i].qp = qp + 1
        layers[i].isIdle = false
      }
      lastKeyBits = Double(bits)
      framesSinceKey = 0
      return
    }
    framesSinceKey += 1
    learnBias(bits: Double(bits), qp: qp)
    // A frame that refers to older ones says little about those that follow.
    if isRepair { return }
    layers[layer].isIdle = Double(bits) < target * 0.2
    let complexity =
      Double(max(bits, 200)) * exp2Approx(log2Approx(RateController.step(qp)) * RateController.slope)
    let old = layers[layer].complexity
    // Up at once, since an overshoot costs delay; down more slowly.
    let weight = framesSinceKey < 3 ? 0.9 : complexity > old ? 0.6 : 0.35
    layers[layer].complexity = old == 0 ? complexity : old + (complexity - old) * weight
    layers[layer].qp += (qp - layers[layer].qp) * (abs(qp - layers[layer].qp) > 1 ? 0.7 : 0)
  }

  /// Prediction is cautious, and content has its trends: either leaves frames beside their targets on one
  /// side for seconds. Stillness, which uses no bits at any QP, tells nothing.
  private mutating func learnBias(bits: Double, qp: Double) {
    let isFree = qp > Double(configuration.minimumQP) + 0.5 && qp < Double(configuration.maximumQP) - 0.5
    guard isFree, bits > target * 0.25 else { return }
    let miss = log2Approx(target / bits)
    bias = min(max(bias + 0.05 * min(max(miss, -1), 1), -0.25), 0.25)
  }

  private var lastKeyBits = 0.0
  private var framesSinceKey = 0
}
