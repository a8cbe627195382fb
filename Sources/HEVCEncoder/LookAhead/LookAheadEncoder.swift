// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Dispatch
import VideoBitstream
import VideoEncoding

/// The mode of `HEVCEncoder` with look-ahead: pictures wait in a queue, and frames come out in
/// decoding order.
final class LookAheadEncoder: EncodingStrategy {
  /// The configuration, with the buffer limited to what the stream's level allows.
  private(set) var configuration: HEVCEncoderConfiguration
  private let sets: HEVCParameterSets
  let coder: AnyPictureCoder
  /// The pictures with 8 bits per sample, for the pre-analysis.
  private var eightBits = EightBitView()
  /// Decides which picture is coded next, as which type and with which QP.
  var planner: LookAheadPlanner
  /// The pictures between input and coding.
  var queue: LookAheadQueue { planner.queue }
  /// The decoding order, reference lists, and the pictures that are kept.
  private var order: StreamOrder
  var output: AccessUnitWriter
  /// The contents of the messages on the decoder's buffer; nil where the stream has none.
  var timing: BufferTiming?
  /// Rounds durations to clock ticks; nil where nothing counts in ticks.
  private var rounding: TickRounding?
  /// Chooses the effort of each picture by the encoding time.
  private var effortControl: EffortControl
  /// Owns the memory of `blockOffsets` and `evenShares`.
  private let memory: EncoderMemory
  /// Chooses the weights of reference pictures; nil where the stream has no weighted prediction.
  var weights: PictureWeights?
  /// The QP offset of each block of 16x16 samples of the present picture.
  private let blockOffsets: UnsafeMutablePointer<Int8>
  /// For each row of 16 luma rows, an equal share of the bits of a picture.
  let evenShares: UnsafeMutablePointer<Float>
  /// The index in the pool of the last coded picture; nil before the first.
  private(set) var lastPicture: Int?
  /// The number of the next picture, as `queue` counts them.
  private var nextIndex: UInt64 = 0
  /// The mean QP of recent pictures, without the offsets of their types.
  private var recentQP = 51.0
  /// The number of frames that were output.
  var codedCount: UInt64 = 0
  /// The seconds that the pre-analysis of the newest picture took, until they are added to the
  /// encoding time of a frame.
  private var preAnalysisTime = 0.0
  /// See `HEVCEncoder.bufferMiss`.
  private(set) var bufferMiss = 0.0
  /// The number of pictures that were coded again to fit the buffer; for tests.
  var recodedPictures = 0
  let reorderingDepth: Int

  /// The statistics of the pictures coded so far, for a next pass, without those that
  /// `takeStatistics` has returned. They are kept while `keepsStatistics` is set.
  private(set) var statistics: PassStatistics
  /// Whether coded pictures are added to `statistics`.
  var keepsStatistics = false

  /// Returns `statistics` and empties it.
  func takeStatistics() -> PassStatistics { statistics.take() }

  /// Creates an encoder.
  /// - Parameters:
  ///   - configuration: the configuration; its `latency` is `lookAhead`.
  ///   - pass: the statistics of an earlier pass over the same pictures; nil for a single pass.
  ///   - cpu: a mask of OVT_CPU_*, the instruction sets that the kernels may use.
  /// - Throws: `HEVCEncoderError` that names the value out of range.
  init(
    configuration: HEVCEncoderConfiguration, pass: (any PassSource)? = nil,
    cpu: Int32 = ovt_cpu_detect()
  ) throws {
    try configuration.validate()
    var configuration = configuration
    sets = try configuration.makeParameterSets()
    configuration.fitBuffer(to: sets)
    if let pass {
      guard pass.width == configuration.width, pass.height == configuration.height else {
        throw HEVCEncoderError.invalidConfiguration(
          "The pass was over pictures of \(pass.width)x\(pass.height).")
      }
    }
    self.configuration = configuration
    statistics = PassStatistics(width: configuration.width, height: configuration.height)
    coder = AnyPictureCoder(configuration: configuration, sets: sets, cpu: cpu)
    let geometry = PictureGeometry(width: configuration.width, height: configuration.height)
    let analysis = LookAheadPreAnalysis(
      geometry, kernels: coder.videoKernels, threads: 1,
      readsBrightness: configuration.allowsWeightedPrediction)
    timing = BufferTiming(sets.sps, configuration.lookAhead.buffer)
    let tick = timing?.clock.tick ?? JoinedBuffer.usualTick(configuration.frameRate)
    rounding = timing != nil || configuration.isJoined ? TickRounding(tick: tick) : nil
    let settings = configuration.lookAheadSettings
    planner = LookAheadPlanner(
      settings, frames: configuration.lookAhead.frames,
      queue: LookAheadQueue(
        geometry, analysis: analysis, weighs: configuration.allowsWeightedPrediction,
        keepsSourceTypes: configuration.recognisesSourceTypes),
      pass: pass, joined: JoinedBuffer(settings, tick: tick, macroblocks: geometry.macroblockCount))
    order = StreamOrder(capacity: configuration.maximumReferences)
    output = AccessUnitWriter(
      pool: FrameMemoryPool(capacity: max(65536, configuration.width * configuration.height / 2)),
      framing: configuration.framing == .lengths ? .length : .startCode)
    effortControl = EffortControl(
      effort: configuration.effort, timeFraction: configuration.encodeTimeShare,
      frameRate: configuration.frameRate)
    var memory = EncoderMemory()
    weights =
      configuration.allowsWeightedPrediction
      ? PictureWeights(geometry, slots: coder.poolCount, memory: &memory) : nil
    blockOffsets = memory.allocate(Int8.self, count: geometry.macroblockCount)
    evenShares = memory.allocate(Float.self, count: geometry.heightInMbs)
    evenShares.update(repeating: 1 / Float(geometry.heightInMbs), count: geometry.heightInMbs)
    self.memory = memory
    reorderingDepth = configuration.reorderingDepth
  }

  /// The parameter sets as NAL units with headers, without start codes.
  var parameterSets: (video: [UInt8], sequence: [UInt8], pictures: [[UInt8]]) {
    (sets.vps.nalUnit, sets.sps.nalUnit, [sets.pps.nalUnit])
  }

  /// The number of pictures that wait.
  var heldFrameCount: Int { queue.count }

  /// Whether blocks get QP offsets of the macroblock tree: not with a constant QP.
  private var usesMacroblockTree: Bool {
    configuration.lookAhead.usesMacroblockTree && !planner.settings.isConstantQP
  }

  /// Changes what may change within a stream; see `HEVCEncoder.reconfigure`.
  func reconfigure(_ new: HEVCEncoderConfiguration) throws {
    try new.validate()
    let isHighTier = sets.sps.profileTierLevel.profile.isHighTier
    // Before the buffer is fitted to the level, which would hide that the level is too low.
    try new.checkLevel(sets.level, isHighTier: isHighTier)
    var fixed = new
    fixed.fitBuffer(to: sets)
    try configuration.checkChange(to: fixed, in: sets.level, isHighTier: isHighTier)
    configuration = fixed
    effortControl.reconfigure(
      effort: new.effort, timeFraction: new.encodeTimeShare, frameRate: new.frameRate)
    planner.reconfigure(fixed.lookAheadSettings)
  }

  // MARK: - Encoding

  /// Sets the time of the first picture; see `HEVCEncoder.begin(at:)`.
  func begin(at seconds: Double) {
    guard codedCount == 0, seconds.isFinite else { return }
    planner.rateControl.begin(at: seconds)
    rounding?.begin(at: seconds)
  }

  /// Adds a picture; see `HEVCEncoder.encode`.
  func encode(
    _ source: HEVCSource, options: HEVCFrameOptions, output: (consuming HEVCEncodedFrame) -> Void
  ) throws {
    try configuration.check(source)
    try check(options)
    let start = DispatchTime.now().uptimeNanoseconds
    coder.keep(source, index: nextIndex)
    nextIndex += 1
    let picture = eightBits.picture(source, kernels: coder.videoKernels)
    var request = options.request
    if queue.newest != nil {
      // The rate control uses the durations that the stream signals: multiples of the clock tick.
      let usual = 1 / configuration.frameRate
      request.duration = rounding?.round(request.duration ?? usual, usual: usual) ?? request.duration
    }
    let correction = queue.append(picture, request: request, settings: planner.settings)
    if correction != 0 {
      planner.rateControl.correct(seconds: correction, isInBuffer: reorderingDepth == 0)
    }
    queue.analyse(planner.settings)
    preAnalysisTime = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    while queue.count > configuration.lookAhead.frames { output(codeNext(isEnding: false)) }
  }

  /// Codes all pictures that wait; see `HEVCEncoder.flush`.
  func flush(output: (consuming HEVCEncodedFrame) -> Void) {
    while queue.count > 0 { output(codeNext(isEnding: true)) }
  }

  /// Codes the pictures that wait up to one; see `HEVCEncoder.complete`.
  func complete(through index: UInt64, output: (consuming HEVCEncodedFrame) -> Void) {
    // Not as at the end of a stream: the rate control may balance its bits over later pictures.
    while queue.holdsPicture(through: index) { output(codeNext(isEnding: false)) }
  }

  /// Checks the options of a picture.
  /// - Throws: `HEVCEncoderError.invalidOption`.
  private func check(_ options: HEVCFrameOptions) throws {
    var plain = HEVCFrameOptions()
    plain.isKeyFrame = options.isKeyFrame
    plain.qp = options.qp
    plain.duration = options.duration
    guard plain == options else {
      throw HEVCEncoderError.invalidOption(
        "With a look-ahead, only isKeyFrame, qp and duration of a frame's options may be set.")
    }
    try configuration.check(options)
  }

  /// Codes the first picture of the queue in decoding order. The queue must not be empty.
  private func codeNext(isEnding: Bool) -> HEVCEncodedFrame {
    let start = DispatchTime.now().uptimeNanoseconds
    queue.followsSourceTypes = configuration.keepsSourceTypes(qp: recentQP)
    queue.decideOrder(planner.settings, propagates: usesMacroblockTree)
    let planned = planner.next(isEnding: isEnding, pending: [], codingIndex: codedCount)
    let baseQP = planned.qp - planned.offset
    recentQP = codedCount == 0 ? baseQP : recentQP + (baseQP - recentQP) * 0.2
    // Types are known before they are followed, where the QP comes near that limit.
    queue.searchesSourceTypes = configuration.keepsSourceTypes(qp: recentQP - 2)
    let picture = planned.picture
    coder.setEffort(effortControl.effort)
    var plan = PicturePlan()
    plan.hasRaisedQuality = planned.hasRaisedQuality
    plan.lambdaScale = Self.lambdaScale(picture.kind)
    plan.minimumQP = configuration.minimumQP
    plan.maximumQP = configuration.maximumQP
    setQP(&plan, planned.qp, picture, isExact: planned.isExact)
    let most = EffortSettings(effort: effortControl.effort).references
    let target = order.prepare(
      &plan, picture.kind, index: picture.index, most: most, pictures: coder.poolCount)
    plan.header.hasLumaSAO = configuration.adaptiveOffset && plan.hasRaisedQuality
    plan.header.hasChromaSAO = plan.header.hasLumaSAO
    plan.header.qp = plan.qp
    setReferences()
    weights?.chooseWeights(
      &plan, picture.brightnessMeasurement, list0: order.list0, list1: order.list1, isAllowed: true, coder)
    if plan.isReference { weights?.store(slot: target) }
    output.removeAll()
    output.appendLeadingUnits(plan, configuration, sets, timing: nextTiming(plan, picture))
    let leading = (units: output.units.count, count: output.count)
    coder.code(
      plan, source: .eightBits(picture.source), index: picture.index, into: target, output: &output)
    let codedQP = fit(&plan, planned, leading, target)
    order.store(plan, target: target, index: picture.index)
    lastPicture = target

    if !planner.settings.isConstantQP {
      let result = planner.finish(
        picture, bits: output.bits, qp: codedQP - planned.offset, cascaded: planned.cascaded)
      if keepsStatistics { statistics.append(result) }
    }
    var properties = HEVCFrameProperties()
    coder.describe(&properties, plan, references: order.list0.count + order.list1.count)
    properties.index = picture.index
    properties.effort = effortControl.effort
    let interval = queue.decodeInterval(codingIndex: codedCount, depth: reorderingDepth)
    properties.fillerBytes = fill(interval.seconds, isKnown: interval.isKnown, isLast: planned.isLast)
    properties.bits = output.bits
    if configuration.measuresError {
      properties.meanSquaredError = coder.squaredError(
        target, width: configuration.width, height: configuration.height)
    }
    codedCount += 1
    if planner.rateControl.isLimited {
      planner.rateControl.remove(bits: Double(properties.bits), seconds: interval.seconds)
    }
    if planned.isLast { bufferMiss = planner.rateControl.miss }
    properties.encodeTime = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    effortControl.record(seconds: properties.encodeTime + preAnalysisTime, interval: picture.duration)
    preAnalysisTime = 0
    queue.recycle(picture)
    return HEVCEncodedFrame(
      properties: properties, nalUnits: output.units, byteCount: output.count,
      memory: output.takeMemory())
  }

  /// The squared error that a bit is worth in a picture of a type, as a multiple of that in P
  /// pictures: errors of B pictures spread to few pictures or none.
  private static func lambdaScale(_ kind: QueuedPicture.Kind) -> Double {
    switch kind {
    case .bidirectional: 1.2
    default: 1
    }
  }

  /// Sets the QP of a picture to the nearest whole number within the configured range, and the
  /// offsets of its blocks to their own and the fraction that is left.
  func setQP(
    _ plan: inout PicturePlan, _ qp: Double, _ picture: QueuedPicture, isExact: Bool
  ) {
    plan.qp = planner.wholeQP(qp, picture, isExact: isExact, blockOffsets: blockOffsets)
    plan.blockOffsets = isExact ? nil : UnsafePointer(blockOffsets)
  }

  /// Gives the reference pictures to the coder.
  private func setReferences() {
    for (list, entries) in [order.list0, order.list1].enumerated() {
      for (i, entry) in entries.enumerated() {
        coder.setReference(
          i, list: list, picture: entry.picture,
          ReferenceIdentity(order: Int32(truncatingIfNeeded: entry.order)))
      }
    }
  }
}
