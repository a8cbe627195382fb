// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Selects metadata items.
open class AVMetadataItemFilter: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  private override init() { super.init() }

  private static let sharing = AVMetadataItemFilter()

  /// Returns a filter for movies that are shared. Items about the work remain, such as title,
  /// artist, album and copyright. Items that may identify a person are removed, such as locations,
  /// dates, devices, software and comments, and so are all unknown items.
  open class func forSharing() -> AVMetadataItemFilter { sharing }

  private static let commonKeys: Set<AVMetadataKey> = [
    .commonKeyTitle, .commonKeyArtist, .commonKeyAlbumName, .commonKeyCopyrights, .commonKeyPublisher,
    .commonKeyLanguage, .commonKeyType, .commonKeyFormat, .commonKeyArtwork,
  ]

  /// The permitted identifiers without a common key.
  private static let identifiers: Set<AVMetadataIdentifier> = [
    .iTunesMetadataPredefinedGenre, .iTunesMetadataUserGenre, .iTunesMetadataGenreID,
    .iTunesMetadataTrackNumber, .iTunesMetadataDiscNumber, .iTunesMetadataDiscCompilation,
    .iTunesMetadataContentRating, .iTunesMetadataBeatsPerMin, .iTunesMetadataGrouping,
    .iTunesMetadataAlbumArtist, .iTunesMetadataComposer, .iTunesMetadataSongID, .iTunesMetadataArtistID,
    .iTunesMetadataPlaylistID, .iTunesMetadataRecordCompany, .iTunesMetadataPhonogramRights,
    .quickTimeMetadataGenre,
  ]

  func lets(_ item: AVMetadataItem) -> Bool {
    if let key = item.commonKey { return Self.commonKeys.contains(key) }
    return item.identifier.map { Self.identifiers.contains($0) } ?? false
  }
}

extension AVMetadataItem {
  /// Returns the items that a filter permits.
  public class func metadataItems(
    from metadataItems: [AVMetadataItem], filteredBy metadataItemFilter: AVMetadataItemFilter
  ) -> [AVMetadataItem] { metadataItems.filter { metadataItemFilter.lets($0) } }
}
