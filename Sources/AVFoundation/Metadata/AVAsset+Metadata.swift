// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVAsset {
  /// All that the file tells of itself: for movies, the items of their key spaces; for others, and for what is no item
  /// (when a movie was made), the common facts.
  public var metadata: [AVMetadataItem] {
    let stored = (file.header?.items ?? []).map(MetadataCoding.item)
    let known = Set(stored.compactMap(\.commonKey))
    let common = MetadataNames.items(file.factsIfReadable?.metadata ?? [:])
    // libavformat gives the movie's comment as its description.
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
        // The moment of the movie's making is another fact than a year among its items.
        if isMoment(item) { return !stored.contains(where: isMoment) }
        guard let key = item.commonKey, !known.contains(key) else { return false }
        return !(hasComment && key == .commonKeyDescription) && !(hasComposer && key == .commonKeyAuthor)
      }
  }

  /// The common facts that the file tells: title, author, creation date ...
  public var commonMetadata: [AVMetadataItem] {
    MetadataNames.common(of: metadata, MetadataNames.items(file.factsIfReadable?.metadata ?? [:]))
  }

  /// The formats of the file's metadata.
  public var availableMetadataFormats: [AVMetadataFormat] { MetadataNames.formats(of: metadata) }

  public func metadata(forFormat format: AVMetadataFormat) -> [AVMetadataItem] {
    metadata.filter { AVMetadataFormat.of($0.keySpace) == format }
  }
  public func loadMetadata(for format: AVMetadataFormat) async throws -> [AVMetadataItem] {
    try await load(.metadata).filter { AVMetadataFormat.of($0.keySpace) == format }
  }

  /// When the movie was made, if the file says.
  public var creationDate: AVMetadataItem? {
    commonMetadata.first { $0.commonKey == .commonKeyCreationDate }
  }
  /// The words of a song, if the file holds them.
  public var lyrics: String? { file.factsIfReadable?.metadata["lyrics"] }
}

extension AVAssetTrack {
  /// What a local movie file tells of the track.
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
  /// Items of which the common key space knows, under its identifiers; `others` where an item has none of them.
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
