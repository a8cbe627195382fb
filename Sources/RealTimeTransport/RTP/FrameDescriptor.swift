// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The properties of a frame that a receiver needs before it decodes it: an RTP header extension
/// (RFC 8285, one-byte form) in each of the frame's packets.
///
/// Neither H.264 nor HEVC signals in the first packet of a frame which frames it depends on, or
/// carries the token of a long-term reference. A frame can be decoded if it is a key frame or a
/// refresh, or if the frame that it names as its `previous` was decoded.
///
///       7     6         5             4       3       2..0
///     +-----+---------+-------------+-------+-------+-------+
///     | key | refresh | discardable | token | first | layer |
///     +-----+---------+-------------+-------+-------+-------+
///     | number (16)                                         |
///     +-----------------------------------------------------+
///     | previous (16)                                       |
///     +-----------------------------------------------------+
///     | token (64), if the token bit is set                 |
///     +-----------------------------------------------------+
public struct FrameDescriptor: Equatable, Sendable {
  /// The URI of the extension, for `a=extmap` in a session description.
  public static let uri = "urn:openvideotoolbox:rtp-hdrext:frame-descriptor"
  public static let identifier: UInt8 = 1
  private static let oneByteProfile: UInt16 = 0xBEDE

  /// The number of the frame in the order of sending, modulo 65,536.
  public var number: UInt16
  /// The newest frame that this one may refer to; its own number for a key frame.
  public var previous: UInt16
  public var isKeyFrame = false
  /// Whether the frame refers only to long-term references that the receiver has acknowledged.
  public var isRefresh = false
  /// Whether no other frame refers to this one.
  public var isDiscardable = false
  /// Whether this is the first packet of the frame.
  public var isFirstPacket = false
  /// The temporal layer, from 0 to 7.
  public var layer: UInt8 = 0
  /// The token that the receiver acknowledges when it has decoded the frame; nil if the frame is
  /// not a long-term reference.
  public var token: Int64?

  public init(number: UInt16, previous: UInt16) {
    self.number = number
    self.previous = previous
  }

  public var headerExtension: RTPPacket.HeaderExtension {
    var data: [UInt8] = []
    data.append(
      (isKeyFrame ? 0x80 : 0) | (isRefresh ? 0x40 : 0) | (isDiscardable ? 0x20 : 0)
        | (token == nil ? 0 : 0x10)
        | (isFirstPacket ? 8 : 0) | layer & 7)
    data.append16(number)
    data.append16(previous)
    if let token { data.append64(UInt64(bitPattern: token)) }
    var result = [Self.identifier << 4 | UInt8(data.count - 1)] + data
    while result.count % 4 != 0 { result.append(0) }
    return RTPPacket.HeaderExtension(profile: Self.oneByteProfile, data: result)
  }

  /// Finds the descriptor among a packet's extensions; nil if it has none.
  public init?(_ headerExtension: RTPPacket.HeaderExtension?) {
    guard let headerExtension, headerExtension.profile == Self.oneByteProfile else { return nil }
    var reader = ByteReader(headerExtension.data[...])
    while let head = try? reader.uint8() {
      if head == 0 { continue }
      // 15 ends the list.
      guard head >> 4 != 15, let data = try? reader.bytes(Int(head & 15) + 1) else { return nil }
      guard head >> 4 == Self.identifier else { continue }
      var fields = ByteReader(data)
      guard let flags = try? fields.uint8(), let number = try? fields.uint16(),
        let previous = try? fields.uint16()
      else {
        return nil
      }
      self.init(number: number, previous: previous)
      isKeyFrame = flags & 0x80 != 0
      isRefresh = flags & 0x40 != 0
      isDiscardable = flags & 0x20 != 0
      isFirstPacket = flags & 8 != 0
      layer = flags & 7
      if flags & 0x10 != 0 {
        guard let token = try? fields.uint64() else { return nil }
        self.token = Int64(bitPattern: token)
      }
      return
    }
    return nil
  }
}
