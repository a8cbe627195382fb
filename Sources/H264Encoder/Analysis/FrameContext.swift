// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream
import VideoEncoding

/// A reference picture as macroblock prediction uses it.
struct ReferencePlanes {
  /// The full-sample luma plane, at sample (0, 0). The half-sample planes b, h and j (8.4.2.2.1)
  /// follow, each `PictureGeometry.planeSpacing` bytes after the one before.
  let luma: UnsafeMutablePointer<UInt8>
  /// The NV12 chroma plane, at sample (0, 0); at 4:4:4 that of Cb (`PicturePlanes.chroma`).
  let chroma: UnsafeMutablePointer<UInt8>
  /// The number of the reference picture in coding order (`PicturePlanes.number`).
  let number: UInt64
  /// PicOrderCnt (8.2.1).
  let orderCount: Int32
  /// The picture's motion, for B pictures whose colocated picture it is; nil where none is stored.
  let storedMotion: StoredMotion?

  /// The index of the first entry of list 1 in arrays of both lists' reference pictures.
  static let list1 = 16

  /// Takes a picture's present number and PicOrderCnt.
  init(_ picture: PicturePlanes) {
    luma = picture.luma
    chroma = picture.chroma
    number = picture.number.pointee
    orderCount = picture.orderCount.pointee
    storedMotion = picture.storedMotion
  }
}

/// The planes of the source picture. Strides are in bytes.
struct SourcePlanes {
  /// The first luma sample.
  var luma: UnsafePointer<UInt8>
  /// Bytes from one row of luma to the next.
  var lumaStride: Int
  /// The first sample of interleaved chroma where `cr` is nil, else of Cb.
  var chroma: UnsafePointer<UInt8>
  /// Bytes from one row of `chroma` to the next.
  var chromaStride: Int
  /// The first sample of Cr; nil for interleaved chroma.
  var cr: UnsafePointer<UInt8>?
  /// Bytes from one row of Cr to the next.
  var crStride: Int
}

extension SourcePlanes {
  /// The planes of a caller's picture.
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

/// The input of macroblock coding that does not change during a stream. Each thread has its
/// own copy, so that it reads without indirection.
struct StreamContext {
  /// The SIMD kernels of the machine.
  let kernels: UnsafePointer<OVTKernels>
  /// The picture's size and strides.
  let geometry: PictureGeometry
  /// For each macroblock, a bit for each luma 4x4 block in raster order that has coded levels, for
  /// the deblocking filter. A block with the 8x8 transform sets the bits of all four 4x4 blocks.
  let codedBlocks: UnsafeMutablePointer<UInt16>
  /// The reference pictures of list 0, and from `ReferencePlanes.list1` on those of list 1.
  let references: UnsafeMutablePointer<ReferencePlanes>
  /// The weights of `ImplicitWeights.weights`; in effect where `PictureContext.hasImplicitWeights`
  /// is set.
  let implicitWeights: UnsafePointer<Int16>
  /// The tables of temporal direct prediction; in effect where `PictureContext.usesTemporalDirect`
  /// is set.
  let temporalDirect: TemporalDirect
  /// The explicit weights of each entry of `references`; in effect where
  /// `PictureContext.isWeighted` is set.
  let weights: UnsafePointer<PredictionWeight>
  /// The quantisation tables of QP 0 to 51.
  let quant: UnsafePointer<QuantTables>
  /// The estimated bits of a component of mvd, in sixteenths of a bit. The pointer is to the entry
  /// of the value 0; there are entries for -32768 to 32768.
  let motionBits: UnsafePointer<UInt16>
  /// For each quarter-sample position, (y & 3) * 4 + (x & 3), the offsets to the two sample planes
  /// whose average is the prediction. Where both are equal, the prediction is that plane's sample
  /// itself.
  let quarterOffsets: UnsafePointer<(Int, Int)>
  /// For each macroblock, the number of the reference picture in which it changed last
  /// (`UnchangedMacroblocks.changed`).
  let changed: UnsafePointer<UInt64>
  /// transform_8x8_mode_flag
  let transform8x8Allowed: Bool
  /// entropy_coding_mode_flag
  let cabac: Bool
  /// constrained_intra_pred_flag
  let constrainedIntra: Bool
  /// Whether the pictures are 4:4:4.
  let is444: Bool
  /// Whether they are coded without loss (8.5.15).
  let isLossless: Bool
  /// At 4:4:4, the bytes from a sample of luma to that of Cb, and from there to Cr.
  let componentOffset: Int
  /// The limit of vertical vector components that the level sets, in quarter samples (Table A-1,
  /// MaxVmvR).
  let verticalLimit: Int
}

extension StreamContext {
  /// Makes the context of a stream and its tables.
  ///
  /// - Parameters:
  ///   - sps: the sequence parameter set.
  ///   - pps: the picture parameter set that pictures use unless their plan names another one.
  ///   - geometry: the size of the pictures.
  ///   - kernels: the SIMD kernels of the machine.
  ///   - lists: the reference picture lists.
  ///   - codedBlocks: memory for `codedBlocks`.
  ///   - changed: the numbers of `UnchangedMacroblocks.changed`.
  ///   - memory: owns the tables.
  init(
    sps: H264SequenceParameterSet, pps: H264PictureParameterSet, geometry: PictureGeometry,
    kernels: UnsafePointer<OVTKernels>, lists: ReferenceLists, codedBlocks: UnsafeMutablePointer<UInt16>,
    changed: UnsafePointer<UInt64>, memory: inout EncoderMemory
  ) {
    let quant = memory.allocate(QuantTables.self, count: 52)
    for qp in 0..<52 { quant[qp] = QuantTables(qp: qp, memory: &memory) }
    let motionCost = MotionCostTable(cabac: pps.cabac, memory: &memory)
    self.init(
      kernels: kernels, geometry: geometry, codedBlocks: codedBlocks, references: lists.entries,
      implicitWeights: UnsafePointer(lists.implicitWeights.weights), temporalDirect: lists.temporalDirect,
      weights: UnsafePointer(lists.weights), quant: UnsafePointer(quant), motionBits: motionCost.center,
      quarterOffsets: UnsafePointer(geometry.makeQuarterOffsets(memory: &memory)), changed: changed,
      transform8x8Allowed: pps.transform8x8, cabac: pps.cabac,
      constrainedIntra: pps.constrainedIntraPrediction, is444: sps.chromaFormat == 3,
      isLossless: sps.isLosslessAtZero, componentOffset: geometry.componentOffset,
      verticalLimit: sps.verticalMotion * 4)
  }
}

/// The input of macroblock coding that does not change during a picture. It is made for each
/// picture and copied to each thread's coder.
struct PictureContext {
  /// The source picture.
  var source: SourcePlanes
  /// The planes that the reconstruction is written to.
  var planes: PicturePlanes
  /// The macroblocks of the picture that was coded before this one and is not a B picture; their
  /// vectors are temporal candidates of the motion search.
  var previous: PictureSyntax
  /// Whether `previous` has vectors.
  var hasTemporalMotion: Bool
  /// The arrays that the picture's macroblocks are written to.
  var syntax: PictureSyntax
  /// The tools and search limits of the effort.
  var settings: EffortSettings
  /// The number of reference pictures in list 0; 0 in an intra picture.
  var referenceCount: Int
  /// The number of reference pictures in list 1; 0 unless it is a B picture.
  var referenceCountL1: Int
  /// Whether all macroblocks are intra.
  var isIntraPicture: Bool { referenceCount == 0 }
  /// Whether it is a B picture.
  var isBidirectional: Bool
  /// Whether later pictures may refer to it.
  var isReference: Bool
  /// Whether it is coded at a better quality than the pictures around it, which refer to it
  /// (`PicturePlan.hasRaisedQuality`).
  var hasRaisedQuality: Bool
  /// PicOrderCnt (8.2.1).
  var orderCount: Int32
  /// Whether explicit weights are in use (`StreamContext.weights`).
  var isWeighted: Bool
  /// Whether implicit weights are in use and any of them differs from a half.
  var hasImplicitWeights: Bool
  /// Whether direct prediction in the B picture is temporal (8.4.1.2.3); otherwise it is spatial
  /// (8.4.1.2.2).
  var usesTemporalDirect: Bool
  /// Whether the costs of spatial and temporal direct prediction are compared
  /// (`MacroblockCoder.directCosts`).
  var comparesDirect: Bool
  /// Lambda of the choice of levels, in the units of `MacroblockCoder.defaultRDOQLambda`.
  var rdoqLambda: Int
  /// The number of the older reference picture whose samples are still in the memory of `planes`; 0
  /// for none. Macroblocks that have not changed since that picture need not be written.
  var heldPicture: UInt64
  /// During a gradual intra refresh, the macroblock columns from `refreshFrom` up to but not
  /// including `refreshTo` are coded intra. Equal values: no refresh.
  var refreshFrom: Int
  /// The end of these columns.
  var refreshTo: Int
  /// Whether macroblocks left of `refreshFrom`, which have been refreshed, may refer only to
  /// refreshed samples.
  var keepsClean: Bool
  /// The vector by which most of the picture was scrolled (`ScrollDetector`); zero where it was
  /// not.
  var scroll: MotionVector
  /// The vectors by which parts of a screen have moved since the first reference picture.
  var displacements: Displacements
  /// The global motion since the first reference picture.
  var camera: CameraMotion
}

extension PictureContext {
  /// Makes the context of a planned picture.
  ///
  /// - Parameters:
  ///   - plan: what the encoder has decided for the picture.
  ///   - source: the source picture.
  ///   - planes: the planes that the reconstruction is written to.
  ///   - syntax: the arrays that its macroblocks are written to.
  ///   - history: the motion of the pictures before it.
  ///   - settings: the tools and search limits of the effort.
  ///   - hasImplicitWeights: whether implicit weights are in use and any of them differs from a
  ///     half.
  ///   - heldPicture: the number of the reference picture whose samples are still in the memory of
  ///     `planes`, or 0.
  init(
    _ plan: PicturePlan, source: SourcePicture, planes: PicturePlanes, syntax: PictureSyntax,
    history: MotionHistory, settings: EffortSettings, hasImplicitWeights: Bool, heldPicture: UInt64
  ) {
    self.source = SourcePlanes(source)
    self.planes = planes
    previous = history.previous
    hasTemporalMotion = history.hasPrevious
    self.syntax = syntax
    self.settings = settings
    referenceCount = plan.referenceCount
    referenceCountL1 = plan.referenceCountL1
    isBidirectional = plan.isBidirectional
    isReference = plan.isReference
    hasRaisedQuality = plan.hasRaisedQuality
    orderCount = Int32(truncatingIfNeeded: plan.orderCount)
    isWeighted = plan.isWeighted
    self.hasImplicitWeights = hasImplicitWeights
    usesTemporalDirect = plan.isBidirectional && !plan.header.usesSpatialDirect
    comparesDirect = plan.comparesDirect
    rdoqLambda =
      plan.isBidirectional && !plan.isReference
      ? MacroblockCoder.rdoqLambdaNonReference : MacroblockCoder.defaultRDOQLambda
    self.heldPicture = heldPicture
    refreshFrom = plan.refreshFrom
    refreshTo = plan.refreshTo
    keepsClean = plan.keepsClean
    scroll = MotionVector(0, Int16(truncatingIfNeeded: plan.scroll * 4))
    displacements = plan.displacements
    camera = plan.camera
  }
}

extension PictureGeometry {
  /// Bytes from one luma sample plane to the next, in the order full, b, h, j.
  var planeSpacing: Int { lumaBytes + 128 }
  /// At 4:4:4, bytes from a sample of luma to that of Cb, and from there to Cr: each component has
  /// four planes.
  var componentOffset: Int { 4 * planeSpacing }

  /// Makes the table of quarter-sample interpolation (8.4.2.2.1): each of the 16 positions is a
  /// sample of one of the four planes, or the average of two of them.
  ///
  /// - Parameter memory: owns the table.
  /// - Returns: the offsets in bytes of both samples, by (y & 3) * 4 + (x & 3).
  func makeQuarterOffsets(memory: inout EncoderMemory) -> UnsafeMutablePointer<(Int, Int)> {
    let s = planeSpacing
    let (full, b, h, j) = (0, s, 2 * s, 3 * s)
    let right = 1
    let down = stride
    let table: [(Int, Int)] = [
      (full, full), (full, b), (b, b), (b, full + right),
      (full, h), (b, h), (b, j), (b, h + right),
      (h, h), (h, j), (j, j), (j, h + right),
      (h, full + down), (h, b + down), (j, b + down), (h + right, b + down),
    ]
    let offsets = memory.allocate((Int, Int).self, count: 16)
    for i in 0..<16 { offsets[i] = table[i] }
    return offsets
  }
}
