// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Passes elements from one thread to another and holds at most `capacity` of them, so that memory stays
/// bounded whichever side is faster.
final class BoundedQueue<Element>: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  private let capacity: Int
  private var elements: [Element] = []
  private var state = State.open
  private let condition = NSCondition()

  private enum State {
    case open
    /// No more elements will come; what is queued is still handed out.
    case ended((any Error)?)
    /// Nobody wants any more.
    case cancelled
  }

  init(capacity: Int) {
    self.capacity = capacity
    elements.reserveCapacity(capacity)
  }

  /// Whether nobody takes elements any more.
  var isCancelled: Bool {
    condition.lock()
    defer { condition.unlock() }
    if case .cancelled = state { return true }
    return false
  }

  /// Waits for room. False if nobody takes elements any more.
  func push(_ element: sending Element) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while case .open = state, elements.count >= capacity { condition.wait() }
    guard case .open = state else { return false }
    elements.append(element)
    condition.broadcast()
    return true
  }

  /// Does not wait for room.
  /// - Returns: Whether there was some; nil if nobody takes elements any more.
  func offer(_ element: sending Element) -> Bool? {
    condition.lock()
    defer { condition.unlock() }
    guard case .open = state else { return nil }
    guard elements.count < capacity else { return false }
    elements.append(element)
    condition.broadcast()
    return true
  }

  /// Waits for an element. Nil at the end; throws the error that the other side ended with.
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

  /// Says that no more elements come.
  func end(_ error: (any Error)? = nil) {
    condition.lock()
    if case .open = state { state = .ended(error) }
    condition.broadcast()
    condition.unlock()
  }

  /// Says that no more elements are wanted, and drops those queued.
  func cancel() {
    condition.lock()
    state = .cancelled
    elements.removeAll()
    condition.broadcast()
    condition.unlock()
  }
}
