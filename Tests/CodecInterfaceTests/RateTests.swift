// SPDX-License-Identifier: Apache-2.0
import CodecInterface
import Testing

/// The common rate settings of all adapters.
@Suite struct RateModelTests {
  @Test(
    "No window of a limit can hold more than the bucket lets through", arguments: [0.5, 1, 2, 4],
    [0.7, 0.9, 1.5])
  func limits(seconds: Double, share: Double) throws {
    var rate = RateRequest()
    let limit = DataRateLimit(bytes: Int(250_000 * seconds), seconds: seconds)
    rate.limits = [limit, DataRateLimit(bytes: 3_000_000, seconds: 10)]
    rate.mode = .average(Int(2_000_000 * share))
    let model = try #require(rate.bufferModel)
    for limit in rate.limits {
      #expect(
        Double(model.size) + Double(model.maximumRate) * limit.seconds <= Double(limit.bytes) * 8)
    }
    #expect(model.maximumRate > 0 && model.size > 0)
  }

  @Test("A mode without a limit has no bucket; those with one have theirs")
  func modes() {
    var rate = RateRequest()
    #expect(rate.bufferModel == nil && rate.targetRate == nil)
    rate.mode = .average(1_000_000)
    #expect(rate.bufferModel == nil && rate.targetRate == 1_000_000)
    rate.mode = .constant(1_000_000)
    #expect(rate.bufferModel == BufferModel(maximumRate: 1_000_000, size: 500_000))
    rate.mode = .variable(1_000_000)
    #expect(rate.bufferModel == BufferModel(maximumRate: 2_000_000, size: 5_000_000))
    rate.maximumBitRate = 1_500_000
    rate.bufferDuration = 2
    rate.initialBufferFullness = 0.5
    #expect(
      rate.bufferModel == BufferModel(maximumRate: 1_500_000, size: 3_000_000, initialFullness: 0.5))
  }

  @Test(
    "A bucket of numbers at the ends of their types, and of none",
    arguments: [Int.min, -1, 0, 1, 1 << 62, .max], [Double.nan, .infinity, -.infinity, -1, 0, 1e-300, 1e300])
  func extremes(rate: Int, number: Double) {
    for mode in [RateRequest.Mode.average(rate), .constant(rate), .variable(rate), .quality(number)] {
      for maximum in [nil, rate] {
        for limits in [[], [DataRateLimit(bytes: rate, seconds: number)]] {
          var control = RateRequest()
          control.mode = mode
          control.maximumBitRate = maximum
          control.bufferDuration = number
          control.initialBufferFullness = number
          control.limits = limits
          if let model = control.bufferModel { #expect(model.size >= 1000) }
        }
      }
    }
  }

  @Test("Filler brings short frames up to the rate, within what the bucket holds")
  func filler() {
    var filler = ConstantRateFiller(bitsPerSecond: 1_000_000, capacity: 200_000)
    var sent = 0
    for n in 0..<300 {
      let bytes = n % 30 == 0 ? 9000 : 1500
      sent += bytes + (filler.bytesMissing(after: bytes, seconds: 1.0 / 30) ?? 0)
    }
    #expect(abs(Double(sent) * 8 - 10_000_000) < 210_000)
  }

  @Test("A frame has 4 MiB of filler at the most, and what is left after it is lost")
  func fillerOfAPause() throws {
    for seconds in [10_000, 1e300, .infinity] {
      var filler = ConstantRateFiller(bitsPerSecond: 1_000_000, capacity: 200_000)
      #expect(filler.bytesMissing(after: 1000, seconds: seconds) == 1 << 22)
      // The bits of its own time.
      let next = filler.bytesMissing(after: 1000, seconds: 1.0 / 30)
      #expect(next.map { (3000...3200).contains($0) } ?? false, "\(String(describing: next))")
    }
  }

  @Test("Frame rates in the form that standards prefer")
  func frameRates() {
    for (rate, numerator, denominator) in [
      (25.0, 25, 1), (29.97, 30000, 1001), (23.976, 24000, 1001), (59.94, 60000, 1001), (12.5, 12500, 1000),
      (0, 10, 1000), (1e9, 10000, 1), (.nan, 10, 1000), (.infinity, 10000, 1), (-.infinity, 10, 1000),
    ] {
      let ratio = FrameRateRatio(rate)
      #expect(Int(ratio.numerator) == numerator && Int(ratio.denominator) == denominator, "\(rate)")
    }
  }

  @Test("Preferences amount to an effort of 0 to 9")
  func effort() {
    var speed = SpeedPreference()
    let middle = speed.resolvedEffort
    speed.prefersSpeedOverQuality = true
    let fast = speed.resolvedEffort
    speed.savesPower = true
    #expect(speed.resolvedEffort < fast && fast < middle)
    speed.effort = 99
    #expect(speed.resolvedEffort == 9)
    speed.effort = -3
    #expect(speed.resolvedEffort == 0)
  }
}
