// SPDX-License-Identifier: Apache-2.0

/// Merge candidates in the order of their costs.
struct MergeList: BitwiseCopyable {
  private var indices = SIMD8<Int8>(repeating: 0)
  private var costs = SIMD8<Int>(repeating: Int.max)
  private(set) var count = 0

  /// The least cost; the greatest number where there is no candidate.
  var leastCost: Int { costs[0] }
  func index(_ rank: Int) -> Int { Int(indices[rank]) }

  mutating func insert(_ index: Int, _ cost: Int) {
    var at = count
    while at > 0 && costs[at &- 1] > cost {
      costs[at] = costs[at &- 1]
      indices[at] = indices[at &- 1]
      at &-= 1
    }
    costs[at] = cost
    indices[at] = Int8(truncatingIfNeeded: index)
    count &+= 1
  }
}
