// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The selected options in an asset's media selection groups.
open class AVMediaSelection: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  /// The identifier of the selected track by the identifiers of the tracks of its group; 0 if no
  /// option is selected.
  fileprivate var chosen: [[CMPersistentTrackID]: CMPersistentTrackID]
  /// The asset; nil after it has been released.
  open private(set) weak var asset: AVAsset?

  init(_ asset: AVAsset?, _ chosen: [[CMPersistentTrackID]: CMPersistentTrackID] = [:]) {
    self.asset = asset
    self.chosen = chosen
    super.init()
  }

  /// Returns the selected option of a group, or its default option if none was selected explicitly;
  /// nil if no option is selected.
  open func selectedMediaOption(in mediaSelectionGroup: AVMediaSelectionGroup) -> AVMediaSelectionOption? {
    guard let number = lock.withLock({ chosen[mediaSelectionGroup.key] }) else {
      return mediaSelectionGroup.defaultOption
    }
    return mediaSelectionGroup.options.first { $0.track.trackID == number }
  }

  /// Returns whether a player may select an option by its own criteria: true if none was selected
  /// explicitly.
  open func mediaSelectionCriteriaCanBeAppliedAutomatically(
    to mediaSelectionGroup: AVMediaSelectionGroup
  ) -> Bool { lock.withLock { chosen[mediaSelectionGroup.key] } == nil }

  /// Returns an `AVMediaSelection` that later changes of this one do not affect.
  open func copy(with zone: NSZone? = nil) -> Any {
    AVMediaSelection(asset, lock.withLock { chosen })
  }

  /// Returns an `AVMutableMediaSelection` that can be changed independently.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    AVMutableMediaSelection(asset, lock.withLock { chosen })
  }
}

/// A media selection that can be modified.
open class AVMutableMediaSelection: AVMediaSelection, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  /// Selects an option of a group.
  /// - Parameters:
  ///   - mediaSelectionOption: An option of the group; another one has no effect. Nil selects none,
  ///     and has no effect if the group does not allow that.
  ///   - mediaSelectionGroup: A group of the asset.
  open func select(
    _ mediaSelectionOption: AVMediaSelectionOption?, in mediaSelectionGroup: AVMediaSelectionGroup
  ) {
    let number = mediaSelectionOption?.track.trackID ?? kCMPersistentTrackID_Invalid
    guard
      mediaSelectionOption == nil
        ? mediaSelectionGroup.allowsEmptySelection
        : mediaSelectionGroup.options.contains(where: { $0.track.trackID == number })
    else { return }
    lock.withLock { chosen[mediaSelectionGroup.key] = number }
  }
}

extension AVMediaSelectionGroup {
  fileprivate var key: [CMPersistentTrackID] { options.map(\.track.trackID).sorted() }
}

extension AVAsset {
  /// The most combinations that are returned. Files usually have a few languages.
  private static let maxSelections = 4096

  /// The selection of the default options.
  public var preferredMediaSelection: AVMediaSelection { AVMediaSelection(self) }

  /// All combinations of the options of the groups; empty if there are no groups.
  public var allMediaSelections: [AVMediaSelection] {
    let groups = availableMediaCharacteristicsWithMediaSelectionOptions.compactMap {
      mediaSelectionGroup(forMediaCharacteristic: $0)
    }
    guard !groups.isEmpty else { return [] }
    var choices: [[[CMPersistentTrackID]: CMPersistentTrackID]] = [[:]]
    for group in groups {
      var numbers = group.options.map(\.track.trackID)
      if group.allowsEmptySelection { numbers.append(kCMPersistentTrackID_Invalid) }
      choices = choices.flatMap { choice in
        numbers.map { choice.merging([group.key: $0]) { _, new in new } }
      }
      if choices.count > Self.maxSelections { choices.removeLast(choices.count - Self.maxSelections) }
    }
    return choices.map { AVMediaSelection(self, $0) }
  }

  /// Whether the format of the file allows fragments: true for QuickTime movies and ISO base media
  /// files.
  public var canContainFragments: Bool { file.propertiesIfReadable?.demuxer.isMovie ?? false }
  /// Whether the local movie file has fragments.
  public var containsFragments: Bool { file.header?.isFragmented ?? false }
  /// Whether the video could be played by AirPlay: H.264 or HEVC in a movie file, with AAC, ALAC,
  /// AC-3, E-AC-3 or MP3 or without audio. AirPlay itself is not supported.
  public var isCompatibleWithAirPlayVideo: Bool {
    let video = tracks(withMediaType: .video)
    let audio = tracks(withMediaType: .audio)
    return canContainFragments && !hasProtectedContent && !video.isEmpty
      && video.allSatisfy { ["h264", "hevc"].contains($0.properties.stream.codec.codecName) }
      && audio.allSatisfy {
        ["aac", "alac", "ac3", "eac3", "mp3"].contains($0.properties.stream.codec.codecName)
      }
  }
}

extension AVPartialAsyncProperty where Root: AVAsset {
  private static func property<T>(
    _ key: String, _ value: @escaping @Sendable (Root) -> T
  ) -> AVAsyncProperty<Root, T> {
    AVAsyncProperty(key: key) { root in
      _ = try root.loadedTracks()
      return value(root)
    }
  }

  public static var preferredMediaSelection: AVAsyncProperty<Root, AVMediaSelection> {
    property("preferredMediaSelection") { $0.preferredMediaSelection }
  }
  public static var allMediaSelections: AVAsyncProperty<Root, [AVMediaSelection]> {
    property("allMediaSelections") { $0.allMediaSelections }
  }
  public static var canContainFragments: AVAsyncProperty<Root, Bool> {
    property("canContainFragments") { $0.canContainFragments }
  }
  public static var containsFragments: AVAsyncProperty<Root, Bool> {
    property("containsFragments") { $0.containsFragments }
  }
  public static var isCompatibleWithAirPlayVideo: AVAsyncProperty<Root, Bool> {
    property("compatibleWithAirPlayVideo") { $0.isCompatibleWithAirPlayVideo }
  }
}
