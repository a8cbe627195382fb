// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// Estimates of the bits of bins with context variables (9.3.4.3), in 256ths of a bit.
///
/// They are computed from the context variables at the end of the last picture of the same slice
/// type, or from their initial values (9.3.2.2) before the first one. The estimates are therefore
/// the same for all rows of a picture, and decisions do not depend on the number of threads.
struct ContextCosts: BitwiseCopyable {
  /// The bits of bin 0 and of bin 1 of each context variable, one after the other.
  let bins: UnsafeMutablePointer<Int32>
  /// The bits of last_sig_coeff_x_prefix and, from index `verticalPrefix` on, those of
  /// last_sig_coeff_y_prefix, indexed by block type (`prefixIndex`) plus prefix.
  private let prefixes: UnsafeMutablePointer<Int32>
  /// The context variables that the last picture of each slice type left.
  private let states: UnsafeMutablePointer<UInt8>
  /// Whether there was a picture of the slice type.
  private let isKnown: UnsafeMutablePointer<Bool>
  /// The bits of bin 0 and bin 1 by the value of a context variable.
  private let bitsOfState: UnsafeMutablePointer<Int32>

  private static let prefixCount = 10
  private static let verticalPrefix = 80

  init(memory: inout EncoderMemory) {
    bins = memory.allocate(Int32.self, count: 2 * Contexts.count)
    prefixes = memory.allocate(Int32.self, count: 2 * Self.verticalPrefix)
    states = memory.allocate(UInt8.self, count: 3 * Contexts.count)
    isKnown = memory.allocate(Bool.self, count: 3)
    for i in 0..<3 { (isKnown + i).initialize(to: false) }
    bitsOfState = memory.allocate(Int32.self, count: 256)
    for state in 0..<64 {
      // The probability of the less probable symbol is 0.5 * a^state with a^63 = 0.01875 / 0.5.
      let less = 1 + Double(state) * 4.736965594166206 / 63
      let more = 0 - log2Approx(1 - exp2Approx(0 - less))
      for mps in 0..<2 {
        let at = (state << 1 | mps) * 2
        bitsOfState[at + mps] = Int32((more * 256).rounded())
        bitsOfState[at + 1 - mps] = Int32((less * 256).rounded())
      }
    }
    load(.i, qp: 26)
  }

  private func index(_ kind: HEVCSliceKind) -> Int {
    switch kind {
    case .i: 0
    case .p: 1
    case .b: 2
    }
  }

  /// Sets the estimates for a picture.
  /// - Parameters:
  ///   - kind: slice_type.
  ///   - qp: SliceQpY.
  func load(_ kind: HEVCSliceKind, qp: Int) {
    let state = states + index(kind) * Contexts.count
    if !isKnown[index(kind)] { Contexts.reset(state, kind, qp: qp) }
    for i in 0..<Contexts.count {
      let from = Int(state[i] & 127) * 2
      bins[2 * i] = bitsOfState[from]
      bins[2 * i + 1] = bitsOfState[from + 1]
    }
    for isChroma in [false, true] {
      for log2Size in 2...5 {
        let offset = isChroma ? 15 : 3 * (log2Size - 2) + (log2Size - 1) >> 2
        let shift = isChroma ? log2Size - 2 : (log2Size + 1) >> 2
        let at = Self.prefixIndex(log2Size, isChroma: isChroma)
        for (base, to) in [(Contexts.lastX, at), (Contexts.lastY, at + Self.verticalPrefix)] {
          var sum: Int32 = 0
          for prefix in 0..<2 * log2Size {
            let context = base + offset + prefix >> shift
            // The longest prefix has no 0 behind it (9.3.3.2).
            let end = prefix < 2 * log2Size - 1 ? bits(0, context) : 0
            prefixes[to + prefix] = sum + Int32(end)
            sum += Int32(bits(1, context))
          }
        }
      }
    }
  }

  /// Keeps the context variables at the end of a picture.
  func store(_ kind: HEVCSliceKind, _ contexts: UnsafePointer<UInt8>) {
    (states + index(kind) * Contexts.count).update(from: contexts, count: Contexts.count)
    isKnown[index(kind)] = true
  }

  /// The bits of a bin, in 256ths.
  @inline(__always) func bits(_ bin: Int, _ context: Int) -> Int { Int(bins[2 &* context &+ bin]) }

  /// The first index in `prefixes` of blocks of a size.
  @inline(__always) private static func prefixIndex(_ log2Size: Int, isChroma: Bool) -> Int {
    ((isChroma ? 4 : 0) &+ log2Size &- 2) &* prefixCount
  }

  /// The bits of the position of the last level in scan order, in 256ths.
  @inline(__always) func lastBits(_ x: Int, _ y: Int, log2Size: Int, isChroma: Bool) -> Int {
    let at = Self.prefixIndex(log2Size, isChroma: isChroma)
    let (px, py) = (ResidualWriter.lastPrefix(x), ResidualWriter.lastPrefix(y))
    var sum = Int(prefixes[at &+ px]) &+ Int(prefixes[at &+ py &+ Self.verticalPrefix])
    if px > 3 { sum &+= ((px &>> 1) &- 1) &<< 8 }
    if py > 3 { sum &+= ((py &>> 1) &- 1) &<< 8 }
    return sum
  }
}
