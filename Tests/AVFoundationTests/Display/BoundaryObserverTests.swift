// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Synchronization
import Testing
import TestSupport

/// Observers of times.
@Suite(.serialized) struct BoundaryObserverTests {
  @Test func boundariesArePassedAgainAfterASeekBackAndNotByAJump() async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let queue = DispatchQueue(label: "boundaries")
    let count = Mutex(0)
    // Another observer on the same queue tells that as much time has passed.
    let secondCount = Mutex(0)
    func time(_ tenths: Int64) -> CMTime { CMTime(value: tenths, timescale: 10) }
    let observer = synchronizer.addBoundaryTimeObserver(
      forTimes: [11, 12, 2_000_000, 3_000_000, 4_000_000].map { NSValue(time: time($0)) }, queue: queue
    ) { count.withLock { $0 += 1 } }
    let secondObserver = synchronizer.addBoundaryTimeObserver(
      forTimes: [13, 4_000_001, 5_000_001].map { NSValue(time: time($0)) }, queue: queue
    ) { secondCount.withLock { $0 += 1 } }
    func wait(for wanted: Int, second wantedOfSecond: Int = 0) async {
      await waitUntil {
        count.withLock { $0 } >= wanted && secondCount.withLock { $0 } >= wantedOfSecond
      }
    }
    synchronizer.setRate(1, time: time(10))
    await wait(for: 2, second: 1)
    #expect(count.withLock { $0 } == 2)
    // Back: the same two again.
    synchronizer.setRate(1, time: time(10))
    await wait(for: 4, second: 2)
    #expect(count.withLock { $0 } == 4)
    // Over all that are left: none of them.
    synchronizer.setRate(1, time: time(5_000_000))
    await wait(for: 4, second: 3)
    #expect(count.withLock { $0 } == 4)
    // Over one, to shortly before the next.
    synchronizer.setRate(1, time: time(3_999_999))
    await wait(for: 5, second: 4)
    #expect(count.withLock { $0 } == 5)
    synchronizer.removeTimeObserver(observer)
    synchronizer.setRate(1, time: time(10))
    await wait(for: 5, second: 5)
    #expect(count.withLock { $0 } == 5)
    synchronizer.removeTimeObserver(secondObserver)
  }

  @Test("A queue that is busy for long after a jump, a change of the rate or a pause loses no boundary")
  func aBusyQueueLosesNoBoundary() async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let queue = DispatchQueue(label: "busy")
    let count = Mutex(0)
    func time(_ tenths: Int64) -> CMTime { CMTime(value: tenths, timescale: 10) }
    let observer = synchronizer.addBoundaryTimeObserver(
      forTimes: [1, 3, 5000].map { NSValue(time: time($0)) }, queue: queue
    ) { count.withLock { $0 += 1 } }
    // Plays past a boundary and pauses after it, while the queue does nothing.
    func play(from start: Int64, past end: Int64) async {
      queue.suspend()
      synchronizer.setRate(1, time: time(start))
      await waitUntil { synchronizer.currentTime() > time(end) }
      synchronizer.setRate(0, time: .invalid)
      queue.resume()
    }
    await play(from: 0, past: 1)
    await waitUntil { count.withLock { $0 } >= 1 }
    #expect(count.withLock { $0 } == 1)
    await play(from: 2, past: 3)
    await waitUntil { count.withLock { $0 } >= 2 }
    #expect(count.withLock { $0 } == 2)
    // A boundary that was reported does not come again when playback continues.
    synchronizer.setRate(1, time: .invalid)
    synchronizer.setRate(1, time: time(4999))
    await waitUntil { count.withLock { $0 } >= 3 }
    #expect(count.withLock { $0 } == 3)
    synchronizer.removeTimeObserver(observer)
  }
}
