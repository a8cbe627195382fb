// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A track of a composition that can be edited.
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
  /// The language as an ISO 639-2/T code.
  override open var languageCode: String? {
    get { super.languageCode }
    set { timelineLock.withLock { storedLanguageCode = newValue } }
  }
  /// The language as a BCP 47 tag.
  override open var extendedLanguageTag: String? {
    get { super.extendedLanguageTag }
    set { timelineLock.withLock { storedLanguageTag = newValue } }
  }
  override open var naturalTimeScale: CMTimeScale {
    get { super.naturalTimeScale }
    set { timelineLock.withLock { storedTimeScale = newValue > 0 ? newValue : nil } }
  }

  /// The edits of the track, as `AVCompositionTrackSegment` objects that begin at zero and follow
  /// each other without gaps. Setting segments that `validateSegments(_:)` rejects has no effect.
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

  /// Replaces a format description of the source tracks when the track is read, for instance by one
  /// with other colours, clean aperture or pixel aspect ratio. Stored samples carry the
  /// replacement, and pictures are decoded according to it. A second call with the same original
  /// replaces the first.
  /// - Parameters:
  ///   - originalFormatDescription: A format description of a source track. A description that no
  ///     source has is never applied.
  ///   - replacementFormatDescription: A description of the same media type and subtype; nil
  ///     removes the replacement. A description of another type has the effect of nil.
  open func replaceFormatDescription(
    _ originalFormatDescription: CMFormatDescription, with replacementFormatDescription: CMFormatDescription?
  ) {
    timelineLock.withLock {
      storedReplacements.set(originalFormatDescription, replacementFormatDescription)
    }
  }

  // MARK: - Changes

  /// Inserts a time range of another track; media at and after `startTime` moves later.
  /// - Parameters:
  ///   - timeRange: The range on the other track's timeline. The part before that track's beginning
  ///     becomes a gap; the part after its end is left out.
  ///   - track: The source, which may be a track of a composition.
  ///   - startTime: The time in this track at which the range begins. If it is invalid, the range
  ///     is appended.
  /// - Throws: `AVError` if a time is invalid, the track has no media in the range, or its media
  ///   type differs.
  open func insertTimeRange(_ timeRange: CMTimeRange, of track: AVAssetTrack, at startTime: CMTime) throws {
    try insertTimeRange(timeRange, of: track, at: startTime, missing: .zero)
  }

  /// - Parameter missing: The part of the gap between the end of this track and `startTime` that is
  ///   missing media; see `CompositionTimeline.Part.missing`.
  func insertTimeRange(
    _ timeRange: CMTimeRange, of track: AVAssetTrack, at startTime: CMTime, missing: CMTime
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
          source: nil, range: .invalid, duration: gap.duration,
          missing: MediaPresence.missing(in: gap, of: all)))
    }
    if let composed = track as? AVCompositionTrack {
      parts += composed.timeline.parts(in: available)
    } else {
      parts.append(
        .init(source: CompositionSource(track), range: available, duration: available.duration))
    }
    timelineLock.withLock {
      storedTimeline.insert(
        parts, at: startTime.isValid ? startTime : storedTimeline.duration, missing: missing)
    }
  }

  /// Inserts time ranges of several tracks, one after the other.
  /// - Parameters:
  ///   - timeRanges: One `CMTimeRange` for each track.
  ///   - tracks: The sources.
  ///   - startTime: The time at which the first range begins. If it is invalid, the ranges are
  ///     appended.
  /// - Throws: `AVError` as `insertTimeRange(_:of:at:)`, and if the lists differ in length. The
  ///   track is then unchanged.
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

  /// Inserts a gap; media at and after its start moves later. At the end of the track this has no
  /// effect, since a track does not end with a gap.
  open func insertEmptyTimeRange(_ timeRange: CMTimeRange) {
    insertEmptyTimeRange(timeRange, missing: .zero)
  }

  /// - Parameter missing: The part of the gap that is missing media; see
  ///   `CompositionTimeline.Part.missing`.
  func insertEmptyTimeRange(_ timeRange: CMTimeRange, missing: CMTime) {
    guard timeRange.isPlayable, timeRange.duration.isNumeric else { return }
    timelineLock.withLock {
      guard timeRange.start < storedTimeline.duration else { return }
      storedTimeline.insert(
        [.init(source: nil, range: .invalid, duration: timeRange.duration, missing: missing)],
        at: max(.zero, timeRange.start))
    }
  }

  /// Removes a time range; media after it moves earlier.
  open func removeTimeRange(_ timeRange: CMTimeRange) {
    guard timeRange.isPlayable else { return }
    timelineLock.withLock { storedTimeline.remove(timeRange) }
  }

  /// Changes the duration of a time range: its pictures are shown for longer or shorter, and its
  /// audio is played slower or faster.
  open func scaleTimeRange(_ timeRange: CMTimeRange, toDuration duration: CMTime) {
    guard timeRange.isPlayable, timeRange.duration.isNumeric, timeRange.duration > .zero,
      duration.isPlayable, duration > .zero
    else { return }
    timelineLock.withLock { storedTimeline.scale(timeRange, to: duration) }
  }

  /// Checks that segments can be assigned to `segments`.
  /// - Throws: `AVError` if there are gaps or overlaps between target ranges, a time range is
  ///   invalid or outside its source track, or the media type of a source differs.
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
