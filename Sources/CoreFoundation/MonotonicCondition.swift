// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A lock with a condition variable, for all waits that have a deadline.
///
/// Deadlines use the monotonic clock. Foundation's `NSCondition` and `NSLock`, and
/// `DispatchSemaphore` on Linux, use the time of day instead: if the system's clock is set back,
/// their waits take longer by that time. The script `scripts/check-waits` checks that
/// no wait in the sources uses the time of day.
package final class MonotonicCondition: @unchecked Sendable {
  // Sendable: both are thread-safe, and their addresses do not change.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// The maximum of a single wait in seconds, so that every deadline fits into a `timespec`.
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

  /// Wakes all waiting threads.
  package func broadcast() { pthread_cond_broadcast(condition) }

  /// Waits for ``broadcast()``. The caller holds the lock, which is released during the wait. The
  /// wait can end without a broadcast.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// The time of the monotonic clock in seconds, which deadlines are given in.
  package static var now: Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// Waits like ``wait()``, but not past a deadline. The wait can end early.
  /// - Parameter end: The deadline in seconds, as ``now`` counts them.
  /// - Returns: false if the deadline has passed.
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

/// Wakes one thread. A signal without a waiting thread ends the next wait at once.
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

  /// Waits for ``signal()``, but at most some seconds.
  /// - Returns: Whether the signal came.
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
