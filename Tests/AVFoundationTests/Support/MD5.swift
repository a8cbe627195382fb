// SPDX-License-Identifier: Apache-2.0
import Foundation

/// RFC 1321, to compare with ffmpeg's sums.
func md5(_ data: Data) -> String {
  let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
  let table = (0..<64).map { UInt32(truncatingIfNeeded: Int64(abs(sin(Double($0 + 1))) * 4_294_967_296)) }
  var message = [UInt8](data)
  let bits = UInt64(message.count) * 8
  message.append(0x80)
  while message.count % 64 != 56 { message.append(0) }
  message.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) })
  var state: (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476)
  message.withUnsafeBytes { bytes in
    var words = [UInt32](repeating: 0, count: 16)
    for block in stride(from: 0, to: bytes.count, by: 64) {
      for index in 0..<16 {
        words[index] = bytes.loadUnaligned(fromByteOffset: block + 4 * index, as: UInt32.self)
      }
      var (a, b, c, d) = state
      for index in 0..<64 {
        let mix: UInt32
        let word: Int
        switch index / 16 {
        case 0: (mix, word) = (b & c | ~b & d, index)
        case 1: (mix, word) = (d & b | ~d & c, (5 * index + 1) % 16)
        case 2: (mix, word) = (b ^ c ^ d, (3 * index + 5) % 16)
        default: (mix, word) = (c ^ (b | ~d), 7 * index % 16)
        }
        let sum = a &+ mix &+ table[index] &+ words[word]
        let shift = shifts[index / 16 * 4 + index % 4]
        (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
      }
      state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d)
    }
  }
  return [state.0, state.1, state.2, state.3].map { word in
    (0..<4).map { String(format: "%02x", word >> (8 * $0) & 0xff) }.joined()
  }.joined()
}
