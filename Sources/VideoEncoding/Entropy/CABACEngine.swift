// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The arithmetic encoder of CABAC (H.264, 9.3.4). H.265 has the same one: its decoder (9.3.4.3) is
/// that of H.264. What the context variables stand for and how they begin is the codec's. Clauses
/// below are those of H.264.
///
/// Its functions are inlined into the module of a codec, since a bin takes few instructions. They
/// are public for that: the compiler does not inline functions of access level `package` into other
/// modules. No product exports this module.
///
/// `low` holds the ten bits of codILow, and above them bits that are not yet written. Bits are
/// written 32 at a time; a carry out of `low` is added to the bytes that were written before. Hot
/// functions copy the engine to a local variable and back, so that its fields stay in registers.
public struct CABACEngine: BitwiseCopyable {
  /// codILow, with the bits that are not yet written above its ten bits.
  @usableFromInline var low: UInt64 = 0
  /// codIRange
  @usableFromInline var range: UInt32 = 510
  /// The number of bits in `low` above the lowest ten; -1 at the start, since the first bit, which
  /// is always 0, is not written.
  @usableFromInline var queued = -1
  /// The address of the next byte to be written. `restart(at:)` sets it.
  public var next: UnsafeMutablePointer<UInt8>
  /// The last address at which four bytes may be written.
  @usableFromInline let last: UnsafeMutablePointer<UInt8>
  /// For each ctxIdx, pStateIdx << 1 | valMPS.
  public let contexts: UnsafeMutablePointer<UInt8>

  /// Begins at a byte position with codILow 0 and codIRange 510 (9.3.4.1).
  ///
  /// - Parameters:
  ///   - contexts: the context variables, which are not changed.
  ///   - next: the address of the first byte.
  ///   - end: the end of the memory.
  @inlinable public init(
    contexts: UnsafeMutablePointer<UInt8>, at next: UnsafeMutablePointer<UInt8>,
    end: UnsafeMutablePointer<UInt8>
  ) {
    self.contexts = contexts
    self.next = next
    // Eight bytes stay free for `terminate`.
    last = end - 12
  }

  /// Whether the memory was too small. What did not fit was not written.
  @inlinable @inline(__always) public var overflowed: Bool { next > last }

  /// The number of bits since an address, as if the engine were flushed here without the stop bit.
  ///
  /// - Parameter start: the address.
  @inlinable @inline(__always) public func bitCount(since start: UnsafeMutablePointer<UInt8>) -> Int {
    (next - start) &* 8 &+ queued &+ 2
  }

  /// Encodes a bin with a context variable (EncodeDecision, 9.3.4.2).
  ///
  /// - Parameters:
  ///   - bin: 0 or 1.
  ///   - context: ctxIdx.
  @inlinable @inline(__always) public mutating func encode(_ bin: UInt32, _ context: Int) {
    let state = Int(contexts[context])
    let entry = UInt32(ovt_cabac_ranges()![(state >> 1) &* 4 &+ Int(truncatingIfNeeded: range &>> 6 & 3)])
    let isLPS = UInt32(truncatingIfNeeded: state & 1) ^ bin
    contexts[context] = ovt_cabac_transitions()![state &* 2 &+ Int(truncatingIfNeeded: isLPS)]
    let rangeLPS = entry & 0xFF
    let rangeMPS = range &- rangeLPS
    let mask = 0 &- isLPS
    low &+= UInt64(rangeMPS & mask)
    // The most probable symbol leaves a range of 128 or more, so it shifts by one bit at most. The
    // table holds the shift of the least probable symbol.
    let shift = isLPS != 0 ? entry &>> 8 : (rangeMPS &>> 8) ^ 1
    range = (isLPS != 0 ? rangeLPS : rangeMPS) &<< shift
    low = low &<< UInt64(truncatingIfNeeded: shift)
    queued &+= Int(truncatingIfNeeded: shift)
    if queued >= 32 { drain() }
  }

  /// Encodes bins without context variables (EncodeBypass, 9.3.4.4).
  ///
  /// - Parameters:
  ///   - bins: the bins, the first one in the highest of the `count` bits.
  ///   - count: the number of bins, 0 to 16.
  @inlinable @inline(__always) public mutating func bypass(_ bins: UInt32, _ count: Int) {
    low = low &<< UInt64(truncatingIfNeeded: count) &+ UInt64(bins) &* UInt64(range)
    queued &+= count
    if queued >= 32 { drain() }
  }

  /// Encodes bin 0 by EncodeTerminate (9.3.4.5): end_of_slice_flag 0, or a macroblock type that is
  /// not I_PCM.
  @inlinable @inline(__always) public mutating func continueSlice() {
    range &-= 2
    let shift = (range &>> 8) ^ 1
    range = range &<< shift
    low = low &<< UInt64(shift)
    queued &+= Int(truncatingIfNeeded: shift)
    if queued >= 32 { drain() }
  }

  /// Writes 32 bits, if there is room.
  @inlinable @inline(__always) mutating func drain() {
    let chunk = low &>> UInt64(truncatingIfNeeded: queued &- 22)
    low &= (1 &<< UInt64(truncatingIfNeeded: queued &- 22)) &- 1
    queued &-= 32
    if next <= last {
      // After an overflow there is no byte that this carry belongs to.
      if chunk &>> 32 != 0 { Self.carry(before: next) }
      let word = UInt32(truncatingIfNeeded: chunk).bigEndian
      UnsafeMutableRawPointer(next).storeBytes(of: word, as: UInt32.self)
      next += 4
    }
  }

  /// Adds one to the big-endian number that ends before an address. It never overflows, since the
  /// codeword is a fraction below one.
  ///
  /// - Parameter position: the address after the number's last byte.
  @usableFromInline @inline(never) static func carry(before position: UnsafeMutablePointer<UInt8>) {
    var byte = position - 1
    while byte.pointee == 0xFF {
      byte.pointee = 0
      byte -= 1
    }
    byte.pointee &+= 1
  }

  /// Encodes bin 1 by EncodeTerminate (9.3.4.5), and flushes the engine. The last bit is 1, which
  /// is rbsp_stop_one_bit at the end of a slice; the rest of the last byte is zero. `next` is the
  /// end of the data then.
  public mutating func terminate() {
    range &-= 2
    low = (low &+ UInt64(range)) &<< 7
    queued &+= 7
    if queued >= 32 { drain() }
    // The queued bits and the top three bits of codILow, the last of which is 1.
    var count = queued &+ 3
    let bits = low &>> 7 | 1
    guard !overflowed else { return }
    if bits &>> UInt64(truncatingIfNeeded: count) != 0 { Self.carry(before: next) }
    while count > 0 {
      let shift = count &- 8
      next.pointee = UInt8(
        truncatingIfNeeded: shift >= 0
          ? bits &>> UInt64(truncatingIfNeeded: shift) : bits &<< UInt64(truncatingIfNeeded: -shift))
      next += 1
      count = shift
    }
  }

  /// Begins again after the samples of I_PCM (9.3.1.2). Context variables are kept.
  ///
  /// - Parameter position: the address of the first byte.
  public mutating func restart(at position: UnsafeMutablePointer<UInt8>) {
    low = 0
    range = 510
    queued = -1
    next = position
  }
}
