// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

private func t(_ value: Int64, _ timescale: Int32, _ flags: CMTimeFlags = .valid, epoch: Int64 = 0) -> CMTime
{
  CMTime(value: value, timescale: timescale, flags: flags, epoch: epoch)
}

@Suite struct TimeEdgeTests {
  @Test func kindsOfTimesAreDistinct() {
    #expect(!CMTime.invalid.isValid && !CMTime().isValid && !CMTime.invalid.isNumeric)
    #expect(CMTime.zero.isNumeric && CMTime.zero.timescale == 1)
    #expect(CMTime.positiveInfinity.isPositiveInfinity && !CMTime.positiveInfinity.isNumeric)
    #expect(CMTime.negativeInfinity.isNegativeInfinity && CMTime.indefinite.isIndefinite)
    #expect(t(1, 3, [.valid, .hasBeenRounded]).hasBeenRounded)
    #expect(CMTIME_IS_NUMERIC(.zero) && CMTIME_IS_INVALID(.invalid) && !CMTIME_IS_VALID(.invalid))
    #expect(MemoryLayout<CMTime>.size == 24)
  }

  @Test func sumsWithWhatIsNoNumberAreNoNumbers() {
    let (plus, minus, indefinite) = (CMTime.positiveInfinity, CMTime.negativeInfinity, CMTime.indefinite)
    let one = t(1, 1)
    #expect((plus + plus).isPositiveInfinity && (minus + minus).isNegativeInfinity)
    #expect(!(plus + minus).isValid && !(minus + plus).isValid)
    #expect(!(plus - plus).isValid && !(minus - minus).isValid)
    #expect((plus - minus).isPositiveInfinity && (minus - plus).isNegativeInfinity)
    #expect((one + plus).isPositiveInfinity && (one - plus).isNegativeInfinity)
    #expect((indefinite + one).isIndefinite && (one - indefinite).isIndefinite)
    #expect((indefinite + plus).isPositiveInfinity)
    #expect(!(CMTime.invalid + one).isValid && !(plus - .invalid).isValid)
    // A timescale that is not positive stands for no number.
    #expect(!(t(1, 0) + one).isValid && !(one - t(1, -5)).isValid)
  }

  @Test func timesOfDifferentEpochsAreNotAdded() {
    let (a, b) = (t(1, 2, epoch: 3), t(1, 3, epoch: 4))
    #expect(!(a + b).isValid && !(a - b).isValid)
    #expect(same(a - t(1, 2, epoch: 3), t(0, 2)))
    #expect(same(a + t(1, 2, epoch: 3), t(2, 2)))
    #expect(same(a + t(1, 2), t(2, 2, epoch: 3)))
    #expect(same(t(1, 2) + a, t(2, 2, epoch: 3)))
    #expect(a < b && t(.max, 1, epoch: 3) < t(.min, 1, epoch: 4))
    #expect(a != t(1, 2))
    #expect(CMTimeConvertScale(a, timescale: 4, method: .default).epoch == 3)
  }

  @Test func overflowIsRoundedOrInfinite() {
    // Same timescale: the timescale is halved.
    #expect(same(t(.max, 4) + t(.max, 4), t(.max, 2)))
    // (2^63 - 1 + 1) / 4 in halves.
    #expect(same(t(.max, 4) + t(1, 4), t(1 << 62, 2)))
    #expect(same(t(.max, 4) + t(2, 4), t(1 << 62, 2, [.valid, .hasBeenRounded]) + t(1, 2)))
    #expect((t(.max, 1) + t(1, 1)).isPositiveInfinity)
    #expect((t(.min, 1) - t(1, 1)).isNegativeInfinity)
    #expect(same(t(.min, 1) + t(0, 1), t(.min, 1)))
    // Timescales without a common multiple that fits.
    let sum = t(1, .max) + t(1, .max - 1)
    #expect(sum.timescale == .max && sum.value == 2 && sum.hasBeenRounded)
    #expect(same(t(1, 600) + t(1, 90000), t(151, 90000)))
    #expect(same(t(1, 2) + t(1, 3, [.valid, .hasBeenRounded]), t(5, 6, [.valid, .hasBeenRounded])))
    #expect(CMTimeConvertScale(t(.max, 1), timescale: 2, method: .default).isPositiveInfinity)
    #expect(CMTimeMultiply(t(.max, 3), multiplier: 2).timescale == 1)
    #expect(CMTimeMultiply(t(.max, 1), multiplier: -2).isNegativeInfinity)
    #expect(same(CMTimeAbsoluteValue(t(.min, 2)), t(1 << 62, 1)))
  }

  @Test func timesAreOrderedTotally() {
    let rising: [CMTime] = [
      .negativeInfinity, t(.min, 1), t(-1, .max), .zero, t(1, .max), t(1, .max - 1), t(1, 1), t(.max, 1),
      t(.min, 1, epoch: 1), .indefinite, .positiveInfinity, .invalid,
    ]
    for (i, a) in rising.enumerated() {
      for (j, b) in rising.enumerated() {
        #expect(CMTimeCompare(a, b) == Int32((i - j).signum()), "\(a.seconds) and \(b.seconds)")
      }
    }
    #expect(t(1, 2) == t(2, 4) && t(1, 2).hashValue == t(2, 4).hashValue)
    #expect(Set([t(1, 2), t(2, 4), t(50, 100), t(1, 3)]).count == 2)
    #expect(t(1, 3, [.valid, .hasBeenRounded]) == t(1, 3))
    #expect(CMTimeMinimum(t(1, 2), t(1, 3)) == t(1, 3) && CMTimeMaximum(t(1, 2), .invalid) == .invalid)
    #expect(t(0, 0) == t(0, 0) && t(0, 1) < t(0, 0) && t(0, -1) != t(0, 0))
  }

  @Test func roundingFollowsTheMethod() {
    // 7/4 and -7/4 in halves are 3.5; 5/4 are 2.5.
    let table: [(CMTimeRoundingMethod, Int64, Int64)] = [
      (.roundHalfAwayFromZero, 4, -4), (.roundTowardZero, 3, -3), (.roundAwayFromZero, 4, -4),
      (.quickTime, 3, -3), (.roundTowardPositiveInfinity, 4, -3), (.roundTowardNegativeInfinity, 3, -4),
      (.default, 4, -4),
    ]
    for (method, up, down) in table {
      #expect(same(t(7, 4).convertScale(2, method: method), t(up, 2, [.valid, .hasBeenRounded])))
      #expect(same(t(-7, 4).convertScale(2, method: method), t(down, 2, [.valid, .hasBeenRounded])))
      #expect(same(t(6, 4).convertScale(2, method: method), t(3, 2)))
    }
    // Into a finer timescale away from zero; a negative time never becomes zero.
    #expect(t(1, 3).convertScale(4, method: .quickTime).value == 2)
    #expect(t(-1, 1000).convertScale(10, method: .quickTime).value == -1)
    #expect(t(1, 1000).convertScale(10, method: .quickTime).value == 0)
    #expect(!t(1, 2).convertScale(0, method: .default).isValid)
    #expect(CMTime.indefinite.convertScale(600, method: .default).isIndefinite)
    #expect(CMTimeRoundingMethod.default == .roundHalfAwayFromZero)
  }

  @Test func secondsBecomeExactTimes() {
    #expect(same(CMTime(seconds: 1.5, preferredTimescale: 600), t(900, 600)))
    #expect(same(CMTimeMakeWithSeconds(-1.0 / 3, preferredTimescale: 3), t(-1, 3)))
    #expect(same(CMTime(seconds: 0.1, preferredTimescale: 3), t(0, 3, [.valid, .hasBeenRounded])))
    #expect(CMTime(seconds: 1e18, preferredTimescale: 600).timescale == 9)
    #expect(CMTime(seconds: 1e19, preferredTimescale: 600).isPositiveInfinity)
    #expect(CMTime(seconds: -.infinity, preferredTimescale: 600).isNegativeInfinity)
    #expect(!CMTime(seconds: .nan, preferredTimescale: 600).isValid)
    #expect(
      !CMTime(seconds: 1, preferredTimescale: 0).isValid
        && !CMTime(seconds: 1, preferredTimescale: -1).isValid)
    #expect(t(900, 600).seconds == 1.5 && CMTimeGetSeconds(.positiveInfinity) == .infinity)
    #expect(CMTime.invalid.seconds.isNaN && CMTime.indefinite.seconds.isNaN && t(1, 0).seconds.isNaN)
  }

  /// Errors that Apple's function is known to log: of what is cut off.
  @Test func secondsAreCutOff() {
    for (seconds, scale, value) in [
      (2.87, 1, 2), (0.082, 24, 1), (2.368, 24, 56), (1.1, 1, 1), (-2.87, 1, -2), (0.999, 600, 599),
    ] as [(Double, Int32, Int64)] {
      let time = CMTime(seconds: seconds, preferredTimescale: scale)
      #expect(same(time, t(value, scale, [.valid, .hasBeenRounded])), "\(seconds)")
      #expect(same(CMTimeMakeWithSeconds(seconds, preferredTimescale: scale), time))
    }
  }

  @Test func productsAreExactOrRounded() {
    #expect(same(CMTimeMultiplyByRatio(t(43804, 600), multiplier: 1, divisor: 4), t(43804, 2400)))
    #expect(same(CMTimeMultiplyByRatio(t(3, 7), multiplier: -2, divisor: -1), t(6, 7)))
    #expect(same(CMTimeMultiplyByRatio(t(3, 7), multiplier: .min, divisor: .min), t(3, 7)))
    #expect(!CMTimeMultiplyByRatio(.zero, multiplier: 1, divisor: 0).isValid)
    #expect(!CMTimeMultiplyByRatio(t(1, 1), multiplier: 0, divisor: 0).isValid)
    #expect(CMTimeMultiplyByRatio(t(-1, 1), multiplier: 2, divisor: 0).isNegativeInfinity)
    #expect(CMTimeMultiplyByRatio(.positiveInfinity, multiplier: -1, divisor: 2).isNegativeInfinity)
    #expect(
      CMTimeMultiply(.indefinite, multiplier: 3).isIndefinite
        && !CMTimeMultiply(.invalid, multiplier: 3).isValid)
    // The timescale is doubled to 65536 at least.
    #expect(same(CMTimeMultiplyByFloat64(t(1, 1), multiplier: 0.5), t(32768, 65536)))
    #expect(same(CMTimeMultiplyByFloat64(t(600, 600), multiplier: 2), t(153_600, 76800)))
    #expect(
      same(CMTimeMultiplyByFloat64(t(1, 90000), multiplier: 1e-9), t(0, 90000, [.valid, .hasBeenRounded])))
    #expect(CMTimeMultiplyByFloat64(t(1, 1), multiplier: -.infinity).isNegativeInfinity)
    #expect(!CMTimeMultiplyByFloat64(.zero, multiplier: .infinity).isValid)
    #expect(!CMTimeMultiplyByFloat64(t(1, 1), multiplier: .nan).isValid)
    #expect(
      same(
        CMTimeMultiplyByFloat64(t(1, 90000), multiplier: .leastNonzeroMagnitude),
        t(0, 90000, [.valid, .hasBeenRounded])))
    #expect(CMTimeMultiplyByFloat64(t(1, 90000), multiplier: .greatestFiniteMagnitude).isPositiveInfinity)
  }

  @Test func dictionariesAndTextKeepTimes() {
    for time in [
      t(1001, 30000), .invalid, .indefinite, .positiveInfinity,
      t(-1, 3, [.valid, .hasBeenRounded], epoch: 7),
    ] {
      #expect(same(CMTimeMakeFromDictionary(CMTimeCopyAsDictionary(time, allocator: nil)), time))
    }
    #expect(!CMTimeMakeFromDictionary(nil).isValid)
    #expect(!CMTimeMakeFromDictionary(["value": 1] as CFDictionary).isValid)
    func text(_ time: CMTime) -> String? { CMTimeCopyDescription(allocator: nil, time: time) as String? }
    #expect(text(t(3000, 600)) == "{3000/600 = 5.000}")
    #expect(text(.invalid) == "{INVALID}" && text(.indefinite) == "{INDEFINITE}")
    #expect(text(.positiveInfinity) == "{+INFINITY}" && text(.negativeInfinity) == "{-INFINITY}")
    #expect(text(t(1, 3, [.valid, .hasBeenRounded]))?.contains("rounded") == true)
  }
}
