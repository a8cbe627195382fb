// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A track of an item.
open class AVPlayerItemTrack: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  /// The track of the asset.
  public let assetTrack: AVAssetTrack?
  /// Whether the track is played: it is the one that was chosen of its media type.
  public let isEnabled: Bool

  init(_ track: AVAssetTrack, isEnabled: Bool) {
    assetTrack = track
    self.isEnabled = isEnabled
    super.init()
  }
}

extension AVPlayerItem {
  /// The tracks of the asset; empty before the item is ready to play.
  public var tracks: [AVPlayerItemTrack] {
    guard status == .readyToPlay else { return [] }
    let all = asset.tracks
    let played = [AVMediaType.video, .audio].compactMap { Playback.chosen(all, $0) }
    return all.map { track in AVPlayerItemTrack(track, isEnabled: played.contains { $0 === track }) }
  }

  /// The time ranges that can be played without waiting, as `NSValue`s of `CMTimeRange`. For a file
  /// it is the whole item once that is ready to play. For an item from a server and for a
  /// composition it is empty, since the ranges are not known.
  public var loadedTimeRanges: [NSValue] {
    (asset as? AVURLAsset)?.url.isFileURL == true ? seekableTimeRanges : []
  }
}

extension AVAsset {
  /// The groups of alternative tracks in a local movie file, of which one track each is to be
  /// played.
  public var trackGroups: [AVAssetTrackGroup] {
    guard let header = file.header else { return [] }
    var groups: [(number: Int, ids: [CMPersistentTrackID])] = []
    for track in tracks {
      guard let number = header.tracks[track.trackID]?.alternateGroup, number != 0 else { continue }
      if let index = groups.firstIndex(where: { $0.number == number }) {
        groups[index].ids.append(track.trackID)
      } else {
        groups.append((number, [track.trackID]))
      }
    }
    return groups.filter { $0.ids.count > 1 }.map { AVAssetTrackGroup($0.ids) }
  }

  /// A track identifier that no track of the asset has.
  public func unusedTrackID() -> CMPersistentTrackID {
    let used = Set(tracks.map(\.trackID))
    var free: CMPersistentTrackID = 1
    while used.contains(free) { free += 1 }
    return free
  }

  /// A track identifier that no track of the asset has.
  /// - Throws: `AVError` if the asset cannot be read.
  public func findUnusedTrackID() async throws -> CMPersistentTrackID {
    _ = try await load(.tracks)
    return unusedTrackID()
  }

  /// Finds a track identifier that no track of the asset has.
  /// - Parameter completionHandler: Receives the identifier or, if the asset cannot be read,
  ///   `kCMPersistentTrackID_Invalid` and an error.
  @preconcurrency public func findUnusedTrackID(
    completionHandler: @escaping @Sendable (CMPersistentTrackID, (any Error)?) -> Void
  ) {
    prepared("tracks") {
      do {
        _ = try self.loadedTracks()
        completionHandler(self.unusedTrackID(), nil)
      } catch { completionHandler(kCMPersistentTrackID_Invalid, error) }
    }
  }
}

/// A group of alternative tracks, of which one is to be played.
open class AVAssetTrackGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  private let ids: [CMPersistentTrackID]

  init(_ ids: [CMPersistentTrackID]) {
    self.ids = ids
    super.init()
  }

  /// The identifiers of the tracks.
  open var trackIDs: [NSNumber] { ids.map { NSNumber(value: $0) } }
}
