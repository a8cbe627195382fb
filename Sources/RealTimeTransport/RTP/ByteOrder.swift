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

/// Reads integers in network byte order from front to back; nil where there are too few bytes left.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private(set) var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  var remaining: Int { bytes.endIndex - position }

  mutating func read8() -> UInt8? {
    guard remaining >= 1 else { return nil }
    defer { position += 1 }
    return bytes[position]
  }
  mutating func read16() -> UInt16? {
    guard remaining >= 2 else { return nil }
    defer { position += 2 }
    return UInt16(bytes[position]) << 8 | UInt16(bytes[position + 1])
  }
  mutating func read32() -> UInt32? {
    guard remaining >= 4, let high = read16(), let low = read16() else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }
  mutating func read64() -> UInt64? {
    guard remaining >= 8, let high = read32(), let low = read32() else { return nil }
    return UInt64(high) << 32 | UInt64(low)
  }
  mutating func read(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, remaining >= count else { return nil }
    defer { position += count }
    return bytes[position..<(position + count)]
  }
}
