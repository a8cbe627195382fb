import Synchronization

/// A lock around a reference type's own stored properties.
///
/// `Mutex` guards a value that it owns; the types here hold pointers and callbacks that cannot be
/// sent into one, so the lock stands beside the properties that it guards.
struct MediaLock: ~Copyable, Sendable {
  private let mutex = Mutex<Void>(())

  @inline(__always)
  borrowing func withLock<R>(_ body: () throws -> R) rethrows -> R {
    mutex._unsafeLock()
    defer { mutex._unsafeUnlock() }
    return try body()
  }
}
