// SPDX-License-Identifier: Apache-2.0
import Testing

/// The share of a first picture of the rate and of the delay bound.
@Suite struct KeyFrameShareTests {
  private func run(rate: Int, frameRate: Double, bound: Double, bin: Int)
    -> LowLatencyRateControlTests.Outcome
  {
    var c = LowLatencyRateControlTests.settings(rate: rate, frameRate: frameRate)
    c.maximumQueueDelay = bound
    let pictures = (0..<30).map { n in LowLatencyRateControlTests.picture(bin: n == 0 ? bin : 15) }
    return LowLatencyRateControlTests.run(pictures, c)
  }

  @Test(
    "Where half of the bound is little more than two frames' shares, a key frame has three",
    arguments: [8.0, 10])
  func aKeyFrameHasThreeSharesWhereTheBoundIsShort(_ frameRate: Double) {
    let rate = 300_000
    let outcome = run(rate: rate, frameRate: frameRate, bound: 0.5, bin: 24)
    let shares = outcome.bits[0] * frameRate / Double(rate)
    #expect(shares > min(2.7, 0.63 * 0.5 * frameRate), "\(shares)")
    #expect((outcome.waits.max() ?? 1) <= 0.5)
  }

  @Test("A key frame that could be very fine leaves the rate to what follows")
  func aKeyFrameThatCouldBeVeryFineLeavesTheRateToWhatFollows() {
    let (rate, frameRate) = (1_500_000, 30.0)
    let outcome = run(rate: rate, frameRate: frameRate, bound: 0.5, bin: 16)
    // Half of the bound is seven and a half shares.
    let shares = outcome.bits[0] * frameRate / Double(rate)
    #expect(outcome.qp[0] > 12 && shares < 5, "QP \(outcome.qp[0]), \(shares) shares")
    // And a difficult one has them.
    let difficult = run(rate: rate, frameRate: frameRate, bound: 0.5, bin: 26)
    #expect(
      difficult.bits[0] * frameRate / Double(rate) > 5, "\(difficult.bits[0] * frameRate / Double(rate))")
  }
}
