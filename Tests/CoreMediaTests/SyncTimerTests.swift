// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Synchronization
import Testing

/// The host times at which a timer fired.
private final class Firings: Sendable {
  private let times = Guarded<[CMTime]>([])
  func note() { times.withLock { $0.append(CMClock.hostTimeClock.time) } }
  var all: [CMTime] { times.withLock { $0 } }

  /// Waits for a number of firings, at most two seconds, then a little longer to see whether there are more.
  func wait(_ count: Int) -> [CMTime] {
    let end = CMClock.hostTimeClock.time + CMTime(value: 2, timescale: 1)
    while all.count < count, CMClock.hostTimeClock.time < end { usleep(1000) }
    usleep(20_000)
    return all
  }
}

private func ms(_ value: Int64) -> CMTime { CMTime(value: value, timescale: 1000) }

/// Milliseconds between two times.
private func milliseconds(_ from: CMTime, _ to: CMTime) -> Double { (to - from).seconds * 1000 }

/// One at a time, so that they do not delay each other.
@Suite(.serialized) struct SyncTimerTests {
  private func makeTimer(_ firings: Firings) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer", qos: .userInteractive))
    timer.setEventHandler { firings.note() }
    timer.resume()
    return timer
  }

  /// Fires once at 40 ms on a timebase at a rate, some times over.
  /// - Returns: by how much each was late, in milliseconds.
  private func lateness(rate: Double) throws -> [Double] {
    try (0..<5).map { _ in
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
      return milliseconds(start, try #require(fired.first)) - 40 / abs(rate)
    }
  }

  @Test(arguments: [1.0, 2, 0.5, -1]) func firesOnTime(rate: Double) throws {
    let late = try lateness(rate: rate)
    #expect(late.allSatisfy { $0 > -0.1 }, "\(late)")
    // The machine may be busy once or twice, not always.
    #expect(try #require(late.min()) < 5, "\(late)")
  }

  @Test func waitsWhileTheTimebaseStandsStill() throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let firings = Firings()
    let timer = makeTimer(firings)
    defer { timer.cancel() }
    try timebase.addTimer(timer)
    try timebase.setTimerNextFireTime(timer, fireTime: ms(10))
    usleep(50_000)
    #expect(firings.all.isEmpty)
    let start = CMClock.hostTimeClock.time
    try timebase.setRate(1)
    let fired = firings.wait(1)
    #expect(fired.count == 1 && milliseconds(start, fired[0]) >= 9.9)
    // It has fired: changes of rate do not make it fire again.
    try timebase.setRate(3)
    try timebase.setRate(1)
    #expect(firings.wait(2).count == 1)
    // Having been moved back, it can.
    try timebase.setTime(.zero)
    #expect(firings.wait(2).count == 2)
  }

  @Test func followsChangesOfRate() throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let firings = Firings()
    let timer = makeTimer(firings)
    defer { timer.cancel() }
    try timebase.addTimer(timer)
    let start = CMClock.hostTimeClock.time
    try timebase.setRateAndAnchorTime(rate: 1, anchorTime: .zero, referenceTime: start)
    try timebase.setTimerNextFireTime(timer, fireTime: ms(10_000))
    // From here on a hundred times as fast: the rest takes about 100 ms.
    try timebase.setRate(100)
    let expected = CMSyncConvertTime(ms(10_000), from: timebase, to: CMClock.hostTimeClock)
    let fired = firings.wait(1)
    #expect(fired.count == 1)
    #expect(-0.1...500 ~= milliseconds(expected, fired[0]))
  }

  @Test func followsJumpsOfItsSource() throws {
    let parent = try CMTimebase(sourceClock: .hostTimeClock)
    let child = try CMTimebase(sourceTimebase: parent)
    let firings = Firings()
    let timer = makeTimer(firings)
    defer { timer.cancel() }
    try child.addTimer(timer)
    try child.setRate(1)
    try parent.setRate(1)
    try child.setTimerNextFireTime(timer, fireTime: ms(100_000))
    usleep(5000)
    #expect(firings.all.isEmpty)
    try parent.setTime(CMTime(value: 99_980, timescale: 1000))
    let fired = firings.wait(1)
    #expect(fired.count == 1)
  }

  @Test func firesImmediatelyOrNever() throws {
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
    usleep(60_000)
    #expect(firings.all.count == 2)
    try timebase.removeTimer(timer)
    #expect(throws: CMTimebase.Error.invalidParameter) { try timebase.removeTimer(timer) }
    #expect(
      CMTimebaseSetTimerDispatchSourceNextFireTime(timebase, timerSource: timer, fireTime: .zero, flags: 1)
        == kCMTimebaseError_InvalidParameter)
  }

  @Test func framesOfACamera() throws {
    // A source in real time: each firing asks for the next frame, 240 a second.
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let firings = Firings()
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "camera"))
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
      // None early, and lateness does not add up.
      let late = milliseconds(start, moment) - Double(index) * 1000 / 240
      #expect(-0.1...500 ~= late, "frame \(index)")
    }
  }

  @Test func runLoopTimers() async throws {
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
            while firings.all.count == round, CMClock.hostTimeClock.time < start + ms(2000) {
              CFRunLoopRunInMode(.defaultMode, 0.2, true)
            }
            if firings.all.count == round + 1 { late.append(milliseconds(start, firings.all[round]) - 30) }
          }
          try timebase.setTimerToFireImmediately(timer)
          CFRunLoopRunInMode(.defaultMode, 0.05, false)
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
    #expect(try #require(late.min()) < 5, "\(late)")
  }
}
