// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import NIOCore

/// A host and a port, as people write them: `192.168.1.5:5004`, `[::1]:5004`, `pc.local:5004`; to listen, also `5004`.
struct Endpoint: ExpressibleByArgument, Equatable, Sendable {
  /// Nil listens where that is safe.
  var host: String?
  var port: Int

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
        // Where an address with colons ends cannot be told.
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

  /// Asks the system for the host's address.
  func resolve() throws -> SocketAddress {
    var name = host ?? "127.0.0.1"
    // Where the system's first address of it is that of IPv6, a receiver on the usual one would not be met.
    if name == "localhost" { name = "127.0.0.1" }
    do {
      return try SocketAddress.makeAddressResolvingHost(name, port: port)
    } catch {
      throw Failure("there is no host '\(name)'; check the name and the network")
    }
  }
}

extension SocketAddress {
  /// On this machine.
  var isLoopback: Bool {
    switch self {
    case .v4(let address): return UInt32(bigEndian: address.address.sin_addr.s_addr) >> 24 == 127
    case .v6: return ipAddress == "::1" || ipAddress?.hasPrefix("::ffff:127.") == true
    case .unixDomainSocket: return true
    }
  }

  var text: String { Endpoint(host: ipAddress, port: port ?? 0).text }
}
