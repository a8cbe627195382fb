// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The elementary stream descriptor of MPEG-4 Systems (ISO/IEC 14496-1), which movies store in an
/// `esds` atom, and which is Core Media's magic cookie of AAC.
enum ElementaryStreamDescriptor {
  /// Makes a descriptor that contains a decoder's configuration.
  /// - Parameters:
  ///   - configuration: The DecoderSpecificInfo, such as an AudioSpecificConfig.
  ///   - objectType: 0x40 for AAC, 0x20 for MPEG-4 video.
  ///   - bitRate: Maximum and average bit rate in bits per second; 0: unknown.
  static func make(configuration: Data, objectType: UInt8, bitRate: UInt32 = 0) -> Data {
    let specific = section(5, configuration)
    var decoder = Data([objectType, objectType == 0x40 ? 0x15 : 0x11, 0, 0, 0])
    decoder.append(big(bitRate))
    decoder.append(big(bitRate))
    decoder.append(specific)
    var stream = Data([0, 0, 0])
    stream.append(section(4, decoder))
    stream.append(section(6, Data([2])))
    return section(3, stream)
  }

  /// The decoder's configuration in a descriptor; `data` itself if that is not a descriptor.
  static func configuration(in data: Data) -> Data {
    var bytes = [UInt8](data)
    // An atom has version and flags before the descriptor.
    if bytes.count > 4, bytes[0] == 0, bytes[4] == 3 { bytes.removeFirst(4) }
    guard bytes.first == 3 else { return data }
    return find(5, in: bytes[...]).map { Data($0) } ?? data
  }

  private static func find(_ tag: UInt8, in bytes: ArraySlice<UInt8>, depth: Int = 0) -> ArraySlice<UInt8>? {
    var at = bytes.startIndex
    while at < bytes.endIndex {
      let found = bytes[at]
      at += 1
      var length = 0
      var more = true
      // Lengths have four bytes at most (ISO/IEC 14496-1, 8.3.3).
      let limit = at + 4
      while more, at < bytes.endIndex, at < limit {
        length = length << 7 | Int(bytes[at] & 0x7F)
        more = bytes[at] & 0x80 != 0
        at += 1
      }
      guard length <= bytes.endIndex - at else { return nil }
      let content = bytes[at..<at + length]
      switch found {
      case tag: return content
      case 3:
        guard content.count >= 3 else { return nil }
        let flags = content[content.startIndex + 2]
        var skip = 3
        if flags & 0x80 != 0 { skip += 2 }
        if flags & 0x40 != 0, content.count > skip { skip += 1 + Int(content[content.startIndex + skip]) }
        if flags & 0x20 != 0 { skip += 2 }
        if depth < 8, let inner = find(tag, in: content.dropFirst(skip), depth: depth + 1) { return inner }
      case 4:
        if depth < 8, let inner = find(tag, in: content.dropFirst(13), depth: depth + 1) { return inner }
      default: break
      }
      at += length
    }
    return nil
  }

  private static func section(_ tag: UInt8, _ content: Data) -> Data {
    let length = content.count
    var data = Data([
      tag, 0x80 | UInt8(length >> 21 & 0x7F), 0x80 | UInt8(length >> 14 & 0x7F),
      0x80 | UInt8(length >> 7 & 0x7F),
      UInt8(length & 0x7F),
    ])
    data.append(content)
    return data
  }

  private static func big(_ value: UInt32) -> Data {
    Data((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
  }
}
