// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation

/// Selects the audio tracks of a movie for an output, and decides whether each is copied or
/// encoded.
struct AudioFeed: Sendable {
  let source: MovieSource
  let plan: EncodingPlan
  let synchronizer: AudioSynchronizer

  /// Adds the audio tracks to the output.
  /// - Returns: the tracks, and the report on all of them.
  /// - Throws: a `Failure` if a track is encrypted, or if a track that the user asked for cannot be
  ///   written.
  func add(
    to output: any Output
  ) async throws -> (tracks: [(id: OutputTrack.ID, track: any AudioReading)], report: AudioReport) {
    var tracks: [(id: OutputTrack.ID, track: any AudioReading)] = []
    var report = AudioReport()
    guard output.tracks.contains(.audio) else { return (tracks, report) }
    if let captured = source.captured {
      let audio = try CapturedAudioTrack(
        captured, volume: source.volume, bitRate: plan.audioBitRate, synchronizer: synchronizer)
      guard let id = try output.add(audio.track) else {
        throw Failure(
          "the audio of '\(captured.audio.name)' cannot be encoded as AAC at this rate; give a lower "
            + "--audio-bitrate")
      }
      (report.total, report.encoded) = (1, 1)
      return ([(id, audio)], report)
    }
    report.total = source.audioTracks.count
    guard plan.audio != .none else { return (tracks, report) }
    for properties in source.audioTracks {
      if try await properties.isEncrypted(in: source.asset) {
        throw Failure(
          "audio track \(properties.number) of '\(source.name)' is encrypted, and its key is not available; omit "
            + "the audio with --no-audio, or decrypt it first")
      }
      let isPlayable = properties.format.map { output.plays($0) } ?? false
      let encodes = plan.audio == .aac || plan.audio == .auto && !isPlayable
      do {
        let audio = try AudioTrack(
          source, properties, encodes: encodes, bitRate: plan.audioBitRate, repetition: plan.repetition,
          synchronizer: synchronizer)
        guard let id = try output.add(audio.track) else {
          audio.cancel()
          if plan.audio == .auto, !tracks.isEmpty {
            report.leftOut.append(
              "track \(properties.number) (\(properties.codecName)) left out: \(output.name) cannot contain it in addition to the "
                + "others")
            continue
          }
          throw Failure(
            encodes
              ? "audio track \(properties.number) cannot be encoded as AAC at this rate; give a lower --audio-bitrate, or "
                + "omit the audio with --no-audio"
              : "\(output.name) cannot hold audio track \(properties.number) (\(properties.codecName)) as it is; "
                + "encode it with --audio aac, or omit it with --no-audio")
        }
        tracks.append((id, audio))
        if encodes { report.encoded += 1 } else { report.copied += 1 }
        if let encoding = audio.track.encoding, encoding.channels < properties.channels {
          report.mixedDown.append(
            "\(properties.channels) channels of track \(properties.number) mixed down to \(encoding.channels)"
          )
        }
      } catch let failure as Failure {
        // If the user asked for the audio, its absence is an error; otherwise the movie is encoded
        // without it.
        guard plan.audio == .auto else { throw failure }
        report.leftOut.append(
          "track \(properties.number) (\(properties.codecName)) left out: it cannot be decoded here")
      }
    }
    return (tracks, report)
  }
}

/// Selects the subtitles and chapters of a movie for an output.
struct TextFeed: Sendable {
  let source: MovieSource
  let plan: EncodingPlan
  let synchronizer: AudioSynchronizer

  /// Adds the text tracks to the output.
  /// - Returns: the tracks, and the report on all of them.
  func add(
    to output: any Output
  ) async throws -> (tracks: [(id: OutputTrack.ID, track: TextTrack)], report: TextReport) {
    var tracks: [(id: OutputTrack.ID, track: TextTrack)] = []
    var report = TextReport()
    if plan.keepsSubtitles, output.tracks.contains(.subtitles) {
      for (index, subtitles) in source.subtitles.enumerated() {
        let text = try? await TextTrack(
          subtitles: subtitles, of: source, synchronizer: synchronizer, isEarly: output.takesTextsEarly)
        guard let text, let id = try output.add(text.track) else {
          text?.cancel()
          report.leftOut.append("subtitle track \(index + 1) left out: it cannot be read")
          continue
        }
        tracks.append((id, text))
        report.subtitles += 1
      }
    }
    if plan.keepsChapters, output.tracks.contains(.chapters),
      let chapters = try TextTrack(chapters: source.chapters, part: source.part, synchronizer: synchronizer),
      let id = try output.add(chapters.track)
    {
      tracks.append((id, chapters))
    }
    return (tracks, report)
  }
}
