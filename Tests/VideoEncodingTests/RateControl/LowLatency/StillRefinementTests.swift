// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import VideoEncoding

/// How a static picture is sharpened and refined, step by step.
@Suite struct StillRefinementTests {
  private static let (rate, share) = (600_000.0, 10_000.0)

  private static func refinement(_ psnr: Double = 46, reached: Double = 40) -> StillRefinement {
    var still = StillRefinement(maximumPSNR: psnr, minimumQP: 0)
    still.finishChange(duration: 1 / 60, highestQP: reached, isComplete: true)
    return still
  }

  private static func next(
    _ still: inout StillRefinement, backlog: Double = 0, mayImprove: Bool = true
  ) -> StillRefinement.Step {
    still.next(share: share, backlog: backlog, rate: rate, mayImprove: mayImprove)
  }

  /// Passes time in which nothing is improved.
  private static func stand(_ still: inout StillRefinement, _ frames: Int, qp: Double = 40) {
    for _ in 0..<frames {
      _ = next(&still, backlog: 1e6)
      still.finishStill(duration: 1 / 60, highestQP: qp, excess: 0)
    }
  }

  @Test(
    "The quantisation error of the last QP is what the PSNR allows",
    arguments: [(46.0, 16.0), (40, 22), (30, 32), (100, 0)])
  func finalQP(psnr: Double, qp: Double) {
    #expect(StillRefinement.qp(psnr: psnr) == qp)
    let step = 0.625 * exp2Approx(qp / 6)
    let error = step * step / 12
    #expect(error <= 255 * 255 / exp2Approx(psnr / 10 * log2Approx(10)) || qp == 0)
    #expect(StillRefinement(maximumPSNR: psnr, minimumQP: 24).finalQP == max(qp, 24))
  }

  @Test("It is sharpened in steps, refined in smaller ones, and then left alone")
  func steps() {
    var still = Self.refinement()
    Self.stand(&still, 10)
    var qps: [Double] = []
    for _ in 0..<20 {
      let step = Self.next(&still)
      qps.append(step.qp)
      still.finishStill(duration: 1 / 60, highestQP: step.qp, excess: 0)
    }
    #expect(qps[0] < 40 && zip(qps, qps.dropFirst()).allSatisfy { $0 >= $1 }, "\(qps)")
    #expect(qps.contains(StillRefinement.sharpQP))
    #expect(qps.suffix(10).allSatisfy { $0 == 16 }, "\(qps)")
    #expect(Self.next(&still) == StillRefinement.Step(qp: 16), "nothing is left to improve")
  }

  @Test("A step is repeated until all rows have its QP; rows without bits keep theirs")
  func unfinishedSteps() {
    var still = Self.refinement()
    Self.stand(&still, 10)
    let first = Self.next(&still)
    #expect(first.highestQP == 40)
    still.finishStill(duration: 1 / 60, highestQP: 40, excess: 3)
    #expect(still.reachedQP == 40)
    #expect(Self.next(&still) == first)
  }

  @Test("Sharpening keeps little waiting, refinement nothing")
  func queue() throws {
    var still = Self.refinement()
    Self.stand(&still, 10)
    let step = Self.next(&still, backlog: 30_000)
    let maximum = try #require(step.maximum)
    #expect(maximum + 30_000 <= Self.rate * StillRefinement.sharpeningQueue + Self.share)
    #expect(Self.next(&still, backlog: 120_000) == StillRefinement.Step(qp: 40))

    var sharp = Self.refinement(reached: StillRefinement.sharpQP)
    Self.stand(&sharp, 10, qp: StillRefinement.sharpQP)
    #expect(Self.next(&sharp, backlog: 5000).maximum == nil)
    let refined = Self.next(&sharp)
    #expect(refined.qp < StillRefinement.sharpQP)
    #expect(try #require(refined.maximum) <= Self.share)
  }

  @Test(
    "Pictures repeated between those that move are not sharpened while bits wait, a single change is at once")
  func repeatedPictures() {
    var still = Self.refinement()
    for _ in 0..<5 {
      #expect(Self.next(&still, backlog: Self.share).maximum == nil)
      still.finishStill(duration: 1 / 60, highestQP: 40, excess: 0)
      still.finishChange(duration: 1 / 60, highestQP: 40, isComplete: true)
    }
    #expect(!still.hasStoodStill)
    Self.stand(&still, 20)
    #expect(still.hasStoodStill)
    still.finishChange(duration: 1 / 60, highestQP: 40, isComplete: true)
    #expect(Self.next(&still, backlog: Self.share).maximum != nil)
  }

  @Test("What was dropped, left out or predicted from elsewhere begins again")
  func restarts() {
    var still = Self.refinement(reached: 16)
    still.drop()
    #expect(still.reachedQP > StillRefinement.sharpQP)
    still.restart(at: 51)
    #expect(still.reachedQP == 51)
    still.finishChange(duration: 1 / 60, highestQP: 30, isComplete: false)
    #expect(still.reachedQP == 51)
    #expect(Self.next(&still, mayImprove: false) == StillRefinement.Step(qp: 51))
  }

  @Test("For two seconds after the picture was static, moving content is not refined either")
  func lowestQP() {
    var still = Self.refinement()
    #expect(still.lowestQP == 0)
    Self.stand(&still, 10)
    #expect(still.lowestQP == 0)
    Self.stand(&still, 10)
    for n in 0..<150 {
      still.finishChange(duration: 1 / 60, highestQP: 30, isComplete: true)
      #expect(still.lowestQP == (n < 118 ? 16 : 0) || (118...121).contains(n), "\(n)")
    }
  }

  @Test("Small motion that takes more than its share makes the picture coarser, step by step")
  func excess() {
    var still = Self.refinement(reached: 16)
    for _ in 0..<3 {
      _ = Self.next(&still, backlog: 60_000)
      still.finishStill(duration: 1 / 60, highestQP: still.reachedQP, excess: 1)
    }
    #expect(still.reachedQP > 20)
  }
}
