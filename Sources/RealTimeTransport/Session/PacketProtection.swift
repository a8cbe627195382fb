// SPDX-License-Identifier: Apache-2.0
/// Makes packets unreadable and unforgeable for others, and undoes it.
public protocol PacketProtection {
  /// - Parameter isControl: RTCP, not RTP.
  /// - Returns: nil if the packet cannot be sent.
  mutating func protect(_ packet: [UInt8], isControl: Bool) -> [UInt8]?
  /// - Returns: nil if the packet is not authentic, or came before.
  mutating func unprotect(_ packet: [UInt8], isControl: Bool) -> [UInt8]?
}

/// What two ends have in common.
public protocol SharedSecret: Sendable {
  /// 32 bytes that nobody can make who has not the secret.
  func authenticate(_ message: [UInt8]) -> [UInt8]
  /// For what one end of a session sends and receives.
  func protection(
    sender: Greeting.Nonce, receiver: Greeting.Nonce, isSender: Bool
  ) throws -> any PacketProtection
}

extension RTCPPacket {
  /// Whether a datagram of the session is RTCP.
  public static func isControl(_ bytes: [UInt8]) -> Bool { PacketKind(bytes) == .control }
}

/// RTP and RTCP on one port (RFC 5761, 4).
enum PacketKind {
  case media, control, other

  init(_ bytes: [UInt8]) {
    guard bytes.count >= 8, bytes[0] >> 6 == 2 else {
      self = .other
      return
    }
    self = (192...223).contains(bytes[1]) ? .control : .media
  }
}
