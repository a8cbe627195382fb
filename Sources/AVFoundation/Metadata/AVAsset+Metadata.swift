// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVAsset {
  /// All metadata of the file. For movies these are the items of their key spaces, and the items of
  /// the common key space for properties that no such item states, such as the creation time of the
  /// movie. For other files these are items of the common key space.
  public var metadata: [AVMetadataItem] {
    let stored = (file.header?.items ?? []).map(MetadataCoding.item)
    let known = Set(stored.compactMap(\.commonKey))
    let common = MetadataNames.items(file.propertiesIfReadable?.metadata ?? [:])
    // libavformat reports the comment of a movie as its description.
    let hasComment = stored.contains {
      $0.identifier == .iTunesMetadataUserComment || $0.identifier == .quickTimeUserDataComment
    }
    func isMoment(_ item: AVMetadataItem) -> Bool {
      item.commonKey == .commonKeyCreationDate && item.stringValue?.contains("T") == true
    }
    let hasComposer = stored.contains {
      $0.identifier == .iTunesMetadataComposer || $0.identifier == .quickTimeUserDataComposer
    }
    return stored
      + common.filter { item in
        // The creation time of the movie is kept in addition to an item that states a year.
        if isMoment(item) { return !stored.contains(where: isMoment) }
        guard let key = item.commonKey, !known.contains(key) else { return false }
        return !(hasComment && key == .commonKeyDescription) && !(hasComposer && key == .commonKeyAuthor)
      }
  }

  /// The metadata under identifiers of the common key space: title, author, creation date and
  /// others.
  public var commonMetadata: [AVMetadataItem] {
    MetadataNames.common(of: metadata, MetadataNames.items(file.propertiesIfReadable?.metadata ?? [:]))
  }

  /// The formats of the items in `metadata`.
  public var availableMetadataFormats: [AVMetadataFormat] { MetadataNames.formats(of: metadata) }

  public func metadata(forFormat format: AVMetadataFormat) -> [AVMetadataItem] {
    metadata.filter { AVMetadataFormat.of($0.keySpace) == format }
  }
  public func loadMetadata(for format: AVMetadataFormat) async throws -> [AVMetadataItem] {
    try await load(.metadata).filter { AVMetadataFormat.of($0.keySpace) == format }
  }

  /// The creation date of the movie; nil if the file has none.
  public var creationDate: AVMetadataItem? {
    commonMetadata.first { $0.commonKey == .commonKeyCreationDate }
  }
  /// The lyrics of a song; nil if the file has none.
  public var lyrics: String? { file.propertiesIfReadable?.metadata["lyrics"] }
}

extension AVAssetTrack {
  /// The metadata of the track in a local movie file.
  public var metadata: [AVMetadataItem] {
    (file.header?.tracks[trackID]?.items ?? []).map(MetadataCoding.item)
  }
  public var commonMetadata: [AVMetadataItem] { MetadataNames.common(of: metadata, []) }
  public var availableMetadataFormats: [AVMetadataFormat] { MetadataNames.formats(of: metadata) }

  public func metadata(forFormat format: AVMetadataFormat) -> [AVMetadataItem] {
    metadata.filter { AVMetadataFormat.of($0.keySpace) == format }
  }
  public func loadMetadata(for format: AVMetadataFormat) async throws -> [AVMetadataItem] {
    try await load(.metadata).filter { AVMetadataFormat.of($0.keySpace) == format }
  }
}

extension MetadataNames {
  /// Returns the items that have a common key, with identifiers of the common key space, and those
  /// of `others` whose common keys none of the items has.
  static func common(of items: [AVMetadataItem], _ others: [AVMetadataItem]) -> [AVMetadataItem] {
    let found = items.filter { $0.commonKey != nil }.map { item -> AVMetadataItem in
      guard item.keySpace != .common, let key = item.commonKey else { return item }
      let copy = AVMutableMetadataItem()
      copy.identifier = AVMetadataIdentifier(space: "comn", key: key.rawValue)
      copy.value = item.value
      copy.dataType = item.saidDataType
      copy.extendedLanguageTag = item.extendedLanguageTag
      return copy
    }
    let known = Set(found.compactMap(\.commonKey))
    return found + others.filter { $0.commonKey.map { !known.contains($0) } ?? false }
  }

  static func formats(of items: [AVMetadataItem]) -> [AVMetadataFormat] {
    items.reduce(into: []) { formats, item in
      if let format = AVMetadataFormat.of(item.keySpace), !formats.contains(format) { formats.append(format) }
    }
  }
}
