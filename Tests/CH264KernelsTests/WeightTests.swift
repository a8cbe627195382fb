// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import KernelTestSupport
import Testing

@Suite struct WeightTests {
  /// 8.4.2.3.2 (8-299) with weights and offsets for each list, luma and NV12.
  @Test func predictionsOfTwoPicturesByTables() {
    var random = Random(77)
    for width in [8, 16] {
      for shift in 0...7 {
        for _ in 0..<12 {
          let a = (0..<16 * 16).map { _ in UInt8(random.int(0...255)) }
          let b = (0..<16 * 16).map { _ in UInt8(random.int(0...255)) }
          let pairs = (0..<2).map { _ in
            OVTPairWeight(
              w0: Int32(random.int(-128...127)), w1: Int32(random.int(-128...127)),
              o: Int32((random.int(-128...127) + random.int(-128...127) + 1) >> 1))
          }
          func expected(_ i: Int, _ w: OVTPairWeight) -> Int {
            clip1(((Int(a[i]) * Int(w.w0) + Int(b[i]) * Int(w.w1) + (1 << shift)) >> (shift + 1)) + Int(w.o))
          }
          var luma = [UInt8](repeating: 7, count: 16 * 20)
          var chroma = luma
          ovt_weigh_pair(&luma, 20, a, b, 16, Int32(width), 16, Int32(shift), pairs[0])
          ovt_weigh_pair_nv12(&chroma, 20, a, b, 16, Int32(width), 16, Int32(shift), pairs[0], pairs[1])
          for y in 0..<16 {
            for x in 0..<20 {
              let i = y * 16 + x
              #expect(Int(luma[y * 20 + x]) == (x < width ? expected(i, pairs[0]) : 7))
              #expect(Int(chroma[y * 20 + x]) == (x < width ? expected(i, pairs[x & 1]) : 7))
            }
          }
        }
      }
    }
  }

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
