// SPDX-License-Identifier: Apache-2.0
import BenchmarkSupport

extension ClipPictures {
  /// Ten seconds that are difficult for a rate control: still pictures, scene changes, flashes,
  /// temporary noise and fast motion.
  static func torture(width: Int = 640, height: Int = 360) throws -> ClipPictures {
    let size = width * height
    let side = 1024
    var state: UInt32 = 7
    // Value noise with two octaves.
    var texture = [UInt8](repeating: 0, count: side * side)
    var grid = [Int](repeating: 0, count: 128 * 128)
    for i in grid.indices {
      state = state &* 1_664_525 &+ 1_013_904_223
      grid[i] = Int(state >> 24)
    }
    for y in 0..<side {
      for x in 0..<side {
        let coarse = grid[(y / 32) * 128 + x / 32]
        let fine = grid[(y / 8 % 128) * 128 + x / 8 % 128]
        texture[y * side + x] = UInt8((coarse * 3 + fine) / 4)
      }
    }
    return try ClipPictures(name: "torture", width: width, height: height, frameRate: 30, count: 300) {
      n, memory in
      let second = n / 30
      let isNoisy = second == 4 || second == 7
      let moves = second >= 1 && second != 9
      // Scene changes at 2 s, 3 s and 7 s, and four in the second that starts at 6 s.
      let scene = second < 2 ? 0 : second < 3 ? 1 : second < 6 ? 2 : second == 6 ? 3 + n % 30 / 8 : 7
      let speed = second == 5 ? 11 : 2
      let left = (scene * 137 + (moves ? n * speed : 30 * speed)) % (side - width)
      let top = (scene * 71 + (moves ? n : 30)) % (side - height)
      let flash = second == 8 && n % 10 == 3 ? 60 : 0
      for y in 0..<height {
        for x in 0..<width {
          var value = Int(texture[(y + top) * side + x + left]) + flash
          if isNoisy {
            state = state &* 1_664_525 &+ 1_013_904_223
            value += Int(state >> 26) - 32
          }
          memory[y * width + x] = UInt8(max(0, min(255, value)))
        }
      }
      for i in size..<(size * 3 / 2) { memory[i] = 128 }
    }
  }
}
