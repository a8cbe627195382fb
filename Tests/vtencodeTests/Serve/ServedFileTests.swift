// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Testing

@testable import vtencode

/// The decisions of `serve` that need no connection: paths, ranges, and how far a playlist has
/// come.
@Suite struct ServedFileTests {
  @Test("Paths stay within the folder, whatever is escaped")
  func pathsStayWithin() {
    #expect(ServedFolder.names(inPath: "/a.m3u8") == ["a.m3u8"])
    #expect(ServedFolder.names(inPath: "/a/b%20c.m4s") == ["a", "b c.m4s"])
    #expect(ServedFolder.names(inPath: "/%C3%A9.mp4") == ["é.mp4"])
    for path in [
      "", "/", "a.m3u8", "//a", "/a/", "/a//b", "/..", "/../a", "/a/../b", "/%2e%2e/a", "/%2E./a", "/a%2fb",
      "/..%2fa",
      "/a%00", "/%", "/%4", "/%zz", "/%ff", "/.hidden", "/%2ehidden", "/a/.b/c", "http://a/b",
      "/" + String(repeating: "a", count: 256),
      String(repeating: "/a", count: 17), "/" + String(repeating: "a/", count: 2100) + "b",
    ] { #expect(ServedFolder.names(inPath: path[...]) == nil, "\(path)") }
  }

  @Test("Symbolic links, folders and pipes are not served")
  func onlyPlainFilesAreServed() throws {
    let folder = try Folder()
    let outside = try Folder()
    let manager = FileManager.default
    try Data("secret".utf8).write(to: outside.url.appendingPathComponent("s"))
    try manager.createDirectory(
      at: folder.url.appendingPathComponent("sub"), withIntermediateDirectories: true)
    for name in ["a", "sub/b"] { try Data("x".utf8).write(to: folder.url.appendingPathComponent(name)) }
    try manager.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: outside.path("s"))
    try manager.createSymbolicLink(atPath: folder.path("way"), withDestinationPath: outside.url.path)
    try manager.createSymbolicLink(atPath: folder.path("self"), withDestinationPath: folder.path("a"))
    #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
    let served = try ServedFolder(folder.url.path)
    #expect(served.open(["a"])?.read(at: 0, count: 9) == Array("x".utf8))
    #expect(served.open(["sub", "b"])?.size == 1)
    for names in [["link"], ["way", "s"], ["self"], ["pipe"], ["sub"], ["a", "b"], ["none"], []] {
      #expect(served.open(names) == nil, "\(names)")
    }
    #expect(throws: Failure.self) { try ServedFolder(folder.path("a")) }
    #expect(throws: Failure.self) { try ServedFolder(folder.path("none")) }
  }

  @Test(
    "Ranges are those of RFC 9110, 14.1.2",
    arguments: [
      ("bytes=0-9", ServedRange.part(0..<10)), ("bytes=90-", .part(90..<100)), ("bytes=-10", .part(90..<100)),
      ("bytes=-1000", .part(0..<100)), ("bytes=50-1000", .part(50..<100)), ("bytes=99-99", .part(99..<100)),
      ("bytes=5-99999999999999999999", .part(5..<100)), ("bytes=100-", .unsatisfiable),
      ("bytes=-0", .unsatisfiable),
      ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=9-5", .whole), ("bytes=", .whole),
      ("bytes=-", .whole),
      ("bytes=a-b", .whole), ("bytes=0-1,5-6", .whole), ("lines=0-1", .whole), ("bytes=1-2-3", .whole),
      ("bytes=+1-2", .whole),
      ("Bytes=0-0", .part(0..<1)),
    ])
  func rangesAreThose(_ header: String, _ range: ServedRange) {
    #expect(ServedRange(header, size: 100) == range)
    #expect(ServedRange(nil, size: 100) == .whole)
    #expect(ServedRange("bytes=0-", size: 0) == .unsatisfiable)
  }

  private static let playlist = """
    #EXTM3U
    #EXT-X-VERSION:9
    #EXT-X-TARGETDURATION:2
    #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5
    #EXT-X-PART-INF:PART-TARGET=0.5
    #EXT-X-MEDIA-SEQUENCE:10
    #EXTINF:2,
    a10.m4s
    #EXT-X-PART:DURATION=0.5,URI="a11.0.m4s",INDEPENDENT=YES
    #EXT-X-PART:DURATION=0.5,URI="a11.1.m4s"
    #EXTINF:1,
    a11.m4s
    #EXT-X-PART:DURATION=0.5,URI="a12.0.m4s",INDEPENDENT=YES
    #EXT-X-PRELOAD-HINT:TYPE=PART,URI="a12.1.m4s"

    """

  @Test("A playlist holds what RFC 8216bis, 6.2.5.2, says")
  func aPlaylistHoldsWhatItHas() throws {
    let progress = PlaylistProgress(Self.playlist)
    #expect(progress.next == 12 && progress.hint == "a12.1.m4s" && progress.targetDuration == 2)
    func directives(_ query: String) throws -> PlaylistProgress.DeliveryDirectives {
      try #require(try PlaylistProgress.DeliveryDirectives(query: query[...]))
    }
    for query in [
      "_HLS_msn=9", "_HLS_msn=11", "a=b&_HLS_msn=11&_HLS_part=1", "_HLS_msn=12&_HLS_part=0",
      "_HLS_msn=11&_HLS_part=7",
    ] {
      let wanted = try directives(query)
      #expect(progress.holds(wanted), "\(query)")
    }
    for query in ["_HLS_msn=12", "_HLS_msn=13", "_HLS_msn=12&_HLS_part=1", "_HLS_msn=13&_HLS_part=0"] {
      let wanted = try directives(query)
      #expect(!progress.holds(wanted) && !progress.isTooFar(wanted), "\(query)")
    }
    for query in ["_HLS_msn=15", "_HLS_msn=99999999999", "_HLS_msn=12&_HLS_part=7"] {
      let wanted = try directives(query)
      #expect(progress.isTooFar(wanted), "\(query)")
    }
    let ended = PlaylistProgress(Self.playlist + "#EXT-X-ENDLIST\n")
    let far = try directives("_HLS_msn=99")
    #expect(ended.holds(far) && !ended.isTooFar(far))
    let none = try PlaylistProgress.DeliveryDirectives(query: "other=1")
    #expect(none == nil)
    for query in [
      "_HLS_part=1", "_HLS_msn=", "_HLS_msn=-1", "_HLS_msn=1&_HLS_msn=2", "_HLS_msn",
      "_HLS_msn=99999999999999999999",
    ] {
      #expect(throws: PlaylistProgress.Refusal.self) {
        try PlaylistProgress.DeliveryDirectives(query: query[...])
      }
    }
  }

  @Test("Any text is read as a playlist without a trap")
  func anyTextIsRead() throws {
    for target in ["nan", "inf", "-inf", "-1", "0", "1e400", "x"] {
      let progress = PlaylistProgress(
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n"
          + "#EXT-X-PART-INF:PART-TARGET=\(target)\n#EXT-X-MEDIA-SEQUENCE:5\n#EXTINF:2,\na.m4s\n")
      #expect(progress.partTarget == nil)
      let directives = try #require(try PlaylistProgress.DeliveryDirectives(query: "_HLS_msn=6&_HLS_part=0"))
      _ = progress.isTooFar(directives)
    }
    var generator = SystemRandomNumberGenerator()
    let bytes = Array(Self.playlist.utf8)
    for _ in 0..<2000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        let place = Int.random(in: 0..<changed.count, using: &generator)
        if Bool.random(using: &generator) {
          changed[place] = [44, 61, 34, 45, 10, 57, 0, 255].randomElement(using: &generator) ?? 0
        } else {
          changed.removeSubrange(place..<min(place + 5, changed.count))
        }
      }
      let progress = PlaylistProgress(String(decoding: changed, as: UTF8.self))
      #expect(progress.next >= 0 && (1...60).contains(progress.targetDuration))
    }
  }

  @Test("A delta update and an earlier version make up the playlist, whatever its segments are")
  func deltaUpdatesMakeUpThePlaylist() throws {
    var random = SeededGenerator(seed: 44)
    for _ in 0..<200 {
      var playlist = MediaPlaylist(targetDuration: 2, kind: .event)
      playlist.partTarget = 0.5
      playlist.firstNumber = Int.random(in: 0...900, using: &random)
      playlist.map = .init(suffix: "-i.mp4")
      playlist.kind = Bool.random(using: &random) ? .event : .window
      playlist.lostDiscontinuities = Int.random(in: 0...3, using: &random)
      playlist.keyURI = Bool.random(using: &random) ? "k" : nil
      for number in 0..<Int.random(in: 1...30, using: &random) {
        playlist.segments.append(
          MediaPlaylist.Segment(
            number: playlist.firstNumber + number, resource: .init(suffix: "-\(number).m4s"),
            seconds: Double.random(in: 0.3...2.4, using: &random), date: Double(number * 3),
            isDiscontinuous: Bool.random(using: &random)))
      }
      playlist.openParts = [.init(suffix: "-p.m4s", seconds: 0.5, isIndependent: true)]
      playlist.hint = "-q.m4s"
      let text = playlist.text(SegmentNames(name: "a"))
      let whole = PlaylistChecker(media: text, in: nil)
      // 6.2.5.1: segments before the boundary of twelve seconds are left out, and no others.
      let ages = whole.segments.indices.map { index in
        0.5 + whole.segments[(index + 1)...].reduce(0) { $0 + $1.seconds }
      }
      let expected = ages.count { $0 > 12 }
      guard let delta = PlaylistDelta.text(of: text) else {
        #expect(expected == 0)
        continue
      }
      let read = PlaylistChecker(media: delta, in: nil)
      #expect(read.value("#EXT-X-SKIP:") == "SKIPPED-SEGMENTS=\(expected)")
      #expect(read.sequence == whole.sequence && read.map?.file == whole.map?.file)
      let merged = whole.segments.prefix(expected) + read.segments
      #expect(merged.map(\.file) == whole.segments.map(\.file))
      #expect(merged.map(\.seconds) == whole.segments.map(\.seconds))
      #expect(merged.map(\.date) == whole.segments.map(\.date))
      #expect(merged.map(\.isDiscontinuous) == whole.segments.map(\.isDiscontinuous))
      for tag in [
        "#EXT-X-DISCONTINUITY-SEQUENCE:", "#EXT-X-PLAYLIST-TYPE:", "#EXT-X-INDEPENDENT-SEGMENTS",
        "#EXT-X-KEY:",
        "#EXT-X-TARGETDURATION:", "#EXT-X-PART-INF:",
      ] { #expect(read.value(tag) == whole.value(tag), "\(tag)") }
      #expect(read.openParts.map(\.file) == whole.openParts.map(\.file))
      #expect(read.value("#EXT-X-PRELOAD-HINT:") == whole.value("#EXT-X-PRELOAD-HINT:"))
    }
  }

  @Test("What counts for later segments stays, in its order: maps, keys in several formats, date ranges")
  func whatCountsForLaterSegmentsStays() {
    let text = """
      #EXTM3U
      #EXT-X-TARGETDURATION:1
      #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=6
      #EXT-X-KEY:METHOD=AES-128,URI="old"
      #EXT-X-MAP:URI="old.mp4"
      #EXTINF:1,
      0.m4s
      #EXT-X-DATERANGE:ID="a"
      #EXT-X-KEY:METHOD=SAMPLE-AES,URI="b",KEYFORMAT="b"
      #EXT-X-KEY:METHOD=SAMPLE-AES,URI="c",KEYFORMAT="c"
      #EXT-X-MAP:URI="new.mp4"
      #EXTINF:1,
      1.m4s

      """ + (2..<9).map { "#EXTINF:1,\n\($0).m4s\n" }.joined()
    let delta = PlaylistDelta.text(of: text)?.split(separator: "\n").dropFirst(3).prefix(6)
    #expect(
      delta.map(Array.init) == [
        "#EXT-X-SKIP:SKIPPED-SEGMENTS=2", "#EXT-X-DATERANGE:ID=\"a\"",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"b\",KEYFORMAT=\"b\"",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"c\",KEYFORMAT=\"c\"", "#EXT-X-MAP:URI=\"new.mp4\"", "#EXTINF:1,",
      ])
  }

  @Test("A playlist that promises too little, or nothing, has no delta update")
  func anUnknownBoundaryHasNoDelta() {
    for control in ["", "CAN-SKIP-UNTIL=5", "CAN-SKIP-UNTIL=nan", "CAN-SKIP-UNTIL=inf", "CAN-SKIP-UNTIL=-9"] {
      let text =
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-SERVER-CONTROL:\(control)\n"
        + (0..<20).map { "#EXTINF:1,\n\($0).m4s\n" }.joined()
      #expect(PlaylistDelta.text(of: text) == nil, "\(control)")
    }
  }
}
