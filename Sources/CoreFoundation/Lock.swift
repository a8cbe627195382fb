// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// The package's lock, where a `Mutex` cannot own what it guards: it stands beside a reference type's stored properties,
/// which are pointers, callbacks and objects that cannot be sent into one.
///
/// Costs no allocation. Not recursive. What waits for a condition takes an `NSCondition` instead.
package struct Lock: ~Copyable, Sendable {
  @usableFromInline let mutex = Mutex<Void>(())

  package init() {}

  @inlinable
  package borrowing func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    // Not returned through the mutex, which would have to send it.
    var result: R?
    try mutex.withLock { _ throws(E) in result = try body() }
    guard let result else { preconditionFailure("the body has not run") }
    return result
  }
}
