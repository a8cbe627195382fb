// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Delivers the mixed audio of several tracks.
open class AVAssetReaderAudioMixOutput: AVAssetReaderOutput, @unchecked Sendable {
  // Sendable: `mixLock` guards what changes.
  public let audioTracks: [AVAssetTrack]
  public let audioSettings: [String: Any]?
  private let request: Result<AudioRequirements, AVError>
  private let mixLock = Lock()
  private var mix: AVAudioMix?
  private var pitch = AVAudioTimePitchAlgorithm.spectral

  /// Creates an output. Wrong arguments are reported when the reader starts.
  /// - Parameters:
  ///   - audioTracks: Audio tracks of one asset.
  ///   - audioSettings: Settings for linear PCM. Values that are not given, or all of them if it is
  ///     nil, are those of the first track.
  public init(audioTracks: [AVAssetTrack], audioSettings: [String: Any]?) {
    self.audioTracks = audioTracks
    self.audioSettings = audioSettings
    request = Result {
      guard let first = audioTracks.first, audioTracks.allSatisfy({ $0.mediaType == .audio }) else {
        throw AVError(
          .operationNotAllowed, reason: "There are no tracks, or one of them is not an audio track.")
      }
      return try AudioRequirements(audioSettings ?? [:], for: first.properties.stream)
    }.mapError { AVError.reading($0) }
    super.init()
  }

  open override var mediaType: AVMediaType { .audio }

  /// The volumes of the tracks; nil for 1.0. It is copied, and must be set before reading begins;
  /// later changes have no effect.
  open var audioMix: AVAudioMix? {
    get { mixLock.withLock { mix } }
    set {
      if reader?.status ?? .unknown == .unknown {
        mixLock.withLock { mix = newValue.flatMap { $0.copy() as? AVAudioMix } }
      }
    }
  }

  /// How audio is converted whose speed changes; see
  /// `AVAssetReaderTrackOutput.audioTimePitchAlgorithm`. It must be set before reading begins.
  open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm {
    get { mixLock.withLock { pitch } }
    set { if reader?.status ?? .unknown == .unknown { mixLock.withLock { pitch = newValue } } }
  }

  /// Whether the reading continues past damage: damaged audio is replaced by silence, and a track
  /// ends where its file cannot be read any further. `ovtDamage` then reports the damage, and the
  /// reader does not fail. False by default. Setting it has an effect only before the reading
  /// begins. This property is an addition of this package.
  open var ovtToleratesDamage: Bool {
    get { damage.isTolerated }
    set { if reader?.status ?? .unknown == .unknown { damage.isTolerated = newValue } }
  }

  /// The damage in the parts of the tracks that have been read so far, of all tracks together. This
  /// property is an addition of this package.
  open var ovtDamage: OVTReadingDamage { damage.value }

  override var settingsError: AVError? {
    if case .failure(let error) = request { return error }
    let algorithms =
      [audioTimePitchAlgorithm] + (audioMix?.inputParameters ?? []).compactMap(\.audioTimePitchAlgorithm)
    return algorithms.lazy.compactMap { $0.error(.unsupportedOutputSettings) }.first
  }

  override func belongs(to asset: AVAsset) -> Bool {
    !audioTracks.isEmpty && audioTracks.allSatisfy { $0.file === asset.file }
  }

  override func makeSource(asset: AVAsset, copies: Bool) throws -> any SampleSource {
    let requirements = try request.get()
    let parameters = audioMix?.inputParameters ?? []
    let mixRequirements = AudioRequirements(mixing: requirements)
    let isComposed = audioTracks.allSatisfy { $0 is AVCompositionTrack }
    return try AudioMixSource(
      audioTracks.map { track in
        let trackParameters = parameters.first { $0.trackID == track.trackID }
        var source: any SampleSource
        if let composed = track as? AVCompositionTrack {
          source = try CompositionAudioSource(
            composed.timeline, mixRequirements,
            pitch: trackParameters?.audioTimePitchAlgorithm ?? audioTimePitchAlgorithm,
            damage: damage)
        } else {
          source = try AudioSource(
            Demuxer(again: track.file.properties().demuxer), track.properties, mixRequirements, damage: damage
          )
        }
        var curve = VolumeCurve(trackParameters?.ramps ?? [], sampleRate: requirements.format.sampleRate)
        if let tap = trackParameters?.audioTapProcessor {
          let constant = VolumeCurve([], sampleRate: requirements.format.sampleRate)
          source = try TappedAudioSource(
            AudioMixSource(
              [(source, tap.isPostEffects ? curve : constant)], mixRequirements,
              of: isComposed ? nil : asset.file,
              fillsGaps: !isComposed), tap, mixRequirements)
          if tap.isPostEffects { curve = constant }
        }
        return (source, curve)
      }, requirements, of: isComposed ? nil : asset.file, fillsGaps: !isComposed)
  }
}
