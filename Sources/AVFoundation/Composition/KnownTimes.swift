// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Looks for pictures where a file has no sound. A file may claim any duration; a picture is there or not.
final class PictureWitness {
  /// How far apart pictures may be that show that a file goes on.
  static let longestGap = CMTime(value: 120, timescale: 1)
  /// Packets that are read for an answer at most: what lies between key frames of a long group of pictures.
  private static let mostPackets = 4096

  private let file: AssetFile
  private let interruption: SourceInterruption
  /// Opened when it is needed, which it seldom is.
  private lazy var opened = open()

  init(_ file: AssetFile, interruption: SourceInterruption = SourceInterruption()) {
    self.file = file
    self.interruption = interruption
  }

  private func open() -> (demuxer: Demuxer, stream: MediaStream)? {
    guard let facts = file.factsIfReadable,
      let stream = facts.demuxer.streams.first(where: { $0.kind == .video }),
      let demuxer = try? Demuxer(again: facts.demuxer, interruption: interruption.begin())
    else { return nil }
    demuxer.select([stream.index])
    return (demuxer, stream)
  }

  /// The time of the last picture within the longest gap after a time; nil if there is none.
  func picture(after time: CMTime) -> CMTime? {
    guard let (demuxer, stream) = opened else { return nil }
    let (low, high) = (stream.units(time), stream.units(time + Self.longestGap))
    guard (try? demuxer.seek(stream: stream.index, to: high)) != nil else { return nil }
    var found = low
    for _ in 0..<Self.mostPackets {
      guard let packet = try? demuxer.next() else { break }
      let decoded = packet.dts ?? packet.pts ?? .max
      let shown = packet.pts ?? decoded
      if shown <= high, !packet.isDiscarded, !packet.bytes.isEmpty { found = max(found, shown) }
      if decoded > high { break }
    }
    return found > low ? stream.time(found) : nil
  }
}

extension AVAssetTrack {
  /// Seconds that a sample of a table stands for at most. A table may give each any duration.
  private static let longestSample = 3600.0

  /// Whether a file's table has all samples of the track, and as many as its duration needs.
  var isAssured: Bool {
    let stream = facts.stream
    return stream.isTableWhole
      && timeRange.duration.seconds <= Self.longestSample * Double(stream.sampleCount ?? 0)
  }
}

extension Sequence<AVAssetTrack> {
  /// No track knows where it ends: a clock that jumps makes a stream without a table longer than it seems.
  var areOpenEnded: Bool { !contains { $0 is AVCompositionTrack || $0.isAssured } }
}

/// Where files have something, and do not only say so.
enum KnownTimes {
  /// How long the shortest stretch is for which pictures are looked for: below it, silence is made anyway.
  private static let shortest = CMTime(value: 60, timescale: 1)
  /// Looks into a file at most: enough for two hours.
  private static let mostLooks = 64

  /// How much there is of a range in which no track is known to have anything.
  static func lack(in range: CMTimeRange, of tracks: [AVAssetTrack]) -> CMTime {
    guard range.duration > .zero else { return .zero }
    let media = tracks.filter { [.video, .audio].contains($0.mediaType) }
    let known = media.flatMap { ranges(of: $0, in: range) }
    var (rest, end) = (range.duration, range.start)
    for one in known.sorted(by: { $0.start < $1.start }) where one.end > end {
      rest = rest - (one.end - max(end, one.start))
      end = one.end
    }
    return rest.isNumeric ? max(.zero, rest) : range.duration
  }

  private static func ranges(of track: AVAssetTrack, in range: CMTimeRange) -> [CMTimeRange] {
    guard let composed = track as? AVCompositionTrack else { return ranges(inFileOf: track, in: range) }
    return composed.timeline.placed.flatMap { part, target -> [CMTimeRange] in
      let common = target.intersection(range)
      guard common.duration > .zero else { return [] }
      guard let source = part.source?.track else {
        // What is not lacking is what the program wants.
        let wanted = CMTimeRange(start: target.start, duration: target.duration - part.lack)
        return [wanted.intersection(range)].filter { $0.duration > .zero }
      }
      let inFile = map(common, target, part.range)
      return ranges(inFileOf: source, in: inFile).map { map($0, part.range, target) }
    }
  }

  private static func ranges(inFileOf track: AVAssetTrack, in range: CMTimeRange) -> [CMTimeRange] {
    let common = track.timeRange.intersection(range)
    guard common.duration > .zero else { return [] }
    if track.isAssured { return [common] }
    guard track.mediaType == .video, common.duration > shortest else { return [] }
    let witness = PictureWitness(track.file)
    var end = common.start
    for _ in 0..<mostLooks {
      guard end < common.end, let next = witness.picture(after: end) else { break }
      end = next
    }
    return end > common.start ? [CMTimeRange(start: common.start, end: min(end, common.end))] : []
  }

  private static func map(_ range: CMTimeRange, _ from: CMTimeRange, _ to: CMTimeRange) -> CMTimeRange {
    CMTimeRange(
      start: CMTimeMapTimeFromRangeToRange(range.start, fromRange: from, toRange: to),
      end: CMTimeMapTimeFromRangeToRange(range.end, fromRange: from, toRange: to))
  }
}
