// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream

/// The low-latency mode of `H264Encoder`: one picture in, one access unit out, nothing held back.
final class LowLatencyEncoder {
  var configuration: H264EncoderConfiguration

  var sps: H264SequenceParameterSet
  var pps: H264PictureParameterSet
  let coder: PictureCoder
  /// Pictures, tables and scratch beside those of the coder.
  let memory: EncoderMemory
  let pool: [PicturePlanes]
  var buffer: DecodedPictureBuffer
  var output: AccessUnit
  var rateControl: LowLatencyRateControl
  var activity: ActivityQuantisation
  let preAnalysis: PreAnalysis
  let scrollDetector: ScrollDetector
  /// The last picture that was looked at for a scroll had one.
  var hasScrolled = false
  let moveDetector: MoveDetector
  /// Nil where the stream has no weighted prediction.
  let fadeDetector: FadeDetector?
  /// Pictures coded with weights so far; for tests.
  var weightedPictures = 0
  var effortControl: EffortControl
  /// Nanoseconds.
  let clock: () -> UInt64

  /// Frames (`H264FrameFacts.index`) that the last coded frame may refer to; empty for a key frame.
  var lastReferences: [UInt64] = []

  var nextIndex: UInt64 = 0
  var frameNum = 0
  var lastWasReference = false
  /// 0 in the first IDR picture, then 1 and 2 in turns, so that a stream may follow another at an IDR picture (7.4.3).
  var idrPictureID: Int?
  var orderCount = 0
  var framesSinceIDR = 0
  var refreshStep = -1
  /// A refresh was asked for with a picture that nothing refers to, or that was dropped.
  var owesRefresh = false
  var lastPicture: Int?
  var pendingLongTerm: Int?
  /// The frame being coded begins a new scene, which an intra refresh answers.
  var startsRefresh = false
  /// A key frame was dropped since hard limits left no room for it: the next picture is one.
  var keyFrameIsDue = false
  var cascade = ConstantQPCascade()
  /// The QP that the last reference picture was planned with.
  var lastReferenceQP = 0
  var referenceUse = ReferenceUse()
  /// References of the frame being coded; kept to keep its memory.
  var wanted: [DecodedPictureBuffer.Entry] = []
  /// Commands of its slice header, likewise.
  var modifications: [H264ReferenceListModification] = []
  var commands: [H264MemoryManagement] = []
  var weightTable = H264PredictionWeights()

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
    plan.hasRaisedQuality = plan.isIDR || plan.isReference && plan.qp <= lastReferenceQP - 2
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
        index: facts.index, inOtherReferences: statistics.inOtherReferences,
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
  func keepLimits(
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
  func weigh(
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

  // MARK: - NAL units around the slices

  func writeLeadingUnits(_ plan: PicturePlan, _ options: H264FrameOptions) {
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
