// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Key frames that a program forces where a window of a hard limit is used up.
@Suite struct ForcedKeyFrameLimitTests {
  private static let (width, height) = (160, 112)
  private static let limits: [DataRateLimit] = [
    .init(bytes: 12_000, seconds: 1), .init(bytes: 5_000, seconds: 0.25),
  ]
  /// One after another, and some time after those.
  private static let forced: Set<Int> = [30, 31, 32, 33, 45, 52, 53, 70, 71, 72, 73, 74, 75, 76]

  private static func content(_ n: Int) -> PlanarFrame {
    SyntheticContent(kind: .noise, width: width, height: height, seed: UInt64(n / 9)).frame(n)
  }

  private static func options(_ n: Int) -> H264FrameOptions {
    var options = H264FrameOptions()
    options.isKeyFrame = forced.contains(n)
    return options
  }

  private static func expectWindows(_ bits: [Int]) {
    for (limit, count) in zip(limits, [30, 7]) {
      for first in 0...(bits.count - count) {
        let sum = bits[first..<first + count].reduce(0, +)
        #expect(sum <= limit.bytes * 8, "\(count) frames from \(first): \(sum) bits")
      }
    }
  }

  /// Each 7th frame is forced, which is more than the limit has room for.
  @Test("A forced key frame that no room is left for comes as soon as there is", arguments: 1...4)
  func aForcedKeyFrameComesAsSoonAsThereIsRoom(seed: UInt64) throws {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    c.frameRate = 30
    c.lowLatency.rateControl = .averageBitRate(600_000)
    c.dataRateLimits = [.init(bytes: 6_000, seconds: 0.5)]
    c.lowLatency.allowsFrameDropping = true
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: seed)
    var properties: [H264FrameProperties] = []
    var isDue = false
    for n in 0..<120 {
      var options = H264FrameOptions()
      options.isKeyFrame = n % 7 == 3
      let frame = try content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options).properties
      }
      isDue = isDue || options.isKeyFrame
      if !frame.isDropped {
        #expect(frame.isKeyFrame || !isDue, "\(n)")
        isDue = false
      }
      properties.append(frame)
    }
    for first in 0...(properties.count - 15) {
      let sum = properties[first..<first + 15].reduce(0) { $0 + $1.bits }
      #expect(sum <= 48_000, "15 frames from \(first): \(sum) bits")
    }
    #expect(properties.filter { !$0.isDropped }.count > 60)
  }

  @Test("Each frame at once: the limit holds, all forced frames are key frames, and others are dropped")
  func theLimitHoldsWithForcedKeyFramesInLowLatency() throws {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    c.frameRate = 30
    c.lowLatency.rateControl = .averageBitRate(90_000)
    c.dataRateLimits = Self.limits
    c.lowLatency.allowsFrameDropping = true
    let encoder = try LowLatencyEncoder(configuration: c)
    var properties: [H264FrameProperties] = []
    for n in 0..<120 {
      try Self.content(n).withSource(planar: true, padding: 0) {
        properties.append(try encoder.encode($0, options: Self.options(n)).properties)
      }
    }
    Self.expectWindows(properties.map(\.bits))
    for n in Self.forced { #expect(properties[n].isKeyFrame && !properties[n].isDropped, "\(n)") }
  }

  @Test("With a look-ahead: the limit holds, and all forced frames are key frames", arguments: [0, 10])
  func theLimitHoldsWithForcedKeyFramesAndALookAhead(frames: Int) throws {
    var c = H264EncoderConfiguration.lookAhead(width: Self.width, height: Self.height)
    c.maximumReferences = 2
    c.effort = 1
    c.dataRateLimits = Self.limits
    c.lookAhead.frames = frames
    c.lookAhead.rate = .average(90_000)
    let run = try LookAheadRun(c, count: 120, options: Self.options, content: Self.content)
    try run.check(count: 120)
    Self.expectWindows(run.frames.map(\.properties.bits))
    for frame in run.frames where Self.forced.contains(Int(frame.properties.index)) {
      #expect(frame.properties.isKeyFrame, "\(frame.properties.index)")
    }
  }
}
