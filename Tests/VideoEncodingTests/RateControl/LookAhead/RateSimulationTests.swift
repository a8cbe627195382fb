// SPDX-License-Identifier: Apache-2.0
import Testing
import VideoBitstream

@testable import VideoEncoding

/// The rate control alone, over pictures that are only described: an hour takes seconds.
@Suite struct RateSimulationTests {
  /// A part of a stream whose pictures are alike.
  struct Part: Sendable {
    var seconds: Double
    /// The residual of a macroblock after inter and intra prediction, as SATD at half size.
    var inter: Double
    var intra: Double

    static func black(_ seconds: Double) -> Part { Part(seconds: seconds, inter: 0, intra: 0) }
    static func still(_ seconds: Double) -> Part { Part(seconds: seconds, inter: 0, intra: 900) }
    static func calm(_ seconds: Double) -> Part { Part(seconds: seconds, inter: 60, intra: 700) }
    static func busy(_ seconds: Double) -> Part { Part(seconds: seconds, inter: 300, intra: 900) }
  }

  private static let frameRate = 5.0
  private static let macroblocks = 920
  private static let lookAhead = 10

  private static func histogram(_ cost: Double) -> ResidualHistogram {
    var histogram = ResidualHistogram()
    let bin = min(max(Int(2 * log2Approx(cost + 1)), 0), ResidualHistogram.bins - 1)
    histogram.counts[bin] = Float(macroblocks)
    return histogram
  }

  /// The bits of a picture at a QP. A static picture takes what is finer than before.
  private static func bits(_ part: Part, qp: Double, isIntra: Bool, visibleQP: Double) -> Double {
    let intra = { BitModel.units(histogram(part.intra), qp: $0) * 300 }
    if isIntra { return intra(qp) + 100 }
    let finer = qp < visibleQP ? intra(qp) - intra(visibleQP) : 0
    return max(BitModel.units(histogram(part.inter), qp: qp) * 300, finer) + 100
  }

  private struct Outcome {
    /// Bits of all, and of each part.
    var bits = 0.0
    /// Mean QP of each part.
    var qps: [Double] = []
  }

  private static func simulate(
    _ parts: [Part], rate: Int, knowsLength: Bool = true, limits: [DataRateLimit] = [],
    lookAhead: Int = Self.lookAhead
  ) -> Outcome {
    var settings = LookAheadSettings(width: 640, height: 368, frameRate: frameRate)
    settings.rate = .average(rate)
    settings.dataRateLimits = limits
    settings.expectedDuration = knowsLength ? parts.reduce(0) { $0 + $1.seconds } : nil
    var control = LookAheadRateControl(settings)
    // Of each picture, its part, and whether a part begins with it.
    var pictures: [(part: Int, isIntra: Bool)] = []
    for (n, part) in parts.enumerated() {
      for i in 0..<Int(part.seconds * frameRate) { pictures.append((n, i == 0 || pictures.count % 250 == 0)) }
    }
    func forecast(_ picture: (part: Int, isIntra: Bool)) -> PictureForecast {
      let part = parts[picture.part]
      return PictureForecast(
        residual: histogram(picture.isIntra ? part.intra : part.inter),
        kind: picture.isIntra ? .intra : .predicted, duration: 1 / frameRate)
    }
    var outcome = Outcome(qps: [Double](repeating: 0, count: parts.count))
    var visibleQP = 51.0
    for (n, picture) in pictures.enumerated() {
      let upcoming = pictures[n..<min(n + lookAhead, pictures.count)].map(forecast)
      let part = parts[picture.part]
      let qp = control.plan(
        upcoming, intra: histogram(part.intra), isEnding: n + lookAhead >= pictures.count)
      let coded = qp + LookAheadRateControl.offsets[picture.isIntra ? 0 : 1]
      let taken = bits(part, qp: coded, isIntra: picture.isIntra, visibleQP: visibleQP)
      visibleQP = picture.isIntra || part.inter > 0 ? coded : min(visibleQP, coded)
      control.finish(
        bits: taken, qp: qp, picture: upcoming[0], cascaded: 0, final: upcoming[0].residual)
      outcome.bits += taken
      outcome.qps[picture.part] += qp / (part.seconds * frameRate)
    }
    return outcome
  }

  /// The QP at which all parts together take the rate: what an encoder would choose that knows
  /// everything.
  private static func evenQP(_ parts: [Part], rate: Int) -> Double {
    let seconds = parts.reduce(0) { $0 + $1.seconds }
    var (low, high) = (0.0, 51.0)
    for _ in 0..<30 {
      let middle = (low + high) / 2
      let all = parts.reduce(0.0) { sum, part in
        let count = part.seconds * frameRate
        return sum + bits(part, qp: middle - 2.5, isIntra: true, visibleQP: 51) * max(count / 250, 1)
          + bits(part, qp: middle, isIntra: false, visibleQP: middle) * count
      }
      if all > Double(rate) * seconds { low = middle } else { high = middle }
    }
    return high
  }

  @Test("A large static picture is forecast to take what such pictures took")
  func aLargeStillPictureTakesWhatSuchPicturesTook() {
    var settings = LookAheadSettings(width: 3840, height: 2160, frameRate: 25)
    settings.rate = .average(100_000)
    var control = LookAheadRateControl(settings)
    var residual = ResidualHistogram()
    residual.counts[0] = 240 * 135
    let picture = PictureForecast(residual: residual, kind: .predicted, duration: 1 / 25)
    // 25 of these a second would exceed the rate at any QP.
    #expect(control.bits(picture, qp: 30) > 100_000 / 25)
    for _ in 0..<30 {
      control.finish(bits: 500, qp: 30, picture: picture, cascaded: 0, final: residual)
    }
    #expect(abs(control.bits(picture, qp: 30) - 500) < 50)
  }

  @Test(
    "An hour keeps the rate, and no part is much coarser than the others",
    arguments: [
      [Part.busy(3600)], [.black(60), .busy(3540)], [.still(600), .busy(3000)], [.busy(1800), .calm(1800)],
      [.calm(1800), .busy(1800)], [.calm(600), .black(10), .busy(300), .still(300), .calm(2390)],
    ])
  func anHourKeepsTheRate(_ parts: [Part]) {
    let rate = 400_000
    let outcome = Self.simulate(parts, rate: rate)
    let seconds = parts.reduce(0) { $0 + $1.seconds }
    let error = outcome.bits / (Double(rate) * seconds) - 1
    // Bits that no visible quality needs are not saved up for
    // ever.
    let isEasy = parts.contains { $0.inter < 100 }
    #expect(error < 0.02 && error > (isEasy ? -0.1 : -0.02), "\(error) \(outcome.qps)")
    let even = Self.evenQP(parts, rate: rate)
    for (n, part) in parts.enumerated() where part.inter > 0 {
      // Without knowledge of the future, the best is to give each part the bits that arrive during
      // it.
      let alone = Self.evenQP([part], rate: rate)
      #expect(
        outcome.qps[n] < max(even, alone) + 2, "part \(n): \(outcome.qps), even \(even), alone \(alone)")
    }
  }

  @Test(
    "What moves after a black, a still or a calm beginning does not starve, whether the length is known or not",
    arguments: [
      [Part.black(2), .busy(20)], [.black(20), .busy(20)], [.still(5), .busy(20)], [.still(60), .busy(20)],
      [.calm(20), .busy(20)],
    ], [true, false])
  func whatMovesAfterACalmBeginningDoesNotStarve(_ parts: [Part], knowsLength: Bool) {
    let rate = 400_000
    let outcome = Self.simulate(parts, rate: rate, knowsLength: knowsLength)
    let alone = Self.evenQP([parts[1]], rate: rate)
    // Bits that the beginning left over are not lost; nor may it be spent beyond what comes in.
    #expect(outcome.qps[1] < alone + 2, "\(outcome.qps), alone \(alone)")
    let seconds = parts.reduce(0) { $0 + $1.seconds }
    #expect(outcome.bits < Double(rate) * seconds * (knowsLength ? 1.05 : 1.1))
  }

  @Test(
    "What a quiet beginning saved is used up by the end of a stream with limits whose length is known",
    arguments: [Part.black(3), .still(5), .black(8)])
  func savingsAreUsedUpWhereTheLengthIsKnown(_ quiet: Part) {
    let rate = 400_000
    let limit = DataRateLimit(bytes: rate * 12 / 8, seconds: 4)
    let outcome = Self.simulate([quiet, .busy(8)], rate: rate, limits: [limit], lookAhead: 3)
    let error = outcome.bits / (Double(rate) * (quiet.seconds + 8)) - 1
    #expect(abs(error) < 0.03, "\(error) \(outcome.qps)")
  }

  @Test("Black is not coded finer than anybody sees while it is not known what follows")
  func blackIsNotCodedTooFineWhileTheRestIsUnknown() {
    let outcome = Self.simulate([Part.black(5), .busy(20)], rate: 400_000)
    #expect(outcome.qps[0] > 10, "\(outcome.qps)")
  }

  @Test("A rate that is rich for the size may be used for fine quality")
  func aRateThatIsRichForTheSizeMayBeUsedForFineQuality() {
    let rate = 20_000_000
    let outcome = Self.simulate([Part.busy(60)], rate: rate)
    let even = Self.evenQP([Part.busy(60)], rate: rate)
    #expect(outcome.qps[0] < even + 1, "\(outcome.qps), \(even)")
  }
}
