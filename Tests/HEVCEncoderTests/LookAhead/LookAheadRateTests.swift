// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder
import Testing

@Suite("Rates with a look-ahead")
struct LookAheadRateTests {
  private static func configuration(
    _ rate: HEVCEncoderConfiguration.LookAhead.Rate
  ) -> HEVCEncoderConfiguration {
    var configuration = HEVCEncoderConfiguration(width: 320, height: 192)
    configuration.effort = 2
    configuration.maximumReferences = 4
    configuration.minimumQP = 0
    configuration.lookAhead = HEVCEncoderConfiguration.LookAhead()
    configuration.lookAhead.rate = rate
    configuration.lookAhead.frames = 20
    return configuration
  }

  /// What an encoding of pictures gave, in decoding order.
  private static func encode(
    _ encoder: HEVCEncoder, pictures: Int = 150, kind: Content.Kind = .grain
  ) throws -> [HEVCFrameProperties] {
    let content = Content(kind: kind, width: 320, height: 192, seed: 3)
    var frames: [HEVCFrameProperties] = []
    func add(_ frame: consuming HEVCEncodedFrame) { frames.append(frame.properties) }
    for n in 0..<pictures { try content.withPicture(n) { try encoder.encode($0, output: add) } }
    encoder.flush(output: add)
    return frames
  }

  private static func rate(_ frames: [HEVCFrameProperties]) -> Double {
    Double(frames.reduce(0) { $0 + $1.bits }) * 30 / Double(frames.count)
  }

  @Test("An average rate is kept", arguments: [300_000, 1_000_000])
  func average(target: Int) throws {
    var configuration = Self.configuration(.average(target))
    configuration.lookAhead.expectedDuration = 5
    let rate = Self.rate(try Self.encode(HEVCEncoder(configuration: configuration)))
    #expect(abs(rate / Double(target) - 1) < 0.08, "\(rate)")
  }

  @Test("A second pass keeps an average rate within two percent")
  func passes() throws {
    let configuration = Self.configuration(.average(500_000))
    let first = try HEVCEncoder(configuration: configuration)
    first.keepsStatistics = true
    _ = try Self.encode(first)
    #expect(first.statistics.count == 150)
    let second = try HEVCEncoder(configuration: configuration, pass: first.statistics)
    let rate = Self.rate(try Self.encode(second))
    #expect(abs(rate / 500_000 - 1) < 0.02, "\(rate)")
  }

  @Test("The decoder's buffer never runs short", arguments: [400_000, 900_000])
  func buffer(target: Int) throws {
    var configuration = Self.configuration(.average(target))
    let size = target / 2
    configuration.lookAhead.buffer = .init(maximumRate: target, size: size, initialFullness: 0.9)
    var fullness = Double(size) * 0.9
    for (n, frame) in try Self.encode(HEVCEncoder(configuration: configuration)).enumerated() {
      fullness -= Double(frame.bits)
      #expect(fullness >= 0, "frame \(n)")
      fullness = min(fullness + Double(target) / 30, Double(size))
    }
  }

  @Test("With a quality, blocks have QPs of their own; with a constant QP they have not")
  func blocks() throws {
    let quality = try Self.encode(
      HEVCEncoder(configuration: Self.configuration(.quality(30))), pictures: 24, kind: .blocks)
    #expect(quality.contains { $0.lowestQP < $0.highestQP })
    let constant = try Self.encode(
      HEVCEncoder(configuration: Self.configuration(.constantQP(30))), pictures: 24, kind: .blocks)
    #expect(constant.allSatisfy { $0.lowestQP == 30 && $0.highestQP == 30 && $0.averageQP == 30 })
  }
}
