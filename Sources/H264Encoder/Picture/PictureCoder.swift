// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream
import VideoEncoding

/// Codes one picture at a time: macroblock rows in slices, entropy coding, deblocking, and the
/// half-sample planes for later pictures.
final class PictureCoder: RowSharing {
  /// The size of the pictures.
  let geometry: PictureGeometry
  /// The functions that compare, predict and transform samples.
  let kernels: UnsafeMutablePointer<OVTKernels>
  /// The sequence parameter set of the stream.
  let sps: H264SequenceParameterSet
  /// The picture parameter set that pictures use unless their plan names another one.
  let pps: H264PictureParameterSet
  /// The configuration. What may change within a stream changes here too.
  var configuration: H264EncoderConfiguration

  /// The effort of the next pictures, 0 (fastest) to `H264EncoderConfiguration.maxEffort` (best).
  var effort: Int {
    didSet {
      if effort != oldValue {
        settings = EffortSettings(effort: effort)
        screenSettings = settings.forScreens
      }
    }
  }
  /// The settings of the effort for the coding of macroblocks.
  var settings: EffortSettings
  /// The same for pictures that are computer screens.
  var screenSettings: EffortSettings

  /// Owns the memory of all pointers here. Threads access it only while a picture is coded.
  private let memory: EncoderMemory
  /// The motion of the last I and P pictures.
  let history: MotionHistory
  /// The macroblocks of the present B picture; B pictures share the memory.
  let bidirectionalSyntax: PictureSyntax
  /// The reference pictures of the present picture.
  let lists: ReferenceLists
  /// A bit for each luma 4x4 block of each macroblock that has coded levels.
  let codedBlocks: UnsafeMutablePointer<UInt16>
  /// The levels of a macroblock, where one thread codes the picture (`LevelLayout`).
  private let levels: UnsafeMutablePointer<Int16>
  /// The samples of an I_PCM macroblock, where one thread codes the picture.
  let pcm: UnsafeMutablePointer<UInt8>
  /// Scratch memory for the rows of the half-sample filter.
  let halfSampleScratch: UnsafeMutablePointer<Int16>
  /// Which macroblocks repeat the picture before.
  let still: UnchangedMacroblocks
  /// Whether samples are left in memory where an older picture that it holds is the same
  /// (`UnchangedMacroblocks`). That changes no bit of the stream; tests turn it off.
  var reusesMemory = true
  /// The number of reference pictures coded so far.
  var lastNumber: UInt64 = 0
  /// The raw bytes of the present slice.
  let payload: UnsafeMutablePointer<UInt8>
  /// The bytes that `payload` has room for.
  let payloadCapacity: Int
  /// The macroblock coders, one per thread.
  let coders: UnsafeMutablePointer<MacroblockCoder>
  /// The number of threads that code a picture.
  let threads: Int
  /// The state of a picture that the threads share; nil with one thread.
  let shared: ThreadedPicture?
  /// The threads; nil with one thread, and where a `PictureScheduler` provides them (`begin`).
  let workers: WorkerThreads?
  /// The entropy coder of streams with CABAC.
  private let cabacWriter: UnsafeMutablePointer<CABACWriter>
  /// The entropy coder of streams with CAVLC.
  private let cavlcWriter: UnsafeMutablePointer<CAVLCWriter>
  /// The statistics of the present picture.
  let statisticsMemory: UnsafeMutablePointer<PictureStatistics>
  /// The QP of each macroblock row of the present picture.
  let rowQP: UnsafeMutablePointer<Int32>
  /// The bits of each macroblock row of the last picture.
  let rowBits: UnsafeMutablePointer<Int32>
  /// The QP offset of each macroblock, in QP steps; nil: all offsets are 0.
  var qpOffsets: UnsafePointer<Int8>?

  /// The statistics of the last picture.
  var statistics: PictureStatistics { statisticsMemory.pointee }
  /// The explicit weights of each reference where `PicturePlan.isWeighted`; those of list 1 from
  /// `ReferencePlanes.list1` on.
  var weights: UnsafeMutablePointer<PredictionWeight> { lists.weights }

  /// The most bits that a macroblock may take: 3200 or, at 4:4:4, 6272, which is 128 more than its
  /// samples have (A.3.1).
  static func largestMacroblockBits(is444: Bool) -> Int { is444 ? 6272 : 3200 }

  /// Allocates the memory of a coder.
  /// - Parameters:
  ///   - configuration: the configuration of the stream, validated.
  ///   - sps: the sequence parameter set.
  ///   - pps: the picture parameter set that pictures use unless their plan names another one.
  ///   - cpu: a mask of the instruction sets that the kernels may use, of OVT_CPU_*.
  ///   - bidirectional: whether there may be B pictures. The planes of all pictures that are then
  ///     coded or referred to must store their motion
  ///     (`PicturePlanes.init(_:memory:storesMotion:)`).
  ///   - history: the motion of the last I and P pictures, which the coders of one stream share if
  ///     each of them may be at another picture. The coder then has no threads of its own: where
  ///     there are several, `begin` prepares a picture for those of a `PictureScheduler`. Nil: the
  ///     coder is the only one of its stream.
  init(
    configuration: H264EncoderConfiguration, sps: H264SequenceParameterSet, pps: H264PictureParameterSet,
    cpu: Int32, bidirectional: Bool = false, history: MotionHistory? = nil
  ) {
    self.configuration = configuration
    self.sps = sps
    self.pps = pps
    effort = configuration.effort
    settings = EffortSettings(effort: configuration.effort)
    screenSettings = settings.forScreens
    geometry = PictureGeometry(width: configuration.width, height: configuration.height)
    let is444 = configuration.is444
    var memory = EncoderMemory()
    kernels = memory.allocate(OVTKernels())
    _ = ovt_kernels_init(kernels, cpu)
    let isAlone = history == nil
    let history = history ?? MotionHistory(geometry, pictures: 2, is444: is444)
    self.history = history
    let syntax = history.syntax
    bidirectionalSyntax =
      bidirectional ? PictureSyntax(geometry, memory: &memory, bidirectional: true) : syntax
    lists = ReferenceLists(isWeighted: configuration.weightedPrediction, memory: &memory)
    codedBlocks = memory.allocate(UInt16.self, count: geometry.macroblockCount)
    levels = memory.allocate(Int16.self, count: LevelLayout.count(is444: is444))
    pcm = memory.allocate(UInt8.self, count: LevelLayout.samples(is444: is444))
    halfSampleScratch = memory.allocate(Int16.self, count: geometry.stride + 64)
    still = UnchangedMacroblocks(geometry, memory: &memory)
    payloadCapacity =
      geometry.macroblockCount * (PictureCoder.largestMacroblockBits(is444: is444) / 8) + 4096
    payload = memory.allocate(UInt8.self, count: payloadCapacity)
    cabacWriter = memory.allocate(CABACWriter(picture: syntax, is444: is444, memory: &memory))
    cavlcWriter = memory.allocate(CAVLCWriter(picture: syntax))
    statisticsMemory = memory.allocate(PictureStatistics())
    rowQP = memory.allocate(Int32.self, count: geometry.heightInMbs)
    rowBits = memory.allocate(Int32.self, count: geometry.heightInMbs)
    // With a limit of bytes per slice, a macroblock must be entropy coded before the next one is
    // decided.
    let threads =
      configuration.maximumSliceBytes == nil ? min(configuration.threads, geometry.heightInMbs) : 1
    self.threads = threads
    let stream = StreamContext(
      sps: sps, pps: pps, geometry: geometry, kernels: UnsafePointer(kernels), lists: lists,
      codedBlocks: codedBlocks, changed: UnsafePointer(still.changed), memory: &memory)
    let none = PictureContext(
      PicturePlan(),
      source: SourcePicture(
        width: configuration.width, height: configuration.height, luma: UnsafePointer(payload),
        lumaBytesPerRow: 0, chroma: .interleaved(UnsafePointer(payload), bytesPerRow: 0)),
      planes: PicturePlanes(placeholder: UnsafeMutableRawPointer(payload)), syntax: syntax, history: history,
      settings: settings, hasImplicitWeights: false, heldPicture: 0)
    coders = memory.allocate(MacroblockCoder.self, count: threads)
    for i in 0..<threads {
      coders[i] = MacroblockCoder(stream: stream, picture: none, levels: levels, memory: &memory)
    }
    shared =
      threads > 1
      ? Self.makeShared(coders, threads: threads, geometry, is444: is444, memory: &memory) : nil
    workers =
      isAlone ? shared.map { shared in WorkerThreads(count: threads) { shared.work(thread: $0) } } : nil
    self.memory = memory
  }

  /// Makes what the threads of a coder share of a picture.
  private static func makeShared(
    _ coders: UnsafeMutablePointer<MacroblockCoder>, threads: Int, _ geometry: PictureGeometry, is444: Bool,
    memory: inout EncoderMemory
  ) -> ThreadedPicture {
    ThreadedPicture(
      coders: coders, threads: threads, rows: geometry.heightInMbs,
      ring: RowRing(
        rows: PictureJob<CABACWriter>.lag(threads: threads) + 1, widthInMbs: geometry.widthInMbs,
        is444: is444, memory: &memory))
  }

  /// Sets entry `i` of reference list 0 for the next picture.
  func setReference(_ i: Int, _ picture: PicturePlanes) {
    lists.set(i, picture)
  }

  /// Sets entry `i` of reference list 1 for the next picture, a B picture, whose references are all
  /// short-term.
  func setReferenceL1(_ i: Int, _ picture: PicturePlanes) {
    lists.set(ReferencePlanes.list1 + i, picture)
  }

  /// Codes a picture.
  /// - Parameters:
  ///   - plan: what was decided for it.
  ///   - source: the picture.
  ///   - picture: gets the reconstruction.
  ///   - output: gets the slices, after what it holds already.
  func code(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes, output: inout AccessUnitWriter
  ) {
    if !plan.isBidirectional { history.advance(isPredicted: plan.referenceCount > 0) }
    withUnsafeMutablePointer(to: &output) { code(plan, source: source, into: picture, $0, alone: false) }
  }

  /// Codes the last picture again, with one thread, which knows at each macroblock all bits spent
  /// so far. The parameters are those of `code`.
  func recodeAlone(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes, output: inout AccessUnitWriter
  ) {
    withUnsafeMutablePointer(to: &output) { code(plan, source: source, into: picture, $0, alone: true) }
  }

  /// Lets the threads of this coder work on other rows.
  /// - Parameters:
  ///   - rows: what is done with each row.
  ///   - count: the number of rows; the call returns when all are done.
  func share(_ rows: RowTask, count: Int) {
    guard let shared, let workers else {
      rows.runAlone(count)
      return
    }
    rows.open(count)
    shared.job = .rows(rows)
    workers.run()
    rows.close()
    shared.job = .none
  }

  /// Prepares a picture that the threads of a `PictureScheduler` code later. Where other coders
  /// work on pictures of the same stream, `reusesMemory` must be false.
  /// - Parameters:
  ///   - plan: what was decided for the picture.
  ///   - source: the picture, which stays valid until it has been coded.
  ///   - picture: gets the reconstruction.
  ///   - output: gets the slices. It must not move until the picture has been coded.
  /// - Returns: the rows of the picture and their progress; nil with one thread, for which `code`
  ///   is to be used.
  func begin(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes,
    output: UnsafeMutablePointer<AccessUnitWriter>
  ) -> ThreadedPicture? {
    guard let shared else { return nil }
    if !plan.isBidirectional { history.advance(isPredicted: plan.referenceCount > 0) }
    let (syntax, heldPicture) = prepare(plan, source: source, picture, alone: false)
    shared.progress.reset()
    shared.setScroll(plan.scroll)
    if pps.cabac {
      shared.job = .cabac(job(plan, picture, syntax, heldPicture, cabacWriter, output))
    } else {
      shared.job = .cavlc(job(plan, picture, syntax, heldPicture, cavlcWriter, output))
    }
    return shared
  }

  /// Records that the picture passed to the last call of `begin` has been coded.
  /// - Parameters:
  ///   - plan: its plan.
  ///   - picture: its reconstruction.
  /// - Returns: the number of luma rows by which its content was scrolled.
  func end(_ plan: PicturePlan, _ picture: PicturePlanes) -> Int {
    if plan.isReference, reusesMemory { picture.number.pointee = lastNumber }
    return shared?.scroll ?? plan.scroll
  }

  /// The macroblocks of the last B picture, for tests.
  var lastBidirectional: PictureSyntax { bidirectionalSyntax }

  /// Whether several threads code a picture.
  var isThreaded: Bool { threads > 1 }

  /// Whether macroblocks too large for their levels are recognised before entropy coding
  /// (`PictureJob.isForSamples`). Tests turn it off, so that all of them are found by entropy
  /// coding.
  var estimatesSamples = true

  /// The number of pictures that several threads began and one thread coded again because a
  /// macroblock took more bits than it may; for tests.
  var picturesRecodedAlone: Int { recodedAlone + (shared?.picturesRecodedAlone ?? 0) }
  /// The pictures of `picturesRecodedAlone` that the threads of this coder began.
  private var recodedAlone = 0

  /// The costs of both kinds of direct prediction in the last picture, if its plan has
  /// `comparesDirect`.
  var directCosts: DirectCosts {
    var sum = DirectCosts()
    for i in 0..<threads { sum += coders[i].directCosts }
    return sum
  }

  /// Codes a picture with all threads or, where `alone`, with one.
  private func code(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes,
    _ output: UnsafeMutablePointer<AccessUnitWriter>, alone: Bool
  ) {
    let start = (units: output.pointee.units.count, count: output.pointee.count)
    let (syntax, heldPicture) = prepare(plan, source: source, picture, alone: alone)
    if pps.cabac {
      run(job(plan, picture, syntax, heldPicture, cabacWriter, output), alone) { .cabac($0) }
    } else {
      run(job(plan, picture, syntax, heldPicture, cavlcWriter, output), alone) { .cavlc($0) }
    }
    if statisticsMemory.pointee.exceedsMacroblock {
      // Rare. A single thread notices it at once and codes that macroblock as I_PCM.
      recodedAlone += 1
      output.pointee.truncate(units: start.units, count: start.count)
      code(plan, source: source, into: picture, output, alone: true)
      return
    }
    if plan.isReference { picture.number.pointee = lastNumber }
  }
}
