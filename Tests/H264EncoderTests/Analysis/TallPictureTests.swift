// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import H264Encoder

/// Pictures so tall, or so wide, that vectors reach the ends of what a level and sixteen bits hold.
@Suite struct TallPictureTests {
  /// Letters in cells of 8x12 on white, which are all different.
  private static func text(_ width: Int, _ height: Int, _ row: (Int, Int) -> Int) -> PlanarFrame {
    var frame = PlanarFrame(
      width: width, height: height, y: [UInt8](repeating: 235, count: width * height),
      u: [UInt8](repeating: 128, count: width * height / 4),
      v: [UInt8](repeating: 128, count: width * height / 4))
    frame.y.withUnsafeMutableBufferPointer { samples in
      for y in 0..<height {
        for x in 0..<width {
          // No row of the document is above this one.
          let line = row(x, y) + 1_200_000
          let glyph = SyntheticContent.hash(5, UInt64(x / 8), UInt64(line / 12))
          guard x % 8 < 6, line % 12 < 10, glyph & 0x30000 != 0 else { continue }
          if glyph >> UInt64(x % 8 / 2 + line % 12 / 2 * 3) & 1 == 1 { samples[y * width + x] = 20 }
        }
      }
    }
    return frame
  }

  /// Those of the last picture.
  private static func vectors(_ encoder: LowLatencyEncoder, _ width: Int, _ height: Int) -> [MotionVector] {
    let syntax = encoder.coder.history.syntax
    return (0..<width / 16 * height / 16 * 4).map { syntax.motion[$0] }
  }

  @Test(
    "Two vectors that a level allows differ by what sixteen bits and the table of costs hold",
    arguments: [10, 31, 52, 60, 62])
  func vectorDifferencesFitSixteenBitsAndTheCostTable(_ level: UInt8) throws {
    var c = H264EncoderConfiguration(width: 64, height: 64)
    c.level = Int(level)
    let vertical = try c.makeParameterSets().0.verticalMotion
    // Quarters of samples, from the farthest up to the farthest down.
    let farthest = 2 * 4 * vertical - 1
    #expect(farthest <= Int(Int16.max))
    #expect(farthest <= MotionCostTable.range)
  }

  @Test("Text scrolled by thousands of rows, columns of it against one another", arguments: [4200, 7000])
  func columnsScrolledByThousandsOfRowsDecode(_ rows: Int) throws {
    let (width, height) = (128, 16880)
    var c = H264EncoderConfiguration(width: width, height: height)
    c.effort = 3
    let encoder = try LowLatencyEncoder(configuration: c)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    for n in 0..<3 {
      let frame = Self.text(width, height) { x, y in x / 64 % 2 == 0 ? y + n * rows : y - n * rows }
      let unit = try frame.withSource(planar: true, padding: 0) { try encoder.encode($0).data }
      let shown = try decoder.decode(unit) ?? decoder.drain()
      let made = try #require(encoder.reconstruction(width: width, height: height))
      #expect(shown.map { made.firstDifference($0) } == .some(nil), "picture \(n)")
    }
    // The difference of two of them is kept in sixteen bits.
    let farthest = Self.vectors(encoder, width, height).map { abs(Int($0.y)) }.max() ?? 0
    #expect(farthest <= 4096 * 4)
  }

  @Test(
    "Pieces of a wide picture that moved inOtherReferences and inOtherReferences: components stay within 2048 samples"
  )
  func vectorComponentsStayWithin2048Samples() throws {
    let (width, height) = (16880, 64)
    var c = H264EncoderConfiguration(width: width, height: height)
    c.effort = 3
    c.lowLatency.rateControl = .constantQP(20)
    let encoder = try LowLatencyEncoder(configuration: c)
    let decoder = try #require(ReferenceDecoder(.libavcodec))
    for n in 0..<2 {
      var frame = PlanarFrame(
        width: width, height: height, y: [UInt8](repeating: 0, count: width * height),
        u: [UInt8](repeating: 128, count: width * height / 4),
        v: [UInt8](repeating: 128, count: width * height / 4))
      for x in 0..<width {
        // Each piece 24 samples farther than the one before it, which is found from there.
        let at = Double(n == 0 ? x : x - x / 128 * 24)
        for y in 0..<height {
          // Waves whose sum comes back nowhere.
          var value = 128.0
          for (seed, length) in [40.0, 57, 500].enumerated() {
            let phase = Double(SyntheticContent.hash(UInt64(seed), UInt64(y), 0) % 628) / 100
            value += 38 * sin(at / length + phase)
          }
          frame.y[y * width + x] = UInt8(value)
        }
      }
      let unit = try frame.withSource(planar: true, padding: 0) { try encoder.encode($0).data }
      let shown = try decoder.decode(unit) ?? decoder.drain()
      let made = try #require(encoder.reconstruction(width: width, height: height))
      #expect(shown.map { made.firstDifference($0) } == .some(nil), "picture \(n)")
    }
    let vectors = Self.vectors(encoder, width, height)
    let reach = vectors.map { abs(Int($0.x)) }.max() ?? 0
    #expect(reach <= 8192)
    // They come near it.
    #expect(reach > 6000, "reach \(reach)")
  }
}
