// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What an export makes of several tracks together: a mix of the sound, a composition of the pictures. The first track
/// of each kind then stands for all.
///
/// The sound tracks of a composition are one presentation, and are mixed where sound is encoded, also without an audio mix.
/// Those of a file stay apart: they may be languages.
struct ExportMixing {
  private let settings: AVAssetExportSession.Settings
  private let preset: ExportPreset
  private let tracks: [AVAssetTrack]

  init(_ settings: AVAssetExportSession.Settings, _ preset: ExportPreset, _ tracks: [AVAssetTrack]) {
    self.settings = settings
    self.preset = preset
    self.tracks = tracks
  }

  /// - Throws: `AVError` if the preset copies what is to be made anew, or the pitch algorithm is not known.
  func check() throws {
    guard settings.composition == nil || !copiesVideo, settings.mix == nil || !preset.copiesSound else {
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

  /// Whether the movie gets a track for this one.
  func isAlone(_ track: AVAssetTrack) -> Bool {
    switch track.mediaType {
    case .video: settings.composition == nil || track === all(.video).first
    case .audio:
      mixes ? track === mixed.first : !isSilenced(track) && !isLeftOut(track)
    default:
      (track.mediaType.isText || track.isBoxedMetadata) && copiesVideo && !(track is AVCompositionTrack)
    }
  }

  /// A track that is not enabled, beside one that is, has no part in what a composition presents.
  private func isSilenced(_ track: AVAssetTrack) -> Bool {
    !preset.copiesSound && track is AVCompositionTrack && !track.isEnabled
      && all(.audio).contains(where: \.isEnabled)
  }

  /// Another track of its group of alternatives is written in its place.
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

  /// Whether there is one track of all the sound.
  private var mixes: Bool {
    settings.mix != nil
      || !preset.copiesSound && mixed.count > 1 && mixed.allSatisfy { $0 is AVCompositionTrack }
  }

  /// The tracks of a mix. With an audio mix all: what is not to be heard, its volumes say.
  private var mixed: [AVAssetTrack] {
    all(.audio).filter { settings.mix != nil || $0.isEnabled && $0.isDecodable }
  }

  /// The most channels and the highest rate of what is mixed.
  private var mixedSettings: [String: Any] {
    var sound: [String: Any] = [AVFormatIDKey: kAudioFormatLinearPCM]
    guard settings.mix == nil else { return sound }
    let formats = mixed.compactMap { try? SoundRequirements([:], for: $0.facts.stream).format }
    if let rate = formats.map(\.sampleRate).max() { sound[AVSampleRateKey] = rate }
    if let channels = formats.map(\.channels).max() { sound[AVNumberOfChannelsKey] = channels }
    return sound
  }

  /// Reads several tracks instead of one, where that is wanted.
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
      // What the pictures are like is the composition's affair.
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
      output.audioTimePitchAlgorithm = settings.pitch
      let writing: [String: Any] = [
        AVFormatIDKey: kAudioFormatMPEG4AAC, AVEncoderBitRateKey: ExportPreset.soundRate,
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
  /// The number of the tracks that stand in for each other; 0: the track is in no such group.
  fileprivate var alternateGroup: Int { file.header?.tracks[trackID]?.alternateGroup ?? 0 }

  /// Timed metadata as the writer stores it.
  fileprivate var isBoxedMetadata: Bool {
    mediaType == .metadata
      && facts.format.map(CMFormatDescriptionGetMediaSubType) == kCMMetadataFormatType_Boxed
      && facts.stream.metadataDescription != nil
  }

  /// Encoding presets copy it.
  var keepsSound: Bool { facts.stream.codec.codecName == "aac" && isInOnePiece }

  /// Its stored samples are one run as they are in a file: not parts of a composition, which begin and end between
  /// packets, in other codecs, or are played faster.
  var isInOnePiece: Bool {
    guard let composed = self as? AVCompositionTrack else { return true }
    guard let part = composed.timeline.parts.first, composed.timeline.parts.count == 1 else { return false }
    return part.source != nil && !part.isScaled
  }
}
