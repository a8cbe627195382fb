// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tells threads that there may be something to do. To give it costs next to nothing while nobody waits.
final class Signal: @unchecked Sendable {
  // Sendable: the mutex and the condition are made for it, all else is atomic.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let given = Atomic<Int>(0)
  private let sleepers = Atomic<Int>(0)

  /// Looks that a thread takes, giving way to others, before it sleeps.
  private static let patience = 50

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// How often it was given. To be read before looking for something to do.
  var count: Int { given.load(ordering: .sequentiallyConsistent) }

  func give() {
    given.add(1, ordering: .sequentiallyConsistent)
    // Who is about to sleep either is counted here or sees the new count.
    if sleepers.load(ordering: .sequentiallyConsistent) == 0 { return }
    pthread_mutex_lock(mutex)
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Returns when it was given since `count` was that.
  func wait(since before: Int) {
    for _ in 0..<Signal.patience {
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
