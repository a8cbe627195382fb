// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The time ranges in which an asset is known to have media, or to have a gap that the program
/// requested.
///
/// A file may declare any duration. A complete sample table confirms it; without one, only reading
/// does.
struct ConfirmedMediaTimes {
  private let ranges: [CMTimeRange]

  /// The longest time for which pictures are made where a file only declares to have media.
  static let longestFill = CMTime(value: 60, timescale: 1)

  init(_ asset: AVAsset) {
    ranges = ((try? asset.loadedTracks()) ?? []).flatMap { track -> [CMTimeRange] in
      guard let composed = track as? AVCompositionTrack else {
        return track.isConfirmed ? [track.timeRange] : []
      }
      return composed.timeline.timedParts.compactMap { part, target in
        if let source = part.source { return source.isConfirmed ? target : nil }
        let wanted = target.duration - part.missing
        return wanted > .zero ? CMTimeRange(start: target.start, duration: wanted) : nil
      }
    }
  }

  func contains(_ time: CMTime) -> Bool { ranges.contains { $0.containsTime(time) } }

  /// Returns the start of the next such range after `time`; nil if there is none.
  func start(after time: CMTime) -> CMTime? { ranges.map(\.start).filter { $0 > time }.min() }
}
