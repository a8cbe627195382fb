// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import NIOPosix

/// A UDP socket with a thread of its own, which stamps what comes with its time.
final class DatagramSocket: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// Bytes that a datagram may have; what is longer is cut by the system, and is no packet any more.
  private static let mostBytes = 2048
  /// The system's memory for datagrams that wait: a key frame comes at once.
  private static let systemBuffer = 1 << 20

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let outlet: DatagramOutlet
  private let outbox = DatagramOutbox()
  private let lock = Lock()
  private var code: Int32?
  private var taken = 0

  /// - Parameter handler: called on the socket's thread for each datagram.
  init(
    _ address: SocketAddress, handler: @escaping @Sendable (DatagramPath, [UInt8], Double) -> Void
  ) throws {
    let descriptor = try Self.bound(to: address)
    do {
      outlet = try DatagramOutlet(descriptor)
    } catch {
      Foundation.close(descriptor)
      throw error
    }
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      channel = try DatagramBootstrap(group: group)
        .channelOption(.socketOption(.so_rcvbuf), value: Self.systemBuffer)
        .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.mostBytes))
        .channelOption(.maxMessagesPerRead, value: 64)
        // Who has several addresses answers from the one that was asked.
        .channelOption(.receivePacketInfo, value: true)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(DatagramHandler(handler))
          }
        }
        .withBoundSocket(descriptor).wait()
    } catch {
      try? group.syncShutdownGracefully()
      throw Failure("cannot listen at \(address.text): \(Failure.describe(error))")
    }
  }

  private static func bound(to address: SocketAddress) throws -> CInt {
    let family = address.protocol == .inet6 ? AF_INET6 : AF_INET
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw failure(errno, address) }
    guard address.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
      let code = errno
      Foundation.close(descriptor)
      throw failure(code, address)
    }
    return descriptor
  }

  /// What is to be done about a port that cannot be had.
  static func failure(_ code: Int32, _ address: SocketAddress) -> Failure {
    let port = address.port ?? 0
    switch code {
    case EADDRINUSE: return Failure("port \(port) is in use; choose another, or end the program that has it")
    case EACCES: return Failure("port \(port) is for the system; choose one from 1024 on")
    case EADDRNOTAVAIL:
      return Failure("this machine has no address '\(address.ipAddress ?? address.text)'")
    default: return Failure("cannot open port \(port): \(String(cString: strerror(code)).lowercased())")
    }
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  /// The system's word on what was sent last, if that could not be. The next may go: addresses, routes and neighbours come
  /// and go while a call lasts.
  var lastError: Int32? { lock.withLock { code } }
  /// Datagrams that the system took.
  var takenCount: Int { lock.withLock { taken } }

  /// Sends datagrams in order. What the system does not take is lost, as on the way.
  func send(_ packets: [[UInt8]], to path: DatagramPath) {
    for packet in packets {
      note(outlet.send(packet, to: path))
    }
  }

  private func note(_ result: Int32?) {
    lock.withLock {
      code = result
      if result == nil { taken += 1 }
    }
  }

  /// Puts a datagram behind those that wait to be sent; never waits. `flush` sends them.
  func enqueue(_ packet: [UInt8], to path: DatagramPath) { outbox.put(packet, to: path) }

  /// Sends what waits, in order, from any thread. An interface that takes nothing holds it for as long as one datagram may
  /// wait, however many there are: the others are lost, as on the way.
  func flush() {
    var patience = DatagramOutlet.patience
    outbox.drain { datagram in
      let begin = SessionTime.now
      let result = outlet.send(datagram.bytes, to: datagram.path, patience: patience)
      patience = max(patience - Int((SessionTime.now - begin) * 1000), 0)
      note(result)
    }
  }

  /// Calls an action every few milliseconds on the socket's thread.
  func every(milliseconds: Int64, _ action: @escaping @Sendable () -> Void) {
    channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(milliseconds)) { _ in
      action()
    }
  }

  /// Ends, whatever goes on.
  func close() {
    channel.eventLoop.execute { [channel] in channel.close(promise: nil) }
    try? channel.closeFuture.wait()
    try? group.syncShutdownGracefully()
  }
}

private final class DatagramHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let handler: @Sendable (DatagramPath, [UInt8], Double) -> Void

  init(_ handler: @escaping @Sendable (DatagramPath, [UInt8], Double) -> Void) { self.handler = handler }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    let path = DatagramPath(remote: envelope.remoteAddress, local: envelope.metadata?.packetInfo)
    handler(path, Array(envelope.data.readableBytesView), SessionTime.now)
  }

  // A datagram that could not be delivered (ICMP) says so here; the next may be.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
