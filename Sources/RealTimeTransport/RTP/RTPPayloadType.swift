// SPDX-License-Identifier: Apache-2.0

/// The payload types of a session's RTP packets (RFC 3550, 5.1). Both ends of a session know them;
/// they are dynamic ones, which a session description assigns.
public enum RTPPayloadType {
  /// H.264 (RFC 6184) or HEVC (RFC 7798), as the sender's greeting tells.
  public static let media: UInt8 = 96
  /// Packets that are sent again (RFC 4588), whose synchronisation source is the media's plus 1.
  public static let retransmission: UInt8 = 97
  /// Repair packets (RFC 8627), whose synchronisation source is the media's plus 2.
  public static let parity: UInt8 = 98
  /// Opus (RFC 7587), whose synchronisation source is the media's plus 3, and its packets that are
  /// sent again, with the media's source plus 4.
  public static let audio: UInt8 = 99
  public static let audioRetransmission: UInt8 = 100
}
