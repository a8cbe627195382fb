// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// Tables of the order of levels in a transform block (6.5.3 to 6.5.5) and of their contexts.
struct ScanTables: BitwiseCopyable {
  /// ctxIdxMap of 9.3.4.2.5 for 4x4 blocks, then by the pattern of coded neighbouring groups (right
  /// 1, below 2), 16 positions each.
  let significance: UnsafeMutablePointer<UInt8>
  /// The positions in a 4x4 sub-block as row * 4 + column, indexed by [scanIdx][scan position].
  let places: UnsafeMutablePointer<UInt8>
  /// The positions of sub-blocks in a transform block as row * 8 + column, indexed by
  /// [scanIdx][log2Size - 2][scan position].
  let groupPlaces: UnsafeMutablePointer<UInt8>

  /// By [scan][pattern of coded neighbouring groups][value of `significance`]: the positions of a
  /// group in blocks above 4x4 that have the value, a bit each.
  let patterns: UnsafeMutablePointer<UInt32>

  init(memory: inout EncoderMemory) {
    significance = memory.allocate(UInt8.self, count: 80)
    places = memory.allocate(UInt8.self, count: 48)
    groupPlaces = memory.allocate(UInt8.self, count: 768)
    patterns = memory.allocate(UInt32.self, count: 3 * 4 * 3)
    withUnsafeBytes(of: ovt_hevc_scan4x4) {
      UnsafeMutableRawBufferPointer(start: places, count: 48).copyBytes(from: $0)
    }
    withUnsafeBytes(of: ovt_hevc_scan_groups) {
      UnsafeMutableRawBufferPointer(start: groupPlaces, count: 768).copyBytes(from: $0)
    }
    let map: [UInt8] = [0, 1, 4, 5, 2, 3, 4, 5, 6, 6, 8, 8, 7, 7, 8, 8]
    for i in 0..<16 { significance[i] = map[i] }
    for y in 0..<4 {
      for x in 0..<4 {
        let at = 16 + y * 4 + x
        significance[at] = x + y == 0 ? 2 : x + y < 3 ? 1 : 0
        significance[at + 16] = y == 0 ? 2 : y == 1 ? 1 : 0
        significance[at + 32] = x == 0 ? 2 : x == 1 ? 1 : 0
        significance[at + 48] = 2
      }
    }
    for i in 0..<36 { patterns[i] = 0 }
    for scan in 0..<3 {
      for pattern in 0..<4 {
        for position in 0..<16 {
          let value = Int(significance[16 + 16 * pattern + Int(places[scan * 16 + position])])
          patterns[(scan * 4 + pattern) * 3 + value] |= 1 << UInt32(position)
        }
      }
    }
  }
}
