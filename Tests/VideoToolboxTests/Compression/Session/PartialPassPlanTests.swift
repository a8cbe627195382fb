// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

@testable import VideoToolbox

/// The frames chosen to be encoded again, recomputed from the frames.
@Suite struct PartialPassPlanTests {
  /// Groups of ten frames at 10 a second, with one picture of reordering.
  private func frames(_ groups: [(bits: Int, qp: Double)]) -> [PassFrame] {
    groups.enumerated().flatMap { number, group in
      (0..<10).map { n in
        let shown = n == 0 ? 0 : min(n % 2 == 1 ? n + 1 : n - 1, 9)
        return PassFrame(
          presentationTime: CMTime(value: CMTimeValue(number * 10 + shown), timescale: 10),
          decodeTime: CMTime(value: CMTimeValue(number * 10 + n - 1), timescale: 10),
          bits: group.bits / 10, isKeyFrame: n == 0, averageQP: group.qp)
      }
    }
  }

  private let groups = [(10000, 30.0), (20000, 20), (20000, 20), (10000, 40), (10000, 25)]
  private let end = CMTime(value: 50, timescale: 10)

  @Test func bitsAreGivenUpWhereQualityIsHighest() {
    // 70,000 bits, 66,500 wanted: 5,000 more could come from the second group alone, but one can
    // lose a quarter only.
    let parts = PartialPassPlan.parts(frames(groups), end: end, rate: 13300)
    #expect(parts.map(\.frames) == [10..<20])
    #expect(parts.map(\.bits) == [16500])
    #expect(parts.first?.range.start == CMTime(value: 9, timescale: 10))
    #expect(parts.first?.range.end == CMTime(value: 19, timescale: 10))
    #expect(parts.first?.firstTime == CMTime(value: 10, timescale: 10))
    #expect(parts.first?.lastTime == CMTime(value: 19, timescale: 10))
    #expect(parts.first?.decodeTimes.count == 10)
  }

  @Test func neighboursStaySeparateParts() {
    let parts = PartialPassPlan.parts(frames(groups), end: end, rate: 12500)
    #expect(parts.map(\.frames) == [10..<20, 20..<30])
    #expect(parts.map(\.bits) == [16250, 16250])
    #expect(parts.map(\.range.end) == [19, 29].map { CMTime(value: $0, timescale: 10) })
  }

  @Test func partsAtTheLimitsOfTheSessionGiveNothing() {
    // A group whose QP is at the limit cannot give up bits, so the next groups are chosen.
    let taken = PartialPassPlan.parts(frames(groups), end: end, rate: 13300, qp: 0...42)
    #expect(taken.map(\.frames) == [10..<20])
    let limited = PartialPassPlan.parts(frames(groups), end: end, rate: 14800, qp: 38...51)
    #expect(limited.isEmpty || limited.map(\.frames) == [30..<40])
    #expect(PartialPassPlan.parts(frames(groups), end: end, rate: 13300, qp: 0...21).isEmpty)
  }

  @Test func bitsAreGivenWhereQualityIsLowest() {
    let parts = PartialPassPlan.parts(frames(groups), end: end, rate: 14800)
    #expect(parts.map(\.frames) == [0..<10, 30..<40])
    #expect(parts.map(\.bits) == [12000, 12000])
  }

  @Test func noPartIsChosenWithoutBenefit() {
    // In turn: the rate is within the tolerance; the deviation exceeds a quarter of the bits; the
    // QP is already minimal.
    #expect(PartialPassPlan.parts(frames(groups), end: end, rate: 14050).isEmpty)
    #expect(PartialPassPlan.parts(frames(groups), end: end, rate: 9000).isEmpty)
    let finest = frames(groups.map { ($0.0, 2) })
    #expect(PartialPassPlan.parts(finest, end: end, rate: 14800).isEmpty)
    #expect(PartialPassPlan.parts([], end: end, rate: 14800).isEmpty)
    #expect(PartialPassPlan.parts(frames(groups), end: .invalid, rate: 14800).isEmpty)
    #expect(PartialPassPlan.parts(frames(groups), end: end, rate: .nan).isEmpty)
  }

  @Test("Groups that pictures refer across a key frame between are one part")
  func groupsThatPicturesReferAcrossAKeyFrameBetweenAreOnePart() {
    var open = frames(groups)
    open[20].isOpenGOP = true
    let parts = PartialPassPlan.parts(open, end: end, rate: 13300)
    #expect(parts.map(\.frames) == [10..<30])
    #expect(parts.map(\.bits) == [36500])
    // The first group of a movie cannot be an open GOP.
    open[0].isOpenGOP = true
    #expect(PartialPassPlan.parts(open, end: end, rate: 13300).isEmpty)
  }
}
