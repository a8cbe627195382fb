// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

@Suite struct LookAheadRateTests {
  private static let (width, height) = (160, 96)

  private static func configuration() -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.maximumReferences = 2
    c.effort = 1
    c.lookAhead.frames = 20
    return c
  }

  /// Scenes of motion, noise, text and motion again.
  private static func scenes(_ n: Int) -> PlanarFrame {
    let kinds: [SyntheticContent.Kind] = [.motion, .gradient, .screen, .noise, .motion]
    let scene = n / 13 % kinds.count
    return SyntheticContent(kind: kinds[scene], width: width, height: height, seed: UInt64(scene + 3)).frame(
      n)
  }

  @Test("An average over 5 s and more is kept within 2 %", arguments: [150_000, 400_000], [20, 40])
  func anAverageIsKeptWithinTwoPercent(_ rate: Int, lookAhead: Int) throws {
    // Noise takes more than the lower rate where it is coarse already.
    let kinds: [SyntheticContent.Kind] = rate < 200_000 ? [.motion, .fade] : [.motion, .mixed, .fade]
    for kind in kinds {
      var c = Self.configuration()
      c.lookAhead.rate = .average(rate)
      c.lookAhead.frames = lookAhead
      let content = SyntheticContent(kind: kind, width: Self.width, height: Self.height, seed: 9)
      let run = try LookAheadRun(c, count: 150) { content.frame($0) }
      let error = Double(run.bits) / (5 * Double(rate)) - 1
      #expect(
        abs(error) < 0.02,
        "\(kind) \(rate) \(lookAhead): \(error), QP \(run.frames.suffix(30).map(\.properties.averageQP))")
    }
  }

  /// As at the end of a session: frames are completed, without a signal that no others follow. Only
  /// the length that is known tells.
  @Test("The last pictures of a stream take what is left of its rate")
  func theLastPicturesOfAStreamTakeWhatIsLeftOfItsRate() throws {
    func errors(isKnown: Bool) throws -> [Double] {
      try [(SyntheticContent.Kind.motion, 300_000), (.mixed, 500_000), (.fade, 150_000)].map { kind, rate in
        var c = Self.configuration()
        c.lookAhead.rate = .average(rate)
        c.lookAhead.frames = 40
        c.lookAhead.expectedDuration = isKnown ? 5 : nil
        c.keyFrameInterval = 250
        let content = SyntheticContent(kind: kind, width: Self.width, height: Self.height, seed: 4)
        let encoder = try LookAheadEncoder(configuration: c)
        var bits = 0
        for n in 0..<150 {
          try content.frame(n).withSource(planar: true, padding: 0) { source in
            try encoder.encode(source) { bits += $0.properties.bits }
          }
        }
        encoder.complete(through: 149) { bits += $0.properties.bits }
        return abs(Double(bits) / (5 * Double(rate)) - 1)
      }
    }
    let known = try errors(isKnown: true)
    let unknown = try errors(isKnown: false)
    #expect(known.allSatisfy { $0 < 0.02 }, "\(known), unknown \(unknown)")
    #expect(known.reduce(0, +) < unknown.reduce(0, +), "\(known), unknown \(unknown)")
  }

  @Test(
    "No buffer is emptied, by a model of its own: average, quality and constant rate",
    arguments: [0.2, 2.0], [0, 20])
  func noBufferIsEmptied(_ seconds: Double, lookAhead: Int) throws {
    let rate = 200_000
    for (threads, mode) in [
      (1, H264EncoderConfiguration.LookAhead.Rate.average(rate)), (2, .average(rate * 3 / 4)),
      (1, .quality(20)),
      (1, .constant(rate)), (2, .constant(rate)),
    ] {
      var c = Self.configuration()
      c.lookAhead.rate = mode
      c.threads = threads
      c.lookAhead.frames = lookAhead
      c.lookAhead.buffer = .init(maximumRate: rate, size: Int(Double(rate) * seconds), initialFullness: 0.8)
      let run = try LookAheadRun(c, count: 100) { Self.scenes($0) }
      try run.check(count: 100, "\(mode)")
      var model = HypotheticalBuffer(
        rate: rate, size: Int(Double(rate) * seconds), framesPerSecond: 30, initialFullness: 0.8)
      var isConstant = false
      if case .constant = mode { isConstant = true }
      for frame in run.frames {
        #expect(frame.properties.bits == frame.data.count * 8)
        model.remove(bits: frame.data.count * 8, isConstant: isConstant)
      }
      #expect(model.underflows == 0, "\(mode) \(seconds) \(lookAhead)")
      #expect(model.overflows == 0, "\(mode) \(seconds) \(lookAhead)")
      if isConstant {
        // Every second of it has the rate, but for what the buffer holds.
        for first in stride(from: 0, to: 70, by: 10) {
          let second = run.frames[first..<first + 30].reduce(0) { $0 + $1.properties.bits }
          #expect(abs(second - rate) <= Int(Double(rate) * seconds) + 200)
        }
      }
    }
  }

  @Test(
    "A constant rate of known length stores the rate: its buffer ends as it began",
    arguments: [
      (0.5, 0.9, 180), (1, 0.9, 150), (1, 0.9, 75), (2, 0.5, 150), (1, 0.9, 600), (1, 1, 150),
    ])
  func aConstantRateOfKnownLengthStoresTheRate(_ seconds: Double, initial: Double, count: Int) throws {
    let rate = 300_000
    for kind in [SyntheticContent.Kind.motion, .mixed] {
      func stored(isKnown: Bool) throws -> (error: Double, end: Double) {
        var c = Self.configuration()
        c.lookAhead.rate = .constant(rate)
        c.lookAhead.expectedDuration = isKnown ? Double(count) / 30 : nil
        c.lookAhead.buffer = .init(
          maximumRate: rate, size: Int(Double(rate) * seconds), initialFullness: initial)
        let content = SyntheticContent(kind: kind, width: Self.width, height: Self.height, seed: 6)
        let run = try LookAheadRun(c, count: count) { content.frame($0) }
        var model = HypotheticalBuffer(
          rate: rate, size: Int(Double(rate) * seconds), framesPerSecond: 30, initialFullness: initial)
        for frame in run.frames { model.remove(bits: frame.data.count * 8, isConstant: true) }
        #expect(model.underflows == 0 && model.overflows == 0)
        let last = run.frames.suffix(30).map(\.properties.averageQP).reduce(0, +) / 30
        let middle =
          run.frames.dropFirst(count / 2 - 15).prefix(30).map(\.properties.averageQP).reduce(0, +) / 30
        return (Double(run.bits) * 30 / Double(count) / Double(rate) - 1, last - middle)
      }
      let known = try stored(isKnown: true)
      #expect(abs(known.error) < (count < 150 ? 0.05 : 0.02), "\(kind): \(known)")
      // The last second does not get fewer bits for it.
      #expect(known.end < 4, "\(kind): \(known)")
      if initial > 0.6, count <= 180 { #expect(try stored(isKnown: false).error > known.error) }
    }
  }

  @Test(
    "A constant rate holds where the length that was announced is wrong", arguments: [1.0, 4.5, 6, 50, 1e-3])
  func aConstantRateHoldsWhereTheAnnouncedLengthIsWrong(_ announced: Double) throws {
    let rate = 300_000
    var c = Self.configuration()
    c.lookAhead.rate = .constant(rate)
    c.lookAhead.buffer = .init(maximumRate: rate, size: rate, initialFullness: 0.9)
    func run(_ expected: Double?) throws -> LookAheadRun {
      c.lookAhead.expectedDuration = expected
      let content = SyntheticContent(kind: .mixed, width: Self.width, height: Self.height, seed: 6)
      return try LookAheadRun(c, count: 150) { content.frame($0) }
    }
    let (wrong, unknown) = (try run(announced), try run(nil))
    var model = HypotheticalBuffer(rate: rate, size: rate, framesPerSecond: 30, initialFullness: 0.9)
    for frame in wrong.frames { model.remove(bits: frame.data.count * 8, isConstant: true) }
    #expect(model.underflows == 0 && model.overflows == 0)
    func meanQP(_ run: LookAheadRun) -> Double {
      run.frames.map(\.properties.averageQP).reduce(0, +) / Double(run.frames.count)
    }
    #expect(abs(meanQP(wrong) - meanQP(unknown)) < 1.5)
  }

  @Test("A quality is about the same QP throughout, and more bits for more of it")
  func aQualityIsAboutTheSameQPThroughout() throws {
    var sizes: [Int] = []
    for qp in [18.0, 26, 34] {
      var c = Self.configuration()
      c.lookAhead.rate = .quality(qp)
      c.lookAhead.adaptiveQuantisation = 0
      let content = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 2)
      let run = try LookAheadRun(c, count: 30) { content.frame($0) }
      sizes.append(run.bits)
      for frame in run.frames { #expect(frame.properties.averageQP <= qp + 3) }
    }
    #expect(sizes == sizes.sorted(by: >))
  }

  @Test("A constant QP is exact", arguments: [0, 24, 51])
  func aConstantQPIsExact(_ qp: Int) throws {
    var c = Self.configuration()
    c.lookAhead.rate = .constantQP(qp)
    c.minimumQP = 0
    let run = try LookAheadRun(c, count: 10) { Self.scenes($0) }
    for frame in run.frames where frame.properties.averageQP > 0 {
      #expect(frame.properties.lowestQP == qp)
      #expect(frame.properties.highestQP == qp)
    }
  }

  @Test("The lowest and the highest QP are kept")
  func theLowestAndTheHighestQPAreKept() throws {
    for rate in [20_000, 4_000_000] {
      var c = Self.configuration()
      c.lookAhead.rate = .average(rate)
      c.minimumQP = 22
      c.maximumQP = 33
      let run = try LookAheadRun(c, count: 40) { Self.scenes($0) }
      for frame in run.frames where frame.properties.highestQP > 0 {
        #expect(frame.properties.lowestQP >= 22)
        #expect(frame.properties.highestQP <= 33)
      }
    }
  }

  @Test("A rate may change in mid-stream")
  func aRateMayChangeInMidStream() throws {
    var c = Self.configuration()
    c.lookAhead.frames = 10
    c.lookAhead.rate = .average(400_000)
    let encoder = try LookAheadEncoder(configuration: c)
    let content = SyntheticContent(kind: .mixed, width: Self.width, height: Self.height, seed: 4)
    var bits = [0, 0]
    for n in 0..<300 {
      if n == 150 {
        c.lookAhead.rate = .average(150_000)
        try encoder.reconfigure(c)
      }
      try content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0) { bits[$0.properties.index < 140 ? 0 : 1] += $0.properties.bits }
      }
    }
    encoder.flush { bits[1] += $0.properties.bits }
    let seconds = (140.0 / 30, 160.0 / 30)
    #expect(abs(Double(bits[0]) / seconds.0 / 400_000 - 1) < 0.15)
    #expect(abs(Double(bits[1]) / seconds.1 / 150_000 - 1) < 0.15)
    c.profile = .main
    #expect(throws: H264EncoderError.self) { try encoder.reconfigure(c) }
  }
}
