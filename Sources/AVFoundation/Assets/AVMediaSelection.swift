// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A group of tracks of which one is played, for example languages of audio or of subtitles. The
/// tracks have the same alternate group in a local movie file (ISO/IEC 14496-12, 8.3.2).
open class AVMediaSelectionGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  public let options: [AVMediaSelectionOption]
  /// The option that is played by default: the first enabled track.
  public let defaultOption: AVMediaSelectionOption?
  /// Whether none of the options need be selected: true for legible media, such as subtitles.
  public let allowsEmptySelection: Bool

  init(_ tracks: [AVAssetTrack], isLegible: Bool) {
    options = tracks.map { AVMediaSelectionOption($0) }
    defaultOption = options.first { $0.track.isEnabled }
    allowsEmptySelection = isLegible
    super.init()
  }

  /// Returns the option with the given property list; nil if there is none.
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

  /// Returns the options in the preferred languages, in the order of the languages.
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

/// An option of a media selection group, which is a track.
open class AVMediaSelectionOption: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  let track: AVAssetTrack
  /// Keeps the asset alive: a track refers to it weakly.
  private let asset: AVAsset?
  static let trackKey = "MediaSelectionOptionsPersistentID"

  init(_ track: AVAssetTrack) {
    self.track = track
    asset = track.asset
    super.init()
  }

  open var mediaType: AVMediaType { track.mediaType }
  /// The media subtypes: four-character codes as `NSNumber` objects.
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
  /// Returns the option of another group that is associated with this one: its track follows this
  /// one's, or is followed by it.
  open func associatedMediaSelectionOption(
    in mediaSelectionGroup: AVMediaSelectionGroup
  ) -> AVMediaSelectionOption? {
    mediaSelectionGroup.options.first { option in
      track.associatedTracks(ofType: .selectionFollower).contains { $0.trackID == option.track.trackID }
        || option.track.associatedTracks(ofType: .selectionFollower).contains { $0.trackID == track.trackID }
    }
  }
  /// Returns a property list for `AVMediaSelectionGroup.mediaSelectionOption(withPropertyList:)`.
  open func propertyList() -> Any {
    [Self.trackKey: NSNumber(value: track.trackID), "MediaSelectionOptionsMediaType": mediaType.rawValue]
      as [String: Any]
  }
  /// The title of the track, or the name of its language in the current locale.
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
  /// The characteristics that have a media selection group.
  public var availableMediaCharacteristicsWithMediaSelectionOptions: [AVMediaCharacteristic] {
    [.audible, .visual, .legible].filter { mediaSelectionGroup(forMediaCharacteristic: $0) != nil }
  }

  /// Returns the group of alternative tracks with a characteristic: `.audible`, `.visual` or
  /// `.legible`. Nil for other characteristics, and if the file is not a local movie file with
  /// alternate groups.
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
