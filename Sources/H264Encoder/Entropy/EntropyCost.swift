// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The lengths of codes, for mode decision.
enum EntropyCost {
  /// The length of ue(v) in bits.
  @inline(__always) static func ue(_ value: Int) -> Int {
    2 &* (Int.bitWidth &- (value &+ 1).leadingZeroBitCount) &- 1
  }

  /// The length of se(v) in bits.
  @inline(__always) static func se(_ value: Int) -> Int {
    ue(value > 0 ? 2 &* value &- 1 : -2 &* value)
  }

  /// The length of te(v) in bits.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - largest: the largest value of the syntax element.
  @inline(__always) static func te(_ value: Int, largest: Int) -> Int {
    largest > 1 ? ue(value) : largest == 1 ? 1 : 0
  }

  /// Estimates the bits of an mvd component by CABAC, with context variables in a typical state.
  /// Bins of the prefix take fewer bits the larger the difference is; bins of the Exp-Golomb suffix
  /// take a bit each.
  ///
  /// - Parameter value: the component, in quarter samples.
  /// - Returns: sixteenths of a bit.
  static func cabacMotion(_ value: Int) -> Int {
    let magnitude = abs(value)
    if magnitude == 0 { return 10 }
    // Magnitudes of 1 to 8, with the sign.
    let prefix = [27, 43, 54, 63, 71, 78, 84, 90]  // 1...8, the sign included
    if magnitude < 9 { return prefix[magnitude - 1] }
    let rest = magnitude - 9 + 8
    let length = Int.bitWidth - rest.leadingZeroBitCount
    return 80 + 16 * (2 * length - 4)
  }
}

/// The estimated bits of mvd components, for the motion search.
struct MotionCostTable {
  /// The largest magnitude of a difference, in quarter samples.
  static let range = 32768
  /// The estimated bits of a component in sixteenths of a bit. The pointer is to the entry of the
  /// value 0; there are entries for -`range` to `range`.
  let center: UnsafePointer<UInt16>

  /// Computes the table.
  ///
  /// - Parameters:
  ///   - cabac: entropy_coding_mode_flag.
  ///   - memory: owns the table.
  init(cabac: Bool, memory: inout EncoderMemory) {
    let costs = memory.allocate(UInt16.self, count: 2 * Self.range + 1)
    center = UnsafePointer(costs + Self.range)
    for value in -Self.range...Self.range {
      let cost = cabac ? EntropyCost.cabacMotion(value) : 16 * EntropyCost.se(value)
      costs[Self.range + value] = UInt16(clamping: cost)
    }
  }

  /// The estimated bits of a vector.
  ///
  /// - Parameters:
  ///   - vector: the vector.
  ///   - predicted: its prediction.
  /// - Returns: sixteenths of a bit.
  @inline(__always) func cost(_ vector: MotionVector, predicted: MotionVector) -> Int {
    Int(center[Int(vector.x) &- Int(predicted.x)]) &+ Int(center[Int(vector.y) &- Int(predicted.y)])
  }
}
