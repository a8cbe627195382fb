// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A media presentation description (ISO/IEC 23009-1, 5.2) over the segments of media playlists.
struct DASHManifest: Sendable, Equatable {
  /// A rendition of the pictures or of the audio (5.3.5).
  struct Representation: Sendable, Equatable {
    /// The rendition's name within the names of its files.
    var name: String
    var isVideo: Bool
    var codec: String?
    /// The rate in bits a second.
    var bandwidth: Double
    var width = 0
    var height = 0
    var frameRate = 0.0
    var language: String?
    var initialization: String
    var segments: [MediaPlaylist.Segment]
  }

  var representations: [Representation] = []
  /// The longest segment in seconds.
  var targetDuration: Int
  /// Where the time of the segments begins, in seconds since 1970, while the stream is live; nil
  /// for a presentation that has its end.
  var epoch: Double?
  /// The time of this version in seconds since 1970.
  var published = 0.0
  /// Whether old segments have left the presentation.
  var isWindow = false

  /// Times are written in microseconds.
  private static let timescale = 1_000_000

  private static func units(_ seconds: Double) -> Int {
    // Far beyond any movie, and far from what sums could overflow.
    Int(min(max((seconds * Double(timescale)).rounded(), -0x1p52), 0x1p52))
  }

  /// The time of the segments at which the presentation begins, in microseconds.
  private var origin: Int {
    guard epoch == nil else { return 0 }
    let starts = representations.compactMap { $0.segments.first.map { Self.units($0.start) } }
    // The segments of a window begin at different times, and not all have what the first has.
    return (isWindow ? starts.max() : starts.min()) ?? 0
  }

  /// - Parameter names: the names of the files.
  func text(_ names: SegmentNames) -> String {
    var lines = [
      #"<?xml version="1.0" encoding="utf-8"?>"#,
      #"<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011""#,
    ]
    var attributes = [#"minBufferTime="PT\#(targetDuration)S""#]
    if let epoch {
      attributes += [
        #"type="dynamic""#, #"availabilityStartTime="\#(SegmentDate.text(epoch))""#,
        #"publishTime="\#(SegmentDate.text(published))""#, #"minimumUpdatePeriod="PT\#(targetDuration)S""#,
        #"suggestedPresentationDelay="PT\#(3 * targetDuration)S""#,
      ]
      if isWindow {
        let depth = representations.map { $0.segments.reduce(0) { $0 + $1.seconds } }.min() ?? 0
        attributes.append(#"timeShiftBufferDepth="PT\#(TextFormat.fixed(depth, 3))S""#)
      }
    } else {
      let end = representations.compactMap { $0.segments.last.map { $0.start + $0.seconds } }.max() ?? 0
      let seconds = Double(Self.units(end) - origin) / Double(Self.timescale)
      attributes += [#"type="static""#, #"mediaPresentationDuration="PT\#(TextFormat.fixed(seconds, 6))S""#]
    }
    lines.append("  " + attributes.joined(separator: " ") + ">")
    lines.append(#"  <Period id="0" start="PT0S">"#)
    let pictures = representations.filter(\.isVideo)
    // Renditions of the pictures are alternatives; each of the audio may be in another language.
    for (index, group) in ([pictures] + representations.filter { !$0.isVideo }.map { [$0] }).enumerated() {
      guard let first = group.first else { continue }
      let kind = first.isVideo ? "video" : "audio"
      let language = first.language.map { #" lang="\#($0)""# } ?? ""
      lines.append(
        #"    <AdaptationSet id="\#(index)" contentType="\#(kind)" mimeType="\#(kind)/mp4"\#(language) segmentAlignment="true" startWithSAP="1">"#
      )
      for representation in group { lines += self.lines(representation, names) }
      lines.append("    </AdaptationSet>")
    }
    return (lines + ["  </Period>", "</MPD>", ""]).joined(separator: "\n")
  }

  private func lines(_ representation: Representation, _ names: SegmentNames) -> [String] {
    var attributes = [
      #"id="\#(representation.name)""#,
      #"bandwidth="\#(max(1, Int(clamping: representation.bandwidth.rounded(.up))))""#,
    ]
    if let codec = representation.codec { attributes.append(#"codecs="\#(codec)""#) }
    if representation.isVideo {
      attributes += [#"width="\#(representation.width)""#, #"height="\#(representation.height)""#]
      if representation.frameRate > 0 {
        attributes.append(#"frameRate="\#(Int(clamping: (representation.frameRate * 1000).rounded()))/1000""#)
      }
    }
    var lines = ["      <Representation " + attributes.joined(separator: " ") + ">"]
    lines.append(
      #"        <SegmentTemplate timescale="\#(Self.timescale)" presentationTimeOffset="\#(origin)" startNumber="\#(representation.segments.first?.number ?? 0)""#
    )
    // A name has no dollar sign, which would stand for a variable (5.3.9.4.4).
    lines.append(
      #"          initialization="\#(names.file(representation.initialization))" media="\#(names.stem)-\#(representation.name)-$Number$.m4s">"#
    )
    lines.append("          <SegmentTimeline>")
    lines += Self.timeline(representation.segments).map { "            " + $0 }
    return lines + ["          </SegmentTimeline>", "        </SegmentTemplate>", "      </Representation>"]
  }

  /// The entries of a segment timeline (5.3.9.6), in which equal durations are one entry.
  static func timeline(_ segments: [MediaPlaylist.Segment]) -> [String] {
    var entries: [(time: Int, duration: Int, repeats: Int)] = []
    for (index, segment) in segments.enumerated() {
      let time = units(segment.start)
      // The next segment's beginning, so that rounding leaves no gap, unless there is one.
      let following = index + 1 < segments.count ? units(segments[index + 1].start) : nil
      var duration = units(segment.seconds)
      if let following, abs(following - time - duration) <= 2000 { duration = following - time }
      if let last = entries.last, last.duration == duration, last.time + (last.repeats + 1) * duration == time
      {
        entries[entries.count - 1].repeats += 1
      } else {
        entries.append((time, duration, 0))
      }
    }
    return entries.map { entry in
      #"<S t="\#(entry.time)" d="\#(entry.duration)""# + (entry.repeats > 0 ? #" r="\#(entry.repeats)""# : "")
        + "/>"
    }
  }
}
