// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream

/// An H.264 encoder for streams and files: pictures wait in a look-ahead, and come out in decoding order.
///
/// Not safe to use from two threads at once; give it a queue or a lock of its own.
public final class LookAheadEncoder {
  public private(set) var configuration: LookAheadConfiguration

  private var sps: H264SequenceParameterSet
  private var pps: H264PictureParameterSet
  /// That one first.
  private let pictureSets: [H264PictureParameterSet]
  let coder: PictureCoder
  /// Pictures, tables and scratch beside those of the coder.
  private let memory: EncoderMemory
  private let pool: [PicturePlanes]
  private let queue: LookAheadQueue
  private var order: StreamOrder
  private var rateControl: FileRateController
  /// Nil where frames do not say when they leave the buffer.
  private var timing: BufferTiming?
  private var output: AccessUnit
  private let scrollDetector: ScrollDetector
  /// Nil where the stream has no weighted prediction.
  private(set) var weights: PictureWeights?
  private let qpOffsets: UnsafeMutablePointer<Int8>
  private let evenShares: UnsafeMutablePointer<Float>
  /// Among pictures that all refer to the one before: what is coded well once is copied by those after it.
  private var cascade = QualityCascade(offsets: [0.7, 0.3, 0.7, -1.7])
  private var lastPicture: Int?
  private var codedCount: UInt64 = 0
  private var speedControl: SpeedControl
  /// Seconds that the look at the newest picture took, until a frame's time has them.
  private var lookTime = 0.0
  private var forecasts: [PictureForecast] = []
  private var directChoice = DirectChoice()
  /// B pictures with temporal direct; for tests.
  var temporalPictures: Int { directChoice.temporalPictures }
  /// Pictures that were coded again to fit the buffer; for tests.
  private(set) var recodedPictures = 0

  /// - Parameters:
  ///   - configuration: what is coded, and how.
  ///   - pass: what an earlier pass over the same pictures has learned (`statistics`).
  /// - Throws: `EncoderError` with the value that is out of range.
  public convenience init(configuration: LookAheadConfiguration, pass: PassStatistics? = nil) throws {
    try self.init(configuration: configuration, pass: pass, cpu: ovt_cpu_detect())
  }

  /// What this pass learns for a next one, once `keepsStatistics` is set: of the pictures coded so far.
  public private(set) var statistics: PassStatistics
  public var keepsStatistics = false

  /// `cpu`: a mask of OVT_CPU_*, for tests.
  init(configuration: LookAheadConfiguration, pass: PassStatistics? = nil, cpu: Int32) throws {
    try configuration.validate()
    var configuration = configuration
    (sps, pps) = try configuration.makeParameterSets()
    configuration.fitBuffer(to: sps)
    if let pass {
      guard pass.width == configuration.stream.width, pass.height == configuration.stream.height else {
        throw EncoderError.invalidConfiguration(
          "The pass was over pictures of \(pass.width)x\(pass.height).")
      }
    }
    statistics = PassStatistics(width: configuration.stream.width, height: configuration.stream.height)
    self.configuration = configuration
    let engine = configuration.engineConfiguration
    speedControl = SpeedControl(engine)
    let hasB = configuration.bidirectionalLimit > 0
    coder = PictureCoder(configuration: engine, sps: sps, pps: pps, cpu: cpu, bidirectional: hasB)
    let kernels = UnsafePointer(coder.kernels)
    var memory = EncoderMemory()
    var pool: [PicturePlanes] = []
    for _ in 0...engine.maximumReferences {
      pool.append(PicturePlanes(coder.geometry, memory: &memory, storesMotion: hasB))
    }
    self.pool = pool
    queue = LookAheadQueue(coder.geometry, kernels: kernels, weighs: pps.hasWeightedPrediction)
    order = StreamOrder(
      capacity: engine.maximumReferences, maxFrameNum: 1 << sps.log2MaxFrameNum,
      firstPictureID: configuration.part?.pictureID ?? 0)
    rateControl = FileRateController(configuration, pass: pass)
    timing = BufferTiming(sps, configuration.buffer)
    output = AccessUnit(
      pool: FrameMemoryPool(capacity: max(65536, engine.width * engine.height / 2)),
      framing: engine.framing == .lengths ? .length : .startCode)
    scrollDetector = ScrollDetector(coder.geometry, memory: &memory)
    pictureSets = configuration.makePictureSets(pps)
    weights =
      pps.hasWeightedPrediction
      ? PictureWeights(coder.geometry, slots: pool.count, sets: pictureSets, memory: &memory) : nil
    qpOffsets = memory.allocate(Int8.self, count: coder.geometry.macroblockCount)
    evenShares = memory.allocate(Float.self, count: coder.geometry.heightInMbs)
    evenShares.update(
      repeating: 1 / Float(coder.geometry.heightInMbs), count: coder.geometry.heightInMbs)
    self.memory = memory
    forecasts.reserveCapacity(configuration.lookAhead + 1)
    reorderingDepth = configuration.reorderingDepth
    coder.setAside { [unowned self] in
      queue.prepare(self.configuration, propagates: propagatesQuality)
    }
  }

  /// Frames of look-ahead from which on one of them may miss in it.
  private static let leastToPrepare = 8

  private var propagatesQuality: Bool { configuration.propagatesQuality && !isConstantQP }

  /// The parameter sets, NAL unit headers included, without start codes: pictures name one of several.
  public var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) {
    (sps.nalUnit, pictureSets.map { $0.nalUnit() })
  }

  /// Frames that can come out before one that is shown earlier.
  public let reorderingDepth: Int

  /// Pictures that wait.
  public var heldFrameCount: Int { queue.count }

  /// Changes what may change in mid-stream: the rate, the buffer, the frame rate, the QP range, key frames, the speed
  /// and measurement. The next picture to be coded follows it.
  ///
  /// - Throws: `EncoderError.invalidConfiguration` if a value is out of range, `.fixedInStream` if anything else
  ///   differs, `.levelExceeded` if the stream's level does not allow the rates; nothing changes then.
  public func reconfigure(_ new: LookAheadConfiguration) throws {
    try new.validate()
    var same = configuration
    same.rate = new.rate
    same.buffer = new.buffer
    same.keyFrameDuration = new.keyFrameDuration
    same.placesKeyFramesAtCuts = new.placesKeyFramesAtCuts
    same.usesOpenGOP = new.usesOpenGOP
    same.expectedDuration = new.expectedDuration
    same.stream.frameRate = new.stream.frameRate
    same.stream.rateControl = new.stream.rateControl
    same.stream.dataRateLimits = new.stream.dataRateLimits
    same.stream.maximumQueueDelay = new.stream.maximumQueueDelay
    same.stream.minimumQP = new.stream.minimumQP
    same.stream.maximumQP = new.stream.maximumQP
    same.stream.keyFrameInterval = new.stream.keyFrameInterval
    same.stream.measuresError = new.stream.measuresError
    same.stream.speed = new.stream.speed
    same.stream.encodeTimeShare = new.stream.encodeTimeShare
    guard same == new else {
      throw EncoderError.fixedInStream(
        "Only the rate, the buffer, the frame rate, the QP range, key frames, the speed and measurement may change "
          + "in mid-stream; make a new encoder for anything else.")
    }
    // The level is in the parameter sets already: what it allows cannot grow.
    var fixed = new
    fixed.stream.level = (sps.level?.number).map(Int.init)
    fixed.stream.raisesLevel = false
    _ = try fixed.makeParameterSets()
    fixed = new
    fixed.fitBuffer(to: sps)
    guard timing == nil || fixed.buffer == configuration.buffer else {
      throw EncoderError.fixedInStream("The buffer that the stream describes cannot change in mid-stream.")
    }
    configuration = fixed
    coder.configuration = new.engineConfiguration
    speedControl.reconfigure(new.engineConfiguration)
    rateControl.reconfigure(fixed)
  }

  // MARK: - Encoding

  /// Takes a picture in. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: a key frame, a QP, the time since the last picture; nothing else.
  ///   - output: gets the frames that are ready, in decoding order: none or one, more where the look-ahead got shorter.
  /// - Throws: `EncoderError` if the picture or the options do not fit; the encoder stays as it was.
  public func encode(
    _ source: SourcePicture, options: FrameOptions = FrameOptions(), output: (consuming EncodedFrame) -> Void
  ) throws {
    try check(source, options)
    let start = DispatchTime.now().uptimeNanoseconds
    var options = options
    if let timing {
      let usual = 1 / configuration.stream.frameRate
      options.duration = timing.whole(options.duration ?? usual, usual: usual)
    }
    let correction = queue.append(source, options: options, configuration: configuration)
    if correction != 0 { rateControl.correct(seconds: correction, isInBuffer: reorderingDepth == 0) }
    // It is looked at while another picture is coded; a short look-ahead needs all that it has.
    let prepares =
      configuration.lookAhead >= LookAheadEncoder.leastToPrepare && queue.count > configuration.lookAhead
    if !prepares { queue.look(configuration) }
    lookTime = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    while queue.count > configuration.lookAhead { output(codeNext(isEnding: false, prepares: prepares)) }
  }

  /// Codes all pictures that wait. A picture that comes afterwards goes on with the stream.
  public func flush(output: (consuming EncodedFrame) -> Void) {
    while queue.count > 0 { output(codeNext(isEnding: true)) }
  }

  /// Codes the pictures that wait up to this one (`FrameFacts.index`), and goes on.
  public func complete(through index: UInt64, output: (consuming EncodedFrame) -> Void) {
    // The stream goes on: what it owes or has saved is not a matter of these pictures alone.
    while queue.holdsPicture(through: index) { output(codeNext(isEnding: false)) }
  }

  private func check(_ source: SourcePicture, _ options: FrameOptions) throws {
    let stream = configuration.stream
    guard source.width == stream.width, source.height == stream.height else {
      throw EncoderError.invalidPicture(
        "The picture is \(source.width)x\(source.height), the encoder is for \(stream.width)x\(stream.height)."
      )
    }
    guard source.isConsistent else {
      throw EncoderError.invalidPicture(
        "A plane's bytes per row are fewer than its width, or more than 2^31 - 1.")
    }
    var plain = FrameOptions()
    plain.isKeyFrame = options.isKeyFrame
    plain.qp = options.qp
    plain.duration = options.duration
    guard plain == options else {
      throw EncoderError.invalidOption(
        "With a look-ahead a frame takes a key frame, a QP and a duration, and no other option.")
    }
    if let qp = options.qp, !(0...51).contains(qp) {
      throw EncoderError.invalidOption("QP \(qp) is not in 0...51.")
    }
    if let duration = options.duration, !(duration > 0 && duration.isFinite) {
      throw EncoderError.invalidOption("A duration of \(duration) seconds is not above 0.")
    }
  }

  /// Codes the first picture of the queue.
  /// - Parameter prepares: meanwhile the queue makes the next ones ready (`LookAheadQueue.prepare`).
  private func codeNext(isEnding: Bool, prepares: Bool = false) -> EncodedFrame {
    let start = DispatchTime.now().uptimeNanoseconds
    let count = coder.geometry.macroblockCount
    let isExact = isConstantQP
    coder.speed = speedControl.speed
    queue.settle(configuration, propagates: propagatesQuality)
    forecasts.removeAll(keepingCapacity: true)
    for picture in queue.settled { forecasts.append(picture.forecast) }
    for (n, picture) in queue.pictures.enumerated() {
      forecasts.append(picture.forecast(of: n, typicalRun: queue.typicalRun))
    }
    let planned = rateControl.plan(forecasts, isEnding: isEnding)
    let picture = queue.removeFirst()
    defer { queue.recycle(picture) }
    let isIntra = picture.kind.isKey
    let isB = picture.kind.isBidirectional

    var plan = PicturePlan()
    plan.isIDR = picture.kind == .idr
    plan.isOpenKeyFrame = picture.kind == .openKey
    plan.isReference = picture.kind != .bidirectional
    var offset = 0.0
    var cascaded = 0.0
    if !isExact {
      offset = FileRateController.offsets[picture.forecast.kind.rawValue]
      if picture.kind == .bidirectionalReference { offset -= 0.5 }
      if isIntra { cascade.restart() }
      if configuration.bidirectionalLimit == 0, !isIntra { cascaded = cascade.next() }
      offset += cascaded
    }
    let qp = picture.options.qp.map(Double.init) ?? planned + offset
    setQP(&plan, qp, picture, isExact: isExact || picture.options.qp != nil)
    if !isB {
      // B pictures inherit from every picture that is none.
      plan.isBetter = isIntra || cascaded < -1 || configuration.bidirectionalLimit > 0
    }

    let source = picture.source
    order.selectReferences(picture.kind, index: picture.index, most: max(1, coder.referencesSearched))
    if !isB, let first = order.wanted.first {
      plan.scroll = scrollDetector.distance(
        source, from: pool[first.picture], limit: sps.verticalMotion - 16)
    }
    weights?.weigh(&plan, source, index: picture.index, order, coder)
    for (i, entry) in order.wanted.enumerated() { coder.setReference(i, pool[entry.picture]) }
    for (i, entry) in order.wantedL1.enumerated() { coder.setReferenceL1(i, pool[entry.picture]) }
    plan.header.deblocking = H264SliceHeader.Deblocking(
      disableIDC: coder.configuration.deblocking ? 0 : 1,
      alphaOffset: coder.configuration.deblockingAlphaOffset,
      betaOffset: coder.configuration.deblockingBetaOffset)
    let references = order.wanted.count + order.wantedL1.count
    let target = order.prepare(&plan, picture.kind, index: picture.index, pool: pool.count)
    if plan.isReference { weights?.store(slot: target) }
    if isB { directChoice.choose(&plan, configuration.directPrediction, order) }

    output.removeAll()
    writeLeadingUnits(plan, picture)
    let leading = (units: output.units.count, count: output.count)
    coder.qpOffsets = UnsafePointer(qpOffsets)
    coder.code(plan, source: source, into: pool[target], output: &output, doesAside: prepares)
    // The same with one thread, so that the stream is the same.
    if prepares, !coder.isThreaded { queue.prepare(configuration, propagates: propagatesQuality) }
    let codedQP = fit(&plan, qp, picture, source, target, leading)
    if plan.comparesDirect { directChoice.note(coder.directCosts) }
    lastPicture = target

    var facts = FrameFacts()
    coder.describe(&facts, plan, references: references)
    facts.speed = coder.speed
    if configuration.stream.measuresError {
      facts.meanSquaredError = coder.squaredError(source, pool[target])
    }
    facts.index = picture.index
    if !isExact {
      let final = picture.finalResidual(count)
      rateControl.finish(
        bits: Double(output.bits), qp: codedQP - offset, picture: picture.forecast, cascaded: cascaded,
        final: final)
      if keepsStatistics {
        statistics.append(
          PassStatistics.Picture(
            index: picture.index, kind: picture.forecast.kind, bits: output.bits,
            qp: min(max(codedQP - offset, 0), 51), duration: picture.duration, residual: final))
      }
    }
    let interval = queue.decodeInterval(place: codedCount, depth: reorderingDepth)
    codedCount += 1
    facts.fillerBytes = fill(interval.seconds, isKnown: interval.isKnown)
    facts.bits = output.bits
    rateControl.remove(bits: Double(output.bits), seconds: interval.seconds)
    facts.encodeTime = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    speedControl.note(seconds: facts.encodeTime + lookTime, interval: picture.duration)
    lookTime = 0
    return EncodedFrame(
      facts: facts, nalUnits: output.units, byteCount: output.count, memory: output.takeMemory())
  }

  private var isConstantQP: Bool {
    if case .constantQP = configuration.rate { return true }
    return false
  }

  /// Sets the picture's QP, and the offsets of its macroblocks to what is left of a fraction.
  private func setQP(_ plan: inout PicturePlan, _ qp: Double, _ picture: QueuedPicture, isExact: Bool) {
    let stream = configuration.stream
    plan.qp = min(max(Int(qp.rounded()), stream.minimumQP), stream.maximumQP)
    let count = coder.geometry.macroblockCount
    if isExact {
      qpOffsets.update(repeating: 0, count: count)
      return
    }
    let rest = Float(min(max(qp, 0), 51)) - Float(plan.qp)
    for m in 0..<count {
      qpOffsets[m] = Int8(max(-30, min(30, (picture.offsets[m] + rest).rounded())))
    }
  }

  // MARK: - The buffer

  /// Codes the picture again, coarser, as long as it does not fit into the decoder's buffer.
  /// - Returns: the QP that it was coded with.
  private func fit(
    _ plan: inout PicturePlan, _ first: Double, _ picture: QueuedPicture, _ source: SourcePicture,
    _ target: Int, _ leading: (units: Int, count: Int)
  ) -> Double {
    guard let room = rateControl.room else { return first }
    var qp = first
    var attempts = 0
    while Double(output.bits) > room, attempts < 4 {
      attempts += 1
      recodedPictures += 1
      let over = Double(output.bits) / max(room, 1)
      qp = min(qp + max(1.5, 7 * log2Approx(over) + 0.5), Double(configuration.stream.maximumQP))
      if attempts == 4 || qp >= Double(configuration.stream.maximumQP) {
        // What is left is coded macroblock by macroblock within what there is.
        attempts = 4
        let left = max(room - Double(leading.count * 8), 64)
        plan.budget = RowBudget(
          target: left * 0.9, maximum: left * 0.95, limit: left - 64, cheapest: plan.isKeyFrame ? 6 : 0.125,
          minQP: configuration.stream.minimumQP, maxQP: 51, shares: UnsafePointer(evenShares))
        // All macroblocks can be skipped by their neighbours' motion.
        if plan.isBidirectional { plan.header.usesSpatialDirect = true }
        plan.comparesDirect = false
      }
      setQP(&plan, qp, picture, isExact: picture.options.qp != nil)
      output.truncate(units: leading.units, count: leading.count)
      coder.recodeAlone(plan, source: source, into: pool[target], output: &output)
    }
    return qp
  }

  /// Bytes of filler in a frame.
  private static let mostFiller = 0x1p22

  /// Filler data for what a constant rate brings and the decoder's buffer has no room for.
  /// - Returns: its bytes, framing included.
  private func fill(_ seconds: Double, isKnown: Bool) -> Int {
    guard case .constant = configuration.rate, let buffer = rateControl.buffer else { return 0 }
    var state = buffer
    let lost = state.remove(bits: Double(output.bits), seconds: seconds)
    // Framing, header, a byte and the trailing bits: what is less than that is taken from the bits to come, and never the
    // other way: what stays below a byte would sum up over a stream.
    let bytes = max(Int(min(lost / 8, LookAheadEncoder.mostFiller)) + 1, 8)
    // The next picture may come earlier than it is thought to: something is left for it.
    let room = buffer.fullness * (isKnown ? 1 : 0.75) - Double(output.bits)
    let most = Int(min(max(room / 8, 0), LookAheadEncoder.mostFiller))
    guard lost > 0, most >= 8 else { return 0 }
    let before = output.count
    // Framing and the header take five of them.
    output.appendFiller(bytes: min(bytes, most) - 5)
    return output.count - before
  }

  // MARK: - NAL units around the slices

  private func writeLeadingUnits(_ plan: PicturePlan, _ picture: QueuedPicture) {
    if configuration.stream.writesAccessUnitDelimiters {
      output.append(.accessUnitDelimiter) {
        H264AccessUnitDelimiter(primaryPictureType: plan.isKeyFrame ? 0 : plan.isBidirectional ? 2 : 1).write(
          to: &$0)
      }
    }
    if plan.isKeyFrame, configuration.stream.writesParameterSets {
      output.append(.sequenceParameterSet, refIDC: 3) { sps.write(to: &$0) }
      for set in pictureSets { output.append(.pictureParameterSet, refIDC: 3) { set.write(to: &$0) } }
    }
    writeTiming(picture)
    if plan.isOpenKeyFrame {
      output.append(.sei) { H264RecoveryPoint(frameCount: 0, isExact: true).write(to: &$0) }
    }
    guard plan.isKeyFrame else { return }
    var messages: [SupplementalInformation.Message] = []
    if let payload = configuration.masteringDisplay { messages.append(.init(type: 137, payload: payload)) }
    if let payload = configuration.contentLightLevel { messages.append(.init(type: 144, payload: payload)) }
    if !messages.isEmpty { output.append(.sei) { SupplementalInformation.write(messages, to: &$0) } }
  }

  /// When the frame leaves the buffer and is shown.
  private func writeTiming(_ picture: QueuedPicture) {
    guard var timing else { return }
    if codedCount > 0 {
      // Known by now, whatever it was thought to be.
      timing.advance(seconds: queue.decodeInterval(place: codedCount - 1, depth: reorderingDepth).seconds)
    }
    var lead = 0.0
    for place in 0..<reorderingDepth where codedCount == 0 {
      lead += queue.decodeInterval(place: UInt64(place), depth: reorderingDepth).seconds
    }
    let messages = timing.next(
      isKey: picture.kind.isKey, shown: picture.shown, lead: lead,
      fullness: rateControl.buffer?.fullness ?? 0)
    if let period = messages.period { output.append(.sei) { period.write(to: &$0, hrd: timing.hrd) } }
    output.append(.sei) { messages.timing.write(to: &$0, hrd: timing.hrd) }
    self.timing = timing
  }

  // MARK: - Reconstruction

  /// Calls `body` with the planes of the last coded picture as a decoder shows it: luma and NV12 chroma,
  /// both with `bytesPerRow`. Nil if no picture was coded yet.
  public func withReconstruction<R>(
    _ body: (_ luma: UnsafePointer<UInt8>, _ chroma: UnsafePointer<UInt8>, _ bytesPerRow: Int) throws -> R
  ) rethrows -> R? {
    guard let lastPicture else { return nil }
    let planes = pool[lastPicture]
    return try body(planes.luma, planes.chroma, coder.geometry.stride)
  }
}

extension QueuedPicture {
  /// The picture as the rate control sees it.
  var forecast: PictureForecast {
    PictureForecast(
      residual: plainResidual,
      kind: kind.isKey ? .intra : kind == .predicted ? .predicted : .bidirectional, duration: duration)
  }

  /// The same before its kind is known: every so many pictures one is no B picture.
  func forecast(of n: Int, typicalRun: Double) -> PictureForecast {
    var result = forecast
    if !kind.isKey {
      let isPredicted =
        isInside.map { !$0 } ?? (Int(Double(n + 1) / typicalRun) > Int(Double(n) / typicalRun))
      result.kind = isPredicted ? .predicted : .bidirectional
    }
    return result
  }
}
