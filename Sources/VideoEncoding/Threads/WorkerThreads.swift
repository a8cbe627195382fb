// SPDX-License-Identifier: Apache-2.0
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A pool of threads that run one function together, once for each frame. The threads are created
/// once, so that a frame causes no allocation, and are woken at once whatever is queued elsewhere
/// in the process.
package final class WorkerThreads {
  /// The state that the threads share; it outlives them.
  private final class State: @unchecked Sendable {
    // Sendable: `mutex` guards what changes.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// Signals threads that a round begins or that they are to return.
    private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Signals the caller that no thread is in a round.
    private let idle = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// Does one thread's share of the work; the caller's thread is number 0.
    private let body: @Sendable (Int) -> Void
    /// The number of rounds so far.
    private var round: UInt64 = 0
    /// Whether threads may join the current round.
    private var isOpen = false
    /// Whether the threads are to return.
    private var isEnding = false
    /// The number of threads in the current round, without the caller's.
    private var busy = 0

    /// Takes the function that each round runs.
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

    /// Runs a round and waits for its threads.
    func run() {
      pthread_mutex_lock(mutex)
      round &+= 1
      isOpen = true
      pthread_cond_broadcast(wake)
      pthread_mutex_unlock(mutex)
      body(0)
      // All work has been taken: threads that have not woken up by now are not waited for.
      pthread_mutex_lock(mutex)
      isOpen = false
      while busy > 0 { pthread_cond_wait(idle, mutex) }
      pthread_mutex_unlock(mutex)
    }

    /// Runs rounds on a thread of the pool until `end`.
    ///
    /// - Parameter thread: the thread's number.
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

    /// Makes the threads return.
    func end() {
      pthread_mutex_lock(mutex)
      isEnding = true
      pthread_cond_broadcast(wake)
      pthread_mutex_unlock(mutex)
    }
  }

  private let state: State
  private let group: ThreadGroup

  /// Creates the threads. There are fewer if the system refuses to create one.
  ///
  /// - Parameters:
  ///   - count: the number of threads, the caller's included.
  ///   - body: does one thread's share of the work in `run`. Its argument is the thread's number, 0
  ///     up to `count` less 1; 0 is the caller's.
  package init(count: Int, body: @escaping @Sendable (Int) -> Void) {
    let state = State(body)
    self.state = state
    group = ThreadGroup(count: count) { state.work(thread: $0) }
  }

  deinit {
    state.end()
    group.join()
  }

  /// Runs the function on all threads, and returns when it has returned on each that took part.
  package func run() { state.run() }
}

/// Threads that each call a function once.
final class ThreadGroup {
  /// The argument of a new thread: the function and the thread's number.
  private final class Start {
    let body: @Sendable (Int) -> Void
    let thread: Int
    init(_ body: @escaping @Sendable (Int) -> Void, _ thread: Int) {
      self.body = body
      self.thread = thread
    }
  }

  private var threads: [pthread_t] = []

  /// Creates the threads. There are fewer if the system refuses to create one.
  ///
  /// - Parameters:
  ///   - count: the number of threads, the caller's included, for which none is created.
  ///   - body: the function. Its argument is the thread's number, 1 up to `count` less 1.
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

  /// Waits until all threads have returned. Must be called once.
  func join() {
    for thread in threads { pthread_join(thread, nil) }
    threads.removeAll()
  }

  /// The entry point of a thread.
  private static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    start.body(start.thread)
    return nil
  }
}
