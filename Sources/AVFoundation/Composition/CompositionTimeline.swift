// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What is shown of another track, and for how long: the parts of a composition's track, one after the other.
struct CompositionTimeline: Sendable {
  /// A part; without a source nothing is presented.
  struct Part: @unchecked Sendable {
    // Sendable: immutable once made.
    let source: CompositionSource?
    /// On the source's asset's time line. Of no meaning without a source.
    var range: CMTimeRange
    /// On the composition's.
    var duration: CMTime
    /// So much of nothing is there because a file says that its track begins later than others, or ends sooner; the rest
    /// is what the program wants.
    var lack = CMTime.zero

    var isScaled: Bool { source != nil && range.duration != duration }
  }

  private(set) var parts: [Part] = []

  init(_ parts: [Part] = []) {
    self.parts = parts
    trim()
  }

  var duration: CMTime { parts.reduce(.zero) { $0 + $1.duration } }

  /// The parts with their places on the composition's time line.
  var placed: [(part: Part, target: CMTimeRange)] {
    var start = CMTime.zero
    return parts.map { part in
      defer { start = start + part.duration }
      return (part, CMTimeRange(start: start, duration: part.duration))
    }
  }

  // MARK: - Changes

  /// Puts parts in at a time; what follows comes later by their duration.
  /// - Parameter lack: So much of a gap before them no program wants.
  mutating func insert(_ new: [Part], at time: CMTime, lack: CMTime = .zero) {
    let end = duration
    if time > end {
      parts.append(Part(source: nil, range: .invalid, duration: time - end, lack: min(lack, time - end)))
    }
    parts.insert(contentsOf: new.filter { $0.duration > .zero }, at: split(at: time))
    trim()
  }

  /// Takes a range out; what follows comes earlier.
  mutating func remove(_ range: CMTimeRange) {
    let first = split(at: range.start)
    let last = split(at: range.end)
    if first < last { parts.removeSubrange(first..<last) }
    trim()
  }

  /// Presents a range in another time; what follows comes later or earlier.
  mutating func scale(_ range: CMTimeRange, to duration: CMTime) {
    let first = split(at: range.start)
    let last = split(at: range.end)
    guard first < last else { return }
    // Proportionally, from the ends of the parts, so that rounding does not add up.
    let old = CMTimeRange(
      start: .zero, duration: parts[first..<last].reduce(CMTime.zero) { $0 + $1.duration })
    let target = CMTimeRange(
      start: .zero,
      duration: old.duration == range.duration
        ? duration
        : CMTimeMultiplyByFloat64(
          duration, multiplier: old.duration.seconds / range.duration.seconds))
    var position = CMTime.zero
    var placed = CMTime.zero
    for index in first..<last {
      position = position + parts[index].duration
      let end = CMTimeMapTimeFromRangeToRange(position, fromRange: old, toRange: target)
      if parts[index].lack > .zero {
        let ratio = (end - placed).seconds / parts[index].duration.seconds
        parts[index].lack = min(CMTimeMultiplyByFloat64(parts[index].lack, multiplier: ratio), end - placed)
      }
      parts[index].duration = end - placed
      placed = end
    }
    parts.removeAll { $0.duration <= .zero }
    trim()
  }

  /// The parts of a range, for another time line.
  func parts(in range: CMTimeRange) -> [Part] {
    var copy = self
    let first = copy.split(at: range.start)
    let last = copy.split(at: range.end)
    return first < last ? Array(copy.parts[first..<last]) : []
  }

  /// Makes a part begin at a time.
  /// - Returns: The index of the part that begins there; of the end, if the time is beyond it.
  private mutating func split(at time: CMTime) -> Int {
    for (index, (part, target)) in placed.enumerated() {
      if time <= target.start { return index }
      guard time < target.end else { continue }
      var (before, after) = (part, part)
      before.duration = time - target.start
      after.duration = target.end - time
      before.lack = min(part.lack, before.duration)
      after.lack = min(part.lack, after.duration)
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

  /// A track does not end with nothing; two parts of nothing are one.
  private mutating func trim() {
    while let last = parts.last, last.source == nil { parts.removeLast() }
    var joined: [Part] = []
    for part in parts {
      if part.source == nil, let last = joined.last, last.source == nil {
        joined[joined.count - 1].duration = last.duration + part.duration
        joined[joined.count - 1].lack = last.lack + part.lack
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
  /// Holds the asset, of which a track knows weakly.
  let asset: AVAsset?

  init(_ track: AVAssetTrack) {
    self.track = track
    asset = track.asset
  }

  /// All that it is said to have is in a table.
  var isAssured: Bool { track.isAssured }

  var url: URL? { (asset as? AVURLAsset)?.url ?? track.file.url }
}
