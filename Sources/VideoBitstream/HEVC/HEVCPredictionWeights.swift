// SPDX-License-Identifier: Apache-2.0
/// The syntax structure pred_weight_table() of HEVC (7.3.6.3) in a single-layer stream.
package struct HEVCPredictionWeights: Equatable, Sendable {
  package struct Weight: Equatable, Sendable {
    /// delta_luma_weight or delta_chroma_weight, -128...127.
    package var delta = 0
    /// luma_offset or delta_chroma_offset.
    package var offset = 0

    package init(delta: Int = 0, offset: Int = 0) {
      self.delta = delta
      self.offset = offset
    }

    /// Codes delta and offset. The range of offsets is that of high precision samples: 16 bits, and
    /// four times that for chroma.
    fileprivate mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
      c.se(&delta, -128...127)
      c.se(&offset, -(1 << 17)...1 << 17)
    }
  }

  package struct Chroma: Equatable, Sendable {
    package var cb = Weight()
    package var cr = Weight()

    package init() {}
  }

  /// The weights of a reference picture; nil where the default weight applies.
  package struct Entry: Equatable, Sendable {
    package var luma: Weight?
    package var chroma: Chroma?

    package init() {}
  }

  /// luma_log2_weight_denom, 0...7
  package var log2LumaDenominator = 0
  /// delta_chroma_log2_weight_denom, -7...7
  package var deltaLog2ChromaDenominator = 0
  package var list0: [Entry] = []
  package var list1: [Entry] = []

  package init() {}

  mutating func code<Coder: SyntaxCoder>(
    _ c: inout Coder, hasChroma: Bool, references: Int, referencesL1: Int
  ) {
    c.ue(&log2LumaDenominator, 0...7)
    if hasChroma { c.se(&deltaLog2ChromaDenominator, -7...7) }
    Self.code(&list0, &c, hasChroma: hasChroma, count: references)
    Self.code(&list1, &c, hasChroma: hasChroma, count: referencesL1)
  }

  /// Codes the entries of a list: first the flags of all entries, then the weights.
  private static func code<Coder: SyntaxCoder>(
    _ list: inout [Entry], _ c: inout Coder, hasChroma: Bool, count: Int
  ) {
    c.list(&list, count: count, Entry()) {
      var isPresent = $1.luma != nil
      $0.flag(&isPresent)
      if Coder.isReading { $1.luma = isPresent ? Weight() : nil }
    }
    for index in list.indices where hasChroma && c.failure == nil {
      var isPresent = list[index].chroma != nil
      c.flag(&isPresent)
      if Coder.isReading { list[index].chroma = isPresent ? Chroma() : nil }
    }
    for index in list.indices where c.failure == nil {
      var entry = list[index]
      entry.luma?.code(&c)
      entry.chroma?.cb.code(&c)
      entry.chroma?.cr.code(&c)
      if Coder.isReading { list[index] = entry }
    }
  }
}
