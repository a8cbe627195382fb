// SPDX-License-Identifier: Apache-2.0

extension CodingTreeCoder {
  /// Makes a trial what is coded: writes it into the picture and into what is known of its blocks.
  func commit(_ trial: Trial<Sample>) {
    let unit = trial.unit
    let (x, y) = (Int(unit.x), Int(unit.y))
    let size = 1 &<< Int(unit.log2Size)
    let z = LevelLayout.zIndex(x, y)
    let planes = pixels.target.planes
    let (stride, chromaStride) = (layout.lumaStride, layout.chromaStride)
    blocks.copy(trial.luma, 32, planes.luma + y &* stride + x, stride, size)
    let chroma = (y &>> 1) &* chromaStride &+ (x &>> 1)
    blocks.copy(trial.cb, 16, planes.cb + chroma, chromaStride, size &>> 1)
    blocks.copy(trial.cr, 16, planes.cr + chroma, chromaStride, size &>> 1)
    let samples = size &* size
    if unit.cbfLuma != 0 { (tree.levels + z &* 64).update(from: trial.levels, count: samples) }
    if unit.cbfCb != 0 {
      (tree.levels + LevelLayout.cb + z &* 16)
        .update(from: trial.levels + LevelLayout.cb, count: samples / 4)
    }
    if unit.cbfCr != 0 {
      (tree.levels + LevelLayout.cr + z &* 16)
        .update(from: trial.levels + LevelLayout.cr, count: samples / 4)
    }
    tree.units[z] = unit
    tree.units[z].qp = Int8(truncatingIfNeeded: qp)
    let n = size &>> 3
    let at = map.index(x, y)
    let row = map.width
    let isIntra = unit.kind == .intra
    let mode: UInt8 = isIntra ? unit.lumaModes.0 : 1
    let coded: UInt8 = unit.cbfLuma != 0 ? 1 : 0
    for v in 0..<n {
      let line = at &+ v &* row
      Self.fill(map.log2Size + line, unit.log2Size, n)
      Self.fill(map.kind + line, unit.kind.rawValue, n)
      Self.fill(map.coded + line, coded, n)
      Self.fill(map.partMode + line, unit.partMode.rawValue, n)
      let modes = map.lumaMode + ((y &>> 2) + 2 &* v) &* row &* 2 + (x &>> 2)
      Self.fill(modes, mode, 2 &* n)
      Self.fill(modes + row &* 2, mode, 2 &* n)
    }
    if unit.isSplit {
      if isIntra {
        let four = (y &>> 2) &* row &* 2 &+ (x &>> 2)
        map.lumaMode[four &+ 1] = unit.lumaModes.1
        map.lumaMode[four &+ row &* 2] = unit.lumaModes.2
        map.lumaMode[four &+ row &* 2 &+ 1] = unit.lumaModes.3
      } else {
        let half = n &>> 1
        for v in 0..<n {
          for u in 0..<n {
            let part = (u >= half ? 1 : 0) &+ (v >= half ? 2 : 0)
            map.coded[at &+ v &* row &+ u] = unit.cbfLuma &>> UInt8(part) & 1
          }
        }
      }
    }
    if !isIntraSlice || isIntra { setMotion(unit, at, n) }
  }

  /// Sets 1, 2, 4 or 8 bytes. A call of `memset` would take longer.
  @inline(__always) private static func fill(
    _ to: UnsafeMutablePointer<UInt8>, _ value: UInt8, _ count: Int
  ) {
    let bytes = UInt64(value) &* 0x0101_0101_0101_0101
    let raw = UnsafeMutableRawPointer(to)
    switch count {
    case 1: to.pointee = value
    case 2: raw.storeBytes(of: UInt16(truncatingIfNeeded: bytes), as: UInt16.self)
    case 4: raw.storeBytes(of: UInt32(truncatingIfNeeded: bytes), as: UInt32.self)
    default: raw.storeBytes(of: bytes, as: UInt64.self)
    }
  }

  /// Writes the motion of a unit into that of the picture.
  private func setMotion(_ unit: CodingUnit, _ at: Int, _ n: Int) {
    let motion = picture.target.motion + at
    let half = n &>> 1
    for v in 0..<n {
      let line = motion + v &* map.width
      if unit.kind == .intra {
        line.update(repeating: MotionPair(), count: n)
        continue
      }
      switch unit.partMode {
      case .whole: line.update(repeating: unit.first.motion, count: n)
      case .horizontal:
        line.update(repeating: v < half ? unit.first.motion : unit.second.motion, count: n)
      case .vertical:
        line.update(repeating: unit.first.motion, count: half)
        (line + half).update(repeating: unit.second.motion, count: n &- half)
      }
    }
  }
}
