// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A queue of datagrams to a socket, filled by any threads and sent in order. `enqueue` does not
/// block, so it may be called under a lock; one thread at a time sends, including what others put
/// in meanwhile.
final class DatagramOutbox: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  typealias Datagram = (bytes: [UInt8], path: DatagramPath)

  /// The number of datagrams that may wait; further ones are dropped.
  static let capacity = 2048
  private let lock = Lock()
  private var waiting: [Datagram] = []
  private var isSending = false
  private var lost = 0

  var lostCount: Int { lock.withLock { lost } }

  func enqueue(_ bytes: [UInt8], to path: DatagramPath) {
    lock.withLock {
      if waiting.count < Self.capacity { waiting.append((bytes, path)) } else { lost += 1 }
    }
  }

  /// Sends the waiting datagrams. It returns immediately if another thread is sending.
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
