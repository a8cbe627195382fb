// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream

/// The low-latency mode of `H264Encoder`: one picture in, one access unit out, nothing held back.
final class LowLatencyEncoder {
  private(set) var configuration: H264EncoderConfiguration

  private var sps: H264SequenceParameterSet
  private var pps: H264PictureParameterSet
  let coder: PictureCoder
  /// Pictures, tables and scratch beside those of the coder.
  private let memory: EncoderMemory
  private let pool: [PicturePlanes]
  private var buffer: DecodedPictureBuffer
  private var output: AccessUnit
  private var rateControl: LowLatencyRateControl
  private var activity: ActivityQuantisation
  private let preAnalysis: PreAnalysis
  private let scrollDetector: ScrollDetector
  /// The last picture that was looked at for a scroll had one.
  private var hasScrolled = false
  private let moveDetector: MoveDetector
  /// Nil where the stream has no weighted prediction.
  private let fadeDetector: FadeDetector?
  /// Pictures coded with weights so far; for tests.
  private(set) var weightedPictures = 0
  private var effortControl: EffortControl
  /// Nanoseconds.
  private let clock: () -> UInt64

  /// Frames (`H264FrameFacts.index`) that the last coded frame may refer to; empty for a key frame.
  private(set) var lastReferences: [UInt64] = []

  private var nextIndex: UInt64 = 0
  private var frameNum = 0
  private var lastWasReference = false
  /// 0 in the first IDR picture, then 1 and 2 in turns, so that a stream may follow another at an IDR picture (7.4.3).
  private var idrPictureID: Int?
  private var orderCount = 0
  private var framesSinceIDR = 0
  private var refreshStep = -1
  /// A refresh was asked for with a picture that nothing refers to, or that was dropped.
  private var owesRefresh = false
  private var lastPicture: Int?
  private var pendingLongTerm: Int?
  /// The frame being coded begins a new scene, which an intra refresh answers.
  private var startsRefresh = false
  /// A key frame was dropped since hard limits left no room for it: the next picture is one.
  private var keyFrameIsDue = false
  private var cascade = ConstantQPCascade()
  /// The QP that the last reference picture was planned with.
  private var lastReferenceQP = 0
  private var referenceUse = ReferenceUse()
  /// References of the frame being coded; kept to keep its memory.
  private var wanted: [DecodedPictureBuffer.Entry] = []
  /// Commands of its slice header, likewise.
  private var modifications: [H264ReferenceListModification] = []
  private var commands: [H264MemoryManagement] = []
  private var weightTable = H264PredictionWeights()

  /// - Throws: `H264EncoderError` with the value that is out of range.
  convenience init(configuration: H264EncoderConfiguration) throws {
    try self.init(configuration: configuration, cpu: ovt_cpu_detect())
  }

  /// `cpu`: a mask of OVT_CPU_*, `clock`: one in nanoseconds that encode times are taken from; both for tests.
  init(
    configuration: H264EncoderConfiguration, cpu: Int32,
    clock: @escaping () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
  ) throws {
    try configuration.validate()
    self.configuration = configuration
    (sps, pps) = try configuration.makeParameterSets()
    coder = PictureCoder(configuration: configuration, sps: sps, pps: pps, cpu: cpu)
    var memory = EncoderMemory()
    var pool: [PicturePlanes] = []
    for _ in 0...configuration.maximumReferences {
      pool.append(PicturePlanes(coder.geometry, memory: &memory))
    }
    self.pool = pool
    buffer = DecodedPictureBuffer(
      capacity: configuration.maximumReferences, maxFrameNum: 1 << sps.log2MaxFrameNum,
      toleratesLosses: configuration.lowLatency.allowsFrameNumberGaps)
    output = AccessUnit(
      pool: FrameMemoryPool(capacity: max(65536, configuration.width * configuration.height / 2)),
      framing: configuration.framing == .lengths ? .length : .startCode)
    rateControl = LowLatencyRateControl(configuration, memory: &memory)
    activity = ActivityQuantisation(coder.geometry, kernels: UnsafePointer(coder.kernels), memory: &memory)
    preAnalysis = PreAnalysis(
      coder.geometry, kernels: UnsafePointer(coder.kernels), threads: coder.threads, memory: &memory)
    scrollDetector = ScrollDetector(coder.geometry, memory: &memory)
    moveDetector = MoveDetector(coder.geometry, memory: &memory)
    fadeDetector =
      pps.hasWeightedPrediction
      ? FadeDetector(coder.geometry, pictures: pool.count, memory: &memory) : nil
    effortControl = EffortControl(configuration)
    self.clock = clock
    self.memory = memory
    wanted.reserveCapacity(64)
    modifications.reserveCapacity(64)
    commands.reserveCapacity(8)
    weightTable.list0.reserveCapacity(16)
    coder.qpOffsets =
      configuration.lowLatency.adaptiveQuantisation > 0 ? UnsafePointer(activity.qpOffsets) : nil
  }

  /// The parameter sets, NAL unit headers included, without start codes.
  var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) { (sps.nalUnit, [pps.nalUnit()]) }

  /// Changes what may change in mid-stream: rates, limits, frame rate, QP range, frame dropping, key-frame
  /// interval, the response to a new scene, the effort, and measurement. The next frame follows it.
  ///
  /// - Throws: `H264EncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream` if anything else
  ///   differs, `.levelExceeded` if the stream's level does not allow the rates; nothing changes then.
  func reconfigure(_ new: H264EncoderConfiguration) throws {
    try new.validate()
    var same = configuration
    same.lowLatency.rateControl = new.lowLatency.rateControl
    same.dataRateLimits = new.dataRateLimits
    same.frameRate = new.frameRate
    same.minimumQP = new.minimumQP
    same.maximumQP = new.maximumQP
    same.lowLatency.allowsFrameDropping = new.lowLatency.allowsFrameDropping
    same.keyFrameInterval = new.keyFrameInterval
    same.measuresError = new.measuresError
    same.lowLatency.sceneChange = new.lowLatency.sceneChange
    same.lowLatency.maximumQueueDelay = new.lowLatency.maximumQueueDelay
    same.effort = new.effort
    same.encodeTimeShare = new.encodeTimeShare
    guard same == new else {
      throw H264EncoderError.fixedInStream(
        "Only rates, limits, the frame rate, the QP range, frame dropping, the key-frame interval, the response "
          + "to a new scene, the effort and measurement may change in mid-stream; make a new encoder for anything else."
      )
    }
    // The level is in the parameter sets already: what it allows cannot grow.
    var fixed = new
    fixed.level = (sps.level?.number).map(Int.init)
    fixed.raisesLevel = false
    _ = try fixed.makeParameterSets()
    try new.checkRates(against: sps.level)
    configuration = new
    coder.configuration = new
    rateControl.reconfigure(new)
    effortControl.reconfigure(new)
  }

  /// Tells that the receiver lacks this frame and, since later ones may depend on it, all that came after:
  /// they are not referred to any more.
  func invalidateReferences(from index: UInt64) { buffer.invalidate(from: index) }

  /// Tells that this frame is the only one that the receiver is known to have: no other is referred to any more.
  func invalidateReferences(except index: UInt64) { buffer.invalidate(except: index) }

  /// Frames that could be referred to now, newest first.
  var availableReferences: [UInt64] { buffer.entries.filter(\.isUsable).map(\.index) }

  /// Whether there is any.
  var hasAvailableReference: Bool { buffer.entries.contains { $0.isUsable } }

  // MARK: - Encoding

  /// Codes a picture. Its memory is read until the call returns.
  ///
  /// - Returns: the frame; `facts.isDropped` if the rate control left it out.
  /// - Throws: `H264EncoderError` if the picture or the options do not fit; the encoder stays as it was.
  func encode(_ source: SourcePicture, options: H264FrameOptions = H264FrameOptions()) throws
    -> H264EncodedFrame
  {
    let start = clock()
    try check(source, options)
    coder.effort = effortControl.effort
    var facts = H264FrameFacts()
    facts.effort = effortControl.effort
    facts.index = nextIndex
    facts.temporalLayer = options.temporalLayer
    output.removeAll()

    var plan = PicturePlan()
    if configuration.lowLatency.adaptiveQuantisation > 0 {
      activity.analyse(source, strength: configuration.lowLatency.adaptiveQuantisation)
    }
    let isAnalysed = rateControl.needsPreAnalysis || configuration.lowLatency.sceneChange != .none
    if isAnalysed { preAnalysis.analyse(source, with: coder, brightness: fadeDetector?.reading) }
    selectReferences(options)
    let isCut = isAnalysed && preAnalysis.isSceneChange
    if let first = wanted.first, isCut || hasScrolled || moveDetector.mayScroll(index: nextIndex) {
      plan.scroll = scrollDetector.distance(
        source, from: pool[first.picture], limit: sps.verticalMotion - 16)
      hasScrolled = plan.scroll != 0
    }
    let refersToLast = wanted.first.map { $0.index + 1 == nextIndex } ?? false
    plan.moves = moveDetector.moves(
      source, index: nextIndex, isSceneChange: isCut, refersToLast: refersToLast,
      limit: sps.verticalMotion - 16)
    // The pre-analysis compares with the last picture.
    if isAnalysed, preAnalysis.camera.isKnown, refersToLast { plan.camera = preAnalysis.camera }
    let isSceneChange = isCut && plan.scroll == 0 && !plan.moves.explainMost
    if isSceneChange && configuration.lowLatency.sceneChange == .keyFrame && options.references == .automatic
    {
      wanted.removeAll(keepingCapacity: true)
    }
    startsRefresh = isSceneChange && configuration.lowLatency.sceneChange == .intraRefresh
    plan.isIDR = wanted.isEmpty
    plan.isReference = options.isReference || plan.isIDR

    let decision = rateControl.plan(
      isKeyFrame: plan.isIDR, isSceneChange: isSceneChange, options: options,
      facts: isAnalysed ? preAnalysis.result(isKeyFrame: plan.isIDR) : PreAnalysisResult())
    nextIndex += 1
    if decision.drop {
      keyFrameIsDue = plan.isIDR
      owesRefresh = owesRefresh || options.startsIntraRefresh || startsRefresh
      facts.isDropped = true
      facts.encodeTime = Double(clock() &- start) * 1e-9
      return H264EncodedFrame(facts: facts, nalUnits: [], byteCount: 0, memory: nil)
    }
    if plan.isIDR { keyFrameIsDue = false }
    plan.qp = decision.qp
    if configuration.lowLatency.cascadesQuality, case .constantQP = configuration.lowLatency.rateControl,
      options.qp == nil,
      plan.isReference, options.temporalLayer == 0
    {
      let qp = decision.qp + cascade.next(isKeyFrame: plan.isIDR)
      plan.qp = min(max(qp, configuration.minimumQP), configuration.maximumQP)
    }
    plan.isBetter = plan.isIDR || plan.isReference && plan.qp <= lastReferenceQP - 2
    if plan.isReference { lastReferenceQP = plan.qp }
    plan.budget = decision.budget

    lastReferences.removeAll(keepingCapacity: true)
    for entry in wanted { lastReferences.append(entry.index) }
    if let fadeDetector {
      weigh(&plan, fadeDetector, isAnalysed ? nil : source, isSceneChange: isSceneChange)
    }
    let target = prepare(&plan, wanted, options, facts.index)
    fadeDetector?.store(slot: target)
    writeLeadingUnits(plan, options)
    let leading = (units: output.units.count, count: output.count)
    coder.code(plan, source: source, into: pool[target], output: &output)
    if coder.isThreaded, let most = decision.largest, Double(output.bits) > most {
      // Threads begin rows before they know what the rows above took, which a noisy picture can be too much for.
      output.truncate(units: leading.units, count: leading.count)
      coder.recodeAlone(plan, source: source, into: pool[target], output: &output)
    }
    let isCurtailed = decision.allowed.map { Double(output.bits) > $0 } ?? false
    if isCurtailed, let allowed = decision.allowed {
      keepLimits(&plan, allowed, leading, source, into: pool[target])
    }
    lastPicture = target
    lastWasReference = plan.isReference

    coder.describe(&facts, plan, references: wanted.count)
    if wanted.count > 1 {
      let statistics = coder.statistics
      referenceUse.take(
        index: facts.index, farther: statistics.farther,
        inter: coder.geometry.macroblockCount - statistics.intra - statistics.skipped)
    }
    facts.bits = output.bits
    if configuration.measuresError {
      facts.meanSquaredError = coder.squaredError(source, pool[target])
    }
    facts.longTermSlot = plan.isReference ? options.longTermSlot : nil
    rateControl.finish(
      bits: output.bits, qp: facts.averageQP, isKeyFrame: plan.isIDR, isSceneChange: isSceneChange,
      isCurtailed: isCurtailed, rowBits: coder.rowBits)
    facts.encodeTime = Double(clock() &- start) * 1e-9
    effortControl.note(seconds: facts.encodeTime, interval: options.duration)
    return H264EncodedFrame(
      facts: facts, nalUnits: output.units, byteCount: output.count, memory: output.takeMemory())
  }

  /// Codes the picture anew that is beyond hard limits. A budget ends with what is left for macroblocks that are skipped, but the last
  /// one before that may take more than is kept for it.
  private func keepLimits(
    _ plan: inout PicturePlan, _ allowed: Double, _ leading: (units: Int, count: Int),
    _ source: SourcePicture, into picture: PicturePlanes
  ) {
    // As much less as it took too much, twice as much less and more, and nothing but macroblocks that are skipped.
    var limit = allowed
    for attempt in 1...4 {
      let over = Double(output.bits) - allowed
      limit = attempt == 4 ? 0 : max(limit - over * Double(attempt) - 512 * Double(attempt - 1), 0)
      plan.budget?.limit = limit
      output.truncate(units: leading.units, count: leading.count)
      coder.recodeAlone(plan, source: source, into: picture, output: &output)
      if Double(output.bits) <= allowed { return }
    }
  }

  /// Weights of the pictures to refer to, where the picture has grown darker or brighter.
  ///
  /// - Parameter unread: the picture, if the pre-analysis has not read its brightness.
  private func weigh(
    _ plan: inout PicturePlan, _ fadeDetector: FadeDetector, _ unread: SourcePicture?, isSceneChange: Bool
  ) {
    if let unread {
      for row in 0..<fadeDetector.reading.rows { fadeDetector.reading.read(unread, row: row) }
    }
    fadeDetector.take(fadeDetector.reading)
    guard let first = wanted.first, !isSceneChange else { return }
    let shift = fadeDetector.shift(slot: first.picture)
    for i in wanted.indices {
      fadeDetector.find(slot: wanted[i].picture, shift: shift, &coder.weights[i])
      if !coder.weights[i].isDefault { plan.isWeighted = true }
    }
    guard plan.isWeighted else { return }
    weightedPictures += 1
    weightTable.log2LumaDenominator = Int(shift)
    weightTable.log2ChromaDenominator = Int(shift)
    weightTable.list0.removeAll(keepingCapacity: true)
    for i in wanted.indices { weightTable.list0.append(coder.weights[i].entry) }
    plan.header.weights = weightTable
  }

  private func check(_ source: SourcePicture, _ options: H264FrameOptions) throws {
    guard source.width == configuration.width, source.height == configuration.height else {
      throw H264EncoderError.invalidPicture(
        "The picture is \(source.width)x\(source.height), the encoder is for "
          + "\(configuration.width)x\(configuration.height).")
    }
    guard source.isConsistent else {
      throw H264EncoderError.invalidPicture(
        "A plane's bytes per row are fewer than its width, or more than 2^31 - 1.")
    }
    if let slot = options.longTermSlot {
      guard slot >= 0, slot < configuration.lowLatency.longTermReferences else {
        throw H264EncoderError.invalidOption(
          "Long-term slot \(slot) is not in 0..<\(configuration.lowLatency.longTermReferences).")
      }
      guard options.isReference else {
        throw H264EncoderError.invalidOption("A frame that is kept in a long-term slot must be a reference.")
      }
    }
    if !options.isReference && !configuration.lowLatency.allowsNonReferenceFrames {
      throw H264EncoderError.invalidOption(
        "Set allowsNonReferenceFrames in the configuration before coding frames that are not references.")
    }
    if options.startsIntraRefresh && configuration.lowLatency.intraRefreshPeriod == 0 {
      throw H264EncoderError.invalidOption(
        "Set intraRefreshPeriod in the configuration to have an intra refresh.")
    }
    if let qp = options.qp, !(0...51).contains(qp) {
      throw H264EncoderError.invalidOption("QP \(qp) is not in 0...51.")
    }
    if let bits = options.targetBits, bits <= 0 {
      throw H264EncoderError.invalidOption("A target of \(bits) bits is not above 0.")
    }
    if let duration = options.duration, !(duration > 0 && duration.isFinite) {
      throw H264EncoderError.invalidOption("A duration of \(duration) seconds is not above 0.")
    }
    guard options.budgetShare.isFinite, (0.01...16).contains(options.budgetShare) else {
      throw H264EncoderError.invalidOption("A budget share of \(options.budgetShare) is not in 0.01...16.")
    }
    guard (0...7).contains(options.temporalLayer) else {
      throw H264EncoderError.invalidOption("Temporal layer \(options.temporalLayer) is not in 0...7.")
    }
  }

  /// Fills `wanted` with the pictures to refer to, best first; empty: a key frame.
  private func selectReferences(_ options: H264FrameOptions) {
    wanted.removeAll(keepingCapacity: true)
    if options.isKeyFrame || keyFrameIsDue { return }
    if let interval = configuration.keyFrameInterval, framesSinceIDR >= interval { return }
    // Where a refresh passes, what is clean in the newest picture was not so in the ones before.
    let most = configuration.lowLatency.intraRefreshPeriod > 0 ? 1 : mostReferences
    switch options.references {
    case .automatic:
      // Newest first, long-term ones among them.
      for entry in buffer.entries where entry.isUsable {
        var at = wanted.count
        while at > 0 && wanted[at - 1].index < entry.index { at -= 1 }
        wanted.insert(entry, at: at)
      }
    case .frames(let indices):
      for index in indices {
        for entry in buffer.entries where entry.isUsable && entry.index == index { want(entry) }
      }
    case .longTerm(let slots):
      for slot in slots {
        // A key frame whose marking waits is the newest of the short-term ones.
        if slot == pendingLongTerm, let key = buffer.entries.first, key.isUsable { want(key) }
        for entry in buffer.entries where entry.isUsable && entry.longTermIndex == slot { want(entry) }
      }
    }
    if options.references == .automatic && most > 1 { preferBetter() }
    if wanted.count > most { wanted.removeLast(wanted.count - most) }
  }

  /// Pictures that the one at hand may refer to.
  private var mostReferences: Int {
    let (count, least) = coder.tools.motion.referencesByUse
    guard count > 1 else { return max(1, coder.referencesSearched) }
    return referenceUse.isWorthIt(index: nextIndex, least: least) ? count : 1
  }

  /// A picture twice in a list would only take bits.
  private func want(_ entry: DecodedPictureBuffer.Entry) {
    if !wanted.contains(where: { $0.picture == entry.picture }) { wanted.append(entry) }
  }

  /// Puts the newest picture that is better than those around it behind the newest one.
  private func preferBetter() {
    for i in wanted.indices.dropFirst(2) where wanted[i].isBetter && !wanted[1].isBetter {
      let entry = wanted.remove(at: i)
      wanted.insert(entry, at: 1)
      return
    }
  }

  /// Fills in the slice header, marks the picture in the buffer as its header tells the decoder to, and
  /// returns the picture in the pool to code into.
  private func prepare(
    _ plan: inout PicturePlan, _ wanted: [DecodedPictureBuffer.Entry], _ options: H264FrameOptions,
    _ index: UInt64
  ) -> Int {
    if plan.isIDR {
      pendingLongTerm = nil
      frameNum = 0
      orderCount = 0
      framesSinceIDR = 0
      refreshStep = -1
      idrPictureID = idrPictureID.map { $0 == 1 ? 2 : 1 } ?? 0
      buffer.removeAll()
    } else if lastWasReference {
      frameNum = (frameNum + 1) & (buffer.maxFrameNum - 1)
    }
    framesSinceIDR += 1

    plan.header.kind = plan.isIDR ? .i : .p
    plan.header.isIDR = plan.isIDR
    plan.header.refIDC = plan.isReference ? 2 : 0
    plan.header.frameNum = frameNum
    plan.header.idrPictureID = idrPictureID ?? 0
    plan.header.pictureOrderCountLSB = orderCount
    orderCount += 2
    plan.header.activeReferences = max(1, wanted.count)
    modifications.removeAll(keepingCapacity: true)
    if !plan.isIDR { buffer.modifications(wanted, current: frameNum, &modifications) }
    plan.header.modifications = modifications
    plan.referenceCount = wanted.count
    for i in wanted.indices {
      coder.setReference(i, pool[wanted[i].picture])
    }
    plan.header.deblocking = H264SliceHeader.Deblocking(
      disableIDC: configuration.deblocking ? 0 : 1, alphaOffset: configuration.deblockingAlphaOffset,
      betaOffset: configuration.deblockingBetaOffset)
    plan.scalableHeader = H264ScalableHeader(
      isIDR: plan.isIDR, priorityID: options.temporalLayer, temporalID: options.temporalLayer,
      isDiscardable: !plan.isReference)
    planRefresh(&plan, starts: options.startsIntraRefresh || startsRefresh)

    let target = pool.indices.first { i in !buffer.entries.contains { $0.picture == i } } ?? 0
    if plan.isReference { mark(&plan, target, options.longTermSlot, index) }
    return target
  }

  private func mark(_ plan: inout PicturePlan, _ target: Int, _ slot: Int?, _ index: UInt64) {
    commands.removeAll(keepingCapacity: true)
    var entry = DecodedPictureBuffer.Entry(
      picture: target, index: index, frameNum: frameNum, longTermIndex: slot, isBetter: plan.isBetter)
    if plan.isIDR {
      // An IDR picture can only become long-term with index 0; another index waits for the next picture.
      plan.header.isLongTerm = slot == 0
      if slot != 0 {
        entry.longTermIndex = nil
        pendingLongTerm = slot
      }
      buffer.store(entry, current: 0, &commands)
      return
    }
    // Before the others, and only with them.
    commands.append(.longTermLimit(configuration.lowLatency.longTermReferences))
    if let pending = pendingLongTerm {
      pendingLongTerm = nil
      if let difference = buffer.makeNewestLongTerm(pending, current: frameNum) {
        commands.append(.makeLongTerm(difference: difference, index: pending))
      }
    }
    // Adaptive marking replaces the sliding window: what that would remove is then named.
    if !plan.isBetter, slot == nil,
      let removal = buffer.makeRoomSparingBetter(index: index, current: frameNum)
    {
      commands.append(removal)
    }
    if commands.count > 1, slot == nil, let removal = buffer.makeRoom(current: frameNum) {
      commands.append(removal)
    }
    buffer.store(entry, current: frameNum, &commands)
    if commands.count == 1 { return }
    if configuration.lowLatency.longTermReferences == 0 { commands.removeFirst() }
    plan.header.memoryManagement = commands
  }

  /// Gradual intra refresh: the columns that this picture codes intra.
  private func planRefresh(_ plan: inout PicturePlan, starts: Bool) {
    let period = configuration.lowLatency.intraRefreshPeriod
    let starts = starts || owesRefresh
    owesRefresh = starts && !plan.isIDR && !plan.isReference
    // What nothing refers to hands nothing on: each step is a reference's, as recovery_frame_cnt counts (D.2.8).
    guard period > 0, !plan.isIDR, plan.isReference else { return }
    if starts {
      refreshStep = 0
    } else if refreshStep >= 0 {
      refreshStep += 1
      if refreshStep >= period { refreshStep = configuration.lowLatency.refreshesContinuously ? 0 : -1 }
    } else if configuration.lowLatency.refreshesContinuously {
      refreshStep = 0
    }
    guard refreshStep >= 0 else { return }
    let w = coder.geometry.widthInMbs
    plan.startsRefresh = refreshStep == 0
    plan.refreshFrom = refreshStep * w / period
    plan.refreshTo = (refreshStep + 1) * w / period
    // More frames than columns: this one refreshes none, but what is clean stays so.
    plan.keepsClean = plan.refreshFrom > 0
  }

  // MARK: - NAL units around the slices

  private func writeLeadingUnits(_ plan: PicturePlan, _ options: H264FrameOptions) {
    if configuration.writesAccessUnitDelimiters {
      output.append(.accessUnitDelimiter) {
        H264AccessUnitDelimiter(primaryPictureType: plan.isIDR ? 0 : 1).write(to: &$0)
      }
    }
    if plan.isIDR && configuration.writesParameterSets {
      output.append(.sequenceParameterSet, refIDC: 3) { sps.write(to: &$0) }
      output.append(.pictureParameterSet, refIDC: 3) { pps.write(to: &$0) }
    }
    if plan.startsRefresh {
      output.append(.sei) {
        H264RecoveryPoint(frameCount: configuration.lowLatency.intraRefreshPeriod - 1, isExact: true).write(
          to: &$0)
      }
    }
  }

  // MARK: - Reconstruction

  /// Calls `body` with the planes of the last coded picture as a decoder shows it: luma and NV12 chroma,
  /// both with `bytesPerRow`. Nil if no picture was coded yet.
  func withReconstruction<R>(
    _ body: (_ luma: UnsafePointer<UInt8>, _ chroma: UnsafePointer<UInt8>, _ bytesPerRow: Int) throws -> R
  ) rethrows -> R? {
    guard let lastPicture else { return nil }
    let planes = pool[lastPicture]
    return try body(planes.luma, planes.chroma, coder.geometry.stride)
  }
}

extension LowLatencyEncoder: EncodingStrategy {
  var reorderingDepth: Int { 0 }
  var heldFrameCount: Int { 0 }

  func encode(
    _ source: SourcePicture, options: H264FrameOptions, output: (consuming H264EncodedFrame) -> Void
  ) throws {
    output(try encode(source, options: options))
  }

  func flush(output: (consuming H264EncodedFrame) -> Void) {}

  func complete(through index: UInt64, output: (consuming H264EncodedFrame) -> Void) {}
}
