// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Tracks of which one is to be played: languages of the sound, subtitles. They are the tracks of one alternate group of
/// a local movie file (ISO/IEC 14496-12, 8.3.2).
open class AVMediaSelectionGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let options: [AVMediaSelectionOption]
  /// What is played unless somebody chooses: the first track that the file enables.
  public let defaultOption: AVMediaSelectionOption?
  /// Whether none of them need be played: subtitles need not, sound and pictures do.
  public let allowsEmptySelection: Bool

  init(_ tracks: [AVAssetTrack], isLegible: Bool) {
    options = tracks.map { AVMediaSelectionOption($0) }
    defaultOption = options.first { $0.track.isEnabled }
    allowsEmptySelection = isLegible
    super.init()
  }

  /// The option with a property list of its own; nil if there is none any more.
  open func mediaSelectionOption(withPropertyList plist: Any) -> AVMediaSelectionOption? {
    guard let list = plist as? [String: Any], let number = list[AVMediaSelectionOption.trackKey] as? NSNumber
    else { return nil }
    return options.first { $0.track.trackID == number.int32Value }
  }

  open class func playableMediaSelectionOptions(
    from mediaSelectionOptions: [AVMediaSelectionOption]
  ) -> [AVMediaSelectionOption] { mediaSelectionOptions.filter(\.isPlayable) }

  open class func mediaSelectionOptions(
    from mediaSelectionOptions: [AVMediaSelectionOption], with locale: Locale
  ) -> [AVMediaSelectionOption] {
    mediaSelectionOptions.filter { $0.locale?.identifier(.bcp47) == locale.identifier(.bcp47) }
  }

  /// Those in the first of the languages, then those in the next.
  open class func mediaSelectionOptions(
    from mediaSelectionOptions: [AVMediaSelectionOption],
    filteredAndSortedAccordingToPreferredLanguages preferredLanguages: [String]
  ) -> [AVMediaSelectionOption] {
    preferredLanguages.reduce(into: []) { found, wanted in
      let language = Locale.Language(identifier: wanted).languageCode
      for option in mediaSelectionOptions
      where !found.contains(where: { $0 === option }) && option.locale?.language.languageCode == language {
        found.append(option)
      }
    }
  }

  open class func mediaSelectionOptions(
    from mediaSelectionOptions: [AVMediaSelectionOption],
    withMediaCharacteristics mediaCharacteristics: [AVMediaCharacteristic]
  ) -> [AVMediaSelectionOption] {
    mediaSelectionOptions.filter { option in
      mediaCharacteristics.allSatisfy { option.hasMediaCharacteristic($0) }
    }
  }

  open class func mediaSelectionOptions(
    from mediaSelectionOptions: [AVMediaSelectionOption],
    withoutMediaCharacteristics mediaCharacteristics: [AVMediaCharacteristic]
  ) -> [AVMediaSelectionOption] {
    mediaSelectionOptions.filter { option in
      !mediaCharacteristics.contains { option.hasMediaCharacteristic($0) }
    }
  }
}

/// One of several tracks to choose from.
open class AVMediaSelectionOption: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  let track: AVAssetTrack
  /// Holds the asset, of which a track knows weakly.
  private let asset: AVAsset?
  static let trackKey = "MediaSelectionOptionsPersistentID"

  init(_ track: AVAssetTrack) {
    self.track = track
    asset = track.asset
    super.init()
  }

  open var mediaType: AVMediaType { track.mediaType }
  /// `NSNumber`s of four-character codes.
  open var mediaSubTypes: [NSNumber] {
    (track.formatDescriptions as? [CMFormatDescription] ?? []).map {
      NSNumber(value: CMFormatDescriptionGetMediaSubType($0))
    }
  }
  open func hasMediaCharacteristic(_ mediaCharacteristic: AVMediaCharacteristic) -> Bool {
    track.hasMediaCharacteristic(mediaCharacteristic)
  }
  open var isPlayable: Bool { track.isPlayable }
  open var extendedLanguageTag: String? { track.extendedLanguageTag ?? track.languageCode }
  open var locale: Locale? { extendedLanguageTag.map { Locale(identifier: $0) } }
  open var commonMetadata: [AVMetadataItem] { track.commonMetadata }
  open var availableMetadataFormats: [AVMetadataFormat] { track.availableMetadataFormats }
  open func metadata(forFormat format: AVMetadataFormat) -> [AVMetadataItem] {
    track.metadata(forFormat: format)
  }
  /// The option of another group that goes with this one: the track that follows it, or is followed by it.
  open func associatedMediaSelectionOption(
    in mediaSelectionGroup: AVMediaSelectionGroup
  ) -> AVMediaSelectionOption? {
    mediaSelectionGroup.options.first { option in
      track.associatedTracks(ofType: .selectionFollower).contains { $0.trackID == option.track.trackID }
        || option.track.associatedTracks(ofType: .selectionFollower).contains { $0.trackID == track.trackID }
    }
  }
  /// For `AVMediaSelectionGroup.mediaSelectionOption(withPropertyList:)`.
  open func propertyList() -> Any {
    [Self.trackKey: NSNumber(value: track.trackID), "MediaSelectionOptionsMediaType": mediaType.rawValue]
      as [String: Any]
  }
  /// The track's title, or the language in the user's words.
  open var displayName: String { displayName(with: Locale.current) }
  open func displayName(with locale: Locale) -> String {
    let titles = AVMetadataItem.metadataItems(
      from: commonMetadata, filteredByIdentifier: .commonIdentifierTitle)
    if let title = (titles.first { $0.locale?.language == locale.language } ?? titles.first)?.stringValue {
      return title
    }
    return extendedLanguageTag.flatMap { locale.localizedString(forIdentifier: $0) } ?? "Unknown language"
  }
}

extension AVAsset {
  /// Characteristics of which there is something to choose.
  public var availableMediaCharacteristicsWithMediaSelectionOptions: [AVMediaCharacteristic] {
    [.audible, .visual, .legible].filter { mediaSelectionGroup(forMediaCharacteristic: $0) != nil }
  }

  /// The tracks of a characteristic among which one is to be chosen: `.audible`, `.visual` or `.legible`. Nil if no
  /// local movie file says that they stand in for each other.
  public func mediaSelectionGroup(
    forMediaCharacteristic mediaCharacteristic: AVMediaCharacteristic
  ) -> AVMediaSelectionGroup? {
    guard [.audible, .visual, .legible].contains(mediaCharacteristic), let header = file.header else {
      return nil
    }
    let found = tracks.filter { $0.hasMediaCharacteristic(mediaCharacteristic) }
    func group(_ track: AVAssetTrack) -> Int { header.tracks[track.trackID]?.alternateGroup ?? 0 }
    guard let number = found.map(group).first(where: { $0 != 0 }) else { return nil }
    return AVMediaSelectionGroup(
      found.filter { group($0) == number }, isLegible: mediaCharacteristic == .legible)
  }

  public func loadMediaSelectionGroup(
    for mediaCharacteristic: AVMediaCharacteristic
  ) async throws -> AVMediaSelectionGroup? {
    _ = try await load(.tracks)
    return mediaSelectionGroup(forMediaCharacteristic: mediaCharacteristic)
  }
}
