// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import VideoEncoding

/// The controller against an encoder that is made up: what a picture takes follows from a truth
/// that the controller's model only resembles.
@Suite struct LowLatencyRateControlTests {
  /// A picture as the look sees it, and how far its bits are from what the model says.
  struct Picture {
    var residual = ResidualHistogram()
    var factor = 1.0
    var isNew = false
    var isStill = false
    var novelty = 0.3
  }

  static let macroblocks = 920

  /// All macroblocks in two bins, or fewer of them.
  static func picture(bin: Int, part: Double = 1, factor: Double = 1) -> Picture {
    var picture = Picture(factor: factor)
    picture.residual.counts[2] = Float(Double(macroblocks) * (1 - part))
    picture.residual.counts[bin] = Float(Double(macroblocks) * part / 2)
    picture.residual.counts[bin + 1] = Float(Double(macroblocks) * part / 2)
    return picture
  }

  struct Outcome {
    var bits: [Double] = []
    var qp: [Int] = []
    /// Seconds that each frame waits, its own time on the line included.
    var waits: [Double] = []
    var dropped = 0
  }

  static func settings(rate: Int, frameRate: Double = 30) -> LowLatencySettings {
    var settings = LowLatencySettings(width: 640, height: 368, frameRate: frameRate)
    settings.rate = .averageBitRate(rate)
    settings.minimumQP = 8
    return settings
  }

  /// Bits of a row as the encoder under the row budget would make them: rows are alike, and a row
  /// six QP steps coarser takes half.
  static func run(
    _ pictures: [Picture], _ settings: LowLatencySettings,
    request: (Int) -> CodingRequest = { _ in CodingRequest() },
    change: (Int, inout LowLatencyRateControl) -> Double? = { _, _ in nil }
  ) -> Outcome {
    var memory = EncoderMemory()
    var controller = LowLatencyRateControl(settings, memory: &memory)
    defer { extendLifetime(memory) }
    var outcome = Outcome()
    var line = Double(settings.averageBitRate ?? 1)
    var wait = 0.0
    let rows = (settings.height + 15) / 16
    var rowBits = [Int32](repeating: 0, count: rows)
    for (n, picture) in pictures.enumerated() {
      if let rate = change(n, &controller) { line = rate }
      let isKey = n == 0
      var properties = PreAnalysisResult(
        residual: picture.residual, isStill: picture.isStill, novelty: picture.novelty)
      if picture.isNew { properties.novelty = 1 }
      let decision = controller.plan(
        isKeyFrame: isKey, isSceneChange: picture.isNew && !isKey, request: request(n), properties: properties
      )
      wait = max(wait - 1 / settings.frameRate, 0)
      if decision.drop {
        outcome.dropped += 1
        outcome.bits.append(0)
        outcome.qp.append(-1)
        outcome.waits.append(wait)
        continue
      }
      var bits = 0.0
      var qp = decision.qp
      var sum = 0
      for row in 0..<rows {
        if let budget = decision.budget {
          qp = budget.qp(row: row, rows: rows, bits: Int(bits), base: decision.qp, current: qp)
        }
        sum += qp
        var takes =
          BitModel.units(picture.residual, qp: Double(qp)) * BitModel.typicalRatio * picture.factor
          / Double(rows)
        let left = (rows - row) * macroblocks / rows
        if let budget = decision.budget, budget.isExhausted(bits: Int(bits + takes), left: left) { takes = 5 }
        rowBits[row] = Int32(min(takes, 1e9))
        bits += takes
      }
      controller.finish(
        bits: Int(min(bits, 1e15)), qp: Double(sum) / Double(rows), isKeyFrame: isKey,
        isSceneChange: picture.isNew && !isKey, rowBits: rowBits)
      wait += bits / line
      outcome.bits.append(bits)
      outcome.qp.append(decision.qp)
      outcome.waits.append(wait)
    }
    return outcome
  }

  static func mean(_ bits: ArraySlice<Double>) -> Double { bits.reduce(0, +) / Double(bits.count) }

  @Test(
    "Even content: the rate within 3 % over 5 s, and the QP keeps even",
    arguments: [150_000, 600_000, 3_000_000], [0.4, 1.0, 2.5])
  func evenContentConvergesToTheRate(rate: Int, factor: Double) {
    let pictures = (0..<300).map { n in
      var picture = Self.picture(bin: n == 0 ? 22 : 16, factor: factor)
      picture.novelty = 1
      return picture
    }
    let outcome = Self.run(pictures, Self.settings(rate: rate))
    let share = Double(rate) / 30
    #expect(abs(Self.mean(outcome.bits[0..<150]) / share - 1) < 0.03)
    #expect(abs(Self.mean(outcome.bits[150..<300]) / share - 1) < 0.03)
    let late = outcome.qp[100..<300]
    #expect((late.max() ?? 0) - (late.min() ?? 0) <= 2, "\(late)")
  }

  @Test(
    "No frame waits longer than the bound, whatever comes", arguments: [0.15, 0.3, 0.5, 1], 0..<12)
  func noFrameWaitsLongerThanTheBound(_ bound: Double, seed: Int) {
    var random = UInt64(seed) &* 7919 &+ 17
    func next(_ n: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % n
    }
    var bin = 14
    let pictures = (0..<400).map { n -> Picture in
      if next(15) == 0 { bin = 4 + next(22) }
      var picture = Self.picture(
        bin: bin, part: Double(1 + next(10)) / 10, factor: 0.3 + Double(next(30)) / 10)
      picture.isNew = next(25) == 0
      picture.novelty = Double(next(11)) / 10
      picture.isStill = bin < 6 && next(2) == 0
      return picture
    }
    var c = Self.settings(rate: 500_000)
    c.maximumQueueDelay = bound
    let outcome = Self.run(pictures, c)
    #expect((outcome.waits.max() ?? 0) <= bound + 0.002)
  }

  @Test("Fast motion of a sudden: the rate over 2 s stays within 8 %", arguments: [0.3, 0.5, 1])
  func suddenMotionKeepsNearTheRate(_ bound: Double) {
    let pictures = (0..<300).map { n -> Picture in
      var picture = Self.picture(bin: n == 0 ? 20 : n < 120 ? 11 : 19)
      picture.novelty = n < 120 ? 0.1 : 0.9
      return picture
    }
    var c = Self.settings(rate: 800_000)
    c.maximumQueueDelay = bound
    let outcome = Self.run(pictures, c)
    for start in 0...240 {
      let bits = outcome.bits[start..<start + 60].reduce(0, +)
      #expect(bits <= 1_600_000 * 1.08, "from frame \(start)")
    }
  }

  @Test("After a cut the QP is soon what it is at the rate, and the cut takes more than a share")
  func afterACutTheQPIsSoonWhatItIsAtTheRate() {
    let pictures = (0..<240).map { n -> Picture in
      var picture = Self.picture(bin: n == 0 || n == 120 ? 22 : 13)
      picture.isNew = n == 0 || n == 120
      picture.novelty = 0.2
      return picture
    }
    let outcome = Self.run(pictures, Self.settings(rate: 700_000))
    #expect(outcome.bits[120] > 3 * 700_000 / 30)
    let before = outcome.qp[80..<120].reduce(0, +) / 40
    let after = outcome.qp[140..<180].reduce(0, +) / 40
    #expect(abs(after - before) <= 2, "\(outcome.qp[115..<180])")
  }

  @Test("A rate that falls is kept by the next ten frames, and one that rises is used", arguments: [2.0, 3])
  func aRateThatFallsIsKeptByTheNextTenFrames(_ divisor: Double) {
    let pictures = (0..<270).map { n -> Picture in
      var picture = Self.picture(bin: n == 0 ? 22 : 16)
      picture.novelty = 1
      return picture
    }
    let c = Self.settings(rate: 900_000)
    let outcome = Self.run(
      pictures, c,
      change: { n, controller in
        guard n == 90 || n == 180 else { return nil }
        var new = c
        let rate = n == 90 ? 900_000 / divisor : 900_000
        new.rate = .averageBitRate(Int(rate))
        controller.reconfigure(new)
        return rate
      })
    let low = 900_000 / divisor / 30
    let down = Self.mean(outcome.bits[90..<100]) / low
    #expect(down <= 1 && down > 0.55, "\(down)")
    #expect(Self.mean(outcome.bits[110..<180]) / low > 0.9)
    #expect(Self.mean(outcome.bits[190..<230]) / 30_000 > 0.9)
  }

  @Test("Extremes: no trap, and each decision can be followed")
  func extremesDoNotTrap() {
    for rate in [1000, 64_000, 2_000_000_000] {
      for frameRate in [0.01, 30.0, 1000] {
        var empty = Picture()
        empty.factor = 0
        var huge = Self.picture(bin: 30, factor: 1e6)
        huge.novelty = .infinity
        let pictures = [huge, empty, huge, empty, empty, huge, huge] + Array(repeating: empty, count: 20)
        var n = 0
        let outcome = Self.run(
          pictures, Self.settings(rate: rate, frameRate: frameRate),
          request: { _ in
            n += 1
            var request = CodingRequest()
            request.duration = [nil, 1e-9, 1e9][n % 3]
            request.budgetShare = [1, 0.01, 16][n % 3]
            return request
          })
        #expect(outcome.qp.allSatisfy { (0...51).contains($0) })
        #expect(outcome.bits.allSatisfy { $0.isFinite })
      }
    }
  }
}
