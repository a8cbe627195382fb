// SPDX-License-Identifier: Apache-2.0
import BigInt
import CoreMedia
import Testing

private func t(_ value: Int64, _ timescale: Int32 = 600) -> CMTime {
  CMTime(value: value, timescale: timescale)
}

private func r(_ start: Int64, _ duration: Int64) -> CMTimeRange {
  CMTimeRange(start: t(start), duration: t(duration))
}

@Suite struct TimeRangeTests {
  @Test func kindsOfRangesAreDistinct() {
    #expect(r(0, 10).isValid && !r(0, 10).isEmpty && r(5, 0).isEmpty)
    #expect(!r(0, -1).isValid && !CMTimeRange.invalid.isValid && !CMTimeRange().isValid)
    #expect(CMTimeRange.zero.isEmpty && CMTimeRange.zero.isValid)
    #expect(CMTimeRange(start: .zero, duration: .indefinite).isIndefinite)
    #expect(CMTimeRange(start: .zero, duration: .positiveInfinity).isValid)
    #expect(!CMTimeRange(start: .zero, duration: .negativeInfinity).isValid)
    #expect(
      !CMTimeRange(start: .zero, duration: CMTime(value: 1, timescale: 1, flags: .valid, epoch: 1)).isValid)
    #expect(CMTimeRange(start: t(10), end: t(30)) == r(10, 20))
    #expect(!CMTimeRange(start: t(30), end: t(10)).isValid)
    #expect(r(10, 20).end == t(30) && CMTimeRangeGetEnd(r(10, 20)) == t(30))
    #expect(
      CMTIMERANGE_IS_EMPTY(r(1, 0)) && CMTIMERANGE_IS_INVALID(.invalid) && CMTIMERANGE_IS_VALID(r(1, 1)))
    let all = CMTimeRange(start: .negativeInfinity, duration: .positiveInfinity)
    #expect(all.end.isPositiveInfinity && all.containsTime(t(-5)) && all.containsTimeRange(r(0, 5)))
  }

  @Test func unionsAndIntersectionsAreThoseOfSets() {
    #expect(r(0, 10).union(r(20, 5)) == r(0, 25))
    #expect(r(0, 10).intersection(r(5, 10)) == r(5, 5))
    #expect(r(0, 10).intersection(r(10, 5)) == .zero)
    #expect(!r(0, 10).union(.invalid).isValid && !r(0, 10).intersection(.invalid).isValid)
    #expect(r(0, 10).containsTime(t(0)) && !r(0, 10).containsTime(t(10)) && !r(0, 10).containsTime(.invalid))
    #expect(r(0, 10).containsTimeRange(r(2, 8)) && !r(0, 10).containsTimeRange(r(2, 9)))
    let open = CMTimeRange(start: t(5), duration: .positiveInfinity)
    #expect(r(0, 10).intersection(open) == r(5, 5))
    #expect(r(0, 10).union(open).duration.isPositiveInfinity)
    #expect(open.containsTime(t(.max, 1)))
    // The same range in another timescale.
    #expect(CMTimeRangeEqual(r(600, 600), CMTimeRange(start: t(1, 1), duration: t(1, 1))))
    #expect(Set([r(600, 600), CMTimeRange(start: t(1, 1), duration: t(1, 1))]).count == 1)
  }

  @Test func timesAreClampedAndFoldedIntoRanges() {
    #expect(CMTimeClampToRange(t(-3), range: r(0, 10)) == t(0))
    #expect(CMTimeClampToRange(t(33), range: r(0, 10)) == t(10))
    #expect(CMTimeClampToRange(t(3), range: r(0, 10)) == t(3))
    #expect(
      !CMTimeClampToRange(t(3), range: r(0, 0)).isValid
        && !CMTimeClampToRange(.invalid, range: r(0, 5)).isValid)
    #expect(CMTimeFoldIntoRange(t(27), foldRange: r(5, 10)) == t(7))
    #expect(CMTimeFoldIntoRange(t(-1), foldRange: r(5, 10)) == t(9))
    #expect(CMTimeFoldIntoRange(t(15), foldRange: r(5, 10)) == t(5))
    #expect(
      CMTimeFoldIntoRange(t(1, 7), foldRange: CMTimeRange(start: .zero, duration: t(1, 10))) == t(3, 70))
    #expect(!CMTimeFoldIntoRange(t(1), foldRange: r(5, 0)).isValid)
    #expect(
      !CMTimeFoldIntoRange(t(1), foldRange: CMTimeRange(start: .zero, duration: .positiveInfinity)).isValid)
  }

  @Test func timesAreMappedBetweenRanges() {
    func map(_ time: CMTime, _ from: CMTimeRange, _ to: CMTimeRange) -> CMTime {
      CMTimeMapTimeFromRangeToRange(time, fromRange: from, toRange: to)
    }
    #expect(map(t(0), r(0, 10), r(100, 20)) == t(100) && map(t(10), r(0, 10), r(100, 20)) == t(120))
    #expect(map(t(-5), r(0, 10), r(100, 20)) == t(90))
    #expect(same(map(t(300), r(0, 600), r(0, 1200)), t(600)))
    // A third, exactly.
    #expect(map(t(1), r(0, 3), r(0, 1)) == CMTime(value: 1, timescale: 1800))
    #expect(!map(t(1), r(0, 0), r(0, 1)).isValid && !map(t(1), r(0, 1), r(0, 0)).isValid)
    #expect(!map(CMTime(value: 1, timescale: 600, flags: .valid, epoch: 1), r(0, 3), r(0, 1)).isValid)
    let endless = CMTimeRange(start: t(5), duration: .positiveInfinity)
    #expect(map(t(7), endless, CMTimeRange(start: t(50), duration: .positiveInfinity)) == t(52))
    #expect(CMTimeMapDurationFromRangeToRange(t(4), fromRange: r(0, 10), toRange: r(7, 5)) == t(2))
    let later = CMTime(value: 4, timescale: 600, flags: .valid, epoch: 2)
    #expect(!CMTimeMapDurationFromRangeToRange(later, fromRange: r(0, 10), toRange: r(7, 5)).isValid)
  }

  @Test func durationsAreMappedToTheNearest() {
    var random = RandomTimes(seed: 6)
    for number in 0..<20_000 {
      var a = CMTime(value: random.value(), timescale: random.timescale())
      var ranges = (0..<2).map { _ in
        let value = random.value()
        return CMTimeRange(
          start: .zero, duration: CMTime(value: value == .min ? 1 : abs(value), timescale: random.timescale())
        )
      }
      if number == 0 {
        // A quotient of 2^128 - 1 that is rounded up.
        a = CMTime(value: 76_789_344_998_352_093, timescale: 1)
        ranges = [
          CMTimeRange(start: .zero, duration: CMTime(value: 8_589_934_588, timescale: 2731)),
          CMTimeRange(start: .zero, duration: CMTime(value: 6_490_479_357_884_376_481, timescale: 1)),
        ]
      }
      let (from, to) = (ranges[0], ranges[1])
      let result = CMTimeMapDurationFromRangeToRange(a, fromRange: from, toRange: to)
      guard from.duration.value > 0, to.duration.value > 0 else {
        #expect(!result.isValid)
        continue
      }
      let top = BigInt(a.value) * BigInt(to.duration.value) * BigInt(from.duration.timescale)
      let bottom = BigInt(a.timescale) * BigInt(to.duration.timescale) * BigInt(from.duration.value)
      guard result.isNumeric else {
        #expect(top.magnitude > bottom.magnitude * BigUInt(Int64.max) * 9 / 10)
        continue
      }
      let error = BigInt(result.value) * bottom - top * BigInt(result.timescale)
      guard 2 * error.magnitude <= bottom.magnitude, result.hasBeenRounded == (error != 0) else {
        Issue.record("\(a) from \(from) to \(to): \(result)")
        return
      }
    }
  }

  @Test func dictionariesKeepRangesAndMappings() {
    let range = r(5, 10)
    let dictionary = CMTimeRangeCopyAsDictionary(range, allocator: nil)
    #expect(dictionary.map(CMTimeRangeMakeFromDictionary) == range)
    #expect(!CMTimeRangeMakeFromDictionary([:] as CFDictionary).isValid)
    let text = CMTimeRangeCopyDescription(allocator: nil, range: r(0, 3000)) as String?
    #expect(text == "{{0/600 = 0.000}, {3000/600 = 5.000}}")
    let mapping = CMTimeMappingMake(source: r(0, 10), target: r(20, 5))
    #expect(
      CMTimeMappingCopyAsDictionary(mapping, allocator: nil).map(CMTimeMappingMakeFromDictionary) == mapping)
    let gap = CMTimeMappingMakeEmpty(target: r(0, 10))
    #expect(CMTIMEMAPPING_IS_EMPTY(gap) && CMTIMEMAPPING_IS_VALID(gap) && !CMTIMEMAPPING_IS_EMPTY(mapping))
    #expect(CMTIMEMAPPING_IS_INVALID(.invalid) && CMTIMEMAPPING_IS_INVALID(CMTimeMapping()))
  }
}
