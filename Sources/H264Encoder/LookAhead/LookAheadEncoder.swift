// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream
import VideoEncoding

/// The mode of `H264Encoder` with look-ahead: pictures wait in a queue, and frames come out in
/// decoding order.
final class LookAheadEncoder: EncodingStrategy {
  /// The configuration, with the buffer limited to what the stream's level allows.
  var configuration: H264EncoderConfiguration

  /// The sequence parameter set of the stream.
  var sps: H264SequenceParameterSet
  /// The picture parameter set with ID 0.
  var pps: H264PictureParameterSet
  /// All picture parameter sets of the stream, `pps` first.
  let pictureSets: [H264PictureParameterSet]
  /// The coder of the first element of `flights`. With threads, each further element has a coder of
  /// its own.
  let coder: PictureCoder
  /// The motion of the last I and P pictures, which all coders share.
  let history: MotionHistory
  /// Distributes pictures and rows to threads; nil with one thread.
  let scheduler: PictureScheduler?
  /// A mask of OVT_CPU_*: the instruction sets that the kernels may use.
  let cpu: Int32
  /// The most pictures in flight: as the encoder was made, and with the current configuration.
  let maxInFlight: Int
  var flightLimit: Int { min(maxInFlight, configuration.picturesInFlight) }
  /// All `PictureInFlight` objects, idle ones included; they are made as needed.
  var flights: [PictureInFlight] = []
  /// The pictures in flight, in decoding order.
  var inFlight: [PictureInFlight] = []
  /// The last picture in flight that is not a B picture.
  var lastAnchor: PictureInFlight?
  /// The memory of frames.
  let framePool: FrameMemoryPool
  /// Owns the memory of `pool`, `weights` and `evenShares`.
  let memory: EncoderMemory
  /// The reconstructed pictures.
  let pool: [PicturePlanes]
  /// For each picture of `pool`, how many pictures in flight need it, plus one for the picture that
  /// `withReconstruction` reads.
  var uses: [Int]
  /// Decides which picture is coded next, as which type and with which QP.
  var planner: LookAheadPlanner
  /// The pictures between input and coding.
  var queue: LookAheadQueue { planner.queue }
  /// Chooses the QP of each picture.
  var rateControl: LookAheadRateControl {
    get { planner.rateControl }
    _modify { yield &planner.rateControl }
  }
  /// The decoding order, reference lists and marking.
  var order: StreamOrder
  /// The contents of the timing SEI messages; nil where the stream has none.
  var timing: BufferTiming?
  /// Rounds durations to clock ticks; nil where nothing counts in ticks.
  private var rounding: TickRounding?
  /// Chooses the weights of reference pictures; nil where the stream has no weighted prediction.
  var weights: PictureWeights?
  /// For each macroblock row, an equal share of the bits of a picture.
  let evenShares: UnsafeMutablePointer<Float>
  /// The index in `pool` of the last output picture; nil before the first.
  var lastPicture: Int?
  /// The number of frames that were output.
  var codedCount: UInt64 = 0
  /// Chooses the effort of each picture by the encoding time.
  var effortControl: EffortControl
  /// The seconds that the pre-analysis of the newest picture took on the calling thread, until they
  /// are added to the encoding time of a frame.
  var preAnalysisTime = 0.0
  /// Chooses the direct prediction of B pictures.
  var directChoice = DirectChoice()
  /// The number of B pictures with temporal direct prediction; for tests.
  var temporalPictures: Int { directChoice.temporalPictures }
  /// The number of pictures that were coded again to fit the buffer; for tests.
  var recodedPictures = 0
  /// `PictureCoder.estimatesSamples` and `picturesRecodedAlone`; for tests.
  var estimatesSamples = true
  var picturesRecodedAlone: Int {
    coder.threads == 1 ? coder.picturesRecodedAlone : flights.reduce(0) { $0 + $1.coder.picturesRecodedAlone }
  }

  /// Creates an encoder.
  /// - Parameters:
  ///   - configuration: the configuration; its `latency` is `lookAhead`.
  ///   - pass: the `statistics` of an earlier pass over the same pictures; nil for a single pass.
  /// - Throws: `H264EncoderError` that names the value out of range.
  convenience init(configuration: H264EncoderConfiguration, pass: PassStatistics? = nil) throws {
    try self.init(configuration: configuration, pass: pass, cpu: ovt_cpu_detect())
  }

  /// Creates an encoder that reads the statistics of an earlier pass from a file.
  /// - Parameters:
  ///   - configuration: the configuration; its `latency` is `lookAhead`.
  ///   - pass: the statistics of an earlier pass over the same pictures. If the file becomes
  ///     unreadable later, the rest is encoded as if the pass had ended there, and
  ///     `StoredPass.hasFailed` is set.
  /// - Throws: `H264EncoderError` that names the value out of range.
  convenience init(configuration: H264EncoderConfiguration, pass: StoredPass) throws {
    try self.init(configuration: configuration, pass: pass, cpu: ovt_cpu_detect())
  }

  /// The statistics of the pictures coded so far, for a next pass, without those that
  /// `takeStatistics` has returned. They are kept while `keepsStatistics` is set.
  var statistics: PassStatistics
  /// Whether coded pictures are added to `statistics`.
  var keepsStatistics = false

  /// Returns `statistics` and empties it.
  func takeStatistics() -> PassStatistics { statistics.take() }

  /// Creates an encoder.
  /// - Parameters:
  ///   - configuration: the configuration; its `latency` is `lookAhead`.
  ///   - pass: the statistics of an earlier pass over the same pictures; nil for a single pass.
  ///   - cpu: a mask of OVT_CPU_*, the instruction sets that the kernels may use; for tests.
  /// - Throws: `H264EncoderError` that names the value out of range.
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
    let settings = configuration.lookAheadSettings
    let engine = configuration
    effortControl = EffortControl(
      effort: engine.effort, timeFraction: engine.encodeTimeShare, frameRate: engine.frameRate)
    let hasB = configuration.bidirectionalLimit > 0
    self.cpu = cpu
    let maximum = configuration.picturesInFlight
    maxInFlight = maximum
    let geometry = PictureGeometry(width: engine.width, height: engine.height)
    history = MotionHistory(geometry, pictures: maximum + 1)
    coder = PictureCoder(
      configuration: engine, sps: sps, pps: pps, cpu: cpu, bidirectional: hasB, history: history)
    let analysis = LookAheadPreAnalysis(
      coder.geometry, kernels: ovt_video_kernels(coder.kernels), threads: coder.threads,
      readsBrightness: pps.hasWeightedPrediction)
    scheduler =
      coder.threads > 1
      ? PictureScheduler(threads: coder.threads, slots: maximum, first: analysis, signal: analysis.signal)
      : nil
    var memory = EncoderMemory()
    var pool: [PicturePlanes] = []
    // The reference pictures, those in flight, and the one that `withReconstruction` reads.
    for _ in 0..<engine.maximumReferences + maximum + (maximum > 1 ? 1 : 0) {
      pool.append(PicturePlanes(coder.geometry, memory: &memory, storesMotion: hasB))
    }
    self.pool = pool
    uses = [Int](repeating: 0, count: pool.count)
    order = StreamOrder(
      capacity: engine.maximumReferences, maxFrameNum: 1 << sps.log2MaxFrameNum,
      firstPictureID: configuration.lookAhead.part?.pictureID ?? 0)
    timing = BufferTiming(sps, configuration.lookAhead.buffer)
    let tick = timing?.clock.tick ?? JoinedBuffer.usualTick(configuration.frameRate)
    rounding = timing != nil || configuration.isJoined ? TickRounding(tick: tick) : nil
    planner = LookAheadPlanner(
      settings, frames: configuration.lookAhead.frames,
      queue: LookAheadQueue(
        coder.geometry, analysis: analysis, weighs: pps.hasWeightedPrediction,
        keepsSourceTypes: configuration.lookAhead.frames >= LookAheadQueue.fewestForTypes),
      pass: pass,
      joined: JoinedBuffer(settings, tick: tick, macroblocks: coder.geometry.macroblockCount))
    framePool = FrameMemoryPool(capacity: max(65536, engine.width * engine.height / 2), extra: maximum - 1)
    pictureSets = configuration.makePictureSets(pps)
    weights =
      pps.hasWeightedPrediction
      ? PictureWeights(coder.geometry, slots: pool.count, sets: pictureSets, memory: &memory) : nil
    evenShares = memory.allocate(Float.self, count: coder.geometry.heightInMbs)
    evenShares.update(
      repeating: 1 / Float(coder.geometry.heightInMbs), count: coder.geometry.heightInMbs)
    self.memory = memory
    inFlight.reserveCapacity(maximum)
    reorderingDepth = configuration.reorderingDepth
  }

  /// Ends the threads before the memory of pictures is freed.
  deinit { scheduler?.end() }

  /// The shortest look-ahead in frames that may be short of the newest picture while a picture is
  /// coded.
  private static let minToPrepare = 8

  /// Whether macroblocks get QP offsets of the macroblock tree: not with a constant QP.
  var usesMacroblockTree: Bool {
    configuration.lookAhead.usesMacroblockTree && !planner.settings.isConstantQP
  }

  /// The sequence parameter set and all picture parameter sets as NAL units with headers, without
  /// start codes.
  var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) {
    (sps.nalUnit, pictureSets.map { $0.nalUnit() })
  }

  /// The most frames that precede a frame in decoding order and follow it in output order
  /// (max_num_reorder_frames).
  let reorderingDepth: Int

  /// The number of pictures that wait or are being coded.
  var heldFrameCount: Int { queue.count + inFlight.count }

  // MARK: - Encoding

  /// Sets the output time of the first picture. It only matters with a constant rate and joined
  /// streams, and has to be called before the first picture is coded.
  /// - Parameter seconds: the time in seconds since the start of the movie whose streams are
  ///   joined.
  func begin(at seconds: Double) {
    guard codedCount == 0, seconds.isFinite else { return }
    rateControl.begin(at: seconds)
    rounding?.begin(at: seconds)
  }

  /// After the last picture: the bits by which the fullness of the decoder's buffer misses the one
  /// that joined streams agree upon. 0 unless a picture could not be made small enough.
  var bufferMiss = 0.0

  /// Adds a picture. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: its options: a key frame, a QP and the time since the last picture; no others are
  ///     allowed.
  ///   - output: receives the frames that are complete, in decoding order: none or one, more where
  ///     the look-ahead became shorter.
  /// - Throws: `H264EncoderError` if the picture or the options are invalid; the encoder is
  ///   unchanged then.
  func encode(
    _ source: SourcePicture, options: H264FrameOptions = H264FrameOptions(),
    output: (consuming H264EncodedFrame) -> Void
  ) throws {
    try check(source, options)
    let start = DispatchTime.now().uptimeNanoseconds
    var options = options
    if queue.newest != nil {
      let nominalDuration = 1 / configuration.frameRate
      options.duration =
        rounding?.round(options.duration ?? nominalDuration, usual: nominalDuration) ?? options.duration
    }
    let correction = queue.append(source, request: options.request, settings: planner.settings)
    if correction != 0 { rateControl.correct(seconds: correction, isInBuffer: reorderingDepth == 0) }
    let limit = flightLimit
    // With one picture in flight, the newest picture is analysed while that is coded. A short
    // look-ahead cannot do without the newest picture.
    let prepares =
      limit == 1 && configuration.lookAhead.frames >= LookAheadEncoder.minToPrepare
      && queue.count > configuration.lookAhead.frames
    if !prepares { queue.analyse(planner.settings) }
    preAnalysisTime = Double(DispatchTime.now().uptimeNanoseconds &- start) * 1e-9
    while queue.count > configuration.lookAhead.frames - (limit - 1) {
      begin(isEnding: false, output)
      if prepares { queue.prepare(planner.settings, propagates: usesMacroblockTree) }
      while inFlight.count >= limit { output(finishFirst()) }
    }
    // The configuration before may have allowed more pictures in flight.
    while heldFrameCount > configuration.lookAhead.frames, !inFlight.isEmpty { output(finishFirst()) }
  }

  /// Codes all pictures that wait. A later picture continues the stream.
  /// - Parameter output: receives the frames, in decoding order.
  func flush(output: (consuming H264EncodedFrame) -> Void) {
    while queue.count > 0 { begin(isEnding: true, output) }
    while !inFlight.isEmpty { output(finishFirst()) }
  }

  /// Codes the pictures that wait up to one, in input order. The stream continues.
  /// - Parameters:
  ///   - index: the index of that picture (`H264FrameProperties.index`).
  ///   - output: receives the frames, in decoding order.
  func complete(through index: UInt64, output: (consuming H264EncodedFrame) -> Void) {
    // Not as at the end of a stream: the rate control may balance its bits over later pictures.
    while queue.holdsPicture(through: index) { begin(isEnding: false, output) }
    while inFlight.contains(where: { ($0.picture?.index ?? 0) <= index }) { output(finishFirst()) }
  }

  // MARK: - Reconstruction

  /// Calls `body` with the planes of the last output picture as a decoder reconstructs it.
  /// - Parameter body: receives luma and interleaved (NV12) chroma, both with `bytesPerRow` bytes
  ///   per row.
  /// - Returns: the result of `body`; nil if no picture was output yet.
  func withReconstruction<R>(
    _ body: (_ luma: UnsafePointer<UInt8>, _ chroma: UnsafePointer<UInt8>, _ bytesPerRow: Int) throws -> R
  ) rethrows -> R? {
    guard let lastPicture else { return nil }
    let planes = pool[lastPicture]
    return try body(planes.luma, planes.chroma, coder.geometry.stride)
  }
}
