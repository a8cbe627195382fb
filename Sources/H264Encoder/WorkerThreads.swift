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

  private final class Start {
    let state: State
    let thread: Int
    init(_ state: State, _ thread: Int) {
      self.state = state
      self.thread = thread
    }
  }

  private let state: State
  private var threads: [pthread_t] = []

  /// `body` is called on each thread with its number, 0..<`count`, when `run()` is; 0 is the caller's.
  /// Should the system refuse threads, there are fewer.
  init(count: Int, body: @escaping @Sendable (Int) -> Void) {
    state = State(body)
    for i in stride(from: 1, to: count, by: 1) {
      let start = Unmanaged.passRetained(Start(state, i))
      #if canImport(Darwin)
        var thread: pthread_t?
        let result = pthread_create(&thread, nil, { WorkerThreads.main($0) }, start.toOpaque())
      #else
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { WorkerThreads.main($0) }, start.toOpaque())
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

  deinit {
    state.end()
    for thread in threads { pthread_join(thread, nil) }
  }

  /// Returns when the body has returned on every thread that took part.
  func run() { state.run() }

  private static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    start.state.work(thread: start.thread)
    return nil
  }
}

/// The picture that the threads are at. Set before they are woken and cleared when all have returned.
final class SharedJob: @unchecked Sendable {
  // Sendable: written between rounds, when no worker runs; the rows' progress is atomic.
  enum Job {
    case none
    case cabac(PictureJob<CABACWriter>)
    case cavlc(PictureJob<CAVLCWriter>)
  }

  var job = Job.none
  /// Work beside the picture's, which touches nothing of it: a thread does it before it joins in the rows, or the caller
  /// when no thread was there in time.
  var aside: (() -> Void)?
  private let isAsideTaken = Atomic<Bool>(true)
  private let coders: UnsafeMutablePointer<MacroblockCoder>
  private let threads: Int
  let progress: RowProgress
  let ring: RowRing

  init(coders: UnsafeMutablePointer<MacroblockCoder>, threads: Int, progress: RowProgress, ring: RowRing) {
    self.coders = coders
    self.threads = threads
    self.progress = progress
    self.ring = ring
  }

  /// There is work aside in this round.
  func offerAside() { isAsideTaken.store(false, ordering: .releasing) }

  /// Does the work aside, unless there is none or another thread has it.
  func doAside() {
    if !isAsideTaken.exchange(true, ordering: .acquiringAndReleasing) { aside?() }
  }

  func work(thread: Int) {
    if thread > 0 { doAside() }
    switch job {
    case .none: break
    case .cabac(let job): job.work(coders + thread, threads: threads, progress, ring)
    case .cavlc(let job): job.work(coders + thread, threads: threads, progress, ring)
    }
  }
}
