// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

@testable import VideoToolbox

@Suite struct LayeredSiloTests {
  private static let count = 60

  private static func range(_ frames: Range<Int>) -> CMTimeRange {
    CMTimeRange(
      start: CMTime(value: Int64(frames.lowerBound), timescale: 30),
      end: CMTime(value: Int64(frames.upperBound), timescale: 30))
  }

  /// A linear congruential generator.
  private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  @Test("Frames of the last part that holds a time are those that come, in order", arguments: 0..<24)
  func theLastPartThatHoldsATimeGivesItsFrames(seed: UInt64) throws {
    var generator = Random(state: seed)
    let whole = try #require(SiloFrames.silo().silo)
    var expected: [Int] = []
    for frame in 0..<Self.count {
      #expect(
        VTFrameSiloAddSampleBuffer(whole, sampleBuffer: try SiloFrames.frame(frame, count: 100)) == noErr)
      expected.append(100)
    }
    var layered = LayeredSilo(whole)
    for layer in 1...6 {
      // Ascending and apart; some have no frame of their own.
      var ranges: [Range<Int>] = []
      var at = Int.random(in: 0..<20, using: &generator)
      while at < Self.count, ranges.count < 3 {
        let end = min(at + Int.random(in: 1...15, using: &generator), Self.count)
        ranges.append(at..<end)
        at = end + Int.random(in: 0...15, using: &generator)
      }
      let silo = try #require(SiloFrames.silo().silo)
      for frame in ranges.joined() {
        let sample = try SiloFrames.frame(frame, count: 100 + layer)
        #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample) == noErr)
        expected[frame] = 100 + layer
      }
      layered.replace(ranges.map(Self.range), with: silo)
      try check(layered, expected, 0..<Self.count, isAll: true)
      let first = Int.random(in: 0..<Self.count, using: &generator)
      let last = Int.random(in: first..<Self.count, using: &generator)
      try check(layered, expected, first..<last + 1, isAll: false)
    }
  }

  private func check(_ silo: LayeredSilo, _ expected: [Int], _ frames: Range<Int>, isAll: Bool) throws {
    var got: [(Int64, Int)] = []
    let status = silo.forEach(in: isAll ? nil : Self.range(frames)) {
      got.append(($0.decodeTimeStamp.value, CMSampleBufferGetTotalSampleSize($0)))
      return noErr
    }
    #expect(status == noErr)
    #expect(got.map(\.0) == frames.map(Int64.init))
    #expect(got.map(\.1) == Array(expected[frames]))
  }

  @Test("A caller can stop the enumeration, also inside a part")
  func whatACallerSaysEndsIt() throws {
    let (whole, part) = (try #require(SiloFrames.silo().silo), try #require(SiloFrames.silo().silo))
    for frame in 0..<4 {
      #expect(VTFrameSiloAddSampleBuffer(whole, sampleBuffer: try SiloFrames.frame(frame)) == noErr)
    }
    for frame in 1..<3 {
      #expect(VTFrameSiloAddSampleBuffer(part, sampleBuffer: try SiloFrames.frame(frame)) == noErr)
    }
    var layered = LayeredSilo(whole)
    layered.replace([Self.range(1..<3)], with: part)
    for stop in 1...4 {
      var count = 0
      let status = layered.forEach { _ in
        count += 1
        return count == stop ? -7 : noErr
      }
      #expect(status == -7 && count == stop)
    }
  }
}
