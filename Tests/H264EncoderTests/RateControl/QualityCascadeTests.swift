// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder

/// With a constant QP, better pictures come in a rhythm, stay referred to, and can be turned off.
@Suite struct QualityCascadeTests {
  private static func configuration() -> H264EncoderConfiguration {
    var c = H264EncoderConfiguration(width: 96, height: 64)
    c.lowLatency.rateControl = .constantQP(28)
    c.maximumReferences = 2
    return c
  }

  private static func encode(
    _ c: H264EncoderConfiguration, frames: Int,
    _ options: (Int) -> H264FrameOptions = { _ in H264FrameOptions() },
    each: (Int, LowLatencyEncoder) -> Void = { _, _ in }
  ) throws -> [H264FrameProperties] {
    let encoder = try LowLatencyEncoder(configuration: c)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    let content = SyntheticContent(kind: .motion, width: c.width, height: c.height, seed: 3)
    return try (0..<frames).map { n in
      let unit = try content.frame(n).withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options(n))
      }
      let reconstruction = try #require(encoder.reconstruction(width: c.width, height: c.height))
      let decoded = try #require(try decoder.decode(unit.data))
      #expect(reconstruction.firstDifference(decoded) == nil, "frame \(n)")
      each(n, encoder)
      return unit.properties
    }
  }

  @Test("The QP follows the cascade, from each key frame again")
  func theQPFollowsTheCascade() throws {
    let properties = try Self.encode(Self.configuration(), frames: 12) { n in
      var options = H264FrameOptions()
      options.isKeyFrame = n == 7
      return options
    }
    #expect(properties.map { Int($0.averageQP) } == [22, 29, 29, 30, 25, 29, 29, 22, 29, 29, 30, 25])
  }

  @Test("Without it, and with a QP of the frame's own, the QP is exact")
  func theQPIsExactWithoutTheCascade() throws {
    var c = Self.configuration()
    c.lowLatency.cascadesQuality = false
    #expect(try Self.encode(c, frames: 6).allSatisfy { $0.lowestQP == 28 && $0.highestQP == 28 })
    let own = try Self.encode(Self.configuration(), frames: 6) { n in
      var options = H264FrameOptions()
      options.qp = 20 + n
      return options
    }
    #expect(own.map { Int($0.averageQP) } == [20, 21, 22, 23, 24, 25])
  }

  @Test("The limits of the QP hold")
  func theLimitsOfTheQPHold() throws {
    var c = Self.configuration()
    c.minimumQP = 27
    c.maximumQP = 29
    let properties = try Self.encode(c, frames: 6)
    #expect(properties.allSatisfy { $0.lowestQP >= 27 && $0.highestQP <= 29 })
  }

  @Test("The better picture stays a reference while others come and go")
  func theBetterPictureStaysAReferenceWhileOthersComeAndGo() throws {
    var kept: [[UInt64]] = []
    _ = try Self.encode(
      Self.configuration(), frames: 9,
      each: { _, encoder in
        kept.append(encoder.availableReferences.sorted())
      })
    #expect(kept == [[0], [0, 1], [0, 2], [0, 3], [3, 4], [4, 5], [4, 6], [4, 7], [7, 8]])
  }
}
