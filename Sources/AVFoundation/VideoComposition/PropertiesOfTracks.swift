// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The properties of a video composition that presents an asset's video tracks unchanged.
struct PropertiesOfTracks {
  /// The enabled video tracks, or the first video track if none is enabled.
  private let tracks: [AVAssetTrack]
  private let duration: CMTime
  /// The smallest rectangle that contains the pictures of all tracks after their preferred
  /// transforms.
  let box: CGRect

  init(_ asset: AVAsset) {
    let all = asset.tracks.filter { $0.mediaType == .video }
    let enabled = all.filter(\.isEnabled)
    tracks = enabled.isEmpty ? Array(all.prefix(1)) : enabled
    duration = asset.duration
    let boxes = tracks.map { CGRect(origin: .zero, size: $0.naturalSize).applying($0.preferredTransform) }
    box = boxes.dropFirst().reduce(boxes.first ?? .zero) { $0.union($1) }
  }

  /// The track with the highest nominal frame rate; nil if there are no tracks.
  var fastest: AVAssetTrack? {
    tracks.dropFirst().reduce(tracks.first) { best, track in
      track.nominalFrameRate > best?.nominalFrameRate ?? 0 ? track : best
    }
  }

  /// The track that determines the times of pictures, if there is only one; otherwise invalid.
  var timing: CMPersistentTrackID {
    tracks.count == 1 ? tracks[0].trackID : kCMPersistentTrackID_Invalid
  }

  /// Returns an instruction for each time range in which the same tracks present media, from zero
  /// to the end of the asset.
  /// - Parameter frameDuration: A gap in all tracks that is shorter joins the instruction before
  ///   it, or, at the beginning, the one after it. Tracks of a movie are seldom equally long, and
  ///   such gaps should not show the background.
  func instructions(_ frameDuration: CMTime) -> [AVVideoCompositionInstruction] {
    guard duration.isNumeric, duration > .zero else {
      return [instruction(CMTimeRange(start: .zero, duration: duration), tracks)]
    }
    let ranges = tracks.map { track in
      Self.ranges(of: track).map { $0.intersection(CMTimeRange(start: .zero, duration: duration)) }
        .filter { $0.isValid && $0.duration > .zero }
    }
    let edges = (ranges.joined().flatMap { [$0.start, $0.end] } + [duration]).sorted()
    // For each track, the index of the first range that has not ended.
    var nextIndices = tracks.map { _ in 0 }
    var slices: [(range: CMTimeRange, shown: [AVAssetTrack])] = []
    var position = CMTime.zero
    for edge in edges where edge > position {
      var shown: [AVAssetTrack] = []
      for (index, list) in ranges.enumerated() {
        while nextIndices[index] < list.count, list[nextIndices[index]].end <= position {
          nextIndices[index] += 1
        }
        if nextIndices[index] < list.count, list[nextIndices[index]].start <= position {
          shown.append(tracks[index])
        }
      }
      var slice = (range: CMTimeRange(start: position, end: edge), shown: shown)
      position = slice.range.end
      if let last = slices.last {
        let isFirstGap = slices.count == 1 && last.shown.isEmpty && last.range.duration < frameDuration
        let isShortGap = shown.isEmpty && slice.range.duration < frameDuration
        if isFirstGap || isShortGap {
          slice = (CMTimeRange(start: last.range.start, end: position), isFirstGap ? shown : last.shown)
          slices.removeLast()
        }
      }
      slices.append(slice)
    }
    return slices.map { instruction($0.range, $0.shown) }
  }

  /// Returns the time ranges in which a track presents media, in order.
  private static func ranges(of track: AVAssetTrack) -> [CMTimeRange] {
    guard let composed = track as? AVCompositionTrack else { return [track.timeRange] }
    return composed.segments.filter { !$0.isEmpty }.map(\.timeMapping.target)
  }

  private func instruction(_ range: CMTimeRange, _ shown: [AVAssetTrack]) -> AVVideoCompositionInstruction {
    let instruction = AVMutableVideoCompositionInstruction()
    instruction.timeRange = range
    instruction.layerInstructions = shown.map { track in
      let layer = AVMutableVideoCompositionLayerInstruction(assetTrack: track)
      layer.setTransform(
        track.preferredTransform.concatenating(CGAffineTransform(translationX: -box.minX, y: -box.minY)),
        at: .zero)
      return layer
    }
    return instruction
  }
}
