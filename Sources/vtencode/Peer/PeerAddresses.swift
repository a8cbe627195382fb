// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import WebRTC

extension TransportAddress {
  init?(_ address: SocketAddress) {
    guard let text = address.ipAddress, let port = address.port else { return nil }
    // Without the interface of a link-local address.
    let bare = text.split(separator: "%").first.map(String.init) ?? text
    // A socket of both families gives addresses of IPv4 in this form (RFC 4291, 2.5.5.2).
    let prefix = "::ffff:"
    let mapped = bare.hasPrefix(prefix) && bare.contains(".") ? String(bare.dropFirst(prefix.count)) : bare
    self.init(mapped, port: UInt16(clamping: port))
  }
}

extension DatagramSocket {
  /// The path to an address; nil if the socket is not of its family.
  func path(to address: TransportAddress) -> DatagramPath? {
    guard isIPv6 || !address.isIPv6 else { return nil }
    let host = isIPv6 && !address.isIPv6 ? "::ffff:\(address.host)" : address.host
    return (try? SocketAddress(ipAddress: host, port: Int(address.port))).map { DatagramPath(remote: $0) }
  }
}

/// The addresses of this machine for WebRTC peers.
enum PeerAddresses {
  /// The largest number of addresses that are offered.
  private static let maxCount = 8

  /// The host candidates of a socket that is bound to all addresses.
  /// - Parameters:
  ///   - socket: the socket.
  ///   - takesLoopback: whether the peer is on this machine.
  static func candidates(_ socket: DatagramSocket, takesLoopback: Bool) -> [ICECandidate] {
    let devices = (try? System.enumerateDevices()) ?? []
    return candidates(
      devices.compactMap(\.address), port: socket.port, isIPv6: socket.isIPv6, takesLoopback: takesLoopback)
  }

  /// The host candidates of a machine's addresses. Those of IPv6 and of IPv4 take turns, so that a
  /// family that leads nowhere takes little time (RFC 8421, 4).
  /// - Parameters:
  ///   - addresses: the addresses of the machine.
  ///   - port: the socket's port.
  ///   - isIPv6: whether the socket has both families; it has IPv4 alone otherwise.
  ///   - takesLoopback: whether the peer is on this machine.
  static func candidates(
    _ addresses: [SocketAddress], port: Int, isIPv6: Bool, takesLoopback: Bool
  ) -> [ICECandidate] {
    var found: [TransportAddress] = []
    for address in addresses {
      // The other end does not know the names of this machine's interfaces.
      guard !address.isLinkLocal, let text = address.ipAddress,
        let own = TransportAddress(text, port: UInt16(clamping: port)), own.isUnicast, !found.contains(own),
        !own.isLoopback || takesLoopback, isIPv6 || !own.isIPv6
      else { continue }
      found.append(own)
    }
    // A loopback address serves only where there is no other way.
    let sorted = inTurns(found.filter { !$0.isLoopback }) + inTurns(found.filter(\.isLoopback))
    return sorted.prefix(maxCount).enumerated().map { index, address in
      ICECandidate(.host, address, localPreference: UInt16(65_535 - index * 16))
    }
  }

  private static func inTurns(_ addresses: [TransportAddress]) -> [TransportAddress] {
    let (long, short) = (addresses.filter(\.isIPv6), addresses.filter { !$0.isIPv6 })
    return (0..<max(long.count, short.count)).flatMap { index in
      [long, short].filter { index < $0.count }.map { $0[index] }
    }
  }
}

extension PeerTransport.Failure {
  /// The failure in words.
  var text: String {
    switch self {
    case .unreachable: "none of the addresses that it has named answers; a firewall may be in the way"
    case .silent: "it does not answer any more; the network or the other end is gone"
    case .security(.wrongFingerprint):
      "who answers has another certificate than the session description names"
    case .security(.noProfile): "it offers no way of encrypting media that is known here"
    case .security(.timeout): "it does not answer the handshake of DTLS"
    case .security(.unavailable): "this machine's OpenSSL cannot do DTLS"
    case .security(.handshake(let reason)): "the handshake of DTLS has failed (\(reason))"
    }
  }
}

extension VideoNegotiation.Failure {
  var text: String {
    switch self {
    case .noH264: "it takes no H.264"
    case .profile(let kinds): "it takes H.264 of other profiles only (\(kinds))"
    case .mismatch(let reason): "its description does not fit: \(reason)"
    }
  }
}

extension PeerDescription.Failure {
  var text: String {
    switch self {
    case .syntax(.tooLarge): "its description is too long"
    case .syntax(.malformed(let line)): "line \(line) of its description is malformed"
    case .unusable(let reason): "its description cannot be used: \(reason)"
    }
  }
}
