// SPDX-License-Identifier: Apache-2.0
/// scaling_list_data() of HEVC (7.3.4).
package struct HEVCScalingLists: Equatable, Sendable {
  package enum List: Equatable, Sendable {
    /// scaling_list_pred_matrix_id_delta. 0: the default list; otherwise the distance to the
    /// earlier list that is copied.
    case predicted(Int)
    /// scaling_list_dc_coef_minus8 + 8 for 16x16 and 32x32 (16 for others), and
    /// scaling_list_delta_coef.
    case coded(dc: Int, deltas: [Int])
  }

  /// The number of lists: six for each of 4x4, 8x8 and 16x16, and two for 32x32.
  package static let count = 20
  package var lists = [List](repeating: .predicted(0), count: count)

  package init() {}

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    for index in 0..<min(Self.count, lists.count) where c.failure == nil {
      let size = min(index / 6, 3)
      var list = lists[index]
      list.code(&c, size: size)
      if Coder.isReading { lists[index] = list }
    }
  }
}

extension HEVCScalingLists.List {
  /// Codes a list.
  /// - Parameters:
  ///   - c: reads or writes it.
  ///   - size: sizeId, from 0 for 4x4 to 3 for 32x32.
  fileprivate mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, size: Int) {
    var isCoded = if case .coded = self { true } else { false }
    c.flag(&isCoded)
    guard isCoded else {
      var delta = if case .predicted(let delta) = self { delta } else { 0 }
      c.ue(&delta, 0...5)
      self = .predicted(delta)
      return
    }
    var (dc, deltas) = (16, [Int]())
    if case .coded(let value, let list) = self { (dc, deltas) = (value, list) }
    if size > 1 { c.se(&dc, 1...255, above: 8) }
    c.list(&deltas, count: min(64, 1 << (4 + size * 2)), 0) { $0.se(&$1, -128...127) }
    self = .coded(dc: dc, deltas: deltas)
  }
}
