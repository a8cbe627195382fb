// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

extension AVAssetTrack {
  /// Pictures that are gone over at most.
  private static let mostSteps = 1000

  /// When the picture is shown that comes a number of pictures after, or before, one that begins at a time; where there are
  /// fewer, the last or the first. What lies between is read once.
  func pictureTime(_ count: Int, from time: CMTime) -> CMTime {
    let placed = placedSources
    var rest = Int(min(count.magnitude, UInt(Self.mostSteps)))
    var result = time
    /// False when it is found.
    func take(_ next: CMTime) -> Bool {
      // Times of parts that are scaled are rounded: the picture itself may be among those that were found.
      guard rest > 0, next.isNumeric, count > 0 ? next > result : next < result else { return rest > 0 }
      result = next
      rest -= 1
      return rest > 0
    }
    for (source, range, target) in count > 0 ? placed : placed.reversed() {
      let isInside = target.start <= time && time < target.end
      if count > 0 {
        guard target.end > time else { continue }
        // What a part begins with is a picture of its own.
        guard isInside || take(target.start) else { break }
      } else if target.start >= time {
        continue
      }
      let place =
        isInside ? Self.map(time, target, range) : count > 0 ? range.start : range.end
      let steps =
        count > 0
        ? source.pictures(after: place, before: range.end, rest + 1)
        : source.pictures(before: place, from: range.start, rest + 1)
      guard steps.allSatisfy({ take(max(target.start, Self.map($0, range, target))) }) else { break }
    }
    return result
  }

  /// What the track is made of, and where it stands.
  private var placedSources: [(source: AVAssetTrack, range: CMTimeRange, target: CMTimeRange)] {
    guard let composed = self as? AVCompositionTrack else { return [(self, timeRange, timeRange)] }
    return composed.timeline.placed.compactMap { part, target in
      part.source.map { ($0.track, part.range, target) }
    }
  }

  private static func map(_ time: CMTime, _ from: CMTimeRange, _ to: CMTimeRange) -> CMTime {
    from == to ? time : CMTimeMapTimeFromRangeToRange(time, fromRange: from, toRange: to)
  }

  // MARK: - In a file

  /// The first pictures of a file's track that are shown after a time.
  private func pictures(after time: CMTime, before end: CMTime, _ count: Int) -> [CMTime] {
    guard let samples = SampleTimes(self) else { return [] }
    let stream = facts.stream
    let (start, limit) = (stream.units(time), upper(end))
    guard samples.seek(to: start) else { return [] }
    var found: [Int64] = []
    for _ in 0..<SampleTimes.most {
      guard let sample = samples.next() else { break }
      if let shown = sample.picture, shown > start, shown < limit {
        let place = found.lastIndex { $0 <= shown }.map { $0 + 1 } ?? 0
        if place == 0 || found[place - 1] != shown { found.insert(shown, at: place) }
        if found.count > count { found.removeLast() }
      }
      // Nothing is shown before it is decoded.
      let decoded = sample.decoded
      if decoded >= limit || found.count == count && found[count - 1] <= decoded { break }
    }
    return found.map { stream.time($0) }
  }

  /// The last pictures of a file's track that are shown before a time, the last one first; the one that is shown at `start`
  /// begins there.
  private func pictures(before time: CMTime, from start: CMTime, _ count: Int) -> [CMTime] {
    guard let samples = SampleTimes(self) else { return [] }
    let stream = facts.stream
    let first = stream.units(start)
    var limit = upper(time)
    var found: [Int64] = []
    var isShownAtStart = false
    var budget = SampleTimes.most
    // A group of pictures after the other, towards the beginning.
    while found.count < count, limit > first, budget > 0 {
      guard samples.seek(to: limit - 1) else { break }
      var group: Set<Int64> = []
      var key: Int64?
      while budget > 0, let sample = samples.next() {
        budget -= 1
        key = key ?? sample.time ?? .max
        if let shown = sample.picture, shown < limit {
          if shown > first { group.insert(shown) } else { isShownAtStart = true }
        }
        if sample.decoded >= limit { break }
      }
      guard let key else { break }
      // No key frame is shown before the limit: this is the beginning, and nothing is stored before it.
      guard key < limit else {
        found += group.sorted(by: >)
        break
      }
      // What is shown before the key frame belongs to the group before.
      found += group.filter { $0 >= key }.sorted(by: >)
      limit = key
    }
    let times = found.prefix(count).map { stream.time($0) }
    return times.count < count && isShownAtStart ? times + [start] : times
  }

  /// The first unit that is not before a time.
  private func upper(_ time: CMTime) -> Int64 {
    let units = facts.stream.units(time)
    return time.isNumeric && facts.stream.time(units) < time ? units.addingClamped(1) : units
  }
}

/// The times of a track's samples in its file, in the stream's units and in the file's order, from a key frame on.
final class SampleTimes {
  struct Sample {
    /// When it is shown; nil if an edit list cuts it away, or nobody knows.
    let shown: Int64?
    /// The same; nil also for an empty sample, which stands for a picture that is shown for longer.
    let picture: Int64?
    /// When it is shown or else decoded, whatever becomes of it.
    let time: Int64?
    let decoded: Int64

    init(_ packet: MediaPacket) {
      shown = packet.isDiscarded ? nil : packet.pts
      picture = packet.bytes.isEmpty ? nil : shown
      time = packet.pts ?? packet.dts
      decoded = packet.dts ?? packet.pts ?? .max
    }
  }

  /// Samples that are read at most: an hour's at 60 a second, where nothing else ends the search.
  static let most = 1 << 18

  private let demuxer: Demuxer
  private let index: Int

  init?(_ track: AVAssetTrack) {
    guard let file = track.file.factsIfReadable, let demuxer = try? Demuxer(again: file.demuxer) else {
      return nil
    }
    index = track.facts.stream.index
    self.demuxer = demuxer
    demuxer.select([index])
  }

  func next() -> Sample? { (try? demuxer.next()).map { Sample($0) } }

  /// Goes to a key frame that is shown at or before a time; to the beginning if there is none.
  /// - Returns: false if the file cannot be read.
  func seek(to wanted: Int64) -> Bool { (try? demuxer.seek(stream: index, to: wanted)) != nil }
}
