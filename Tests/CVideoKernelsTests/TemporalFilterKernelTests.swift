// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Testing

/// Compares the kernels of the temporal filter with a floating-point implementation.
@Suite struct TemporalFilterKernelTests {
  private var random = SystemRandomNumberGenerator()

  private mutating func samples(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  @Test(arguments: [(16, 16), (8, 8), (5, 3)])
  mutating func interpolatesWithTheTapsOfBothDirections(_ width: Int, _ height: Int) {
    let source = samples(32 * 32)
    let taps: [[Int8]] = [
      [0, 0, 0, 64, 0, 0, 0, 0], [-1, 4, -10, 58, 17, -5, 1, 0], [-1, 4, -11, 40, 40, -11, 4, -1],
    ]
    for xTaps in taps {
      for yTaps in taps {
        var output = [UInt8](repeating: 0, count: 256)
        source.withUnsafeBufferPointer { source in
          guard let base = source.baseAddress else { return }
          ovt_interpolate_8(&output, 16, base + 4 * 32 + 4, 32, Int32(width), Int32(height), xTaps, yTaps)
        }
        for y in 0..<height {
          for x in 0..<width {
            var sum = 0
            for j in 0..<8 {
              for i in 0..<8 {
                sum += Int(yTaps[j]) * Int(xTaps[i]) * Int(source[(y + 1 + j) * 32 + x + 1 + i])
              }
            }
            let expected = min(max(Int((Double(sum) / 4096 + 0.5).rounded(.down)), 0), 255)
            #expect(Int(output[16 * y + x]) == expected)
          }
        }
      }
    }
  }

  @Test(arguments: [(0, 256), (1, 256), (20, 256), (40, 100), (255, 7)])
  mutating func weighsByTheBiweightOfTheDifference(_ limit: Int, _ weight: Int) {
    let source = samples(16 * 16)
    // References that are near, so that many differences are below the limit.
    let references = (0..<3).map { _ in
      source.map { UInt8(clamping: Int($0) + Int.random(in: -30...30, using: &random)) }
    }
    var sums = [Int32](repeating: -1, count: 256)
    var weights = sums
    var output = [UInt8](repeating: 0, count: 256)
    ovt_temporal_start_8(&sums, &weights, source, 16, 16, 16)
    for reference in references {
      ovt_temporal_add_8(&sums, &weights, source, 16, reference, 16, 16, 16, Int32(limit), Int32(weight))
    }
    ovt_temporal_finish_8(&output, 16, sums, weights, 16, 16)
    for i in 0..<256 {
      var sum = 256 * Double(source[i])
      var total = 256.0
      for reference in references {
        let d = Double(source[i]) - Double(reference[i])
        let t = max(0, 1 - d * d / Double(max(limit * limit, 1)))
        let w = limit == 0 ? 0 : Double(weight) * t * t
        sum += w * Double(reference[i])
        total += w
      }
      // The kernel's weights are whole numbers of 256.
      #expect(abs(Double(output[i]) - sum / total) < 0.5 + 0.6)
      #expect(Int(output[i]) == (Int(sums[i]) + Int(weights[i]) / 2) / Int(weights[i]))
      #expect(abs(Double(weights[i]) - total) <= 3 * 5)
    }
  }

  @Test func everyQuotientIsRoundedExactly() {
    for weight in [256, 257, 511, 777, 1023, 1536, 4095] {
      for sum in stride(from: 0, through: 255 * weight, by: 1) {
        var output = [UInt8](repeating: 0, count: 1)
        ovt_temporal_finish_8(&output, 1, [Int32(sum)], [Int32(weight)], 1, 1)
        if Int(output[0]) != (sum + weight / 2) / weight {
          Issue.record("\(sum) / \(weight) is \(output[0])")
          return
        }
      }
    }
  }
}
