// SPDX-License-Identifier: Apache-2.0
/// Writes syntax elements (7.2, 9.1) into memory of the caller.
///
/// It never writes beyond the capacity: bits that do not fit are dropped, and `overflowed` is set.
/// A copy of the writer is a snapshot; assigning it back undoes what was written since.
///
/// Entropy coders write every symbol with it, so it is inlinable in other modules.
@frozen package struct BitWriter {
  /// The first byte of the memory.
  package let start: UnsafeMutablePointer<UInt8>
  /// The next byte to write.
  @usableFromInline package private(set) var next: UnsafeMutablePointer<UInt8>
  /// The end of the memory, one past the last byte that may be written.
  package let end: UnsafeMutablePointer<UInt8>
  /// The bits that are not in memory yet, in its lowest `pending` bits.
  @usableFromInline var accumulator: UInt64 = 0
  /// The number of bits in the accumulator that are not in memory yet: below 32 between calls.
  @usableFromInline var pending = 0
  /// Whether bits did not fit and were dropped.
  @usableFromInline package private(set) var overflowed = false

  @inlinable package init(_ memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
    start = memory
    next = memory
    end = memory + capacity
  }

  /// The number of bits written so far.
  @inlinable package var bitCount: Int {
    @inline(__always) get { (next - start) &* 8 &+ pending }
  }

  /// Whether the next bit is the first of a byte.
  @inlinable package var isByteAligned: Bool {
    @inline(__always) get { pending & 7 == 0 }
  }

  /// Writes u(n): the lowest `count` bits (0...32) of `value`, whose other bits must be zero.
  @inlinable @inline(__always) package mutating func put(_ value: UInt32, _ count: Int) {
    accumulator = accumulator &<< UInt64(truncatingIfNeeded: count) | UInt64(value)
    pending &+= count
    if pending >= 32 { drain() }
  }

  /// Writes u(1).
  @inlinable @inline(__always) package mutating func flag(_ value: Bool) { put(value ? 1 : 0, 1) }

  /// Writes ue(v), for values up to 2^32 - 2.
  @inlinable @inline(__always) package mutating func ue(_ value: Int) {
    let code = UInt32(truncatingIfNeeded: value &+ 1)
    let length = 32 &- code.leadingZeroBitCount
    if length <= 16 {
      put(code, 2 &* length &- 1)
    } else {
      put(0, length &- 1)
      put(code, length)
    }
  }

  /// Writes se(v).
  @inlinable @inline(__always) package mutating func se(_ value: Int) {
    ue(value > 0 ? 2 &* value &- 1 : -2 &* value)
  }

  /// Writes te(v) for a syntax element in 0...`largest`, where `largest` is 1 or more.
  @inlinable @inline(__always) package mutating func te(_ value: Int, largest: Int) {
    if largest > 1 { ue(value) } else { put(value == 0 ? 1 : 0, 1) }
  }

  /// Moves the 32 oldest pending bits to memory.
  @inlinable @inline(__always) mutating func drain() {
    pending &-= 32
    if end - next >= 4 {
      let word = UInt32(truncatingIfNeeded: accumulator &>> UInt64(truncatingIfNeeded: pending))
      UnsafeMutableRawPointer(next).storeBytes(of: word.bigEndian, as: UInt32.self)
      next += 4
    } else {
      overflowed = true
    }
  }

  /// Fills the last byte up with bits of value `bit`.
  @inlinable package mutating func align(with bit: UInt32) {
    let missing = (8 &- pending & 7) & 7
    put(bit == 0 ? 0 : (1 &<< UInt32(truncatingIfNeeded: missing)) &- 1, missing)
  }

  /// Writes rbsp_trailing_bits().
  @inlinable package mutating func trailingBits() {
    put(1, 1)
    align(with: 0)
  }

  /// Moves the pending bytes to memory. The position must be byte-aligned.
  @inlinable package mutating func flush() {
    precondition(isByteAligned)
    while pending > 0 {
      pending &-= 8
      if next < end {
        next.pointee = UInt8(truncatingIfNeeded: accumulator &>> UInt64(truncatingIfNeeded: pending))
        next += 1
      } else {
        overflowed = true
      }
    }
  }

  /// Appends bytes at a byte-aligned position.
  @inlinable package mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {
    flush()
    guard end - next >= count else {
      overflowed = true
      return
    }
    next.update(from: bytes, count: count)
    next += count
  }

  /// Returns a writer that continues at another position of the same memory.
  /// - Parameters:
  ///   - position: a byte-aligned position.
  ///   - overflowed: whether bits before it did not fit.
  @inlinable package func moved(to position: UnsafeMutablePointer<UInt8>, overflowed: Bool) -> BitWriter {
    var writer = self
    writer.next = position
    writer.accumulator = 0
    writer.pending = 0
    writer.overflowed = self.overflowed || overflowed
    return writer
  }
}

extension BitWriter: SyntaxCoder {
  package static var isReading: Bool { false }
  package var failure: SyntaxError? { nil }
  /// Does nothing: the values to write come from the program, which keeps them in range.
  package mutating func fail(_ error: SyntaxError) {}

  package mutating func flag(_ value: inout Bool) { flag(value) }

  package mutating func u(_ value: inout Int, _ count: Int) {
    let bits = UInt64(truncatingIfNeeded: value)
    if count > 32 { put(UInt32(truncatingIfNeeded: bits >> 32) & ~(~0 << UInt32(count - 32)), count - 32) }
    let low = min(count, 32)
    put(UInt32(truncatingIfNeeded: low == 32 ? bits : bits & ~(~0 << UInt64(low))), low)
  }

  package mutating func ue(_ value: inout Int, _ range: ClosedRange<Int>) { ue(value &- range.lowerBound) }

  package mutating func se(_ value: inout Int, _ range: ClosedRange<Int>, above origin: Int) {
    se(value &- origin)
  }

  package mutating func moreData(_ hasMore: inout Bool) {}
}

extension BitWriter {
  /// Returns the bytes that `body` writes, which must end byte-aligned.
  ///
  /// It is meant for parameter sets and messages, whose size is not known before: `body` is called
  /// again with more memory until everything fits.
  package static func bytes(_ body: (inout BitWriter) -> Void) -> [UInt8] {
    var capacity = 256
    while true {
      var fits = false
      let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
        guard let base = memory.baseAddress else { return }
        var bits = BitWriter(base, capacity: capacity)
        body(&bits)
        bits.flush()
        fits = !bits.overflowed
        count = fits ? bits.next - bits.start : 0
      }
      if fits { return bytes }
      capacity *= 4
    }
  }
}
