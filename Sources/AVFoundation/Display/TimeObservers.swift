// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time observers of a player or a synchronizer.
final class TimeObservers: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let timebase: CMTimebase
  private let lock = Lock()
  private var observers: [TimeObserver] = []

  init(_ timebase: CMTimebase) { self.timebase = timebase }

  deinit { for observer in observers { observer.stop() } }

  func add(_ observer: TimeObserver) {
    lock.withLock {
      observers.removeAll { $0.isFinished }
      observers.append(observer)
    }
  }

  func addPeriodic(
    _ interval: CMTime, queue: DispatchQueue?, _ block: @escaping @Sendable (CMTime) -> Void
  ) -> TimeObserver {
    let observer = TimeObserver.periodic(timebase, interval, queue: queue, block)
    add(observer)
    return observer
  }

  func addBoundaries(
    _ times: [NSValue], queue: DispatchQueue?, _ block: @escaping @Sendable () -> Void
  ) -> TimeObserver {
    let observer = TimeObserver.boundaries(timebase, times.map(\.timeValue), queue: queue, block)
    add(observer)
    return observer
  }

  /// Stops an observer and removes it. Objects of other types are ignored.
  func remove(_ observer: Any) {
    guard let observer = observer as? TimeObserver else { return }
    observer.stop()
    lock.withLock { observers.removeAll { $0 === observer } }
  }
}
