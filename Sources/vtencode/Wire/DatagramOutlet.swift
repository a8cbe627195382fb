// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// Where a datagram came from, and which of this machine's addresses it came to.
struct DatagramPath: Sendable {
  var remote: SocketAddress
  /// Nil leaves the choice to the system.
  var local: NIOPacketInfo?

  init(remote: SocketAddress, local: NIOPacketInfo? = nil) {
    self.remote = remote
    self.local = local
  }
}

/// The sending side of a UDP socket, for any thread. SwiftNIO's own closes the socket at an error of any kind, and cannot
/// choose the address that a datagram comes from.
struct DatagramOutlet: ~Copyable {
  private let descriptor: CInt
  /// Milliseconds to wait for room at most.
  static let patience = 20

  /// - Parameter socket: stays the caller's.
  init(_ socket: CInt) throws {
    descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw Failure("too many files are open") }
  }

  deinit { Foundation.close(descriptor) }

  /// - Parameter patience: milliseconds to wait for room.
  /// - Returns: The system's error, if there was one.
  borrowing func send(_ packet: [UInt8], to path: DatagramPath, patience: Int = patience) -> Int32? {
    let code = attempt(packet, to: path)
    guard code == EAGAIN || code == EWOULDBLOCK || code == ENOBUFS else { return code }
    guard patience > 0 else { return code }
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&waiting, 1, Int32(clamping: patience)) > 0 else { return code }
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

/// The ancillary data that chooses the address which a datagram is sent from (ip(7), ipv6(7)).
private struct PacketSource {
  private(set) var bytes: [UInt8] = []

  init(_ path: DatagramPath) {
    guard let local = path.local else { return }
    // A local address of a link alone needs the link; for others routes decide.
    switch local.destinationAddress {
    case .v4(let address) where path.remote.protocol == .inet:
      var info = in_pktinfo()
      info.ipi_spec_dst = address.address.sin_addr
      append(level: Int32(IPPROTO_IP), kind: IP_PKTINFO, Self.raw(info))
    case .v6(let address) where path.remote.protocol == .inet6:
      let link = local.destinationAddress.isLinkLocal ? UInt32(local.interfaceIndex) : 0
      // What C calls in6_pktinfo.
      append(
        level: Int32(IPPROTO_IPV6), kind: IPV6_PKTINFO,
        Self.raw(address.address.sin6_addr) + Self.raw(link))
    default: break
    }
  }

  private static func raw<Value>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }

  /// A header, what it is of, and room to the next multiple of its alignment.
  private mutating func append(level: Int32, kind: Int32, _ info: [UInt8]) {
    var header = cmsghdr()
    header.cmsg_len = MemoryLayout<cmsghdr>.size + info.count
    header.cmsg_level = level
    header.cmsg_type = kind
    bytes += Self.raw(header) + info
    while bytes.count % MemoryLayout<Int>.size != 0 { bytes.append(0) }
  }
}
