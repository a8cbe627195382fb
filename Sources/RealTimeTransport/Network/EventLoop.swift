// SPDX-License-Identifier: Apache-2.0
/// A virtual clock, and what is to happen when. Time passes only from one event to the next.
public final class EventLoop {
  private struct Event {
    var time: Double
    /// Events of the same time happen in the order in which they were planned.
    var order: UInt64
    var action: () throws -> Void

    func isBefore(_ other: Event) -> Bool { time != other.time ? time < other.time : order < other.order }
  }

  /// Seconds.
  public private(set) var now = 0.0
  private var nextOrder: UInt64 = 0
  /// A binary heap, the earliest first.
  private var heap: [Event] = []

  public init() {}

  /// Plans an action. A time that has passed is now.
  public func schedule(at time: Double, _ action: @escaping () throws -> Void) {
    heap.append(Event(time: max(time, now), order: nextOrder, action: action))
    nextOrder += 1
    var child = heap.count - 1
    while child > 0, heap[child].isBefore(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Lets everything happen, until nothing is left to. An error ends it.
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
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].isBefore(heap[least]) { least = child }
      if least == parent { return first }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}
