// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing

/// By how much timers of a timebase are late.
@Suite(.serialized, .enabled(if: runsWallClockTests)) struct SyncTimerWallClockTests {
  private static let queue = DispatchQueue(label: "timer", qos: .userInteractive)

  /// Fires at multiples of an interval of a timebase, and counts from a time of the host clock.
  /// - Returns: By how much each was late, in milliseconds.
  private func lateness(rate: Double, interval: CMTime, count: Int) throws -> [Double] {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let fired = Guarded<[CMTime]>([])
    let timer = DispatchSource.makeTimerSource(queue: Self.queue)
    defer { timer.cancel() }
    @Sendable func due(_ index: Int) -> CMTime {
      CMTimeMultiply(interval, multiplier: Int32(rate < 0 ? -index : index))
    }
    timer.setEventHandler {
      let next = fired.withLock { list in
        list.append(CMClock.hostTimeClock.time)
        return list.count + 1
      }
      if next <= count { try? timebase.setTimerNextFireTime(timer, fireTime: due(next)) }
    }
    timer.resume()
    try timebase.addTimer(timer)
    let start = CMClock.hostTimeClock.time
    try timebase.setRateAndAnchorTime(rate: rate, anchorTime: .zero, referenceTime: start)
    try timebase.setTimerNextFireTime(timer, fireTime: due(1))
    try #require(blockUntil { fired.withLock { $0.count } >= count })
    return fired.withLock { $0 }.enumerated().map { index, moment in
      ((moment - start).seconds - Double(index + 1) * interval.seconds / abs(rate)) * 1000
    }
  }

  @Test(arguments: [1.0, 2, 0.5, -1]) func timersFireOnTime(rate: Double) throws {
    let late = try lateness(rate: rate, interval: CMTime(value: 40, timescale: 1000), count: 5)
    #expect(late.allSatisfy { $0 > -0.1 }, "\(late)")
    // The machine may be busy once or twice, not always.
    #expect(try #require(late.min()) < 5, "\(late)")
  }

  /// The frames of a camera, 240 a second.
  @Test func latenessDoesNotAddUp() throws {
    let late = try lateness(rate: 1, interval: CMTime(value: 1, timescale: 240), count: 240)
    #expect(late.sorted()[120] < 5, "\(late)")
    #expect(try #require(late.suffix(20).min()) < 5, "\(late)")
  }
}
