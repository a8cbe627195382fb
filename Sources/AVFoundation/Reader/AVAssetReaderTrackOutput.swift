// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Samples of one track.
open class AVAssetReaderTrackOutput: AVAssetReaderOutput, @unchecked Sendable {
  // Sendable: `pitchLock` guards what changes.
  public let track: AVAssetTrack
  public let outputSettings: [String: Any]?
  private let request: Result<Request, AVError>

  /// Pictures that are decoded before they are asked for.
  static let readAhead = 3

  enum Request: Sendable {
    case stored
    case pictures(PictureRequirements)
    case sound(SoundRequirements)
  }

  /// Of the parameters:
  ///
  /// - `outputSettings`: nil: compressed samples, as they are stored. For video, Core Video's pixel buffer
  ///   attributes: pixel format (a number or a list of numbers; without it, the decoder's own), width, height; and
  ///   what Apple's reader does not look at: `kVTDecompressionPropertyKey_ThreadCount`, since fewer threads hold fewer
  ///   pictures, and `kVTDecompressionPropertyKey_FieldMode` with `kVTDecompressionPropertyKey_DeinterlaceMode`. For sound, the keys of linear PCM: `AVFormatIDKey` and what belongs to it.
  public init(track: AVAssetTrack, outputSettings: [String: Any]?) {
    self.track = track
    self.outputSettings = outputSettings
    request = Result { try Self.request(track, outputSettings) }.mapError { AVError.reading($0) }
    super.init()
  }

  open override var mediaType: AVMediaType { track.mediaType }

  /// How sound keeps its pitch where a track is played at another rate than 1.0: in a composition whose parts are
  /// scaled. `spectral`, the default, and `timeDomain` keep it, `varispeed` lets it follow the speed; elsewhere the three
  /// give the same sound. With another one the output cannot be added to a reader. Set it before reading begins; later
  /// it has no effect.
  open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm {
    get { pitchLock.withLock { pitch } }
    set { if reader?.status ?? .unknown == .unknown { pitchLock.withLock { pitch = newValue } } }
  }

  /// Whether reading goes on past what is damaged: pictures that cannot be decoded are left out, for sound there is
  /// silence or, of samples as they are stored, nothing, and all end where the file can be read no further.
  /// `ovtDamage` then tells of it, and the reader does not fail. Off unless set, when samples as they are stored come with
  /// their damage; set it before reading begins.
  open var ovtToleratesDamage: Bool {
    get { damage.isTolerated }
    set { if reader?.status ?? .unknown == .unknown { damage.isTolerated = newValue } }
  }

  /// What of the track was damaged, as far as it has been read. The pictures are read a little ahead.
  open var ovtDamage: OVTReadingDamage { damage.value }
  private let pitchLock = Lock()
  private var pitch = AVAudioTimePitchAlgorithm.spectral

  private static func request(_ track: AVAssetTrack, _ settings: [String: Any]?) throws -> Request {
    guard let settings else { return .stored }
    switch track.mediaType {
    case .video: return .pictures(try PictureRequirements(settings))
    case .audio: return .sound(try SoundRequirements(settings, for: track.facts.stream))
    default:
      throw AVError(
        .unsupportedOutputSettings,
        reason: "A track of type \(track.mediaType.rawValue) is read as it is stored.",
        advice: "Use nil as output settings.")
    }
  }

  override var settingsError: AVError? {
    if case .failure(let error) = request { return error }
    return audioTimePitchAlgorithm.error(.unsupportedOutputSettings)
  }

  override func belongs(to asset: AVAsset) -> Bool { track.file === asset.file }

  override func makeSource(asset: AVAsset, copies: Bool) throws -> any SampleSource {
    if let composed = track as? AVCompositionTrack {
      return try composed.makeSource(
        request.get(), pitch: audioTimePitchAlgorithm, copies: copies, damage: damage)
    }
    let facts = try track.file.facts()
    let demuxer = try Demuxer(again: facts.demuxer)
    switch try request.get() {
    case .stored:
      let stream = track.facts.stream
      return stream.isText && !stream.isTimedText
        ? try TimedTextSource(demuxer, track.facts) : StoredSampleSource(demuxer, track.facts, damage: damage)
    case .pictures(let requirements):
      try requirements.color?.check(against: track.facts.stream)
      return ReadAhead(
        try PictureSource(demuxer, track.facts, requirements, copies: copies, damage: damage),
        depth: Self.readAhead)
    case .sound(let requirements): return try SoundSource(demuxer, track.facts, requirements, damage: damage)
    }
  }
}

/// Samples of one track without their data: where they are in the file.
open class AVAssetReaderSampleReferenceOutput: AVAssetReaderOutput, @unchecked Sendable {
  // Sendable: immutable beside the base class, whose locks guard the rest.
  public let track: AVAssetTrack

  public init(track: AVAssetTrack) {
    self.track = track
    super.init()
  }

  open override var mediaType: AVMediaType { track.mediaType }

  override func belongs(to asset: AVAsset) -> Bool { track.file === asset.file }

  override func makeSource(asset: AVAsset, copies: Bool) throws -> any SampleSource {
    let demuxer = try Demuxer(again: track.file.facts().demuxer)
    return StoredSampleSource(demuxer, track.facts, referencesTo: track.file.url)
  }
}
