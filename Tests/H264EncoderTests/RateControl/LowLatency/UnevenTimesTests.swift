// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import H264Encoder

/// The rate control where frames do not come at even times.
@Suite struct UnevenTimesTests {
  private static let (width, height) = (320, 176)

  /// A pattern of waves that moves.
  private static let pictures: [PlanarFrame] = (0..<200).map { n in
    var frame = PlanarFrame(
      width: width, height: height, y: [UInt8](repeating: 0, count: width * height),
      u: [UInt8](repeating: 128, count: width * height / 4),
      v: [UInt8](repeating: 128, count: width * height / 4))
    frame.y.withUnsafeMutableBufferPointer { samples in
      for y in 0..<height {
        for x in 0..<width {
          let (u, v) = (Double(x) + Double(n) * 3.3, Double(y) - Double(n) * 1.7)
          let value =
            128 + 45 * sin(u / 5) * cos(v / 7) + 40 * sin((u + v) / 23) + 20 * sin(u / 2.3 + v / 3.1)
          samples[y * width + x] = UInt8(max(0, min(255, value)))
        }
      }
    }
    return frame
  }

  struct Outcome {
    /// Part of the rate that was used.
    var used: Double
    /// The longest that a frame took until its last bit had left a line of the rate.
    var delay: Double
  }

  /// - Parameter seconds: since the frame before.
  private func run(
    _ rate: Int, count: Int = 200, expecting frameRate: Double = 30, _ seconds: (Int) -> Double
  ) throws -> Outcome {
    var c = H264EncoderConfiguration(width: Self.width, height: Self.height)
    c.effort = 0
    c.frameRate = frameRate
    c.lowLatency.rateControl = .averageBitRate(rate)
    let encoder = try LowLatencyEncoder(configuration: c)
    var (bits, time, waiting) = (0, 0.0, 0.0)
    var outcome = Outcome(used: 0, delay: 0)
    for n in 0..<count {
      var options = H264FrameOptions()
      options.duration = seconds(n)
      time += seconds(n)
      let taken = try Self.pictures[n].withSource(planar: true, padding: 0) {
        try encoder.encode($0, options: options).properties.bits
      }
      bits += taken
      waiting = max(waiting - Double(rate) * seconds(n), 0) + Double(taken)
      outcome.delay = max(outcome.delay, waiting / Double(rate))
    }
    outcome.used = Double(bits) / time / Double(rate)
    return outcome
  }

  struct Pattern: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var seconds: @Sendable (Int) -> Double
  }

  private static let uneven: [Pattern] = [
    Pattern(testDescription: "pulldown") { $0 % 2 == 0 ? 2.0 / 60 : 3.0 / 60 },
    Pattern(testDescription: "16 and 50 ms") { $0 % 2 == 0 ? 1.0 / 60 : 3.0 / 60 },
    Pattern(testDescription: "10 and 57 ms") { $0 % 2 == 0 ? 0.01 : 0.0567 },
    Pattern(testDescription: "every third is missing") { $0 % 2 == 0 ? 1.0 / 30 : 2.0 / 30 },
    Pattern(testDescription: "by chance") {
      0.02 + Double(SyntheticContent.hash(5, UInt64($0), 0) % 1000) * 0.000_027
    },
  ]

  @Test("A rate is used at uneven times as at even ones", arguments: uneven, [100_000, 400_000])
  func aRateIsUsedAtUnevenTimesAsAtEvenOnes(_ pattern: Pattern, rate: Int) throws {
    let even = try run(rate) { _ in 1.0 / 30 }
    let outcome = try run(rate, pattern.seconds)
    #expect(outcome.used > even.used - 0.08, "\(even.used) at even times")
    #expect(outcome.used < 1.05)
    #expect(outcome.delay <= 0.3)
  }

  private static let pauses: [Pattern] = [
    Pattern(testDescription: "a second, each 30") { $0 % 30 == 29 ? 1 : 1.0 / 30 },
    Pattern(testDescription: "a second, each 10") { $0 % 10 == 9 ? 1 : 1.0 / 30 },
    Pattern(testDescription: "0.3 s, each 6") { $0 % 6 == 5 ? 0.3 : 1.0 / 30 },
    Pattern(testDescription: "two minutes, each 100") { $0 % 100 == 99 ? 120 : 1.0 / 30 },
    Pattern(testDescription: "two minutes at first") { $0 == 0 ? 120 : 1.0 / 30 },
  ]

  @Test("No frame is late after a pause", arguments: pauses, [100_000, 400_000])
  func noFrameIsLateAfterAPause(_ pattern: Pattern, rate: Int) throws {
    #expect(try run(rate, pattern.seconds).delay <= 0.3)
  }

  @Test(
    "Frames that come faster or slower than was said use the rate all the same", arguments: [5.0, 10, 60])
  func framesAtAnotherRateThanAnnouncedUseTheRate(_ frames: Double) throws {
    let outcome = try run(200_000, count: 100) { _ in 1 / frames }
    let reported = try run(200_000, count: 100, expecting: frames) { _ in 1 / frames }
    #expect(abs(outcome.used - reported.used) < 0.05, "\(reported.used) where it was said")
    #expect(outcome.delay <= max(0.3, 1.5 / frames))
  }
}
