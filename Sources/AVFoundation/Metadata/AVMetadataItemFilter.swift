// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Chooses among metadata items.
open class AVMetadataItemFilter: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  private override init() { super.init() }

  private static let sharing = AVMetadataItemFilter()

  /// A filter for movies that are given away: items that are about the work, such as title, artist, album and copyright, stay;
  /// what may tell of a person goes, such as places, times, devices, programs and comments, and all that is not known.
  open class func forSharing() -> AVMetadataItemFilter { sharing }

  private static let commonKeys: Set<AVMetadataKey> = [
    .commonKeyTitle, .commonKeyArtist, .commonKeyAlbumName, .commonKeyCopyrights, .commonKeyPublisher,
    .commonKeyLanguage, .commonKeyType, .commonKeyFormat, .commonKeyArtwork,
  ]

  /// Items that the common key space does not know.
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
  /// Those of the items that a filter lets through.
  public class func metadataItems(
    from metadataItems: [AVMetadataItem], filteredBy metadataItemFilter: AVMetadataItemFilter
  ) -> [AVMetadataItem] { metadataItems.filter { metadataItemFilter.lets($0) } }
}
