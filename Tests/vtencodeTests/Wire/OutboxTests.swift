// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing
import TestSupport

@testable import vtencode

/// Datagrams that several threads send.
@Suite struct OutboxTests {
  private func path() throws -> DatagramPath {
    DatagramPath(remote: try SocketAddress(ipAddress: "127.0.0.1", port: 9))
  }

  @Test("A datagram enqueued during a send is sent after it, once, without blocking")
  func whatIsPutInWhileAnotherSendsGoesBehindIt() throws {
    let outbox = DatagramOutbox()
    let path = try path()
    let lock = NSLock()
    nonisolated(unsafe) var sent: [[UInt8]] = []
    let (entered, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let ended = DispatchSemaphore(value: 0)
    outbox.enqueue([0], to: path)
    Thread {
      outbox.drain { datagram in
        if datagram.bytes == [0] {
          entered.signal()
          // An interface that takes nothing.
          go.wait()
        }
        lock.withLock { sent.append(datagram.bytes) }
      }
      ended.signal()
    }.start()
    entered.wait()
    let put = DispatchSemaphore(value: 0)
    Thread {
      for number in 1..<100 {
        outbox.enqueue([UInt8(number)], to: path)
        outbox.drain { _ in Issue.record("two threads send at once") }
      }
      put.signal()
    }.start()
    // Nobody waits for the interface.
    #expect(waitForSignal(put))
    go.signal()
    ended.wait()
    #expect(lock.withLock { sent } == (0..<100).map { [UInt8($0)] })
    // It continues.
    outbox.enqueue([100], to: path)
    outbox.drain { datagram in lock.withLock { sent.append(datagram.bytes) } }
    #expect(lock.withLock { sent.count } == 101)
  }

  @Test("From many threads each one's datagrams go in its order, and all of them")
  func eachThreadsDatagramsGoInItsOrder() throws {
    let outbox = DatagramOutbox()
    let path = try path()
    let lock = NSLock()
    nonisolated(unsafe) var sent: [[UInt8]] = []
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<200 {
        outbox.enqueue([UInt8(thread), UInt8(number)], to: path)
        outbox.drain { datagram in lock.withLock { sent.append(datagram.bytes) } }
      }
    }
    outbox.drain { datagram in lock.withLock { sent.append(datagram.bytes) } }
    #expect(sent.count == 800 && outbox.lostCount == 0)
    for thread in 0..<4 {
      #expect(sent.filter { $0[0] == UInt8(thread) }.map { Int($0[1]) } == Array(0..<200))
    }
  }

  @Test("The queue of datagrams is bounded")
  func whatWaitsIsBounded() throws {
    let outbox = DatagramOutbox()
    let path = try path()
    for _ in 0..<DatagramOutbox.capacity + 7 { outbox.enqueue([1], to: path) }
    var count = 0
    outbox.drain { _ in count += 1 }
    #expect(count == DatagramOutbox.capacity && outbox.lostCount == 7)
  }
}
