// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Synchronization
import Testing
import TestSupport

/// The host times at which a timer fired.
private final class Firings: Sendable {
  private let times = Guarded<[CMTime]>([])
  func note() { times.withLock { $0.append(CMClock.hostTimeClock.time) } }
  var all: [CMTime] { times.withLock { $0 } }

  /// Waits for a number of firings, then for what else its queue is to do soon, to see whether
  /// there are more.
  func wait(_ count: Int) -> [CMTime] {
    blockUntil { all.count >= count }
    waitForTimers(of: SyncTimerTests.queue, dueWithin: 20)
    return all
  }
}

private func ms(_ value: Int64) -> CMTime { CMTime(value: value, timescale: 1000) }

/// Milliseconds between two times.
private func milliseconds(_ from: CMTime, _ to: CMTime) -> Double { (to - from).seconds * 1000 }

/// When timers of a timebase fire: never early. How late they are depends on the machine
/// (`SyncTimerWallClockTests`).
@Suite(.serialized) struct SyncTimerTests {
  fileprivate static let queue = DispatchQueue(label: "timer", qos: .userInteractive)

  private func makeTimer(_ firings: Firings) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: Self.queue)
    timer.setEventHandler { firings.note() }
    timer.resume()
    return timer
  }

  @Test(arguments: [1.0, 2, 0.5, -1]) func aTimerFiresOnceAndNotEarly(rate: Double) throws {
    for _ in 0..<5 {
      let timebase = try CMTimebase(sourceClock: .hostTimeClock)
      let firings = Firings()
      let timer = makeTimer(firings)
      defer { timer.cancel() }
      try timebase.addTimer(timer)
      let start = CMClock.hostTimeClock.time
      try timebase.setRateAndAnchorTime(rate: rate, anchorTime: .zero, referenceTime: start)
      try timebase.setTimerNextFireTime(timer, fireTime: ms(rate < 0 ? -40 : 40))
      let fired = firings.wait(1)
      #expect(fired.count == 1)
      #expect(milliseconds(start, try #require(fired.first)) - 40 / abs(rate) > -0.1)
    }
  }

  @Test func aTimerWaitsWhileTheTimebaseStandsStill() throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let firings = Firings()
    let timer = makeTimer(firings)
    defer { timer.cancel() }
    try timebase.addTimer(timer)
    try timebase.setTimerNextFireTime(timer, fireTime: ms(10))
    waitForTimers(of: Self.queue, dueWithin: 50)
    #expect(firings.all.isEmpty)
    let start = CMClock.hostTimeClock.time
    try timebase.setRate(1)
    let fired = firings.wait(1)
    #expect(fired.count == 1 && milliseconds(start, fired[0]) >= 9.9)
    // It has fired: changes of rate do not make it fire again.
    try timebase.setRate(3)
    try timebase.setRate(1)
    waitForTimers(of: Self.queue, dueWithin: 50)
    #expect(firings.all.count == 1)
    // Having been moved back, it can.
    try timebase.setTime(.zero)
    #expect(firings.wait(2).count == 2)
  }

  @Test func aTimerFollowsChangesOfRate() throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let firings = Firings()
    let timer = makeTimer(firings)
    defer { timer.cancel() }
    try timebase.addTimer(timer)
    let start = CMClock.hostTimeClock.time
    try timebase.setRateAndAnchorTime(rate: 1, anchorTime: .zero, referenceTime: start)
    // At this rate the time would never be reached.
    try timebase.setTimerNextFireTime(timer, fireTime: ms(10_000_000))
    // From here on a hundred thousand times as fast: the rest takes about 100 ms.
    try timebase.setRate(100_000)
    let expected = CMSyncConvertTime(ms(10_000_000), from: timebase, to: CMClock.hostTimeClock)
    let fired = firings.wait(1)
    #expect(fired.count == 1)
    #expect(milliseconds(expected, try #require(fired.first)) > -0.1)
  }

  @Test func aTimerFollowsJumpsOfItsSource() throws {
    let parent = try CMTimebase(sourceClock: .hostTimeClock)
    let child = try CMTimebase(sourceTimebase: parent)
    let firings = Firings()
    let timer = makeTimer(firings)
    defer { timer.cancel() }
    try child.addTimer(timer)
    try child.setRate(1)
    try parent.setRate(1)
    try child.setTimerNextFireTime(timer, fireTime: ms(100_000_000))
    waitForTimers(of: Self.queue, dueWithin: 5)
    #expect(firings.all.isEmpty)
    try parent.setTime(CMTime(value: 99_999_980, timescale: 1000))
    let fired = firings.wait(1)
    #expect(fired.count == 1)
  }

  @Test func aTimerFiresImmediatelyOrNever() throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let firings = Firings()
    let timer = makeTimer(firings)
    defer { timer.cancel() }
    #expect(throws: CMTimebase.Error.invalidParameter) { try timebase.setTimerToFireImmediately(timer) }
    #expect(throws: CMTimebase.Error.invalidParameter) {
      try timebase.setTimerNextFireTime(timer, fireTime: .zero)
    }
    try timebase.addTimer(timer)
    try timebase.setTimerToFireImmediately(timer)
    #expect(firings.wait(1).count == 1)
    // A time in the past is due at once.
    try timebase.setRate(1)
    try timebase.setTimerNextFireTime(timer, fireTime: .zero)
    #expect(firings.wait(2).count == 2)
    try timebase.setTimerNextFireTime(timer, fireTime: timebase.time + ms(30))
    try timebase.setTimerNextFireTime(timer, fireTime: .invalid)
    waitForTimers(of: Self.queue, dueWithin: 60)
    #expect(firings.all.count == 2)
    try timebase.removeTimer(timer)
    #expect(throws: CMTimebase.Error.invalidParameter) { try timebase.removeTimer(timer) }
    #expect(
      CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timerSource: timer, fireTime: .zero, flags: 1)
        == kCMTimebaseError_InvalidParameter)
  }

  @Test func timersKeepUpWithFramesOfACamera() throws {
    // A source in real time: each firing asks for the next frame, 240 a second.
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let firings = Firings()
    let timer = DispatchSource.makeTimerSource(queue: Self.queue)
    defer { timer.cancel() }
    let frame = Atomic<Int>(0)
    timer.setEventHandler {
      firings.note()
      let next = frame.add(1, ordering: .relaxed).newValue
      guard next < 24 else { return }
      try? timebase.setTimerNextFireTime(timer, fireTime: CMTime(value: Int64(next), timescale: 240))
    }
    timer.resume()
    try timebase.addTimer(timer)
    let start = CMClock.hostTimeClock.time
    try timebase.setRateAndAnchorTime(rate: 1, anchorTime: .zero, referenceTime: start)
    try timebase.setTimerNextFireTime(timer, fireTime: .zero)
    let fired = firings.wait(24)
    #expect(fired.count == 24)
    for (index, moment) in fired.enumerated() {
      let late = milliseconds(start, moment) - Double(index) * 1000 / 240
      #expect(late > -0.1, "frame \(index)")
    }
  }

  @Test func runLoopTimersFire() async throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let short = Timer(timeInterval: 1, repeats: true) { _ in }
    #expect(throws: CMTimebase.Error.timerIntervalTooShort) { try timebase.addTimer(short, on: .main) }
    let late = await withCheckedContinuation { (done: CheckedContinuation<[Double], Never>) in
      Thread.detachNewThread {
        let firings = Firings()
        let timer = Timer(
          fire: Date(timeIntervalSinceReferenceDate: CMTimebase.farFuture),
          interval: CMTimebase.veryLongTimeInterval, repeats: true
        ) { _ in firings.note() }
        RunLoop.current.add(timer, forMode: .default)
        var late: [Double] = []
        do {
          try timebase.addTimer(timer, on: .current)
          for round in 0..<5 {
            let start = CMClock.hostTimeClock.time
            try timebase.setRateAndAnchorTime(rate: 2, anchorTime: .zero, referenceTime: start)
            try timebase.setTimerNextFireTime(timer, fireTime: ms(60))
            blockUntil {
              CFRunLoopRunInMode(.defaultMode, 0.2, true)
              return firings.all.count > round
            }
            if firings.all.count == round + 1 { late.append(milliseconds(start, firings.all[round]) - 30) }
          }
          try timebase.setTimerToFireImmediately(timer)
          blockUntil {
            CFRunLoopRunInMode(.defaultMode, 0.05, true)
            return firings.all.count > 5
          }
          if firings.all.count != 6 { late = [] }
          try timebase.removeTimer(timer)
        } catch {
          late = []
        }
        timer.invalidate()
        done.resume(returning: late)
      }
    }
    #expect(late.count == 5)
    #expect(late.allSatisfy { $0 > -1 }, "\(late)")
  }
}
