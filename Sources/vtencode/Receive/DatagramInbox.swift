// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A queue of datagrams from the socket's thread to the session's. When it is full, further
/// datagrams are dropped, as by a socket.
final class DatagramInbox: @unchecked Sendable {
  // Sendable: `condition` guards the mutable state.
  struct Datagram: Sendable {
    var path: DatagramPath
    var bytes: [UInt8]
    /// The time of arrival in seconds of `SessionTime`.
    var time: Double
  }

  private static let capacity = 4096
  private let condition = MonotonicCondition()
  private var waiting: [Datagram] = []
  private var isWoken = false
  private var dropped = 0
  private var closed = false

  var isClosed: Bool { condition.withLock { closed } }

  var droppedCount: Int { condition.withLock { dropped } }

  var isEmpty: Bool { condition.withLock { waiting.isEmpty } }

  func enqueue(_ datagram: Datagram) {
    condition.withLock {
      if waiting.count < Self.capacity { waiting.append(datagram) } else { dropped += 1 }
      condition.broadcast()
    }
  }

  /// Ends a wait in `dequeue`.
  func wake() {
    condition.withLock {
      isWoken = true
      condition.broadcast()
    }
  }

  /// Closes the queue, which ends the session that reads from it.
  func close() {
    condition.withLock {
      closed = true
      condition.broadcast()
    }
  }

  /// Waits for datagrams until a time, and takes all of them.
  /// - Parameter time: in seconds of `SessionTime`.
  /// - Returns: the datagrams in the order of arrival; empty if none came or the wait was ended.
  func dequeue(until time: Double) -> [Datagram] {
    condition.withLock {
      while waiting.isEmpty, !isWoken, !closed, condition.wait(untilSessionTime: time) {}
      isWoken = false
      defer { waiting.removeAll(keepingCapacity: true) }
      return waiting
    }
  }
}
