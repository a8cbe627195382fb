// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// The arithmetic encoder of 9.3.4.
///
/// `low` holds the 10 bits of the standard's codILow and above them the bits that are due for output; 32 at
/// a time go to memory. A carry out of them is added to the bytes already written. Hot functions copy
/// the engine into a local value and back so that its fields stay in registers.
struct CABACEngine {
  private(set) var low: UInt64 = 0
  private var range: UInt32 = 510
  /// Bits above the lowest ten of `low`; -1 at the start, since the first bit, always 0, is not written.
  private var queued = -1
  private(set) var next: UnsafeMutablePointer<UInt8>
  /// The last place that takes four bytes.
  private let last: UnsafeMutablePointer<UInt8>
  /// pStateIdx << 1 | valMPS of each ctxIdx.
  let contexts: UnsafeMutablePointer<UInt8>

  init(
    contexts: UnsafeMutablePointer<UInt8>, at next: UnsafeMutablePointer<UInt8>,
    end: UnsafeMutablePointer<UInt8>
  ) {
    self.contexts = contexts
    self.next = next
    // Eight bytes stay free for `terminate`.
    last = end - 12
  }

  /// What did not fit was not written.
  @inline(__always) var overflowed: Bool { next > last }

  /// Bits since `start`, as if the engine were flushed here without the stop bit.
  @inline(__always) func bitCount(since start: UnsafeMutablePointer<UInt8>) -> Int {
    (next - start) &* 8 &+ queued &+ 2
  }

  /// EncodeDecision: `bin` is 0 or 1.
  @inline(__always) mutating func encode(_ bin: UInt32, _ context: Int) {
    let state = Int(contexts[context])
    let entry = UInt32(ovt_cabac_ranges()![(state >> 1) &* 4 &+ Int(truncatingIfNeeded: range &>> 6 & 3)])
    let isLPS = UInt32(truncatingIfNeeded: state & 1) ^ bin
    contexts[context] = ovt_cabac_transitions()![state &* 2 &+ Int(truncatingIfNeeded: isLPS)]
    let rangeLPS = entry & 0xFF
    let rangeMPS = range &- rangeLPS
    let mask = 0 &- isLPS
    low &+= UInt64(rangeMPS & mask)
    // An MPS leaves 128 and more, so it shifts by 1 at the most; the table has an LPS's shift.
    let shift = isLPS != 0 ? entry &>> 8 : (rangeMPS &>> 8) ^ 1
    range = (isLPS != 0 ? rangeLPS : rangeMPS) &<< shift
    low = low &<< UInt64(truncatingIfNeeded: shift)
    queued &+= Int(truncatingIfNeeded: shift)
    if queued >= 32 { drain() }
  }

  /// EncodeBypass for `count` bins (0...16), the first in the highest bit of `bins`.
  @inline(__always) mutating func bypass(_ bins: UInt32, _ count: Int) {
    low = low &<< UInt64(truncatingIfNeeded: count) &+ UInt64(bins) &* UInt64(range)
    queued &+= count
    if queued >= 32 { drain() }
  }

  /// EncodeTerminate with bin 0.
  @inline(__always) mutating func continueSlice() {
    range &-= 2
    let shift = (range &>> 8) ^ 1
    range = range &<< shift
    low = low &<< UInt64(shift)
    queued &+= Int(truncatingIfNeeded: shift)
    if queued >= 32 { drain() }
  }

  @inline(__always) private mutating func drain() {
    let chunk = low &>> UInt64(truncatingIfNeeded: queued &- 22)
    low &= (1 &<< UInt64(truncatingIfNeeded: queued &- 22)) &- 1
    queued &-= 32
    if next <= last {
      // After an overflow there is nothing in front that this carry belongs to.
      if chunk &>> 32 != 0 { Self.carry(before: next) }
      let word = UInt32(truncatingIfNeeded: chunk).bigEndian
      UnsafeMutableRawPointer(next).storeBytes(of: word, as: UInt32.self)
      next += 4
    }
  }

  /// Adds one to the number that ends before `position`. It never overflows: the codeword is a fraction
  /// below one.
  @inline(never) private static func carry(before position: UnsafeMutablePointer<UInt8>) {
    var byte = position - 1
    while byte.pointee == 0xFF {
      byte.pointee = 0
      byte -= 1
    }
    byte.pointee &+= 1
  }

  /// EncodeTerminate with bin 1 and EncodeFlush. The last bit written is 1: rbsp_stop_one_bit at the end of
  /// a slice. Fills the last byte with zeros; `next` is then the end.
  mutating func terminate() {
    range &-= 2
    low = (low &+ UInt64(range)) &<< 7
    queued &+= 7
    if queued >= 32 { drain() }
    // The queued bits and the top three of codILow, the last of them 1.
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

  /// Starts again behind PCM samples (9.3.1.2); the contexts stay.
  mutating func restart(at position: UnsafeMutablePointer<UInt8>) {
    low = 0
    range = 510
    queued = -1
    next = position
  }

  /// Sets the contexts for a slice (9.3.1.1).
  func initialiseContexts(column: Int, qp: Int) {
    let table = ovt_cabac_init(Int32(truncatingIfNeeded: column))!
    let qp = Int32(truncatingIfNeeded: max(0, min(qp, 51)))
    for i in 0..<Self.contextCount {
      let m = Int32(table[i &* 2])
      let n = Int32(table[i &* 2 &+ 1])
      let state = max(1, min(126, (m &* qp) &>> 4 &+ n))
      contexts[i] = UInt8(truncatingIfNeeded: state <= 63 ? (63 &- state) &<< 1 : (state &- 64) &<< 1 | 1)
    }
  }

  static let contextCount = 460
}
