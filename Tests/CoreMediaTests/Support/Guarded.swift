// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A value that several threads change, behind a lock that thread sanitizers see (`Mutex` is none).
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
