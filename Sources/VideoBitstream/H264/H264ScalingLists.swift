// SPDX-License-Identifier: Apache-2.0
/// The scaling lists of a sequence or picture parameter set (7.3.2.1.1.1): six for 4x4 blocks, then
/// those for 8x8 blocks.
package struct H264ScalingLists: Equatable, Sendable {
  /// For each list the delta_scale values up to the one that ends it; nil where the list is not
  /// present and the fall-back rule applies.
  package var lists: [[Int]?]

  /// Creates scaling lists.
  /// - Parameter lists: six for 4x4 blocks, then two or, in 4:4:4, six for 8x8 blocks.
  package init(lists: [[Int]?] = []) { self.lists = lists }

  /// Codes the lists.
  /// - Parameters:
  ///   - c: reads or writes them.
  ///   - count: the number of lists.
  package mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, count: Int) {
    if Coder.isReading { lists = [[Int]?](repeating: nil, count: count) }
    for index in 0..<min(count, lists.count) where c.failure == nil {
      var list = lists[index]
      c.optional(&list, []) { Self.code(&$0, &$1, size: index < 6 ? 16 : 64) }
      if Coder.isReading { lists[index] = list }
    }
  }

  /// Codes scaling_list() of `size` entries, which ends early where nextScale becomes 0.
  private static func code<Coder: SyntaxCoder>(_ c: inout Coder, _ deltas: inout [Int], size: Int) {
    var scale = 8
    for index in 0..<size where c.failure == nil {
      var delta = index < deltas.count ? deltas[index] : 0
      c.se(&delta, -128...127)
      if Coder.isReading, c.failure == nil { deltas.append(delta) }
      scale = (scale + delta) & 0xFF
      if scale == 0 { return }
    }
  }
}
