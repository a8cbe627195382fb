// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// A static picture is sent better and better; a picture that is only repeated is not
/// taken for one.
@Suite struct RefinementTests {
  private static let (width, height) = (320, 192)
  private static let rate = 300_000

  /// Bits in frames' shares of the rate and QP of each frame, `source` saying which picture frame
  /// `n` shows.
  private static func encode(_ count: Int, _ source: (Int) -> Int) throws -> [(bits: Double, qp: Double)] {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.lowLatency.rateControl = .averageBitRate(rate)
    let encoder = try LowLatencyEncoder(configuration: c)
    let content = SyntheticContent(kind: .motion, width: width, height: height, seed: 5)
    return try (0..<count).map { n in
      let unit = try content.frame(source(n)).withSource(planar: true, padding: 0) { try encoder.encode($0) }
      return (Double(unit.data.count * 8) * c.frameRate / Double(rate), unit.properties.averageQP)
    }
  }

  @Test("A still picture is refined, frame after frame")
  func aStillPictureIsRefined() throws {
    let frames = try Self.encode(40) { _ in 0 }
    #expect(frames[39].qp < frames[0].qp - 10, "\(frames.map(\.qp))")
  }

  @Test("With each picture shown twice, the QP of what moves keeps even")
  func theQPKeepsEvenWhenEachPictureIsShownTwice() throws {
    let frames = try Self.encode(90) { $0 / 2 }
    let moving = stride(from: 40, to: 90, by: 2).map { frames[$0] }
    let mean = moving.map(\.qp).reduce(0, +) / Double(moving.count)
    // The cascade alone takes three steps and the bits that go with them.
    #expect(moving.allSatisfy { abs($0.qp - mean) < 4.5 }, "\(moving.map(\.qp))")
    #expect(moving.allSatisfy { $0.bits < 4 }, "\(moving.map(\.bits))")
  }
}
