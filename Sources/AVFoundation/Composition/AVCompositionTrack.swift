// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// A track of a composition: parts of other tracks, in order and without overlap.
open class AVCompositionTrack: AVAssetTrack, @unchecked Sendable {
  // Sendable: `timelineLock` guards what changes.
  let timelineLock = Lock()
  var storedTimeline = CompositionTimeline()
  var storedTransform: CGAffineTransform?
  var storedVolume: Float = 1
  var storedLanguageCode: String?
  var storedLanguageTag: String?
  var storedTimeScale: CMTimeScale?
  var storedIsEnabled = true
  var storedReplacements = FormatReplacements()
  private let emptyProperties: TrackDescription

  init(composition: AVComposition, properties: TrackDescription) {
    emptyProperties = properties
    super.init(asset: composition, properties: properties)
  }

  /// A copy of the current edits. One thread may edit the composition while another reads the copy.
  var timeline: CompositionTimeline { timelineLock.withLock { storedTimeline } }

  private var firstSource: AVAssetTrack? {
    timeline.parts.lazy.compactMap { $0.source?.track }.first
  }

  override var properties: TrackDescription { firstSource?.properties ?? emptyProperties }

  override open var trackID: CMPersistentTrackID { emptyProperties.stream.trackID }
  override open var mediaType: AVMediaType { emptyProperties.mediaType }
  override open var formatDescriptions: [Any] {
    let replacements = timelineLock.withLock { storedReplacements }
    return timeline.parts.compactMap { $0.source?.track.properties.format }.map { replacements.apply(to: $0) }
      .reduce(into: [CMFormatDescription]()) { list, format in
        if !list.contains(where: { $0 == format }) { list.append(format) }
      }
  }
  override open var isDecodable: Bool {
    let sources = timeline.parts.compactMap { $0.source?.track }
    return !sources.isEmpty && sources.allSatisfy(\.isDecodable)
  }
  override open var isEnabled: Bool { timelineLock.withLock { storedIsEnabled } }
  /// Always false: the samples are in other files.
  override open var isSelfContained: Bool { false }
  override open var totalSampleDataLength: Int64 {
    Int64(clamping: Double(estimatedDataRate) / 8 * timeRange.duration.seconds)
  }
  override func loadedDataLength() throws -> Int64 { totalSampleDataLength }
  override open var timeRange: CMTimeRange { CMTimeRange(start: .zero, duration: timeline.duration) }
  override open var naturalTimeScale: CMTimeScale {
    timelineLock.withLock { storedTimeScale } ?? firstSource?.naturalTimeScale ?? 600
  }
  override open var estimatedDataRate: Float { firstSource?.estimatedDataRate ?? 0 }
  override open var languageCode: String? { timelineLock.withLock { storedLanguageCode } }
  override open var extendedLanguageTag: String? { timelineLock.withLock { storedLanguageTag } }
  override open var naturalSize: CGSize { firstSource?.naturalSize ?? .zero }
  /// The transform that was set; identity by default, whatever the sources' transforms are.
  override open var preferredTransform: CGAffineTransform {
    timelineLock.withLock { storedTransform } ?? .identity
  }
  override open var preferredVolume: Float { timelineLock.withLock { storedVolume } }
  override open var nominalFrameRate: Float { firstSource?.nominalFrameRate ?? 0 }
  override open var minFrameDuration: CMTime { firstSource?.minFrameDuration ?? .invalid }
  override open var requiresFrameReordering: Bool { firstSource?.requiresFrameReordering ?? false }

  override open func samplePresentationTime(forTrackTime trackTime: CMTime) -> CMTime {
    for (part, target) in timeline.timedParts where target.containsTime(trackTime) {
      guard let source = part.source else { return .invalid }
      let time = source.track.samplePresentationTime(
        forTrackTime: CMTimeMapTimeFromRangeToRange(trackTime, fromRange: target, toRange: part.range))
      guard time.isNumeric else { return .invalid }
      return max(target.start, CMTimeMapTimeFromRangeToRange(time, fromRange: part.range, toRange: target))
    }
    return .invalid
  }

  /// The edits of the track, as `AVCompositionTrackSegment` objects.
  override open var segments: [AVAssetTrackSegment] { compositionSegments }

  var compositionSegments: [AVCompositionTrackSegment] {
    timeline.timedParts.map { part, target in AVCompositionTrackSegment(part, target) }
  }

  override open func segment(forTrackTime trackTime: CMTime) -> AVCompositionTrackSegment? {
    compositionSegments.first { $0.timeMapping.target.containsTime(trackTime) }
  }
}

/// A part of a track of a composition: a time range of a source track, or a gap.
open class AVCompositionTrackSegment: AVAssetTrackSegment, @unchecked Sendable {
  // Sendable: immutable.
  /// The file that the media is taken from; nil for an empty segment.
  public let sourceURL: URL?
  /// The track's identifier in the source file; `kCMPersistentTrackID_Invalid` for an empty
  /// segment.
  public let sourceTrackID: CMPersistentTrackID
  let source: CompositionSource?
  /// Whether the segment was created with a URL, rather than from a part of a composition's track.
  let isNamed: Bool

  /// Creates a segment that presents a time range of a file's track in a time range of the
  /// composition's track.
  public init(
    url URL: URL, trackID: CMPersistentTrackID, sourceTimeRange: CMTimeRange, targetTimeRange: CMTimeRange
  ) {
    sourceURL = URL
    sourceTrackID = trackID
    source = AVURLAsset(url: URL).track(withTrackID: trackID).map { CompositionSource($0) }
    isNamed = true
    super.init(timeMapping: CMTimeMapping(source: sourceTimeRange, target: targetTimeRange))
  }

  /// Creates an empty segment, during which the track presents nothing.
  public init(timeRange: CMTimeRange) {
    sourceURL = nil
    sourceTrackID = kCMPersistentTrackID_Invalid
    source = nil
    isNamed = false
    super.init(timeMapping: CMTimeMapping(source: .invalid, target: timeRange))
  }

  /// Returns the source track. If the segment names a file and there are options, the track belongs
  /// to a new asset that is created with those options.
  func source(with options: [String: Any]) -> CompositionSource? {
    guard isNamed, !options.isEmpty, let sourceURL else { return source }
    return AVURLAsset(url: sourceURL, options: options).track(withTrackID: sourceTrackID)
      .map { CompositionSource($0) }
  }

  init(_ part: CompositionTimeline.Part, _ target: CMTimeRange) {
    source = part.source
    isNamed = false
    sourceURL = part.source?.url
    sourceTrackID = part.source?.track.trackID ?? kCMPersistentTrackID_Invalid
    super.init(
      timeMapping: CMTimeMapping(source: part.source == nil ? .invalid : part.range, target: target))
  }
}
