// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// The guarantees of the rate control, independent of its model.
@Suite("Rate control") struct RateBehaviourTests {
  private static let (width, height) = (160, 112)

  private static func frames(
    _ count: Int, seed: UInt64 = 4, _ change: (inout H264EncoderConfiguration) -> Void,
    midway: ((inout H264EncoderConfiguration) -> Void)? = nil
  ) throws -> [H264FrameProperties] {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.frameRate = 30
    c.effort = 0
    change(&c)
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: width, height: height, seed: seed)
    return try (0..<count).map { n in
      if n == count / 2, let midway {
        midway(&c)
        try encoder.reconfigure(c)
      }
      return try content.frame(n).withSource(planar: true, padding: 0) { try encoder.encode($0).properties }
    }
  }

  private static func rate(_ frames: some Collection<H264FrameProperties>) -> Double {
    Double(frames.reduce(0) { $0 + $1.bits }) * 30 / Double(frames.count)
  }

  @Test("The average is kept, and a new one from the middle on", arguments: [150_000, 400_000])
  func theAverageIsKept(_ target: Int) throws {
    let frames = try Self.frames(240, { $0.lowLatency.rateControl = .averageBitRate(target) }) {
      $0.lowLatency.rateControl = .averageBitRate(target / 2)
    }
    #expect(abs(Self.rate(frames[30..<120]) / Double(target) - 1) < 0.15)
    #expect(abs(Self.rate(frames[150...]) / Double(target / 2) - 1) < 0.15)
    #expect(!frames.contains { $0.isDropped })
  }

  @Test("A constant QP is constant; a range is never left")
  func aConstantQPIsConstant() throws {
    let fixed = try Self.frames(12) {
      $0.lowLatency.rateControl = .constantQP(31)
      $0.lowLatency.cascadesQuality = false
    }
    #expect(fixed.allSatisfy { $0.lowestQP == 31 && $0.highestQP == 31 })
    let narrow = try Self.frames(60) {
      $0.lowLatency.rateControl = .averageBitRate(60_000)
      $0.minimumQP = 24
      $0.maximumQP = 34
      $0.lowLatency.adaptiveQuantisation = 1
    }
    #expect(narrow.allSatisfy { $0.lowestQP >= 24 && $0.highestQP <= 34 })
  }

  @Test("A level for a rate that may come changes what the stream says, and no frame of it")
  func aLevelForARateThatMayComeChangesWhatTheStreamSays() throws {
    func stream(_ rate: Int) throws -> (level: UInt8, frames: [ArraySlice<UInt8>]) {
      var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
      c.lowLatency.rateControl = .averageBitRate(100_000)
      c.levelBitRate = rate
      let encoder = try LowLatencyEncoder(configuration: c)
      let content = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 4)
      // The first frame begins with the parameter sets, each after four bytes.
      let sets = encoder.parameterSets.sequence.count + encoder.parameterSets.pictures[0].count + 8
      let frames = try (0..<30).map { n in
        try content.frame(n).withSource(planar: true, padding: 0) { try encoder.encode($0).data }
          .dropFirst(n == 0 ? sets : 0)
      }
      return (encoder.parameterSets.sequence[3], frames)
    }
    let (low, high) = (try stream(0), try stream(10_000_000))
    #expect(low.level == 11 && high.level == 30, "\(low.level) \(high.level)")
    #expect(low.frames.allSatisfy { !$0.isEmpty } && low.frames == high.frames)
  }

  @Test("A QP for one frame is that of all its macroblocks, and no other frame's", arguments: [14, 46])
  func aQPForOneFrameIsThatOfAllItsMacroblocks(_ qp: Int) throws {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    c.lowLatency.rateControl = .averageBitRate(120_000)
    c.lowLatency.adaptiveQuantisation = 0
    let content = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 4)
    func frames(_ fixed: Int?) throws -> [H264FrameProperties] {
      let encoder = try LowLatencyEncoder(configuration: c)
      return try (0..<60).map { n in
        var options = H264FrameOptions()
        if n == 30 { options.qp = fixed }
        return try content.frame(n).withSource(planar: true, padding: 0) {
          try encoder.encode($0, options: options).properties
        }
      }
    }
    let (baseline, marked) = (try frames(nil), try frames(qp))
    #expect(marked[30].lowestQP == qp && marked[30].highestQP == qp)
    #expect(baseline[30].highestQP != qp)
    if qp > 40 {
      // Those after it are as they would have been.
      for n in 33..<40 { #expect(marked[n].averageQP < baseline[n].averageQP + 3, "\(n)") }
    }
  }

  @Test("Frames are dropped only where that is allowed, and then the rate is kept all the same")
  func framesAreDroppedOnlyWhereThatIsAllowed() throws {
    func tight(_ c: inout H264EncoderConfiguration) {
      c.lowLatency.rateControl = .averageBitRate(60_000)
      c.maximumQP = 26
    }
    let kept = try Self.frames(120, seed: 9, tight)
    #expect(!kept.contains { $0.isDropped })
    let dropped = try Self.frames(120, seed: 9) {
      tight(&$0)
      $0.lowLatency.allowsFrameDropping = true
    }
    #expect(dropped.contains { $0.isDropped } && !dropped[0].isDropped)
    #expect(dropped.allSatisfy { $0.isDropped == ($0.bits == 0) })
    #expect(Self.rate(dropped) < Self.rate(kept))
    #expect(Self.rate(dropped[30...]) < 60_000 * 1.25)
  }

  @Test("No stretch of the stream holds more than its limit", arguments: 1...8, [1, 2])
  func noStretchOfTheStreamHoldsMoreThanItsLimit(seed: UInt64, threads: Int) throws {
    let frames = try Self.frames(150, seed: seed) {
      $0.lowLatency.rateControl = .averageBitRate(400_000)
      $0.dataRateLimits = [.init(bytes: 40_000, seconds: 1), .init(bytes: 16_000, seconds: 0.25)]
      $0.lowLatency.allowsFrameDropping = true
      $0.threads = threads
    }
    for (bytes, count) in [(40_000, 30), (16_000, 7)] {
      for first in 0...(frames.count - count) {
        let sum = frames[first..<first + count].reduce(0) { $0 + $1.bits / 8 }
        #expect(sum <= bytes, "\(count) frames from \(first)")
      }
    }
    #expect(frames.filter(\.isDropped).count < 10)
  }

  /// The first picture with so many bytes a second at most, all windows held.
  private static func firstPicture(
    bytes: Int, _ entropy: H264EncoderConfiguration.EntropyCoding, threads: Int
  ) throws -> H264FrameProperties {
    var c = H264EncoderConfiguration(width: 640, height: 368)
    c.entropyCoding = entropy
    c.lowLatency.rateControl = .averageBitRate(20_000_000)
    c.dataRateLimits = [.init(bytes: bytes, seconds: 1)]
    c.measuresError = true
    c.threads = threads
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .mixed, width: 640, height: 368, seed: 3)
    let properties = try content.frame(0).withSource(planar: true, padding: 0) {
      try encoder.encode($0).properties
    }
    #expect(properties.isKeyFrame && properties.bits <= 8 * bytes, "\(properties.bits) bits of \(8 * bytes)")
    return properties
  }

  @Test(
    "A key frame within a limit that is far too low has content as far as the limit goes",
    arguments: [H264EncoderConfiguration.EntropyCoding.cavlc, .cabac], [1, 2])
  func aKeyFrameWithinALowLimitHasContentAsFarAsItGoes(
    _ entropy: H264EncoderConfiguration.EntropyCoding, threads: Int
  ) throws {
    let least = try #require(try Self.firstPicture(bytes: 1300, entropy, threads: threads).meanSquaredError)
    var last = least.luma
    for bytes in [3000, 6000, 12_000, 24_000] {
      let properties = try Self.firstPicture(bytes: bytes, entropy, threads: threads)
      let error = try #require(properties.meanSquaredError).luma
      #expect(
        properties.bits > 4 * bytes && error < last,
        "\(bytes) bytes: \(properties.bits) bits, \(error) after \(last)")
      last = error
    }
  }
}
