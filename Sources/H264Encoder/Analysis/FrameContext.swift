// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// What one reference picture offers to prediction.
struct ReferencePlanes {
  /// Full-sample luma at (0, 0); the planes b, h, j follow at multiples of `PictureGeometry.planeSpacing`.
  let luma: UnsafeMutablePointer<UInt8>
  let chroma: UnsafeMutablePointer<UInt8>
  /// `PicturePlanes.number`.
  let number: UInt64
  let orderCount: Int32
  let storedMotion: StoredMotion?

  /// Where list 1 begins among the references of a picture.
  static let list1 = 16

  init(_ picture: PicturePlanes) {
    luma = picture.luma
    chroma = picture.chroma
    number = picture.number.pointee
    orderCount = picture.orderCount.pointee
    storedMotion = picture.storedMotion
  }
}

/// The source picture's planes, as the macroblock fetch reads them.
struct SourcePlanes {
  var luma: UnsafePointer<UInt8>
  var lumaStride: Int
  /// NV12 when `cr` is nil.
  var chroma: UnsafePointer<UInt8>
  var chromaStride: Int
  var cr: UnsafePointer<UInt8>?
  var crStride: Int
}

/// What macroblocks are coded with that is the same in all pictures of a stream. Each thread has its own copy, so that
/// hot code reads it without indirection.
struct StreamContext {
  let kernels: UnsafePointer<OVTKernels>
  let geometry: PictureGeometry
  /// A bit for each luma 4x4 block (in raster order) that has coded levels; blocks with an 8x8 transform set all four.
  let codedBlocks: UnsafeMutablePointer<UInt16>
  /// Reference list 0, and from `ReferencePlanes.list1` on reference list 1.
  let references: UnsafeMutablePointer<ReferencePlanes>
  /// Weights of B pictures by distance in time (8.4.2.3.1), where `PictureContext.hasImplicitWeights`.
  let implicitWeights: UnsafePointer<Int16>
  /// Motion of direct blocks after the colocated picture, where `PictureContext.infersTemporally`.
  let temporalDirect: TemporalDirect
  /// A weight for each reference, where `PictureContext.isWeighted`.
  let weights: UnsafePointer<PredictionWeight>
  /// Quantisation tables of QP 0 to 51.
  let quant: UnsafePointer<QuantTables>
  /// Sixteenths of a bit that a component of a vector difference takes: a pointer to the entry of 0, with entries from
  /// -32768 to 32767.
  let motionBits: UnsafePointer<UInt16>
  /// Offsets to the two sample planes to average for each quarter-sample position ((y & 3) * 4 + (x & 3)); two equal
  /// offsets stand for one plane alone.
  let quarterOffsets: UnsafePointer<(Int, Int)>
  /// For each macroblock, the number of the reference picture in which it changed last (`StillMacroblocks`).
  let changed: UnsafePointer<UInt64>
  let transform8x8Allowed: Bool
  let cabac: Bool
  /// constrained_intra_pred_flag
  let constrainedIntra: Bool
  /// Vertical vector limit of the level, in quarter samples (Table A-1, MaxVmvR).
  let verticalLimit: Int
}

/// What macroblocks are coded with that stays as it is from the first macroblock of a picture to the last. It is made
/// anew for each picture and assigned to each thread's coder as a whole.
struct PictureContext {
  var source: SourcePlanes
  /// Where the reconstruction goes.
  var planes: PicturePlanes
  /// Motion of the picture coded before this one (vectors at 4x4 blocks), for temporal candidates.
  var previous: PictureSyntax
  var hasTemporalMotion: Bool
  var syntax: PictureSyntax
  var tools: EffortSettings
  /// References in list 0 and, in B pictures, in list 1.
  var referenceCount: Int
  var referenceCountL1: Int
  var isIntraPicture: Bool { referenceCount == 0 }
  /// It is a B picture.
  var isBidirectional: Bool
  /// Later pictures may refer to it.
  var isReference: Bool
  /// `PicturePlan.isBetter`.
  var isBetter: Bool
  /// PicOrderCnt (8.2.1).
  var orderCount: Int32
  /// References have weights, explicit ones (`StreamContext.weights`) or implicit ones that differ from a half.
  var isWeighted: Bool
  var hasImplicitWeights: Bool
  /// Direct blocks of the B picture take the motion of the colocated picture (8.4.1.2.3); else that of their neighbours.
  var infersTemporally: Bool
  /// Spatial and temporal direct prediction are compared (`MacroblockCoder.directCosts`).
  var comparesDirect: Bool
  /// Lambda for the choice of levels (`MacroblockCoder.usualRDOQLambda`).
  var rdoqLambda: Int
  /// The number of the reference picture that the memory of `planes` still holds; 0: none. Macroblocks that have not
  /// changed since need not be copied.
  var holds: UInt64
  /// Gradual refresh: macroblock columns [refreshFrom, refreshTo) are coded intra; those before are clean and, if
  /// `keepsClean`, refer only to clean samples.
  var refreshFrom: Int
  var refreshTo: Int
  var keepsClean: Bool
  /// The vector by which most of the picture was scrolled; zero where it was not.
  var scroll: MotionVector
  /// The vectors by which parts of the picture have moved since the first reference.
  var moves: Moves
  /// How the camera has moved since the first reference.
  var camera: CameraMotion
}

extension PictureContext {
  /// The context of a planned picture.
  ///
  /// - Parameters:
  ///   - plan: what the encoder has decided for the picture.
  ///   - source: the picture.
  ///   - planes: where its reconstruction goes.
  ///   - syntax: where its macroblocks go.
  ///   - history: the motion of pictures before it.
  ///   - tools: what is tried for each macroblock.
  ///   - hasImplicitWeights: the references have weights by their distance in time.
  ///   - holds: the number of the reference picture that `planes` still holds, or 0.
  init(
    _ plan: PicturePlan, source: SourcePicture, planes: PicturePlanes, syntax: PictureSyntax,
    history: MotionHistory, tools: EffortSettings, hasImplicitWeights: Bool, holds: UInt64
  ) {
    self.source = SourcePlanes(source)
    self.planes = planes
    previous = history.previous
    hasTemporalMotion = history.hasPrevious
    self.syntax = syntax
    self.tools = tools
    referenceCount = plan.referenceCount
    referenceCountL1 = plan.referenceCountL1
    isBidirectional = plan.isBidirectional
    isReference = plan.isReference
    isBetter = plan.isBetter
    orderCount = Int32(truncatingIfNeeded: plan.orderCount)
    isWeighted = plan.isWeighted
    self.hasImplicitWeights = hasImplicitWeights
    infersTemporally = plan.isBidirectional && !plan.header.usesSpatialDirect
    comparesDirect = plan.comparesDirect
    rdoqLambda =
      plan.isBidirectional && !plan.isReference
      ? MacroblockCoder.rdoqLambdaNonReference : MacroblockCoder.usualRDOQLambda
    self.holds = holds
    refreshFrom = plan.refreshFrom
    refreshTo = plan.refreshTo
    keepsClean = plan.keepsClean
    scroll = MotionVector(0, Int16(truncatingIfNeeded: plan.scroll * 4))
    moves = plan.moves
    camera = plan.camera
  }
}

extension PictureGeometry {
  /// Bytes from one luma sample plane (full, b, h, j) to the next.
  var planeSpacing: Int { lumaBytes + 128 }

  /// The quarter-sample table of 8.4.2.2.1: each position is one sample of the four planes or the average
  /// of the two nearest ones.
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
