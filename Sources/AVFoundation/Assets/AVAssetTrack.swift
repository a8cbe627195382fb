// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A track of an asset.
open class AVAssetTrack: NSObject, AVAsynchronousKeyValueLoading, @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  /// The relation of a track to another track.
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

  /// The description of the track in the file. For a track of a composition it is that of the first
  /// part.
  var properties: TrackDescription { ownProperties }
  private let ownProperties: TrackDescription
  let file: AssetFile
  private let lock = Lock()
  private weak var owner: AVAsset?
  /// The sample index for cursors. The inner optional is nil if no index can be made.
  private var knownIndex: SampleIndex??

  init(asset: AVAsset, properties: TrackDescription) {
    owner = asset
    ownProperties = properties
    file = asset.file
    super.init()
  }

  /// The asset; nil after it has been released.
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

  /// The identifier of the track in the file.
  open var trackID: CMPersistentTrackID { properties.stream.trackID }
  open var mediaType: AVMediaType { properties.mediaType }
  /// The format descriptions, as `CMFormatDescription` objects: at most one, made from
  /// libavformat's description.
  open var formatDescriptions: [Any] { properties.format.map { [$0] } ?? [] }
  open var isPlayable: Bool { isDecodable }
  /// Whether the track can be decoded: a decoder is available and the track is not encrypted.
  open var isDecodable: Bool { properties.stream.codec.hasDecoder && !properties.stream.isProtected }
  open var isEnabled: Bool { properties.stream.isDefault }
  /// Always true: no sample is in another file.
  open var isSelfContained: Bool { true }
  /// The total size of all samples in bytes. If the container does not state it, the whole file is
  /// read.
  open var totalSampleDataLength: Int64 {
    guard let file = file.propertiesIfReadable, let totals = try? properties.totals(in: file) else {
      return 0
    }
    return totals.bytes
  }
  func loadedDataLength() throws -> Int64 { try properties.totals(in: file.properties()).bytes }
  /// The time range of the track on the asset's timeline.
  open var timeRange: CMTimeRange { properties.timeRange }
  /// The time scale of the track, in units per second.
  open var naturalTimeScale: CMTimeScale { properties.stream.timeBase.den }
  /// The data rate in bits per second.
  open var estimatedDataRate: Float {
    guard let file = file.propertiesIfReadable else { return 0 }
    return properties.dataRate(in: file)
  }
  /// The language as an ISO 639-2/T code; nil if the file does not state it.
  open var languageCode: String? { properties.stream.language }
  /// The language as a BCP 47 tag, according to a local movie file; nil if it does not state it.
  open var extendedLanguageTag: String? { file.header?.tracks[trackID]?.languageTag }
  /// The size of the picture in square pixels, before `preferredTransform`.
  open var naturalSize: CGSize { properties.naturalSize }
  /// The transform of the picture for display.
  open var preferredTransform: CGAffineTransform { properties.transform }
  /// The preferred volume, from 0.0 to 1.0, according to a local movie file; 1.0 for others.
  open var preferredVolume: Float {
    mediaType == .audio ? file.header?.tracks[trackID]?.volume ?? 1 : 1
  }
  /// The average frame rate in frames per second; 0 for other media than video.
  open var nominalFrameRate: Float { properties.frameRate }
  /// The duration of the shortest frame; invalid for other media than video.
  open var minFrameDuration: CMTime { properties.minFrameDuration }
  /// Whether the decode order differs from the presentation order.
  open var requiresFrameReordering: Bool {
    properties.stream.kind == .video && properties.stream.reorderDepth > 0
  }
  /// Whether audio samples depend on other samples: always false, since this holds for the codecs
  /// of movies that libavcodec decodes.
  open var hasAudioSampleDependencies: Bool { false }

  @discardableResult
  open func hasMediaCharacteristic(_ mediaCharacteristic: AVMediaCharacteristic) -> Bool {
    let codec = properties.stream.codec
    switch mediaCharacteristic {
    case .visual: return [.video, .subtitle, .text, .closedCaption].contains(mediaType)
    case .audible: return mediaType == .audio
    case .legible: return [.subtitle, .text, .closedCaption].contains(mediaType)
    case .frameBased: return mediaType == .video
    case .containsHDRVideo: return mediaType == .video && codec.isHDR
    case .usesWideGamutColorSpace: return mediaType == .video && codec.isWideGamut
    case .containsAlphaChannel: return mediaType == .video && codec.hasAlpha
    case .containsStereoMultiviewVideo: return properties.format?.tagCollections?.count ?? 0 > 1
    case .carriesVideoStereoMetadata:
      return properties.describes([
        kCMFormatDescriptionExtension_StereoCameraBaseline,
        kCMFormatDescriptionExtension_HorizontalDisparityAdjustment,
      ])
    case .indicatesHorizontalFieldOfView:
      return properties.describes([kCMFormatDescriptionExtension_HorizontalFieldOfView])
    case .indicatesNonRectilinearProjection: return properties.isProjected
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

  /// The mapping of the track's media to the asset's timeline: a gap if the track begins late, and
  /// the media.
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

  /// Returns the segment at a time; nil outside the track.
  @discardableResult
  open func segment(forTrackTime trackTime: CMTime) -> AVAssetTrackSegment? {
    segments.first { $0.timeMapping.target.containsTime(trackTime) }
  }

  open func loadSegment(forTrackTime trackTime: CMTime) async throws -> AVAssetTrackSegment? {
    segment(forTrackTime: trackTime)
  }

  /// Returns the presentation time of the sample that is presented at `trackTime`; invalid outside
  /// the track.
  @discardableResult
  open func samplePresentationTime(forTrackTime trackTime: CMTime) -> CMTime {
    guard trackTime.isNumeric, timeRange.containsTime(trackTime), let times = SampleTimes(self) else {
      return .invalid
    }
    let stream = properties.stream
    let wanted = stream.units(trackTime)
    guard times.seek(to: wanted) else { return .invalid }
    var best: Int64?
    // Decode times are not later than presentation times: after a decode time beyond the wanted
    // time, no sample is presented earlier.
    while let sample = times.next() {
      if let presentationTime = sample.presentationTime, presentationTime <= wanted {
        best = max(best ?? presentationTime, presentationTime)
      }
      if sample.decodeTime > wanted { break }
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

  /// Discards the sample index after the file has changed, so that new cursors read it again.
  func forgetSamples() { lock.withLock { knownIndex = nil } }

  /// The sample index; nil for a track of a composition, or if the file cannot be read.
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

  /// The types of associations with other tracks, according to a local movie file.
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

/// A segment of a track: media, or a gap.
open class AVAssetTrackSegment: NSObject, @unchecked Sendable {
  // Sendable: immutable; subclasses answer for themselves.
  /// The source is the time range in the media, and the target the time range in the track.
  public let timeMapping: CMTimeMapping
  /// Whether nothing is presented in this segment.
  open var isEmpty: Bool { !timeMapping.source.isValid }

  init(timeMapping: CMTimeMapping) {
    self.timeMapping = timeMapping
    super.init()
  }
}
