// SPDX-License-Identifier: Apache-2.0

/// Moving pictures, mixed with blocks of 8x8 samples of random colours, which are others in each
/// picture: visible structure that no prediction can know.
struct BlockNoise {
  let width: Int
  let height: Int

  /// A picture with noise, or without.
  func frame(_ n: Int, isNoisy: Bool) -> PlanarFrame {
    var frame = SyntheticContent(kind: .motion, width: width, height: height, seed: 5).frame(n)
    guard isNoisy else { return frame }
    var state = UInt32(truncatingIfNeeded: 7919 &* n &+ 1)
    func mix(_ plane: inout [UInt8], _ width: Int, block: Int) {
      let columns = (width + block - 1) / block
      var levels = [Int](repeating: 0, count: columns)
      for y in 0..<plane.count / width {
        if y % block == 0 {
          for column in 0..<columns {
            state = state &* 1_664_525 &+ 1_013_904_223
            levels[column] = Int(state >> 24)
          }
        }
        for x in 0..<width {
          plane[y * width + x] = UInt8((Int(plane[y * width + x]) + levels[x / block]) / 2)
        }
      }
    }
    mix(&frame.y, width, block: 8)
    mix(&frame.u, frame.chromaWidth, block: 4)
    mix(&frame.v, frame.chromaWidth, block: 4)
    return frame
  }
}
