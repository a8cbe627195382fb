// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Writes fields of packets by their width, in network byte order.
extension [UInt8] {
  mutating func append16(_ value: UInt16) { append(bigEndian: value) }
  mutating func append32(_ value: UInt32) { append(bigEndian: value) }
  mutating func append64(_ value: UInt64) { append(bigEndian: value) }
  mutating func set16(_ value: UInt16, at offset: Int) {
    self[offset] = UInt8(value >> 8)
    self[offset + 1] = UInt8(truncatingIfNeeded: value)
  }
}
