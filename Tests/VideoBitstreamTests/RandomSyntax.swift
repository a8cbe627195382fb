// SPDX-License-Identifier: Apache-2.0
/// SplitMix64: the same values in each run.
struct RandomSyntax: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
  /// True in `percent` of 100 cases.
  mutating func chance(_ percent: Int = 50) -> Bool { int(1...100) <= percent }
  /// Now and then a bound of the range, or a value anywhere in it; most of the time one near its
  /// lower bound.
  mutating func syntax(_ range: ClosedRange<Int>) -> Int {
    switch int(0...9) {
    case 0: range.lowerBound
    case 1: range.upperBound
    case 2: int(range)
    default: int(range.lowerBound...min(range.upperBound, range.lowerBound + 40))
    }
  }
  mutating func list<T>(_ count: Int, _ value: (inout RandomSyntax) -> T) -> [T] {
    (0..<count).map { _ in value(&self) }
  }
  mutating func optional<T>(_ value: (inout RandomSyntax) -> T) -> T? { chance() ? value(&self) : nil }

  /// Changes some bytes or bits, or cuts the unit.
  mutating func damaged(_ unit: [UInt8]) -> [UInt8] {
    var result = unit
    for _ in 0..<int(1...6) where result.count > 1 {
      switch int(0...4) {
      case 0: result.removeLast(int(1...result.count - 1))
      case 1: result[int(1...result.count - 1)] = UInt8(int(0...255))
      case 2: result[int(1...result.count - 1)] ^= 1 << UInt8(int(0...7))
      case 3: result.insert(contentsOf: [0, 0, 0, 0, 0], at: int(1...result.count - 1))
      default: result.insert(contentsOf: list(9) { _ in 0xFF }, at: int(1...result.count - 1))
      }
    }
    return result
  }
}
