// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A signal to threads that there may be work. Giving it is cheap while no thread waits: it takes
/// no lock.
package final class Signal: @unchecked Sendable {
  // Sendable: the mutex and the condition are made for it, all else is atomic.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// The number of notifications.
  private let notifications = Atomic<Int>(0)
  /// The number of threads that are about to sleep or asleep.
  private let sleepers = Atomic<Int>(0)

  /// The number of times that a thread checks for the signal, yielding to other threads, before it
  /// sleeps.
  private static let timeout = 50

  /// Makes a signal without notifications.
  package init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// The number of notifications. A thread reads this before it looks for work, and passes it to
  /// `wait(since:)` if it finds none.
  package var count: Int { notifications.load(ordering: .sequentiallyConsistent) }

  /// Wakes all threads that wait.
  func notify() {
    notifications.add(1, ordering: .sequentiallyConsistent)
    // A thread that is about to sleep has either been counted already, or will see the new count.
    if sleepers.load(ordering: .sequentiallyConsistent) == 0 { return }
    pthread_mutex_lock(mutex)
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Waits until the signal has been notified since `count` was read.
  ///
  /// - Parameter before: the value of `count`.
  package func wait(since before: Int) {
    for _ in 0..<Signal.timeout {
      if count != before { return }
      sched_yield()
    }
    pthread_mutex_lock(mutex)
    sleepers.add(1, ordering: .sequentiallyConsistent)
    while count == before { pthread_cond_wait(condition, mutex) }
    sleepers.subtract(1, ordering: .sequentiallyConsistent)
    pthread_mutex_unlock(mutex)
  }
}
