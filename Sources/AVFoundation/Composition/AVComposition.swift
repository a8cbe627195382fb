// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// An asset that is assembled from parts of other assets. No media is copied: readers, export
/// sessions and image generators read the files of those assets.
open class AVComposition: AVAsset, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `compositionLock` guards what changes.
  let compositionLock = Lock()
  var storedTracks: [AVMutableCompositionTrack] = []
  var storedNaturalSize: CGSize?
  /// The options with which assets are created for segments that name a file by URL; see
  /// `AVURLAsset.init(url:options:)`.
  public let urlAssetInitializationOptions: [String: Any]

  init(options: [String: Any] = [:]) {
    urlAssetInitializationOptions = options
    super.init(
      file: AssetFile(failure: AVError(.operationNotAllowed, reason: "A composition has no file.")))
  }

  override func loadedTracks() throws -> [AVAssetTrack] { compositionTracks }

  var compositionTracks: [AVMutableCompositionTrack] { compositionLock.withLock { storedTracks } }

  override open func track(withTrackID trackID: CMPersistentTrackID) -> AVCompositionTrack? {
    compositionTracks.first { $0.trackID == trackID }
  }
  override open func statusOfValue(forKey key: String, error outError: NSErrorPointer) -> AVKeyValueStatus {
    .loaded
  }
  override open func loadValuesAsynchronously(
    forKeys keys: [String], completionHandler handler: (@Sendable () -> Void)? = nil
  ) {
    assetLoadingQueue.async { handler?() }
  }

  /// The latest end of any track; zero without tracks.
  override open var duration: CMTime { compositionTracks.map(\.timeRange.end).max() ?? .zero }
  override open var providesPreciseDurationAndTiming: Bool { true }
  override open var hasProtectedContent: Bool {
    compositionTracks.contains { track in
      track.timeline.parts.contains { $0.source?.track.properties.stream.isProtected == true }
    }
  }
  /// The size that was set, or else the natural size of the first video track; zero if there is
  /// none.
  open var naturalSize: CGSize {
    compositionLock.withLock { storedNaturalSize }
      ?? compositionTracks.first { $0.mediaType == .video }?.naturalSize ?? .zero
  }

  // MARK: - Copies

  /// Returns an `AVComposition` with the same tracks, which later changes of this composition do
  /// not affect.
  open func copy(with zone: NSZone? = nil) -> Any {
    copied(to: AVComposition(options: urlAssetInitializationOptions))
  }

  /// Returns an `AVMutableComposition` with the same tracks, which can be changed independently.
  open func mutableCopy(with zone: NSZone? = nil) -> Any {
    copied(to: AVMutableComposition(urlAssetInitializationOptions: urlAssetInitializationOptions))
  }

  private func copied(to composition: AVComposition) -> AVComposition {
    for track in compositionTracks {
      guard
        let copy = composition.makeTrack(track.mediaType, preferredTrackID: track.trackID)
      else { continue }
      track.timelineLock.withLock {
        copy.storedTimeline = track.storedTimeline
        copy.storedTransform = track.storedTransform
        copy.storedVolume = track.storedVolume
        copy.storedLanguageCode = track.storedLanguageCode
        copy.storedLanguageTag = track.storedLanguageTag
        copy.storedTimeScale = track.storedTimeScale
        copy.storedIsEnabled = track.storedIsEnabled
        copy.storedReplacements = track.storedReplacements
      }
    }
    composition.storedNaturalSize = compositionLock.withLock { storedNaturalSize }
    return composition
  }

  /// Adds an empty track.
  /// - Parameters:
  ///   - mediaType: `.video`, `.audio` or `.subtitle`.
  ///   - preferredTrackID: The identifier, or `kCMPersistentTrackID_Invalid` for the largest
  ///     identifier in use plus 1.
  /// - Returns: Nil for other media types, and if the identifier is negative or already in use.
  func makeTrack(
    _ mediaType: AVMediaType, preferredTrackID: CMPersistentTrackID
  ) -> AVMutableCompositionTrack? {
    let kind: MediaStream.Kind
    switch mediaType {
    case .video: kind = .video
    case .audio: kind = .audio
    case .subtitle: kind = .subtitle
    default: return nil
    }
    return compositionLock.withLock {
      let taken = Set(storedTracks.map(\.trackID))
      guard !taken.contains(preferredTrackID) else { return nil }
      let identifier =
        preferredTrackID != kCMPersistentTrackID_Invalid
        ? preferredTrackID : ((taken.max() ?? 0).addingReportingOverflow(1).partialValue)
      guard identifier > 0, let stream = MediaStream(emptyOf: kind, trackID: identifier) else { return nil }
      let track = AVMutableCompositionTrack(composition: self, properties: TrackDescription(stream))
      storedTracks.append(track)
      return track
    }
  }
}

/// A composition whose tracks can be added, removed and edited.
open class AVMutableComposition: AVComposition, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public init() { super.init() }

  /// Creates an empty composition.
  /// - Parameter URLAssetInitializationOptions: The options with which assets are created when
  ///   segments that name a file by URL are put into a track; see `AVURLAsset.init(url:options:)`.
  ///   They do not affect tracks of assets that exist already.
  public init(urlAssetInitializationOptions URLAssetInitializationOptions: [String: Any]? = nil) {
    super.init(options: URLAssetInitializationOptions ?? [:])
  }

  override open var naturalSize: CGSize {
    get { super.naturalSize }
    set { compositionLock.withLock { storedNaturalSize = newValue } }
  }

  /// Adds an empty track.
  /// - Parameters:
  ///   - mediaType: `.video`, `.audio` or `.subtitle`.
  ///   - preferredTrackID: The identifier, or `kCMPersistentTrackID_Invalid` to have it chosen.
  /// - Returns: Nil for other media types, and if the identifier is already in use.
  open func addMutableTrack(
    withMediaType mediaType: AVMediaType, preferredTrackID: CMPersistentTrackID
  ) -> AVMutableCompositionTrack? {
    makeTrack(mediaType, preferredTrackID: preferredTrackID)
  }

  open func removeTrack(_ track: AVCompositionTrack) {
    compositionLock.withLock { storedTracks.removeAll { $0 === track } }
  }

  override open func track(withTrackID trackID: CMPersistentTrackID) -> AVMutableCompositionTrack? {
    compositionTracks.first { $0.trackID == trackID }
  }
  @discardableResult
  open func tracks(withMediaType mediaType: AVMediaType) -> [AVMutableCompositionTrack] {
    compositionTracks.filter { $0.mediaType == mediaType }
  }

  /// Returns the first track that has the same media type as `track`, so that parts of `track` can
  /// be inserted into it; nil if there is none.
  open func mutableTrack(compatibleWith track: AVAssetTrack) -> AVMutableCompositionTrack? {
    compositionTracks.first { $0.mediaType == track.mediaType }
  }

  /// Inserts a time range of all video, audio and subtitle tracks of an asset. Each goes into a
  /// track of the same media type, which is added if the composition has none left.
  ///
  /// Media at and after `startTime` moves later in all tracks, by the duration of the range, so
  /// that the tracks remain synchronized.
  /// - Parameters:
  ///   - timeRange: The range on the asset's timeline.
  ///   - asset: The asset, which may be a composition.
  ///   - startTime: The time in the composition at which the range begins. If it is invalid, the
  ///     range is appended.
  /// - Throws: `AVError` if the asset cannot be read, a time is invalid, or no track of the asset
  ///   has media in the range.
  open func insertTimeRange(_ timeRange: CMTimeRange, of asset: AVAsset, at startTime: CMTime) throws {
    let start = startTime.isValid ? startTime : duration
    let sources = try asset.loadedTracks().filter { [.video, .audio, .subtitle].contains($0.mediaType) }
    let sourcesInRange = sources.filter { timeRange.intersection($0.timeRange).duration > .zero }
    guard timeRange.isPlayable, start.isPlayable, start >= .zero, !sourcesInRange.isEmpty else {
      throw AVError(
        .invalidCompositionTrackSegmentSourceStartTime,
        reason: "The time range holds nothing of the asset.")
    }
    let span = timeRange.intersection(CMTimeRange(start: .zero, end: asset.duration)).duration
    var unusedTracks = compositionTracks
    let existingTracks = unusedTracks
    var pairs: [(source: AVAssetTrack, target: AVMutableCompositionTrack)] = []
    for source in sourcesInRange {
      if let index = unusedTracks.firstIndex(where: { $0.mediaType == source.mediaType }) {
        pairs.append((source, unusedTracks.remove(at: index)))
      } else if let track = addMutableTrack(
        withMediaType: source.mediaType, preferredTrackID: kCMPersistentTrackID_Invalid)
      {
        track.preferredTransform = source.preferredTransform
        pairs.append((source, track))
      }
    }
    // How much of the gap before `start` is missing media: time to which another track extends by
    // its declared duration alone.
    let declaredEnd = min(start, duration)
    let missingDurations = pairs.map { _, target -> CMTime in
      let end = target.timeRange.end
      return end < declaredEnd
        ? MediaPresence.missing(in: CMTimeRange(start: end, end: declaredEnd), of: existingTracks) : .zero
    }
    // All tracks are moved, so that they remain synchronized.
    for track in existingTracks { track.insertEmptyTimeRange(CMTimeRange(start: start, duration: span)) }
    for ((source, target), missing) in zip(pairs, missingDurations) {
      target.removeTimeRange(CMTimeRange(start: start, duration: span))
      let hasLaterMedia = target.timeRange.end > start
      try target.insertTimeRange(timeRange, of: source, at: start, missing: missing)
      let inserted = timeRange.intersection(source.timeRange).end - timeRange.start
      if hasLaterMedia, inserted < span {
        let range = CMTimeRange(start: start + inserted, duration: span - inserted)
        let gap = CMTimeRange(start: timeRange.start + inserted, duration: range.duration)
        target.insertEmptyTimeRange(range, missing: MediaPresence.missing(in: gap, of: sources))
      }
    }
  }

  /// Inserts a gap into all tracks; media at and after its start moves later.
  open func insertEmptyTimeRange(_ timeRange: CMTimeRange) {
    for track in compositionTracks { track.insertEmptyTimeRange(timeRange) }
  }

  /// Removes a time range from all tracks; media after it moves earlier.
  open func removeTimeRange(_ timeRange: CMTimeRange) {
    for track in compositionTracks { track.removeTimeRange(timeRange) }
  }

  /// Changes the duration of a time range of all tracks, and with it the speed of its media.
  open func scaleTimeRange(_ timeRange: CMTimeRange, toDuration duration: CMTime) {
    for track in compositionTracks { track.scaleTimeRange(timeRange, toDuration: duration) }
  }
}
