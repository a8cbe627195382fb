// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation

/// Names formats as the parameter `codecs` of a media type does (RFC 6381, 3.3, and the
/// registrations of the codecs).
enum CodecString {
  /// - Parameter format: the format of a track.
  /// - Returns: the name, such as `avc1.64001f` or `mp4a.40.2`; nil if the format has none that is
  ///   known here.
  static func of(_ format: CMFormatDescription) -> String? {
    let type = fourCharacters(CMFormatDescriptionGetMediaSubType(format))
    switch type {
    case "avc1", "avc3": return atom("avcC", of: format).flatMap { avc(type, $0) }
    case "hvc1", "hev1": return atom("hvcC", of: format).flatMap { hevc(type, $0) }
    case "aac ", "aach", "aacp": return "mp4a.40.\(aacObjectType(format, type))"
    case "ac-3", "ec-3": return type
    default: return nil
    }
  }

  /// Whether audio is AAC whose samples have headers of their own (ADTS, ISO/IEC 13818-7), as in
  /// MPEG transport streams. Segments cannot hold it as it is: their header comes before the first
  /// sample.
  static func lacksConfiguration(_ format: CMFormatDescription) -> Bool {
    guard fourCharacters(CMFormatDescriptionGetMediaSubType(format)).hasPrefix("aa") else { return false }
    var size = 0
    return CMAudioFormatDescriptionGetMagicCookie(format, sizeOut: &size) == nil || size < 2
  }

  /// The configuration record of a codec, which is the contents of a box of the sample entry.
  private static func atom(_ name: String, of format: CMFormatDescription) -> [UInt8]? {
    let atoms =
      CMFormatDescriptionGetExtension(
        format, extensionKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms) as? [String: Any]
    return (atoms?[name] as? Data).map { [UInt8]($0) }
  }

  /// The profile, the constraint flags and the level of an `avcC` box (ISO/IEC 14496-15, annex E).
  static func avc(_ type: String, _ record: [UInt8]) -> String? {
    guard record.count >= 4 else { return nil }
    return type + "." + record[1...3].map { hexadecimal(UInt32($0), digits: 2) }.joined()
  }

  /// The profile, its compatibility, the tier, the level and the constraint flags of an `hvcC` box
  /// (ISO/IEC 14496-15, annex E).
  static func hevc(_ type: String, _ record: [UInt8]) -> String? {
    guard record.count >= 13 else { return nil }
    let space = ["", "A", "B", "C"][Int(record[1] >> 6)]
    let tier = record[1] & 0x20 == 0 ? "L" : "H"
    let compatibility = record[2...5].reduce(0) { $0 << 8 | UInt32($1) }
    var reversed: UInt32 = 0
    for bit in 0..<32 where compatibility >> bit & 1 == 1 { reversed |= 1 << (31 - bit) }
    var constraints = Array(record[6...11])
    while constraints.last == 0 { constraints.removeLast() }
    let parts =
      [
        type, "\(space)\(record[1] & 31)", hexadecimal(reversed, digits: 1), "\(tier)\(record[12])",
      ] + constraints.map { hexadecimal(UInt32($0), digits: 1) }
    return parts.joined(separator: ".")
  }

  private static func hexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(digits - text.count, 0)) + text
  }

  /// The audio object type (ISO/IEC 14496-3, table 1.17) of an AAC format: that of its
  /// AudioSpecificConfig, or else the one that the format's name means.
  private static func aacObjectType(_ format: CMFormatDescription, _ type: String) -> Int {
    switch type {
    case "aach": return 5
    case "aacp": return 29
    default: break
    }
    var size = 0
    guard let cookie = CMAudioFormatDescriptionGetMagicCookie(format, sizeOut: &size), size >= 2 else {
      return 2
    }
    return objectType(inCookie: Array(UnsafeRawBufferPointer(start: cookie, count: size))) ?? 2
  }

  /// The audio object type in a decoder configuration: an AudioSpecificConfig, or an `esds` box's
  /// descriptors around it (ISO/IEC 14496-1, 7.2.6).
  static func objectType(inCookie cookie: [UInt8]) -> Int? {
    var config = cookie[...]
    if config.first == 3 {
      // The descriptor with tag 5 within those with tags 3 and 4 holds the configuration.
      var index = config.startIndex
      func length() -> Int? {
        var value = 0
        for _ in 0..<4 {
          guard index < config.endIndex else { return nil }
          let byte = config[index]
          index += 1
          value = value << 7 | Int(byte & 127)
          if byte & 128 == 0 { return value }
        }
        return value
      }
      var found: ArraySlice<UInt8>?
      while found == nil, index < config.endIndex {
        let tag = config[index]
        index += 1
        guard let size = length() else { return nil }
        switch tag {
        case 3: index += 3
        case 4: index += 13
        case 5: found = config[index...].prefix(size)
        default: index += size
        }
      }
      guard let found else { return nil }
      config = found
    }
    guard config.count >= 2, let first = config.first else { return nil }
    let type = Int(first >> 3)
    guard type == 31 else { return type }
    return 32 + (Int(first & 7) << 3 | Int(config[config.startIndex + 1] >> 5))
  }
}
