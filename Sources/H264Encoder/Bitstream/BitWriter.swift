/// Writes syntax elements (7.2, 9.1) into memory that the caller owns.
///
/// Never writes beyond the capacity: what does not fit is dropped and `overflowed` is set.
/// A copy of the value is a snapshot: assigning it back takes back what was written since.
struct BitWriter {
  let start: UnsafeMutablePointer<UInt8>
  private(set) var next: UnsafeMutablePointer<UInt8>
  /// One past the last byte that may be written.
  let end: UnsafeMutablePointer<UInt8>
  private var accumulator: UInt64 = 0
  /// Bits in the accumulator that are not in memory yet, below 32 between calls.
  private var pending = 0
  private(set) var overflowed = false

  init(_ memory: UnsafeMutablePointer<UInt8>, capacity: Int) {
    start = memory
    next = memory
    end = memory + capacity
  }

  /// Bits written so far.
  @inline(__always) var bitCount: Int { (next - start) &* 8 &+ pending }

  @inline(__always) var isByteAligned: Bool { pending & 7 == 0 }

  /// u(n): the low `count` bits (0...32) of `value`, the others being zero.
  @inline(__always) mutating func put(_ value: UInt32, _ count: Int) {
    accumulator = accumulator &<< UInt64(truncatingIfNeeded: count) | UInt64(value)
    pending &+= count
    if pending >= 32 { drain() }
  }

  @inline(__always) mutating func flag(_ value: Bool) { put(value ? 1 : 0, 1) }

  /// ue(v), `value` up to 2^32 - 2.
  @inline(__always) mutating func ue(_ value: Int) {
    let code = UInt32(truncatingIfNeeded: value &+ 1)
    let length = 32 &- code.leadingZeroBitCount
    if length <= 16 {
      put(code, 2 &* length &- 1)
    } else {
      put(0, length &- 1)
      put(code, length)
    }
  }

  /// se(v)
  @inline(__always) mutating func se(_ value: Int) {
    ue(value > 0 ? 2 &* value &- 1 : -2 &* value)
  }

  /// te(v) for a syntax element in 0...`largest`, `largest` being at least 1.
  @inline(__always) mutating func te(_ value: Int, largest: Int) {
    if largest > 1 { ue(value) } else { put(value == 0 ? 1 : 0, 1) }
  }

  @inline(__always) private mutating func drain() {
    pending &-= 32
    if end - next >= 4 {
      let word = UInt32(truncatingIfNeeded: accumulator &>> UInt64(truncatingIfNeeded: pending))
      UnsafeMutableRawPointer(next).storeBytes(of: word.bigEndian, as: UInt32.self)
      next += 4
    } else {
      overflowed = true
    }
  }

  /// Fills the last byte up with `bit`.
  mutating func align(with bit: UInt32) {
    let missing = (8 &- pending & 7) & 7
    put(bit == 0 ? 0 : (1 &<< UInt32(truncatingIfNeeded: missing)) &- 1, missing)
  }

  /// rbsp_trailing_bits()
  mutating func trailingBits() {
    put(1, 1)
    align(with: 0)
  }

  /// Moves whole pending bytes to memory. The position must be byte aligned.
  mutating func flush() {
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

  /// Appends whole bytes at a byte-aligned position.
  mutating func append(_ bytes: UnsafePointer<UInt8>, count: Int) {
    flush()
    guard end - next >= count else {
      overflowed = true
      return
    }
    next.update(from: bytes, count: count)
    next += count
  }

  /// A writer at `position`, a byte-aligned place in the memory of this one, that `overflowed` says
  /// whether everything before it fitted.
  func moved(to position: UnsafeMutablePointer<UInt8>, overflowed: Bool) -> BitWriter {
    var writer = self
    writer.next = position
    writer.accumulator = 0
    writer.pending = 0
    writer.overflowed = self.overflowed || overflowed
    return writer
  }
}
