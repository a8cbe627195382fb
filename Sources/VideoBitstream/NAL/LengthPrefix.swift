// SPDX-License-Identifier: Apache-2.0
/// NAL units with their length before them (ISO/IEC 14496-15), as samples and files hold them.
package enum LengthPrefix {
  /// A length is 1, 2 or 4 bytes long.
  package static func isValid(_ size: Int) -> Bool { size == 1 || size == 2 || size == 4 }

  /// Calls `body` with the place of each NAL unit, empty ones left out, until it returns false.
  ///
  /// - Parameter lengthSize: 1...4. 3 is not valid, and read by others.
  /// - Returns: False if a length says more than there is, or is cut itself: what stands before it was visited.
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

  /// Whether a length of `lengthSize` bytes can say `count`.
  package static func fits(_ count: Int, lengthSize: Int) -> Bool { count < 1 << (8 * lengthSize) }

  /// Writes a length, big-endian, to memory with room for `lengthSize` bytes.
  package static func write(_ count: Int, lengthSize: Int, to memory: UnsafeMutableRawPointer) {
    for index in 0..<lengthSize {
      memory.storeBytes(
        of: UInt8(truncatingIfNeeded: count >> (8 * (lengthSize - 1 - index))), toByteOffset: index,
        as: UInt8.self)
    }
  }
}
