// SPDX-License-Identifier: Apache-2.0
import HEVCEncoder
import Testing

@Suite("Rates of the low-latency mode")
struct RateTests {
  private static func configuration(rate: Int) -> HEVCEncoderConfiguration {
    var configuration = HEVCEncoderConfiguration(width: 320, height: 192)
    configuration.lowLatency.rateControl = .averageBitRate(rate)
    configuration.lowLatency.maximumQueueDelay = 0.5
    configuration.effort = 2
    return configuration
  }

  @Test("The rate and the delay are kept", arguments: [400_000, 1_000_000])
  func average(rate: Int) throws {
    let encoder = try HEVCEncoder(configuration: Self.configuration(rate: rate))
    let content = Content(kind: .grain, width: 320, height: 192, seed: 3)
    var bits = 0
    // A link of the target rate, and the time until the last bit of each frame has passed it.
    var queue = 0.0
    for n in 0..<150 {
      let bytes = try content.withPicture(n) { try encoder.encode($0).data.count } ?? 0
      bits += bytes * 8
      queue += Double(bytes * 8)
      #expect(queue / Double(rate) <= 0.55, "frame \(n)")
      queue = max(queue - Double(rate) / 30, 0)
    }
    let measured = Double(bits) * 30 / 150
    #expect(abs(measured / Double(rate) - 1) < 0.08, "\(measured)")
  }

  /// The bits a second of motion between black bars.
  private static func letterbox(strength: Double) throws -> Double {
    var configuration = configuration(rate: 300_000)
    configuration.lowLatency.adaptiveQuantisation = strength
    let encoder = try HEVCEncoder(configuration: configuration)
    let content = Content(kind: .blocks, width: 320, height: 192, seed: 8)
    var bits = 0
    for n in 0..<120 {
      let size = try content.withPicture(n) { picture in
        var luma = Array(UnsafeBufferPointer(start: picture.luma, count: picture.lumaBytesPerRow * 192))
        for y in 0..<192 where y < 40 || y >= 152 {
          for x in 0..<320 { luma[y * picture.lumaBytesPerRow + x] = 16 }
        }
        return try luma.withUnsafeBufferPointer { samples in
          try encoder.encode(
            SourcePicture(
              width: 320, height: 192, luma: try #require(samples.baseAddress),
              lumaBytesPerRow: picture.lumaBytesPerRow, chroma: picture.chroma)
          ).byteCount
        }
      }
      bits += 8 * (size ?? 0)
    }
    return Double(bits) / 4
  }

  @Test("Adaptive quantisation takes no bits from a picture between black bars", arguments: [0.4, 1, 2])
  func adaptiveQuantisationUsesTheRate(_ strength: Double) throws {
    let plain = try Self.letterbox(strength: 0)
    let adaptive = try Self.letterbox(strength: strength)
    #expect(adaptive > plain * 0.95, "\(adaptive) \(plain)")
  }

  @Test("The rate changes without a key frame")
  func change() throws {
    var configuration = Self.configuration(rate: 1_200_000)
    let encoder = try HEVCEncoder(configuration: configuration)
    let content = Content(kind: .grain, width: 320, height: 192, seed: 5)
    var bits = [0, 0]
    for n in 0..<120 {
      if n == 60 {
        configuration.lowLatency.rateControl = .averageBitRate(500_000)
        try encoder.reconfigure(configuration)
      }
      let (size, isKey) =
        try content.withPicture(n) {
          let frame = try encoder.encode($0)
          return (frame.byteCount * 8, frame.properties.isKeyFrame)
        } ?? (0, false)
      #expect(isKey == (n == 0))
      if n >= 30 && n < 60 { bits[0] += size }
      if n >= 90 { bits[1] += size }
    }
    #expect(abs(Double(bits[0]) / 1_200_000 - 1) < 0.12, "\(bits[0])")
    #expect(abs(Double(bits[1]) / 500_000 - 1) < 0.12, "\(bits[1])")
  }

  @Test("A hard limit holds in every window")
  func hardLimit() throws {
    var configuration = Self.configuration(rate: 2_000_000)
    configuration.dataRateLimits = [DataRateLimit(bytes: 20_000, seconds: 0.5)]
    configuration.lowLatency.allowsFrameDropping = true
    let encoder = try HEVCEncoder(configuration: configuration)
    let content = Content(kind: .noise, width: 320, height: 192, seed: 5)
    var sizes: [Int] = []
    for n in 0..<60 { sizes.append(try content.withPicture(n) { try encoder.encode($0).byteCount } ?? 0) }
    for end in 15...60 { #expect(sizes[end - 15..<end].reduce(0, +) <= 20_000, "window to \(end)") }
    #expect(sizes.contains { $0 > 0 })
  }

  @Test("A constant QP without the cascade is the QP of every frame")
  func constantQP() throws {
    var configuration = HEVCEncoderConfiguration(width: 64, height: 64)
    configuration.lowLatency.rateControl = .constantQP(31)
    configuration.lowLatency.cascadesQuality = false
    let encoder = try HEVCEncoder(configuration: configuration)
    let content = Content(kind: .noise, width: 64, height: 64, seed: 5)
    for n in 0..<4 {
      #expect(try content.withPicture(n) { try encoder.encode($0).properties.averageQP } == 31)
    }
  }

  @Test("What is visible does not change how pictures are coded")
  func window() throws {
    var configuration = HEVCEncoderConfiguration(width: 96, height: 128)
    configuration.lowLatency.rateControl = .averageBitRate(300_000)
    configuration.writesParameterSets = false
    func stream() throws -> [UInt8] {
      let encoder = try HEVCEncoder(configuration: configuration)
      let content = Content(kind: .noise, width: 96, height: 128, seed: 3)
      return try (0..<6).reduce(into: []) { bytes, n in
        bytes += try content.withPicture(n) { try encoder.encode($0).data } ?? []
      }
    }
    let whole = try stream()
    (configuration.visibleWidth, configuration.visibleHeight) = (32, 16)
    #expect(try stream() == whole)
  }

  @Test(
    "A frame over a hard limit keeps what fits",
    arguments: [2500, 4250, 4500, 5000, 6750, 7000, 9000])
  func keptUnits(bytes: Int) throws {
    // Five coding tree units, of which each takes some 2300 bytes at this QP.
    var configuration = HEVCEncoderConfiguration(width: 160, height: 32)
    configuration.effort = 0
    configuration.minimumQP = 0
    configuration.writesParameterSets = false
    configuration.lowLatency.rateControl = .constantQP(0)
    configuration.dataRateLimits = [DataRateLimit(bytes: bytes, seconds: 0.02)]
    let encoder = try HEVCEncoder(configuration: configuration)
    let content = Content(kind: .noise, width: 160, height: 32, seed: 5)
    let size = try content.withPicture(0) { try encoder.encode($0).byteCount } ?? 0
    #expect(size <= bytes)
    #expect(size > bytes / 2)
  }
}
