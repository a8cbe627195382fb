// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Dispatch
import VideoBitstream
import VideoEncoding

/// The low-latency mode of `HEVCEncoder`: each picture is coded at once into one access unit.
final class LowLatencyEncoder {
  /// The present configuration.
  private(set) var configuration: HEVCEncoderConfiguration
  private let sets: HEVCParameterSets
  let coder: AnyPictureCoder
  /// The pictures with 8 bits per sample, for the pre-analysis.
  private var eightBits = EightBitView()
  /// Owns the memory of the pre-analysis and the rate control.
  private let memory: EncoderMemory
  private var buffer: ReferenceBuffer
  private var output: AccessUnitWriter
  private var rateControl: LowLatencyRateControl
  private let preAnalysis: PreAnalysis
  /// Chooses QP offsets of blocks by local activity.
  private let activity: ActivityQuantisation
  /// Finds the motion of large parts of pictures.
  private var screenDetectors: ScreenDetectors
  /// Whether `screenDetectors` are asked. Tests turn them off to compare.
  var findsScreenMotion = true
  /// Chooses the weights of reference pictures; nil where the stream has no weighted prediction.
  var weights: PictureWeights?
  private var refresh: IntraRefresh
  /// What `refresh` reaches in the present picture.
  private var refreshed = ReferenceBuffer.Refresh(cycle: 0, rows: 0)
  private var effortControl: EffortControl
  private var cascade = QualityCascade(.constantQP)
  /// The current time in nanoseconds, from any origin.
  private let clock: () -> UInt64

  /// The frames in the reference list of the last coded frame, in its order.
  private(set) var lastReferences: [UInt64] = []
  /// The index of the next frame; dropped frames are counted.
  private var nextIndex: UInt64 = 0
  /// PicOrderCntVal of the next picture: the number of pictures since the last IDR picture. Tests
  /// raise it to reach the order counts of long streams.
  var order = 0
  /// PicOrderCntVal of the last reference picture of layer 0: prevTid0Pic (8.3.1), from which a
  /// decoder derives the order counts that follow.
  private var anchorOrder = 0
  /// The index in the pool of the last coded picture; nil before the first.
  private(set) var lastPicture: Int?
  /// Whether a key frame was dropped because hard limits left no room for it.
  private var keyFrameIsDue = false
  /// The QP that the last reference picture was planned with.
  private var lastReferenceQP = 0

  /// Creates an encoder.
  /// - Parameter configuration: the configuration.
  /// - Throws: `HEVCEncoderError` that names the value out of range.
  convenience init(configuration: HEVCEncoderConfiguration) throws {
    try self.init(configuration: configuration, cpu: ovt_cpu_detect())
  }

  /// Creates an encoder with an instruction set and a clock chosen by a test.
  /// - Parameters:
  ///   - configuration: the configuration.
  ///   - cpu: a mask of OVT_CPU_*, the instruction sets that the kernels may use.
  ///   - clock: returns the time in nanoseconds by which encoding times are measured.
  /// - Throws: `HEVCEncoderError` that names the value out of range.
  init(
    configuration: HEVCEncoderConfiguration, cpu: Int32,
    clock: @escaping () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
  ) throws {
    try configuration.validate()
    self.configuration = configuration
    sets = try configuration.makeParameterSets()
    coder = AnyPictureCoder(configuration: configuration, sets: sets, cpu: cpu)
    var memory = EncoderMemory()
    buffer = ReferenceBuffer(capacity: configuration.maximumReferences)
    refresh = IntraRefresh(rows: (configuration.codedHeight + 31) / 32)
    output = AccessUnitWriter(
      pool: FrameMemoryPool(capacity: max(65536, configuration.width * configuration.height / 2)),
      framing: configuration.framing == .lengths ? .length : .startCode)
    rateControl = LowLatencyRateControl(configuration.lowLatencySettings(sets), memory: &memory)
    preAnalysis = PreAnalysis(
      PictureGeometry(width: configuration.width, height: configuration.height),
      kernels: coder.videoKernels, memory: &memory)
    activity = ActivityQuantisation(
      PictureGeometry(width: configuration.width, height: configuration.height),
      kernels: coder.videoKernels, memory: &memory)
    screenDetectors = ScreenDetectors(configuration, coder, memory: &memory)
    weights =
      configuration.allowsWeightedPrediction
      ? PictureWeights(
        PictureGeometry(width: configuration.width, height: configuration.height),
        slots: coder.poolCount, memory: &memory) : nil
    effortControl = EffortControl(
      effort: configuration.effort, timeFraction: configuration.encodeTimeShare,
      frameRate: configuration.frameRate)
    self.clock = clock
    self.memory = memory
  }

  /// The parameter sets as NAL units with headers, without start codes.
  var parameterSets: (video: [UInt8], sequence: [UInt8], pictures: [[UInt8]]) {
    (sets.vps.nalUnit, sets.sps.nalUnit, [sets.pps.nalUnit])
  }

  /// Changes what may change within a stream; see `HEVCEncoder.reconfigure`.
  func reconfigure(_ new: HEVCEncoderConfiguration) throws {
    try configuration.checkChange(
      to: new, in: sets.level, isHighTier: sets.sps.profileTierLevel.profile.isHighTier)
    configuration = new
    rateControl.reconfigure(new.lowLatencySettings(sets))
    effortControl.reconfigure(
      effort: new.effort, timeFraction: new.encodeTimeShare, frameRate: new.frameRate)
  }

  // MARK: - References

  func invalidateReferences(from index: UInt64) { buffer.invalidate(from: index) }
  func invalidateReferences(except index: UInt64) { buffer.invalidate(except: index) }
  var availableReferences: [UInt64] { buffer.entries.map(\.index) }
  var hasAvailableReference: Bool { !buffer.entries.isEmpty }

  /// The reference pictures of a frame in the order of list 0; none where it has to be a key frame.
  private func selectReferences(_ options: HEVCFrameOptions) -> [ReferenceBuffer.Entry] {
    if options.isKeyFrame || keyFrameIsDue { return [] }
    if let interval = configuration.keyFrameInterval, order >= interval { return [] }
    // Further away, a decoder would take another PicOrderCntMsb (8-1).
    if order - anchorOrder >= 1 << (HEVCEncoderConfiguration.log2MaxOrderCount - 1) { return [] }
    let usable = buffer.entries.filter { $0.temporalLayer <= options.temporalLayer }
    var list0: [ReferenceBuffer.Entry] = []
    switch options.references {
    case .automatic:
      list0 = refresh.useful(usable)
      // The newest comes first; behind it, what was coded better than the pictures around it.
      if list0.count > 2, let better = list0.dropFirst().firstIndex(where: \.hasRaisedQuality) {
        list0.insert(list0.remove(at: better), at: 1)
      }
    case .frames(let indices):
      for index in indices {
        for entry in usable where entry.index == index && !list0.contains(entry) { list0.append(entry) }
      }
    case .longTerm(let slots):
      for slot in slots {
        for entry in usable where entry.longTermSlot == slot && !list0.contains(entry) {
          list0.append(entry)
        }
      }
    }
    let most = EffortSettings(effort: effortControl.effort).references
    return Array(list0.prefix(most))
  }

  // MARK: - Encoding

  /// Codes a picture; see `HEVCEncoder.encode`.
  func encode(_ source: HEVCSource, options: HEVCFrameOptions) throws -> HEVCEncodedFrame {
    let start = clock()
    try configuration.check(source)
    try configuration.check(options)
    coder.setEffort(effortControl.effort)
    var properties = HEVCFrameProperties()
    properties.effort = effortControl.effort
    properties.index = nextIndex
    properties.temporalLayer = options.temporalLayer
    output.removeAll()

    let isAnalysed = rateControl.needsPreAnalysis || configuration.lowLatency.sceneChange != .none
    let strength = options.qp == nil ? configuration.lowLatency.adaptiveQuantisation : 0
    let picture = eightBits.picture(source, kernels: coder.videoKernels)
    if isAnalysed { preAnalysis.analyse(picture) }
    if strength > 0 { activity.analyse(picture, strength: strength) }
    var plan = PicturePlan()
    let (list0, isSceneChange) = chooseType(&plan, picture, options, isAnalysed: isAnalysed)

    let decision = rateControl.plan(
      isKeyFrame: plan.isKeyFrame, isSceneChange: isSceneChange, request: options.request,
      properties: isAnalysed ? preAnalysis.result(isKeyFrame: plan.isKeyFrame) : PreAnalysisResult())
    nextIndex += 1
    if decision.drop {
      keyFrameIsDue = keyFrameIsDue || plan.isKeyFrame
      properties.isDropped = true
      properties.encodeTime = Double(clock() &- start) * 1e-9
      return HEVCEncodedFrame(properties: properties, nalUnits: [], byteCount: 0, memory: nil)
    }
    setQuality(&plan, decision, options)
    let target = prepare(&plan, list0)
    if weights != nil {
      chooseWeights(&plan, picture, list0, isSceneChange: isSceneChange)
      if plan.isReference { weights?.store(slot: target) }
    }
    output.appendLeadingUnits(plan, configuration, sets)
    if plan.refreshStarts {
      let pictures = configuration.lowLatency.intraRefreshPeriod
      output.append(.prefixSEI, temporalID: UInt8(plan.temporalLayer)) {
        HEVCRecoveryPoint(orderCount: pictures - 1, isExact: true).write(to: &$0)
      }
    }
    let leading = (units: output.units.count, count: output.count)
    coder.code(plan, source: source, into: target, output: &output)
    var isCurtailed = false
    if let allowed = decision.allowed, Double(output.bits) > allowed {
      keepLimits(&plan, allowed, leading, target)
      isCurtailed = true
    }
    finish(&properties, plan, options, list0, target)
    // The plan knows nothing of the offsets of blocks, which do not average to 0 over those that
    // take bits.
    rateControl.finish(
      bits: output.bits, qp: coder.statistics.meanRowQP, isKeyFrame: plan.isKeyFrame,
      isSceneChange: isSceneChange, isCurtailed: isCurtailed,
      highestQP: coder.statistics.highestRowQP, rowBits: coder.rowBits)
    properties.encodeTime = Double(clock() &- start) * 1e-9
    effortControl.record(seconds: properties.encodeTime, interval: options.duration)
    return HEVCEncodedFrame(
      properties: properties, nalUnits: output.units, byteCount: output.count,
      memory: output.takeMemory())
  }

  /// Chooses the type of a picture and its references, and finds how parts of a screen have moved.
  /// - Returns: the reference pictures in the order of list 0, and whether a new scene begins.
  private func chooseType(
    _ plan: inout PicturePlan, _ picture: SourcePicture, _ options: HEVCFrameOptions, isAnalysed: Bool
  ) -> (list0: [ReferenceBuffer.Entry], isSceneChange: Bool) {
    buffer.removeDistant(order: order)
    var list0 = selectReferences(options)
    let first = list0.first
    let isCut = isAnalysed && preAnalysis.isSceneChange
    if findsScreenMotion {
      plan.screen = screenDetectors.find(
        picture, index: nextIndex, first: first, isCut: isCut, coder)
    }
    let isSceneChange = isCut && plan.screen.scroll == 0 && !plan.screen.displacements.explainMost
    let changesRefresh = refresh.begin(
      order: order, isReference: options.isReference,
      isWanted: options.startsIntraRefresh
        || isSceneChange && configuration.lowLatency.sceneChange == .intraRefresh,
      configuration.lowLatency)
    if changesRefresh { list0 = selectReferences(options) }
    if isSceneChange && configuration.lowLatency.sceneChange == .keyFrame
      && options.references == .automatic
    {
      list0 = []
    }
    // The vectors are into another picture than the first one now.
    if list0.first != first { plan.screen.forgetVectors() }
    plan.isKeyFrame = list0.isEmpty
    plan.isReference = options.isReference || plan.isKeyFrame
    plan.temporalLayer = plan.isKeyFrame ? 0 : options.temporalLayer
    return (list0, isSceneChange)
  }

  /// Chooses the weights of the reference pictures.
  private func chooseWeights(
    _ plan: inout PicturePlan, _ picture: SourcePicture, _ list0: [ReferenceBuffer.Entry],
    isSceneChange: Bool
  ) {
    guard let reading = weights?.read(picture) else { return }
    weights?.chooseWeights(&plan, reading, list0: list0, list1: [], isAllowed: !isSceneChange, coder)
  }

  /// Sets the QP and the bits of a picture.
  private func setQuality(
    _ plan: inout PicturePlan, _ decision: LowLatencyRateControl.Decision, _ options: HEVCFrameOptions
  ) {
    plan.qp = min(decision.qp, 51)
    plan.plannedQP = decision.qp > 51 ? decision.qp : 0
    if configuration.lowLatency.cascadesQuality,
      case .constantQP = configuration.lowLatency.rateControl, options.qp == nil, plan.isReference,
      plan.temporalLayer == 0
    {
      let qp = decision.qp + Int(plan.isKeyFrame ? cascade.restart() : cascade.next())
      plan.qp = min(max(qp, configuration.minimumQP), configuration.maximumQP)
    }
    plan.hasRaisedQuality =
      plan.isKeyFrame || plan.isReference && plan.qp <= lastReferenceQP - 2
    if plan.isReference { lastReferenceQP = plan.qp }
    plan.budget = decision.budget
    plan.minimumQP = configuration.minimumQP
    plan.maximumQP = configuration.maximumQP
    if options.qp == nil && configuration.lowLatency.adaptiveQuantisation > 0 {
      plan.blockOffsets = UnsafePointer(activity.qpOffsets)
    }
  }

  /// Sets the slice header and the reference list of a picture.
  /// - Returns: the index in the pool of the memory for its reconstruction.
  private func prepare(_ plan: inout PicturePlan, _ list0: [ReferenceBuffer.Entry]) -> Int {
    if plan.isKeyFrame {
      buffer.removeAll()
      order = 0
      keyFrameIsDue = false
      refresh.reset()
    }
    buffer.removeLayers(above: plan.temporalLayer)
    plan.order = order
    refreshed = refresh.plan(&plan, list0, period: configuration.lowLatency.intraRefreshPeriod)
    let layer = UInt8(plan.temporalLayer)
    let type: HEVCNALUnitType =
      plan.isKeyFrame ? .idrWithoutLeading : plan.isReference ? .trailR : .trailN
    plan.header.nal = HEVCNALUnitHeader(type: type, temporalID: layer)
    plan.header.kind = plan.isKeyFrame ? .i : .p
    plan.header.pictureOrderCountLSB = order & (1 << HEVCEncoderConfiguration.log2MaxOrderCount - 1)
    plan.header.qp = plan.qp
    // Elsewhere the offsets cost more bits than they save: 0 to 2 % more in all pictures.
    plan.header.hasLumaSAO = configuration.adaptiveOffset && plan.hasRaisedQuality
    plan.header.hasChromaSAO = plan.header.hasLumaSAO
    if !plan.isKeyFrame {
      buffer.describe(&plan.header, order: order, list0: list0)
      plan.header.hasTemporalMotion = true
    }
    for (i, entry) in list0.enumerated() {
      coder.setReference(
        i, list: 0, picture: entry.picture,
        ReferenceIdentity(
          order: Int32(truncatingIfNeeded: entry.order), isLongTerm: entry.longTermSlot != nil))
    }
    lastReferences = list0.map(\.index)
    // There is one picture more than the buffer holds.
    return (0..<coder.poolCount).first { i in !buffer.entries.contains { $0.picture == i } } ?? 0
  }

  /// Codes a picture again that exceeds the hard limits. Each attempt lowers the limit of the one
  /// before, so that at least one coding tree unit more is coded in the cheapest way: the first by
  /// the excess, the next ones by multiples of it and 512 bits more each. The last one leaves bits
  /// for the cheapest units only.
  private func keepLimits(
    _ plan: inout PicturePlan, _ allowed: Double, _ leading: (units: Int, count: Int), _ target: Int
  ) {
    var limit = allowed
    for attempt in 1...4 {
      let over = Double(output.bits) - allowed
      let lower = limit - over * Double(attempt) - 512 * Double(attempt - 1)
      limit = attempt == 4 ? 0 : max(min(lower, coder.statistics.lastNeeded - 1), 0)
      plan.budget?.limit = limit
      output.truncate(units: leading.units, count: leading.count)
      coder.recode(plan, into: target, output: &output)
      if Double(output.bits) <= allowed { return }
    }
  }

  /// Stores the picture as a reference, and completes the facts about it.
  private func finish(
    _ properties: inout HEVCFrameProperties, _ plan: PicturePlan, _ options: HEVCFrameOptions,
    _ list0: [ReferenceBuffer.Entry], _ target: Int
  ) {
    lastPicture = target
    coder.describe(&properties, plan, references: list0.count)
    properties.bits = output.bits
    if configuration.measuresError {
      properties.meanSquaredError = coder.squaredError(
        target, width: configuration.width, height: configuration.height)
    }
    order += 1
    guard plan.isReference else { return }
    if plan.temporalLayer == 0 { anchorOrder = plan.order }
    properties.longTermSlot = options.longTermSlot
    buffer.store(
      ReferenceBuffer.Entry(
        picture: target, index: properties.index, order: plan.order,
        temporalLayer: plan.temporalLayer, longTermSlot: options.longTermSlot,
        hasRaisedQuality: plan.hasRaisedQuality, refresh: refreshed))
  }
}
