// SPDX-License-Identifier: Apache-2.0
/// Converts 16-bit sequence numbers, which wrap around, to 64-bit numbers that do not.
public struct SequenceUnwrapper: Sendable {
  private var last: Int64?

  public init() {}

  /// Returns the number nearest to the highest one so far that has these lower 16 bits.
  /// - Parameter number: The lower 16 bits.
  public mutating func unwrap(_ number: UInt16) -> Int64 {
    guard let last else {
      self.last = Int64(number)
      return Int64(number)
    }
    let difference = Int16(bitPattern: number &- UInt16(truncatingIfNeeded: last))
    let result = last + Int64(difference)
    if result > last { self.last = result }
    return result
  }
}
