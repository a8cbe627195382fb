// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A lock for reference types whose state a `Mutex` cannot own, because it consists of pointers,
/// callbacks and objects that are not `Sendable`. The lock is a property next to the state that it
/// guards.
///
/// The lock needs no allocation and is not recursive. Code that waits for a condition uses an
/// `NSCondition` or a ``MonotonicCondition`` instead.
package struct Lock: ~Copyable, Sendable {
  @usableFromInline let mutex = Mutex<Void>(())

  package init() {}

  @inlinable
  package borrowing func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    // The mutex returns only `Sendable` values, so the result is stored in a variable.
    var result: R?
    try mutex.withLock { _ throws(E) in result = try body() }
    guard let result else { preconditionFailure("the body has not run") }
    return result
  }
}
