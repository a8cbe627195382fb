// SPDX-License-Identifier: Apache-2.0
/// Reads syntax elements (7.2, 9.1) from untrusted bytes. No input makes it trap.
///
/// It skips emulation prevention bytes while reading, so that it copies nothing and its work is
/// bounded by what is read. The first error is kept in `failure`; after it, every read leaves its
/// value unchanged.
package struct BitReader {
  /// The bytes to read, which the caller keeps valid.
  private let bytes: UnsafeBufferPointer<UInt8>
  /// Whether emulation prevention bytes are skipped.
  private let hasEmulationPrevention: Bool
  /// The offset of the next byte to load into `cache`.
  private var next: Int
  /// The number of successive zero bytes before `next`.
  private var zeros = 0
  /// Bits that are loaded but not read yet, from the highest bit down; the bits below them are
  /// zero.
  private var cache: UInt64 = 0
  /// The number of bits in `cache`.
  private var cached = 0
  /// The first error; nil if there was none.
  package private(set) var failure: SyntaxError?

  /// Creates a reader.
  /// - Parameters:
  ///   - bytes: the bytes to read, which must outlive the reader.
  ///   - headerLength: the number of bytes to skip first.
  ///   - hasEmulationPrevention: false for a payload from which emulation prevention bytes have
  ///     been removed.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, headerLength: Int = 0, hasEmulationPrevention: Bool = true
  ) {
    self.bytes = bytes
    self.hasEmulationPrevention = hasEmulationPrevention
    next = min(max(headerLength, 0), bytes.count)
  }

  /// Calls `body` with a reader of a NAL unit.
  /// - Parameters:
  ///   - unit: the NAL unit with its header.
  ///   - headerLength: the size of the header in bytes, which the reader skips.
  ///   - body: reads the payload.
  /// - Returns: the result of `body`.
  package static func read<Bytes: Collection<UInt8>, Result>(
    _ unit: Bytes, headerLength: Int, _ body: (inout BitReader) -> Result
  ) -> Result {
    let result = unit.withContiguousStorageIfAvailable { bytes in
      var reader = BitReader(bytes, headerLength: headerLength)
      return body(&reader)
    }
    if let result { return result }
    return Array(unit).withUnsafeBufferPointer { bytes in
      var reader = BitReader(bytes, headerLength: headerLength)
      return body(&reader)
    }
  }

  /// Loads bytes into `cache` until it is full or no bytes are left.
  private mutating func fill() {
    while cached <= 56, next < bytes.count {
      let byte = bytes[next]
      next += 1
      if hasEmulationPrevention {
        if zeros >= 2, byte == 3 {
          zeros = 0
          continue
        }
        zeros = byte == 0 ? zeros + 1 : 0
      }
      cache |= UInt64(byte) << UInt64(56 - cached)
      cached += 8
    }
  }

  /// Reads 0...32 bits; nil, and the reader fails, if fewer are left.
  private mutating func take(_ count: Int) -> UInt64? {
    if cached < count { fill() }
    guard cached >= count, failure == nil else {
      fail(.truncated)
      return nil
    }
    if count == 0 { return 0 }
    let value = cache >> UInt64(64 - count)
    cache <<= UInt64(count)
    cached -= count
    return value
  }

  /// Reads codeNum of an Exp-Golomb code (9.1), at most 2^32 - 2; nil if the reader fails.
  private mutating func codeNumber() -> Int? {
    if cached < 32 { fill() }
    let zeros = cache.leadingZeroBitCount
    guard zeros < cached, zeros <= 31 else {
      fail(zeros >= cached && zeros <= 31 || cached < 32 ? .truncated : .invalid)
      return nil
    }
    guard take(zeros) != nil, let code = take(zeros + 1) else { return nil }
    return Int(code) - 1
  }

  /// Skips a number of bits.
  package mutating func skip(_ count: Int) {
    var left = count
    while left > 0, failure == nil {
      _ = take(min(left, 32))
      left -= 32
    }
  }

  /// more_rbsp_data() (7.2): whether more bits precede the trailing bits. It scans all bytes that
  /// are left.
  package var hasMoreData: Bool {
    guard failure == nil else { return false }
    var rest = self
    rest.fill()
    let first = rest.cache
    while rest.next < rest.bytes.count {
      rest.cache = 0
      rest.cached = 0
      rest.fill()
      if rest.cache != 0 { return true }
    }
    // Only the stop bit is left, or nothing.
    return first != 0 && first != 1 << 63
  }
}

extension BitReader: SyntaxCoder {
  package static var isReading: Bool { true }

  package mutating func fail(_ error: SyntaxError) {
    if failure == nil { failure = error }
  }

  package mutating func flag(_ value: inout Bool) {
    if let bit = take(1) { value = bit == 1 }
  }

  package mutating func u(_ value: inout Int, _ count: Int) {
    guard count > 32 else {
      if let bits = take(count) { value = Int(bits) }
      return
    }
    guard let high = take(count - 32), let low = take(32) else { return }
    value = Int(truncatingIfNeeded: high << 32 | low)
  }

  package mutating func ue(_ value: inout Int, _ range: ClosedRange<Int>) {
    guard let code = codeNumber() else { return }
    guard code <= range.upperBound - range.lowerBound else {
      fail(.invalid)
      return
    }
    value = range.lowerBound + code
  }

  package mutating func se(_ value: inout Int, _ range: ClosedRange<Int>, above origin: Int) {
    guard let code = codeNumber() else { return }
    let read = origin + (code & 1 == 1 ? (code + 1) / 2 : -(code / 2))
    guard range.contains(read) else {
      fail(.invalid)
      return
    }
    value = read
  }

  package mutating func moreData(_ hasMore: inout Bool) {
    if failure == nil { hasMore = hasMoreData }
  }
}

extension BitReader {
  /// Reads u(1); false if that fails.
  package mutating func flag() -> Bool {
    var value = false
    flag(&value)
    return value
  }

  /// Reads u(n), 0...62 bits; 0 if that fails.
  package mutating func u(_ count: Int) -> Int {
    var value = 0
    u(&value, count)
    return value
  }

  /// Reads ue(v); 0 if that fails.
  /// - Parameter limit: the largest allowed value.
  package mutating func ue(max limit: Int = 0xFFFF_FFFE) -> Int {
    var value = 0
    ue(&value, 0...limit)
    return value
  }

  /// Reads se(v); 0 if that fails.
  package mutating func se() -> Int {
    var value = 0
    se(&value)
    return value
  }
}
