// SPDX-License-Identifier: Apache-2.0
/// seq_scaling_matrix and pic_scaling_matrix (7.3.2.1.1.1): lists for 4x4 and, after the sixth, for 8x8 blocks.
package struct H264ScalingLists: Equatable, Sendable {
  /// A list's delta_scale values up to the one that ends it; nil where the fall-back rule names another list.
  package var lists: [[Int]?]

  /// - Parameter lists: 6 for the 4x4 blocks, then 2 or, in 4:4:4, 6 for the 8x8 blocks.
  package init(lists: [[Int]?] = []) { self.lists = lists }

  /// - Parameter count: Of lists.
  package mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, count: Int) {
    if Coder.isReading { lists = [[Int]?](repeating: nil, count: count) }
    for index in 0..<min(count, lists.count) where c.failure == nil {
      var list = lists[index]
      c.optional(&list, []) { Self.code(&$0, &$1, size: index < 6 ? 16 : 64) }
      if Coder.isReading { lists[index] = list }
    }
  }

  /// scaling_list(): it ends where the next scale becomes 0.
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
