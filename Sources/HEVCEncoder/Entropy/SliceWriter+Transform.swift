// SPDX-License-Identifier: Apache-2.0

/// The transform syntax of coding units.
extension SliceWriter {
  /// transform_tree() (7.3.8.8). Whether a unit is split into four is always inferred:
  /// max_transform_hierarchy_depth_intra and _inter are 0.
  mutating func transformTree(
    _ unit: CodingUnit, _ x: Int, _ y: Int, _ levels: UnsafePointer<Int16>
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
    if unit.isSplit {
      let partLog2 = log2Size &- 1
      for part in 0..<4 {
        transformPart(part, unit, luma + part &* (1 &<< (2 &* partLog2)), cb, cr, log2Size: partLog2)
      }
      // Chroma of 4x4 luma blocks is coded for all four with the last one.
      if partLog2 == 2 {
        chroma(unit, cb, cr, log2Size: 2, scan: chromaScan)
      }
      return
    }
    if isIntra || unit.cbfCb | unit.cbfCr != 0 {
      engine.encode(unit.cbfLuma != 0 ? 1 : 0, Contexts.lumaCBF &+ 1)
    }
    quantiserDelta(unit.hasResidual, unit.qpDelta)
    let scan = isIntra && log2Size == 3 ? Self.scan(Int(unit.lumaModes.0)) : 0
    if unit.cbfLuma != 0 {
      residual.write(luma, log2Size: log2Size, isChroma: false, scan: scan, &engine)
    }
    chroma(unit, cb, cr, log2Size: log2Size &- 1, scan: chromaScan)
  }

  /// The chroma blocks of a unit, or of its four parts of 4x4 luma samples.
  @inline(__always) private mutating func chroma(
    _ unit: CodingUnit, _ cb: UnsafePointer<Int16>, _ cr: UnsafePointer<Int16>, log2Size: Int, scan: Int
  ) {
    if unit.cbfCb != 0 {
      residual.write(
        cb, log2Size: log2Size, isChroma: true, scan: scan,
        skipsTransform: unit.transformSkips & 0x10 != 0, &engine)
    }
    if unit.cbfCr != 0 {
      residual.write(
        cr, log2Size: log2Size, isChroma: true, scan: scan,
        skipsTransform: unit.transformSkips & 0x100 != 0, &engine)
    }
  }

  /// One of four parts of a unit: transform_unit() (7.3.8.10), for 4x4 luma samples without chroma.
  @inline(__always) private mutating func transformPart(
    _ part: Int, _ unit: CodingUnit, _ luma: UnsafePointer<Int16>, _ cb: UnsafePointer<Int16>,
    _ cr: UnsafePointer<Int16>, log2Size: Int
  ) {
    let skips = unit.transformSkips
    let bit = UInt8(1) &<< UInt8(part)
    if log2Size > 2 {
      if unit.cbfCb != 0 { engine.encode(unit.cbfCb & bit != 0 ? 1 : 0, Contexts.chromaCBF &+ 1) }
      if unit.cbfCr != 0 { engine.encode(unit.cbfCr & bit != 0 ? 1 : 0, Contexts.chromaCBF &+ 1) }
    }
    engine.encode(unit.cbfLuma & bit != 0 ? 1 : 0, Contexts.lumaCBF)
    let hasChroma =
      log2Size > 2 ? (unit.cbfCb | unit.cbfCr) & bit != 0 : unit.cbfCb | unit.cbfCr != 0
    quantiserDelta(unit.cbfLuma & bit != 0 || hasChroma, unit.qpDelta)
    let mode =
      part == 0
      ? unit.lumaModes.0
      : part == 1 ? unit.lumaModes.1 : part == 2 ? unit.lumaModes.2 : unit.lumaModes.3
    let scan = unit.kind == .intra && log2Size <= 3 ? Self.scan(Int(mode)) : 0
    if unit.cbfLuma & bit != 0 {
      residual.write(
        luma, log2Size: log2Size, isChroma: false, scan: scan,
        skipsTransform: skips & UInt16(bit) != 0, &engine)
    }
    guard log2Size > 2 else { return }
    let offset = part &* (1 &<< (2 &* log2Size)) / 4
    if unit.cbfCb & bit != 0 {
      residual.write(
        cb + offset, log2Size: log2Size &- 1, isChroma: true, scan: 0,
        skipsTransform: skips & UInt16(bit) &<< 4 != 0, &engine)
    }
    if unit.cbfCr & bit != 0 {
      residual.write(
        cr + offset, log2Size: log2Size &- 1, isChroma: true, scan: 0,
        skipsTransform: skips & UInt16(bit) &<< 8 != 0, &engine)
    }
  }

  /// scanIdx of an intra block that is small enough to have one by its mode (7.4.9.11).
  @inline(__always) static func scan(_ mode: Int) -> Int {
    mode >= 6 && mode <= 14 ? 2 : mode >= 22 && mode <= 30 ? 1 : 0
  }

  /// cu_qp_delta_abs and cu_qp_delta_sign_flag, where they are due (7.3.8.12, 9.3.3.10).
  mutating func quantiserDelta(_ hasResidual: Bool, _ value: Int8) {
    guard hasResidual, !isDeltaCoded else { return }
    isDeltaCoded = true
    let delta = Int(value)
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
