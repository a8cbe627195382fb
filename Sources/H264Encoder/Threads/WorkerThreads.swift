// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Threads that wait for the next frame. They are made once: handing them a frame allocates nothing, and
/// wakes them at once whatever else the process has in its queues.
final class WorkerThreads {
  /// What the threads share; it outlives them.
  private final class State: @unchecked Sendable {
    // Sendable: `mutex` guards what changes.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let idle = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Does a thread's part of the work; the caller's thread is number 0.
    private let body: @Sendable (Int) -> Void
    private var round: UInt64 = 0
    /// Threads may still join in the round.
    private var isOpen = false
    private var isEnding = false
    private var busy = 0

    init(_ body: @escaping @Sendable (Int) -> Void) {
      self.body = body
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(wake, nil)
      pthread_cond_init(idle, nil)
    }

    deinit {
      pthread_cond_destroy(idle)
      pthread_cond_destroy(wake)
      pthread_mutex_destroy(mutex)
      idle.deallocate()
      wake.deallocate()
      mutex.deallocate()
    }

    func run() {
      pthread_mutex_lock(mutex)
      round &+= 1
      isOpen = true
      pthread_cond_broadcast(wake)
      pthread_mutex_unlock(mutex)
      body(0)
      // The work is all handed out: who has not woken up by now is not waited for.
      pthread_mutex_lock(mutex)
      isOpen = false
      while busy > 0 { pthread_cond_wait(idle, mutex) }
      pthread_mutex_unlock(mutex)
    }

    func work(thread: Int) {
      var done: UInt64 = 0
      pthread_mutex_lock(mutex)
      while true {
        while !isEnding && !(isOpen && round != done) { pthread_cond_wait(wake, mutex) }
        if isEnding { break }
        done = round
        busy += 1
        pthread_mutex_unlock(mutex)
        body(thread)
        pthread_mutex_lock(mutex)
        busy -= 1
        if busy == 0 { pthread_cond_signal(idle) }
      }
      pthread_mutex_unlock(mutex)
    }

    func end() {
      pthread_mutex_lock(mutex)
      isEnding = true
      pthread_cond_broadcast(wake)
      pthread_mutex_unlock(mutex)
    }
  }

  private let state: State
  private let group: ThreadGroup

  /// `body` is called on each thread with its number, 0..<`count`, when `run()` is; 0 is the caller's.
  /// Should the system refuse threads, there are fewer.
  init(count: Int, body: @escaping @Sendable (Int) -> Void) {
    let state = State(body)
    self.state = state
    group = ThreadGroup(count: count) { state.work(thread: $0) }
  }

  deinit {
    state.end()
    group.join()
  }

  /// Returns when the body has returned on every thread that took part.
  func run() { state.run() }
}

/// Threads that each call a function once.
final class ThreadGroup {
  private final class Start {
    let body: @Sendable (Int) -> Void
    let thread: Int
    init(_ body: @escaping @Sendable (Int) -> Void, _ thread: Int) {
      self.body = body
      self.thread = thread
    }
  }

  private var threads: [pthread_t] = []

  /// `body` is called with 1..<`count`: thread 0 is the caller's. Should the system refuse threads, there are fewer.
  init(count: Int, body: @escaping @Sendable (Int) -> Void) {
    for i in stride(from: 1, to: count, by: 1) {
      let start = Unmanaged.passRetained(Start(body, i))
      #if canImport(Darwin)
        var thread: pthread_t?
        let result = pthread_create(&thread, nil, { ThreadGroup.main($0) }, start.toOpaque())
      #else
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { ThreadGroup.main($0) }, start.toOpaque())
        _ = thread
      #endif
      guard result == 0 else {
        start.release()
        break
      }
      #if canImport(Darwin)
        if let thread { threads.append(thread) }
      #else
        threads.append(thread)
      #endif
    }
  }

  /// Waits until all have returned. To be called once.
  func join() {
    for thread in threads { pthread_join(thread, nil) }
    threads.removeAll()
  }

  private static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    start.body(start.thread)
    return nil
  }
}
