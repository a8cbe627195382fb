// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// A short passage that takes most of the bits of a stream.
@Suite struct NoisyPassageTests {
  private static let count = 250
  private static let rate = 100_000

  /// The mean QP of each second, and the bit rate, of the second of two passes.
  private static func secondPass() throws -> (qps: [Double], rate: Double) {
    let (width, height) = (160, 96)
    var c = H264EncoderConfiguration.lookAhead(width: width, height: height)
    c.lookAhead.rate = .average(rate)
    c.frameRate = 25
    c.effort = 2
    c.maximumReferences = 4
    c.lookAhead.frames = 20
    c.lookAhead.expectedDuration = Double(count) / 25
    // Motion, two seconds of noise, and motion again.
    let content = BlockNoise(width: width, height: height)
    let frames = (0..<count).map { content.frame($0, isNoisy: (100..<150).contains($0)) }
    var known: PassStatistics?
    var (qps, bits) = ([Double](), 0)
    for _ in 0..<2 {
      let encoder = try LookAheadEncoder(configuration: c, pass: known)
      encoder.keepsStatistics = true
      (qps, bits) = ([Double](repeating: 0, count: count / 25), 0)
      func take(_ frame: H264FrameProperties) {
        qps[Int(frame.index) / 25] += frame.averageQP / 25
        bits += frame.bits
      }
      for frame in frames {
        try frame.withSource(planar: true, padding: 0) { source in
          try encoder.encode(source) { take($0.properties) }
        }
      }
      encoder.flush { take($0.properties) }
      known = encoder.statistics
    }
    return (qps, Double(bits) * 25 / Double(count))
  }

  @Test("The second pass gives noise its share, and what follows no more than what precedes")
  func theSecondPassSpendsEvenly() throws {
    let (qps, rate) = try Self.secondPass()
    #expect(abs(rate / Double(Self.rate) - 1) < 0.02, "\(rate)")
    let (before, after) = (qps[0..<4].reduce(0, +) / 4, qps[6..<10].reduce(0, +) / 4)
    #expect(abs(before - after) < 5, "\(qps)")
    #expect(max(qps[4], qps[5]) < before + 4, "\(qps)")
  }
}
