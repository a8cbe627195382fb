// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// An asset made of parts of other assets. Nothing is copied: a reader, an exporter or an image generator reads the
/// others' files.
open class AVComposition: AVAsset, NSCopying, NSMutableCopying, @unchecked Sendable {
  // Sendable: `compositionLock` guards what changes.
  let compositionLock = Lock()
  var storedTracks: [AVMutableCompositionTrack] = []
  var storedNaturalSize: CGSize?
  /// With what the assets of segments that name files are made, as `AVURLAsset.init(url:options:)` takes it.
  public let urlAssetInitializationOptions: [String: Any]

  init(options: [String: Any] = [:]) {
    urlAssetInitializationOptions = options
    super.init(
      file: AssetFile(failure: AVError(.operationNotAllowed, reason: "A composition is no file.")))
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

  /// The end of the longest track.
  override open var duration: CMTime { compositionTracks.map(\.timeRange.end).max() ?? .zero }
  override open var providesPreciseDurationAndTiming: Bool { true }
  override open var hasProtectedContent: Bool {
    compositionTracks.contains { track in
      track.timeline.parts.contains { $0.source?.track.facts.stream.isProtected == true }
    }
  }
  /// The size of the first video track, unless one is set.
  open var naturalSize: CGSize {
    compositionLock.withLock { storedNaturalSize }
      ?? compositionTracks.first { $0.mediaType == .video }?.naturalSize ?? .zero
  }

  // MARK: - Copies

  /// A composition that does not change with this one.
  open func copy(with zone: NSZone? = nil) -> Any {
    copied(to: AVComposition(options: urlAssetInitializationOptions))
  }

  /// A composition that can be changed on its own.
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

  /// Adds an empty track; nil for media that compositions do not have, or an identifier that is taken.
  func makeTrack(
    _ mediaType: AVMediaType, preferredTrackID: CMPersistentTrackID
  ) -> AVMutableCompositionTrack? {
    let kind: MediaStream.Kind
    switch mediaType {
    case .video: kind = .video
    case .audio: kind = .audio
    default: return nil
    }
    return compositionLock.withLock {
      let taken = Set(storedTracks.map(\.trackID))
      guard !taken.contains(preferredTrackID) else { return nil }
      let identifier =
        preferredTrackID != kCMPersistentTrackID_Invalid
        ? preferredTrackID : ((taken.max() ?? 0).addingReportingOverflow(1).partialValue)
      guard identifier > 0, let stream = MediaStream(emptyOf: kind, trackID: identifier) else { return nil }
      let track = AVMutableCompositionTrack(composition: self, facts: TrackFacts(stream))
      storedTracks.append(track)
      return track
    }
  }
}

/// An asset that a program makes of parts of other assets.
open class AVMutableComposition: AVComposition, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  public init() { super.init() }

  /// A composition.
  /// - Parameter URLAssetInitializationOptions: With what the files are opened that segments name by URL when they are put into
  ///   a track; see `AVURLAsset.init(url:options:)`. Tracks of assets that are there are read as those assets are.
  public init(urlAssetInitializationOptions URLAssetInitializationOptions: [String: Any]? = nil) {
    super.init(options: URLAssetInitializationOptions ?? [:])
  }

  override open var naturalSize: CGSize {
    get { super.naturalSize }
    set { compositionLock.withLock { storedNaturalSize = newValue } }
  }

  /// Adds an empty track.
  /// - Returns: Nil if there is a track with this identifier already, or for other media than video and sound.
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

  /// A track that another one can be put into: of the same media.
  open func mutableTrack(compatibleWith track: AVAssetTrack) -> AVMutableCompositionTrack? {
    compositionTracks.first { $0.mediaType == track.mediaType }
  }

  /// Puts a part of all tracks of an asset in, adding tracks where there are none of their kind.
  ///
  /// Of the parameters:
  ///
  /// - `startTime`: What follows, in all tracks, comes later. Invalid: at the end.
  /// - Throws: `AVError` if the asset cannot be read or the range holds nothing of it.
  open func insertTimeRange(_ timeRange: CMTimeRange, of asset: AVAsset, at startTime: CMTime) throws {
    let start = startTime.isValid ? startTime : duration
    let sources = try asset.loadedTracks().filter { [.video, .audio].contains($0.mediaType) }
    let holding = sources.filter { timeRange.intersection($0.timeRange).duration > .zero }
    guard timeRange.isPlayable, start.isPlayable, start >= .zero, !holding.isEmpty else {
      throw AVError(
        .invalidCompositionTrackSegmentSourceStartTime,
        reason: "The time range holds nothing of the asset.")
    }
    let span = timeRange.intersection(CMTimeRange(start: .zero, end: asset.duration)).duration
    var free = compositionTracks
    let old = free
    var pairs: [(source: AVAssetTrack, target: AVMutableCompositionTrack)] = []
    for source in holding {
      if let index = free.firstIndex(where: { $0.mediaType == source.mediaType }) {
        pairs.append((source, free.remove(at: index)))
      } else if let track = addMutableTrack(
        withMediaType: source.mediaType, preferredTrackID: kCMPersistentTrackID_Invalid)
      {
        track.preferredTransform = source.preferredTransform
        pairs.append((source, track))
      }
    }
    // What tracks lack up to the start, though others only claim to reach it.
    let claimed = min(start, duration)
    let lacks = pairs.map { _, target -> CMTime in
      let end = target.timeRange.end
      return end < claimed ? KnownTimes.lack(in: CMTimeRange(start: end, end: claimed), of: old) : .zero
    }
    // All tracks make room, so that they stay together.
    for track in old { track.insertEmptyTimeRange(CMTimeRange(start: start, duration: span)) }
    for ((source, target), lack) in zip(pairs, lacks) {
      target.removeTimeRange(CMTimeRange(start: start, duration: span))
      let rest = target.timeRange.end > start
      try target.insertTimeRange(timeRange, of: source, at: start, lack: lack)
      let inserted = timeRange.intersection(source.timeRange).end - timeRange.start
      if rest, inserted < span {
        let range = CMTimeRange(start: start + inserted, duration: span - inserted)
        let gap = CMTimeRange(start: timeRange.start + inserted, duration: range.duration)
        target.insertEmptyTimeRange(range, lack: KnownTimes.lack(in: gap, of: sources))
      }
    }
  }

  /// Puts a gap into all tracks.
  open func insertEmptyTimeRange(_ timeRange: CMTimeRange) {
    for track in compositionTracks { track.insertEmptyTimeRange(timeRange) }
  }

  /// Takes a range out of all tracks.
  open func removeTimeRange(_ timeRange: CMTimeRange) {
    for track in compositionTracks { track.removeTimeRange(timeRange) }
  }

  /// Presents a range of all tracks in another time.
  open func scaleTimeRange(_ timeRange: CMTimeRange, toDuration duration: CMTime) {
    for track in compositionTracks { track.scaleTimeRange(timeRange, toDuration: duration) }
  }
}
