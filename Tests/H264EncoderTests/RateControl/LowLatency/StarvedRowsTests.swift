// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// A rate that is too low for the content makes all of the picture coarse, and lets none of it
/// are static.
@Suite("Starved pictures") struct StarvedRowsTests {
  private static let (width, height) = (320, 240)

  /// Stripes that pass slowly, a box that crosses them, and black and white fields at the bottom
  /// that change.
  private func luma(_ n: Int) -> [UInt8] {
    var samples = [UInt8](repeating: 0, count: Self.width * Self.height)
    for y in 0..<Self.height {
      for x in 0..<Self.width {
        var value = 48 + ((x + n + y / 8) >> 3 & 15) * 9
        let box = (n * 5) % (Self.width - 24)
        if (box..<box + 24).contains(x), (70..<94).contains(y) { value = 190 }
        // Text that changes, which takes most of the bits.
        if (80..<104).contains(y), (48..<272).contains(x) {
          value = (n &* 0x9E37_79B9 &+ (x / 6 &* 7 &+ y / 5) &* 0x85EB_CA6B) >> 13 & 1 == 0 ? 20 : 230
        }
        if y >= 220 { value = (n &* 0x9E37_79B9) >> (x / 10) & 1 == 0 ? 24 : 225 }
        samples[y * Self.width + x] = UInt8(value)
      }
    }
    return samples
  }

  @Test("Every macroblock row is coded again and again", arguments: [60_000, 120_000], [1, 2])
  func everyMacroblockRowIsCodedAgainAndAgain(_ rate: Int, _ threads: Int) throws {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    c.frameRate = 15
    c.effort = 0
    c.threads = threads
    // As a call has it: what a third of a second may take.
    c.dataRateLimits = [.init(bytes: rate / 24, seconds: 1.0 / 3)]
    c.lowLatency.rateControl = .averageBitRate(rate)
    let encoder = try LowLatencyEncoder(configuration: c)
    let chroma = [UInt8](repeating: 128, count: Self.width / 2 * Self.height / 2)
    let rows = Self.height / 16
    /// Frames since the row was last near what it should be.
    var stale = [Int](repeating: 0, count: rows)
    var worst = 0
    for n in 0..<60 {
      let frame = PlanarFrame(width: Self.width, height: Self.height, y: luma(n), u: chroma, v: chroma)
      _ = try frame.withSource(planar: true, padding: 0) { try encoder.encode($0).properties }
      encoder.withReconstruction { luma, _, stride in
        for row in 0..<rows {
          var error = 0
          for y in row * 16..<row * 16 + 16 {
            for x in 0..<Self.width {
              let difference = Int(luma[y * stride + x]) - Int(frame.y[y * Self.width + x])
              error += difference * difference
            }
          }
          let mean = Double(error) / Double(16 * Self.width)
          stale[row] = mean < 1500 ? 0 : stale[row] + 1
        }
      }
      worst = max(worst, stale.max() ?? 0)
    }
    #expect(worst <= 15, "\(worst) frames")
  }
}
