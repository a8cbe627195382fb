// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A value that is guarded by a lock. Copies share the same lock and the same value.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
  // Sendable: the lock guards the state.
  fileprivate final class Storage {
    var state: State
    let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init(_ state: State) {
      self.state = state
      mutex = .allocate(capacity: 1)
      mutex.initialize(to: pthread_mutex_t())
      pthread_mutex_init(mutex, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }
  }

  fileprivate let storage: Storage

  public init(uncheckedState initialState: State) { storage = Storage(initialState) }

  public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    pthread_mutex_lock(storage.mutex)
    defer { pthread_mutex_unlock(storage.mutex) }
    return try body(&storage.state)
  }

  public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result
  {
    try withLockUnchecked(body)
  }

  /// Calls `body` with the lock held. If the lock is not available, it returns nil and does not
  /// call `body`.
  public func withLockIfAvailableUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result?
  {
    guard pthread_mutex_trylock(storage.mutex) == 0 else { return nil }
    defer { pthread_mutex_unlock(storage.mutex) }
    return try body(&storage.state)
  }

  public func withLockIfAvailable<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows
    -> Result?
  {
    try withLockIfAvailableUnchecked(body)
  }
}

extension OSAllocatedUnfairLock where State: Sendable {
  public init(initialState: State) { self.init(uncheckedState: initialState) }
}

extension OSAllocatedUnfairLock where State == Void {
  public init() { self.init(uncheckedState: ()) }

  public func lock() { pthread_mutex_lock(storage.mutex) }
  public func unlock() { pthread_mutex_unlock(storage.mutex) }
  public func lockIfAvailable() -> Bool { pthread_mutex_trylock(storage.mutex) == 0 }

  public func withLockUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
    try withLockUnchecked(body)
  }

  public func withLockIfAvailableUnchecked<Result>(_ body: () throws -> Result) rethrows -> Result? {
    guard lockIfAvailable() else { return nil }
    defer { unlock() }
    return try body()
  }
}

// MARK: - C interface

/// A lock in memory of the program. It must not be moved while it is locked.
public struct os_unfair_lock_s {
  fileprivate var mutex = pthread_mutex_t()
  public init() {}
}

public typealias os_unfair_lock = os_unfair_lock_s
public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock_s>

public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) { mutex(lock) { _ = pthread_mutex_lock($0) } }
public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) { mutex(lock) { _ = pthread_mutex_unlock($0) } }
@discardableResult
public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool {
  var isTaken = false
  mutex(lock) { isTaken = pthread_mutex_trylock($0) == 0 }
  return isTaken
}

/// Calls `body` with the address of the mutex in a lock. The mutex is the only member of the
/// structure.
private func mutex(_ lock: os_unfair_lock_t, _ body: (UnsafeMutablePointer<pthread_mutex_t>) -> Void) {
  UnsafeMutableRawPointer(lock).withMemoryRebound(to: pthread_mutex_t.self, capacity: 1, body)
}
