// SPDX-License-Identifier: Apache-2.0
/// NAL units that are each preceded by their length (ISO/IEC 14496-15), as in samples of movie
/// files.
package enum LengthPrefix {
  /// Whether a length field may have this number of bytes: 1, 2 or 4.
  package static func isValid(_ size: Int) -> Bool { size == 1 || size == 2 || size == 4 }

  /// Calls `body` with the byte range of each NAL unit until `body` returns false. Empty units are
  /// skipped.
  ///
  /// - Parameters:
  ///   - bytes: the sample.
  ///   - lengthSize: the size of a length field in bytes, 1...4. ISO/IEC 14496-15 forbids 3, but
  ///     other readers accept it.
  ///   - body: receives ranges of offsets in `bytes`.
  /// - Returns: false if a length exceeds the bytes that follow or is itself incomplete. The units
  ///   before it have been visited.
  @discardableResult
  package static func forEachUnit(
    in bytes: UnsafeRawBufferPointer, lengthSize: Int, _ body: (Range<Int>) -> Bool
  ) -> Bool {
    precondition(1...4 ~= lengthSize)
    var position = 0
    while position < bytes.count {
      guard lengthSize <= bytes.count - position else { return false }
      var length = 0
      for index in position..<position + lengthSize { length = length << 8 | Int(bytes[index]) }
      position += lengthSize
      guard length <= bytes.count - position else { return false }
      if length > 0, !body(position..<position + length) { return true }
      position += length
    }
    return true
  }

  /// Whether a length field of `lengthSize` bytes can hold `count`.
  package static func fits(_ count: Int, lengthSize: Int) -> Bool { count < 1 << (8 * lengthSize) }

  /// Writes a length field, big-endian.
  /// - Parameters:
  ///   - count: the length to write.
  ///   - lengthSize: the size of the field in bytes.
  ///   - memory: has room for that.
  package static func write(_ count: Int, lengthSize: Int, to memory: UnsafeMutableRawPointer) {
    for index in 0..<lengthSize {
      memory.storeBytes(
        of: UInt8(truncatingIfNeeded: count >> (8 * (lengthSize - 1 - index))), toByteOffset: index,
        as: UInt8.self)
    }
  }
}
