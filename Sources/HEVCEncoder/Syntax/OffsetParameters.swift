// SPDX-License-Identifier: Apache-2.0

/// The sample adaptive offset of one component of a coding tree unit (7.4.9.3.2).
struct ComponentOffsets: BitwiseCopyable, Equatable {
  /// SaoTypeIdx
  enum Kind: UInt8, BitwiseCopyable {
    case none, band, edge
  }

  var kind = Kind.none
  /// sao_band_position, or SaoEoClass.
  var choice: UInt8 = 0
  /// SaoOffsetVal[1...4]
  var values = SIMD4<Int8>.zero
}

/// The syntax elements of sample adaptive offset of a coding tree unit (7.3.8.3).
struct OffsetParameters: BitwiseCopyable {
  /// Where the parameters come from.
  enum Origin: UInt8, BitwiseCopyable {
    case own, left, above
  }

  var origin = Origin.own
  /// Kind and class of Cb and Cr are the same.
  var luma = ComponentOffsets()
  var cb = ComponentOffsets()
  var cr = ComponentOffsets()

  subscript(component: Int) -> ComponentOffsets {
    component == 0 ? luma : component == 1 ? cb : cr
  }

  var isNone: Bool { luma.kind == .none && cb.kind == .none }
}
