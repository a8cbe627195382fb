// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A lock with a condition, for all waits that have an end of their own. They end by the clock that
/// nobody sets, where those of Foundation's `NSCondition` and `NSLock`, and on Linux those of `DispatchSemaphore`, end by
/// the time of day: one that is set back would keep them waiting for as long. `scripts/check-waits` sees that there are
/// no others.
package final class MonotonicCondition: @unchecked Sendable {
  // Sendable: both are made for threads, and never move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// Seconds that a wait may take, however late its end is: what the system's type holds.
  private static let longest = 1e6

  package init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func withLock<R>(_ body: () throws -> R) rethrows -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Ends all waits.
  package func broadcast() { pthread_cond_broadcast(condition) }

  /// Waits for ``broadcast()``, with the lock held, which others may have meanwhile. It may end without one.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Seconds of the clock that the waits end by, from a moment that stays the same as long as the system runs.
  package static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// The same, up to a time.
  /// - Parameter end: in seconds of ``now``.
  /// - Returns: False if that has come.
  package func wait(until end: Double) -> Bool {
    let left = min(end - Self.now, Self.longest)
    guard left > 0 else { return false }
    var due = timespec()
    clock_gettime(CLOCK_MONOTONIC, &due)
    let nanoseconds = due.tv_nsec + Int((left - left.rounded(.down)) * 1e9)
    due.tv_sec += Int(left) + nanoseconds / 1_000_000_000
    due.tv_nsec = nanoseconds % 1_000_000_000
    return pthread_cond_timedwait(condition, mutex, &due) != ETIMEDOUT
  }
}

/// Wakes one thread that waits, now or when it does so next.
package final class WakeUp: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  private let condition = MonotonicCondition()
  private var isWoken = false

  package init() {}

  package func signal() {
    condition.withLock {
      isWoken = true
      condition.broadcast()
    }
  }

  /// Waits for ``signal()``, and no longer than some seconds.
  /// - Returns: Whether it came.
  @discardableResult
  package func wait(seconds: Double) -> Bool {
    let end = MonotonicCondition.now + seconds
    return condition.withLock {
      while !isWoken, condition.wait(until: end) {}
      defer { isWoken = false }
      return isWoken
    }
  }
}
