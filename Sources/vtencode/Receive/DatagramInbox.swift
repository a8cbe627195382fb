// SPDX-License-Identifier: Apache-2.0
import Foundation

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
  private let condition = NSCondition()
  private var waiting: [Datagram] = []
  private var isWoken = false
  private var dropped = 0
  private var closed = false

  var isClosed: Bool {
    condition.lock()
    defer { condition.unlock() }
    return closed
  }

  var droppedCount: Int {
    condition.lock()
    defer { condition.unlock() }
    return dropped
  }

  var isEmpty: Bool {
    condition.lock()
    defer { condition.unlock() }
    return waiting.isEmpty
  }

  func put(_ datagram: Datagram) {
    condition.lock()
    if waiting.count < Self.capacity { waiting.append(datagram) } else { dropped += 1 }
    condition.signal()
    condition.unlock()
  }

  /// Ends a wait.
  func wake() {
    condition.lock()
    isWoken = true
    condition.signal()
    condition.unlock()
  }

  /// Ends the session that reads here.
  func close() {
    condition.lock()
    closed = true
    condition.signal()
    condition.unlock()
  }

  /// What has come; waits for something until a time.
  func take(until time: Double) -> [Datagram] {
    condition.lock()
    defer { condition.unlock() }
    while waiting.isEmpty, !isWoken, !closed {
      let left = time - SessionTime.now
      guard left > 0 else { break }
      _ = condition.wait(until: Date().addingTimeInterval(left))
    }
    isWoken = false
    defer { waiting.removeAll(keepingCapacity: true) }
    return waiting
  }
}
