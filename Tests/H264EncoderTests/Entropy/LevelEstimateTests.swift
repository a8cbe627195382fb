// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import Testing

@testable import H264Encoder

@Suite struct LevelEstimateTests {
  /// A macroblock that is not looked at more closely, since its levels are too small, is none that
  /// the estimate would send as samples.
  @Test(arguments: [false, true]) func theEstimateStaysWithinItsBound(cabac: Bool) {
    var random = TestRandom(17)
    var closest = Int.max
    for round in 0..<4_000 {
      let share = random.int(1...100)
      let largest = [1, 2, 3, 6, 14, 15, 16, 18, 40, 300, 2_063][round % 11]
      var levels = [Int16](repeating: 0, count: LevelLayout.count)
      for i in levels.indices where random.int(1...100) <= share {
        levels[i] = Int16((random.int(0...1) * 2 - 1) * (round % 3 == 0 ? largest : random.int(1...largest)))
      }
      let magnitudes = levels.reduce(0) { $0 + Int($1.magnitude) }
      #expect(Int(ovt_sum_magnitudes(levels, Int32(levels.count))) == magnitudes)
      var estimate = LevelEstimate()
      for at in stride(from: 0, to: levels.count, by: 16) {
        levels.withUnsafeBufferPointer { estimate.add($0.baseAddress! + at, 16) }
      }
      let coded = levels.count { $0 != 0 }
      let bound = LevelEstimate.bound(magnitudes: magnitudes, coded: coded, cabac: cabac)
      let bits = estimate.bits(cabac: cabac)
      #expect(bits <= Double(bound), "share \(share), largest \(largest)")
      closest = min(closest, bound - Int(bits))
    }
    // It says something: it is not far from what levels of one take.
    #expect(closest < 600)
  }

  /// The least of all numbers is a magnitude too.
  @Test func theLeastNumberCountsAsAMagnitude() {
    let levels = [Int16](repeating: .min, count: 16)
    let sum = Int(ovt_sum_magnitudes(levels, 16))
    #expect(sum == 16 * 32_767 || sum == 16 * 32_768)
  }
}
