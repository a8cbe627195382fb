// SPDX-License-Identifier: Apache-2.0

/// A motion vector with its reference index. Vectors are in quarter luma samples.
struct Motion: BitwiseCopyable, Equatable {
  var x: Int16 = 0
  var y: Int16 = 0
  /// The reference index; -1: the list is not used, and the vector is 0.
  var reference: Int16 = -1

  static func == (a: Motion, b: Motion) -> Bool {
    a.x == b.x && a.y == b.y && a.reference == b.reference
  }
}

/// The motion of a prediction block in both reference picture lists, as it is kept for each 8x8
/// block of a picture. It uses neither list in intra units and outside of the picture.
struct MotionPair: BitwiseCopyable, Equatable {
  /// The motion in list 0, and that in list 1, which P slices never use.
  var first = Motion()
  var second = Motion()

  /// Whether a list is used.
  @inline(__always) var isInter: Bool { first.reference >= 0 || second.reference >= 0 }
  /// Whether both lists are used.
  @inline(__always) var isBidirectional: Bool { first.reference >= 0 && second.reference >= 0 }

  /// The motion in list 0 or 1.
  @inline(__always) subscript(list: Int) -> Motion {
    get { list == 0 ? first : second }
    set { if list == 0 { first = newValue } else { second = newValue } }
  }

  static func == (a: MotionPair, b: MotionPair) -> Bool {
    a.first == b.first && a.second == b.second
  }
}

/// How a vector of a list differs from its predictor.
struct VectorDifference: BitwiseCopyable {
  /// mvp_lX_flag
  var predictor: UInt8 = 0
  /// MvdLX
  var x: Int16 = 0
  var y: Int16 = 0
}

/// The syntax elements of a prediction unit (7.3.8.6).
struct PredictionUnit: BitwiseCopyable {
  var motion = MotionPair()
  /// merge_idx; -1: merge_flag is 0.
  var mergeIndex: Int8 = -1
  /// The differences in list 0 and in list 1; only in the lists that are used.
  var first = VectorDifference()
  var second = VectorDifference()
}

/// The way a coding unit is predicted.
enum UnitKind: UInt8, BitwiseCopyable {
  case intra, inter, skip
}

/// PartMode of inter coding units (table 7-10).
enum PartMode: UInt8, BitwiseCopyable {
  case whole, horizontal, vertical
}

/// The syntax elements of a coding unit (7.3.8.5), but for its levels.
struct CodingUnit: BitwiseCopyable {
  /// The position in the picture in luma samples.
  var x: Int32 = 0
  var y: Int32 = 0
  /// log2 of its size, 3...5.
  var log2Size: UInt8 = 3
  var kind = UnitKind.intra
  /// How an inter coding unit is divided into prediction units.
  var partMode = PartMode.whole
  /// Whether the transform unit is split into four: intra NxN, and inter units of two parts.
  var isSplit = false
  /// Of an intra unit: IntraPredModeY of the unit, or of its four parts.
  var lumaModes: (UInt8, UInt8, UInt8, UInt8) = (1, 1, 1, 1)
  /// intra_chroma_pred_mode (8.4.3): 4 is the mode of luma.
  var chromaMode: UInt8 = 4
  /// The coded block flags: bit 0 for the whole block, or bits 0...3 for its four parts. Chroma of
  /// an 8x8 unit is not split.
  var cbfLuma: UInt8 = 0
  var cbfCb: UInt8 = 0
  var cbfCr: UInt8 = 0
  /// transform_skip_flag of the blocks of 4x4 samples, by part: luma in bits 0...3, Cb in bits
  /// 4...7, Cr in bits 8...11.
  var transformSkips: UInt16 = 0
  /// The prediction units of an inter unit.
  var first = PredictionUnit()
  var second = PredictionUnit()
  /// The QpY that its residual is quantised with.
  var qp: Int8 = 0
  /// CuQpDeltaVal, where the first residual of its quantisation group is in this unit.
  var qpDelta: Int8 = 0

  /// An estimate of its bits, in sixteenths.
  var bits: Int32 = 0

  var hasResidual: Bool { cbfLuma | cbfCb | cbfCr != 0 }
}

/// The decided syntax of a coding tree unit of 32x32 samples.
struct CodedTreeUnit: BitwiseCopyable {
  /// Its coding units at the index of their first 8x8 block in z-scan order.
  let units: UnsafeMutablePointer<CodingUnit>
  /// Their levels (`LevelLayout`).
  let levels: UnsafeMutablePointer<Int16>

  /// Calls `body` with each coding unit in decoding order.
  /// - Parameters:
  ///   - map: the map of the picture, in which the units are.
  ///   - x: the position of the coding tree unit in luma samples.
  ///   - y: the position of the coding tree unit in luma samples.
  @inline(__always) func forEachUnit(
    _ map: PictureMap, x: Int, y: Int, _ body: (UnsafeMutablePointer<CodingUnit>) -> Void
  ) {
    var z = 0
    while z < 16 {
      let column = x &>> 3 &+ (z & 1 | z &>> 1 & 2)
      let row = y &>> 3 &+ (z &>> 1 & 1 | z &>> 2 & 2)
      guard column < map.width, row < map.height else {
        z &+= 1
        continue
      }
      body(units + z)
      z &+= 1 &<< (2 &* (Int(units[z].log2Size) &- 3))
    }
  }
}

/// The levels of a coding tree unit of 32x32 samples in memory: luma of each 8x8 block in z-scan
/// order, then Cb, then Cr. Each transform block is in raster order without a gap.
enum LevelLayout {
  static let cb = 1024
  static let cr = 1280
  static let count = 1536

  /// The index of a luma 8x8 block in z-scan order in its coding tree unit.
  /// - Parameters:
  ///   - x: its position in luma samples; only the lowest five bits count.
  ///   - y: its position in luma samples.
  @inline(__always) static func zIndex(_ x: Int, _ y: Int) -> Int {
    (x >> 3 & 1) | (y >> 3 & 1) << 1 | (x >> 4 & 1) << 2 | (y >> 4 & 1) << 3
  }
}
