// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import H264Encoder

/// A static picture under a hard limit near the average rate becomes as sharp as without
/// one.
@Suite struct StillLimitTests {
  private static let (width, height) = (640, 352)

  /// Letters in cells of 8x12.
  private static let text: PlanarFrame = {
    var frame = PlanarFrame(
      width: width, height: height, y: [UInt8](repeating: 235, count: width * height),
      u: [UInt8](repeating: 128, count: width * height / 4),
      v: [UInt8](repeating: 128, count: width * height / 4))
    for y in 0..<height {
      for x in 0..<width where x % 8 < 6 && y % 12 < 10 {
        let glyph = SyntheticContent.hash(5, UInt64(x / 8), UInt64(y / 12))
        if glyph >> UInt64(x % 8 / 2 + y % 12 / 2 * 3) & 1 == 1 { frame.y[y * width + x] = 20 }
      }
    }
    return frame
  }()

  private static func psnr(_ a: PlanarFrame, _ b: PlanarFrame) -> Double {
    var sum = 0
    for (p, q) in zip(a.y, b.y) { sum += (Int(p) - Int(q)) * (Int(p) - Int(q)) }
    return sum == 0 ? 99 : 10 * log10(255 * 255 * Double(a.y.count) / Double(sum))
  }

  /// PSNR of the luma after so many frames.
  private func quality(_ picture: PlanarFrame, _ rate: Int, limit: Double?, frames: Int) throws -> Double {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    c.effort = 0
    c.lowLatency.rateControl = .averageBitRate(rate)
    if let limit { c.dataRateLimits = [.init(bytes: Int(Double(rate) / 8 * limit), seconds: 1)] }
    let encoder = try LowLatencyEncoder(configuration: c)
    for _ in 0..<frames {
      _ = try picture.withSource(planar: true, padding: 0) { try encoder.encode($0).properties }
    }
    return Self.psnr(picture, try #require(encoder.reconstruction(width: Self.width, height: Self.height)))
  }

  @Test("Text, and a texture", arguments: [true, false], [1.0, 1.5])
  func aStillPictureSharpensUnderALimit(isText: Bool, limit: Double) throws {
    let texture = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 3)
    let picture = isText ? Self.text : texture.frame(0)
    let free = try quality(picture, 300_000, limit: nil, frames: 150)
    let limited = try quality(picture, 300_000, limit: limit, frames: 150)
    #expect(limited > free - 4, "\(free) dB without a limit")
  }
}
