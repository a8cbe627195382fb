// SPDX-License-Identifier: Apache-2.0

/// A metadata item of a movie or a track as a movie file stores it.
package struct MovieMetadataItem: Sendable, Equatable {
  /// The kinds of storage, each with its own keys.
  package enum KeySpace: String, Sendable {
    /// QuickTime metadata, with names as keys (QuickTime File Format, "Metadata").
    case quickTimeMetadata = "mdta"
    /// QuickTime user data: text under a four-character code that begins with ©.
    case quickTimeUserData = "udta"
    /// User data of ISO files: text under a four-character code (3GPP TS 26.244, clause 8).
    case isoUserData = "uiso"
    /// The iTunes metadata list, under four-character codes.
    case iTunes = "itsk"
    /// The iTunes metadata list, under names.
    case iTunesLong = "itlk"
  }

  package var keySpace: KeySpace
  /// A four-character code of ISO 8859-1 characters, or a name.
  package var key: String
  /// A well-known type of the QuickTime File Format: 0 bytes, 1 UTF-8, 2 UTF-16, 13 JPEG, 21 signed
  /// integer, and others.
  package var type: Int
  /// The language as an ISO 639-2/T code; nil: any language.
  package var language: String?
  /// The country as an ISO 3166 code; nil: any country.
  package var country: String?
  package var bytes: [UInt8]

  package init(
    keySpace: KeySpace, key: String, type: Int, language: String? = nil, country: String? = nil,
    bytes: [UInt8]
  ) {
    self.keySpace = keySpace
    self.key = key
    self.type = type
    self.language = language
    self.country = country
    self.bytes = bytes
  }

  /// The types of text boxes in ISO user data that consist of a version, a language and a text.
  package static let isoTexts: Set<String> = ["titl", "auth", "perf", "gnre", "dscp", "cprt"]

  /// The key as a four-character code; nil if it is a name.
  package var code: [UInt8]? { Self.code(key) }

  static func code(_ text: String) -> [UInt8]? {
    let scalars = Array(text.unicodeScalars)
    guard scalars.count == 4, scalars.allSatisfy({ $0.value < 256 }) else { return nil }
    return scalars.map { UInt8($0.value) }
  }

  static func text(_ code: ArraySlice<UInt8>) -> String {
    String(String.UnicodeScalarView(code.map { Unicode.Scalar($0) }))
  }

  // MARK: - Languages: three letters of five bits

  static func language(_ packed: Int) -> String? {
    let letters = [10, 5, 0].map { UInt8(packed >> $0 & 31) + 0x60 }
    guard packed >= 0x400, letters.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
    let text = String(decoding: letters, as: UTF8.self)
    return text == "und" ? nil : text
  }

  static func pack(_ language: String?) -> Int {
    let letters = Array((language ?? "und").utf8)
    guard letters.count == 3, letters.allSatisfy({ (0x61...0x7A).contains($0) }) else { return pack(nil) }
    return letters.reduce(0) { $0 << 5 | Int($1 - 0x60) }
  }
}
