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
  private let lock = Lock()
  private var code: Int32?

  /// - Parameter handler: called on the socket's thread for each datagram.
  init(
    _ host: String, port: Int, handler: @escaping @Sendable (SocketAddress, [UInt8], Double) -> Void
  ) throws {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      channel = try DatagramBootstrap(group: group)
        .channelOption(.socketOption(.so_rcvbuf), value: Self.systemBuffer)
        .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.mostBytes))
        .channelOption(.maxMessagesPerRead, value: 64)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(DatagramHandler(handler))
          }
        }
        .bind(host: host, port: port).wait()
    } catch {
      try? group.syncShutdownGracefully()
      throw Self.failure(error, host, port)
    }
  }

  private static func failure(_ error: any Error, _ host: String, _ port: Int) -> Failure {
    switch (error as? IOError)?.errnoCode {
    case EADDRINUSE?:
      Failure("port \(port) is in use; choose another, or end the program that has it")
    case EACCES?: Failure("port \(port) is for the system; choose one from 1024 on")
    case EADDRNOTAVAIL?: Failure("this machine has no address '\(host)'")
    case let code?: Failure("cannot open port \(port): \(String(cString: strerror(code)).lowercased())")
    case nil: Failure("cannot open port \(port) at '\(host)': \(Failure.describe(error))")
    }
  }

  var port: Int { channel.localAddress?.port ?? 0 }

  /// The system's word on what was sent last, if that could not be.
  var lastError: Int32? { lock.withLock { code } }

  /// Sends datagrams in order.
  func send(_ packets: [[UInt8]], to address: SocketAddress) {
    guard !packets.isEmpty else { return }
    channel.eventLoop.execute { [self] in
      for packet in packets {
        let envelope = AddressedEnvelope(
          remoteAddress: address, data: channel.allocator.buffer(bytes: packet))
        channel.write(envelope).whenComplete { [self] result in
          lock.withLock {
            switch result {
            case .success: code = nil
            case .failure(let error): code = (error as? IOError)?.errnoCode ?? code
            }
          }
        }
      }
      channel.flush()
    }
  }

  /// Calls an action every few milliseconds on the socket's thread.
  func every(milliseconds: Int64, _ action: @escaping @Sendable () -> Void) {
    channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(milliseconds)) { _ in
      action()
    }
  }

  /// Sends what waits, and ends.
  func close() {
    channel.eventLoop.execute { [channel] in channel.close(promise: nil) }
    try? channel.closeFuture.wait()
    try? group.syncShutdownGracefully()
  }
}

private final class DatagramHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let handler: @Sendable (SocketAddress, [UInt8], Double) -> Void

  init(_ handler: @escaping @Sendable (SocketAddress, [UInt8], Double) -> Void) { self.handler = handler }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    handler(envelope.remoteAddress, Array(envelope.data.readableBytesView), SessionTime.now)
  }

  // A datagram that could not be delivered (ICMP) says so here; the next may be.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {}
}
