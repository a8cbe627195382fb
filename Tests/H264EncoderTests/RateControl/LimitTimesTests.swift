// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// Hard limits over the times at which frames come, whatever these are, and while the limits
/// change.
@Suite struct LimitTimesTests {
  private static let (width, height) = (320, 240)
  private static let content = SyntheticContent(kind: .noise, width: width, height: height, seed: 3)

  /// A rate far beyond a limit of 40 000 bytes a second.
  private static var configuration: H264EncoderConfiguration {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.effort = 0
    c.lowLatency.rateControl = .averageBitRate(4_000_000)
    c.dataRateLimits = [.init(bytes: 40_000, seconds: 1)]
    return c
  }

  /// The most bytes in a second that ends with a frame.
  private static func fullest(_ frames: [(time: Double, bytes: Int)]) -> Int {
    var maximum = 0
    for (i, last) in frames.enumerated() {
      var sum = 0
      for frame in frames[...i].reversed() {
        if frame.time <= last.time - 1 + 1e-6 { break }
        sum += frame.bytes
      }
      maximum = max(maximum, sum)
    }
    return maximum
  }

  @Test(
    "Frames that come in bursts, with pauses between: no second is beyond the limit",
    arguments: [(1, 1.0 / 30), (2, 0.5), (5, 1.0), (15, 1.5), (30, 1.0)], [false, true])
  func noSecondIsBeyondTheLimitInBursts(_ burst: (frames: Int, pause: Double), drops: Bool) throws {
    var c = Self.configuration
    c.lowLatency.allowsFrameDropping = drops
    let encoder = try LowLatencyEncoder(configuration: c)
    var frames: [(time: Double, bytes: Int)] = []
    var time = 0.0
    for n in 0..<max(50, 2 * burst.frames) {
      var options = H264FrameOptions()
      let duration = n % burst.frames == 0 ? burst.pause : 1.0 / 30
      options.duration = duration
      time += duration
      let bytes = try Self.content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options).byteCount
      }
      frames.append((time, bytes))
    }
    let maximum = Self.fullest(frames)
    // Where no frame may be dropped, one takes its headers even if nothing is left for it.
    #expect(maximum <= (drops ? 40_000 : 40_400))
    // The limit is what holds it, and nothing else.
    if burst.frames > 2 { #expect(maximum > 20_000) }
  }

  @Test("A limit at a fixed QP as well")
  func aLimitHoldsAtAFixedQP() throws {
    var c = Self.configuration
    c.lowLatency.rateControl = .constantQP(30)
    let encoder = try LowLatencyEncoder(configuration: c)
    var frames: [(time: Double, bytes: Int)] = []
    var time = 0.0
    for n in 0..<40 {
      var options = H264FrameOptions()
      options.duration = n % 2 == 0 ? 0.5 : 1.0 / 30
      time += n % 2 == 0 ? 0.5 : 1.0 / 30
      let bytes = try Self.content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options).byteCount
      }
      frames.append((time, bytes))
    }
    #expect(Self.fullest(frames) <= 40_000)
  }

  @Test(
    "A limit that is narrowed and widened again and again: no second is beyond the wider one",
    arguments: [(1000, 5), (10_000, 3), (100, 2)])
  func noSecondIsBeyondTheWiderLimitWhileLimitsToggle(narrow: Int, every: Int) throws {
    var c = Self.configuration
    c.lowLatency.allowsFrameDropping = true
    let encoder = try LowLatencyEncoder(configuration: c)
    var frames: [(time: Double, bytes: Int)] = []
    for n in 0..<90 {
      if n > 0, n % every == 0 {
        c.dataRateLimits = [.init(bytes: n / every % 2 == 0 ? 40_000 : narrow, seconds: 1)]
        try encoder.reconfigure(c)
      }
      let bytes = try Self.content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0).byteCount
      }
      frames.append((Double(n) / 30, bytes))
    }
    #expect(Self.fullest(frames) <= 40_000)
  }

  @Test("What was sent under a wider limit leaves its part of a narrower one")
  func whatWasSentUnderAWiderLimitLeavesItsPartOfANarrowerOne() {
    func limit(_ bytes: Int) -> [DataRateLimit] { [.init(bytes: bytes, seconds: 1)] }
    var limits = HardLimits(limit(10_000))
    limits.account(40_000, duration: 0.1)
    let before = limits.largestFrame(duration: 0.1)
    limits.change(to: limit(1000))
    // A half of it too.
    #expect(limits.largestFrame(duration: 0.1).map { $0 * 10 } == before)
    limits.account(400, duration: 0.1)
    limits.change(to: limit(10_000))
    // Nothing was forgotten.
    let left = limits.largestFrame(duration: 0.1) ?? .infinity
    #expect(left <= 80_000 - 40_400)
    #expect(left > 80_000 - 40_400 - 8000)
  }
}
