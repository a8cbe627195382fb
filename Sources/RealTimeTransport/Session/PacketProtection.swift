// SPDX-License-Identifier: Apache-2.0
/// Encrypts and authenticates packets.
public protocol PacketProtection {
  /// Encrypts a packet that is sent.
  /// - Parameters:
  ///   - packet: The packet's bytes.
  ///   - isControl: Whether the packet is RTCP rather than RTP.
  /// - Returns: Nil if the packet cannot be sent.
  mutating func protect(_ packet: [UInt8], isControl: Bool) -> [UInt8]?
  /// Decrypts a packet that was received.
  /// - Parameters:
  ///   - packet: The datagram.
  ///   - isControl: Whether the packet is RTCP rather than RTP.
  /// - Returns: Nil if the packet is not authentic, or is a replay.
  mutating func unprotect(_ packet: [UInt8], isControl: Bool) -> [UInt8]?
}

/// A secret that the two ends of a call share.
public protocol SharedSecret: Sendable {
  /// Computes a message authentication code of 32 bytes.
  /// - Parameter message: The bytes to authenticate.
  func authenticate(_ message: [UInt8]) -> [UInt8]
  /// Derives the protection of the packets that one end of a session sends and receives.
  /// - Parameters:
  ///   - sender: The sender's nonce.
  ///   - receiver: The receiver's nonce.
  ///   - isSender: Whether this is the sender's end.
  func protection(
    sender: Greeting.Nonce, receiver: Greeting.Nonce, isSender: Bool
  ) throws -> any PacketProtection
}

extension RTCPPacket {
  /// Whether a datagram of a session is RTCP.
  /// - Parameter bytes: The datagram.
  public static func isControl(_ bytes: [UInt8]) -> Bool { PacketKind(bytes) == .control }
}

/// The kind of a datagram, as RTP and RTCP share a port (RFC 5761, 4).
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
