// SPDX-License-Identifier: Apache-2.0

/// Makes playlist delta updates (RFC 8216bis, 6.2.5.1): a media playlist in which old segments are
/// replaced with their number, for a player that has them from an earlier version.
enum PlaylistDelta {
  /// The tags of media segments (4.4.4), which stand after those of the whole playlist.
  private static let segmentTags = [
    "#EXTINF:", "#EXT-X-BYTERANGE:", "#EXT-X-KEY:", "#EXT-X-MAP:", "#EXT-X-PROGRAM-DATE-TIME:",
    "#EXT-X-BITRATE:", "#EXT-X-PART:",
  ]
  /// The media segment tags without a value. They are compared as a whole, because other tags begin
  /// with the same text.
  private static let plainSegmentTags: Set<Substring> = ["#EXT-X-DISCONTINUITY", "#EXT-X-GAP"]

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
      let isOfSegment = !line.hasPrefix("#") || isSegmentTag(line)
      if segments.isEmpty, pending.isEmpty, !isOfSegment {
        head.append(line)
        continue
      }
      pending.append(line)
      if !line.hasPrefix("#") {
        segments.append(Segment(lines: pending, seconds: seconds))
        // Parts count only after the last segment.
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

  private static func isSegmentTag(_ line: Substring) -> Bool {
    plainSegmentTags.contains(line) || segmentTags.contains(where: line.hasPrefix)
  }

  /// The tags of skipped segments that apply to those after them: the map and the keys, in their
  /// order, and tags of the whole playlist that stand between segments, such as EXT-X-DATERANGE.
  private static func lasting(_ segments: some Sequence<Segment>) -> [Substring] {
    var lasting: [Substring] = []
    var isBehindKey = false
    for line in segments.lazy.flatMap(\.lines) where line.hasPrefix("#") {
      let isKey = line.hasPrefix("#EXT-X-KEY:")
      // Several keys in a row are the same key in several formats (4.4.4.4).
      if isKey, !isBehindKey { lasting.removeAll { $0.hasPrefix("#EXT-X-KEY:") } }
      if line.hasPrefix("#EXT-X-MAP:") { lasting.removeAll { $0.hasPrefix("#EXT-X-MAP:") } }
      if isKey || line.hasPrefix("#EXT-X-MAP:") || !isSegmentTag(line) { lasting.append(line) }
      isBehindKey = isKey
    }
    return lasting
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
    lines += lasting(segments[..<skipped]).map(String.init)
    lines += segments[skipped...].flatMap(\.lines).map(String.init)
    lines += tail.map(String.init)
    return lines.joined(separator: "\n") + "\n"
  }
}
