// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// A rate that a network sets: with every few frames, and with a hard limit beside it.
@Suite struct NetworkRateTests {
  private static let frameRate = 30.0
  private static let rate = 900_000.0

  /// Pictures that differ, as those of films do.
  private static func pictures(_ count: Int) -> [RateControllerTests.Picture] {
    (0..<count).map { n in
      var picture = RateControllerTests.picture(
        bin: n == 0 ? 20 : 15, factor: [1.5, 0.6, 1.1, 0.7, 1.3, 0.8, 1.0][n % 7])
      picture.novelty = 0.3
      return picture
    }
  }

  private static func configuration(_ rate: Double, limit: Double?) -> EncoderConfiguration {
    var c = RateControllerTests.configuration(rate: Int(rate), frameRate: frameRate)
    if let limit { c.dataRateLimits = [.init(bytes: Int(limit * 0.25 / 8), seconds: 0.25)] }
    return c
  }

  /// What comes of the rate in the mean of the last two thirds.
  private static func used(_ outcome: RateControllerTests.Outcome, _ rates: [Double]) -> Double {
    let from = rates.count / 3
    return RateControllerTests.mean(outcome.bits[from...]) * frameRate
      / RateControllerTests.mean(rates[from...])
  }

  // A quarter of a second may hold eight frames at 30 a second: with a limit equal to the rate there is room for 15 sixteenths of it.
  @Test(
    "A limit does not hold the rate down further than it says",
    arguments: [(1.18, 0.96), (1.07, 0.87), (1.0, 0.8)])
  func limitAbove(_ limit: Double, _ least: Double) {
    let c = Self.configuration(Self.rate, limit: Self.rate * limit)
    let outcome = RateControllerTests.run(Self.pictures(300), c)
    let used = Self.used(outcome, .init(repeating: Self.rate, count: 300))
    #expect(used > least && used < 1.01, "\(used)")
    for n in 8..<300 {
      #expect(outcome.bits[n - 7...n].reduce(0, +) <= Self.rate * limit * 0.25 + 1, "\(n)")
    }
  }

  @Test("A cut within a limit takes what the limit leaves, and not half of it")
  func cut() {
    var pictures = Self.pictures(200)
    for n in [100, 150] {
      pictures[n].isNew = true
      pictures[n].residual = RateControllerTests.picture(bin: 20).residual
    }
    let outcome = RateControllerTests.run(pictures, Self.configuration(Self.rate, limit: Self.rate * 1.1))
    let share = Self.rate / Self.frameRate
    for n in [100, 150] { #expect(outcome.bits[n] > share, "\(outcome.bits[n] / share)") }
  }

  @Test(
    "A rate that changes a little with every second frame is used",
    arguments: [(nil, 0.95), (1.3, 0.95), (1.0, 0.79)])
  func smallChanges(_ limit: Double?, _ least: Double) {
    var rates: [Double] = []
    for n in 0..<300 { rates.append(n % 2 == 1 ? rates[n - 1] : Self.rate * (1 + 0.03 * Double(n % 5 - 2))) }
    let outcome = RateControllerTests.run(
      Self.pictures(300), Self.configuration(rates[0], limit: limit.map { $0 * Self.rate }),
      change: { n, controller in
        controller.reconfigure(Self.configuration(rates[n], limit: limit.map { $0 * Self.rate }))
        return rates[n]
      })
    let used = Self.used(outcome, rates)
    #expect(used > least && used < 1.02, "\(used)")
  }

  @Test("A rate that falls in small steps is kept as one that falls at once")
  func ramp() {
    let rates = (0..<200).map { n in Self.rate * max(1 - 0.05 * Double(max(n - 100, 0)), 0.35) }
    let outcome = RateControllerTests.run(
      Self.pictures(200), Self.configuration(rates[0], limit: nil),
      change: { n, controller in
        controller.reconfigure(Self.configuration(rates[n], limit: nil))
        return rates[n]
      })
    let excess =
      RateControllerTests.mean(outcome.bits[100..<120]) * Self.frameRate
      / RateControllerTests.mean(rates[100..<120])
    #expect(excess < 1.1, "\(excess)")
    #expect(outcome.waits[100...].max() ?? 1 < 0.3)
  }
}
