// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Passes elements to a receiver in order, one after the other, without holding a lock during the
/// call. The receiver may put further elements, and another thread may call `flush` meanwhile; the
/// thread that is passing elements passes these too.
final class OrderedOutput<Element>: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  private let condition = NSCondition()
  private var waiting = SampleQueue<Element>()
  private var thread: Thread?
  private let receive: @Sendable (Element) -> Void

  init(_ receive: @escaping @Sendable (Element) -> Void) { self.receive = receive }

  /// Appends an element. Called under the lock that determines the order of the elements.
  func put(_ element: Element) { condition.withLock { waiting.append(element) } }

  /// Passes the waiting elements to the receiver, unless a thread is doing so already. Must be
  /// called without the lock of `put`.
  func flush() {
    condition.lock()
    defer { condition.unlock() }
    guard thread == nil, !waiting.isEmpty else { return }
    thread = Thread.current
    while let element = waiting.popFirst() {
      condition.unlock()
      receive(element)
      condition.lock()
    }
    thread = nil
    condition.broadcast()
  }

  /// Passes the waiting elements to the receiver, and returns when it has received all of them.
  /// When called by the receiver, returns at once.
  func complete() {
    flush()
    condition.lock()
    defer { condition.unlock() }
    while let thread, thread !== Thread.current { condition.wait() }
  }

  /// Removes the waiting elements.
  func clear() {
    let left = condition.withLock {
      defer { waiting = SampleQueue() }
      return waiting
    }
    withExtendedLifetime(left) {}
  }
}
