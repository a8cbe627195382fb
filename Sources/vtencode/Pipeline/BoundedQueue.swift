// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A first-in, first-out queue between two threads that holds at most `capacity` elements, so that
/// memory stays bounded whichever side is faster.
final class BoundedQueue<Element>: @unchecked Sendable {
  // Sendable: `condition` guards the mutable state.
  private let capacity: Int
  private var elements: [Element] = []
  private var state = State.open
  private let condition = NSCondition()

  private enum State {
    case open
    /// No more elements will come; the queued ones are still handed out.
    case ended((any Error)?)
    /// The consumer takes no more elements.
    case cancelled
  }

  init(capacity: Int) {
    self.capacity = capacity
    elements.reserveCapacity(capacity)
  }

  /// Whether the consumer takes no more elements.
  var isCancelled: Bool {
    condition.lock()
    defer { condition.unlock() }
    if case .cancelled = state { return true }
    return false
  }

  /// Waits for room and appends an element.
  /// - Returns: false if the consumer takes no more elements.
  func push(_ element: sending Element) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while case .open = state, elements.count >= capacity { condition.wait() }
    guard case .open = state else { return false }
    elements.append(element)
    condition.broadcast()
    return true
  }

  /// Appends an element if there is room, and does not wait.
  /// - Returns: whether there was room; nil if the consumer takes no more elements.
  func offer(_ element: sending Element) -> Bool? {
    condition.lock()
    defer { condition.unlock() }
    guard case .open = state else { return nil }
    guard elements.count < capacity else { return false }
    elements.append(element)
    condition.broadcast()
    return true
  }

  /// Waits for an element and removes it from the queue.
  /// - Returns: the element; nil at the end or after `cancel()`.
  /// - Throws: the error that the producer ended with.
  func pop() throws -> Element? {
    condition.lock()
    defer { condition.unlock() }
    while case .open = state, elements.isEmpty { condition.wait() }
    if case .cancelled = state { return nil }
    if !elements.isEmpty {
      let element = elements.removeFirst()
      condition.broadcast()
      return element
    }
    if case .ended(let error?) = state { throw error }
    return nil
  }

  /// Marks the end of the elements, with an error if the producer failed.
  func end(_ error: (any Error)? = nil) {
    condition.lock()
    if case .open = state { state = .ended(error) }
    condition.broadcast()
    condition.unlock()
  }

  /// Drops the queued elements and takes no more.
  func cancel() {
    condition.lock()
    state = .cancelled
    elements.removeAll()
    condition.broadcast()
    condition.unlock()
  }
}
