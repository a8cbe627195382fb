// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An IP address and a UDP port.
public struct TransportAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address in network byte order: 4 bytes of IPv4, or 16 bytes of IPv6.
  public let bytes: [UInt8]
  public let port: UInt16

  /// Creates an address.
  /// - Parameters:
  ///   - bytes: 4 or 16 bytes in network byte order; with any other number the result is nil.
  ///   - port: The port.
  public init?(bytes: [UInt8], port: UInt16) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
    self.port = port
  }

  /// Reads a numeric address; the result is nil for a name, or for anything else.
  /// - Parameters:
  ///   - text: The address, such as `192.0.2.1` or `2001:db8::1`, without brackets and zone.
  ///   - port: The port.
  public init?(_ text: String, port: UInt16) {
    guard text.utf8.count <= 45 else { return nil }
    let isLong = text.utf8.contains(UInt8(ascii: ":"))
    var bytes = [UInt8](repeating: 0, count: isLong ? 16 : 4)
    guard inet_pton(isLong ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
    self.bytes = bytes
    self.port = port
  }

  public var isIPv6: Bool { bytes.count == 16 }

  /// Whether the address is one of this machine alone.
  public var isLoopback: Bool {
    isIPv6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1 : bytes[0] == 127
  }

  /// Whether datagrams can be sent to it as to one peer: neither nobody's, nor a group's, nor
  /// everybody's.
  public var isUnicast: Bool {
    guard port != 0, bytes.contains(where: { $0 != 0 }) else { return false }
    return isIPv6 ? bytes[0] != 0xFF : bytes[0] < 224 && bytes[0] != 0
  }

  /// The address without its port.
  public var host: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    guard inet_ntop(isIPv6 ? AF_INET6 : AF_INET, bytes, &text, socklen_t(text.count)) != nil else {
      return ""
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
