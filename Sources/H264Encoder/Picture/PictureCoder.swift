// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

/// What a picture is coded with; the encoder decides it, the picture coder carries it out.
struct PicturePlan {
  var isIDR = false
  /// A key frame that is no IDR picture.
  var isOpenKeyFrame = false
  var isReference = true
  /// Coded better than the pictures around it, which inherit from it (a key frame, a cascade's best).
  var isBetter = false
  var qp = 26
  /// Slice header fields that are the same for all slices.
  var header = H264SliceHeader()
  /// Pictures to refer to (`PictureCoder.setReference`); 0: an intra picture.
  var referenceCount = 0
  /// Of a B picture (`header.kind` is `.b`), those of list 1 (`PictureCoder.setReferenceL1`), 1 or more; the counts
  /// equal those of active references in the header. Else 0.
  var referenceCountL1 = 0
  /// A B picture in which spatial and temporal direct are compared (`PictureCoder.directCosts`).
  var comparesDirect = false
  /// PicOrderCnt of the picture; counts of pictures that are referred to at the same time differ.
  var orderCount = 0

  var isKeyFrame: Bool { isIDR || isOpenKeyFrame }
  var isBidirectional: Bool { header.kind == .b }
  /// Some of them are weighted (`PictureCoder.weights`).
  var isWeighted = false
  /// The picture parameter set that the header names; nil: the coder's.
  var parameterSet: H264PictureParameterSet?
  var refreshFrom = 0
  var refreshTo = 0
  /// A refresh is under way: columns before `refreshFrom` are clean and stay so.
  var keepsClean = false
  var startsRefresh = false
  /// By how many rows the content was scrolled (`ScrollDetector`).
  var scroll = 0
  /// By what parts of the picture have moved since the first reference.
  var moves = Moves()
  /// How the camera has moved since the first reference, where that is known.
  var camera = CameraMotion()
  var scalableHeader: H264ScalableHeader?
  /// Bits that the picture should take and may take at most; nil: no row control.
  var budget: RowBudget?
}

/// What came of the macroblocks of a picture.
struct PictureStatistics {
  var qpSum = 0
  /// Macroblocks that have a QP: all but I_PCM.
  var qpCount = 0
  var lowestQP = 51
  var highestQP = 0
  var intra = 0
  var skipped = 0
  /// Neither intra nor skipped, and predicted from another than the first reference of list 0.
  var farther = 0
  /// A macroblock of rows that threads share took more bits than it may.
  var exceedsMacroblock = false
}

/// Codes one picture: macroblock rows in slices, entropy coding, deblocking, reference samples.
final class PictureCoder {
  let geometry: PictureGeometry
  let kernels: UnsafeMutablePointer<OVTKernels>
  let sps: H264SequenceParameterSet
  let pps: H264PictureParameterSet
  /// What may change in mid-stream changes here too.
  var configuration: H264EncoderConfiguration

  /// The effort of the pictures to come (`H264EncoderConfiguration.effort`).
  var effort: Int {
    didSet {
      if effort != oldValue {
        tools = EffortSettings(effort: effort)
        screenTools = tools.forScreens
      }
    }
  }
  var tools: EffortSettings
  /// The same for pictures that are screens'.
  private var screenTools: EffortSettings

  /// What all pointers here point to. Threads touch it while a picture is coded only.
  private let memory: EncoderMemory
  /// Of pictures that are no B pictures.
  let history: MotionHistory
  /// Of B pictures.
  private let bidirectionalSyntax: PictureSyntax
  /// Of each reference, the first one that is the same picture.
  private let pictureIdentities: UnsafeMutablePointer<Int8>
  private let implicitWeights: ImplicitWeights
  private let temporalDirect: TemporalDirect
  private let codedBlocks: UnsafeMutablePointer<UInt16>
  private let quant: UnsafeMutablePointer<QuantTables>
  private let quarterOffsets: UnsafeMutablePointer<(Int, Int)>
  private let references: UnsafeMutablePointer<ReferencePlanes>
  /// Of each reference, where the plan says that some are weighted; those of list 1 from `ReferencePlanes.list1` on.
  let weights: UnsafeMutablePointer<PredictionWeight>
  private let levels: UnsafeMutablePointer<Int16>
  private let pcm: UnsafeMutablePointer<UInt8>
  private let halfSampleScratch: UnsafeMutablePointer<Int16>
  private let still: StillMacroblocks
  /// Whether what an older picture left in memory is used (`StillMacroblocks`). It changes no bit: tests turn it off.
  var reusesMemory = true
  /// Reference pictures coded so far.
  private var lastNumber: UInt64 = 0
  private let payload: UnsafeMutablePointer<UInt8>
  private let payloadCapacity: Int
  private let coders: UnsafeMutablePointer<MacroblockCoder>
  let threads: Int
  /// Nil with one thread.
  private let shared: SharedJob?
  /// Nil with one thread, and where threads come from outside (`begin`).
  private let workers: WorkerThreads?
  private let cabacWriter: UnsafeMutablePointer<CABACWriter>
  private let cavlcWriter: UnsafeMutablePointer<CAVLCWriter>
  private let statisticsMemory: UnsafeMutablePointer<PictureStatistics>
  private let rowQP: UnsafeMutablePointer<Int32>
  /// Bits of each macroblock row of the last picture.
  let rowBits: UnsafeMutablePointer<Int32>
  /// QP offset of each macroblock by adaptive quantisation.
  var qpOffsets: UnsafePointer<Int8>?

  var statistics: PictureStatistics { statisticsMemory.pointee }

  /// What is to be said of the picture that was coded last, or of the one with these statistics.
  func describe(
    _ facts: inout H264FrameFacts, _ plan: PicturePlan, references: Int, statistics: PictureStatistics? = nil
  ) {
    let s = statistics ?? self.statistics
    let count = Double(geometry.macroblockCount)
    facts.isKeyFrame = plan.isKeyFrame
    facts.isOpenGOP = plan.isOpenKeyFrame
    facts.isReference = plan.isReference
    facts.averageQP = s.qpCount > 0 ? Double(s.qpSum) / Double(s.qpCount) : Double(plan.qp)
    facts.lowestQP = min(s.lowestQP, s.highestQP)
    facts.highestQP = s.highestQP
    facts.intraShare = Double(s.intra) / count
    facts.skipShare = Double(s.skipped) / count
    facts.referenceCount = references
  }

  /// A macroblock takes at most 128 + 3072 bits (A.3.1).
  static let largestMacroblockBits = 3200

  /// - Parameters:
  ///   - bidirectional: B pictures may come. All pictures that are then coded or referred to are made with
  ///     `PicturePlanes.init(_:memory:storesMotion:)` to store their motion.
  ///   - history: what several coders of one stream share. Each may be at another picture then: `begin` makes one ready for
  ///     the threads of a `PictureScheduler`, where there are any, and this coder has none of its own.
  init(
    configuration: H264EncoderConfiguration, sps: H264SequenceParameterSet, pps: H264PictureParameterSet,
    cpu: Int32, bidirectional: Bool = false, history: MotionHistory? = nil
  ) {
    self.configuration = configuration
    self.sps = sps
    self.pps = pps
    effort = configuration.effort
    tools = EffortSettings(effort: configuration.effort)
    screenTools = tools.forScreens
    geometry = PictureGeometry(width: configuration.width, height: configuration.height)
    var memory = EncoderMemory()
    kernels = memory.allocate(OVTKernels())
    _ = ovt_kernels_init(kernels, cpu)
    let isAlone = history == nil
    let history = history ?? MotionHistory(geometry, pictures: 2)
    self.history = history
    let syntax = history.syntax
    bidirectionalSyntax =
      bidirectional ? PictureSyntax(geometry, memory: &memory, bidirectional: true) : syntax
    pictureIdentities = memory.allocate(Int8.self, count: 2 * ReferencePlanes.list1)
    implicitWeights = ImplicitWeights(memory: &memory)
    temporalDirect = TemporalDirect(memory: &memory)
    codedBlocks = memory.allocate(UInt16.self, count: geometry.macroblockCount)
    quant = memory.allocate(QuantTables.self, count: 52)
    for qp in 0..<52 { quant[qp] = QuantTables(qp: qp, memory: &memory) }
    let motionCost = MotionCostTable(cabac: pps.cabac, memory: &memory)
    quarterOffsets = geometry.makeQuarterOffsets(memory: &memory)
    references = memory.allocate(ReferencePlanes.self, count: 2 * ReferencePlanes.list1)
    weights = memory.allocate(PredictionWeight.self, count: 2 * ReferencePlanes.list1)
    let inverses = memory.allocate(
      UInt8.self, count: configuration.weightedPrediction ? 2 * ReferencePlanes.list1 * 256 : 1)
    for i in 0..<2 * ReferencePlanes.list1 {
      (weights + i).initialize(to: PredictionWeight(inverse: inverses + i * 256))
    }
    levels = memory.allocate(Int16.self, count: LevelLayout.count)
    pcm = memory.allocate(UInt8.self, count: 384)
    halfSampleScratch = memory.allocate(Int16.self, count: geometry.stride + 64)
    still = StillMacroblocks(geometry, memory: &memory)
    payloadCapacity = geometry.macroblockCount * (PictureCoder.largestMacroblockBits / 8) + 4096
    payload = memory.allocate(UInt8.self, count: payloadCapacity)
    cabacWriter = memory.allocate(CABACWriter(picture: syntax, memory: &memory))
    cavlcWriter = memory.allocate(CAVLCWriter(picture: syntax))
    statisticsMemory = memory.allocate(PictureStatistics())
    rowQP = memory.allocate(Int32.self, count: geometry.heightInMbs)
    rowBits = memory.allocate(Int32.self, count: geometry.heightInMbs)
    // Slices limited in bytes need each macroblock entropy coded before the next is decided.
    threads = configuration.maximumSliceBytes == nil ? min(configuration.threads, geometry.heightInMbs) : 1
    let stream = StreamContext(
      kernels: UnsafePointer(kernels), geometry: geometry, codedBlocks: codedBlocks, references: references,
      implicitWeights: UnsafePointer(implicitWeights.weights), temporalDirect: temporalDirect,
      weights: UnsafePointer(weights), quant: UnsafePointer(quant), motionBits: motionCost.center,
      quarterOffsets: UnsafePointer(quarterOffsets), changed: UnsafePointer(still.changed),
      transform8x8Allowed: pps.transform8x8, cabac: pps.cabac,
      constrainedIntra: pps.constrainedIntraPrediction, verticalLimit: sps.verticalMotion * 4)
    let none = PictureContext(
      PicturePlan(),
      source: SourcePicture(
        width: configuration.width, height: configuration.height, luma: UnsafePointer(payload),
        lumaBytesPerRow: 0, chroma: .interleaved(UnsafePointer(payload), bytesPerRow: 0)),
      planes: PicturePlanes(placeholder: UnsafeMutableRawPointer(payload)), syntax: syntax, history: history,
      tools: tools, hasImplicitWeights: false, holds: 0)
    coders = memory.allocate(MacroblockCoder.self, count: threads)
    for i in 0..<threads {
      coders[i] = MacroblockCoder(stream: stream, picture: none, levels: levels, memory: &memory)
    }
    if threads > 1 {
      let shared = SharedJob(
        coders: coders, threads: threads, rows: geometry.heightInMbs,
        ring: RowRing(
          rows: PictureJob<CABACWriter>.lag(threads: threads) + 1, widthInMbs: geometry.widthInMbs,
          memory: &memory))
      self.shared = shared
      workers = isAlone ? WorkerThreads(count: threads) { shared.work(thread: $0) } : nil
    } else {
      shared = nil
      workers = nil
    }
    self.memory = memory
  }

  /// Sets entry `i` of reference list 0 for the next picture.
  func setReference(_ i: Int, _ picture: PicturePlanes) {
    (references + i).initialize(to: ReferencePlanes(picture))
  }

  /// Sets entry `i` of reference list 1 for the next picture, a B picture. All references of it are short-term.
  func setReferenceL1(_ i: Int, _ picture: PicturePlanes) {
    (references + (ReferencePlanes.list1 + i)).initialize(to: ReferencePlanes(picture))
  }

  /// Codes `source` into `picture` and appends its slices to `output`.
  func code(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes, output: inout AccessUnit
  ) {
    if !plan.isBidirectional { history.advance(isPredicted: plan.referenceCount > 0) }
    withUnsafeMutablePointer(to: &output) { code(plan, source: source, into: picture, $0, alone: false) }
  }

  /// Codes the last picture anew with one thread, which knows all that it has spent at any macroblock.
  func recodeAlone(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes, output: inout AccessUnit
  ) {
    withUnsafeMutablePointer(to: &output) { code(plan, source: source, into: picture, $0, alone: true) }
  }

  /// Has the threads that code pictures share other rows, and returns when so many are done.
  func share(_ rows: SharedRows, count: Int) {
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

  /// Makes a picture ready, which threads of a `PictureScheduler` code later. Where other coders have pictures of the stream
  /// too, nothing of an older picture in memory may be used again (`reusesMemory`).
  /// - Parameters:
  ///   - output: stays where it is until the picture is done.
  /// - Returns: the picture's rows and progress; nil with one thread, which `code` is for.
  func begin(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes,
    output: UnsafeMutablePointer<AccessUnit>
  ) -> SharedJob? {
    guard let shared else { return nil }
    if !plan.isBidirectional { history.advance(isPredicted: plan.referenceCount > 0) }
    let (syntax, holds) = makeReady(plan, source: source, picture, alone: false)
    shared.progress.reset()
    shared.setScroll(plan.scroll)
    if pps.cabac {
      shared.job = .cabac(job(plan, picture, syntax, holds, cabacWriter, output))
    } else {
      shared.job = .cavlc(job(plan, picture, syntax, holds, cavlcWriter, output))
    }
    return shared
  }

  /// The picture that was begun last is complete.
  /// - Returns: by how many rows the content was scrolled.
  func end(_ plan: PicturePlan, _ picture: PicturePlanes) -> Int {
    if plan.isReference, reusesMemory { picture.number.pointee = lastNumber }
    return shared?.scroll ?? plan.scroll
  }

  /// The macroblocks of the last B picture, for tests.
  var lastBidirectional: PictureSyntax { bidirectionalSyntax }

  var isThreaded: Bool { threads > 1 }

  /// Whether large macroblocks are foreseen (`PictureJob.isForSamples`). Tests turn it off: all of them are then found in
  /// entropy coding.
  var estimatesSamples = true

  /// Pictures that threads began and one coded anew, for a macroblock that took more bits than it may; for tests.
  var picturesLeftToOne: Int { leftToOne + (shared?.picturesLeftToOne ?? 0) }
  private var leftToOne = 0

  /// Of the last picture, which `comparesDirect`.
  var directCosts: DirectCosts {
    var sum = DirectCosts()
    for i in 0..<threads { sum += coders[i].directCosts }
    return sum
  }

  private func code(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes,
    _ output: UnsafeMutablePointer<AccessUnit>, alone: Bool
  ) {
    let start = (units: output.pointee.units.count, count: output.pointee.count)
    let (syntax, holds) = makeReady(plan, source: source, picture, alone: alone)
    if pps.cabac {
      run(job(plan, picture, syntax, holds, cabacWriter, output), alone) { .cabac($0) }
    } else {
      run(job(plan, picture, syntax, holds, cavlcWriter, output), alone) { .cavlc($0) }
    }
    if statisticsMemory.pointee.exceedsMacroblock {
      // Rare. One thread sees it in time, and sends that macroblock's samples.
      leftToOne += 1
      output.pointee.truncate(units: start.units, count: start.count)
      code(plan, source: source, into: picture, output, alone: true)
      return
    }
    if plan.isReference { picture.number.pointee = lastNumber }
  }

  /// Sets what all threads know of a picture.
  /// - Returns: where its macroblocks go, and the number of the picture which its memory holds.
  private func makeReady(
    _ plan: PicturePlan, source: SourcePicture, _ picture: PicturePlanes, alone: Bool
  ) -> (syntax: PictureSyntax, holds: UInt64) {
    statisticsMemory.pointee = PictureStatistics()
    if plan.isReference && !alone { lastNumber += 1 }
    let follows =
      reusesMemory && plan.isReference && plan.referenceCount > 0 && !plan.isBidirectional
      && references[0].number == lastNumber - 1
      && !plan.isWeighted
    if plan.isReference && !follows { still.setAllChanged(lastNumber) }
    let holds = follows && !alone ? picture.number.pointee : 0
    picture.number.pointee = 0
    picture.orderCount.pointee = Int32(truncatingIfNeeded: plan.orderCount)
    let syntax = plan.isBidirectional ? bidirectionalSyntax : history.syntax
    if plan.isReference, let stored = picture.storedMotion { note(plan, in: stored) }
    let pps = plan.parameterSet ?? pps
    var hasImplicitWeights = false
    if plan.isBidirectional {
      identifyReferences(plan)
      temporalDirect.set(plan, UnsafePointer(references))
      hasImplicitWeights = pps.weightedBipredIDC == 2 && implicitWeights.set(plan, UnsafePointer(references))
    }
    let context = PictureContext(
      plan, source: source, planes: picture, syntax: syntax, history: history,
      tools: plan.moves.isScreen ? screenTools : tools, hasImplicitWeights: hasImplicitWeights, holds: holds)
    for i in 0..<threads {
      coders[i].picture = context
      coders[i].directCosts = DirectCosts()
    }
    return (syntax, holds)
  }

  /// What the picture's references are, for those that take it as colocated picture.
  private func note(_ plan: PicturePlan, in stored: StoredMotion) {
    for i in 0..<plan.referenceCount { stored.orderCounts[i] = references[i].orderCount }
    for i in 0..<plan.referenceCountL1 {
      stored.orderCounts[ReferencePlanes.list1 + i] = references[ReferencePlanes.list1 + i].orderCount
    }
  }

  /// Which references are the same picture.
  private func identifyReferences(_ plan: PicturePlan) {
    let end = ReferencePlanes.list1 + plan.referenceCountL1
    func isUsed(_ i: Int) -> Bool { i < plan.referenceCount || i >= ReferencePlanes.list1 }
    for i in 0..<end where isUsed(i) {
      var first = 0
      while !isUsed(first) || references[first].luma != references[i].luma { first += 1 }
      pictureIdentities[i] = Int8(first)
    }
  }

  private func job<Writer: EntropyCoder>(
    _ plan: PicturePlan, _ picture: PicturePlanes, _ syntax: PictureSyntax, _ holds: UInt64,
    _ writer: UnsafeMutablePointer<Writer>, _ output: UnsafeMutablePointer<AccessUnit>
  ) -> PictureJob<Writer> {
    let kernels = UnsafePointer(kernels)
    return PictureJob(
      plan: plan, geometry: geometry, configuration: configuration, sps: sps,
      pps: plan.parameterSet ?? pps, syntax: syntax,
      deblocking: DeblockingFilter(
        k: kernels, geometry: geometry, picture: picture, syntax: syntax, codedBlocks: codedBlocks,
        offsetA: configuration.deblockingAlphaOffset * 2, offsetB: configuration.deblockingBetaOffset * 2,
        withinSlices: false,
        pictureIdentities: plan.isBidirectional ? UnsafePointer(pictureIdentities) : nil),
      referenceRows: ReferenceRows(
        k: kernels, geometry: geometry, picture: picture, scratch: halfSampleScratch, syntax: syntax,
        reference: plan.referenceCount > 0 && !plan.isWeighted && !plan.isBidirectional
          ? references[0] : nil,
        still: still, number: lastNumber, holds: holds),
      storedMotion: plan.isReference ? picture.storedMotion : nil,
      qpOffsets: qpOffsets, payload: payload, payloadCapacity: payloadCapacity, writer: writer,
      output: output, leading: (output.pointee.units.count, output.pointee.count),
      statistics: statisticsMemory, rowQP: rowQP, rowBits: rowBits, pcm: pcm,
      estimatesSamples: estimatesSamples)
  }

  private func run<Writer: EntropyCoder>(
    _ job: PictureJob<Writer>, _ alone: Bool, _ shareable: (PictureJob<Writer>) -> SharedJob.Job
  ) {
    if !alone, let shared, let workers {
      shared.progress.reset()
      shared.job = shareable(job)
      workers.run()
      job.finishRows(shared.progress, shared.ring)
      shared.job = .none
    } else {
      job.run(coders)
    }
  }
}

extension SourcePlanes {
  init(_ picture: SourcePicture) {
    luma = picture.luma
    lumaStride = picture.lumaBytesPerRow
    switch picture.chroma {
    case .interleaved(let base, let bytesPerRow):
      chroma = base
      chromaStride = bytesPerRow
      cr = nil
      crStride = 0
    case .planar(let cb, let cbBytesPerRow, let crPlane, let crBytesPerRow):
      chroma = cb
      chromaStride = cbBytesPerRow
      cr = crPlane
      crStride = crBytesPerRow
    }
  }
}

extension PicturePlanes {
  /// Stands for a picture before there is one.
  init(placeholder: UnsafeMutableRawPointer) {
    let p = placeholder.assumingMemoryBound(to: UInt8.self)
    luma = p
    b = p
    h = p
    j = p
    chroma = p
    number = placeholder.assumingMemoryBound(to: UInt64.self)
    orderCount = placeholder.assumingMemoryBound(to: Int32.self)
    storedMotion = nil
  }
}

extension PictureCoder {
  /// Pictures that the effort searches for each frame.
  var referencesSearched: Int { tools.motion.references }

  /// Mean squared error of a reconstruction against the source, over the visible part.
  func squaredError(_ source: SourcePicture, _ picture: PicturePlanes) -> (
    luma: Double, cb: Double, cr: Double
  ) {
    let width = configuration.shownWidth
    let height = configuration.shownHeight
    var luma: UInt64 = 0
    for y in 0..<height {
      luma += kernels.pointee.ssdRow(
        source.luma + y * source.lumaBytesPerRow, picture.luma + y * geometry.stride, Int32(width))
    }
    var cb: UInt64 = 0
    var cr: UInt64 = 0
    for y in 0..<(height / 2) {
      let row = picture.chroma + y * geometry.stride
      for x in 0..<(width / 2) {
        let (u, v): (UInt8, UInt8)
        switch source.chroma {
        case .interleaved(let base, let stride):
          (u, v) = (base[y * stride + 2 * x], base[y * stride + 2 * x + 1])
        case .planar(let cbPlane, let cbStride, let crPlane, let crStride):
          (u, v) = (cbPlane[y * cbStride + x], crPlane[y * crStride + x])
        }
        let du = Int(u) - Int(row[2 * x])
        let dv = Int(v) - Int(row[2 * x + 1])
        cb += UInt64(du * du)
        cr += UInt64(dv * dv)
      }
    }
    let chromaCount = Double(width / 2 * (height / 2))
    return (Double(luma) / Double(width * height), Double(cb) / chromaCount, Double(cr) / chromaCount)
  }
}
