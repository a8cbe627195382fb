// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

/// Keeps a pool's unused memory. Buffers hold a reference to it, so that it outlives the pool as
/// long as one of them exists.
final class PoolRecycler: PixelBufferRecycler, @unchecked Sendable {
  // Sendable: immutable, except for the state that a lock guards.
  /// The result of `take`.
  enum AllocationResult {
    case used(PixelStorage)
    /// No memory is unused: the caller allocates new memory, which is counted already.
    case none
    /// The threshold does not allow new memory.
    case tooMany
  }

  private struct State: @unchecked Sendable {
    // Sendable: the lock of its recycler guards it.
    /// The unused memory, the longest unused first, with the time of its release in nanoseconds.
    var free: [(storage: PixelStorage, since: UInt64)] = []
    /// The number of buffers of the pool, used and unused.
    var count = 0
    var isClosed = false
    /// Whether a threshold has made a creation fail, and no buffer was released since.
    var isAwaited = false
    var isSweepScheduled = false
    weak var owner: CVPixelBufferPool?
  }

  private let state = LockedState(State())
  private let minimumCount: Int
  /// The time in nanoseconds for which unused memory is kept; nil forever.
  private let maximumAge: UInt64?

  init(minimumCount: Int, maximumAge: Double) {
    self.minimumCount = minimumCount
    self.maximumAge = maximumAge > 0 && maximumAge < 1e9 ? UInt64(maximumAge * 1e9) : nil
  }

  func setOwner(_ pool: CVPixelBufferPool) {
    state.withLock { $0.owner = pool }
  }

  /// Takes unused memory, or permission to allocate new memory.
  /// - Parameter threshold: The number of buffers at which no new memory may be allocated; nil for
  ///   no limit.
  func take(threshold: Int?) -> AllocationResult {
    state.withLock { state in
      // The memory that was released last is the likeliest to be in a cache.
      if let last = state.free.popLast() { return .used(last.storage) }
      if let threshold, state.count >= threshold {
        state.isAwaited = true
        return .tooMany
      }
      state.count += 1
      return .none
    }
  }

  /// Records that the memory which `take` has counted could not be allocated.
  func discarded() { state.withLock { $0.count -= 1 } }

  /// Receives the memory of a released buffer, and posts the pool's notification if a creation
  /// waits for it.
  func recycle(_ storage: PixelStorage) {
    let (notify, sweep): (CVPixelBufferPool?, Bool) = state.withLock { state in
      guard !state.isClosed else {
        state.count -= 1
        return (nil, false)
      }
      state.free.append((storage, mach_absolute_time()))
      let sweep = maximumAge != nil && !state.isSweepScheduled && state.count > minimumCount
      if sweep { state.isSweepScheduled = true }
      defer { state.isAwaited = false }
      return (state.isAwaited ? state.owner : nil, sweep)
    }
    if sweep { scheduleSweep() }
    if let notify {
      NotificationCenter.default.post(
        name: Notification.Name(kCVPixelBufferPoolFreeBufferNotification as String), object: notify)
    }
  }

  /// Frees unused memory: what is older than the maximum age, as long as the minimum count remains,
  /// or all of it.
  func flush(all: Bool) {
    let now = mach_absolute_time()
    // The memory is freed without the lock.
    let freed = state.withLock { state in
      var dropped = 0
      for entry in state.free {
        let isOld = maximumAge.map { now >= entry.since + $0 } ?? false
        guard all || (isOld && state.count - dropped > minimumCount) else { break }
        dropped += 1
      }
      let gone = UncheckedBox(Array(state.free.prefix(dropped)))
      state.free.removeFirst(dropped)
      state.count -= dropped
      return gone
    }
    _ = freed
  }

  /// Frees all unused memory, and what is released later, because the pool is gone.
  func close() {
    let freed = state.withLock { state in
      state.isClosed = true
      let gone = UncheckedBox(state.free)
      state.count -= state.free.count
      state.free = []
      return gone
    }
    _ = freed
  }

  /// Schedules a check for memory that is too old, at the time at which the next entry can be so.
  private func scheduleSweep() {
    guard let maximumAge else { return }
    let delay = DispatchTimeInterval.nanoseconds(Int(maximumAge) + 1_000_000)
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in
      guard let self else { return }
      flush(all: false)
      let again = state.withLock { state in
        state.isSweepScheduled = !state.free.isEmpty && state.count > minimumCount
        return state.isSweepScheduled
      }
      if again { scheduleSweep() }
    }
  }
}

/// A value that a lock guards, for values that `Mutex` cannot hold.
private final class LockedState<Value>: @unchecked Sendable {
  // Sendable: `lock` guards `value`.
  private let lock = Lock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<R>(_ body: (inout Value) -> R) -> R {
    lock.withLock { body(&value) }
  }
}
