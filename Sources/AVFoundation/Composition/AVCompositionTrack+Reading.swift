// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVCompositionTrack {
  /// What a reader's output takes its samples from.
  func makeSource(
    _ request: AVAssetReaderTrackOutput.Request, pitch: AVAudioTimePitchAlgorithm = .spectral, copies: Bool,
    damage: DamageLog = DamageLog()
  ) throws -> any SampleSource {
    let replacements = timelineLock.withLock { storedReplacements }
    switch request {
    case .stored:
      if timeline.parts.contains(where: \.isScaled), mediaType == .audio {
        throw AVError(
          .operationNotSupportedForAsset, reason: "Sound that is scaled cannot be read as it is stored.",
          advice: "Read it as linear PCM.")
      }
      return ComposedPictures(timeline, isStored: true) { track, interruption in
        StoredSampleSource(
          try Demuxer(again: track.file.facts().demuxer, interruption: interruption),
          replacements.apply(to: track.facts), damage: damage)
      }
    case .pictures(let requirements):
      let pictures = ComposedPictures(timeline, isStored: false) { track, interruption in
        try requirements.color?.check(against: track.facts.stream)
        return try PictureSource(
          Demuxer(again: track.file.facts().demuxer, interruption: interruption),
          replacements.apply(to: track.facts), requirements, copies: copies, damage: damage)
      }
      return ReadAhead(pictures, depth: AVAssetReaderTrackOutput.readAhead)
    case .sound(let requirements):
      return try ComposedSound(timeline, requirements, pitch: pitch, damage: damage)
    }
  }
}

extension AVAsset {
  /// Where the picture at a time comes from: a file's track, the time in it, and the way back.
  func pictureOrigin(
    at time: CMTime
  ) throws -> (track: AVAssetTrack, time: CMTime, back: @Sendable (CMTime) -> CMTime)? {
    let tracks = try loadedTracks().filter { $0.mediaType == .video }
    guard let composed = tracks.first as? AVCompositionTrack else {
      return tracks.first.map { ($0, time, { $0 }) }
    }
    let placed = composed.timeline.placed.filter { $0.part.source != nil }
    // At the end, and in gaps, the picture before.
    guard let (part, target) = placed.last(where: { $0.target.start <= time }) ?? placed.first,
      let track = part.source?.track
    else { return nil }
    // The last picture of a part begins before its end.
    let within = min(max(time, target.start), target.end)
    let mapped = CMTimeMapTimeFromRangeToRange(within, fromRange: target, toRange: part.range)
    let range = part.range
    return (
      track, mapped,
      { max(target.start, CMTimeMapTimeFromRangeToRange($0, fromRange: range, toRange: target)) }
    )
  }
}
