// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Testing

@Suite struct WeightTests {
  /// 8.4.2.3.2 (8-299) with logWD 5, as implicit weights have it.
  @Test func predictionsOfTwoPictures() {
    var random = Random(31)
    for width in [8, 16] {
      for weight in [-64, -1, 0, 21, 43, 64, 65, 128] {
        let a = (0..<16 * 16).map { _ in UInt8(random.int(0...255)) }
        let b = (0..<16 * 16).map { _ in UInt8(random.int(0...255)) }
        var result = [UInt8](repeating: 7, count: 16 * 20)
        ovt_weigh_both(&result, 20, a, b, 16, Int32(width), 16, Int32(64 - weight), Int32(weight))
        for y in 0..<16 {
          for x in 0..<20 {
            let sum = x < 16 ? Int(a[y * 16 + x]) * (64 - weight) + Int(b[y * 16 + x]) * weight : 0
            #expect(Int(result[y * 20 + x]) == (x < width ? clip1((sum + 32) >> 6) : 7))
          }
        }
      }
    }
  }
}
