// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import CoreMedia
import Dispatch
import Foundation

func clocks() throws {
  // The host clock.
  let hostClock = CMClockGetHostTimeClock()
  let now = CMClockGetTime(hostClock)
  check(now.isNumeric && now.timescale == 1_000_000_000)
  check(CMClockGetTime(.hostTimeClock) >= now)
  check(CMTimeCompare(CMSyncGetTime(hostClock), now) >= 0)
  check(hostClock.time.seconds >= now.seconds)
  let units = CMClockConvertHostTimeToSystemUnits(now)
  check(units > 0)
  checkEqual(CMClockMakeHostTimeFromSystemUnits(units), now)

  // A timebase, as players of sample buffers set it up.
  var controlTimebase: CMTimebase?
  checkEqual(
    CMTimebaseCreateWithSourceClock(
      allocator: kCFAllocatorDefault, sourceClock: CMClockGetHostTimeClock(), timebaseOut: &controlTimebase),
    noErr)
  let timebase = controlTimebase!
  checkEqual(CMTimebaseSetTime(timebase, time: CMTimeMake(value: 5, timescale: 1)), noErr)
  checkEqual(CMTimebaseGetRate(timebase), 0)
  checkEqual(CMTimebaseGetTime(timebase).seconds, 5)
  checkEqual(CMTimebaseSetRate(timebase, rate: 2.0), noErr)
  usleep(20_000)
  let advanced = CMTimebaseGetTime(timebase).seconds - 5
  check(advanced >= 0.04 && advanced < 1, "\(advanced)")
  checkEqual(CMTimebaseGetEffectiveRate(timebase), 2)
  try timebase.setRate(0)
  let stopped = timebase.time
  usleep(5_000)
  checkEqual(timebase.time, stopped)
  check(CMTimebaseCopySourceClock(timebase) === hostClock)
  let anchored = CMTimeAdd(
    CMClockGetTime(hostClock), CMTimeMakeWithSeconds(0.05, preferredTimescale: 1_000_000))
  checkEqual(
    CMTimebaseSetRateAndAnchorTime(
      timebase, rate: 1, anchorTime: CMTime(seconds: 100, preferredTimescale: 600),
      immediateSourceTime: anchored),
    noErr)
  check(CMTimebaseGetTime(timebase).seconds < 100)
  let slave = try CMTimebase(sourceTimebase: timebase)
  try slave.setRate(0.5)
  checkEqual(CMTimebaseGetEffectiveRate(slave), 0.5)
  check(CMTimebaseGetMasterTimebase(slave) === timebase)
  var relativeRate = 0.0
  checkEqual(
    CMSyncGetRelativeRateAndAnchorTime(
      timebase, relativeTo: hostClock, relativeRateOut: &relativeRate, anchorTimeOut: nil,
      relativeToAnchorTimeOut: nil), noErr)
  checkEqual(relativeRate, 1)
  let converted = CMSyncConvertTime(anchored, from: hostClock, to: timebase)
  check(abs(converted.seconds - 100) < 0.001, "\(converted.seconds)")

  // A timer.
  let fired = DispatchSemaphore(value: 0)
  let queue = DispatchQueue(label: "timer")
  let timer = DispatchSource.makeTimerSource(queue: queue)
  timer.setEventHandler { fired.signal() }
  checkEqual(CMTimebaseAddTimerDispatchSource(timebase, timerSource: timer), noErr)
  timer.resume()
  checkEqual(
    CMTimebaseSetTimerDispatchSourceNextFireTime(
      timebase, timerSource: timer, fireTime: CMTime(value: 1001, timescale: 10), flags: 0), noErr)
  check(fired.wait(timeout: .now() + 2) == .success)
  check(CMTimebaseGetTime(timebase).seconds >= 100.1)
  checkEqual(CMTimebaseRemoveTimerDispatchSource(timebase, timerSource: timer), noErr)
  timer.cancel()
}

func times() {
  let time = CMTime(value: 1, timescale: 30)
  check(time + time == CMTimeMake(value: 2, timescale: 30))
  check((CMTime(seconds: 1.5, preferredTimescale: 600)).value == 900)
  check(CMTimeMultiplyByRatio(time, multiplier: 3, divisor: 2).seconds == 0.05)
  check(CMTime.zero < time && time < .positiveInfinity && CMTime.negativeInfinity < .zero)
  check(!CMTime.invalid.isValid && CMTime.indefinite.isIndefinite)
  check(CMTimeGetSeconds(.invalid).isNaN)
  check(CMTIME_IS_VALID(time) && CMTIME_IS_NUMERIC(time) && !CMTIME_IS_INDEFINITE(time))
  let range = CMTimeRange(start: .zero, duration: CMTime(value: 10, timescale: 1))
  check(range.containsTime(time) && range.end.seconds == 10)
  check(
    CMTimeRangeGetIntersection(range, otherRange: CMTimeRangeMake(start: time, duration: time)).start == time)
  check(
    range.union(CMTimeRange(start: CMTime(value: 20, timescale: 1), end: CMTime(value: 21, timescale: 1)))
      .duration.seconds == 21)
  let value = NSValue(time: time)
  check(value.timeValue == time)
  check(NSValue(timeRange: range).timeRangeValue == range)
  let dictionary = CMTimeCopyAsDictionary(time, allocator: kCFAllocatorDefault)!
  check(CMTimeMakeFromDictionary(dictionary) == time)
  check((dictionary as! [String: Any])[kCMTimeValueKey as String] as? Int == 1)
  check(time.convertScale(90_000, method: .default).value == 3000)
  check(CMTimeConvertScale(time, timescale: 1000, method: .roundHalfAwayFromZero).hasBeenRounded)
  check("\(CMTimeCopyDescription(allocator: nil, time: time)!)".contains("1/30"))
  check([time, .zero].sorted() == [.zero, time])
  check(Set([CMTime(value: 2, timescale: 60), time]).count == 1)
  check(max(time, .zero) == time && CMTimeMaximum(time, .zero) == time)
}
