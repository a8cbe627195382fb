// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A track of a composition that a program fills.
open class AVMutableCompositionTrack: AVCompositionTrack, @unchecked Sendable {
  // Sendable: the base class's lock guards all.
  override open var isEnabled: Bool {
    get { super.isEnabled }
    set { timelineLock.withLock { storedIsEnabled = newValue } }
  }
  override open var preferredTransform: CGAffineTransform {
    get { super.preferredTransform }
    set { timelineLock.withLock { storedTransform = newValue } }
  }
  override open var preferredVolume: Float {
    get { super.preferredVolume }
    set { timelineLock.withLock { storedVolume = newValue } }
  }
  /// ISO 639-2/T.
  override open var languageCode: String? {
    get { super.languageCode }
    set { timelineLock.withLock { storedLanguageCode = newValue } }
  }
  /// BCP 47.
  override open var extendedLanguageTag: String? {
    get { super.extendedLanguageTag }
    set { timelineLock.withLock { storedLanguageTag = newValue } }
  }
  override open var naturalTimeScale: CMTimeScale {
    get { super.naturalTimeScale }
    set { timelineLock.withLock { storedTimeScale = newValue > 0 ? newValue : nil } }
  }

  /// What is presented when: `AVCompositionTrackSegment`s without gaps, from zero on. Setting others than
  /// `validateSegments(_:)` accepts does nothing.
  override open var segments: [AVAssetTrackSegment] {
    get { super.segments }
    set {
      let list = newValue.compactMap { $0 as? AVCompositionTrackSegment }
      guard list.count == newValue.count, (try? validateSegments(list)) != nil else { return }
      let options = (asset as? AVComposition)?.urlAssetInitializationOptions ?? [:]
      let parts = list.map {
        CompositionTimeline.Part(
          source: $0.isEmpty ? nil : $0.source(with: options), range: $0.timeMapping.source,
          duration: $0.timeMapping.target.duration)
      }
      timelineLock.withLock { storedTimeline = CompositionTimeline(parts) }
    }
  }

  /// Has samples of one format read as if they were of another one, of the same media and codec: with other colours, another
  /// clean aperture or another shape of the pixels, for instance. The next call with the same format replaces this one.
  ///
  /// A reader's stored samples carry the other format, and pictures are decoded by it.
  /// - Parameters:
  ///   - originalFormatDescription: One of `formatDescriptions`, as the sources have it. For another one nothing changes.
  ///   - replacementFormatDescription: The other one; nil: none any more.
  open func replaceFormatDescription(
    _ originalFormatDescription: CMFormatDescription, with replacementFormatDescription: CMFormatDescription?
  ) {
    timelineLock.withLock {
      storedReplacements.set(originalFormatDescription, replacementFormatDescription)
    }
  }

  // MARK: - Changes

  /// Puts a part of another track in.
  ///
  /// Of the parameters:
  ///
  /// - `timeRange`: On the other track's time line. Before the track's beginning there is nothing; what lies beyond
  ///   its end is left out.
  /// - `startTime`: What follows comes later. Invalid: at the end.
  /// - Throws: `AVError` if the range is no range or holds nothing of the track, or the track is of other media.
  open func insertTimeRange(_ timeRange: CMTimeRange, of track: AVAssetTrack, at startTime: CMTime) throws {
    try insertTimeRange(timeRange, of: track, at: startTime, lack: .zero)
  }

  /// - Parameter lack: So much of a gap before it is there because files only say that other tracks reach so far.
  func insertTimeRange(
    _ timeRange: CMTimeRange, of track: AVAssetTrack, at startTime: CMTime, lack: CMTime
  ) throws {
    guard track.mediaType == mediaType else {
      throw AVError(
        .operationNotAllowed,
        reason: "A track of type \(track.mediaType.rawValue) cannot be put into one of \(mediaType.rawValue)."
      )
    }
    guard timeRange.isPlayable, timeRange.duration > .zero,
      !startTime.isValid || startTime.isPlayable && startTime >= .zero
    else {
      throw AVError(
        .invalidCompositionTrackSegmentDuration, reason: "The time range or the start time is invalid.")
    }
    let available = timeRange.intersection(track.timeRange)
    guard available.duration > .zero else {
      throw AVError(
        .invalidCompositionTrackSegmentSourceStartTime,
        reason: "The time range holds nothing of the track.",
        advice: "Give a range within the track's timeRange.")
    }
    var parts: [CompositionTimeline.Part] = []
    if available.start > timeRange.start {
      let gap = CMTimeRange(start: timeRange.start, end: available.start)
      let all = (try? track.asset?.loadedTracks()) ?? [track]
      parts.append(
        .init(
          source: nil, range: .invalid, duration: gap.duration, lack: KnownTimes.lack(in: gap, of: all)))
    }
    if let composed = track as? AVCompositionTrack {
      parts += composed.timeline.parts(in: available)
    } else {
      parts.append(
        .init(source: CompositionSource(track), range: available, duration: available.duration))
    }
    timelineLock.withLock {
      storedTimeline.insert(
        parts, at: startTime.isValid ? startTime : storedTimeline.duration, lack: lack)
    }
  }

  /// Puts parts of several tracks in, one after the other. A null object instead of a track stands for nothing, of the
  /// range's duration.
  /// - Throws: As `insertTimeRange(_:of:at:)`; then nothing has been put in.
  open func insertTimeRanges(
    _ timeRanges: [NSValue], of tracks: [AVAssetTrack], at startTime: CMTime
  ) throws {
    guard timeRanges.count == tracks.count else {
      throw AVError(.operationNotAllowed, reason: "There are not as many time ranges as tracks.")
    }
    let before = timeline
    var time = startTime.isValid ? startTime : before.duration
    do {
      for (range, track) in zip(timeRanges, tracks) {
        let end = timeline.duration
        try insertTimeRange(range.timeRangeValue, of: track, at: time)
        time = time + (timeline.duration - max(end, time))
      }
    } catch {
      timelineLock.withLock { storedTimeline = before }
      throw error
    }
  }

  /// Puts a gap in. At the end it has no effect: a track does not end with nothing.
  open func insertEmptyTimeRange(_ timeRange: CMTimeRange) {
    insertEmptyTimeRange(timeRange, lack: .zero)
  }

  /// - Parameter lack: So much of it is there because a file has nothing.
  func insertEmptyTimeRange(_ timeRange: CMTimeRange, lack: CMTime) {
    guard timeRange.isPlayable, timeRange.duration.isNumeric else { return }
    timelineLock.withLock {
      guard timeRange.start < storedTimeline.duration else { return }
      storedTimeline.insert(
        [.init(source: nil, range: .invalid, duration: timeRange.duration, lack: lack)],
        at: max(.zero, timeRange.start))
    }
  }

  /// Takes a range out; what follows comes earlier.
  open func removeTimeRange(_ timeRange: CMTimeRange) {
    guard timeRange.isPlayable else { return }
    timelineLock.withLock { storedTimeline.remove(timeRange) }
  }

  /// Presents a range in another time: pictures last longer or shorter, sound is played slower or faster.
  open func scaleTimeRange(_ timeRange: CMTimeRange, toDuration duration: CMTime) {
    guard timeRange.isPlayable, timeRange.duration.isNumeric, timeRange.duration > .zero,
      duration.isPlayable, duration > .zero
    else { return }
    timelineLock.withLock { storedTimeline.scale(timeRange, to: duration) }
  }

  /// Whether segments can be a track.
  /// - Throws: `AVError`: there are gaps or overlaps, a segment's ranges are no ranges, or it is of other media.
  open func validateSegments(_ trackSegments: [AVCompositionTrackSegment]) throws {
    var end = CMTime.zero
    for segment in trackSegments {
      let mapping = segment.timeMapping
      guard mapping.target.isValid, mapping.target.duration.isPlayable, mapping.target.duration > .zero else {
        throw AVError(.invalidCompositionTrackSegmentDuration)
      }
      guard mapping.target.start == end else { throw AVError(.compositionTrackSegmentsNotContiguous) }
      end = mapping.target.end
      if segment.isEmpty { continue }
      if let type = segment.source?.track.mediaType, type != mediaType {
        throw AVError(
          .operationNotAllowed,
          reason: "A segment of type \(type.rawValue) cannot be in a track of \(mediaType.rawValue).")
      }
      guard let source = segment.source, mapping.source.start.isPlayable,
        source.track.timeRange.containsTime(mapping.source.start)
      else { throw AVError(.invalidCompositionTrackSegmentSourceStartTime) }
      guard mapping.source.duration.isPlayable, mapping.source.duration > .zero,
        mapping.source.end <= source.track.timeRange.end
      else { throw AVError(.invalidCompositionTrackSegmentSourceDuration) }
    }
  }
}
