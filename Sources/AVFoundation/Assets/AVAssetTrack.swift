// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A track of an asset.
open class AVAssetTrack: NSObject, AVAsynchronousKeyValueLoading, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// What a track is to another one.
  public struct AssociationType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let audioFallback = AssociationType(rawValue: "fall")
    public static let chapterList = AssociationType(rawValue: "chap")
    public static let forcedSubtitlesOnly = AssociationType(rawValue: "forc")
    public static let selectionFollower = AssociationType(rawValue: "folw")
    public static let timecode = AssociationType(rawValue: "tmcd")
    public static let metadataReferent = AssociationType(rawValue: "cdsc")
  }

  /// What the file tells of the track; a composition's track gives those of its first part.
  var facts: TrackFacts { ownFacts }
  private let ownFacts: TrackFacts
  let file: AssetFile
  private let lock = Lock()
  private weak var owner: AVAsset?
  /// Of the samples, for cursors; the inner nil: there can be none.
  private var knownIndex: SampleIndex??

  init(asset: AVAsset, facts: TrackFacts) {
    owner = asset
    ownFacts = facts
    file = asset.file
    super.init()
  }

  /// The asset, while somebody holds it.
  open var asset: AVAsset? { lock.withLock { owner } }

  // MARK: Loading (a track exists only when its file has been read)

  @discardableResult
  open func statusOfValue(forKey key: String, error outError: NSErrorPointer) -> AVKeyValueStatus {
    .loaded
  }

  @preconcurrency open func loadValuesAsynchronously(
    forKeys keys: [String], completionHandler handler: (@Sendable () -> Void)? = nil
  ) {
    assetLoadingQueue.async { handler?() }
  }

  // MARK: Facts

  /// The number by which the file knows the track.
  open var trackID: CMPersistentTrackID { facts.stream.trackID }
  open var mediaType: AVMediaType { facts.mediaType }
  /// `CMFormatDescription`s: one, as libavformat tells it.
  open var formatDescriptions: [Any] { facts.format.map { [$0] } ?? [] }
  open var isPlayable: Bool { isDecodable }
  /// Whether a decoder is at hand.
  open var isDecodable: Bool { facts.stream.codec.hasDecoder && !facts.stream.isProtected }
  open var isEnabled: Bool { facts.stream.isDefault }
  /// No sample lies in another file.
  open var isSelfContained: Bool { true }
  /// The sum of all samples' sizes in bytes. Where the container does not tell, the file is read through.
  open var totalSampleDataLength: Int64 {
    guard let file = file.factsIfReadable, let totals = try? facts.totals(in: file) else { return 0 }
    return totals.bytes
  }
  func loadedDataLength() throws -> Int64 { try facts.totals(in: file.facts()).bytes }
  /// Where the track lies on the asset's time line.
  open var timeRange: CMTimeRange { facts.timeRange }
  /// Units per second of the track's times.
  open var naturalTimeScale: CMTimeScale { facts.stream.timeBase.den }
  /// Bits per second.
  open var estimatedDataRate: Float {
    guard let file = file.factsIfReadable else { return 0 }
    return facts.dataRate(in: file)
  }
  /// ISO 639-2/T; nil if the file does not say.
  open var languageCode: String? { facts.stream.language }
  /// BCP 47, as a local movie file says; nil if it does not.
  open var extendedLanguageTag: String? { file.header?.tracks[trackID]?.languageTag }
  /// The picture's size in square pixels, before `preferredTransform`.
  open var naturalSize: CGSize { facts.naturalSize }
  /// How to turn the picture for display.
  open var preferredTransform: CGAffineTransform { facts.transform }
  /// 0.0 to 1.0, as a local movie file says.
  open var preferredVolume: Float {
    mediaType == .audio ? file.header?.tracks[trackID]?.volume ?? 1 : 1
  }
  /// Frames per second on average; 0 for sound.
  open var nominalFrameRate: Float { facts.frameRate }
  /// The shortest frame's duration; invalid for sound.
  open var minFrameDuration: CMTime { facts.minFrameDuration }
  /// Whether decode order differs from presentation order.
  open var requiresFrameReordering: Bool { facts.stream.kind == .video && facts.stream.reorderDepth > 0 }
  /// Whether audio samples need others to be decoded. None of the codecs that libavcodec reads from movies do.
  open var hasAudioSampleDependencies: Bool { false }

  @discardableResult
  open func hasMediaCharacteristic(_ mediaCharacteristic: AVMediaCharacteristic) -> Bool {
    let codec = facts.stream.codec
    switch mediaCharacteristic {
    case .visual: return [.video, .subtitle, .text, .closedCaption].contains(mediaType)
    case .audible: return mediaType == .audio
    case .legible: return [.subtitle, .text, .closedCaption].contains(mediaType)
    case .frameBased: return mediaType == .video
    case .containsHDRVideo: return mediaType == .video && codec.isHDR
    case .usesWideGamutColorSpace: return mediaType == .video && codec.isWideGamut
    case .containsAlphaChannel: return mediaType == .video && codec.hasAlpha
    case .containsStereoMultiviewVideo: return facts.format?.tagCollections?.count ?? 0 > 1
    case .carriesVideoStereoMetadata:
      return facts.describes([
        kCMFormatDescriptionExtension_StereoCameraBaseline,
        kCMFormatDescriptionExtension_HorizontalDisparityAdjustment,
      ])
    case .indicatesHorizontalFieldOfView:
      return facts.describes([kCMFormatDescriptionExtension_HorizontalFieldOfView])
    case .indicatesNonRectilinearProjection: return facts.isProjected
    case .isMainProgramContent: return isEnabled && (mediaType == .video || mediaType == .audio)
    default: return false
    }
  }

  static let knownCharacteristics: [AVMediaCharacteristic] = [
    .visual, .audible, .legible, .frameBased, .containsHDRVideo, .usesWideGamutColorSpace,
    .containsAlphaChannel, .isMainProgramContent, .containsStereoMultiviewVideo, .carriesVideoStereoMetadata,
    .indicatesHorizontalFieldOfView, .indicatesNonRectilinearProjection,
  ]

  // MARK: Segments

  /// How the track's media maps to the asset's time line: a gap before it, if it starts late, and the media.
  open var segments: [AVAssetTrackSegment] {
    var segments: [AVAssetTrackSegment] = []
    let range = timeRange
    if range.start > .zero {
      let gap = CMTimeRange(start: .zero, duration: range.start)
      segments.append(AVAssetTrackSegment(timeMapping: CMTimeMapping(source: .invalid, target: gap)))
    }
    let source = CMTimeRange(start: .zero, duration: range.duration)
    segments.append(AVAssetTrackSegment(timeMapping: CMTimeMapping(source: source, target: range)))
    return segments
  }

  /// The segment at a time; nil outside the track.
  @discardableResult
  open func segment(forTrackTime trackTime: CMTime) -> AVAssetTrackSegment? {
    segments.first { $0.timeMapping.target.containsTime(trackTime) }
  }

  open func loadSegment(forTrackTime trackTime: CMTime) async throws -> AVAssetTrackSegment? {
    segment(forTrackTime: trackTime)
  }

  /// The presentation time of the sample that is shown at a time; invalid outside the track.
  @discardableResult
  open func samplePresentationTime(forTrackTime trackTime: CMTime) -> CMTime {
    guard trackTime.isNumeric, timeRange.containsTime(trackTime), let times = SampleTimes(self) else {
      return .invalid
    }
    let stream = facts.stream
    let wanted = stream.units(trackTime)
    guard times.seek(to: wanted) else { return .invalid }
    var best: Int64?
    // Decode times never pass presentation times: beyond the wanted one nothing earlier can follow.
    while let sample = times.next() {
      if let shown = sample.shown, shown <= wanted { best = max(best ?? shown, shown) }
      if sample.decoded > wanted { break }
    }
    return best.map { stream.time($0) } ?? .invalid
  }

  open func loadSamplePresentationTime(forTrackTime trackTime: CMTime) async throws -> CMTime {
    await withCheckedContinuation { continuation in
      assetLoadingQueue.async {
        continuation.resume(returning: self.samplePresentationTime(forTrackTime: trackTime))
      }
    }
  }

  /// The file has changed: cursors that are made from now on look at it anew.
  func forgetSamples() { lock.withLock { knownIndex = nil } }

  /// The samples by their numbers; nil for a track that is none of a file's, or whose file cannot be read.
  var sampleIndex: SampleIndex? {
    if self is AVCompositionTrack { return nil }
    return lock.withLock {
      if let knownIndex { return knownIndex }
      let made = SampleIndex(self)
      knownIndex = .some(made)
      return made
    }
  }

  // MARK: Associations

  /// The kinds of associations with other tracks, as a local movie file says.
  open var availableTrackAssociationTypes: [String] {
    (file.header?.tracks[trackID]?.references.keys).map { $0.sorted() } ?? []
  }
  @discardableResult
  open func associatedTracks(ofType trackAssociationType: AssociationType) -> [AVAssetTrack] {
    let numbers = file.header?.tracks[trackID]?.references[trackAssociationType.rawValue] ?? []
    return numbers.compactMap { asset?.track(withTrackID: $0) }
  }
  open func loadAssociatedTracks(
    ofType trackAssociationType: AssociationType
  ) async throws -> [AVAssetTrack] { associatedTracks(ofType: trackAssociationType) }
}

/// A part of a track: media, or a gap.
open class AVAssetTrackSegment: NSObject, @unchecked Sendable {
  // Sendable: immutable; subclasses answer for themselves.
  /// Source: the media's own time line. Target: the track's.
  public let timeMapping: CMTimeMapping
  /// Nothing is presented in this part.
  open var isEmpty: Bool { !timeMapping.source.isValid }

  init(timeMapping: CMTimeMapping) {
    self.timeMapping = timeMapping
    super.init()
  }
}
