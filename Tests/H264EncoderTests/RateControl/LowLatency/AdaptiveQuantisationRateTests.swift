// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// Adaptive quantisation moves bits within a picture, and takes none from it.
@Suite struct AdaptiveQuantisationRateTests {
  private static let (width, height, rate) = (320, 240, 300_000)

  /// Motion between black bars, as in a film on a screen of another shape.
  private static func letterbox(_ n: Int) -> PlanarFrame {
    var frame = SyntheticContent(kind: .motion, width: width, height: height, seed: 8).frame(n)
    for y in 0..<height where y < 48 || y >= height - 48 {
      for x in 0..<width { frame.y[y * width + x] = 16 }
    }
    for y in 0..<height / 2 where y < 24 || y >= height / 2 - 24 {
      for x in 0..<width / 2 {
        frame.u[y * width / 2 + x] = 128
        frame.v[y * width / 2 + x] = 128
      }
    }
    return frame
  }

  /// The bits a second of four seconds, and the mean squared error of luma.
  private static func encode(strength: Double) throws -> (rate: Double, error: Double) {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.frameRate = 30
    c.effort = 1
    c.measuresError = true
    c.lowLatency.rateControl = .averageBitRate(rate)
    c.lowLatency.adaptiveQuantisation = strength
    let encoder = try LowLatencyEncoder(configuration: c)
    let frames = try (0..<120).map { n in
      try letterbox(n).withSource(planar: true, padding: 0) { try encoder.encode($0).properties }
    }
    let errors = try frames.map { try #require($0.meanSquaredError).luma }
    return (Double(frames.reduce(0) { $0 + $1.bits }) / 4, errors.reduce(0, +) / 120)
  }

  @Test("Between the bars of a letterbox the rate is used, at any strength", arguments: [0.4, 1, 2])
  func theRateIsUsed(_ strength: Double) throws {
    let plain = try Self.encode(strength: 0)
    let adaptive = try Self.encode(strength: strength)
    #expect(adaptive.rate > plain.rate * 0.95, "\(adaptive) \(plain)")
    // It costs some PSNR, but not what a lower rate would: 1.5 dB is a factor of 1.41.
    #expect(adaptive.error < plain.error * 1.41, "\(adaptive) \(plain)")
  }
}
