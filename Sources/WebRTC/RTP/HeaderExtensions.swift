// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import VideoBitstream

/// The identifiers of the header extensions that both ends know; nil for one that is not used.
public struct ExtensionIdentifiers: Equatable, Sendable {
  public var transportSequence: UInt8?
  public var sendTime: UInt8?
  public var mid: UInt8?

  public init() {}

  /// Takes the identifiers of a media description.
  /// - Parameter extensions: The identifiers by their URI.
  public init(_ extensions: [String: UInt8]) {
    transportSequence = extensions[HeaderExtensionURI.transportSequence]
    sendTime = extensions[HeaderExtensionURI.sendTime]
    mid = extensions[HeaderExtensionURI.mid]
  }
}

/// The header extensions of a packet, in the one-byte form (RFC 8285, 4.2).
struct PacketExtensions: Equatable {
  private static let profile: UInt16 = 0xBEDE

  var transportSequence: UInt16?
  /// The lower 24 bits of the time in units of 2^-18 s.
  var sendTime: UInt32?
  var mid: String?

  init() {}

  /// Finds the extensions of a packet that are known.
  init(_ content: RTPPacket.HeaderExtension?, _ identifiers: ExtensionIdentifiers) {
    guard let content, content.profile == Self.profile else { return }
    var reader = ByteReader(content.data[...])
    while let head = try? reader.uint8() {
      if head == 0 { continue }
      guard head >> 4 != 15, let data = try? reader.bytes(Int(head & 15) + 1) else { return }
      var field = ByteReader(data)
      switch head >> 4 {
      case identifiers.transportSequence where data.count == 2: transportSequence = try? field.uint16()
      case identifiers.sendTime where data.count == 3: sendTime = data.reduce(0) { $0 << 8 | UInt32($1) }
      case identifiers.mid: mid = String(validating: data, as: UTF8.self)
      default: break
      }
    }
  }

  /// The extensions for a packet that is sent; nil if there are none.
  func content(_ identifiers: ExtensionIdentifiers) -> RTPPacket.HeaderExtension? {
    var data: [UInt8] = []
    if let number = identifiers.transportSequence, let transportSequence {
      data.append(number << 4 | 1)
      data.append(bigEndian: transportSequence)
    }
    if let number = identifiers.sendTime, let sendTime {
      data += [
        number << 4 | 2, UInt8(sendTime >> 16 & 0xFF), UInt8(sendTime >> 8 & 0xFF), UInt8(sendTime & 0xFF),
      ]
    }
    if let number = identifiers.mid, let mid, (1...16).contains(mid.utf8.count) {
      data.append(number << 4 | UInt8(mid.utf8.count - 1))
      data += Array(mid.utf8)
    }
    guard !data.isEmpty else { return nil }
    while data.count % 4 != 0 { data.append(0) }
    return .init(profile: Self.profile, data: data)
  }

  /// The 24 bits of the time when a packet is sent.
  static func sendTime(at time: Double) -> UInt32 {
    UInt32(truncatingIfNeeded: Int64(time * 262_144)) & 0xFF_FFFF
  }

  /// The largest size of the extensions in bytes, with their own header.
  static func maxSize(mid: String?) -> Int { 4 + (3 + 4 + (mid.map { $0.utf8.count + 1 } ?? 0) + 3) / 4 * 4 }
}
