// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// Writes the slice segment data of a picture (7.3.8): coding tree units of 32x32 samples, in one
/// slice. It decides nothing but the QP of units without a residual (8.6.1).
struct SliceWriter: BitwiseCopyable {
  private(set) var engine: CABACEngine
  private let map: PictureMap
  private let residual: ResidualWriter
  private let width: Int
  private let height: Int
  private let contexts: UnsafeMutablePointer<UInt8>
  private let start: UnsafeMutablePointer<UInt8>
  private let end: UnsafeMutablePointer<UInt8>
  private var isIntra = true
  /// num_ref_idx_l0_active
  private var references = 1
  /// QpY of the last coding unit of the quantisation group before, in decoding order.
  private var lastQP = 0
  /// IsCuQpDeltaCoded
  private var isDeltaCoded = false

  /// Creates a writer.
  /// - Parameters:
  ///   - map: what is known of the blocks.
  ///   - width: the coded width in luma samples.
  ///   - height: the coded height in luma samples.
  ///   - payload: receives the data.
  ///   - capacity: the bytes that it has room for.
  ///   - kernels: the scans.
  ///   - memory: owns the tables.
  init(
    map: PictureMap, width: Int, height: Int, payload: UnsafeMutablePointer<UInt8>, capacity: Int,
    kernels: UnsafePointer<OVTHEVCResidualKernels>, memory: inout EncoderMemory
  ) {
    self.map = map
    self.width = width
    self.height = height
    contexts = memory.allocate(UInt8.self, count: Contexts.count)
    residual = ResidualWriter(kernels: kernels, memory: &memory)
    start = payload
    end = payload + capacity
    engine = CABACEngine(contexts: contexts, at: payload, end: end)
  }

  /// Begins a slice.
  /// - Parameters:
  ///   - offset: the bytes that the slice header takes.
  ///   - isIntra: whether it is an I slice; otherwise it is a P slice.
  ///   - references: the number of reference pictures.
  ///   - qp: SliceQpY.
  mutating func begin(offset: Int, isIntra: Bool, references: Int, qp: Int) {
    Contexts.reset(contexts, isIntra: isIntra, qp: qp)
    engine = CABACEngine(contexts: contexts, at: start + offset, end: end)
    self.isIntra = isIntra
    self.references = references
    lastQP = qp
  }

  /// The bits of the slice so far, its header included.
  var bitCount: Int { engine.bitCount(since: start) }
  var overflowed: Bool { engine.overflowed }

  /// Ends the slice.
  /// - Returns: its bytes, from the header on.
  mutating func finish() -> Int {
    engine.terminate()
    return engine.next - start
  }

  /// Writes a coding tree unit, with end_of_slice_segment_flag 0 before it unless it is the first.
  /// - Parameters:
  ///   - x: its position in luma samples.
  ///   - y: its position in luma samples.
  ///   - qp: the QpY that its residual was quantised with.
  ///   - units: its coding units at the index of their first block in z-scan order.
  ///   - levels: its levels (`LevelLayout`).
  mutating func write(
    x: Int, y: Int, qp: Int, units: UnsafePointer<CodingUnit>, levels: UnsafePointer<Int16>
  ) {
    if x != 0 || y != 0 { engine.continueSlice() }
    isDeltaCoded = false
    quadtree(x, y, 5, qp, units, levels)
    if isDeltaCoded { lastQP = qp }
  }

  private mutating func quadtree(
    _ x: Int, _ y: Int, _ log2Size: Int, _ qp: Int, _ units: UnsafePointer<CodingUnit>,
    _ levels: UnsafePointer<Int16>
  ) {
    let size = 1 &<< log2Size
    let at = map.index(x, y)
    let isInside = x &+ size <= width && y &+ size <= height
    let isSplit = !isInside || Int(map.log2Size[at]) < log2Size
    if isInside && log2Size > 3 {
      var context = Contexts.splitCU
      if x > 0 && Int(map.log2Size[at &- 1]) < log2Size { context &+= 1 }
      if y > 0 && Int(map.log2Size[at &- map.width]) < log2Size { context &+= 1 }
      engine.encode(isSplit ? 1 : 0, context)
    }
    guard isSplit else {
      codingUnit(units[LevelLayout.zIndex(x, y)], at, qp, levels)
      return
    }
    let half = size &>> 1
    quadtree(x, y, log2Size &- 1, qp, units, levels)
    if x &+ half < width { quadtree(x &+ half, y, log2Size &- 1, qp, units, levels) }
    if y &+ half < height {
      quadtree(x, y &+ half, log2Size &- 1, qp, units, levels)
      if x &+ half < width { quadtree(x &+ half, y &+ half, log2Size &- 1, qp, units, levels) }
    }
  }

  /// coding_unit() (7.3.8.5)
  private mutating func codingUnit(
    _ unit: CodingUnit, _ at: Int, _ qp: Int, _ levels: UnsafePointer<Int16>
  ) {
    let (x, y) = (Int(unit.x), Int(unit.y))
    let blocks = 1 &<< (Int(unit.log2Size) &- 3)
    if !isIntra {
      var context = Contexts.skip
      if x > 0 && map.kind[at &- 1] == UnitKind.skip.rawValue { context &+= 1 }
      if y > 0 && map.kind[at &- map.width] == UnitKind.skip.rawValue { context &+= 1 }
      engine.encode(unit.kind == .skip ? 1 : 0, context)
      if unit.kind == .skip {
        mergeIndex(Int(unit.first.mergeIndex))
        setQP(at, blocks, isDeltaCoded ? qp : lastQP)
        return
      }
      engine.encode(unit.kind == .intra ? 1 : 0, Contexts.predictionMode)
    }
    if unit.kind == .intra {
      if unit.log2Size == 3 { engine.encode(unit.isSplit ? 0 : 1, Contexts.partMode) }
      intraModes(unit, x, y)
    } else {
      switch unit.partMode {
      case .whole: engine.encode(1, Contexts.partMode)
      case .horizontal, .vertical:
        engine.encode(0, Contexts.partMode)
        engine.encode(unit.partMode == .horizontal ? 1 : 0, Contexts.partMode &+ 1)
      }
      predictionUnit(unit.first)
      if unit.partMode != .whole { predictionUnit(unit.second) }
      if unit.partMode != .whole || unit.first.mergeIndex < 0 {
        engine.encode(unit.hasResidual ? 1 : 0, Contexts.rootCBF)
      }
    }
    if unit.kind == .intra || unit.hasResidual { transformTree(unit, x, y, qp, levels) }
    // The QP of the unit is known once its first residual, if any, is written.
    setQP(at, blocks, isDeltaCoded ? qp : lastQP)
  }

  private func setQP(_ at: Int, _ blocks: Int, _ qp: Int) {
    for row in 0..<blocks {
      (map.qp + at + row &* map.width).update(repeating: Int8(truncatingIfNeeded: qp), count: blocks)
    }
  }

  private mutating func mergeIndex(_ index: Int) {
    engine.encode(index > 0 ? 1 : 0, Contexts.mergeIndex)
    // MaxNumMergeCand is 5.
    if index > 0 {
      let ones = index &- 1
      let bins = ones == 3 ? 0b111 : ((1 &<< ones) &- 1) &<< 1
      engine.bypass(UInt32(truncatingIfNeeded: bins), min(ones &+ 1, 3))
    }
  }

  /// prediction_unit() (7.3.8.6)
  private mutating func predictionUnit(_ unit: PredictionUnit) {
    engine.encode(unit.mergeIndex >= 0 ? 1 : 0, Contexts.mergeFlag)
    if unit.mergeIndex >= 0 {
      mergeIndex(Int(unit.mergeIndex))
      return
    }
    if references > 1 {
      let reference = Int(unit.motion.reference)
      var i = 0
      while i < references &- 1 {
        let isMore: UInt32 = i < reference ? 1 : 0
        if i < 2 { engine.encode(isMore, Contexts.referenceIndex &+ i) } else { engine.bypass(isMore, 1) }
        if isMore == 0 { break }
        i &+= 1
      }
    }
    let (dx, dy) = (Int(unit.differenceX), Int(unit.differenceY))
    let (ax, ay) = (abs(dx), abs(dy))
    engine.encode(ax > 0 ? 1 : 0, Contexts.differenceGreater0)
    engine.encode(ay > 0 ? 1 : 0, Contexts.differenceGreater0)
    if ax > 0 { engine.encode(ax > 1 ? 1 : 0, Contexts.differenceGreater1) }
    if ay > 0 { engine.encode(ay > 1 ? 1 : 0, Contexts.differenceGreater1) }
    differenceRest(ax, isNegative: dx < 0)
    differenceRest(ay, isNegative: dy < 0)
    engine.encode(UInt32(unit.predictor), Contexts.vectorPredictor)
  }

  /// abs_mvd_minus2 (EG1) and mvd_sign_flag.
  private mutating func differenceRest(_ magnitude: Int, isNegative: Bool) {
    if magnitude > 1 { expGolomb(magnitude &- 2, 1) }
    if magnitude > 0 { engine.bypass(isNegative ? 1 : 0, 1) }
  }

  /// A k-th order Exp-Golomb code in bypass bins (9.3.3.5).
  private mutating func expGolomb(_ value: Int, _ order: Int) {
    var (rest, k) = (value, order)
    while rest >= 1 &<< k {
      engine.bypass(1, 1)
      rest &-= 1 &<< k
      k &+= 1
    }
    engine.bypass(0, 1)
    if k > 0 { engine.bypass(UInt32(truncatingIfNeeded: rest), k) }
  }

  /// The prediction modes of an intra unit.
  private mutating func intraModes(_ unit: CodingUnit, _ x: Int, _ y: Int) {
    let parts = unit.isSplit ? 4 : 1
    let modes = (unit.lumaModes.0, unit.lumaModes.1, unit.lumaModes.2, unit.lumaModes.3)
    func mode(_ part: Int) -> Int {
      switch part {
      case 0: Int(modes.0)
      case 1: Int(modes.1)
      case 2: Int(modes.2)
      default: Int(modes.3)
      }
    }
    // prev_intra_luma_pred_flag of all parts comes before the modes.
    var codes = (0, 0, 0, 0)
    for part in 0..<parts {
      let candidates = MostProbableModes(
        map, x &+ (part & 1) &* 4, y &+ (part &>> 1) &* 4, isInUnit: unit.isSplit ? part : 0)
      let code = candidates.code(mode(part))
      switch part {
      case 0: codes.0 = code
      case 1: codes.1 = code
      case 2: codes.2 = code
      default: codes.3 = code
      }
      engine.encode(code < 0 ? 1 : 0, Contexts.previousIntraMode)
    }
    for part in 0..<parts {
      let code = part == 0 ? codes.0 : part == 1 ? codes.1 : part == 2 ? codes.2 : codes.3
      switch code {
      case -1: engine.bypass(0, 1)
      case -2: engine.bypass(0b10, 2)
      case -3: engine.bypass(0b11, 2)
      default: engine.bypass(UInt32(truncatingIfNeeded: code), 5)
      }
    }
    engine.encode(unit.chromaMode == 4 ? 0 : 1, Contexts.chromaMode)
    if unit.chromaMode != 4 { engine.bypass(UInt32(unit.chromaMode), 2) }
  }

  /// transform_tree() (7.3.8.8). Whether a unit is split into four is always inferred:
  /// max_transform_hierarchy_depth_intra and _inter are 0.
  private mutating func transformTree(
    _ unit: CodingUnit, _ x: Int, _ y: Int, _ qp: Int, _ levels: UnsafePointer<Int16>
  ) {
    let z = LevelLayout.zIndex(x, y)
    let luma = levels + z &* 64
    let cb = levels + LevelLayout.cb + z &* 16
    let cr = levels + LevelLayout.cr + z &* 16
    let log2Size = Int(unit.log2Size)
    engine.encode(unit.cbfCb != 0 ? 1 : 0, Contexts.chromaCBF)
    engine.encode(unit.cbfCr != 0 ? 1 : 0, Contexts.chromaCBF)
    let isIntra = unit.kind == .intra
    let chromaScan = isIntra && log2Size == 3 ? Self.scan(unit.chromaPredictionMode) : 0
    if !unit.isSplit {
      if isIntra || unit.cbfCb | unit.cbfCr != 0 {
        engine.encode(unit.cbfLuma != 0 ? 1 : 0, Contexts.lumaCBF &+ 1)
      }
      quantiserDelta(unit.hasResidual, qp)
      let scan = isIntra && log2Size == 3 ? Self.scan(Int(unit.lumaModes.0)) : 0
      if unit.cbfLuma != 0 {
        residual.write(luma, log2Size: log2Size, isChroma: false, scan: scan, &engine)
      }
      if unit.cbfCb != 0 {
        residual.write(cb, log2Size: log2Size &- 1, isChroma: true, scan: chromaScan, &engine)
      }
      if unit.cbfCr != 0 {
        residual.write(cr, log2Size: log2Size &- 1, isChroma: true, scan: chromaScan, &engine)
      }
      return
    }
    let partLog2 = log2Size &- 1
    let partSize = 1 &<< (2 &* partLog2)
    for part in 0..<4 {
      let bit = UInt8(1) &<< UInt8(part)
      // Chroma of 4x4 luma blocks is coded for all four with the last one.
      if partLog2 > 2 {
        if unit.cbfCb != 0 { engine.encode(unit.cbfCb & bit != 0 ? 1 : 0, Contexts.chromaCBF &+ 1) }
        if unit.cbfCr != 0 { engine.encode(unit.cbfCr & bit != 0 ? 1 : 0, Contexts.chromaCBF &+ 1) }
      }
      engine.encode(unit.cbfLuma & bit != 0 ? 1 : 0, Contexts.lumaCBF)
      let hasChroma =
        partLog2 > 2 ? (unit.cbfCb | unit.cbfCr) & bit != 0 : unit.cbfCb | unit.cbfCr != 0
      quantiserDelta(unit.cbfLuma & bit != 0 || hasChroma, qp)
      let mode =
        part == 0
        ? unit.lumaModes.0
        : part == 1 ? unit.lumaModes.1 : part == 2 ? unit.lumaModes.2 : unit.lumaModes.3
      let scan = isIntra && partLog2 <= 3 ? Self.scan(Int(mode)) : 0
      if unit.cbfLuma & bit != 0 {
        residual.write(
          luma + part &* partSize, log2Size: partLog2, isChroma: false, scan: scan, &engine)
      }
      if partLog2 > 2 {
        if unit.cbfCb & bit != 0 {
          residual.write(
            cb + part &* partSize / 4, log2Size: partLog2 &- 1, isChroma: true, scan: 0, &engine)
        }
        if unit.cbfCr & bit != 0 {
          residual.write(
            cr + part &* partSize / 4, log2Size: partLog2 &- 1, isChroma: true, scan: 0, &engine)
        }
      } else if part == 3 {
        if unit.cbfCb != 0 {
          residual.write(cb, log2Size: 2, isChroma: true, scan: chromaScan, &engine)
        }
        if unit.cbfCr != 0 {
          residual.write(cr, log2Size: 2, isChroma: true, scan: chromaScan, &engine)
        }
      }
    }
  }

  /// scanIdx of an intra block that is small enough to have one by its mode (7.4.9.11).
  @inline(__always) static func scan(_ mode: Int) -> Int {
    mode >= 6 && mode <= 14 ? 2 : mode >= 22 && mode <= 30 ? 1 : 0
  }

  /// cu_qp_delta_abs and cu_qp_delta_sign_flag, where they are due (7.3.8.12, 9.3.3.10).
  private mutating func quantiserDelta(_ hasResidual: Bool, _ qp: Int) {
    guard hasResidual, !isDeltaCoded else { return }
    isDeltaCoded = true
    var delta = qp &- lastQP
    // QpY is the sum modulo 52 (8.6.1).
    if delta > 25 { delta &-= 52 } else if delta < -26 { delta &+= 52 }
    let magnitude = abs(delta)
    var i = 0
    while i < min(magnitude, 5) {
      engine.encode(1, Contexts.qpDelta &+ (i > 0 ? 1 : 0))
      i &+= 1
    }
    if magnitude < 5 {
      engine.encode(0, Contexts.qpDelta &+ (i > 0 ? 1 : 0))
    } else {
      expGolomb(magnitude &- 5, 0)
    }
    if magnitude > 0 { engine.bypass(delta < 0 ? 1 : 0, 1) }
  }
}

extension CodingUnit {
  /// IntraPredModeC (8.4.3) for 4:2:0.
  var chromaPredictionMode: Int {
    let luma = Int(lumaModes.0)
    let mode: Int
    switch chromaMode {
    case 0: mode = 0
    case 1: mode = 26
    case 2: mode = 10
    case 3: mode = 1
    default: return luma
    }
    return mode == luma ? 34 : mode
  }
}

/// candModeList of 8.4.2: the three most probable luma prediction modes of a block.
struct MostProbableModes: BitwiseCopyable {
  let first: Int
  let second: Int
  let third: Int

  /// - Parameters:
  ///   - map: the modes of the blocks around it.
  ///   - x: the position of the block in luma samples.
  ///   - y: the position of the block in luma samples.
  ///   - isInUnit: the index of the block in a unit of four parts; 0 for a unit of one part.
  @inline(__always) init(_ map: PictureMap, _ x: Int, _ y: Int, isInUnit part: Int) {
    let row = map.width &* 2
    let at = (y >> 2) &* row &+ (x >> 2)
    let left = x > 0 ? Int(map.lumaMode[at &- 1]) : 1
    // Above, modes of another row of coding tree units do not count.
    let above = y & 31 != 0 ? Int(map.lumaMode[at &- row]) : 1
    if left == above {
      if left < 2 {
        (first, second, third) = (0, 1, 26)
      } else {
        first = left
        second = 2 &+ ((left &+ 29) & 31)
        third = 2 &+ ((left &- 2 &+ 1) & 31)
      }
    } else {
      first = left
      second = above
      third = left != 0 && above != 0 ? 0 : left != 1 && above != 1 ? 1 : 26
    }
  }

  /// How a mode is coded: -1, -2 or -3 for mpm_idx 0, 1 or 2; otherwise rem_intra_luma_pred_mode.
  @inline(__always) func code(_ mode: Int) -> Int {
    if mode == first { return -1 }
    if mode == second { return -2 }
    if mode == third { return -3 }
    var result = mode
    if mode > first { result &-= 1 }
    if mode > second { result &-= 1 }
    if mode > third { result &-= 1 }
    return result
  }

  /// An estimate of the bits of a mode.
  @inline(__always) func bits(_ mode: Int) -> Int {
    mode == first ? 2 : mode == second || mode == third ? 3 : 6
  }
}
