// SPDX-License-Identifier: Apache-2.0
/// pred_weight_table() of H.264 (7.3.3.2).
package struct H264PredictionWeights: Equatable, Sendable {
  /// The weight and offset of a colour component.
  package struct Weight: Equatable, Sendable {
    /// The weight, -128...127, in units of 2 to the power of minus the denominator.
    package var weight = 0
    /// The offset, -128...127.
    package var offset = 0

    package init(weight: Int = 0, offset: Int = 0) {
      self.weight = weight
      self.offset = offset
    }

    fileprivate mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
      c.se(&weight, -128...127)
      c.se(&offset, -128...127)
    }
  }

  /// The weights of both chroma components.
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

    fileprivate mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, hasChroma: Bool) {
      c.optional(&luma, Weight()) { $1.code(&$0) }
      guard hasChroma else { return }
      c.optional(&chroma, Chroma()) {
        $1.cb.code(&$0)
        $1.cr.code(&$0)
      }
    }
  }

  /// luma_log2_weight_denom, 0...7
  package var log2LumaDenominator = 0
  /// chroma_log2_weight_denom, 0...7; not present without chroma or with separate colour planes.
  package var log2ChromaDenominator = 0
  package var list0: [Entry] = []
  package var list1: [Entry] = []

  package init() {}

  mutating func code<Coder: SyntaxCoder>(
    _ c: inout Coder, hasChroma: Bool, references: Int, referencesL1: Int
  ) {
    c.ue(&log2LumaDenominator, 0...7)
    if hasChroma { c.ue(&log2ChromaDenominator, 0...7) }
    Self.code(&list0, &c, hasChroma: hasChroma, count: references)
    Self.code(&list1, &c, hasChroma: hasChroma, count: referencesL1)
  }

  private static func code<Coder: SyntaxCoder>(
    _ list: inout [Entry], _ c: inout Coder, hasChroma: Bool, count: Int
  ) {
    if !Coder.isReading {
      // The array is only read, so that it is never copied and nothing is allocated.
      for i in 0..<count {
        var entry = i < list.count ? list[i] : Entry()
        entry.code(&c, hasChroma: hasChroma)
      }
      return
    }
    c.list(&list, count: count, Entry()) { $1.code(&$0, hasChroma: hasChroma) }
  }
}
