// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The edits of a composition's track: parts of other tracks and gaps, in order.
struct CompositionTimeline: Sendable {
  /// A part of a source track, or a gap if `source` is nil.
  struct Part: @unchecked Sendable {
    // Sendable: immutable once made.
    let source: CompositionSource?
    /// The time range on the source asset's timeline; without meaning for a gap.
    var range: CMTimeRange
    /// The duration on the composition's timeline.
    var duration: CMTime
    /// The part of a gap's duration that is missing media: the gap is there only because a file
    /// declares that its track begins later or ends earlier than its other tracks. The rest of the
    /// gap was requested by the program. Silence for missing media is limited to
    /// `AudioRequirements.longestFill`, since the declared times may be wrong.
    var missing = CMTime.zero

    var isScaled: Bool { source != nil && range.duration != duration }
  }

  private(set) var parts: [Part] = []

  init(_ parts: [Part] = []) {
    self.parts = parts
    trim()
  }

  var duration: CMTime { parts.reduce(.zero) { $0 + $1.duration } }

  /// The parts with their time ranges on the composition's timeline.
  var timedParts: [(part: Part, target: CMTimeRange)] {
    var start = CMTime.zero
    return parts.map { part in
      defer { start = start + part.duration }
      return (part, CMTimeRange(start: start, duration: part.duration))
    }
  }

  // MARK: - Changes

  /// Inserts parts at a time; the parts after it move later. If `time` is after the end, a gap is
  /// inserted first.
  /// - Parameter missing: The part of that gap that is missing media.
  mutating func insert(_ new: [Part], at time: CMTime, missing: CMTime = .zero) {
    let end = duration
    if time > end {
      parts.append(
        Part(source: nil, range: .invalid, duration: time - end, missing: min(missing, time - end)))
    }
    parts.insert(contentsOf: new.filter { $0.duration > .zero }, at: split(at: time))
    trim()
  }

  /// Removes a time range; the parts after it move earlier.
  mutating func remove(_ range: CMTimeRange) {
    let first = split(at: range.start)
    let last = split(at: range.end)
    if first < last { parts.removeSubrange(first..<last) }
    trim()
  }

  /// Changes the duration of a time range; the parts after it move later or earlier.
  mutating func scale(_ range: CMTimeRange, to duration: CMTime) {
    let first = split(at: range.start)
    let last = split(at: range.end)
    guard first < last else { return }
    // Ends of parts are scaled rather than durations, so that rounding errors do not accumulate.
    let old = CMTimeRange(
      start: .zero, duration: parts[first..<last].reduce(CMTime.zero) { $0 + $1.duration })
    let target = CMTimeRange(
      start: .zero,
      duration: old.duration == range.duration
        ? duration
        : CMTimeMultiplyByFloat64(
          duration, multiplier: old.duration.seconds / range.duration.seconds))
    var position = CMTime.zero
    var scaledEnd = CMTime.zero
    for index in first..<last {
      position = position + parts[index].duration
      let end = CMTimeMapTimeFromRangeToRange(position, fromRange: old, toRange: target)
      if parts[index].missing > .zero {
        let ratio = (end - scaledEnd).seconds / parts[index].duration.seconds
        parts[index].missing = min(
          CMTimeMultiplyByFloat64(parts[index].missing, multiplier: ratio), end - scaledEnd)
      }
      parts[index].duration = end - scaledEnd
      scaledEnd = end
    }
    parts.removeAll { $0.duration <= .zero }
    trim()
  }

  /// Returns the parts of a time range, cut at its ends.
  func parts(in range: CMTimeRange) -> [Part] {
    var copy = self
    let first = copy.split(at: range.start)
    let last = copy.split(at: range.end)
    return first < last ? Array(copy.parts[first..<last]) : []
  }

  /// Divides the part that spans a time.
  /// - Returns: The index of the part that begins at the time; the number of parts if the time is
  ///   at or after the end.
  private mutating func split(at time: CMTime) -> Int {
    for (index, (part, target)) in timedParts.enumerated() {
      if time <= target.start { return index }
      guard time < target.end else { continue }
      var (before, after) = (part, part)
      before.duration = time - target.start
      after.duration = target.end - time
      before.missing = min(part.missing, before.duration)
      after.missing = min(part.missing, after.duration)
      if part.source != nil {
        let cut =
          part.isScaled
          ? CMTimeMapTimeFromRangeToRange(time, fromRange: target, toRange: part.range)
          : part.range.start + before.duration
        before.range = CMTimeRange(start: part.range.start, end: cut)
        after.range = CMTimeRange(start: cut, end: part.range.end)
      }
      parts.replaceSubrange(index...index, with: [before, after])
      return index + 1
    }
    return parts.count
  }

  /// Removes gaps at the end and joins consecutive gaps.
  private mutating func trim() {
    while let last = parts.last, last.source == nil { parts.removeLast() }
    var joined: [Part] = []
    for part in parts {
      if part.source == nil, let last = joined.last, last.source == nil {
        joined[joined.count - 1].duration = last.duration + part.duration
        joined[joined.count - 1].missing = last.missing + part.missing
      } else {
        joined.append(part)
      }
    }
    parts = joined
  }
}

/// The track that a part of a composition is taken from.
final class CompositionSource: Sendable {
  let track: AVAssetTrack
  /// Keeps the asset alive: a track refers to it weakly.
  let asset: AVAsset?

  init(_ track: AVAssetTrack) {
    self.track = track
    asset = track.asset
  }

  /// Whether the file's sample table confirms the track's duration; see `AVAssetTrack.isConfirmed`.
  var isConfirmed: Bool { track.isConfirmed }

  var url: URL? { (asset as? AVURLAsset)?.url ?? track.file.url }
}
