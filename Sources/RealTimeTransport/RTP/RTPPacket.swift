// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// An RTP packet (RFC 3550, 5.1). Padding is removed when it is read, and never written.
public struct RTPPacket: Equatable, Sendable {
  /// A header extension, which follows the fixed header when the X bit is set (RFC 3550, 5.3.1).
  public struct HeaderExtension: Equatable, Sendable {
    public var profile: UInt16
    /// The content, whose size is a multiple of four bytes; only the first 262,140 are written.
    public var data: [UInt8]

    public init(profile: UInt16, data: [UInt8]) {
      self.profile = profile
      self.data = data
    }
  }

  public static let fixedHeaderSize = 12

  public var marker = false
  /// The payload type, from 0 to 127.
  public var payloadType: UInt8
  public var sequenceNumber: UInt16
  public var timestamp: UInt32
  public var source: UInt32
  /// The contributing sources (CSRC), up to fifteen.
  public var contributors: [UInt32] = []
  public var headerExtension: HeaderExtension?
  public var payload: [UInt8]

  public init(
    payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32, source: UInt32, payload: [UInt8] = []
  ) {
    self.payloadType = payloadType
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.source = source
    self.payload = payload
  }

  /// Parses a packet; nil if the bytes are not an RTP packet.
  public init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes[...])
    guard let first = try? reader.uint8(), first >> 6 == 2, let second = try? reader.uint8(),
      let sequenceNumber = try? reader.uint16(), let timestamp = try? reader.uint32(),
      let source = try? reader.uint32(),
      var others = (try? reader.bytes(Int(first & 15) * 4)).map({ ByteReader($0) })
    else { return nil }
    self.init(
      payloadType: second & 0x7F, sequenceNumber: sequenceNumber, timestamp: timestamp, source: source)
    marker = second & 0x80 != 0
    while let other = try? others.uint32() { contributors.append(other) }
    if first & 0x10 != 0 {
      guard let profile = try? reader.uint16(), let words = try? reader.uint16(),
        let data = try? reader.bytes(Int(words) * 4)
      else { return nil }
      headerExtension = HeaderExtension(profile: profile, data: Array(data))
    }
    var count = reader.remaining
    if first & 0x20 != 0 {
      guard let padding = bytes.last, padding > 0, Int(padding) <= count else { return nil }
      count -= Int(padding)
    }
    guard let payload = try? reader.bytes(count) else { return nil }
    self.payload = Array(payload)
  }

  public var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(Self.fixedHeaderSize + 4 + (headerExtension?.data.count ?? 0) + payload.count)
    result.append(0x80 | (headerExtension == nil ? 0 : 0x10) | UInt8(min(contributors.count, 15)))
    result.append((marker ? 0x80 : 0) | payloadType & 0x7F)
    result.append16(sequenceNumber)
    result.append32(timestamp)
    result.append32(source)
    for contributor in contributors.prefix(15) { result.append32(contributor) }
    if let headerExtension {
      result.append16(headerExtension.profile)
      let words = UInt16(clamping: headerExtension.data.count / 4)
      result.append16(words)
      result += headerExtension.data.prefix(Int(words) * 4)
    }
    result += payload
    return result
  }
}
