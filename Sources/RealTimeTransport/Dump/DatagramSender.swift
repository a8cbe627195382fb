// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Sends UDP datagrams to a port of this machine.
public final class DatagramSender {
  public struct Failure: Error, Equatable, Sendable {
    /// The system's error number.
    public let code: Int32
  }

  private let descriptor: Int32

  /// Creates a sender.
  /// - Throws: ``Failure`` if no socket can be created.
  public init() throws {
    #if canImport(Darwin)
      let kind = SOCK_DGRAM
    #else
      let kind = Int32(SOCK_DGRAM.rawValue)
    #endif
    descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { throw Failure(code: errno) }
  }

  deinit { close(descriptor) }

  /// Sends a datagram.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - port: The port on the loopback interface.
  /// - Throws: ``Failure``. A port without a listener is not an error: datagrams may be lost.
  public func send(_ bytes: [UInt8], toLoopbackPort port: UInt16) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result < 0, errno != ECONNREFUSED, errno != EINTR { throw Failure(code: errno) }
  }
}
