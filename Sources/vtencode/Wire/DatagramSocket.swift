// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation
import NIOCore
import NIOPosix

/// A UDP socket with a thread of its own, which records the time of arrival of each datagram.
final class DatagramSocket: @unchecked Sendable {
  // Sendable: `lock` guards the mutable state.
  /// The largest datagram in bytes. The system truncates larger ones, which are then invalid.
  private static let maxBytes = 2048
  /// The size in bytes of the system's receive buffer, which has to hold a key frame that arrives
  /// at once.
  private static let systemBuffer = 1 << 20

  private let group: MultiThreadedEventLoopGroup
  private let channel: any Channel
  private let sender: UDPSender
  private let outbox = DatagramOutbox()
  private let lock = Lock()
  private var code: Int32?
  private var accepted = 0

  /// Opens and binds the socket.
  /// - Parameters:
  ///   - address: the address to bind to.
  ///   - handler: is called on the socket's thread with the path, the bytes and the time of arrival
  ///     of each datagram.
  /// - Throws: a `Failure` with advice if the port cannot be opened.
  init(
    _ address: SocketAddress, handler: @escaping @Sendable (DatagramPath, [UInt8], Double) -> Void
  ) throws {
    let descriptor = try Self.bound(to: address)
    do {
      sender = try UDPSender(descriptor)
    } catch {
      Foundation.close(descriptor)
      throw error
    }
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      channel = try DatagramBootstrap(group: group)
        .channelOption(.socketOption(.so_rcvbuf), value: Self.systemBuffer)
        .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.maxBytes))
        .channelOption(.maxMessagesPerRead, value: 64)
        // A machine with several addresses answers from the one that it was addressed by.
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
    if family == AF_INET6, address.ipAddress == "::" {
      // All addresses are those of IPv4 too, whatever the system's setting (RFC 3493, 5.3).
      var isExclusive: CInt = 0
      setsockopt(
        descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isExclusive, socklen_t(MemoryLayout<CInt>.size))
    }
    guard address.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
      let code = errno
      Foundation.close(descriptor)
      throw failure(code, address)
    }
    return descriptor
  }

  /// The error for a port that cannot be opened, with advice.
  static func failure(_ code: Int32, _ address: SocketAddress) -> Failure {
    let port = address.port ?? 0
    switch code {
    case EADDRINUSE: return Failure("port \(port) is in use; choose another, or end the program that has it")
    case EACCES: return Failure("port \(port) is reserved for the system; use a port of at least 1024")
    case EADDRNOTAVAIL:
      return Failure("this machine has no address '\(address.ipAddress ?? address.text)'")
    default: return Failure("cannot open port \(port): \(String(cString: strerror(code)).lowercased())")
    }
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  /// Whether it sends to addresses of IPv6; at all addresses of the machine then to those of IPv4
  /// too.
  var isIPv6: Bool { channel.localAddress?.protocol == .inet6 }

  /// Opens a socket at all addresses of the machine, of IPv4 and, where it has that, of IPv6.
  /// - Parameter handler: as of `init`.
  /// - Throws: a `Failure` if no port can be opened.
  static func atAllAddresses(
    handler: @escaping @Sendable (DatagramPath, [UInt8], Double) -> Void
  ) throws -> DatagramSocket {
    do { return try DatagramSocket(SocketAddress(ipAddress: "::", port: 0), handler: handler) } catch {
      return try DatagramSocket(SocketAddress(ipAddress: "0.0.0.0", port: 0), handler: handler)
    }
  }

  /// The error number of the last datagram that was sent; nil if it was sent successfully. The next
  /// one may succeed, because addresses, routes and neighbours change during a call.
  var lastError: Int32? { lock.withLock { code } }
  /// The number of datagrams that the system accepted.
  var acceptedCount: Int { lock.withLock { accepted } }

  /// Sends datagrams in order. Datagrams that the system does not accept are lost.
  func send(_ packets: [[UInt8]], to path: DatagramPath) {
    for packet in packets {
      note(sender.send(packet, to: path))
    }
  }

  private func note(_ result: Int32?) {
    lock.withLock {
      code = result
      if result == nil { accepted += 1 }
    }
  }

  /// Appends a datagram to those that `flush` sends, without blocking.
  func enqueue(_ packet: [UInt8], to path: DatagramPath) { outbox.enqueue(packet, to: path) }

  /// Sends the waiting datagrams in order; it may be called from any thread. It waits for room at
  /// most as long as for one datagram, however many there are; the remaining ones are lost.
  func flush() {
    var timeout = UDPSender.timeout
    outbox.drain { datagram in
      let begin = SessionTime.now
      let result = sender.send(datagram.bytes, to: datagram.path, timeout: timeout)
      timeout = max(timeout - Int((SessionTime.now - begin) * 1000), 0)
      note(result)
    }
  }

  /// Calls an action periodically on the socket's thread.
  func every(milliseconds: Int64, _ action: @escaping @Sendable () -> Void) {
    channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(milliseconds)) { _ in
      action()
    }
  }

  /// Closes the socket and stops its thread.
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

  // Ignores the error for a datagram that could not be delivered (ICMP); the next one may be.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
