// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVAssetTrack {
  /// The largest number of pictures to step over.
  private static let maxSteps = 1000

  /// The presentation time of a picture at a distance from another one. Samples between the two are
  /// read once.
  /// - Parameters:
  ///   - count: The number of pictures to move forward or, if negative, backward.
  ///   - time: The presentation time of the picture to start from.
  /// - Returns: The time of the picture; that of the last or the first picture if there are fewer.
  func pictureTime(_ count: Int, from time: CMTime) -> CMTime {
    let sources = timedSources
    var remaining = Int(min(count.magnitude, UInt(Self.maxSteps)))
    var result = time
    /// Counts a picture, and returns whether further pictures are needed.
    func take(_ next: CMTime) -> Bool {
      // Times in scaled parts are rounded, so a picture can be found again. Only a later time, or
      // an earlier one when moving backward, is counted.
      guard remaining > 0, next.isNumeric, count > 0 ? next > result : next < result else {
        return remaining > 0
      }
      result = next
      remaining -= 1
      return remaining > 0
    }
    for (source, range, target) in count > 0 ? sources : sources.reversed() {
      let isInside = target.start <= time && time < target.end
      if count > 0 {
        guard target.end > time else { continue }
        // The picture at the beginning of a part is counted, even if the part begins between two
        // pictures of its source.
        guard isInside || take(target.start) else { break }
      } else if target.start >= time {
        continue
      }
      let sourceTime =
        isInside ? Self.map(time, target, range) : count > 0 ? range.start : range.end
      let steps =
        count > 0
        ? source.pictures(after: sourceTime, before: range.end, remaining + 1)
        : source.pictures(before: sourceTime, from: range.start, remaining + 1)
      guard steps.allSatisfy({ take(max(target.start, Self.map($0, range, target))) }) else { break }
    }
    return result
  }

  /// The parts of the track with their source tracks: `range` is the range in the source, and
  /// `target` the range in this track.
  private var timedSources: [(source: AVAssetTrack, range: CMTimeRange, target: CMTimeRange)] {
    guard let composed = self as? AVCompositionTrack else { return [(self, timeRange, timeRange)] }
    return composed.timeline.timedParts.compactMap { part, target in
      part.source.map { ($0.track, part.range, target) }
    }
  }

  private static func map(_ time: CMTime, _ from: CMTimeRange, _ to: CMTimeRange) -> CMTime {
    from == to ? time : CMTimeMapTimeFromRangeToRange(time, fromRange: from, toRange: to)
  }

  // MARK: - In a file

  /// The times of the first pictures of a file's track that are shown after a time, in ascending
  /// order.
  private func pictures(after time: CMTime, before end: CMTime, _ count: Int) -> [CMTime] {
    guard let samples = SampleTimes(self) else { return [] }
    let stream = properties.stream
    let (start, limit) = (stream.units(time), unitsRoundedUp(end))
    guard samples.seek(to: start) else { return [] }
    var found: [Int64] = []
    for _ in 0..<SampleTimes.maximum {
      guard let sample = samples.next() else { break }
      if let presentationTime = sample.picture, presentationTime > start, presentationTime < limit {
        let insertionIndex = found.lastIndex { $0 <= presentationTime }.map { $0 + 1 } ?? 0
        if insertionIndex == 0 || found[insertionIndex - 1] != presentationTime {
          found.insert(presentationTime, at: insertionIndex)
        }
        if found.count > count { found.removeLast() }
      }
      // No later sample is shown before its decode time, so the search is complete.
      let decodeTime = sample.decodeTime
      if decodeTime >= limit || found.count == count && found[count - 1] <= decodeTime { break }
    }
    return found.map { stream.time($0) }
  }

  /// The times of the last pictures of a file's track that are shown before a time, in descending
  /// order. A picture that is shown at `start` counts as one that begins there.
  private func pictures(before time: CMTime, from start: CMTime, _ count: Int) -> [CMTime] {
    guard let samples = SampleTimes(self) else { return [] }
    let stream = properties.stream
    let first = stream.units(start)
    var limit = unitsRoundedUp(time)
    var found: [Int64] = []
    var isShownAtStart = false
    var budget = SampleTimes.maximum
    // Reads one group of pictures after the other, towards the beginning.
    while found.count < count, limit > first, budget > 0 {
      guard samples.seek(to: limit - 1) else { break }
      var group: Set<Int64> = []
      var key: Int64?
      while budget > 0, let sample = samples.next() {
        budget -= 1
        key = key ?? sample.time ?? .max
        if let presentationTime = sample.picture, presentationTime < limit {
          if presentationTime > first { group.insert(presentationTime) } else { isShownAtStart = true }
        }
        if sample.decodeTime >= limit { break }
      }
      guard let key else { break }
      // If no key frame is shown before the limit, this is the first group of the file.
      guard key < limit else {
        found += group.sorted(by: >)
        break
      }
      // Pictures that are shown before the key frame belong to the previous group.
      found += group.filter { $0 >= key }.sorted(by: >)
      limit = key
    }
    let times = found.prefix(count).map { stream.time($0) }
    return times.count < count && isShownAtStart ? times + [start] : times
  }

  /// The time in units of the track, rounded up.
  private func unitsRoundedUp(_ time: CMTime) -> Int64 {
    let units = properties.stream.units(time)
    return time.isNumeric && properties.stream.time(units) < time ? units.addingClamped(1) : units
  }
}

/// Reads the times of a track's samples in its file, in the file's order from a key frame on. Times
/// are in units of the track's time base.
final class SampleTimes {
  struct Sample {
    /// The presentation time; nil if an edit list removes the sample or the time is unknown.
    let presentationTime: Int64?
    /// The presentation time as in `presentationTime`, but nil for an empty sample, which only
    /// extends the duration of the previous picture.
    let picture: Int64?
    /// The presentation time or, if unknown, the decode time, whether or not an edit list removes
    /// the sample.
    let time: Int64?
    let decodeTime: Int64

    init(_ packet: MediaPacket) {
      presentationTime = packet.isDiscarded ? nil : packet.pts
      picture = packet.bytes.isEmpty ? nil : presentationTime
      time = packet.pts ?? packet.dts
      decodeTime = packet.dts ?? packet.pts ?? .max
    }
  }

  /// The largest number of samples to read in one search: more than an hour's at 60 per second.
  static let maximum = 1 << 18

  private let demuxer: Demuxer
  private let index: Int

  init?(_ track: AVAssetTrack) {
    guard let file = track.file.propertiesIfReadable, let demuxer = try? Demuxer(again: file.demuxer) else {
      return nil
    }
    index = track.properties.stream.index
    self.demuxer = demuxer
    demuxer.select([index])
  }

  func next() -> Sample? { (try? demuxer.next()).map { Sample($0) } }

  /// Seeks to the last key frame that is shown at or before a time, or to the beginning if there is
  /// none.
  /// - Returns: False if the file cannot be read.
  func seek(to wanted: Int64) -> Bool { (try? demuxer.seek(stream: index, to: wanted)) != nil }
}
