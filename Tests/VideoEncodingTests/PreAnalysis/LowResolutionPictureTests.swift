// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import VideoEncoding

@Suite("Pictures at half size")
struct LowResolutionPictureTests {
  /// Threads fill in rows in any order, so that no row may read what another one writes.
  @Test(
    "Rows that are filled in from below are those that are filled in from above",
    arguments: [(24, 113), (33, 97), (17, 17), (64, 48), (40, 130), (16, 16), (46, 33)])
  func order(width: Int, height: Int) {
    var memory = EncoderMemory()
    let geometry = PictureGeometry(width: width, height: height)
    let luma = memory.allocate(UInt8.self, count: width * height)
    for i in 0..<width * height { luma[i] = UInt8(truncatingIfNeeded: i &* i &+ i / width * 29) }
    let source = SourcePicture(
      width: width, height: height, luma: luma, lumaBytesPerRow: width,
      chroma: .interleaved(luma, bytesPerRow: width))
    let forward = LowResolutionPicture(geometry, memory: &memory)
    let backward = LowResolutionPicture(geometry, memory: &memory)
    for row in 0..<geometry.heightInMbs { forward.fill(source, row: row) }
    for row in (0..<geometry.heightInMbs).reversed() { backward.fill(source, row: row) }
    for y in 0..<forward.height {
      for x in 0..<forward.width {
        // The mean of four samples; beyond the picture, and below the last line of an odd height,
        // the last line counts again.
        let top = min(2 * y, height - 1) / 2 * 2
        let left = min(x, width / 2 - 1) * 2
        let below = min(top + 1, height - 1)
        let sum = [
          luma[top * width + left], luma[top * width + left + 1], luma[below * width + left],
          luma[below * width + left + 1],
        ].reduce(2) { $0 + Int($1) }
        let expected = UInt8(sum >> 2)
        guard forward.luma[y * forward.stride + x] == expected,
          backward.luma[y * backward.stride + x] == expected
        else {
          Issue.record(
            "\(x), \(y): \(forward.luma[y * forward.stride + x]) and \(backward.luma[y * backward.stride + x])"
          )
          return
        }
      }
    }
  }
}
