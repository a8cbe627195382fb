// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing
import TestSupport

/// Observers of time whose queue runs several things at once.
@Suite struct ConcurrentObserverTests {
  /// How many are at it at the same time, and have been.
  private final class Visits: @unchecked Sendable {
    private let lock = NSLock()
    private var inside = 0
    private var figures = (maximum: 0, all: 0)

    func pass() {
      lock.withLock {
        inside += 1
        figures = (max(figures.maximum, inside), figures.all + 1)
      }
      letOthersRun(turns: 500)
      lock.withLock { inside -= 1 }
    }

    var seen: (maximum: Int, all: Int) { lock.withLock { figures } }
  }

  /// Jumps on several threads, each of which an observer hears of: it is called for one after the
  /// other.
  @Test func anObserverIsCalledForOneThingAtATime() async throws {
    let synchronizer = AVSampleBufferRenderSynchronizer()
    let (visits, passings) = (Visits(), Visits())
    let queue = DispatchQueue(label: "observers", attributes: .concurrent)
    let observer = synchronizer.addPeriodicTimeObserver(
      forInterval: CMTime(value: 1, timescale: 100), queue: queue
    ) { _ in visits.pass() }
    let boundaries = (0..<400).map { NSValue(time: CMTime(value: Int64($0), timescale: 100)) }
    let other = synchronizer.addBoundaryTimeObserver(forTimes: boundaries, queue: queue) { passings.pass() }
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for jump in 0..<100 {
            synchronizer.setRate(1, time: CMTime(value: Int64(jump * 4 + thread), timescale: 100))
          }
        }
      }
    }
    await waitUntil { visits.seen.all >= 400 }
    // On a busy machine several times pass as one.
    await waitUntil {
      if synchronizer.currentTime().seconds > 4 { synchronizer.setRate(10, time: .zero) }
      return passings.seen.all >= 20
    }
    synchronizer.rate = 0
    synchronizer.removeTimeObserver(observer)
    synchronizer.removeTimeObserver(other)
    #expect(visits.seen.all >= 400 && visits.seen.maximum == 1)
    #expect(passings.seen.all >= 20 && passings.seen.maximum == 1)
  }
}
