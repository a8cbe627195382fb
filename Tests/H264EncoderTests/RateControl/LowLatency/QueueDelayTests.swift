// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// The guarantee of the rate control with a real encoder: no frame waits longer than
/// the bound.
@Suite struct QueueDelayTests {
  private static let (width, height) = (320, 192)

  @Test(
    "Cuts, noise and motion after one another: no frame waits longer than the bound",
    arguments: [0.15, 0.3, 0.5],
    [1, 3])
  func noFrameWaitsLongerThanTheBound(_ seconds: Double, threads: Int) throws {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    let rate = 250_000
    c.lowLatency.rateControl = .averageBitRate(rate)
    c.lowLatency.maximumQueueDelay = seconds
    c.threads = threads
    let encoder = try LowLatencyEncoder(configuration: c)
    let kinds: [SyntheticContent.Kind] = [.motion, .noise, .screen, .motion]
    let scenes = kinds.enumerated().map {
      SyntheticContent(kind: $0.element, width: Self.width, height: Self.height, seed: UInt64($0.offset + 3))
    }
    var wait = 0.0
    var waits: [Double] = []
    for n in 0..<120 {
      let scene = scenes[n / 15 % scenes.count]
      let bits = try scene.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0).properties.bits
      }
      wait = max(wait - 1 / c.frameRate, 0) + Double(bits) / Double(rate)
      waits.append(wait)
    }
    #expect((waits.max() ?? 0) <= seconds * 1.01, "\(waits)")
  }

  @Test("A bound out of range is refused", arguments: [0, -1, 11, Double.nan, .infinity])
  func aBoundOutOfRangeIsRefused(_ seconds: Double) {
    var c = H264EncoderConfiguration(width: 64, height: 64)
    c.lowLatency.maximumQueueDelay = seconds
    #expect(throws: H264EncoderError.self) { try LowLatencyEncoder(configuration: c) }
  }

  @Test("The bound may change in mid-stream")
  func theBoundMayChangeInMidStream() throws {
    var c = H264EncoderConfiguration(width: 64, height: 64)
    let encoder = try LowLatencyEncoder(configuration: c)
    c.lowLatency.maximumQueueDelay = 0.1
    try encoder.reconfigure(c)
    #expect(encoder.configuration.lowLatency.maximumQueueDelay == 0.1)
  }
}
