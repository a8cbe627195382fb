// SPDX-License-Identifier: Apache-2.0

/// The syntax of sample adaptive offset (7.3.8.3).
extension SliceWriter {
  /// Writes sao() with both slice_sao_luma_flag and slice_sao_chroma_flag 1.
  /// - Parameters:
  ///   - offsets: the parameters of the coding tree unit.
  ///   - hasLeft: whether there is a unit to the left.
  ///   - hasAbove: whether there is one above.
  mutating func write(_ offsets: OffsetParameters, hasLeft: Bool, hasAbove: Bool) {
    if hasLeft {
      engine.encode(offsets.origin == .left ? 1 : 0, Contexts.saoMerge)
      if offsets.origin == .left { return }
    }
    if hasAbove {
      engine.encode(offsets.origin == .above ? 1 : 0, Contexts.saoMerge)
      if offsets.origin == .above { return }
    }
    for component in 0..<3 {
      let values = offsets[component]
      if component < 2 {
        engine.encode(values.kind == .none ? 0 : 1, Contexts.saoType)
        if values.kind != .none { engine.bypass(values.kind == .edge ? 1 : 0, 1) }
      }
      if values.kind == .none { continue }
      for i in 0..<4 {
        // sao_offset_abs is at most 7 with 8 bits.
        let magnitude = abs(Int(values.values[i]))
        let bins: UInt32 = (1 &<< UInt32(magnitude)) &- 1
        if magnitude < 7 { engine.bypass(bins &<< 1, magnitude &+ 1) } else { engine.bypass(bins, 7) }
      }
      if values.kind == .band {
        for i in 0..<4 where values.values[i] != 0 { engine.bypass(values.values[i] < 0 ? 1 : 0, 1) }
        engine.bypass(UInt32(values.choice), 5)
      } else if component < 2 {
        engine.bypass(UInt32(values.choice), 2)
      }
    }
  }
}
