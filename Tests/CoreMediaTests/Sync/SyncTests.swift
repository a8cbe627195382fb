// SPDX-License-Identifier: Apache-2.0
import Testing
import TestSupport

@testable import CoreMedia

private func time(_ seconds: Double) -> CMTime {
  CMTime(seconds: seconds, preferredTimescale: 1_000_000_000)
}

@Suite struct SyncTests {
  @Test func theHostClockConvertsToSystemUnits() throws {
    let clock = CMClockGetHostTimeClock()
    #expect(clock === CMClock.hostTimeClock && clock == CMClock.hostTimeClock)
    let before = mach_absolute_time()
    let now = CMClockGetTime(clock)
    let after = mach_absolute_time()
    #expect(now.timescale == 1_000_000_000)
    #expect(before...after ~= CMClockConvertHostTimeToSystemUnits(now))
    #expect(CMClockMakeHostTimeFromSystemUnits(12345) == CMTime(value: 12345, timescale: 1_000_000_000))
    #expect(CMClock.convertHostTimeToSystemUnits(CMTime(value: 3, timescale: 2)) == 1_500_000_000)
    #expect(CMClock.convertHostTimeToSystemUnits(.invalid) == 0)
    var last = CMTime.zero
    for _ in 0..<1000 {
      let next = clock.time
      #expect(next >= last)
      last = next
    }
    var (own, reference) = (CMTime.invalid, CMTime.invalid)
    #expect(CMClockGetAnchorTime(clock, clockTimeOut: &own, referenceClockTimeOut: &reference) == noErr)
    #expect(own == reference && own.isNumeric)
    #expect(CFGetTypeID(clock) == CMClockGetTypeID())
    clock.invalidate()
    #expect(clock.time.isNumeric)
  }

  @Test func aTimebaseStandsStillUntilItHasARate() throws {
    let hand = HandClock()
    let timebase = try CMTimebase(sourceClock: hand.clock)
    #expect(timebase.time == .zero && timebase.rate == 0 && timebase.effectiveRate == 0)
    try timebase.setTime(CMTime(value: 1001, timescale: 30000))
    hand.time = time(2)
    let held = timebase.time
    #expect(held.value == 1001 && held.timescale == 30000 && !held.flags.contains(.hasBeenRounded))
    #expect(timebase.sourceClock === hand.clock && timebase.sourceTimebase == nil)
    #expect(CMTimebaseGetTypeID() == CFGetTypeID(timebase))
  }

  @Test(arguments: [1.0, 2, 0.5, -1, -3, 29.97 / 30]) func aTimebaseRunsAtItsRate(rate: Double) throws {
    let clock = CMClock.hostTimeClock
    let timebase = try CMTimebase(masterClock: clock)
    let start = clock.time
    try timebase.setRateAndAnchorTime(
      rate: rate, anchorTime: CMTime(value: 90000, timescale: 90000), referenceTime: start)
    for _ in 0..<5 {
      let before = clock.time
      let now = timebase.time
      let after = clock.time
      let bounds = [before, after].map { 1 + rate * ($0 - start).seconds }.sorted()
      #expect(bounds[0] - 1e-8...bounds[1] + 1e-8 ~= now.seconds)
      #expect(now.timescale <= 1_000_000_000)
      letOthersRun(turns: 1000)
    }
    // Past times are known exactly.
    #expect(abs(clock.convertTime(start + time(7), to: timebase).seconds - (1 + 7 * rate)) < 1e-8)
    #expect(
      abs(timebase.convertTime(time(1 + 7 * rate), to: clock).seconds - (start + time(7)).seconds) < 1e-8)
    #expect(timebase.rate(relativeTo: clock) == rate)
    #expect(clock.rate(relativeTo: timebase) == 1 / rate)
  }

  @Test func changingTheRateDoesNotJump() throws {
    let clock = CMClock.hostTimeClock
    let timebase = try CMTimebase(sourceClock: clock)
    try timebase.setTime(time(10))
    var moment = clock.time
    var last = timebase.time
    for rate in [1.0, 4, 0, 0.25, 1] {
      let old = timebase.rate
      try timebase.setRate(rate)
      let next = clock.time
      let now = timebase.time
      // As much as the faster of the two rates can have made of the time that has passed.
      let passed = (clock.time - moment).seconds
      #expect(now >= last && (now - last).seconds <= passed * max(old, rate) + 1e-8)
      last = now
      moment = next
    }
    #expect(CMTimebaseSetRate(timebase, rate: .nan) == kCMTimebaseError_InvalidParameter)
    #expect(CMTimebaseSetTime(timebase, time: .invalid) == kCMTimebaseError_InvalidParameter)
    #expect(
      CMTimebaseSetAnchorTime(timebase, timebaseTime: .zero, immediateMasterTime: .positiveInfinity)
        == kCMTimebaseError_InvalidParameter)
    #expect(timebase.rate == 1)
  }

  @Test func chainedTimebasesMultiplyTheirRates() throws {
    let clock = CMClock.hostTimeClock
    let parent = try CMTimebase(sourceClock: clock)
    let child = try CMTimebase(sourceTimebase: parent)
    let sibling = try CMTimebase(masterTimebase: parent)
    let start = clock.time
    try parent.setRateAndAnchorTime(rate: 2, anchorTime: time(100), referenceTime: start)
    try child.setRateAndAnchorTime(rate: 3, anchorTime: .zero, referenceTime: time(100))
    try sibling.setRateAndAnchorTime(rate: 0.5, anchorTime: time(50), referenceTime: time(110))
    #expect(child.effectiveRate == 6)
    #expect(child.ultimateSourceClock === clock && CMTimebaseCopyUltimateMasterClock(child) === clock)
    #expect(
      child.sourceTimebase === parent && child.sourceClock == nil && child.master as? CMTimebase === parent)
    // 5 seconds later the parent is at 110, the child at 30 and its sibling at 50.
    let later = start + time(5)
    #expect(abs(CMSyncConvertTime(later, from: clock, to: child).seconds - 30) < 1e-8)
    #expect(abs(CMSyncConvertTime(time(30), from: child, to: sibling).seconds - 50) < 1e-8)
    #expect(abs(CMSyncConvertTime(time(50), from: sibling, to: parent).seconds - 110) < 1e-8)
    #expect(child.rate(relativeTo: sibling) == 6)
    #expect(!CMSyncMightDrift(child, sibling) && !child.mightDrift(relativeTo: clock))
    let (rate, anchor, reference) = try child.rateAndAnchorTime(relativeTo: parent)
    #expect(rate == 3 && anchor == .zero && reference == time(100))
    // A stopped parent takes its children along; between children nothing changes.
    try parent.setRate(0)
    #expect(child.effectiveRate == 0 && child.rate == 3)
    #expect(child.rate(relativeTo: clock) == 0)
    #expect(clock.rate(relativeTo: child).isNaN)
    #expect(child.rate(relativeTo: sibling) == 6)
    #expect(CMSyncConvertTime(time(-1000), from: child, to: clock) == .invalid)
    #expect(throws: CMSync.Error.rateMustBeNonZero) { try clock.rateAndAnchorTime(relativeTo: child) }
  }

  @Test func sourcesCanBeChanged() throws {
    let clock = CMClock.hostTimeClock
    let a = try CMTimebase(sourceClock: clock)
    let b = try CMTimebase(sourceTimebase: a)
    // A circle is refused.
    #expect(CMTimebaseSetSourceTimebase(a, b) == kCMTimebaseError_InvalidParameter)
    #expect(CMTimebaseSetSourceTimebase(a, a) == kCMTimebaseError_InvalidParameter)
    try b.setTime(time(5))
    try b.setRate(1)
    #expect(b.time == time(5))
    b.source = clock
    #expect(b.sourceClock === clock && b.effectiveRate == 1)
    #expect(b.time >= time(5) && b.time < time(6))
    #expect(CMTimebaseSetMasterTimebase(b, a) == noErr)
    #expect(b.effectiveRate == 0 && b.time < time(6))
  }

  @Test func anotherClockCanBeASource() throws {
    // It runs at the host's rate, an hour and a half behind.
    let device = CMClock { host in CMTime(value: Int64(host) - 5_400_000_000_000, timescale: 1_000_000_000) }
    let host = CMClock.hostTimeClock
    #expect(device.mightDrift(relativeTo: host) && !host.mightDrift(relativeTo: CMClock.hostTimeClock))
    let timebase = try CMTimebase(sourceClock: device)
    #expect(CMSyncMightDrift(timebase, host))
    let (own, reference) = try device.anchorTime()
    #expect((reference - own).seconds == 5400)
    #expect(abs(device.convertTime(own, to: host).seconds - reference.seconds) < 1e-6)
    try timebase.setRateAndAnchorTime(rate: 1, anchorTime: .zero, referenceTime: own)
    #expect(abs(CMSyncConvertTime(time(3), from: timebase, to: host).seconds - reference.seconds - 3) < 1e-6)
    device.invalidate()
    #expect(device.time == .invalid)
    #expect(throws: CMClock.Error.invalidParameter) { try device.anchorTime() }
    #expect(device.convertTime(own, to: host) == .invalid)
  }

  @Test func driftIsMeasured() throws {
    // A thousandth too fast: the clock is made now, but what it shows has been counting for long.
    let start = mach_absolute_time()
    let fast = CMClock { host in CMTime(value: Int64(Double(host - start) * 1.001), timescale: 1_000_000_000)
    }
    let first = fast.rate(relativeTo: CMClock.hostTimeClock)
    // Until a second has passed, which it may have on a busy machine.
    #expect(first == 1 || mach_absolute_time() - start >= 1_000_000_000)
    blockUntil { mach_absolute_time() - start > 1_050_000_000 }
    #expect(abs(fast.rate(relativeTo: CMClock.hostTimeClock) - 1.001) < 1e-6)
  }

  @Test func changesArePostedToDependentTimebases() throws {
    let parent = try CMTimebase(sourceClock: .hostTimeClock)
    let child = try CMTimebase(sourceTimebase: parent)
    let heard = Guarded<[String]>([])
    var observers: [NSObjectProtocol] = []
    for (name, label) in [(CMTimebase.effectiveRateChanged, "rate"), (CMTimebase.timeJumped, "jump")] {
      for (timebase, who) in [(parent, "parent"), (child, "child")] {
        observers.append(
          NotificationCenter.default.addObserver(forName: name, object: timebase, queue: nil) { note in
            let event =
              note.userInfo?[CMTimebase.NotificationKey.eventTime.rawValue as String] as? NSDictionary
            let isNumeric = CMTimeMakeFromDictionary(event).isNumeric
            heard.withLock { $0.append("\(who) \(label)\(isNumeric ? "" : " without a time")") }
            // An observer may wait for the others.
            CMTimebaseNotificationBarrier(timebase)
          })
      }
    }
    func take() -> [String] {
      heard.withLock { list in
        defer { list = [] }
        return list.sorted()
      }
    }
    try child.setRate(1)
    #expect(take() == [])
    try parent.setRate(2)
    #expect(take() == ["child rate", "parent rate"])
    try parent.setRate(2)
    #expect(take() == [])
    try parent.setTime(time(3))
    #expect(take() == ["child jump", "parent jump"])
    try child.setRateAndAnchorTime(rate: 0, anchorTime: .zero, referenceTime: .zero)
    #expect(take() == ["child jump", "child rate"])
    try parent.setTime(time(4))
    #expect(take() == ["parent jump"])
    try parent.notificationBarrier()
    observers.forEach(NotificationCenter.default.removeObserver)
  }
}
