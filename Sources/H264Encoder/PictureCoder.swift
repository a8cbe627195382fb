import CH264Kernels

/// What a picture is coded with; the encoder decides it, the picture coder carries it out.
struct PicturePlan {
  var isIDR = false
  var isReference = true
  var qp = 26
  /// Slice header fields that are the same for all slices.
  var header = SliceHeader()
  var references: [ReferencePlanes] = []
  var refreshFrom = 0
  var refreshTo = 0
  /// Bits that the picture should take and may take at most; nil: no row control.
  var budget: RowBudget?
}

/// What came of the macroblocks of a picture.
struct PictureStatistics {
  var qpSum = 0
  var lowestQP = 51
  var highestQP = 0
  var intra = 0
  var skipped = 0
}

/// Codes one picture: macroblock rows in slices, entropy coding, deblocking, reference samples.
final class PictureCoder {
  let geometry: PictureGeometry
  let kernels: UnsafeMutablePointer<OVTKernels>
  let sps: SequenceParameterSet
  let pps: PictureParameterSet
  let configuration: EncoderConfiguration

  private var syntax: PictureSyntax
  private var previous: PictureSyntax
  private var hasPrevious = false
  private let codedBlocks: UnsafeMutablePointer<UInt16>
  private let quant: UnsafeMutablePointer<QuantTables>
  private let motionCost: MotionCostTable
  private let quarterOffsets: UnsafeMutablePointer<(Int, Int)>
  private let references: UnsafeMutablePointer<ReferencePlanes>
  private let levels: UnsafeMutablePointer<Int16>
  private let pcm: UnsafeMutablePointer<UInt8>
  private let halfSampleScratch: UnsafeMutablePointer<Int16>
  private let payload: UnsafeMutablePointer<UInt8>
  private let payloadCapacity: Int
  private var coder: MacroblockCoder
  private var cabacWriter: CABACWriter
  private var cavlcWriter: CAVLCWriter
  private(set) var statistics = PictureStatistics()

  /// A macroblock takes at most 128 + 3072 bits (A.3.1).
  static let largestMacroblockBits = 3200

  init(configuration: EncoderConfiguration, sps: SequenceParameterSet, pps: PictureParameterSet, cpu: Int32) {
    self.configuration = configuration
    self.sps = sps
    self.pps = pps
    geometry = PictureGeometry(width: configuration.width, height: configuration.height)
    kernels = .allocate(capacity: 1)
    kernels.initialize(to: OVTKernels())
    _ = ovt_kernels_init(kernels, cpu)
    syntax = PictureSyntax(geometry)
    previous = PictureSyntax(geometry)
    codedBlocks = allocateAligned(UInt16.self, count: geometry.macroblockCount)
    quant = .allocate(capacity: 52)
    for qp in 0..<52 { (quant + qp).initialize(to: QuantTables(qp: qp)) }
    motionCost = MotionCostTable(cabac: pps.cabac)
    quarterOffsets = geometry.makeQuarterOffsets()
    references = .allocate(capacity: 16)
    levels = allocateAligned(Int16.self, count: LevelLayout.count)
    pcm = allocateAligned(UInt8.self, count: 384)
    halfSampleScratch = allocateAligned(Int16.self, count: geometry.stride + 64)
    payloadCapacity = geometry.macroblockCount * (PictureCoder.largestMacroblockBits / 8) + 4096
    payload = allocateAligned(UInt8.self, count: payloadCapacity)
    cabacWriter = CABACWriter(picture: syntax)
    cavlcWriter = CAVLCWriter(picture: syntax)

    let emptyPicture = PicturePlanes(placeholder: UnsafeMutableRawPointer(payload))
    let context = FrameContext(
      kernels: UnsafePointer(kernels), geometry: geometry,
      source: SourcePlanes(
        luma: UnsafePointer(payload), lumaStride: 0, chroma: UnsafePointer(payload), chromaStride: 0, cr: nil,
        crStride: 0),
      picture: emptyPicture, previous: previous, syntax: syntax, codedBlocks: codedBlocks,
      references: references, referenceCount: 0, quant: UnsafePointer(quant),
      motionBits: motionCost.center, quarterOffsets: UnsafePointer(quarterOffsets),
      tools: SpeedTools(speed: configuration.speed), isIntraPicture: true,
      transform8x8Allowed: pps.transform8x8, cabac: pps.cabac,
      constrainedIntra: pps.constrainedIntraPrediction, hasTemporalMotion: false,
      verticalLimit: sps.level.verticalMotion * 4, refreshFrom: 0, refreshTo: 0, qpOffsets: nil,
      minQP: configuration.minimumQP, maxQP: configuration.maximumQP)
    coder = MacroblockCoder(frame: context, levels: levels)
  }

  deinit {
    coder.deallocate()
    cabacWriter.deallocate()
    syntax.deallocate()
    previous.deallocate()
    for qp in 0..<52 { quant[qp].deallocate() }
    motionCost.deallocate()
    quant.deallocate()
    codedBlocks.deallocate()
    quarterOffsets.deallocate()
    references.deallocate()
    levels.deallocate()
    pcm.deallocate()
    halfSampleScratch.deallocate()
    payload.deallocate()
    kernels.deallocate()
  }

  /// Codes `source` into `picture` and appends its slices to `output`.
  func code(
    _ plan: PicturePlan, source: SourcePicture, into picture: PicturePlanes, output: inout AccessUnit
  ) {
    swap(&syntax, &previous)
    statistics = PictureStatistics()
    for (i, reference) in plan.references.enumerated() { (references + i).initialize(to: reference) }
    coder.f.source = SourcePlanes(source)
    coder.f.picture = picture
    coder.f.syntax = syntax
    coder.f.previous = previous
    coder.f.hasTemporalMotion = hasPrevious
    coder.f.isIntraPicture = plan.references.isEmpty
    coder.f.referenceCount = plan.references.count
    coder.f.refreshFrom = plan.refreshFrom
    coder.f.refreshTo = plan.refreshTo
    if pps.cabac {
      codeSlices(plan, picture, &cabacWriter, &output)
    } else {
      codeSlices(plan, picture, &cavlcWriter, &output)
    }
    hasPrevious = !plan.references.isEmpty
  }

  /// First macroblock rows of the slices.
  private func firstRow(ofSlice i: Int) -> Int { i * geometry.heightInMbs / configuration.slices }

  private func codeSlices<Writer: EntropyCoder>(
    _ plan: PicturePlan, _ picture: PicturePlanes, _ writer: inout Writer, _ output: inout AccessUnit
  ) {
    let w = geometry.widthInMbs
    let h = geometry.heightInMbs
    let deblocking = DeblockingFilter(
      k: UnsafePointer(kernels), geometry: geometry, picture: picture, syntax: syntax,
      codedBlocks: codedBlocks, offsetA: configuration.deblockingAlphaOffset * 2,
      offsetB: configuration.deblockingBetaOffset * 2, withinSlices: false)
    let rows = ReferenceRows(
      k: UnsafePointer(kernels), geometry: geometry, picture: picture, scratch: halfSampleScratch)
    func finish(row: Int) {
      if configuration.deblocking { deblocking.filterRow(row) }
      if plan.isReference { rows.finishRow(row) }
    }

    var slice: UInt16 = 0
    var sliceStart = 0
    var qp = plan.qp
    var nextSlice = 1
    beginSlice(plan, firstMacroblock: 0, qp: qp, &writer)
    for y in 0..<h {
      if nextSlice < configuration.slices && y == firstRow(ofSlice: nextSlice) {
        endSlice(plan, &writer, &output)
        slice += 1
        nextSlice += 1
        sliceStart = y * w
        beginSlice(plan, firstMacroblock: sliceStart, qp: qp, &writer)
      }
      if let budget = plan.budget {
        qp = budget.qp(row: y, rows: h, bits: output.bits + writer.bitCount, base: plan.qp, current: qp)
      }
      var x = 0
      while x < w {
        let m = y * w + x
        let available = availability(x, y, sliceStart)
        coder.begin(x: x, y: y, available: available, qp: qp)
        syntax.info[m].slice = slice
        codeMacroblock()
        if !encode(m, sliceStart, &writer) {
          // The slice is full: it ends before this macroblock, which is coded anew as the next one's first.
          endSlice(plan, &writer, &output)
          slice &+= 1
          sliceStart = m
          beginSlice(plan, firstMacroblock: m, qp: qp, &writer)
          continue
        }
        count(m)
        x += 1
      }
      if y > 0 { finish(row: y - 1) }
    }
    endSlice(plan, &writer, &output)
    finish(row: h - 1)
  }

  @inline(__always) private func codeMacroblock() {
    if coder.f.isIntraPicture {
      coder.codeIntra(coder.decideIntra16x16())
    } else {
      coder.codeInterPicture()
    }
  }

  /// Entropy codes a macroblock. Returns false if it does not fit the slice any more.
  @inline(__always) private func encode<Writer: EntropyCoder>(
    _ m: Int, _ sliceStart: Int, _ writer: inout Writer
  ) -> Bool {
    let limit = configuration.maximumSliceBytes
    let coded = coefficientCount(m)
    if limit == nil && coded < 128 {
      writer.encode(macroblock: m, levels: levels, pcm: pcm)
      return true
    }
    let before = writer.bitCount
    writer.save()
    writer.encode(macroblock: m, levels: levels, pcm: pcm)
    var saved = false
    if writer.bitCount - before > PictureCoder.largestMacroblockBits {
      writer.restore()
      coder.codePCM(samples: pcm)
      if limit != nil {
        writer.save()
        saved = true
      }
      writer.encode(macroblock: m, levels: levels, pcm: pcm)
    } else {
      saved = true
    }
    if let limit, saved, m > sliceStart {
      // Room for the slice's end, and for emulation prevention bytes (rare: a byte in 64 is plenty).
      let bytes = (writer.bitCount + 7) / 8 + 4
      if bytes + bytes / 64 > limit {
        writer.restore()
        return false
      }
    }
    return true
  }

  @inline(__always) private func coefficientCount(_ m: Int) -> Int {
    if syntax.info[m].codedBlockPattern == 0 { return 0 }
    let counts = syntax.nonZero + m &* 24
    var total = 0
    for i in 0..<24 { total &+= Int(counts[i]) }
    return total
  }

  @inline(__always) private func availability(_ x: Int, _ y: Int, _ sliceStart: Int) -> UInt8 {
    let w = geometry.widthInMbs
    let m = y &* w &+ x
    var result: UInt8 = 0
    if x > 0 && m &- 1 >= sliceStart { result |= Availability.left }
    if y > 0 {
      if m &- w >= sliceStart { result |= Availability.top }
      if x < w &- 1 && m &- w &+ 1 >= sliceStart { result |= Availability.topRight }
      if x > 0 && m &- w &- 1 >= sliceStart { result |= Availability.topLeft }
    }
    return result
  }

  @inline(__always) private func count(_ m: Int) {
    let info = syntax.info[m]
    let qp = Int(info.qp)
    if info.type == MacroblockType.skip {
      statistics.skipped &+= 1
    } else if MacroblockType.isIntra(info.type) {
      statistics.intra &+= 1
    }
    if info.type == MacroblockType.pcm { return }
    statistics.qpSum &+= qp
    if qp < statistics.lowestQP { statistics.lowestQP = qp }
    if qp > statistics.highestQP { statistics.highestQP = qp }
  }

  // MARK: - Slices

  private func beginSlice<Writer: EntropyCoder>(
    _ plan: PicturePlan, firstMacroblock: Int, qp: Int, _ writer: inout Writer
  ) {
    var header = plan.header
    header.firstMacroblock = firstMacroblock
    header.qp = qp
    var bits = BitWriter(payload, capacity: payloadCapacity)
    header.write(to: &bits, sps: sps, pps: pps, refIDC: plan.isReference ? 2 : 0)
    var parameters = SliceParameters()
    parameters.isP = header.isP
    parameters.activeReferences = header.activeReferences
    parameters.transform8x8Mode = pps.transform8x8
    parameters.constrainedIntraPrediction = pps.constrainedIntraPrediction
    parameters.qp = qp
    parameters.cabacInitIDC = header.cabacInitIDC
    writer.begin(parameters, picture: syntax, after: bits)
  }

  private func endSlice<Writer: EntropyCoder>(
    _ plan: PicturePlan, _ writer: inout Writer, _ output: inout AccessUnit
  ) {
    let size = writer.finish()
    output.append(
      type: plan.isIDR ? NALUnitType.idrSlice : NALUnitType.slice, refIDC: plan.isReference ? 2 : 0,
      payload: payload, count: size)
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
  }
}

extension PictureCoder {
  /// Pictures that the speed level searches for each frame.
  var referencesSearched: Int { SpeedTools(speed: configuration.speed).references }

  /// Mean squared error of a reconstruction against the source, over the visible part.
  func squaredError(_ source: SourcePicture, _ picture: PicturePlanes) -> (
    luma: Double, cb: Double, cr: Double
  ) {
    let width = geometry.width
    let height = geometry.height
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
