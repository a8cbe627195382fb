// SPDX-License-Identifier: Apache-2.0
/// A discrete-event simulation: a virtual clock and planned events. The clock jumps from one event
/// to the next.
public final class EventLoop {
  private struct Event {
    var time: Double
    /// Events of the same time run in the order in which they were planned.
    var order: UInt64
    var action: () throws -> Void

    func isBefore(_ other: Event) -> Bool { time != other.time ? time < other.time : order < other.order }
  }

  /// The virtual time, in seconds.
  public private(set) var now = 0.0
  private var nextOrder: UInt64 = 0
  /// The planned events, a binary heap with the earliest first.
  private var heap: [Event] = []

  public init() {}

  /// Plans an action.
  /// - Parameters:
  ///   - time: When to run it; a time in the past means now.
  ///   - action: The action.
  public func schedule(at time: Double, _ action: @escaping () throws -> Void) {
    heap.append(Event(time: max(time, now), order: nextOrder, action: action))
    nextOrder += 1
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Runs all events until none is left.
  /// - Throws: The error of an action, which ends the loop.
  public func run() throws {
    while let event = removeFirst() {
      now = event.time
      try event.action()
    }
  }

  private func removeFirst() -> Event? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if heap.isEmpty { return first }
    heap[0] = last
    var parent = 0
    while true {
      var minimum = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[minimum]) { minimum = child }
      if minimum == parent { return first }
      heap.swapAt(parent, minimum)
      parent = minimum
    }
  }
}
