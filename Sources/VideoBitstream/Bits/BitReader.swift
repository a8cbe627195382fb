// SPDX-License-Identifier: Apache-2.0
/// Reads syntax elements (7.2, 9.1) from bytes that may come from anywhere: nothing is trusted, nothing traps.
///
/// Emulation prevention bytes are passed over while reading, so that the work is bounded by what is read and nothing
/// is copied. The first error is kept in `failure`; from then on, all reads leave their values as they are.
package struct BitReader {
  /// Valid as long as the closure of `read` runs.
  private let bytes: UnsafeBufferPointer<UInt8>
  private let hasEmulationPrevention: Bool
  /// The next byte that is not in `cache`.
  private var next: Int
  /// Zero bytes before it.
  private var zeros = 0
  /// Bits that were taken from the bytes and not read yet, from the top down, and zeros.
  private var cache: UInt64 = 0
  private var cached = 0
  package private(set) var failure: SyntaxError?

  /// - Parameters:
  ///   - bytes: Must outlive the reader.
  ///   - headerLength: Bytes to pass over.
  ///   - hasEmulationPrevention: False for a payload that emulation prevention was taken out of.
  package init(
    _ bytes: UnsafeBufferPointer<UInt8>, headerLength: Int = 0, hasEmulationPrevention: Bool = true
  ) {
    self.bytes = bytes
    self.hasEmulationPrevention = hasEmulationPrevention
    next = min(max(headerLength, 0), bytes.count)
  }

  /// Reads from a NAL unit with its header.
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

  /// The next bits, 0...32 of them; nil if there are not so many.
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

  /// The code number of ue(v), at most 2^32 - 2.
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

  package mutating func skip(_ count: Int) {
    var left = count
    while left > 0, failure == nil {
      _ = take(min(left, 32))
      left -= 32
    }
  }

  /// more_rbsp_data(): whether there is more before the trailing bits. Looks through all that is left.
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
    // All that is left is the stop bit, or nothing at all.
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
  /// A flag by itself, false if it cannot be read.
  package mutating func flag() -> Bool {
    var value = false
    flag(&value)
    return value
  }

  /// u(n) by itself, 0 if it cannot be read.
  package mutating func u(_ count: Int) -> Int {
    var value = 0
    u(&value, count)
    return value
  }

  /// ue(v) by itself, 0 if it cannot be read.
  package mutating func ue(max limit: Int = 0xFFFF_FFFE) -> Int {
    var value = 0
    ue(&value, 0...limit)
    return value
  }

  /// se(v) by itself, 0 if it cannot be read.
  package mutating func se() -> Int {
    var value = 0
    se(&value)
    return value
  }
}
