// SPDX-License-Identifier: Apache-2.0

extension RangeReplaceableCollection<UInt8> {
  /// Appends the bytes of an integer in network byte order: the most significant byte first.
  /// - Parameter value: the integer; its type decides how many bytes are appended.
  @inlinable package mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
    for shift in stride(from: T.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}
