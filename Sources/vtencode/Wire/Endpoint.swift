// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import NIOCore

/// A host and a port, such as `192.168.1.5:5004`, `[::1]:5004` or `pc.local:5004`; for listening
/// also a port alone.
struct Endpoint: ExpressibleByArgument, Equatable, Sendable {
  /// The host; nil, for listening, means a default address.
  var host: String?
  var port: Int

  /// The advice for an argument that is not an endpoint.
  static let advice =
    "it takes a port from 1 to 65535, with a host before it if necessary: 5004, pc.local:5004, [::1]:5004 "
    + "(an address with colons in brackets)"

  init(host: String?, port: Int) {
    self.host = host
    self.port = port
  }

  init?(argument: String) {
    var host: Substring?
    var digits = argument[...]
    if let colon = argument.lastIndex(of: ":") {
      var name = argument[..<colon]
      if name.first == "[", name.last == "]" {
        name = name.dropFirst().dropLast()
      } else if name.contains(":") {
        // It is ambiguous where an address with colons ends.
        return nil
      }
      guard !name.isEmpty else { return nil }
      host = name
      digits = argument[argument.index(after: colon)...]
    }
    guard let port = Int(digits), (1...65_535).contains(port) else { return nil }
    self.host = host.map(String.init)
    self.port = port
  }

  var text: String {
    guard let host else { return String(port) }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// Resolves the host's address.
  /// - Parameter prefersIPv4: whether an address of IPv4 is taken where the host has several.
  /// - Throws: a `Failure` if there is no such host, or an address lacks its interface.
  func resolve(prefersIPv4: Bool = false) throws -> SocketAddress {
    var name = host ?? "127.0.0.1"
    // The system may resolve localhost to an IPv6 address first, on which a receiver with the
    // default address does not listen.
    if name == "localhost" { name = "127.0.0.1" }
    // A numeric address, with its interface (%eth0) if it has one, needs no name resolution.
    if let address = try? SocketAddress(ipAddress: name, port: port) {
      if address.isLinkLocal, case .v6(let bare) = address, bare.address.sin6_scope_id == 0 {
        throw Failure(
          "'\(name)' is a link-local address; name its interface, such as [\(name)%eth0]:\(port)", status: 64)
      }
      return address
    }
    if prefersIPv4, let address = Self.firstIPv4(of: name, port: port) { return address }
    do {
      return try SocketAddress.makeAddressResolvingHost(name, port: port)
    } catch {
      throw Failure("there is no host '\(name)'; check the name and the network")
    }
  }

  private static func firstIPv4(of name: String, port: Int) -> SocketAddress? {
    var hints = addrinfo()
    hints.ai_family = AF_INET
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, nil, &hints, &list) == 0, let first = list else { return nil }
    defer { freeaddrinfo(first) }
    guard let address = first.pointee.ai_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
      return nil
    }
    return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
      var found = SocketAddress($0.pointee)
      found.port = port
      return found
    }
  }
}

extension SocketAddress {
  /// Whether it is a loopback address.
  var isLoopback: Bool {
    switch self {
    case .v4(let address): return UInt32(bigEndian: address.address.sin_addr.s_addr) >> 24 == 127
    case .v6: return ipAddress == "::1" || ipAddress?.hasPrefix("::ffff:127.") == true
    case .unixDomainSocket: return true
    }
  }

  /// The same address with the next port; nil if there is none.
  var nextPort: SocketAddress? {
    guard let port, port < 65_535 else { return nil }
    var next = self
    next.port = port + 1
    return next
  }

  /// Whether it is an IPv6 link-local address (RFC 4291, 2.5.6).
  var isLinkLocal: Bool {
    guard case .v6(let address) = self else { return false }
    let bytes = withUnsafeBytes(of: address.address.sin6_addr) { ($0[0], $0[1]) }
    return bytes.0 == 0xFE && bytes.1 & 0xC0 == 0x80
  }

  /// The address as text, with the interface of a link-local one, such as `[fe80::1%eth0]:5004`.
  var text: String {
    var host = ipAddress
    if case .v6(let address) = self, address.address.sin6_scope_id != 0 {
      var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE) + 1)
      let link = if_indextoname(address.address.sin6_scope_id, &name).map { String(cString: $0) }
      host? += "%" + (link ?? String(address.address.sin6_scope_id))
    }
    return Endpoint(host: host, port: port ?? 0).text
  }
}
