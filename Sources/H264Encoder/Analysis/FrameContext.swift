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

/// Everything about the picture being coded that stays as it is from its first macroblock to its last.
/// Each thread has its own copy, so that hot code reads it without indirection.
struct FrameContext {
  var kernels: UnsafePointer<OVTKernels>
  var geometry: PictureGeometry
  var source: SourcePlanes
  var picture: PicturePlanes
  /// Motion of the picture coded before this one (vectors at 4x4 blocks), for temporal candidates.
  var previous: PictureSyntax
  var syntax: PictureSyntax
  /// A bit for each luma 4x4 block (raster) that has coded levels; 8x8-transformed blocks set all four.
  var codedBlocks: UnsafeMutablePointer<UInt16>
  var references: UnsafeMutablePointer<ReferencePlanes>
  var referenceCount: Int
  /// Of list 1, in B pictures.
  var referenceCountL1: Int
  var isBidirectional: Bool
  /// `ImplicitWeights.weights`, where any differs from a half.
  var implicitWeights: UnsafePointer<Int16>
  var hasImplicitWeights: Bool
  /// Direct blocks of the B picture take the colocated picture's motion (8.4.1.2.3); else that of their neighbours.
  var infersTemporally: Bool
  /// What the other way would give is looked at too (`MacroblockCoder.directCosts`).
  var comparesDirect: Bool
  /// How they take it, where they may.
  var temporalDirect: TemporalDirect
  /// Others may refer to it.
  var isReference: Bool
  var orderCount: Int32
  /// Of each reference, where the picture `isWeighted`.
  var weights: UnsafePointer<PredictionWeight>
  var isWeighted: Bool
  /// 52 entries.
  var quant: UnsafePointer<QuantTables>
  /// Bits x 16 of a vector-difference component, centred: index -32768...32767.
  var motionBits: UnsafePointer<UInt16>
  /// Offsets to the two sample planes to average for each quarter-sample position ((y & 3) * 4 + (x & 3));
  /// two equal offsets: no average.
  var quarterOffsets: UnsafePointer<(Int, Int)>
  /// Where the picture's memory holds what no motion would copy there: macroblocks that have not changed since the
  /// picture that it holds (`StillMacroblocks`).
  var changed: UnsafePointer<UInt64>
  var holds: UInt64
  var tools: SpeedTools
  var isIntraPicture: Bool
  /// `PicturePlan.isBetter`.
  var isBetter: Bool
  var transform8x8Allowed: Bool
  var cabac: Bool
  var constrainedIntra: Bool
  var hasTemporalMotion: Bool
  /// Vertical vector limit of the level, in quarter samples (Table A-1, MaxVmvR).
  var verticalLimit: Int
  /// Gradual refresh: macroblock columns [refreshFrom, refreshTo) are coded intra; those before are
  /// clean and, if `keepsClean`, refer only to clean samples.
  var refreshFrom: Int
  var refreshTo: Int
  var keepsClean: Bool
  /// Where most of the picture was scrolled from; zero if nowhere.
  var scroll: MotionVector
  /// By what its parts have moved since the first reference.
  var moves: Moves
  /// `Moves.repeats`
  var repeats: UnsafePointer<UInt32>?
  /// How the camera has moved since the first reference.
  var camera: CameraMotion
  /// QP offset of each macroblock from adaptive quantisation, or nil.
  var qpOffsets: UnsafePointer<Int8>?
  var minQP: Int
  var maxQP: Int
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
