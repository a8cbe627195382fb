// SPDX-License-Identifier: Apache-2.0

/// candModeList of 8.4.2: the three most probable luma prediction modes of a block.
struct MostProbableModes: BitwiseCopyable {
  let first: Int
  let second: Int
  let third: Int

  /// - Parameters:
  ///   - map: the modes of the blocks around it.
  ///   - x: the position of the block in luma samples.
  ///   - y: the position of the block in luma samples.
  ///   - partIndex: the index of the block in a unit of four parts; 0 for a unit of one part.
  @inline(__always) init(_ map: PictureMap, _ x: Int, _ y: Int, partIndex part: Int) {
    let row = map.width &* 2
    let at = (y >> 2) &* row &+ (x >> 2)
    let left = x > 0 ? Int(map.lumaMode[at &- 1]) : 1
    // Above, modes of another row of coding tree units do not count.
    let above = y & 31 != 0 ? Int(map.lumaMode[at &- row]) : 1
    if left == above {
      if left < 2 {
        (first, second, third) = (0, 1, 26)
      } else {
        first = left
        second = 2 &+ ((left &+ 29) & 31)
        third = 2 &+ ((left &- 2 &+ 1) & 31)
      }
    } else {
      first = left
      second = above
      third = left != 0 && above != 0 ? 0 : left != 1 && above != 1 ? 1 : 26
    }
  }

  /// How a mode is coded: -1, -2 or -3 for mpm_idx 0, 1 or 2; otherwise rem_intra_luma_pred_mode.
  @inline(__always) func code(_ mode: Int) -> Int {
    if mode == first { return -1 }
    if mode == second { return -2 }
    if mode == third { return -3 }
    var result = mode
    if mode > first { result &-= 1 }
    if mode > second { result &-= 1 }
    if mode > third { result &-= 1 }
    return result
  }

  /// An estimate of the bits of a mode.
  @inline(__always) func bits(_ mode: Int) -> Int {
    mode == first ? 2 : mode == second || mode == third ? 3 : 6
  }
}
