// SPDX-License-Identifier: Apache-2.0

/// Intra modes in the order of their costs, and which were tested.
struct ModeList: BitwiseCopyable {
  private var modes = SIMD8<UInt8>(repeating: 1)
  private var costs = SIMD8<Int>(repeating: Int.max)
  private var tested: UInt64 = 0
  private let most: Int
  private(set) var count = 0

  /// - Parameter most: the most modes that are kept, 1...8.
  init(most: Int) { self.most = most }

  subscript(_ i: Int) -> UInt8 { modes[i] }

  func hasTested(_ mode: Int) -> Bool { tested &>> UInt64(mode) & 1 != 0 }

  mutating func insert(_ mode: Int, _ cost: Int) {
    if hasTested(mode) { return }
    tested |= 1 &<< UInt64(mode)
    var at = count
    while at > 0 && costs[at &- 1] > cost { at &-= 1 }
    guard at < most else { return }
    var i = min(count, most &- 1)
    while i > at {
      modes[i] = modes[i &- 1]
      costs[i] = costs[i &- 1]
      i &-= 1
    }
    modes[at] = UInt8(truncatingIfNeeded: mode)
    costs[at] = cost
    count = min(count &+ 1, most)
  }
}
