// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The arithmetic decoder of CABAC, step by step as H.264 has it (9.3.3.2) and H.265 (9.3.4.3).
struct CABACDecoder {
  private let bytes: [UInt8]
  private var position = 0
  private var range = 510
  private var offset = 0
  /// pStateIdx and valMPS of each context variable.
  private(set) var contexts: [(state: Int, maxProbable: Int)]

  /// Table 9-45, the column of transIdxLPS.
  private static let afterLeastProbable = [
    0, 0, 1, 2, 2, 4, 4, 5, 6, 7, 8, 9, 9, 11, 11, 12, 13, 13, 15, 15, 16, 16, 18, 18, 19, 19, 21, 21, 22, 22,
    23, 24, 24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30, 31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36,
    36,
    36, 37, 37, 37, 38, 38, 63,
  ]

  init(_ bytes: [UInt8], contexts: [(state: Int, maxProbable: Int)]) {
    self.bytes = bytes
    self.contexts = contexts
    for _ in 0..<9 { offset = offset << 1 | nextBit() }
  }

  private mutating func nextBit() -> Int {
    // A decoder may read up to nine bits beyond the last bin's.
    let byte = position / 8 < bytes.count ? bytes[position / 8] : 0
    let bit = Int(byte) >> (7 - position % 8) & 1
    position += 1
    return bit
  }

  private mutating func renormalise() {
    while range < 256 {
      range <<= 1
      offset = offset << 1 | nextBit()
    }
  }

  mutating func decide(_ context: Int) -> UInt32 {
    var (state, maxProbable) = contexts[context]
    let minRange = Int(ovt_cabac_ranges()![state * 4 + (range >> 6 & 3)] & 0xFF)
    range -= minRange
    let bin: Int
    if offset >= range {
      bin = 1 - maxProbable
      offset -= range
      range = minRange
      if state == 0 { maxProbable = 1 - maxProbable }
      state = Self.afterLeastProbable[state]
    } else {
      bin = maxProbable
      state = state < 62 ? state + 1 : state
    }
    contexts[context] = (state, maxProbable)
    renormalise()
    return UInt32(bin)
  }

  mutating func bypass(_ count: Int) -> UInt32 {
    var bins: UInt32 = 0
    for _ in 0..<count {
      offset = offset << 1 | nextBit()
      bins <<= 1
      if offset >= range {
        bins |= 1
        offset -= range
      }
    }
    return bins
  }

  mutating func terminate() -> Bool {
    range -= 2
    if offset >= range { return true }
    renormalise()
    return false
  }
}
