// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A media playlist (RFC 8216bis, 4.4.3 to 4.4.5).
struct MediaPlaylist: Sendable, Equatable {
  /// A file, or a range of one, by the suffix of its name.
  struct Resource: Sendable, Equatable {
    var suffix: String
    /// The bytes of the file; nil for all of it.
    var range: Range<Int>?
  }

  /// A partial segment (4.4.4.9).
  struct Part: Sendable, Equatable {
    var suffix: String
    var seconds: Double
    /// Whether the part begins with a key frame.
    var isIndependent: Bool
  }

  struct Segment: Sendable, Equatable {
    var number: Int
    var resource: Resource
    /// The presentation time at which the segment begins, in seconds.
    var start = 0.0
    var seconds: Double
    /// Where the segment begins, in seconds since 1970 in UTC; nil if that is not known.
    var date: Double?
    /// Whether time stamps do not go on from the previous segment's (4.4.4.3).
    var isDiscontinuous = false
    var parts: [Part] = []
    /// The bytes from the segment's beginning to the end of the key frame that it begins with; nil
    /// if it begins with none.
    var keyFrameBytes: Int?
  }

  /// The newest segment and part of another rendition (4.4.5.4).
  struct Report: Sendable, Equatable {
    var suffix: String
    var number: Int
    var part: Int
  }

  var targetDuration: Int
  var kind: SegmentPlan.Playlist
  /// The target duration of parts in seconds; nil if there are none.
  var partTarget: Double?
  /// The initialization section, which is not encrypted.
  var map: Resource?
  /// Where the key is; nil if the segments are not encrypted.
  var keyURI: String?
  var segments: [Segment] = []
  /// The number of the first segment (EXT-X-MEDIA-SEQUENCE).
  var firstNumber = 0
  /// The number of discontinuities that have left a window playlist.
  var lostDiscontinuities = 0
  /// The parts of the segment that is being written.
  var openParts: [Part] = []
  /// The suffix of the part that comes next.
  var hint: String?
  var reports: [Report] = []
  var hasEnded = false

  /// The duration of all segments in seconds.
  var seconds: Double { segments.reduce(0) { $0 + $1.seconds } }

  /// Removes the oldest segments of a window playlist, as far as the standard allows: what is left
  /// has to last for three target durations (6.2.2).
  /// - Parameter size: the number of segments that stay.
  /// - Returns: the segments that were removed.
  mutating func shrink(to size: Int) -> [Segment] {
    var removed: [Segment] = []
    while segments.count > size, let first = segments.first,
      seconds - first.seconds >= Double(3 * targetDuration)
    {
      segments.removeFirst()
      removed.append(first)
      // The discontinuity is before the segment, and is removed with it.
      if first.isDiscontinuous { lostDiscontinuities += 1 }
    }
    firstNumber = segments.first?.number ?? firstNumber
    return removed
  }

  /// Removes the parts of segments that are further than three target durations from the end
  /// (4.4.4.9).
  /// - Returns: the parts that were removed.
  mutating func shrinkParts() -> [Part] {
    var removed: [Part] = []
    var distance = openParts.reduce(0) { $0 + $1.seconds }
    for index in segments.indices.reversed() {
      if distance > Double(3 * targetDuration) || hasEnded {
        removed += segments[index].parts
        segments[index].parts = []
      }
      distance += segments[index].seconds
    }
    return removed
  }

  /// The playlist's text.
  /// - Parameter names: the names of the files.
  func text(_ names: SegmentNames) -> String {
    var lines = head(version: partTarget == nil ? 7 : 9)
    if let partTarget, !hasEnded {
      // Three part durations are what a server must ask players to stay behind (4.4.3.8).
      let holdBack = TextFormat.fixed(partTarget * 3 + 0.001, 3)
      // `vtencode serve` leaves out segments that are older than that, which has to be six target
      // durations or more (4.4.3.8).
      lines.append(
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=\(targetDuration * 6),PART-HOLD-BACK=\(holdBack)"
      )
      lines.append("#EXT-X-PART-INF:PART-TARGET=\(Self.seconds(partTarget, roundedUp: true))")
    }
    lines += state(names)
    // After the map, which is in the clear: a key counts for what follows it (4.4.4.4). The
    // initialization vector is the segment's number, as it is without the attribute IV (5.2).
    if let keyURI { lines.append("#EXT-X-KEY:METHOD=AES-128,URI=\"\(keyURI)\"") }
    for segment in segments { lines += Self.lines(segment, names) }
    lines += openParts.map { Self.line($0, names) }
    if !hasEnded {
      if let hint { lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"\(names.file(hint))\"") }
      for report in reports {
        lines.append(
          "#EXT-X-RENDITION-REPORT:URI=\"\(names.file(report.suffix))\",LAST-MSN=\(report.number),LAST-PART=\(report.part)"
        )
      }
    }
    if hasEnded { lines.append("#EXT-X-ENDLIST") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The text of the playlist of key frames alone (EXT-X-I-FRAMES-ONLY, 4.4.3.6), which players
  /// show while a viewer searches: the first picture of each segment. Segments are in the clear.
  /// - Parameter names: the names of the files.
  func keyFrameText(_ names: SegmentNames) -> String {
    // A gap needs version 8 (section 8).
    let hasGap = segments.contains { $0.keyFrameBytes == nil }
    var lines = head(version: hasGap ? 8 : 7) + ["#EXT-X-I-FRAMES-ONLY"] + state(names)
    for segment in segments {
      if segment.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
      if let date = segment.date { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(SegmentDate.text(date))") }
      // A key frame lasts until the next one of this playlist.
      lines.append("#EXTINF:\(Self.seconds(segment.seconds)),")
      if let bytes = segment.keyFrameBytes {
        lines.append("#EXT-X-BYTERANGE:\(bytes)@\(segment.resource.range?.lowerBound ?? 0)")
      } else {
        lines.append("#EXT-X-GAP")
      }
      lines.append(names.file(segment.resource.suffix))
    }
    if hasEnded { lines.append("#EXT-X-ENDLIST") }
    return lines.joined(separator: "\n") + "\n"
  }

  private func head(version: Int) -> [String] {
    ["#EXTM3U", "#EXT-X-VERSION:\(version)", "#EXT-X-TARGETDURATION:\(targetDuration)"]
  }

  /// The tags before the segments of both kinds of playlists.
  private func state(_ names: SegmentNames) -> [String] {
    var lines = ["#EXT-X-MEDIA-SEQUENCE:\(firstNumber)"]
    if lostDiscontinuities > 0 { lines.append("#EXT-X-DISCONTINUITY-SEQUENCE:\(lostDiscontinuities)") }
    switch kind {
    case .window: break
    case .event: lines.append("#EXT-X-PLAYLIST-TYPE:EVENT")
    case .vod: lines.append("#EXT-X-PLAYLIST-TYPE:VOD")
    }
    lines.append("#EXT-X-INDEPENDENT-SEGMENTS")
    if let map {
      let range = map.range.map { ",BYTERANGE=\"\($0.count)@\($0.lowerBound)\"" } ?? ""
      lines.append("#EXT-X-MAP:URI=\"\(names.file(map.suffix))\"\(range)")
    }
    return lines
  }

  private static func lines(_ segment: Segment, _ names: SegmentNames) -> [String] {
    var lines: [String] = []
    if segment.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
    if let date = segment.date { lines.append("#EXT-X-PROGRAM-DATE-TIME:\(SegmentDate.text(date))") }
    lines += segment.parts.map { line($0, names) }
    lines.append("#EXTINF:\(seconds(segment.seconds)),")
    if let range = segment.resource.range {
      lines.append("#EXT-X-BYTERANGE:\(range.count)@\(range.lowerBound)")
    }
    lines.append(names.file(segment.resource.suffix))
    return lines
  }

  private static func line(_ part: Part, _ names: SegmentNames) -> String {
    "#EXT-X-PART:DURATION=\(seconds(part.seconds)),URI=\"\(names.file(part.suffix))\""
      + (part.isIndependent ? ",INDEPENDENT=YES" : "")
  }

  /// A duration with microseconds.
  private static func seconds(_ value: Double, roundedUp: Bool = false) -> String {
    TextFormat.fixed(roundedUp ? (value * 1_000_000).rounded(.up) / 1_000_000 : value, 6)
  }
}

/// Writes times as ISO 8601 does, without Foundation's formatters, which load the locale data of
/// all languages.
enum SegmentDate {
  /// - Parameter seconds: since 1970 in UTC.
  static func text(_ seconds: Double) -> String {
    let milliseconds = Int64(clamping: Int(clamping: (seconds * 1000).rounded()))
    var whole = time_t(milliseconds / 1000)
    var parts = tm()
    gmtime_r(&whole, &parts)
    return String(
      format: "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
      parts.tm_hour, parts.tm_min, parts.tm_sec, Int32(milliseconds % 1000))
  }
}
