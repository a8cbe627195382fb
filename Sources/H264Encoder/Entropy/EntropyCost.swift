// SPDX-License-Identifier: Apache-2.0
/// Lengths of codes, for decisions. Costs are in sixteenths of a bit unless said otherwise.
enum EntropyCost {
  /// Bits of ue(v).
  @inline(__always) static func ue(_ value: Int) -> Int {
    2 &* (Int.bitWidth &- (value &+ 1).leadingZeroBitCount) &- 1
  }

  /// Bits of se(v).
  @inline(__always) static func se(_ value: Int) -> Int {
    ue(value > 0 ? 2 &* value &- 1 : -2 &* value)
  }

  /// Bits of te(v).
  @inline(__always) static func te(_ value: Int, largest: Int) -> Int {
    largest > 1 ? ue(value) : largest == 1 ? 1 : 0
  }

  /// Sixteenths of a bit of one mvd component in CABAC, its contexts being in a usual state: bins of the
  /// prefix grow cheaper as the difference grows, the Exp-Golomb suffix costs whole bits.
  static func cabacMotion(_ value: Int) -> Int {
    let magnitude = abs(value)
    if magnitude == 0 { return 10 }
    let prefix = [27, 43, 54, 63, 71, 78, 84, 90]  // 1...8, the sign included
    if magnitude < 9 { return prefix[magnitude - 1] }
    let rest = magnitude - 9 + 8
    let length = Int.bitWidth - rest.leadingZeroBitCount
    return 80 + 16 * (2 * length - 4)
  }
}

/// Costs of a motion vector difference by its value, for the motion search: one load a component.
///
/// `center[v]` is the cost of the component v in sixteenths of a bit, for v in -range...range.
struct MotionCostTable {
  /// Differences of quarter samples lie within (`verticalMotion`).
  static let range = 32768
  let center: UnsafePointer<UInt16>

  init(cabac: Bool, memory: inout EncoderMemory) {
    let costs = memory.allocate(UInt16.self, count: 2 * Self.range + 1)
    center = UnsafePointer(costs + Self.range)
    for value in -Self.range...Self.range {
      let cost = cabac ? EntropyCost.cabacMotion(value) : 16 * EntropyCost.se(value)
      costs[Self.range + value] = UInt16(clamping: cost)
    }
  }

  /// Cost of a vector whose prediction is `predicted`.
  @inline(__always) func cost(_ vector: MotionVector, predicted: MotionVector) -> Int {
    Int(center[Int(vector.x) &- Int(predicted.x)]) &+ Int(center[Int(vector.y) &- Int(predicted.y)])
  }
}
