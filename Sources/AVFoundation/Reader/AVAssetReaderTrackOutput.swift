// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Gives the samples of one track.
open class AVAssetReaderTrackOutput: AVAssetReaderOutput, @unchecked Sendable {
  // Sendable: `pitchLock` guards what changes.
  public let track: AVAssetTrack
  public let outputSettings: [String: Any]?
  private let request: Result<Request, AVError>

  /// The number of pictures that are decoded ahead.
  static let readAhead = 3

  enum Request: Sendable {
    case stored
    case pictures(PictureRequirements)
    case audio(AudioRequirements)
  }

  /// Creates an output.
  ///
  /// For video, the settings are Core Video's pixel buffer attributes: the pixel format (a number
  /// or a list of numbers; the decoder's own without it), the width and the height. In addition to
  /// those of Apple's reader, they can contain `kVTDecompressionPropertyKey_ThreadCount`, since a
  /// decoder with fewer threads holds fewer pictures, and `kVTDecompressionPropertyKey_FieldMode`
  /// with `kVTDecompressionPropertyKey_DeinterlaceMode`. For audio, the settings are
  /// `AVFormatIDKey` and the keys of linear PCM.
  ///
  /// - Parameters:
  ///   - track: The track to read.
  ///   - outputSettings: The format to decode to, or nil for samples as they are stored. With
  ///     unsupported settings the output cannot be added to a reader.
  public init(track: AVAssetTrack, outputSettings: [String: Any]?) {
    self.track = track
    self.outputSettings = outputSettings
    request = Result { try Self.request(track, outputSettings) }.mapError { AVError.reading($0) }
    super.init()
  }

  open override var mediaType: AVMediaType { track.mediaType }

  /// The algorithm for audio that is played at another rate than 1.0, in a composition with scaled
  /// parts. `spectral`, the default, and `timeDomain` keep the pitch, and `varispeed` lets it
  /// change with the rate; without scaled parts all three give the same samples. With an unknown
  /// algorithm the output cannot be added to a reader. Setting it has an effect only before the
  /// reading begins.
  open var audioTimePitchAlgorithm: AVAudioTimePitchAlgorithm {
    get { pitchLock.withLock { pitch } }
    set { if reader?.status ?? .unknown == .unknown { pitchLock.withLock { pitch = newValue } } }
  }

  /// Whether the reading continues past damage. Pictures that cannot be decoded are left out.
  /// Damaged audio is replaced by silence or, if samples are read as they are stored, left out. All
  /// tracks end where the file cannot be read any further. `ovtDamage` then reports the damage, and
  /// the reader does not fail. If false, which is the default, samples that are read as they are
  /// stored include damaged ones. Setting it has an effect only before the reading begins.
  open var ovtToleratesDamage: Bool {
    get { damage.isTolerated }
    set { if reader?.status ?? .unknown == .unknown { damage.isTolerated = newValue } }
  }

  /// The damage in the part of the track that has been read so far, which includes pictures that
  /// are decoded ahead.
  open var ovtDamage: OVTReadingDamage { damage.value }
  private let pitchLock = Lock()
  private var pitch = AVAudioTimePitchAlgorithm.spectral

  private static func request(_ track: AVAssetTrack, _ settings: [String: Any]?) throws -> Request {
    guard let settings else { return .stored }
    switch track.mediaType {
    case .video: return .pictures(try PictureRequirements(settings))
    case .audio: return .audio(try AudioRequirements(settings, for: track.properties.stream))
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
    let properties = try track.file.properties()
    let demuxer = try Demuxer(again: properties.demuxer)
    switch try request.get() {
    case .stored: return try track.makeStoredSource(demuxer, track.properties, damage: damage)
    case .pictures(let requirements):
      try requirements.color?.check(against: track.properties.stream)
      return ReadAhead(
        try PictureSource(demuxer, track.properties, requirements, copies: copies, damage: damage),
        depth: Self.readAhead)
    case .audio(let requirements):
      return try AudioSource(demuxer, track.properties, requirements, damage: damage)
    }
  }
}

extension AVAssetTrack {
  /// Creates the source of the track's samples as they are stored, or of subtitles as 3GPP timed
  /// text whatever their codec.
  func makeStoredSource(
    _ demuxer: Demuxer, _ properties: TrackDescription, damage: DamageLog
  ) throws -> any SampleSource {
    properties.stream.isText && !properties.stream.isTimedText
      ? try TimedTextSource(demuxer, properties)
      : StoredSampleSource(demuxer, properties, damage: damage)
  }
}

/// Gives references to the samples of one track: their formats, times and positions in the file,
/// without their data.
open class AVAssetReaderSampleReferenceOutput: AVAssetReaderOutput, @unchecked Sendable {
  // Sendable: immutable, except for the base class, whose locks guard the rest.
  public let track: AVAssetTrack

  public init(track: AVAssetTrack) {
    self.track = track
    super.init()
  }

  open override var mediaType: AVMediaType { track.mediaType }

  override func belongs(to asset: AVAsset) -> Bool { track.file === asset.file }

  override func makeSource(asset: AVAsset, copies: Bool) throws -> any SampleSource {
    let demuxer = try Demuxer(again: track.file.properties().demuxer)
    return StoredSampleSource(demuxer, track.properties, referencesTo: track.file.url)
  }
}
