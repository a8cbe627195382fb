// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Dispatch
import VideoBitstream
import VideoEncoding

/// The low-latency mode of `H264Encoder`: each picture is coded into one access unit before
/// `encode` returns, so that no picture is delayed.
final class LowLatencyEncoder {
  /// The present configuration.
  var configuration: H264EncoderConfiguration

  /// The sequence parameter set of the stream.
  var sps: H264SequenceParameterSet
  /// The picture parameter set of the stream.
  var pps: H264PictureParameterSet
  /// Codes the pictures.
  let coder: PictureCoder
  /// Owns the memory of `pool`, the rate control, the pre-analysis and the detectors.
  let memory: EncoderMemory
  /// The reconstructed pictures: one more than there may be references.
  let pool: [PicturePlanes]
  /// The reference pictures that a decoder keeps.
  var buffer: DecodedPictureBuffer
  /// The access unit being written.
  var output: AccessUnitWriter
  /// Chooses the QP of each frame, and which frames are dropped.
  var rateControl: LowLatencyRateControl
  /// Chooses QP offsets of macroblocks by local activity.
  var activity: ActivityQuantisation
  /// Estimates costs and detects scene changes before a picture is coded.
  let preAnalysis: PreAnalysis
  /// Detects that the content was scrolled as a whole.
  let scrollDetector: ScrollDetector
  /// Whether a scroll was found in the last picture in which one was searched for.
  var hasScrolled = false
  /// Detects parts of the picture that have moved, such as windows of a screen.
  let displacementDetector: DisplacementDetector
  /// Compares the brightness of pictures; nil where the stream has no weighted prediction.
  let fadeDetector: FadeDetector?
  /// The number of pictures with explicit weights; for tests.
  var weightedPictures = 0
  /// Chooses the effort of each frame by the encoding time.
  var effortControl: EffortControl
  /// The current time in nanoseconds, from any origin.
  let clock: () -> UInt64

  /// The frames (`H264FrameProperties.index`) in the reference list of the last coded frame, in its
  /// order; empty for a key frame.
  var lastReferences: [UInt64] = []

  /// The index of the next frame; dropped frames are counted.
  var nextIndex: UInt64 = 0
  /// The numbers of the pictures in slice headers.
  var numbering = PictureNumbering()
  /// PicOrderCnt of the next picture, two per picture.
  var orderCount = 0
  /// The number of coded pictures since the last IDR picture, which is counted.
  var framesSinceIDR = 0
  /// The step of the gradual refresh that the last reference picture did, from 0; -1 where none is
  /// under way.
  var refreshStep = -1
  /// Whether a refresh was requested for a picture that none refers to or that was dropped: the
  /// next reference picture begins it.
  var isRefreshPending = false
  /// The index in `pool` of the last coded picture; nil before the first.
  var lastPicture: Int?
  /// The long-term slot for which the next picture has to mark the last IDR picture; nil for none.
  var pendingLongTerm: Int?
  /// Whether the frame being coded begins a new scene and the configuration responds to that with
  /// an intra refresh.
  var startsRefresh = false
  /// Whether a key frame was dropped because hard limits left no room for it: the next picture is
  /// one.
  var keyFrameIsDue = false
  /// The QP offsets with a constant QP.
  var cascade = QualityCascade(.constantQP)
  /// The QP that the last reference picture was planned with.
  var lastReferenceQP = 0
  /// Measures how often several reference pictures are used.
  var referenceUse = ReferenceUse()
  /// Scratch: the reference pictures of the frame being coded, in the order of list 0.
  var list0: [DecodedPictureBuffer.Entry] = []
  /// Scratch: the list modifications and memory management commands of its slice header.
  var modifications: [H264ReferenceListModification] = []
  var commands: [H264MemoryManagement] = []
  /// Scratch: the weights of its slice header.
  var weightTable = H264PredictionWeights()

  /// Creates an encoder.
  /// - Parameter configuration: the configuration; its `latency` is `zero`.
  /// - Throws: `H264EncoderError` that names the value out of range.
  convenience init(configuration: H264EncoderConfiguration) throws {
    try self.init(configuration: configuration, cpu: ovt_cpu_detect())
  }

  /// Creates an encoder with an instruction set and a clock chosen by a test.
  /// - Parameters:
  ///   - configuration: the configuration; its `latency` is `zero`.
  ///   - cpu: a mask of OVT_CPU_*, the instruction sets that the kernels may use.
  ///   - clock: returns the time in nanoseconds by which encoding times are measured.
  /// - Throws: `H264EncoderError` that names the value out of range.
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
      pool.append(PicturePlanes(coder.geometry, memory: &memory, is444: configuration.is444))
    }
    self.pool = pool
    buffer = DecodedPictureBuffer(
      capacity: configuration.maximumReferences, maxFrameNum: 1 << sps.log2MaxFrameNum,
      toleratesLosses: configuration.lowLatency.allowsFrameNumberGaps)
    output = AccessUnitWriter(
      pool: FrameMemoryPool(capacity: max(65536, configuration.width * configuration.height / 2)),
      framing: configuration.framing == .lengths ? .length : .startCode)
    rateControl = LowLatencyRateControl(configuration.lowLatencySettings, memory: &memory)
    activity = ActivityQuantisation(
      coder.geometry, kernels: ovt_video_kernels(coder.kernels), memory: &memory)
    preAnalysis = PreAnalysis(
      coder.geometry, kernels: ovt_video_kernels(coder.kernels), threads: coder.threads, memory: &memory)
    scrollDetector = ScrollDetector(coder.geometry, memory: &memory)
    displacementDetector = DisplacementDetector(coder.geometry, memory: &memory)
    fadeDetector =
      pps.hasWeightedPrediction
      ? FadeDetector(coder.geometry, pictures: pool.count, memory: &memory) : nil
    effortControl = EffortControl(
      effort: configuration.effort, timeFraction: configuration.encodeTimeShare,
      frameRate: configuration.frameRate)
    self.clock = clock
    self.memory = memory
    list0.reserveCapacity(64)
    modifications.reserveCapacity(64)
    commands.reserveCapacity(8)
    weightTable.list0.reserveCapacity(16)
    coder.qpOffsets =
      configuration.lowLatency.adaptiveQuantisation > 0 ? UnsafePointer(activity.qpOffsets) : nil
  }

  /// The sequence and the picture parameter set as NAL units with headers, without start codes.
  var parameterSets: (sequence: [UInt8], pictures: [[UInt8]]) { (sps.nalUnit, [pps.nalUnit()]) }

  /// Excludes a frame that the receiver lacks and, since they may depend on it, all later frames
  /// from further reference.
  /// - Parameter index: the frame's index (`H264FrameProperties.index`).
  func invalidateReferences(from index: UInt64) { buffer.invalidate(from: index) }

  /// Excludes all frames but one from further reference: the only one that the receiver is known to
  /// have.
  /// - Parameter index: that frame's index (`H264FrameProperties.index`).
  func invalidateReferences(except index: UInt64) { buffer.invalidate(except: index) }

  /// The indices of the frames that the next frame could refer to: short-term references, the
  /// newest first, then long-term references by slot.
  var availableReferences: [UInt64] { buffer.entries.filter(\.isUsable).map(\.index) }

  /// Whether there is a frame that the next frame could refer to.
  var hasAvailableReference: Bool { buffer.entries.contains { $0.isUsable } }

  // MARK: - Encoding

  /// Codes a picture. Its memory is read until the call returns.
  ///
  /// - Parameters:
  ///   - source: the picture, of the configuration's size.
  ///   - options: its options.
  /// - Returns: the frame; where the rate control dropped it, `properties.isDropped` is set and
  ///   there are no NAL units.
  /// - Throws: `H264EncoderError` if the picture or the options are invalid; the encoder is
  ///   unchanged then.
  func encode(_ source: SourcePicture, options: H264FrameOptions = H264FrameOptions()) throws
    -> H264EncodedFrame
  {
    let start = clock()
    try check(source, options)
    coder.effort = effortControl.effort
    var properties = H264FrameProperties()
    properties.effort = effortControl.effort
    properties.index = nextIndex
    properties.temporalLayer = options.temporalLayer
    output.removeAll()

    var plan = PicturePlan()
    let isAnalysed = analyse(source)
    selectReferences(options)
    let isSceneChange = findMotion(&plan, source, isAnalysed: isAnalysed)
    if isSceneChange && configuration.lowLatency.sceneChange == .keyFrame && options.references == .automatic
    {
      list0.removeAll(keepingCapacity: true)
    }
    startsRefresh = isSceneChange && configuration.lowLatency.sceneChange == .intraRefresh
    plan.isIDR = list0.isEmpty
    plan.isReference = options.isReference || plan.isIDR

    let decision = rateControl.plan(
      isKeyFrame: plan.isIDR, isSceneChange: isSceneChange, request: options.request,
      properties: isAnalysed ? preAnalysis.result(isKeyFrame: plan.isIDR) : PreAnalysisResult())
    nextIndex += 1
    if decision.drop {
      keyFrameIsDue = plan.isIDR
      isRefreshPending = isRefreshPending || options.startsIntraRefresh || startsRefresh
      properties.isDropped = true
      properties.encodeTime = Double(clock() &- start) * 1e-9
      return H264EncodedFrame(properties: properties, nalUnits: [], byteCount: 0, memory: nil)
    }
    setQuality(&plan, decision, options)
    let target = setReferences(
      &plan, source, options, index: properties.index, isAnalysed: isAnalysed, isSceneChange: isSceneChange)
    writeLeadingUnits(plan, options)
    let isCurtailed = code(&plan, decision, source, into: pool[target])
    lastPicture = target
    complete(&properties, plan, options, source, pool[target])
    rateControl.finish(
      bits: output.bits, qp: coder.meanRowQP, isKeyFrame: plan.isIDR, isSceneChange: isSceneChange,
      isCurtailed: isCurtailed, highestQP: coder.highestRowQP, rowBits: coder.rowBits)
    properties.encodeTime = Double(clock() &- start) * 1e-9
    effortControl.record(seconds: properties.encodeTime, interval: options.duration)
    return H264EncodedFrame(
      properties: properties, nalUnits: output.units, byteCount: output.count, memory: output.takeMemory())
  }

  // MARK: - Reconstruction

  /// Calls `body` with the planes of the last coded picture as a decoder reconstructs it.
  /// - Parameter body: receives luma and interleaved (NV12) chroma, both with `bytesPerRow` bytes
  ///   per row.
  /// - Returns: the result of `body`; nil if no picture was coded yet, and at 4:4:4.
  func withReconstruction<R>(
    _ body: (_ luma: UnsafePointer<UInt8>, _ chroma: UnsafePointer<UInt8>, _ bytesPerRow: Int) throws -> R
  ) rethrows -> R? {
    guard let lastPicture, !configuration.is444 else { return nil }
    let planes = pool[lastPicture]
    return try body(planes.luma, planes.chroma, coder.geometry.stride)
  }

  /// Calls `body` with the planes of the last coded picture of a 4:4:4 stream as a decoder
  /// reconstructs it.
  /// - Parameter body: receives Y, Cb and Cr, all with `bytesPerRow` bytes per row.
  /// - Returns: the result of `body`; nil if no picture was coded yet, and at 4:2:0.
  func withReconstructedComponents<R>(
    _ body: (
      _ luma: UnsafePointer<UInt8>, _ cb: UnsafePointer<UInt8>, _ cr: UnsafePointer<UInt8>,
      _ bytesPerRow: Int
    ) throws -> R
  ) rethrows -> R? {
    guard let lastPicture, configuration.is444 else { return nil }
    let luma = pool[lastPicture].luma
    let offset = coder.geometry.componentOffset
    return try body(luma, luma + offset, luma + 2 * offset, coder.geometry.stride)
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
