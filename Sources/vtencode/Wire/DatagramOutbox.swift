// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Datagrams on their way to a socket, in the order in which they were put here, from any threads. Who puts some in under a
/// lock of its own waits for nothing; one thread at a time sends, and takes along what others put in meanwhile.
final class DatagramOutbox: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  typealias Datagram = (bytes: [UInt8], path: DatagramPath)

  /// Datagrams that may wait while the system takes none; what is more is lost, as on the way.
  static let capacity = 2048
  private let lock = Lock()
  private var waiting: [Datagram] = []
  private var isSending = false
  private var lost = 0

  var lostCount: Int { lock.withLock { lost } }

  func put(_ bytes: [UInt8], to path: DatagramPath) {
    lock.withLock {
      if waiting.count < Self.capacity { waiting.append((bytes, path)) } else { lost += 1 }
    }
  }

  /// Sends what waits; returns at once if another thread does.
  func drain(_ send: (Datagram) -> Void) {
    var mayGo = lock.withLock {
      defer { isSending = true }
      return !isSending
    }
    while mayGo {
      let batch = lock.withLock {
        defer { waiting.removeAll() }
        return waiting
      }
      for datagram in batch { send(datagram) }
      mayGo = lock.withLock {
        isSending = !waiting.isEmpty
        return isSending
      }
    }
  }
}
