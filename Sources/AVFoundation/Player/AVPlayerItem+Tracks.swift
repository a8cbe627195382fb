// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A track of what is played.
open class AVPlayerItemTrack: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  /// The asset's track.
  public let assetTrack: AVAssetTrack?
  /// Whether the track is the one of its kind that is played.
  public let isEnabled: Bool

  init(_ track: AVAssetTrack, isEnabled: Bool) {
    assetTrack = track
    self.isEnabled = isEnabled
    super.init()
  }
}

extension AVPlayerItem {
  /// The asset's tracks; none before the item is ready to play.
  public var tracks: [AVPlayerItemTrack] {
    guard status == .readyToPlay else { return [] }
    let all = asset.tracks
    let played = [AVMediaType.video, .audio].compactMap { Playback.chosen(all, $0) }
    return all.map { track in AVPlayerItemTrack(track, isEnabled: played.contains { $0 === track }) }
  }

  /// `NSValue`s of `CMTimeRange`: what is there to be read at once. All of a file, once the item is ready to play;
  /// of what a server sends, and of compositions, nothing is known.
  public var loadedTimeRanges: [NSValue] {
    (asset as? AVURLAsset)?.url.isFileURL == true ? seekableTimeRanges : []
  }
}

extension AVAsset {
  /// Tracks that stand in for each other, as a local movie file says: of each group one is played.
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

  /// A number that none of the tracks has.
  public func unusedTrackID() -> CMPersistentTrackID {
    let used = Set(tracks.map(\.trackID))
    var free: CMPersistentTrackID = 1
    while used.contains(free) { free += 1 }
    return free
  }

  /// A number that none of the tracks has.
  /// - Throws: `AVError` if the asset cannot be read.
  public func findUnusedTrackID() async throws -> CMPersistentTrackID {
    _ = try await load(.tracks)
    return unusedTrackID()
  }

  /// Calls the handler with a number that none of the tracks has, or with the error.
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

/// Tracks of which one is to be played.
open class AVAssetTrackGroup: NSObject, @unchecked Sendable {
  // Sendable: immutable.
  private let ids: [CMPersistentTrackID]

  init(_ ids: [CMPersistentTrackID]) {
    self.ids = ids
    super.init()
  }

  /// The tracks' numbers.
  open var trackIDs: [NSNumber] { ids.map { NSNumber(value: $0) } }
}
