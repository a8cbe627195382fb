// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What a video composition is like that shows an asset's video tracks as they are.
struct PropertiesOfTracks {
  /// Those that are enabled; the first, if none is.
  private let tracks: [AVAssetTrack]
  private let duration: CMTime
  /// What holds the pictures of all tracks, as their transforms place them.
  let box: CGRect

  init(_ asset: AVAsset) {
    let all = asset.tracks.filter { $0.mediaType == .video }
    let enabled = all.filter(\.isEnabled)
    tracks = enabled.isEmpty ? Array(all.prefix(1)) : enabled
    duration = asset.duration
    let boxes = tracks.map { CGRect(origin: .zero, size: $0.naturalSize).applying($0.preferredTransform) }
    box = boxes.dropFirst().reduce(boxes.first ?? .zero) { $0.union($1) }
  }

  /// The track of the greatest frame rate; nil if there is no track.
  var fastest: AVAssetTrack? {
    tracks.dropFirst().reduce(tracks.first) { best, track in
      track.nominalFrameRate > best?.nominalFrameRate ?? 0 ? track : best
    }
  }

  /// The track that gives pictures their times: the only one.
  var timing: CMPersistentTrackID {
    tracks.count == 1 ? tracks[0].trackID : kCMPersistentTrackID_Invalid
  }

  /// One for each time in which the same parts of tracks are shown, from zero to the asset's end.
  /// - Parameter frameDuration: A shorter time at which no track has anything is left to what comes before it, or
  ///   after it at the beginning: tracks of a movie are seldom equally long, and no black picture is wanted there.
  func instructions(_ frameDuration: CMTime) -> [AVVideoCompositionInstruction] {
    guard duration.isNumeric, duration > .zero else {
      return [instruction(CMTimeRange(start: .zero, duration: duration), tracks)]
    }
    let ranges = tracks.map { track in
      Self.ranges(of: track).map { $0.intersection(CMTimeRange(start: .zero, duration: duration)) }
        .filter { $0.isValid && $0.duration > .zero }
    }
    let edges = (ranges.joined().flatMap { [$0.start, $0.end] } + [duration]).sorted()
    // The first range of each track that is not over.
    var places = tracks.map { _ in 0 }
    var slices: [(range: CMTimeRange, shown: [AVAssetTrack])] = []
    var position = CMTime.zero
    for edge in edges where edge > position {
      var shown: [AVAssetTrack] = []
      for (index, list) in ranges.enumerated() {
        while places[index] < list.count, list[places[index]].end <= position { places[index] += 1 }
        if places[index] < list.count, list[places[index]].start <= position { shown.append(tracks[index]) }
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

  /// When a track has something to show, in order of time.
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
