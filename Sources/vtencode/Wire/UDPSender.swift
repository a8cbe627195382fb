// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// The remote address of a datagram, and the address of this machine that it was sent to.
struct DatagramPath: Sendable {
  var remote: SocketAddress
  /// The local address; nil lets the system choose.
  var local: NIOPacketInfo?

  init(remote: SocketAddress, local: NIOPacketInfo? = nil) {
    self.remote = remote
    self.local = local
  }
}

/// Sends datagrams through a UDP socket, from any thread. SwiftNIO's own channel closes the socket
/// after any error, and cannot choose the source address of a datagram.
struct UDPSender: ~Copyable {
  private let descriptor: CInt
  /// How long to wait for room in the socket, in milliseconds.
  static let timeout = 20

  /// - Parameter socket: the descriptor, which is duplicated and stays the caller's.
  /// - Throws: a `Failure` if it cannot be duplicated.
  init(_ socket: CInt) throws {
    descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw Failure("too many files are open") }
  }

  deinit { Foundation.close(descriptor) }

  /// Sends a datagram.
  /// - Parameters:
  ///   - packet: its bytes.
  ///   - path: the remote address, and the local one to send from.
  ///   - timeout: how long to wait for room, in milliseconds.
  /// - Returns: the system's error number; nil if it was sent.
  borrowing func send(_ packet: [UInt8], to path: DatagramPath, timeout: Int = timeout) -> Int32? {
    let code = attempt(packet, to: path)
    guard code == EAGAIN || code == EWOULDBLOCK || code == ENOBUFS else { return code }
    guard timeout > 0 else { return code }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&waiting, 1, Int32(clamping: timeout)) > 0 else { return code }
    return attempt(packet, to: path)
  }

  private borrowing func attempt(_ packet: [UInt8], to path: DatagramPath) -> Int32? {
    var control = PacketSource(path).bytes
    return packet.withUnsafeBytes { packet in
      control.withUnsafeMutableBytes { control in
        path.remote.withSockAddr { address, size in
          var piece = iovec(
            iov_base: UnsafeMutableRawPointer(mutating: packet.baseAddress), iov_len: packet.count)
          return withUnsafeMutablePointer(to: &piece) { piece in
            var message = msghdr()
            message.msg_name = UnsafeMutableRawPointer(mutating: address)
            message.msg_namelen = socklen_t(size)
            message.msg_iov = piece
            message.msg_iovlen = 1
            if !control.isEmpty {
              message.msg_control = control.baseAddress
              message.msg_controllen = control.count
            }
            let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
            return sendmsg(descriptor, &message, flags) < 0 ? errno : nil
          }
        }
      }
    }
  }
}

/// The ancillary data that chooses the source address of a datagram (ip(7), ipv6(7)).
private struct PacketSource {
  private(set) var bytes: [UInt8] = []

  init(_ path: DatagramPath) {
    guard let local = path.local else { return }
    // A link-local address needs the interface; for other addresses the routing table selects it.
    switch local.destinationAddress {
    case .v4(let address) where path.remote.protocol == .inet:
      var info = in_pktinfo()
      info.ipi_spec_dst = address.address.sin_addr
      append(level: Int32(IPPROTO_IP), kind: IP_PKTINFO, Self.raw(info))
    case .v6(let address) where path.remote.protocol == .inet6:
      let link = local.destinationAddress.isLinkLocal ? UInt32(local.interfaceIndex) : 0
      // The layout of C's in6_pktinfo.
      append(
        level: Int32(IPPROTO_IPV6), kind: IPV6_PKTINFO,
        Self.raw(address.address.sin6_addr) + Self.raw(link))
    default: break
    }
  }

  private static func raw<Value>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

  /// Appends a control message: its header, its data, and padding to its alignment.
  private mutating func append(level: Int32, kind: Int32, _ info: [UInt8]) {
    var header = cmsghdr()
    header.cmsg_len = MemoryLayout<cmsghdr>.size + info.count
    header.cmsg_level = level
    header.cmsg_type = kind
    bytes += Self.raw(header) + info
    while bytes.count % MemoryLayout<Int>.size != 0 { bytes.append(0) }
  }
}
