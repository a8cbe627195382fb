// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Hands things out in order, one after the other, and holds no lock meanwhile: who receives one may bring more, and who
/// brings one while another thread hands out leaves it to that thread.
final class OrderedOutput<Element>: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  private let condition = NSCondition()
  private var waiting = SampleQueue<Element>()
  private var thread: Thread?
  private let receive: @Sendable (Element) -> Void

  init(_ receive: @escaping @Sendable (Element) -> Void) { self.receive = receive }

  /// Puts something at the end. Called under the lock of whoever decides on the order.
  func put(_ element: Element) { condition.withLock { waiting.append(element) } }

  /// Hands out what waits, unless somebody is at it. Called under no lock.
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

  /// Hands out what waits, and returns when all has been received; within the receiver, at once.
  func complete() {
    flush()
    condition.lock()
    defer { condition.unlock() }
    while let thread, thread !== Thread.current { condition.wait() }
  }

  /// Forgets what waits.
  func clear() {
    let left = condition.withLock {
      defer { waiting = SampleQueue() }
      return waiting
    }
    withExtendedLifetime(left) {}
  }
}
