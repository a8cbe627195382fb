// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A metadata key, which names the subject of an item within a key space.
public struct AVMetadataKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// A key space, in which metadata keys are defined.
public struct AVMetadataKeySpace: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  public static let common = AVMetadataKeySpace(rawValue: "comn")
  public static let quickTimeUserData = AVMetadataKeySpace(rawValue: "udta")
  public static let isoUserData = AVMetadataKeySpace(rawValue: "uiso")
  public static let quickTimeMetadata = AVMetadataKeySpace(rawValue: "mdta")
  public static let iTunes = AVMetadataKeySpace(rawValue: "itsk")
  public static let id3 = AVMetadataKeySpace(rawValue: "org.id3")
  public static let icy = AVMetadataKeySpace(rawValue: "icy")
}

/// A format in which metadata is stored.
public struct AVMetadataFormat: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  public static let quickTimeUserData = AVMetadataFormat(rawValue: "com.apple.quicktime.udta")
  public static let isoUserData = AVMetadataFormat(rawValue: "org.mp4ra")
  public static let quickTimeMetadata = AVMetadataFormat(rawValue: "com.apple.quicktime.mdta")
  public static let iTunesMetadata = AVMetadataFormat(rawValue: "com.apple.itunes")
  public static let id3Metadata = AVMetadataFormat(rawValue: "org.id3")
  public static let hlsMetadata = AVMetadataFormat(rawValue: "com.apple.quicktime.HLS")
  public static let unknown = AVMetadataFormat(rawValue: "????")

  /// Returns the format of the items of a key space; nil for the common key space, which has no
  /// storage format, and for unknown ones.
  static func of(_ space: AVMetadataKeySpace?) -> AVMetadataFormat? {
    switch space?.rawValue {
    case "mdta": .quickTimeMetadata
    case "udta": .quickTimeUserData
    case "uiso": .isoUserData
    case "itsk", "itlk": .iTunesMetadata
    default: nil
    }
  }
}

/// The identifier of a metadata item: its key space, a slash and its key.
public struct AVMetadataIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// Creates an identifier. Control characters, spaces, "%", "/" and the characters of ISO 8859-1
  /// beyond ASCII are percent-encoded in the key, such as `%A9`.
  init(space: String, key: String) {
    var text = ""
    for scalar in key.unicodeScalars {
      let isPlain = scalar.isASCII && scalar.value > 0x20 && scalar != "%" && scalar != "/"
      if isPlain || scalar.value > 255 {
        text.unicodeScalars.append(scalar)
      } else {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text += "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
    rawValue = space + "/" + text
  }

  /// The index of the slash between key space and key. Unicode scalars are searched because the
  /// slash forms one character with a combining character after it.
  private var slash: String.Index? { rawValue.unicodeScalars.firstIndex(of: "/") }

  var space: String? { slash.map { String(rawValue.unicodeScalars[..<$0]) } }

  /// The key without percent-encoding; nil if there is no slash.
  var plainKey: String? {
    guard let slash else { return nil }
    var scalars = String.UnicodeScalarView()
    var rest = rawValue.unicodeScalars[slash...].dropFirst()
    while let scalar = rest.popFirst() {
      if scalar == "%", case let digits = rest.prefix(2), digits.count == 2,
        let code = UInt8(String(String.UnicodeScalarView(digits)), radix: 16)
      {
        scalars.append(Unicode.Scalar(code))
        rest = rest.dropFirst(2)
      } else {
        scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// The corresponding key of the common key space; nil if there is none.
  var commonKey: AVMetadataKey? {
    space == "comn" ? plainKey.map { AVMetadataKey($0) } : MetadataNames.common[self]
  }
}

/// The names of common keys in other key spaces and in libavformat.
enum MetadataNames {
  /// The names of libavformat, for reading and writing.
  static let pairs: [(AVMetadataIdentifier, String)] = [
    (.commonIdentifierTitle, "title"), (.commonIdentifierArtist, "artist"),
    (.commonIdentifierAuthor, "composer"), (.commonIdentifierDescription, "comment"),
    (.commonIdentifierCopyrights, "copyright"), (.commonIdentifierCreationDate, "creation_time"),
    (.commonIdentifierSoftware, "encoder"), (.commonIdentifierAlbumName, "album"),
  ]

  /// The common keys of the identifiers in the key spaces of movies.
  static let common: [AVMetadataIdentifier: AVMetadataKey] = [
    .quickTimeMetadataTitle: .commonKeyTitle, .quickTimeUserDataFullName: .commonKeyTitle,
    .iTunesMetadataSongName: .commonKeyTitle, .identifier3GPUserDataTitle: .commonKeyTitle,
    .quickTimeMetadataArtist: .commonKeyArtist, .quickTimeUserDataArtist: .commonKeyArtist,
    .iTunesMetadataArtist: .commonKeyArtist, .identifier3GPUserDataPerformer: .commonKeyArtist,
    .quickTimeMetadataAuthor: .commonKeyAuthor, .quickTimeUserDataAuthor: .commonKeyAuthor,
    .iTunesMetadataAuthor: .commonKeyAuthor, .identifier3GPUserDataAuthor: .commonKeyAuthor,
    .quickTimeMetadataDescription: .commonKeyDescription,
    .quickTimeUserDataDescription: .commonKeyDescription, .iTunesMetadataDescription: .commonKeyDescription,
    .identifier3GPUserDataDescription: .commonKeyDescription,
    .quickTimeMetadataCopyright: .commonKeyCopyrights, .quickTimeUserDataCopyright: .commonKeyCopyrights,
    .iTunesMetadataCopyright: .commonKeyCopyrights, .isoUserDataCopyright: .commonKeyCopyrights,
    .quickTimeMetadataCreationDate: .commonKeyCreationDate,
    .quickTimeUserDataCreationDate: .commonKeyCreationDate,
    .iTunesMetadataReleaseDate: .commonKeyCreationDate,
    .quickTimeMetadataSoftware: .commonKeySoftware, .quickTimeUserDataSoftware: .commonKeySoftware,
    .iTunesMetadataEncodingTool: .commonKeySoftware,
    .quickTimeMetadataAlbum: .commonKeyAlbumName, .quickTimeUserDataAlbum: .commonKeyAlbumName,
    .iTunesMetadataAlbum: .commonKeyAlbumName,
    .quickTimeMetadataMake: .commonKeyMake, .quickTimeUserDataMake: .commonKeyMake,
    .quickTimeMetadataModel: .commonKeyModel, .quickTimeUserDataModel: .commonKeyModel,
    .quickTimeMetadataLocationISO6709: .commonKeyLocation,
    .quickTimeUserDataLocationISO6709: .commonKeyLocation,
    .quickTimeMetadataArtwork: .commonKeyArtwork, .iTunesMetadataCoverArt: .commonKeyArtwork,
    .quickTimeMetadataPublisher: .commonKeyPublisher, .quickTimeUserDataPublisher: .commonKeyPublisher,
    .iTunesMetadataPublisher: .commonKeyPublisher,
    .quickTimeMetadataContentIdentifier: .commonKeyIdentifier,
  ]

  /// Returns the identifier under which a common key is written if libavformat does not write it,
  /// or does not write it as data.
  static func identifier(for key: AVMetadataKey, inQuickTime isQuickTime: Bool) -> AVMetadataIdentifier? {
    switch key {
    case .commonKeyTitle: .quickTimeMetadataTitle
    case .commonKeyArtist: .quickTimeMetadataArtist
    case .commonKeyAuthor, .commonKeyCreator: .quickTimeMetadataAuthor
    case .commonKeyDescription: .quickTimeMetadataDescription
    case .commonKeyCopyrights: .quickTimeMetadataCopyright
    case .commonKeyCreationDate: .quickTimeMetadataCreationDate
    case .commonKeySoftware: .quickTimeMetadataSoftware
    case .commonKeyAlbumName: .quickTimeMetadataAlbum
    case .commonKeyMake: .quickTimeMetadataMake
    case .commonKeyModel: .quickTimeMetadataModel
    case .commonKeyLocation: .quickTimeMetadataLocationISO6709
    case .commonKeyArtwork: isQuickTime ? .quickTimeMetadataArtwork : .iTunesMetadataCoverArt
    case .commonKeyPublisher: .quickTimeMetadataPublisher
    case .commonKeyIdentifier: .quickTimeMetadataContentIdentifier
    default: nil
    }
  }

  /// Further names of libavformat, for reading only: these keys are written under identifiers of
  /// movies.
  private static let furtherPairs: [(AVMetadataIdentifier, String)] = [
    (.commonIdentifierLocation, "location"), (.commonIdentifierMake, "make"),
    (.commonIdentifierModel, "model"), (.commonIdentifierPublisher, "publisher"),
  ]

  static func items(_ given: [String: String]) -> [AVMetadataItem] {
    // Names are in capitals in Matroska.
    var entries = Dictionary(given.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    if entries["creation_time"] == nil { entries["creation_time"] = entries["date"] }
    return (pairs + furtherPairs).compactMap { identifier, name in
      entries[name].map { text in
        let item = AVMutableMetadataItem()
        item.identifier = identifier
        item.value = NSString(string: text)
        return item
      }
    }
  }
}
