// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// The rows of a picture that begins a new scene: what rows of the scene before took says nothing
/// of theirs.
@Suite struct SceneCutRowsTests {
  private static let (width, height) = (320, 240)

  /// A plain picture with letters that change in its lowest part.
  private static func title(_ n: Int) -> PlanarFrame {
    var frame = PlanarFrame(
      width: width, height: height, y: Array(repeating: 90, count: width * height),
      u: Array(repeating: 120, count: width * height / 4), v: Array(repeating: 130, count: width * height / 4)
    )
    let letters = SyntheticContent(kind: .windows, width: width, height: height, seed: 2).frame(n)
    for at in (height - 48) * width..<height * width { frame.y[at] = letters.y[at] }
    return frame
  }

  @Test(
    "A new scene after one whose bits were in its lowest rows is as good above as below", arguments: [1, 4])
  func aNewSceneIsAsGoodEverywhere(_ threads: Int) throws {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    c.frameRate = 30
    c.effort = 1
    c.threads = threads
    c.lowLatency.rateControl = .averageBitRate(400_000)
    let encoder = try LowLatencyEncoder(configuration: c)
    let scene = SyntheticContent(kind: .motion, width: Self.width, height: Self.height, seed: 9)
    let frames = try (0..<62).map { n in
      let frame = n < 60 ? Self.title(n) : scene.frame(n)
      return try frame.withSource(planar: true, padding: 0) { try encoder.encode($0).properties }
    }
    let cut = frames[60]
    #expect(!cut.isKeyFrame && cut.intraFraction > 0.5, "\(cut)")
    #expect(cut.highestQP - cut.lowestQP <= 6, "\(cut)")
    // Half of the bound of 0.3 s is for such a picture, at most eight shares.
    #expect(cut.bits > 400_000 / 30 * 3, "\(cut)")
  }
}
