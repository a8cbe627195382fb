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
package struct LowLatencyRateControl {
  /// The decisions for a frame.
  package struct Decision {
    /// Whether the frame is dropped.
    package var drop = false
    /// The QP that the frame is to begin with, 0 to `LowLatencySettings.coarsestQP`.
    package var qp = 26
    /// The bits that its rows share; nil where there is neither a rate nor a hard limit.
    package var budget: RowBudget?
    /// The bits that hard limits and the bound leave for the frame; nil without either.
    package var largest: Double?
    /// The bits that hard limits leave for it; nil without any.
    package var allowed: Double?
  }

  /// The state of a temporal layer.
  package struct Layer {
    /// The bits sent beyond the layer's share of the rate; below 0 where bits are left.
    package var account = 0.0
    /// The moving mean of the residual histograms of recent frames.
    package var typical = ResidualHistogram()
    /// Whether `typical` and the model's sums are those of the present scene.
    package var isKnown = false
    /// The ratio of bits to model units.
    var ratio = BitRatio()
    /// The bits of the layer's recent frames, and the bits that the model gave for them: sums that
    /// decay over `memory.model` seconds.
    var actualBits = 0.0
    package var expected = 0.0
    /// The QP of the layer's last frame without the cascade's offset, and the bits of that frame.
    package var qp = 0.0
    package var bits = 0.0
    /// Whether the bits of its last frame were not enough for all macroblocks.
    var isStarved = false
  }

  /// Times in seconds: of the moving mean of residuals, of the comparison of the model with the
  /// results, of working off bits beyond the rate, and the duration of the rate that a layer may
  /// keep unused. (A frame can take little more than its share at once but far less, so unused bits
  /// must be kept until they can be used, the more so at few frames per second.)
  package static let memory = (pictures: 0.15, model: 0.5, excess: 1.0, rest: 0.4)
  /// The least and the most that a frame is meant to take, in shares, to work off bits beyond the
  /// rate or to use bits left.
  package static let correction = (minimum: 0.65, maximum: 1.5)
  /// Shares of the bits that the bound and the even rate leave. `picture`: that any frame may take
  /// beyond its own share. `new` and `newEven`: that a key frame or a scene cut may take of the
  /// bound and of the even rate. `newShares` is the most for such a frame, as a multiple of a
  /// frame's share.
  package static let parts = (picture: 0.25, new: 0.5, newEven: 0.8, newShares: 8.0)
  /// The bits that a key frame or a scene cut may take in any case, as a multiple of a frame's
  /// share, as far as that is at most `part` of what the bound leaves. At few frames per second
  /// half of the bound is little more than one share.
  package static let least = (shares: 3.0, part: 0.7)
  /// The share of the bound that the standing queue may take, so that unused bits can be used; what
  /// stands beyond it is worked off.
  static let standing = 0.3
  /// A key frame or a scene cut whose QP could be below `above` goes only `part` of the way below
  /// it. Moving content refers to it little, and still content is refined by the frames that
  /// follow.
  static let unpredictedQPLimit = (above: 28.0, part: 0.5)
  /// The least bits that a frame has room for whatever came before, in shares: within the bound of
  /// the link, and within the even rate.
  static let minRoom = (link: 0.3, even: 0.05)
  /// The part of their share that the frames of the next seconds shall still have, after a key
  /// frame or a scene cut and after any other frame.
  static let reserve = (new: 0.6, picture: 0.5)
  /// The QP steps per frame by which the QP of ordinary frames may fall and rise.
  static let pace = (down: 2.0, up: 5.0)
  /// The novelty (`PreAnalysisResult.novelty`) above which the next frames hardly refer to a frame,
  /// so that the cascade is off, and the novelty below which it has its full strength.
  static let cascadeNovelty = (none: PreAnalysisResult.mostlyNew, full: 0.3)
  /// The weight of a frame in the learned ratio of bits to units: usually, after an error by a
  /// factor of two or more, and in the first frames after a key frame.
  static let learning = (typical: 0.25, missed: 0.5, early: 0.6)
  /// The QP steps from a still frame that a hard limit left too few bits for to the next one.
  static let starvedStep = 4.0
  /// Shares of the available bits for the first change after static content: `maximum` is the upper
  /// limit, `sharp` the largest share that is planned where it suffices for a sharp picture, and
  /// `coarse` the share that is planned otherwise. The remainder covers errors of the estimate.
  static let changeParts = (maximum: 0.9, sharp: 0.75, coarse: 0.6)
  /// The bits of a frame's start codes, delimiter and slice header; those of a key frame are
  /// `LowLatencySettings.keyFrameHeaders`.
  static let frameHeaders = 256.0
  /// The largest number of typical frame intervals for which a pause gives a layer its share of the
  /// rate.
  static let longestGain = 3.0
  /// The number of frames after a reduction of the rate that together keep to the new one.
  static let cautiousFrameCount = 10

  /// The settings of the stream.
  package var settings: LowLatencySettings
  /// The state of each temporal layer, by its number.
  var layers = [Layer](repeating: Layer(), count: 8)
  /// The link with the target rate.
  var link: TransmissionQueue
  /// The hard limits.
  var limits: HardLimits
  /// The QP offsets of the frames after a key frame.
  package var cascade = QualityCascade(.lowLatency)
  /// The ratio of bits to units of frames that are not predicted from others.
  var intraRatio = BitRatio()
  /// The lowest QP that the present scene may have.
  var floor = SceneMinimumQP()
  /// How far a static picture has been sharpened.
  var still: StillRefinement
  /// The number of frames since the last key frame or scene cut.
  var framesSinceKey = 0
  /// Whether the rate has changed since the last frame.
  var rateChanged = false
  /// The typical time between frames.
  var interval: TypicalFrameInterval
  /// After a reduction of the rate: the number of frames that have to fit the new rate together,
  /// and the bits left for them.
  var cautiousFrames = 0
  var cautiousBits = 0.0
  /// The number of macroblock rows and columns.
  package let rows: Int
  package let columns: Int
  /// The shares of the bits that each macroblock row took in P pictures and in key frames
  /// (`RowBudget.shares`).
  let sharesP: UnsafeMutablePointer<Float>
  let sharesI: UnsafeMutablePointer<Float>
  /// The same of a frame that is not predicted from others, as the pre-analysis expects it: what
  /// rows of the scene before took says nothing of it.
  private let expectedShares: UnsafeMutablePointer<Float>
  /// Whether `expectedShares` are those of the present frame.
  private var hasExpectedShares = false

  // The frame being coded:
  /// The temporal layer of the frame.
  package var layer = 0
  /// Seconds since the frame before.
  package var duration = 0.0
  /// The frame's part of the bits that a frame gets on average (`CodingRequest.budgetShare`).
  package var share = 1.0
  /// The bits that the frame gets by its share, for a typical interval.
  var frameShareBits = 0.0
  /// The bits by which the time since the last frame relieves the account of its layer.
  var accountCredit = 0.0
  /// The residual of the frame by the pre-analysis.
  package var residual = ResidualHistogram()
  /// Whether it is a key frame or a scene cut, so that nothing predicts it.
  var isUnpredicted = false
  /// Whether the caller has set its QP, so that it says nothing about other frames.
  var isFixed = false
  /// Whether the caller has set its references, which are then further away than usual.
  package var hasChosenReferences = false
  /// Whether the picture is static.
  package var isStill = false
  /// Whether hard limits leave fewer bits than the link.
  package var isLimited = false
  /// The highest QP of its rows where that is below the stream's.
  var highestRowQP: Int?
  /// The bits beyond which its macroblocks were skipped.
  var lastLimit = Double.infinity

  /// Begins a stream. The memory of the row shares is allocated from `memory`.
  package init(_ settings: LowLatencySettings, memory: inout EncoderMemory) {
    self.settings = settings
    interval = TypicalFrameInterval(seconds: 1 / settings.frameRate)
    link = TransmissionQueue(rate: settings.averageBitRate ?? 0, bound: settings.maximumQueueDelay)
    limits = HardLimits(settings.dataRateLimits)
    still = StillRefinement(maximumPSNR: settings.maximumStillPSNR, minimumQP: settings.minimumQP)
    rows = (settings.height + 15) / 16
    columns = (settings.width + 15) / 16
    sharesP = memory.allocate(Float.self, count: rows)
    sharesI = memory.allocate(Float.self, count: rows)
    expectedShares = memory.allocate(Float.self, count: rows)
    for y in 0..<rows {
      sharesP[y] = 1 / Float(rows)
      sharesI[y] = 1 / Float(rows)
    }
  }

  /// Changes the configuration from the next frame on.
  package mutating func reconfigure(_ new: LowLatencySettings) {
    if let old = settings.averageBitRate, let rate = new.averageBitRate, old != rate {
      rateChanged = true
      // Bits saved or overspent at the old rate say little about the new one.
      let frame = rate / new.frameRate
      for i in layers.indices { layers[i].account = min(max(layers[i].account, 0), frame) }
      link.change(rate: rate)
      floor.forget()
      cautiousFrames = 0
      if rate < old {
        cautiousFrames = LowLatencyRateControl.cautiousFrameCount
        cautiousBits = 0.97 * rate * typicalDuration * Double(cautiousFrames)
      }
    } else if let rate = new.averageBitRate {
      link.rate = rate
    }
    link.bound = new.maximumQueueDelay
    limits.change(to: new.dataRateLimits)
    still.change(maximumPSNR: new.maximumStillPSNR, minimumQP: new.minimumQP)
    settings = new
  }

  /// Whether frames need `PreAnalysis`.
  package var needsPreAnalysis: Bool { settings.averageBitRate != nil }

  // MARK: - Before the frame

  /// Decides about the next frame.
  /// - Parameters:
  ///   - isKeyFrame: whether it is an IDR picture.
  ///   - isSceneChange: whether a new scene begins with it.
  ///   - request: what the caller wants of the frame.
  ///   - properties: what the pre-analysis found.
  package mutating func plan(
    isKeyFrame: Bool, isSceneChange: Bool, request: CodingRequest, properties: PreAnalysisResult
  ) -> Decision {
    beginFrame(isKeyFrame: isKeyFrame, isSceneChange: isSceneChange, request)
    let allowed = limits.largestFrame(duration: min(duration, typicalDuration))
    guard let rate = settings.averageBitRate else {
      return constantQPDecision(request, allowed: allowed, isKeyFrame: isKeyFrame)
    }
    takeShare(rate: rate, request, properties)
    let room = room(allowed: allowed)
    var aim =
      !isStill && still.hasStoodStill && layer == 0 && (isUnpredicted || still.isSharp)
      ? changeAim(room)
      : isUnpredicted ? unpredictedAim(room) : interAim(room, rate: rate, novelty: properties.novelty)
    if cautiousFrames > 0 && !isKeyFrame { aim = cautiousAim(aim) }
    aim = requestedAim(aim, request, allowed: allowed)
    aim.qp = aim.qp.isFinite ? aim.qp : Double(highestPlannedQP)
    aim.qp = min(max(aim.qp, Double(settings.minimumQP)), Double(highestPlannedQP))
    // The model of bits is hardly known above 51, and a frame without any bits stands still. Rows
    // may go further.
    aim.qp = min(aim.qp, max(layers[layer].qp, 51) + LowLatencyRateControl.coarsening)
    return decide(aim, room: room, allowed: allowed, isKeyFrame: isKeyFrame)
  }

  /// The QP steps by which a frame may be coarser than the one before it, above 51.
  private static let coarsening = 3.0

  /// Records the kind and the duration of the next frame, and moves the windows of the hard limits
  /// on.
  private mutating func beginFrame(
    isKeyFrame: Bool, isSceneChange: Bool, _ request: CodingRequest
  ) {
    layer = request.temporalLayer
    // Longer or shorter durations say nothing more about bits, and could exceed the range of
    // numbers.
    duration = min(max(request.duration ?? 1 / settings.frameRate, 1e-4), 120)
    hasChosenReferences = request.hasChosenReferences && !isKeyFrame
    isUnpredicted = isKeyFrame || isSceneChange
    isFixed = request.qp != nil
    interval.take(duration)
    // The frame is sent now: the windows of the limits have moved on by as much.
    limits.pass(seconds: duration)
  }

  /// The decision for a frame of a stream with a constant QP.
  private func constantQPDecision(
    _ request: CodingRequest, allowed: Double?, isKeyFrame: Bool
  ) -> Decision {
    var qp = request.qp ?? 26
    if request.qp == nil, case .constantQP(let fixed) = settings.rate { qp = fixed }
    var decision = Decision()
    (decision.largest, decision.allowed) = (allowed, allowed)
    decision.qp = min(max(qp, settings.minimumQP), settings.maximumQP)
    if let allowed { limit(&decision, target: allowed * 0.9, maximum: allowed, limit: allowed, isKeyFrame) }
    return decision
  }

  /// Drains the queue by the time since the last frame, and takes the share and the residual of the
  /// next one.
  private mutating func takeShare(rate: Double, _ request: CodingRequest, _ properties: PreAnalysisResult) {
    link.drain(duration)
    share = request.budgetShare
    // The bits of a frame do not follow the jitter of its time, and a frame that fills a link that
    // a pause has emptied would arrive late.
    frameShareBits = rate * typicalDuration * share
    accountCredit = rate * min(duration, typicalDuration * LowLatencyRateControl.longestGain) * share
    residual = properties.residual
    takeShares(properties.rowUnits)
    isStill = properties.isStill && !isUnpredicted
    offset = 0
    highestRowQP = nil
  }

  /// Takes the shares of the rows of a frame that is not predicted from others.
  /// - Parameter units: what each row will take; nil where it is not known.
  private mutating func takeShares(_ units: UnsafePointer<Float>?) {
    hasExpectedShares = false
    guard isUnpredicted, let units else { return }
    var sum: Float = 0
    for y in 0..<rows { sum += units[y] }
    guard sum > 0 else { return }
    for y in 0..<rows { expectedShares[y] = units[y] / sum }
    hasExpectedShares = true
  }

  /// The bits that the bound of the link and hard limits leave for the frame.
  /// - Parameter allowed: the bits that hard limits leave; nil without any.
  private mutating func room(allowed: Double?) -> Double {
    let room = max(link.room(duration: typicalDuration), frameShareBits * LowLatencyRateControl.minRoom.link)
    isLimited = allowed.map { $0 < room } ?? false
    return allowed.map { min(room, $0) } ?? room
  }

  /// The aim for one of the first frames after a reduction of the rate, which together keep to the
  /// new one.
  /// - Parameter usual: the aim for the frame elsewhere.
  private func cautiousAim(_ typical: Aim) -> Aim {
    var aim = typical
    let fair = max(cautiousBits, 0) / Double(cautiousFrames) * share
    let maximum = min(fair * 0.92, rateChanged ? frameShareBits * 0.9 : .infinity)
    if aim.bits > maximum { aim = (max(aim.qp, qp(for: maximum)), maximum, aim.maximum) }
    aim.maximum = min(aim.maximum, max(min(fair * (rateChanged ? 1.15 : 1.5), cautiousBits), 1000))
    return aim
  }

  /// The aim for a frame within hard limits and with the number of bits or the QP that the caller
  /// has set.
  private func requestedAim(_ typical: Aim, _ request: CodingRequest, allowed: Double?) -> Aim {
    var aim = typical
    if let bits = request.targetBits {
      aim = (qp(for: Double(bits)), Double(bits), Double(bits) * 1.25)
    }
    if let allowed, aim.bits > allowed * 0.93 {
      aim.bits = allowed * 0.93
      aim.qp = max(aim.qp, qp(for: aim.bits))
    }
    if let fixed = request.qp { aim.qp = Double(fixed) }
    return aim
  }

  /// The decision for a frame of a stream with a rate: whether to drop it, its QP and its bits.
  /// - Parameters:
  ///   - aim: the aim for the frame, with a QP within the configured range.
  ///   - room: the bits that the bound and hard limits leave for it.
  ///   - allowed: the bits that hard limits leave for it; nil without any.
  ///   - isKeyFrame: whether it is an IDR picture.
  private mutating func decide(
    _ aim: Aim, room: Double, allowed: Double?, isKeyFrame: Bool
  ) -> Decision {
    var decision = Decision()
    (decision.largest, decision.allowed) = (allowed, allowed)
    decision.qp = Int(aim.qp.rounded())
    if settings.allowsFrameDropping,
      isKeyFrame ? mustWait(isKeyFrame: true, allowed: allowed) : mustDrop(allowed: allowed)
    {
      // Time passes nevertheless and drains the queue.
      decision.drop = true
      account(0)
      if layer == 0 { still.drop() }
      return decision
    }
    if isFixed {
      // The QP replaces the choice of the rate control for this frame alone: only hard limits bound
      // its size.
      if let allowed { limit(&decision, target: allowed * 0.9, maximum: allowed, limit: allowed, isKeyFrame) }
      lastLimit = allowed ?? .infinity
      return decision
    }
    // The QP of what moves continues where it was before a still picture.
    if !isStill || layers[layer].isStarved { layers[layer].qp = aim.qp - offset }
    limit(&decision, target: aim.bits, maximum: min(aim.maximum, room), limit: room, isKeyFrame)
    if settings.maximumQP < 51 {
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
  var typicalDuration: Double { interval.seconds }

  /// The aim for a frame: its QP, its bits, and the most bits that it may take.
  package typealias Aim = (qp: Double, bits: Double, maximum: Double)

  /// The factor from model units to bits for the present frame.
  var ratio: Double {
    if isUnpredicted { return intraRatio.value }
    let state = layers[layer]
    // The first frame of a layer is taken to be like those of the layers below.
    let known = state.ratio.isKnown ? state.ratio : layers.first { $0.ratio.isKnown }?.ratio ?? intraRatio
    return known.value * (hasChosenReferences ? 2.5 : 1)
  }

  /// The highest QP that the present frame may have.
  var highestPlannedQP: Int { settings.highestPlannedQP(isUnpredicted: isUnpredicted) }

  /// The QP at which the present frame takes a number of bits.
  package func qp(for bits: Double) -> Double {
    BitModel.qp(residual, units: max(bits, 1) / ratio, highest: highestPlannedQP)
  }

  /// The bits that the present frame takes at a QP.
  package func bits(at qp: Double) -> Double {
    BitModel.units(residual, qp: qp, highest: highestPlannedQP) * ratio
  }

  /// Whether the frame has its full share, as all frames of a stream without temporal layers have.
  var hasWholeShare: Bool { abs(share - 1) < 0.05 }

  /// The QP offset of the cascade for the present frame.
  package var offset = 0.0

  /// Sets the budget of the frame's rows.
  /// - Parameters:
  ///   - decision: gets the budget.
  ///   - target: the bits that the frame should take.
  ///   - maximum: the bits beyond which the QP of its rows rises.
  ///   - limit: the bits beyond which its macroblocks are skipped.
  ///   - isKeyFrame: whether it is an IDR picture.
  package func limit(
    _ decision: inout Decision, target: Double, maximum: Double, limit: Double, _ isKeyFrame: Bool
  ) {
    decision.budget = RowBudget(
      target: max(target, 64), maximum: max(maximum, 64), limit: max(limit, 64),
      cheapest: cheapest(isKeyFrame),
      minQP: settings.minimumQP,
      maxQP: min(highestRowQP ?? highestPlannedQP, highestPlannedQP),
      shares: hasExpectedShares ? expectedShares : isKeyFrame ? sharesI : sharesP)
  }

  /// The bits of the cheapest macroblock.
  package func cheapest(_ isKeyFrame: Bool) -> Double {
    isKeyFrame ? settings.cheapestBlock.keyFrame : settings.cheapestBlock.other
  }

  /// Whether hard limits leave too few bits for a frame's headers and its cheapest macroblocks now,
  /// but will leave enough when time has passed.
  func mustWait(isKeyFrame: Bool, allowed: Double?) -> Bool {
    let headers = isKeyFrame ? settings.keyFrameHeaders : LowLatencyRateControl.frameHeaders
    let least =
      headers + Double(rows * columns) * cheapest(isKeyFrame)
    guard let allowed, least > allowed else { return false }
    return least
      <= limits.largestFrame(duration: min(duration, typicalDuration), afterPause: true) ?? .infinity
  }

  /// Whether the frame would exceed the bound of the link, or a hard limit, even at the highest QP.
  func mustDrop(allowed: Double?) -> Bool {
    let least = bits(at: Double(settings.maximumQP))
    if let allowed, least > allowed { return true }
    if mustWait(isKeyFrame: false, allowed: allowed) { return true }
    let room = link.room(duration: typicalDuration)
    // Frames that no other frame refers to are dropped first.
    if layer > 0 { return least > room - link.bound(duration: typicalDuration) * link.rate * 0.5 }
    // A frame that takes longer than the bound by itself is sent as soon as the link is free.
    return least > room && link.backlog > 0
  }
}
