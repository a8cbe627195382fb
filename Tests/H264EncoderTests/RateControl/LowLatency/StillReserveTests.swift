// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import H264Encoder

/// A static desktop keeps the link free, and a window that opens is sharp as soon as the
/// link allows.
@Suite struct StillReserveTests {
  private static let (width, height, frameRate, bound) = (640, 352, 60.0, 0.5)

  /// Letters in cells of 8x12 in a rectangle, on a plain ground.
  private static func desktop(window: (x: Range<Int>, y: Range<Int>)?) -> PlanarFrame {
    var frame = PlanarFrame(
      width: width, height: height, y: [UInt8](repeating: 70, count: width * height),
      u: [UInt8](repeating: 140, count: width * height / 4),
      v: [UInt8](repeating: 120, count: width * height / 4))
    func print(_ x: Range<Int>, _ y: Range<Int>, _ ground: UInt8, seed: UInt64) {
      for row in y {
        for column in x {
          let isCell = column % 8 < 6 && row % 12 < 10
          let glyph = SyntheticContent.hash(seed, UInt64(column / 8), UInt64(row / 12))
          let isInk = isCell && glyph >> UInt64(column % 8 / 2 + row % 12 / 2 * 3) & 1 == 1
          frame.y[row * width + column] = isInk ? 20 : ground
        }
      }
    }
    print(16..<240, 16..<120, 200, seed: 5)
    if let window { print(window.x, window.y, 235, seed: 9) }
    return frame
  }

  private static let window = (x: 320..<560, y: 160..<304)
  private static let before = desktop(window: nil)
  private static let after = desktop(window: window)

  private struct Frame {
    var bits: Int
    var qp: Double
    /// The seconds until its last bit is sent.
    var wait: Double
    /// The PSNR of the window, or of the whole picture before it opens.
    var psnr: Double
  }

  private static func psnr(_ a: PlanarFrame, _ b: PlanarFrame, _ x: Range<Int>, _ y: Range<Int>) -> Double {
    var sum = 0
    for row in y {
      for i in row * width + x.lowerBound..<row * width + x.upperBound {
        sum += (Int(a.y[i]) - Int(b.y[i])) * (Int(a.y[i]) - Int(b.y[i]))
      }
    }
    return sum == 0 ? 99 : 10 * log10(255 * 255 * Double(x.count * y.count) / Double(sum))
  }

  /// A static desktop, and a window that opens with frame `opening`.
  private static func encode(
    rate: Int, frames: Int, opening: Int, firstQP: Int? = nil,
    change: (inout H264EncoderConfiguration) -> Void = { _ in }
  ) throws -> [Frame] {
    var c = H264EncoderConfiguration(width: width, height: height)
    c.frameRate = frameRate
    c.effort = 1
    c.lowLatency.rateControl = .averageBitRate(rate)
    c.lowLatency.maximumQueueDelay = bound
    change(&c)
    let encoder = try LowLatencyEncoder(configuration: c)
    var wait = 0.0
    return try (0..<frames).map { n in
      let picture = n < opening ? before : after
      var options = H264FrameOptions()
      if n == 0 { options.qp = firstQP }
      let properties = try picture.withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options).properties
      }
      wait = max(wait - 1 / frameRate, 0) + Double(properties.bits) / Double(rate)
      let coded = try #require(encoder.reconstruction(width: width, height: height))
      let (x, y) = n < opening ? (0..<width, 0..<height) : window
      return Frame(
        bits: properties.bits, qp: properties.averageQP, wait: wait, psnr: psnr(picture, coded, x, y))
    }
  }

  @Test("The window is sharp within the bound, and no frame waits longer", arguments: [300_000, 1_000_000])
  func aWindowIsSharpAsSoonAsTheLinkAllows(rate: Int) throws {
    let opening = 150
    let frames = try Self.encode(rate: rate, frames: 240, opening: opening)
    #expect(frames.allSatisfy { $0.wait <= Self.bound * 1.001 })
    let sharp = try #require((opening..<240).first { frames[$0].psnr >= 38 })
    let seconds = Double(sharp - opening) / Self.frameRate + frames[sharp].wait
    // The link is busy with the window from its first bit on: nothing waited before it.
    let bits = frames[opening...sharp].reduce(0) { $0 + $1.bits }
    #expect(seconds < Double(bits) / Double(rate) + 2.5 / Self.frameRate, "\(seconds) s for \(bits) bits")
    #expect(seconds < 0.6, "\(seconds)")
  }

  @Test("Static content is refined to the quality that can be seen, and costs nothing from then on")
  func whatStandsStillCostsNothing() throws {
    let frames = try Self.encode(rate: 1_000_000, frames: 150, opening: 150)
    #expect(frames[149].psnr > 46, "\(frames[149].psnr)")
    #expect(frames[149].qp == 16)
    #expect(frames[100...].allSatisfy { $0.bits < 1000 }, "\(frames[100...].map(\.bits))")
    #expect(frames[100...].allSatisfy { $0.wait < 0.002 })
  }

  @Test("The quality of static content is that of the configuration")
  func theQualityIsThatOfTheConfiguration() throws {
    let coarse = try Self.encode(rate: 1_000_000, frames: 100, opening: 100, firstQP: 40) {
      $0.lowLatency.maximumStillPSNR = 38
    }
    let fine = try Self.encode(rate: 1_000_000, frames: 100, opening: 100, firstQP: 40) {
      $0.lowLatency.maximumStillPSNR = 55
    }
    #expect(coarse[99].qp == 24 && coarse[99].psnr > 38, "\(coarse[99])")
    #expect(fine[99].qp < 12 && fine[99].psnr > coarse[99].psnr + 5, "\(fine[99])")
  }

  @Test("Refinement leaves most of a hard limit to the next change")
  func refinementLeavesMostOfAHardLimit() throws {
    let rate = 300_000
    let frames = try Self.encode(rate: rate, frames: 200, opening: 90) {
      $0.dataRateLimits = [.init(bytes: rate / 8, seconds: 1)]
    }
    for first in 0...140 {
      #expect(frames[first..<first + 60].reduce(0) { $0 + $1.bits } <= rate)
    }
    #expect(frames[90].bits > rate / 10, "\(frames[90].bits)")
    #expect(frames[150].psnr > 38)
  }
}
