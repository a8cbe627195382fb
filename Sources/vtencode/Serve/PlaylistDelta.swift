// SPDX-License-Identifier: Apache-2.0

/// Makes playlist delta updates (RFC 8216bis, 6.2.5.1): a media playlist in which old segments are
/// replaced with their number, for a player that has them from an earlier version.
enum PlaylistDelta {
  /// The tags of media segments (4.4.4), which stand behind those of the whole playlist.
  private static let segmentTags = [
    "#EXTINF:", "#EXT-X-BYTERANGE:", "#EXT-X-DISCONTINUITY", "#EXT-X-KEY:", "#EXT-X-MAP:",
    "#EXT-X-PROGRAM-DATE-TIME:", "#EXT-X-GAP", "#EXT-X-BITRATE:", "#EXT-X-PART:",
  ]
  /// The tags that count for all segments behind them.
  private static let lastingTags = ["#EXT-X-MAP:", "#EXT-X-KEY:"]

  private struct Segment {
    var lines: [Substring]
    var seconds: Double
  }

  /// Whether a request's query asks for a delta update (6.2.5).
  static func isAsked(for query: Substring) -> Bool {
    query.split(separator: "&").contains { $0 == "_HLS_skip=YES" || $0 == "_HLS_skip=v2" }
  }

  /// - Parameter playlist: the text of the media playlist, which anybody may have written.
  /// - Returns: the text of the update; nil if no segment is as old as the playlist's
  ///   CAN-SKIP-UNTIL, or it has none, or the playlist has ended.
  static func text(of playlist: String) -> String? {
    let lines = playlist.split(whereSeparator: \.isNewline)
    var (head, segments, pending): ([Substring], [Segment], [Substring]) = ([], [], [])
    var (boundary, target) = (0.0, 1.0)
    var (seconds, distance) = (0.0, 0.0)
    for line in lines {
      if line == "#EXT-X-ENDLIST" { return nil }
      if let control = PlaylistProgress.value(of: "#EXT-X-SERVER-CONTROL:", in: line) {
        boundary = PlaylistProgress.attribute("CAN-SKIP-UNTIL", in: control).flatMap { Double($0) } ?? 0
      } else if let value = PlaylistProgress.value(of: "#EXT-X-TARGETDURATION:", in: line) {
        target = Double(value) ?? 1
      } else if let value = PlaylistProgress.value(of: "#EXTINF:", in: line) {
        seconds = Double(value.prefix { $0 != "," }) ?? 0
      } else if let part = PlaylistProgress.value(of: "#EXT-X-PART:", in: line) {
        distance += PlaylistProgress.attribute("DURATION", in: part).flatMap { Double($0) } ?? 0
      }
      let isOfSegment = !line.hasPrefix("#") || segmentTags.contains(where: line.hasPrefix)
      if segments.isEmpty, pending.isEmpty, !isOfSegment {
        head.append(line)
        continue
      }
      pending.append(line)
      if !line.hasPrefix("#") {
        segments.append(Segment(lines: pending, seconds: seconds))
        // Parts count only behind the last segment.
        (pending, seconds, distance) = ([], 0, 0)
      }
    }
    guard boundary.isFinite, boundary >= 6 * target else { return nil }
    var skipped = segments.count
    while skipped > 0, distance <= boundary {
      skipped -= 1
      distance += segments[skipped].seconds
    }
    guard skipped > 0 else { return nil }
    return assemble(head, segments, skipped: skipped, tail: pending)
  }

  private static func assemble(
    _ head: [Substring], _ segments: [Segment], skipped: Int, tail: [Substring]
  ) -> String {
    var lines = head.map { line in
      // EXT-X-SKIP needs version 9 (section 8).
      guard let version = PlaylistProgress.value(of: "#EXT-X-VERSION:", in: line).flatMap({ Int($0) }) else {
        return String(line)
      }
      return "#EXT-X-VERSION:\(max(version, 9))"
    }
    lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=\(skipped)")
    for tag in lastingTags {
      let last = segments[..<skipped].lazy.flatMap(\.lines).last { $0.hasPrefix(tag) }
      if let last { lines.append(String(last)) }
    }
    lines += segments[skipped...].flatMap(\.lines).map(String.init)
    lines += tail.map(String.init)
    return lines.joined(separator: "\n") + "\n"
  }
}
