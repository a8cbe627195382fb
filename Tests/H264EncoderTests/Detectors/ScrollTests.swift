// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import H264Encoder
@testable import VideoEncoding

/// A document that is scrolled further than neighbouring vectors could find.
@Suite struct ScrollTests {
  private static let width = 192
  private static let height = 256

  /// Lines of something like print, of unequal lengths, from row `top` of the document on. Columns
  /// from `margin` on are static.
  private static func page(top: Int, margin: Int = width) -> PlanarFrame {
    var frame = PlanarFrame(
      width: width, height: height, y: [UInt8](repeating: 235, count: width * height),
      u: [UInt8](repeating: 128, count: width * height / 4),
      v: [UInt8](repeating: 128, count: width * height / 4))
    for y in 0..<height {
      for x in 0..<width {
        let row = y + (x < margin ? top : 0)
        let (line, inside) = (row / 15, row % 15)
        guard inside > 3, inside < 13, x % width < 40 + (line * 97) % 150 else { continue }
        var h =
          UInt64(x / 2 + 1) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(line * 16 + inside / 2) &* 0xC2B2_AE3D_27D4_EB4F
        h ^= h >> 29
        h = h &* 0xBF58_476D_1CE4_E5B9
        if (h >> 40) & 3 == 0 { frame.y[y * width + x] = 30 }
      }
    }
    return frame
  }

  /// Bands of unequal brightness from `low` to `high`.
  private static func scene(_ low: Int, _ high: Int) -> PlanarFrame {
    var frame = page(top: 0)
    for y in 0..<height {
      for x in 0..<width {
        var h = UInt64(y / 6 + low) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(x / 24) &* 0xC2B2_AE3D_27D4_EB4F
        h ^= h >> 29
        h = h &* 0xBF58_476D_1CE4_E5B9
        frame.y[y * width + x] = UInt8(low + Int(h >> 40) % (high - low))
      }
    }
    return frame
  }

  private static func encoder(_ qp: Int) throws -> LowLatencyEncoder {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.lowLatency.rateControl = .constantQP(qp)
    return try LowLatencyEncoder(configuration: c)
  }

  private static func bits(_ encoder: LowLatencyEncoder, _ frame: PlanarFrame) throws -> Int {
    try frame.withSource(planar: false, padding: 0) { try encoder.encode($0).properties.bits }
  }

  @Test("What was scrolled is found whole, up and down", arguments: [61, -53, 90])
  func whatWasScrolledIsFoundWhole(distance: Int) throws {
    let encoder = try Self.encoder(28)
    let first = try Self.bits(encoder, Self.page(top: 300))
    let second = try Self.bits(encoder, Self.page(top: 300 + distance))
    // New is what came into view, and little else.
    let share = Double(abs(distance)) / Double(Self.height)
    #expect(Double(second) < Double(first) * (share + 0.15), "\(second) bits after \(first)")
  }

  @Test("A part of the picture was scrolled, the rest is static")
  func aScrolledPartIsFoundBesideWhatStandsStill() throws {
    let encoder = try Self.encoder(28)
    let first = try Self.bits(encoder, Self.page(top: 300, margin: 96))
    let second = try Self.bits(encoder, Self.page(top: 347, margin: 96))
    #expect(Double(second) < Double(first) * 0.3, "\(second) bits after \(first)")
  }

  @Test("Nothing is taken for scrolled that was not")
  func nothingIsTakenForScrolledThatWasNot() throws {
    let geometry = PictureGeometry(width: Self.width, height: Self.height)
    var memory = EncoderMemory()
    let detector = ScrollDetector(geometry, memory: &memory)
    let planes = PicturePlanes(geometry, memory: &memory)
    func copy(_ frame: PlanarFrame) {
      for y in 0..<Self.height {
        for x in 0..<Self.width { planes.luma[y * geometry.stride + x] = frame.y[y * Self.width + x] }
      }
    }
    copy(Self.page(top: 300))
    func distance(_ frame: PlanarFrame) -> Int {
      frame.withSource(planar: false, padding: 0) { detector.distance($0, from: planes.luma, limit: 256) }
    }
    #expect(distance(Self.page(top: 300)) == 0)
    #expect(distance(Self.page(top: 337)) == 37)
    #expect(distance(Self.page(top: 269)) == -31)
    // A dark scene after a bright one and the other way round: the fewer rows are compared, the
    // less they differ.
    let (bright, dark) = (Self.scene(90, 230), Self.scene(4, 60))
    copy(bright)
    #expect(distance(dark) == 0)
    copy(dark)
    #expect(distance(bright) == 0)
    for kind in [SyntheticContent.Kind.flat, .noise, .extremes] {
      let content = SyntheticContent(kind: kind, width: Self.width, height: Self.height, seed: 3)
      copy(content.frame(0))
      #expect(distance(content.frame(1)) == 0, "\(kind)")
    }
  }
}
