// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

@testable import AVFoundation

/// Missing pictures, detected by the times of the others.
@Suite struct MissingPictureTests {
  /// - Parameters:
  ///   - times: in milliseconds.
  ///   - gaps: the places at which packets are missing.
  private func missing(_ times: [Int], gaps: Set<Int>, lost: [Int: [Int]] = [:]) -> Int {
    var missing = MissingPictures()
    var found = 0
    for (index, time) in times.enumerated() {
      for other in lost[index] ?? [] { missing.addLost(CMTime(value: Int64(other), timescale: 1000)) }
      found += missing.add(CMTime(value: Int64(time), timescale: 1000), followsDataLoss: gaps.contains(index))
    }
    return found + missing.finish()
  }

  private func times(_ range: Range<Int>, without: Set<Int> = [], step: Int = 40) -> [Int] {
    range.filter { !without.contains($0) }.map { $0 * step }
  }

  @Test func aConstantRateTells() {
    #expect(missing(times(0..<300), gaps: [50, 51, 200]) == 0)
    #expect(missing(times(0..<300, without: [50]), gaps: [52]) == 1)
    // Each once, also where one gap is near another, or continues.
    #expect(missing(times(0..<300, without: [50, 60, 61, 90, 130]), gaps: [50, 59, 85, 126]) == 5)
    let many = Set(stride(from: 20, to: 300, by: 10))
    #expect(missing(times(0..<310, without: many), gaps: Set(0..<300)) == 28)
    // A reported gap is not reported again, in whichever order it comes.
    #expect(missing(times(0..<100, without: [50, 52]), gaps: [49], lost: [47: [52 * 40]]) == 1)
    // Nothing indicates that pictures are missing.
    #expect(missing(times(0..<300, without: [50, 60]), gaps: []) == 0)
    #expect(missing(times(0..<300, without: [50]), gaps: [250]) == 0)
    // Packets are missing before those of a picture that is shown later, or earlier.
    for place in [185, 190, 195, 200, 210] {
      #expect(missing(times(0..<400, without: [190]), gaps: [place]) == 1)
    }
  }

  @Test func otherRatesDoNot() {
    let variable = (0..<300).filter { $0 % 7 == 0 || $0 % 20 < 6 }.map { $0 * 40 }
    #expect(missing(variable, gaps: [60]) == 0)
    // Some pictures last longer.
    #expect(missing(times(0..<400, without: Set(stride(from: 9, to: 400, by: 15))), gaps: [200]) == 0)
    for (one, other) in [(20, 40), (40, 20), (200, 40), (40, 200)] {
      let first = times(0..<100, step: one)
      let end = first[99] + one
      #expect(missing(first + times(0..<100, step: other).map { $0 + end }, gaps: [100]) == 0)
    }
    let few = times(0..<10, step: 40)
    #expect(missing(few + times(0..<100, step: 20).map { $0 + 400 }, gaps: [10]) == 0)
    #expect(missing(few + times(0..<2, step: 20).map { $0 + 400 }, gaps: [10]) == 0)
    #expect(missing([0], gaps: [0]) == 0 && missing([], gaps: []) == 0 && missing([5, 5, 5], gaps: [1]) == 0)
    // Another clock.
    #expect(missing(times(0..<100) + times(200..<300) + times(0..<50), gaps: [100, 200]) == 0)
    // Two alternating durations, as of film in 60 fields.
    #expect(missing((0..<200).map { $0 / 2 * 83 + $0 % 2 * 33 }, gaps: [100]) == 0)
  }
}
