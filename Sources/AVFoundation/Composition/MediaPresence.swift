// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Looks for pictures in a file at times where its audio track has no samples. A file may declare
/// any duration, but its pictures show that it does extend to their times.
final class PictureProbe {
  /// The longest interval after a time in which a picture is looked for.
  static let longestGap = CMTime(value: 120, timescale: 1)
  /// The most packets that are read for each answer: enough for the distance between key frames of
  /// a long group of pictures.
  private static let maxPackets = 4096

  private let file: AssetFile
  private let interruption: SourceInterruption
  /// Opened on first use, since most files do not need it.
  private lazy var opened = open()

  init(_ file: AssetFile, interruption: SourceInterruption = SourceInterruption()) {
    self.file = file
    self.interruption = interruption
  }

  private func open() -> (demuxer: Demuxer, stream: MediaStream)? {
    guard let properties = file.propertiesIfReadable,
      let stream = properties.demuxer.streams.first(where: { $0.kind == .video }),
      let demuxer = try? Demuxer(again: properties.demuxer, interruption: interruption.begin())
    else { return nil }
    demuxer.select([stream.index])
    return (demuxer, stream)
  }

  /// Returns the time of the last picture that is after `time` by at most `longestGap`; nil if
  /// there is none.
  func picture(after time: CMTime) -> CMTime? {
    guard let (demuxer, stream) = opened else { return nil }
    let (low, high) = (stream.units(time), stream.units(time + Self.longestGap))
    guard (try? demuxer.seek(stream: stream.index, to: high)) != nil else { return nil }
    var found = low
    for _ in 0..<Self.maxPackets {
      guard let packet = try? demuxer.next() else { break }
      let decodeTime = packet.dts ?? packet.pts ?? .max
      let presentationTime = packet.pts ?? decodeTime
      if presentationTime <= high, !packet.isDiscarded, !packet.bytes.isEmpty {
        found = max(found, presentationTime)
      }
      if decodeTime > high { break }
    }
    return found > low ? stream.time(found) : nil
  }
}

extension AVAssetTrack {
  /// The longest plausible average duration of a sample, in seconds. A sample table may declare any
  /// duration for a sample.
  private static let longestSample = 3600.0

  /// Whether the file's sample table lists all samples of the track, and enough samples for its
  /// duration.
  var isConfirmed: Bool {
    let stream = properties.stream
    return stream.isTableComplete
      && timeRange.duration.seconds <= Self.longestSample * Double(stream.sampleCount ?? 0)
  }
}

extension Sequence<AVAssetTrack> {
  /// Whether no track has a duration that its sample table confirms. In streams without a table, a
  /// discontinuity of the clock makes the duration appear longer than it is.
  var areOpenEnded: Bool { !contains { $0 is AVCompositionTrack || $0.isConfirmed } }
}

/// Finds out in which time ranges tracks have media, as opposed to a declared duration.
enum MediaPresence {
  /// The shortest time range in which pictures are looked for. In shorter ones silence is inserted
  /// anyway.
  private static let shortest = CMTime(value: 60, timescale: 1)
  /// The most positions of a file that are examined for a range: enough for two hours.
  private static let maxLooks = 64

  /// Returns how much of a time range no track is known to have media in.
  static func missing(in range: CMTimeRange, of tracks: [AVAssetTrack]) -> CMTime {
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
    return composed.timeline.timedParts.flatMap { part, target -> [CMTimeRange] in
      let common = target.intersection(range)
      guard common.duration > .zero else { return [] }
      guard let source = part.source?.track else {
        // The part of a gap that is not missing media was requested by the program.
        let wanted = CMTimeRange(start: target.start, duration: target.duration - part.missing)
        return [wanted.intersection(range)].filter { $0.duration > .zero }
      }
      let inFile = map(common, target, part.range)
      return ranges(inFileOf: source, in: inFile).map { map($0, part.range, target) }
    }
  }

  private static func ranges(inFileOf track: AVAssetTrack, in range: CMTimeRange) -> [CMTimeRange] {
    let common = track.timeRange.intersection(range)
    guard common.duration > .zero else { return [] }
    if track.isConfirmed { return [common] }
    guard track.mediaType == .video, common.duration > shortest else { return [] }
    let probe = PictureProbe(track.file)
    var end = common.start
    for _ in 0..<maxLooks {
      guard end < common.end, let next = probe.picture(after: end) else { break }
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
