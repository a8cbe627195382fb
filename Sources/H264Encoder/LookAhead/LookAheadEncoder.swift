// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream

/// The mode with look-ahead of `H264Encoder`: pictures wait, and come out in decoding order.
final class LookAheadEncoder: EncodingStrategy {
  var configuration: H264EncoderConfiguration

  var sps: H264SequenceParameterSet
  var pps: H264PictureParameterSet
  /// That one first.
  let pictureSets: [H264PictureParameterSet]
  /// The first of those that code pictures.
  let coder: PictureCoder
  let history: MotionHistory
  /// Nil with one thread.
  let scheduler: PictureScheduler?
  let cpu: Int32
  /// Pictures that may be coded beside each other, at first and now.
  let mostInFlight: Int
  var flightLimit: Int { min(mostInFlight, configuration.picturesInFlight) }
  /// Made as they are needed.
  var flights: [PictureInFlight] = []
  /// Of those, the ones with a picture, in decoding order.
  var inFlight: [PictureInFlight] = []
  /// The last one whose picture is no B picture.
  var lastAnchor: PictureInFlight?
  let framePool: FrameMemoryPool
  /// Pictures, tables and scratch beside those of the coders.
  let memory: EncoderMemory
  let pool: [PicturePlanes]
  /// Of each, how many of the pictures in flight need it, and whether it is the one that was given out last.
  var uses: [Int]
  let queue: LookAheadQueue
  var order: StreamOrder
  var rateControl: LookAheadRateControl
  /// Nil where frames do not say when they leave the buffer.
  var timing: BufferTiming?
  /// Seconds that durations are multiples of; nil where nobody counts with them.
  private let wholeTick: Double?
  /// Nil where the stream has no weighted prediction.
  var weights: PictureWeights?
  let evenShares: UnsafeMutablePointer<Float>
  /// Among pictures that all refer to the one before: what is coded well once is copied by those after it.
  var cascade = QualityCascade(offsets: [0.7, 0.3, 0.7, -1.7])
  var lastPicture: Int?
  var codedCount: UInt64 = 0
  var effortControl: EffortControl
  /// Seconds that the look at the newest picture took, until a frame's time has them.
  var preAnalysisTime = 0.0
  var forecasts: [PictureForecast] = []
  /// Seconds from the removal of each to that of the next.
  var intervals: [Double] = []
  var directChoice = DirectChoice()
  /// B pictures with temporal direct; for tests.
  var temporalPictures: Int { directChoice.temporalPictures }
  /// Pictures that were coded again to fit the buffer; for tests.
  var recodedPictures = 0
  /// `PictureCoder.estimatesSamples` and `picturesRecodedAlone`; for tests.
  var estimatesSamples = true
  var picturesRecodedAlone: Int {
    coder.threads == 1 ? coder.picturesRecodedAlone : flights.reduce(0) { $0 + $1.coder.picturesRecodedAlone }
  }

  /// - Parameters:
  ///   - configuration: what is coded, and how.
  ///   - pass: what an earlier pass over the same pictures has learned (`statistics`).
  /// - Throws: `H264EncoderError` with the value that is out of range.
  convenience init(configuration: H264EncoderConfiguration, pass: PassStatistics? = nil) throws {
    try self.init(configuration: configuration, pass: pass, cpu: ovt_cpu_detect())
  }

  /// - Parameters:
  ///   - configuration: what is coded, and how.
  ///   - pass: what an earlier pass over the same pictures has learned, in a file. If that cannot be read any more while the
  ///     encoder goes, what follows is encoded as if the pass had ended there, and `StoredPass.hasFailed` is set.
  /// - Throws: `H264EncoderError` with the value that is out of range.
  convenience init(configuration: H264EncoderConfiguration, pass: StoredPass) throws {
    try self.init(configuration: configuration, pass: pass, cpu: ovt_cpu_detect())
  }

  /// What this pass learns for a next one, once `keepsStatistics` is set: of the pictures coded so far, but for those that
  /// `takeStatistics` has given.
  var statistics: PassStatistics
  /// Whether `statistics` are kept.
  var keepsStatistics = false

  /// What was learnt since the last call; `statistics` begins anew.
  func takeStatistics() -> PassStatistics { statistics.take() }

  /// `cpu`: a mask of OVT_CPU_*, for tests.
  init(configuration: H264EncoderConfiguration, pass: (any PassSource)? = nil, cpu: Int32) throws {
    try configuration.validate()
    var configuration = configuration
    (sps, pps) = try configuration.makeParameterSets()
    configuration.fitBuffer(to: sps)
    if let pass {
      guard pass.width == configuration.width, pass.height == configuration.height else {
        throw H264EncoderError.invalidConfiguration(
          "The pass was over pictures of \(pass.width)x\(pass.height).")
      }
    }
    statistics = PassStatistics(width: configuration.width, height: configuration.height)
    self.configuration = configuration
    let engine = configuration
    effortControl = EffortControl(engine)
    let hasB = configuration.bidirectionalLimit > 0
    self.cpu = cpu
    let most = configuration.picturesInFlight
    mostInFlight = most
    let geometry = PictureGeometry(width: engine.width, height: engine.height)
    history = MotionHistory(geometry, pictures: most + 1)
    coder = PictureCoder(
      configuration: engine, sps: sps, pps: pps, cpu: cpu, bidirectional: hasB, history: history)
    let analysis = LookAheadPreAnalysis(
      coder.geometry, kernels: UnsafePointer(coder.kernels), threads: coder.threads,
      readsBrightness: pps.hasWeightedPrediction)
    scheduler =
      coder.threads > 1
      ? PictureScheduler(threads: coder.threads, places: most, first: analysis, signal: analysis.signal) : nil
    var memory = EncoderMemory()
    var pool: [PicturePlanes] = []
    // Those that others refer to, those that are being coded, and the one that was given out last.
    for _ in 0..<engine.maximumReferences + most + (most > 1 ? 1 : 0) {
      pool.append(PicturePlanes(coder.geometry, memory: &memory, storesMotion: hasB))
    }
    self.pool = pool
    uses = [Int](repeating: 0, count: pool.count)
    queue = LookAheadQueue(coder.geometry, analysis: analysis, weighs: pps.hasWeightedPrediction)
    order = StreamOrder(
      capacity: engine.maximumReferences, maxFrameNum: 1 << sps.log2MaxFrameNum,
      firstPictureID: configuration.lookAhead.part?.pictureID ?? 0)
    timing = BufferTiming(sps, configuration.lookAhead.buffer)
    let tick = timing?.tick ?? JoinedBuffer.usualTick(configuration.frameRate)
    wholeTick = timing != nil || configuration.isJoined ? tick : nil
    rateControl = LookAheadRateControl(
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
    forecasts.reserveCapacity(configuration.lookAhead.frames + 1)
    intervals.reserveCapacity(configuration.lookAhead.frames + 1)
    inFlight.reserveCapacity(most)
    reorderingDepth = configuration.reorderingDepth
  }

  /// No thread touches a picture any more when its memory goes.
  deinit { scheduler?.end() }

  /// Frames of look-ahead from which on one of them may miss in it.
  private static let leastToPrepare = 8

  var usesMacroblockTree: Bool { configuration.lookAhead.usesMacroblockTree && !isConstantQP }

  /// The parameter sets, NAL unit headers included, without start codes: pictures name one of several.
  var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) {
    (sps.nalUnit, pictureSets.map { $0.nalUnit() })
  }

  /// Frames that can come out before one that is shown earlier.
  let reorderingDepth: Int

  /// Pictures that wait or are being coded.
  var heldFrameCount: Int { queue.count + inFlight.count }

  // MARK: - Encoding

  /// Says when the first picture is shown, in seconds from the beginning of the movie whose streams are joined. Before the
  /// first picture; where streams are not joined, or at no constant rate, it changes nothing.
  func begin(at seconds: Double) {
    if codedCount == 0, seconds.isFinite { rateControl.begin(at: seconds) }
  }

  /// Bits by which the decoder's buffer misses what streams that are joined agree upon, after the last picture was coded: 0
  /// unless a picture could not be made small enough.
  var bufferMiss = 0.0

  /// Takes a picture in. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: a key frame, a QP, the time since the last picture; nothing else.
  ///   - output: gets the frames that are ready, in decoding order: none or one, more where the look-ahead got shorter.
  /// - Throws: `H264EncoderError` if the picture or the options do not fit; the encoder stays as it was.
  func encode(
    _ source: SourcePicture, options: H264FrameOptions = H264FrameOptions(),
    output: (consuming H264EncodedFrame) -> Void
  ) throws {
    try check(source, options)
    let start = DispatchTime.now().uptimeNanoseconds
    var options = options
    if let wholeTick {
      let usual = 1 / configuration.frameRate
      options.duration = BufferTiming.whole(options.duration ?? usual, usual: usual, tick: wholeTick)
    }
    let correction = queue.append(source, options: options, configuration: configuration)
    if correction != 0 { rateControl.correct(seconds: correction, isInBuffer: reorderingDepth == 0) }
    let limit = flightLimit
    // With one picture at a time it is looked at while that is coded; a short look-ahead needs all that it has.
    let prepares =
      limit == 1 && configuration.lookAhead.frames >= LookAheadEncoder.leastToPrepare
      && queue.count > configuration.lookAhead.frames
    if !prepares { queue.analyse(configuration) }
    preAnalysisTime = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    while queue.count > configuration.lookAhead.frames - (limit - 1) {
      begin(isEnding: false, output)
      if prepares { queue.prepare(configuration, propagates: usesMacroblockTree) }
      while inFlight.count >= limit { output(finishFirst()) }
    }
    // More were in flight before a change of the configuration.
    while heldFrameCount > configuration.lookAhead.frames, !inFlight.isEmpty { output(finishFirst()) }
  }

  /// Codes all pictures that wait. A picture that comes afterwards goes on with the stream.
  func flush(output: (consuming H264EncodedFrame) -> Void) {
    while queue.count > 0 { begin(isEnding: true, output) }
    while !inFlight.isEmpty { output(finishFirst()) }
  }

  /// Codes the pictures that wait up to this one (`H264FrameFacts.index`), and goes on.
  func complete(through index: UInt64, output: (consuming H264EncodedFrame) -> Void) {
    // The stream goes on: what it owes or has saved is not a matter of these pictures alone.
    while queue.holdsPicture(through: index) { begin(isEnding: false, output) }
    while inFlight.contains(where: { ($0.picture?.index ?? 0) <= index }) { output(finishFirst()) }
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
