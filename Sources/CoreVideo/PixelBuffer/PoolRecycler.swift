// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Dispatch

/// Where a pool's unused memory waits to be used again. Buffers hold it, so that it outlives the pool as long as one of
/// them does.
final class PoolRecycler: PixelBufferRecycler, @unchecked Sendable {
  // Sendable: immutable but for the state behind its lock.
  enum Taken {
    case used(PixelStorage)
    /// There is none: the caller allocates, and the recycler has counted it already.
    case none
    case tooMany
  }

  private struct State: @unchecked Sendable {
    // Sendable: lives behind the lock of its recycler.
    /// The unused ones, the longest unused first, with the time they came back, in nanoseconds.
    var free: [(storage: PixelStorage, since: UInt64)] = []
    /// How many there are, used and unused.
    var count = 0
    var isClosed = false
    /// Whether a threshold made a creation fail and no buffer has come back since.
    var isAwaited = false
    var isSweepScheduled = false
    weak var owner: CVPixelBufferPool?
  }

  private let state = LockedState(State())
  private let minimumCount: Int
  /// In nanoseconds; nil keeps everything.
  private let maximumAge: UInt64?

  init(minimumCount: Int, maximumAge: Double) {
    self.minimumCount = minimumCount
    self.maximumAge = maximumAge > 0 && maximumAge < 1e9 ? UInt64(maximumAge * 1e9) : nil
  }

  func setOwner(_ pool: CVPixelBufferPool) {
    state.withLock { $0.owner = pool }
  }

  func take(threshold: Int?) -> Taken {
    state.withLock { state in
      // The one that was used last: its memory is the likeliest to be in a cache.
      if let last = state.free.popLast() { return .used(last.storage) }
      if let threshold, state.count >= threshold {
        state.isAwaited = true
        return .tooMany
      }
      state.count += 1
      return .none
    }
  }

  /// A buffer that was counted could not be made.
  func discarded() { state.withLock { $0.count -= 1 } }

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

  /// Frees unused buffers: those that are too old as long as the minimum count remains, or all.
  func flush(all: Bool) {
    let now = mach_absolute_time()
    // Memory is freed outside the lock.
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

  /// Looks for old buffers when the next one can have become too old.
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

/// A value behind a lock: it holds what a `Mutex` does not take.
private final class LockedState<Value>: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let lock = Lock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<R>(_ body: (inout Value) -> R) -> R {
    lock.withLock { body(&value) }
  }
}
