// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The times at which an asset has something, or nothing because the program wants it so.
///
/// A file may claim any duration. Where its samples are in a table, that tells the truth; elsewhere, only reading does.
struct AssuredTimes {
  private let ranges: [CMTimeRange]

  /// How long pictures are made for what a file only claims.
  static let longestFill = CMTime(value: 60, timescale: 1)

  init(_ asset: AVAsset) {
    ranges = ((try? asset.loadedTracks()) ?? []).flatMap { track -> [CMTimeRange] in
      guard let composed = track as? AVCompositionTrack else {
        return track.isAssured ? [track.timeRange] : []
      }
      return composed.timeline.placed.compactMap { part, target in
        if let source = part.source { return source.isAssured ? target : nil }
        let wanted = target.duration - part.lack
        return wanted > .zero ? CMTimeRange(start: target.start, duration: wanted) : nil
      }
    }
  }

  func contains(_ time: CMTime) -> Bool { ranges.contains { $0.containsTime(time) } }

  /// When the next of them begins; nil if none does.
  func start(after time: CMTime) -> CMTime? { ranges.map(\.start).filter { $0 > time }.min() }
}
