// SPDX-License-Identifier: Apache-2.0
import Testing

/// Queueing that brings no quality.
@Suite struct RateQueueTests {
  @Test("Pictures of which every fourth takes most keep to the rate, and the queue short")
  func unevenPicturesKeepToTheRateAndTheQueueShort() {
    let pictures = (0..<600).map { n -> LowLatencyRateControlTests.Picture in
      var picture = LowLatencyRateControlTests.picture(bin: n == 0 ? 20 : 14, factor: n % 4 == 0 ? 3 : 0.3)
      picture.novelty = 0.2
      return picture
    }
    var c = LowLatencyRateControlTests.settings(rate: 700_000)
    c.maximumQueueDelay = 0.5
    let outcome = LowLatencyRateControlTests.run(pictures, c)
    #expect(LowLatencyRateControlTests.mean(outcome.waits[300...]) < 0.13)
    #expect(abs(LowLatencyRateControlTests.mean(outcome.bits[300...]) * 30 / 700_000 - 1) < 0.02)
  }

  @Test("Bits left over by an easy scene are used, but no queue remains afterwards", arguments: [0.3, 0.5])
  func whatAnEasySceneLeftOverIsUsed(_ bound: Double) {
    let pictures = (0..<450).map { n -> LowLatencyRateControlTests.Picture in
      var picture = LowLatencyRateControlTests.picture(bin: n == 0 ? 20 : n < 90 ? 2 : 15)
      picture.novelty = 0.5
      return picture
    }
    var c = LowLatencyRateControlTests.settings(rate: 700_000)
    c.maximumQueueDelay = bound
    let outcome = LowLatencyRateControlTests.run(pictures, c)
    // The scene before is easy: even at the lowest QP it does not fill the line.
    #expect(LowLatencyRateControlTests.mean(outcome.bits[30..<90]) * 30 < 0.7 * 700_000)
    #expect((outcome.waits[90..<150].max() ?? 0) > 0.4 * bound)
    let mean = LowLatencyRateControlTests.mean(outcome.waits[300...])
    #expect(mean < 0.3 * bound + 0.06, "\(mean)")
    #expect(abs(LowLatencyRateControlTests.mean(outcome.bits[300...]) * 30 / 700_000 - 1) < 0.02)
  }

  @Test("A still picture is not refined while more than 0.2 s of the rate waits")
  func aStillPictureIsNotRefinedWhileMuchWaits() {
    let pictures = (0..<60).map { n -> LowLatencyRateControlTests.Picture in
      var picture = LowLatencyRateControlTests.picture(bin: n == 0 ? 24 : 2)
      picture.isStill = n > 0
      return picture
    }
    var c = LowLatencyRateControlTests.settings(rate: 700_000, frameRate: 15)
    c.maximumQueueDelay = 1
    let outcome = LowLatencyRateControlTests.run(pictures, c)
    let (qp, waits) = (outcome.qp, outcome.waits)
    // As of the second still picture it is known that they take nothing.
    let waiting = (2..<60).filter { waits[$0 - 1] - 1.0 / 15 > 0.21 }
    #expect(!waiting.isEmpty)
    for n in waiting { #expect(qp[n] >= qp[n - 1], "\(n): \(qp)") }
    #expect(qp[30] < qp[1] - 5)
  }
}
