// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a metadata item is about, within its key space.
public struct AVMetadataKey: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  public static let commonKeyTitle = AVMetadataKey(rawValue: "title")
  public static let commonKeyArtist = AVMetadataKey(rawValue: "artist")
  public static let commonKeyAuthor = AVMetadataKey(rawValue: "author")
  public static let commonKeyDescription = AVMetadataKey(rawValue: "description")
  public static let commonKeyCopyrights = AVMetadataKey(rawValue: "copyrights")
  public static let commonKeyCreationDate = AVMetadataKey(rawValue: "creationDate")
  public static let commonKeySoftware = AVMetadataKey(rawValue: "software")
  public static let commonKeyAlbumName = AVMetadataKey(rawValue: "albumName")
}

/// Where a metadata key is defined.
public struct AVMetadataKeySpace: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  public static let common = AVMetadataKeySpace(rawValue: "comn")
  public static let quickTimeUserData = AVMetadataKeySpace(rawValue: "udta")
  public static let quickTimeMetadata = AVMetadataKeySpace(rawValue: "mdta")
}

/// A key space and a key in one.
public struct AVMetadataIdentifier: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  public static let commonIdentifierTitle = AVMetadataIdentifier(rawValue: "comn/title")
  public static let commonIdentifierArtist = AVMetadataIdentifier(rawValue: "comn/artist")
  public static let commonIdentifierAuthor = AVMetadataIdentifier(rawValue: "comn/author")
  public static let commonIdentifierDescription = AVMetadataIdentifier(rawValue: "comn/description")
  public static let commonIdentifierCopyrights = AVMetadataIdentifier(rawValue: "comn/copyrights")
  public static let commonIdentifierCreationDate = AVMetadataIdentifier(rawValue: "comn/creationDate")
  public static let commonIdentifierSoftware = AVMetadataIdentifier(rawValue: "comn/software")
  public static let commonIdentifierAlbumName = AVMetadataIdentifier(rawValue: "comn/albumName")
}

/// libavformat's names of the common keys, for reading and for writing.
enum MetadataNames {
  static let pairs: [(AVMetadataIdentifier, String)] = [
    (.commonIdentifierTitle, "title"), (.commonIdentifierArtist, "artist"),
    (.commonIdentifierAuthor, "composer"), (.commonIdentifierDescription, "comment"),
    (.commonIdentifierCopyrights, "copyright"), (.commonIdentifierCreationDate, "creation_time"),
    (.commonIdentifierSoftware, "encoder"), (.commonIdentifierAlbumName, "album"),
  ]

  static func items(_ entries: [String: String]) -> [AVMetadataItem] {
    pairs.compactMap { identifier, name in
      entries[name].map { text in
        let item = AVMutableMetadataItem()
        item.identifier = identifier
        item.value = NSString(string: text)
        return item
      }
    }
  }

  static func entries(_ items: [AVMetadataItem]) -> [String: String] {
    var entries: [String: String] = [:]
    for item in items {
      guard let name = pairs.first(where: { $0.0 == item.identifier })?.1, let text = item.stringValue else {
        continue
      }
      entries[name] = text
    }
    return entries
  }
}
