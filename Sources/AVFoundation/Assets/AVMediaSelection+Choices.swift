// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What is chosen in each of an asset's groups of alternatives.
open class AVMediaSelection: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  fileprivate let lock = Lock()
  /// By the tracks of a group, the one that is chosen; 0: none.
  fileprivate var chosen: [[CMPersistentTrackID]: CMPersistentTrackID]
  /// The asset, while somebody holds it.
  open private(set) weak var asset: AVAsset?

  init(_ asset: AVAsset?, _ chosen: [[CMPersistentTrackID]: CMPersistentTrackID] = [:]) {
    self.asset = asset
    self.chosen = chosen
    super.init()
  }

  /// The option that is chosen in a group; nil: none.
  open func selectedMediaOption(in mediaSelectionGroup: AVMediaSelectionGroup) -> AVMediaSelectionOption? {
    guard let number = lock.withLock({ chosen[mediaSelectionGroup.key] }) else {
      return mediaSelectionGroup.defaultOption
    }
    return mediaSelectionGroup.options.first { $0.track.trackID == number }
  }

  /// Whether a player may choose in a group by its own criteria: nobody has chosen there.
  open func mediaSelectionCriteriaCanBeAppliedAutomatically(
    to mediaSelectionGroup: AVMediaSelectionGroup
  ) -> Bool { lock.withLock { chosen[mediaSelectionGroup.key] } == nil }

  /// A selection that does not change with this one.
  open func copy(with zone: NSZone? = nil) -> Any {
    AVMediaSelection(asset, lock.withLock { chosen })
  }

  /// A selection that can be changed on its own.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    AVMutableMediaSelection(asset, lock.withLock { chosen })
  }
}

/// A selection that a program changes.
open class AVMutableMediaSelection: AVMediaSelection, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  /// Chooses in a group.
  /// - Parameters:
  ///   - mediaSelectionOption: One of the group's; another one changes nothing. nil: none, where the group allows that.
  ///   - mediaSelectionGroup: One of the asset's.
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
  /// Combinations that are made at most: files have a few languages.
  private static let mostSelections = 4096

  /// What is played unless somebody chooses.
  public var preferredMediaSelection: AVMediaSelection { AVMediaSelection(self) }

  /// All that can be chosen: each option of each group, with each of the others; none where there is nothing to choose.
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
      if choices.count > Self.mostSelections { choices.removeLast(choices.count - Self.mostSelections) }
    }
    return choices.map { AVMediaSelection(self, $0) }
  }

  /// Whether the file is of a kind that can go on in fragments: a QuickTime movie or an ISO media file.
  public var canContainFragments: Bool { file.factsIfReadable?.demuxer.isMovie ?? false }
  /// Whether the local movie file goes on in fragments.
  public var containsFragments: Bool { file.header?.isFragmented ?? false }
  /// Whether a receiver of AirPlay would play the video: H.264 or HEVC in a movie file, with AAC or without sound. Nothing here
  /// sends it to one.
  public var isCompatibleWithAirPlayVideo: Bool {
    let video = tracks(withMediaType: .video)
    let sound = tracks(withMediaType: .audio)
    return canContainFragments && !hasProtectedContent && !video.isEmpty
      && video.allSatisfy { ["h264", "hevc"].contains($0.facts.stream.codec.codecName) }
      && sound.allSatisfy { ["aac", "alac", "ac3", "eac3", "mp3"].contains($0.facts.stream.codec.codecName) }
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
