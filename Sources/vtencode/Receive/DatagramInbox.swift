// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Datagrams on their way from the socket's thread to the session's. What floods it is dropped, as a full socket would.
final class DatagramInbox: @unchecked Sendable {
  // Sendable: `condition` guards what changes.
  struct Datagram: Sendable {
    var path: DatagramPath
    var bytes: [UInt8]
    /// When it came.
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

  func put(_ datagram: Datagram) {
    condition.withLock {
      if waiting.count < Self.capacity { waiting.append(datagram) } else { dropped += 1 }
      condition.broadcast()
    }
  }

  /// Ends a wait.
  func wake() {
    condition.withLock {
      isWoken = true
      condition.broadcast()
    }
  }

  /// Ends the session that reads here.
  func close() {
    condition.withLock {
      closed = true
      condition.broadcast()
    }
  }

  /// What has come; waits for something until a time.
  func take(until time: Double) -> [Datagram] {
    condition.withLock {
      while waiting.isEmpty, !isWoken, !closed, condition.wait(untilSessionTime: time) {}
      isWoken = false
      defer { waiting.removeAll(keepingCapacity: true) }
      return waiting
    }
  }
}
