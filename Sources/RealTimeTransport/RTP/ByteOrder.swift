// SPDX-License-Identifier: Apache-2.0
/// Writes integers in network byte order.
extension [UInt8] {
  mutating func append16(_ value: UInt16) {
    append(UInt8(value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }
  mutating func append32(_ value: UInt32) {
    append16(UInt16(value >> 16))
    append16(UInt16(truncatingIfNeeded: value))
  }
  mutating func append64(_ value: UInt64) {
    append32(UInt32(value >> 32))
    append32(UInt32(truncatingIfNeeded: value))
  }
  mutating func set16(_ value: UInt16, at offset: Int) {
    self[offset] = UInt8(value >> 8)
    self[offset + 1] = UInt8(truncatingIfNeeded: value)
  }
}
