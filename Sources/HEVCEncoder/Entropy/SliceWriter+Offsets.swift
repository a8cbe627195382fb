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
        let magnitude = abs(Int(values.values[i]))
        var ones = magnitude
        while ones > 8 {
          engine.bypass(0xFF, 8)
          ones &-= 8
        }
        let bins: UInt32 = (1 &<< UInt32(ones)) &- 1
        if magnitude < largestOffset {
          engine.bypass(bins &<< 1, ones &+ 1)
        } else {
          engine.bypass(bins, ones)
        }
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
