// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// A static slide, in two passes: bits that key frames leave over are not spent on the
/// last pictures.
@Suite struct StillPassTests {
  private static let (width, height) = (320, 192)

  private static func bits(rate: Int, count: Int) throws -> [Int] {
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.lookAhead.rate = .average(rate)
    c.effort = 1
    c.keyFrameInterval = 60
    c.lookAhead.frames = 20
    c.lookAhead.expectedDuration = Double(count) / 30
    let content = SyntheticContent(kind: .mixed, width: width, height: height, seed: 12)
    let slide = content.frame(0)
    func pass(_ known: PassStatistics?) throws -> ([Int], PassStatistics) {
      let encoder = try LookAheadEncoder(configuration: c, pass: known)
      encoder.keepsStatistics = true
      var sizes: [Int] = []
      for _ in 0..<count {
        try slide.withSource(planar: true, padding: 0) { source in
          try encoder.encode(source) { sizes.append($0.properties.bits) }
        }
      }
      encoder.flush { sizes.append($0.properties.bits) }
      return (sizes, encoder.statistics)
    }
    return try pass(pass(nil).1).0
  }

  @Test("Frames after the last key frame", arguments: [40_000, 80_000, 160_000], [300, 330, 345])
  func bitsLeftOverAreNotSpentOnTheLastPictures(rate: Int, count: Int) throws {
    let sizes = try Self.bits(rate: rate, count: count)
    let all = Double(sizes.reduce(0, +)), wanted = Double(rate * count) / 30
    #expect(
      all < wanted * 1.04,
      "\(all / wanted), \(sizes.enumerated().filter { $0.element > 1500 }.map { "\($0.offset): \($0.element)" })"
    )
    #expect(all > wanted * 0.8, "\(all / wanted)")
  }
}
