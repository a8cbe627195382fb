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
  /// The first of those that code pictures.
  private let coder: PictureCoder
  private let history: MotionHistory
  /// Nil with one thread.
  private let scheduler: PictureScheduler?
  private let cpu: Int32
  /// Pictures that may be coded beside each other, at first and now.
  private let mostInFlight: Int
  private var flightLimit: Int { min(mostInFlight, configuration.picturesInFlight) }
  /// Made as they are needed.
  private var flights: [PictureInFlight] = []
  /// Of those, the ones with a picture, in decoding order.
  private var inFlight: [PictureInFlight] = []
  /// The last one whose picture is no B picture.
  private var lastAnchor: PictureInFlight?
  private let framePool: FrameMemoryPool
  /// Pictures, tables and scratch beside those of the coders.
  private let memory: EncoderMemory
  private let pool: [PicturePlanes]
  /// Of each, how many of the pictures in flight need it, and whether it is the one that was given out last.
  private var uses: [Int]
  private let queue: LookAheadQueue
  private var order: StreamOrder
  private var rateControl: FileRateController
  /// Nil where frames do not say when they leave the buffer.
  private var timing: BufferTiming?
  /// Seconds that durations are multiples of; nil where nobody counts with them.
  private let wholeTick: Double?
  /// Nil where the stream has no weighted prediction.
  private(set) var weights: PictureWeights?
  private let evenShares: UnsafeMutablePointer<Float>
  /// Among pictures that all refer to the one before: what is coded well once is copied by those after it.
  private var cascade = QualityCascade(offsets: [0.7, 0.3, 0.7, -1.7])
  private var lastPicture: Int?
  private var codedCount: UInt64 = 0
  private var speedControl: SpeedControl
  /// Seconds that the look at the newest picture took, until a frame's time has them.
  private var lookTime = 0.0
  private var forecasts: [PictureForecast] = []
  /// Seconds from the removal of each to that of the next.
  private var intervals: [Double] = []
  private var directChoice = DirectChoice()
  /// B pictures with temporal direct; for tests.
  var temporalPictures: Int { directChoice.temporalPictures }
  /// Pictures that were coded again to fit the buffer; for tests.
  private(set) var recodedPictures = 0
  /// `PictureCoder.estimatesSamples` and `picturesLeftToOne`; for tests.
  var estimatesSamples = true
  var picturesLeftToOne: Int {
    coder.threads == 1 ? coder.picturesLeftToOne : flights.reduce(0) { $0 + $1.coder.picturesLeftToOne }
  }

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
    self.cpu = cpu
    let most = configuration.picturesInFlight
    mostInFlight = most
    let geometry = PictureGeometry(width: engine.width, height: engine.height)
    history = MotionHistory(geometry, pictures: most + 1)
    coder = PictureCoder(
      configuration: engine, sps: sps, pps: pps, cpu: cpu, bidirectional: hasB, history: history)
    scheduler = coder.threads > 1 ? PictureScheduler(threads: coder.threads, places: most) : nil
    let kernels = UnsafePointer(coder.kernels)
    var memory = EncoderMemory()
    var pool: [PicturePlanes] = []
    // Those that others refer to, those that are being coded, and the one that was given out last.
    for _ in 0..<engine.maximumReferences + most + (most > 1 ? 1 : 0) {
      pool.append(PicturePlanes(coder.geometry, memory: &memory, storesMotion: hasB))
    }
    self.pool = pool
    uses = [Int](repeating: 0, count: pool.count)
    queue = LookAheadQueue(coder.geometry, kernels: kernels, weighs: pps.hasWeightedPrediction)
    order = StreamOrder(
      capacity: engine.maximumReferences, maxFrameNum: 1 << sps.log2MaxFrameNum,
      firstPictureID: configuration.part?.pictureID ?? 0)
    timing = BufferTiming(sps, configuration.buffer)
    let tick = timing?.tick ?? JoinedBuffer.usualTick(configuration.stream.frameRate)
    wholeTick = timing != nil || configuration.isJoined ? tick : nil
    rateControl = FileRateController(
      configuration, pass: pass,
      joined: JoinedBuffer(configuration, tick: tick, macroblocks: coder.geometry.macroblockCount))
    framePool = FrameMemoryPool(capacity: max(65536, engine.width * engine.height / 2), extra: most - 1)
    pictureSets = configuration.makePictureSets(pps)
    weights =
      pps.hasWeightedPrediction
      ? PictureWeights(coder.geometry, slots: pool.count, sets: pictureSets, memory: &memory) : nil
    evenShares = memory.allocate(Float.self, count: coder.geometry.heightInMbs)
    evenShares.update(
      repeating: 1 / Float(coder.geometry.heightInMbs), count: coder.geometry.heightInMbs)
    self.memory = memory
    forecasts.reserveCapacity(configuration.lookAhead + 1)
    intervals.reserveCapacity(configuration.lookAhead + 1)
    inFlight.reserveCapacity(most)
    reorderingDepth = configuration.reorderingDepth
  }

  /// No thread touches a picture any more when its memory goes.
  deinit { scheduler?.end() }

  /// Frames of look-ahead from which on one of them may miss in it.
  private static let leastToPrepare = 8

  private var propagatesQuality: Bool { configuration.propagatesQuality && !isConstantQP }

  /// The parameter sets, NAL unit headers included, without start codes: pictures name one of several.
  public var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) {
    (sps.nalUnit, pictureSets.map { $0.nalUnit() })
  }

  /// Frames that can come out before one that is shown earlier.
  public let reorderingDepth: Int

  /// Pictures that wait or are being coded.
  public var heldFrameCount: Int { queue.count + inFlight.count }

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
    guard timing == nil && !configuration.isJoined || fixed.buffer == configuration.buffer else {
      throw EncoderError.fixedInStream(
        "The buffer that the stream describes, or shares with others, cannot change in mid-stream.")
    }
    // What is being coded belongs to what was asked for before.
    for flight in inFlight { account(flight) }
    configuration = fixed
    coder.configuration = new.engineConfiguration
    for flight in flights { flight.coder.configuration = new.engineConfiguration }
    speedControl.reconfigure(new.engineConfiguration)
    rateControl.reconfigure(fixed)
  }

  // MARK: - Encoding

  /// Says when the first picture is shown, in seconds from the beginning of the movie whose streams are joined. Before the
  /// first picture; where streams are not joined, or at no constant rate, it changes nothing.
  public func begin(at seconds: Double) {
    if codedCount == 0, seconds.isFinite { rateControl.begin(at: seconds) }
  }

  /// Bits by which the decoder's buffer misses what streams that are joined agree upon, after the last picture was coded: 0
  /// unless a picture could not be made small enough.
  public private(set) var bufferMiss = 0.0

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
    if let wholeTick {
      let usual = 1 / configuration.stream.frameRate
      options.duration = BufferTiming.whole(options.duration ?? usual, usual: usual, tick: wholeTick)
    }
    let correction = queue.append(source, options: options, configuration: configuration)
    if correction != 0 { rateControl.correct(seconds: correction, isInBuffer: reorderingDepth == 0) }
    let limit = flightLimit
    // With one picture at a time it is looked at while that is coded; a short look-ahead needs all that it has.
    let prepares =
      limit == 1 && configuration.lookAhead >= LookAheadEncoder.leastToPrepare
      && queue.count > configuration.lookAhead
    if !prepares { queue.look(configuration) }
    lookTime = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    while queue.count > configuration.lookAhead - (limit - 1) {
      begin(isEnding: false, output)
      if prepares { queue.prepare(configuration, propagates: propagatesQuality) }
      while inFlight.count >= limit { output(finishFirst()) }
    }
    // More were in flight before a change of the configuration.
    while heldFrameCount > configuration.lookAhead, !inFlight.isEmpty { output(finishFirst()) }
  }

  /// Codes all pictures that wait. A picture that comes afterwards goes on with the stream.
  public func flush(output: (consuming EncodedFrame) -> Void) {
    while queue.count > 0 { begin(isEnding: true, output) }
    while !inFlight.isEmpty { output(finishFirst()) }
  }

  /// Codes the pictures that wait up to this one (`FrameFacts.index`), and goes on.
  public func complete(through index: UInt64, output: (consuming EncodedFrame) -> Void) {
    // The stream goes on: what it owes or has saved is not a matter of these pictures alone.
    while queue.holdsPicture(through: index) { begin(isEnding: false, output) }
    while inFlight.contains(where: { ($0.picture?.index ?? 0) <= index }) { output(finishFirst()) }
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

  // MARK: - Pictures in flight

  /// Waits for the pictures that the plan of the next one is to know: all, at the begin and the end of a stream with an average
  /// rate.
  private func learn(isEnding: Bool) {
    guard case .average = configuration.rate, isEnding || rateControl.needsAllKnown else { return }
    for flight in inFlight { account(flight) }
  }

  private func idleFlight() -> PictureInFlight {
    if let idle = flights.first(where: { $0.picture == nil }) { return idle }
    var coder = coder
    if scheduler != nil {
      if !flights.isEmpty {
        coder = PictureCoder(
          configuration: coder.configuration, sps: sps, pps: pps, cpu: cpu,
          bidirectional: reorderingDepth > 0, history: history)
      }
      coder.reusesMemory = mostInFlight == 1
    }
    let flight = PictureInFlight(
      coder, place: scheduler?.place(flights.count),
      output: AccessUnit(
        pool: framePool, framing: configuration.stream.framing == .lengths ? .length : .startCode))
    flights.append(flight)
    return flight
  }

  /// Begins to code the first picture of the queue, when there is room for it.
  private func begin(isEnding: Bool, _ output: (consuming EncodedFrame) -> Void) {
    while inFlight.count >= flightLimit { output(finishFirst()) }
    learn(isEnding: isEnding)
    let start = DispatchTime.now().uptimeNanoseconds
    let flight = idleFlight()
    let coder = flight.coder
    if let place = flight.place { scheduler?.clear(place) }
    coder.speed = speedControl.speed
    coder.estimatesSamples = estimatesSamples
    let isExact = isConstantQP
    queue.settle(configuration, propagates: propagatesQuality)
    forecasts.removeAll(keepingCapacity: true)
    // What is being coded is still to be paid for.
    for flight in inFlight where !flight.isAccounted {
      if let picture = flight.picture { forecasts.append(picture.forecast) }
    }
    for picture in queue.settled { forecasts.append(picture.forecast) }
    for (n, picture) in queue.pictures.enumerated() {
      forecasts.append(picture.forecast(of: n, typicalRun: queue.typicalRun))
    }
    let planned = rateControl.plan(forecasts, isEnding: isEnding)
    intervals.removeAll(keepingCapacity: true)
    for n in forecasts.indices {
      intervals.append(queue.decodeInterval(place: codedCount + UInt64(n), depth: reorderingDepth).seconds)
    }
    let room = rateControl.room(forecasts, intervals: intervals)
    let picture = queue.removeFirst()
    flight.room = room
    flight.isLast = isEnding && queue.count == 0
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
    setQP(&plan, qp, picture, flight.qpOffsets, isExact: isExact || picture.options.qp != nil)
    if !isB {
      // B pictures inherit from every picture that is none.
      plan.isBetter = isIntra || cascaded < -1 || configuration.bidirectionalLimit > 0
    }

    let source = picture.source
    order.selectReferences(picture.kind, index: picture.index, most: max(1, coder.referencesSearched))
    weights?.weigh(&plan, source, index: picture.index, order, coder)
    for (i, entry) in order.wanted.enumerated() { coder.setReference(i, pool[entry.picture]) }
    for (i, entry) in order.wantedL1.enumerated() { coder.setReferenceL1(i, pool[entry.picture]) }
    plan.header.deblocking = H264SliceHeader.Deblocking(
      disableIDC: coder.configuration.deblocking ? 0 : 1,
      alphaOffset: coder.configuration.deblockingAlphaOffset,
      betaOffset: coder.configuration.deblockingBetaOffset)
    flight.references = order.wanted.count + order.wantedL1.count
    flight.target = order.prepare(&plan, picture.kind, index: picture.index, uses: uses)
    if plan.isReference { weights?.store(slot: flight.target) }
    if isB {
      directChoice.choose(&plan, configuration.directPrediction, order)
      flight.directKind = directChoice.kind
    }
    flight.output.pointee.removeAll()
    writeLeadingUnits(plan, picture, &flight.output.pointee)
    flight.leading = (flight.output.pointee.units.count, flight.output.pointee.count)
    coder.qpOffsets = UnsafePointer(flight.qpOffsets)

    flight.pins.removeAll(keepingCapacity: true)
    flight.pins.append(flight.target)
    for entry in order.wanted { flight.pins.append(entry.picture) }
    for entry in order.wantedL1 { flight.pins.append(entry.picture) }
    for i in flight.pins { uses[i] += 1 }
    (flight.qp, flight.offset, flight.cascaded) = (qp, offset, cascaded)
    (flight.isExact, flight.isInBuffer) = (isExact, rateControl.buffer != nil)
    (flight.isAccounted, flight.results) = (false, nil)
    launch(flight, &plan, source, isPredicted: !isB && !isIntra)
    flight.plan = plan
    flight.picture = picture
    if !isB { lastAnchor = flight }
    inFlight.append(flight)
    flight.time = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
  }

  /// Hands a planned picture to the threads, or codes it.
  private func launch(
    _ flight: PictureInFlight, _ plan: inout PicturePlan, _ source: SourcePicture, isPredicted: Bool
  ) {
    let first = isPredicted ? order.wanted.first.map { pool[$0.picture] } : nil
    let limit = sps.verticalMotion - 16
    if let scheduler, let place = flight.place {
      guard
        let job = flight.coder.begin(plan, source: source, into: pool[flight.target], output: flight.output)
      else { return }
      let anchor = isPredicted ? lastAnchor : nil
      let needs = inFlight.lazy.filter { $0 === anchor || flight.pins.contains($0.target) }
      scheduler.begin(
        job, at: place, needs: needs.compactMap(\.place), isReference: plan.isReference,
        scroll: first.map { (flight.scrollDetector, source, $0, limit) })
      return
    }
    if let first { plan.scroll = flight.scrollDetector.distance(source, from: first, limit: limit) }
    flight.coder.code(plan, source: source, into: pool[flight.target], output: &flight.output.pointee)
    flight.results = (flight.coder.statistics, flight.coder.directCosts)
  }

  /// Waits until a picture is coded, and notes what it took.
  private func account(_ flight: PictureInFlight) {
    guard !flight.isAccounted, let picture = flight.picture else { return }
    flight.isAccounted = true
    if let place = flight.place {
      scheduler?.complete(place)
      flight.plan.scroll = flight.coder.end(flight.plan, pool[flight.target])
    }
    let codedQP = fit(flight, picture)
    if flight.plan.comparesDirect { directChoice.note(flight.directCosts, of: flight.directKind) }
    if flight.isExact { return }
    let bits = flight.output.pointee.bits
    let final = picture.finalResidual(coder.geometry.macroblockCount)
    rateControl.finish(
      bits: Double(bits), qp: codedQP - flight.offset, picture: picture.forecast, cascaded: flight.cascaded,
      final: final)
    if keepsStatistics {
      statistics.append(
        PassStatistics.Picture(
          index: picture.index, kind: picture.forecast.kind, bits: bits,
          qp: min(max(codedQP - flight.offset, 0), 51), duration: picture.duration, residual: final))
    }
  }

  /// Finishes the first picture in flight.
  private func finishFirst() -> EncodedFrame {
    let start = DispatchTime.now().uptimeNanoseconds
    let flight = inFlight[0]
    account(flight)
    inFlight.removeFirst()
    if lastAnchor === flight { lastAnchor = nil }
    for i in flight.pins { uses[i] -= 1 }
    if mostInFlight > 1 {
      if let lastPicture { uses[lastPicture] -= 1 }
      uses[flight.target] += 1
    }
    lastPicture = flight.target

    var facts = FrameFacts()
    coder.describe(&facts, flight.plan, references: flight.references, statistics: flight.statistics)
    facts.speed = flight.coder.speed
    if let picture = flight.picture {
      if configuration.stream.measuresError {
        facts.meanSquaredError = coder.squaredError(picture.source, pool[flight.target])
      }
      facts.index = picture.index
    }
    let interval = queue.decodeInterval(place: codedCount, depth: reorderingDepth)
    codedCount += 1
    if flight.isInBuffer {
      facts.fillerBytes = fill(
        &flight.output.pointee, interval.seconds, isKnown: interval.isKnown, isLast: flight.isLast)
    }
    facts.bits = flight.output.pointee.bits
    if flight.isInBuffer { rateControl.remove(bits: Double(facts.bits), seconds: interval.seconds) }
    if flight.isLast { bufferMiss = rateControl.miss }
    facts.encodeTime = flight.time + Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    if let picture = flight.picture {
      speedControl.note(seconds: facts.encodeTime + lookTime, interval: picture.duration)
      queue.recycle(picture)
    }
    lookTime = 0
    flight.picture = nil
    return EncodedFrame(
      facts: facts, nalUnits: flight.output.pointee.units, byteCount: flight.output.pointee.count,
      memory: flight.output.pointee.takeMemory())
  }

  private var isConstantQP: Bool {
    if case .constantQP = configuration.rate { return true }
    return false
  }

  /// Sets the picture's QP, and the offsets of its macroblocks to what is left of a fraction.
  private func setQP(
    _ plan: inout PicturePlan, _ qp: Double, _ picture: QueuedPicture,
    _ qpOffsets: UnsafeMutablePointer<Int8>,
    isExact: Bool
  ) {
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
  private func fit(_ flight: PictureInFlight, _ picture: QueuedPicture) -> Double {
    // No other picture is in flight then.
    guard flight.isInBuffer, let room = flight.room else { return flight.qp }
    let output = flight.output
    let leading = flight.leading
    var qp = flight.qp
    var attempts = 0
    while Double(output.pointee.bits) > room, attempts < 4 {
      attempts += 1
      recodedPictures += 1
      let over = Double(output.pointee.bits) / max(room, 1)
      qp = min(qp + max(1.5, 7 * log2Approx(over) + 0.5), Double(configuration.stream.maximumQP))
      if attempts == 4 || qp >= Double(configuration.stream.maximumQP) {
        // What is left is coded macroblock by macroblock within what there is.
        attempts = 4
        let left = max(room - Double(leading.count * 8), 64)
        flight.plan.budget = RowBudget(
          target: left * 0.9, maximum: left * 0.95, limit: left - 64,
          cheapest: flight.plan.isKeyFrame ? 6 : 0.125,
          minQP: configuration.stream.minimumQP, maxQP: 51, shares: UnsafePointer(evenShares))
        // All macroblocks can be skipped by their neighbours' motion.
        if flight.plan.isBidirectional { flight.plan.header.usesSpatialDirect = true }
        flight.plan.comparesDirect = false
      }
      setQP(&flight.plan, qp, picture, flight.qpOffsets, isExact: picture.options.qp != nil)
      output.pointee.truncate(units: leading.units, count: leading.count)
      flight.coder.recodeAlone(
        flight.plan, source: picture.source, into: pool[flight.target], output: &output.pointee)
      if flight.results != nil { flight.results = (flight.coder.statistics, flight.coder.directCosts) }
    }
    return qp
  }

  /// Bytes of filler in a frame.
  private static let mostFiller = 0x1p22

  /// Filler data for what a constant rate brings and the decoder's buffer has no room for.
  /// - Returns: its bytes, framing included.
  private func fill(
    _ output: inout AccessUnit, _ seconds: Double, isKnown: Bool, isLast: Bool
  ) -> Int {
    guard case .constant = configuration.rate, let buffer = rateControl.buffer,
      let most = rateControl.most(isLast: isLast, seconds: seconds)
    else { return 0 }
    let lost = buffer.fullness + buffer.rate * seconds - Double(output.bits) - most
    if isLast, most < buffer.size {
      // Just that: what is agreed upon is whole bytes away.
      let bytes = Int(min(max(lost / 8, 0), LookAheadEncoder.mostFiller).rounded())
      return bytes < 8 ? 0 : addFiller(bytes, &output)
    }
    // Framing, header, a byte and the trailing bits: what is less than that is taken from the bits to come, and never the
    // other way: what stays below a byte would sum up over a stream.
    let bytes = max(Int(min(lost / 8, LookAheadEncoder.mostFiller)) + 1, 8)
    // The next picture may come earlier than it is thought to: something is left for it.
    let room = buffer.fullness * (isKnown ? 1 : 0.75) - Double(output.bits)
    let fitting = Int(min(max(room / 8, 0), LookAheadEncoder.mostFiller))
    guard lost > 0, fitting >= 8 else { return 0 }
    return addFiller(min(bytes, fitting), &output)
  }

  /// - Parameter bytes: framing and the header take five of them.
  private func addFiller(_ bytes: Int, _ output: inout AccessUnit) -> Int {
    let before = output.count
    output.appendFiller(bytes: bytes - 5)
    return output.count - before
  }

  // MARK: - NAL units around the slices

  private func writeLeadingUnits(_ plan: PicturePlan, _ picture: QueuedPicture, _ output: inout AccessUnit) {
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
    writeTiming(picture, &output)
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
  private func writeTiming(_ picture: QueuedPicture, _ output: inout AccessUnit) {
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
    if codedCount == 0, configuration.hasFramesBefore {
      // Who joins the streams knows how long ago the last buffering period began.
      let joinable = H264PictureTiming.joinable(messages.timing, hrd: timing.hrd)
      output.append(.sei) { SupplementalInformation.write(joinable, to: &$0) }
    } else {
      output.append(.sei) { messages.timing.write(to: &$0, hrd: timing.hrd) }
    }
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
