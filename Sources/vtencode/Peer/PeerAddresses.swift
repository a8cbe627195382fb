// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import WebRTC

extension TransportAddress {
  init?(_ address: SocketAddress) {
    guard let text = address.ipAddress, let port = address.port else { return nil }
    // Without the interface of a link-local address.
    self.init(text.split(separator: "%").first.map(String.init) ?? text, port: UInt16(clamping: port))
  }

  var socketAddress: SocketAddress? { try? SocketAddress(ipAddress: host, port: Int(port)) }
}

/// The addresses of this machine for WebRTC peers.
enum PeerAddresses {
  /// The largest number of addresses that are offered.
  private static let maxCount = 8

  /// The host candidates of a socket that is bound to all IPv4 addresses.
  /// - Parameters:
  ///   - port: the socket's port.
  ///   - takesLoopback: whether the peer is on this machine.
  static func candidates(port: Int, takesLoopback: Bool) -> [ICECandidate] {
    let devices = (try? System.enumerateDevices()) ?? []
    var found: [TransportAddress] = []
    for device in devices {
      guard let address = device.address, case .v4 = address, let text = address.ipAddress,
        let own = TransportAddress(text, port: UInt16(clamping: port)), own.isUnicast, !found.contains(own),
        !own.isLoopback || takesLoopback
      else { continue }
      found.append(own)
    }
    // A loopback address serves only where there is no other way.
    let sorted = found.filter { !$0.isLoopback } + found.filter(\.isLoopback)
    return sorted.prefix(maxCount).enumerated().map { index, address in
      ICECandidate(.host, address, localPreference: UInt16(65_535 - index * 16))
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
