// SPDX-License-Identifier: Apache-2.0

/// Reads bytes and integers in network byte order, from front to back, from untrusted bytes. No
/// input makes it trap.
package struct ByteReader<Bytes: RandomAccessCollection<UInt8>> where Bytes.SubSequence == Bytes {
  /// The bytes that have not been read yet.
  @usableFromInline var rest: Bytes

  /// Creates a reader.
  /// - Parameter bytes: the bytes to read.
  @inlinable package init(_ bytes: Bytes) { rest = bytes }

  /// The number of bytes that have not been read yet.
  @inlinable package var remaining: Int { rest.count }

  /// Reads bytes.
  /// - Parameter count: the number of bytes.
  /// - Returns: a slice of the bytes that the reader was created with.
  /// - Throws: `truncated`, and nothing is read, if fewer bytes remain or `count` is negative.
  @inlinable package mutating func bytes(_ count: Int) throws(SyntaxError) -> Bytes {
    guard count >= 0, count <= rest.count else { throw .truncated }
    let taken = rest.prefix(count)
    rest = rest.dropFirst(count)
    return taken
  }

  /// Reads an integer in network byte order; throws `truncated`, and reads nothing, if too few
  /// bytes remain.
  @inlinable mutating func integer<T: FixedWidthInteger & UnsignedInteger>()
    throws(SyntaxError) -> T
  {
    var value: T = 0
    for byte in try bytes(T.bitWidth / 8) { value = value << 8 | T(byte) }
    return value
  }

  /// Reads a byte; throws `truncated` if none remains.
  @inlinable package mutating func uint8() throws(SyntaxError) -> UInt8 { try integer() }
  /// Reads an integer of two bytes; throws `truncated`, and reads nothing, if fewer remain.
  @inlinable package mutating func uint16() throws(SyntaxError) -> UInt16 { try integer() }
  /// Reads an integer of four bytes; throws `truncated`, and reads nothing, if fewer remain.
  @inlinable package mutating func uint32() throws(SyntaxError) -> UInt32 { try integer() }
  /// Reads an integer of eight bytes; throws `truncated`, and reads nothing, if fewer remain.
  @inlinable package mutating func uint64() throws(SyntaxError) -> UInt64 { try integer() }
}
