// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Decides which tracks an export writes, and which of them combine several tracks: a mix of the
/// audio tracks or a composition of the video tracks. The first track of a kind then represents all
/// of its kind.
///
/// The audio tracks of a composition are heard together, so they are mixed if audio is encoded,
/// even without an audio mix. The audio tracks of a file stay separate, since they may be
/// languages.
struct ExportTrackSelection {
  private let settings: AVAssetExportSession.Settings
  private let preset: ExportPreset
  private let tracks: [AVAssetTrack]

  init(_ settings: AVAssetExportSession.Settings, _ preset: ExportPreset, _ tracks: [AVAssetTrack]) {
    self.settings = settings
    self.preset = preset
    self.tracks = tracks
  }

  /// Checks that the settings fit together.
  /// - Throws: `AVError` if the preset copies samples that would have to be encoded for a mix or a
  ///   composition, if an audio mix is set together with `.preserveAlternateTracks`, or if the
  ///   pitch algorithm is unknown.
  func check() throws {
    guard settings.composition == nil || !copiesVideo, settings.mix == nil || !preset.copiesAudio else {
      throw AVError(
        .operationNotSupportedForPreset,
        reason: "A preset that copies samples takes no audio mix and no video composition.")
    }
    if let error = settings.pitch.error(.incorrectlyConfigured) { throw error }
    guard settings.mix == nil || settings.trackGroups != .preserveAlternateTracks else {
      throw AVError(
        .incorrectlyConfigured, reason: "An audio mix makes one track of all that stand in for each other.",
        advice: "Leave the audio mix or audioTrackGroupHandling alone.")
    }
  }

  private func all(_ type: AVMediaType) -> [AVAssetTrack] { tracks.filter { $0.mediaType == type } }

  /// Whether the movie gets a track for this track, alone or as the first of several that are
  /// combined.
  func isAlone(_ track: AVAssetTrack) -> Bool {
    switch track.mediaType {
    case .video: settings.composition == nil || track === all(.video).first
    case .audio:
      mixes ? track === mixed.first : !isSilenced(track) && !isLeftOut(track)
    default:
      (track.mediaType.isText || track.isBoxedMetadata) && copiesVideo && !(track is AVCompositionTrack)
    }
  }

  /// Whether a track of a composition is not heard because it is disabled while another one is
  /// enabled.
  private func isSilenced(_ track: AVAssetTrack) -> Bool {
    !preset.copiesAudio && track is AVCompositionTrack && !track.isEnabled
      && all(.audio).contains(where: \.isEnabled)
  }

  /// Whether another track of the same alternate group is written in place of this one.
  private func isLeftOut(_ track: AVAssetTrack) -> Bool {
    guard let handling = settings.trackGroups, !handling.contains(.preserveAlternateTracks),
      case let group = track.alternateGroup, group != 0
    else { return false }
    let members = all(.audio).filter { $0.alternateGroup == group }
    return track !== (members.first(where: \.isEnabled) ?? members.first)
  }

  private var copiesVideo: Bool {
    if case .copy = preset.video { return true }
    return false
  }

  /// Whether all audio is mixed into one track.
  private var mixes: Bool {
    settings.mix != nil
      || !preset.copiesAudio && mixed.count > 1 && mixed.allSatisfy { $0 is AVCompositionTrack }
  }

  /// The tracks of the mix. An audio mix covers all tracks, since its volumes determine which are
  /// heard.
  private var mixed: [AVAssetTrack] {
    all(.audio).filter { settings.mix != nil || $0.isEnabled && $0.isDecodable }
  }

  /// Settings with the largest number of channels and the highest sample rate of the mixed tracks.
  private var mixedSettings: [String: Any] {
    var audio: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM]
    guard settings.mix == nil else { return audio }
    let formats = mixed.compactMap { try? AudioRequirements([:], for: $0.properties.stream).format }
    if let rate = formats.map(\.sampleRate).max() { audio[AVSampleRateKey] = rate }
    if let channels = formats.map(\.channels).max() { audio[AVNumberOfChannelsKey] = channels }
    return audio
  }

  /// Replaces the reader output and the writer input of a track by those of a mix or a composition,
  /// where one is wanted.
  func pair(
    _ pair: (output: AVAssetReaderOutput, input: AVAssetWriterInput)?, _ track: AVAssetTrack
  ) throws -> (output: AVAssetReaderOutput, input: AVAssetWriterInput)? {
    guard let pair else { return nil }
    if track.mediaType == .video, let composition = settings.composition {
      let output = AVAssetReaderVideoCompositionOutput(
        videoTracks: all(.video),
        videoSettings: [
          kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
        ])
      output.use(composition, settings.compositor)
      // The composition determines size and orientation, so the track's own transform and format
      // are not used.
      var writing = pair.input.outputSettings
      let size = preset.fitted(composition.renderSize)
      writing?[AVVideoWidthKey] = size.width
      writing?[AVVideoHeightKey] = size.height
      let input = AVAssetWriterInput(mediaType: .video, outputSettings: writing)
      input.languageCode = pair.input.languageCode
      input.marksOutputTrackAsEnabled = pair.input.marksOutputTrackAsEnabled
      return (output, input)
    }
    if track.mediaType == .audio, mixes {
      let output = AVAssetReaderAudioMixOutput(audioTracks: mixed, audioSettings: mixedSettings)
      output.audioMix = settings.mix
      output.ovtToleratesDamage = settings.toleratesDamage
      output.audioTimePitchAlgorithm = settings.pitch
      let writing: [String: Any] = [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVEncoderBitRateKey: ExportPreset.audioRate,
      ]
      let input = AVAssetWriterInput(mediaType: .audio, outputSettings: writing)
      input.languageCode = pair.input.languageCode
      input.marksOutputTrackAsEnabled = pair.input.marksOutputTrackAsEnabled
      return (output, input)
    }
    (pair.output as? AVAssetReaderTrackOutput)?.audioTimePitchAlgorithm = settings.pitch
    return pair
  }
}

extension AVAssetTrack {
  /// The number of the track's alternate group; 0 if the track is in no group.
  fileprivate var alternateGroup: Int { file.header?.tracks[trackID]?.alternateGroup ?? 0 }

  /// Whether the track has timed metadata in the format that the writer stores.
  fileprivate var isBoxedMetadata: Bool {
    mediaType == .metadata
      && properties.format.map(CMFormatDescriptionGetMediaSubType) == kCMMetadataFormatType_Boxed
      && properties.stream.metadataDescription != nil
  }

  /// Whether presets that encode audio copy this track.
  var keepsAudio: Bool { properties.stream.codec.codecName == "aac" && isInOnePiece }

  /// Whether the stored samples are one run, as in a file. A composition's parts can begin and end
  /// between packets, have other codecs, or be played at another speed.
  var isInOnePiece: Bool {
    guard let composed = self as? AVCompositionTrack else { return true }
    guard let part = composed.timeline.parts.first, composed.timeline.parts.count == 1 else { return false }
    return part.source != nil && !part.isScaled
  }
}
