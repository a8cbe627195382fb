// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVCompositionTrack {
  /// Creates the source from which a reader's output takes its samples.
  /// - Parameters:
  ///   - request: Stored samples, pictures or PCM, and their format.
  ///   - pitch: The algorithm for audio whose speed is changed.
  ///   - copies: Whether each picture gets a pixel buffer of its own.
  ///   - damage: Records damaged samples that are left out.
  /// - Throws: `AVError` if a source file cannot be read or the track cannot be read in the
  ///   requested form.
  func makeSource(
    _ request: AVAssetReaderTrackOutput.Request, pitch: AVAudioTimePitchAlgorithm = .spectral, copies: Bool,
    damage: DamageLog = DamageLog()
  ) throws -> any SampleSource {
    let replacements = timelineLock.withLock { storedReplacements }
    switch request {
    case .stored:
      if timeline.parts.contains(where: \.isScaled), mediaType == .audio {
        throw AVError(
          .operationNotSupportedForAsset, reason: "Audio that is scaled cannot be read as it is stored.",
          advice: "Read it as linear PCM.")
      }
      // A text that is shown across a cut is shortened, as a picture is.
      return CompositionPictureSource(timeline, isStored: mediaType != .subtitle) { track, interruption in
        try track.makeStoredSource(
          Demuxer(again: track.file.properties().demuxer, interruption: interruption),
          replacements.apply(to: track.properties), damage: damage)
      }
    case .pictures(let requirements):
      let pictures = CompositionPictureSource(timeline, isStored: false) { track, interruption in
        try requirements.color?.check(against: track.properties.stream)
        return try PictureSource(
          Demuxer(again: track.file.properties().demuxer, interruption: interruption),
          replacements.apply(to: track.properties), requirements, copies: copies, damage: damage)
      }
      return ReadAhead(pictures, depth: AVAssetReaderTrackOutput.readAhead)
    case .audio(let requirements):
      return try CompositionAudioSource(timeline, requirements, pitch: pitch, damage: damage)
    }
  }
}

extension AVAsset {
  /// Returns the track of a file that has the picture shown at `time`, the time of that picture in
  /// the track, and a function that converts times of the track to times of this asset. Nil without
  /// a video track or without media in it.
  func pictureOrigin(
    at time: CMTime
  ) throws -> (track: AVAssetTrack, time: CMTime, toAssetTime: @Sendable (CMTime) -> CMTime)? {
    let tracks = try loadedTracks().filter { $0.mediaType == .video }
    guard let composed = tracks.first as? AVCompositionTrack else {
      return tracks.first.map { ($0, time, { $0 }) }
    }
    let timedParts = composed.timeline.timedParts.filter { $0.part.source != nil }
    // In a gap, and at or after the end, the last picture before `time` is used.
    guard let (part, target) = timedParts.last(where: { $0.target.start <= time }) ?? timedParts.first,
      let track = part.source?.track
    else { return nil }
    // The last picture of a part begins before the part's end.
    let within = min(max(time, target.start), target.end)
    let mapped = CMTimeMapTimeFromRangeToRange(within, fromRange: target, toRange: part.range)
    let range = part.range
    return (
      track, mapped,
      { max(target.start, CMTimeMapTimeFromRangeToRange($0, fromRange: range, toRange: target)) }
    )
  }
}
