// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FFmpegMedia

@Suite struct PlaylistTextTests {
  private func reduced(_ lines: String...) throws -> [String] {
    let text = try #require(PlaylistText(Data(lines.joined(separator: "\r\n").utf8)))
    return text.reduced.split(separator: "\n").map(String.init)
  }

  @Test func theVariantWithTheHighestRateIsChosenWithItsAudio() throws {
    let audio = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"one, two\",URI=\"b.m3u8\""
    let best = "#EXT-X-STREAM-INF:CODECS=\"avc1.64001f,mp4a.40.2\",BANDWIDTH=900,AUDIO=\"b\""
    let found = try reduced(
      "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",URI=\"a.m3u8\"",
      audio,
      "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"b\",NAME=\"x\",URI=\"s.m3u8\"",
      "#EXT-X-STREAM-INF:BANDWIDTH=100,CODECS=\"avc1.42c01e\",AUDIO=\"a\"", "low.m3u8", best, "# a remark",
      "",
      "high.m3u8", "#EXT-X-STREAM-INF:BANDWIDTH=2000,CODECS=\"mp4a.40.2\"", "sound.m3u8",
      "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=9000,URI=\"i.m3u8\"")
    #expect(found == ["#EXTM3U", audio, best, "high.m3u8"])
  }

  @Test func aMediaPlaylistStaysAsItIs() throws {
    let found = try reduced("#EXTM3U", "#EXTINF:4,", "a.ts", "#EXT-X-ENDLIST")
    #expect(found == ["#EXTM3U", "#EXTINF:4,", "a.ts", "#EXT-X-ENDLIST"])
  }

  @Test func whatDoesNotBeginWithTheTagIsNoPlaylist() {
    #expect(PlaylistText(Data("#EXTINF:4,\na.ts".utf8)) == nil)
    #expect(PlaylistText(Data([0x23, 0x45, 0xFF])) == nil)
    #expect(PlaylistText(Data("#EXTM3U\na.ts".utf8))?.isUseful == false)
    #expect(PlaylistText.isName("http://a.example/live.M3U8?x=.ts") && !PlaylistText.isName("a.ts?b.m3u8"))
  }

  @Test func referencesAreFound() throws {
    let text = try #require(
      PlaylistText(
        Data(
          """
          #EXTM3U
          # data:remark
          #EXT-X-KEY:METHOD=AES-128,URI="skd://key"
          #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
          #EXTINF:4,a:b URI=http://b.example/
          a/b:c.ts
          HTTP://a.example/a.ts
          data:,a
          """.utf8)))
    #expect(text.references == ["skd://key", "a/b:c.ts", "HTTP://a.example/a.ts", "data:,a"])
    #expect(throws: MediaFileError.self) {
      try PlaylistReferences(.origin("http://a.example:80"), name: "p").check(text, at: "http://a.example/p")
    }
    let good = try #require(PlaylistText(Data("#EXTM3U\na/b:c.ts\n/d.ts\nhttp://a.example/a.ts\n".utf8)))
    try PlaylistReferences(.origin("http://a.example:80"), name: "p").check(good, at: "http://a.example/p")
    let other = try #require(PlaylistText(Data("#EXTM3U\n//b.example/c.ts\n".utf8)))
    #expect(throws: MediaFileError.self) {
      try PlaylistReferences(.origin("http://a.example:80"), name: "p").check(other, at: "http://a.example/p")
    }
  }

  @Test func addressesOfTheSameOriginAreAllowedAlone() {
    let references = PlaylistReferences(.origin("https://a.example:443"), name: "p")
    for good in [
      "https://a.example/x.ts", "https://A.example:443/x.ts?y", "crypto+https://a.example/x",
      "https://u:p@a.example/x",
    ] { #expect(references.allows(good), "\(good)") }
    for bad in [
      "http://a.example/x.ts", "https://a.example:444/x", "https://b.example/x",
      "https://a.example@b.example/x",
      "https://b.example\\@a.example/x", "https://a.example\\@b.example/x", "HTTPS://a.example/x",
      "https://a.example /x", "https://a.example\t@b.example/x", "file:/etc/passwd", "/etc/passwd", "data:,x",
      "crypto+file:/etc/passwd",
      "concat:https://a.example/x|/etc/passwd", "https:a.example/x", "",
    ] { #expect(!references.allows(bad), "\(bad)") }
    #expect(PlaylistReferences.origin(of: "http://[::1]:8080/x") == "http://[::1]:8080")
    #expect(PlaylistReferences.origin(of: "http://[::1]/x") == "http://[::1]:80")
  }

  @Test func filesBelowTheFolderAreAllowedAlone() throws {
    let root = try #require(PlaylistReferences.real(FileManager.default.temporaryDirectory.path))
    let folder = root + "/playlist-\(UInt64.random(in: 0...(.max)))"
    try FileManager.default.createDirectory(atPath: folder + "/in", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createSymbolicLink(atPath: folder + "/in/out", withDestinationPath: "/etc")
    try #require(mkfifo(folder + "/in/pipe.ts", 0o600) == 0)
    let references = PlaylistReferences(.folder(folder + "/in"), name: "p")
    for good in ["file:\(folder)/in/a.ts", "crypto:file:\(folder)/in/a.ts", "file:\(folder)/in/../in/a"] {
      #expect(references.allows(good), "\(good)")
    }
    for bad in [
      "file:\(folder)/a.ts", "file:\(folder)/in/../a.ts", "file:\(folder)/in/out/passwd",
      "file:\(folder)/inner/a",
      "file:\(folder)/in", "\(folder)/in/a.ts", "file:\(folder)/in/pipe.ts", "file:/\(folder)/inner/a",
      "file://etc/passwd", "http://a.example/a.ts", "file:in/a.ts",
    ] { #expect(!references.allows(bad), "\(bad)") }
  }

  /// Files in a folder of their own, opened as a playlist.
  private func open(_ files: [String: [UInt8]], _ name: String) throws -> Demuxer {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, bytes) in files { try Data(bytes).write(to: folder.appendingPathComponent(name)) }
    return try Demuxer(url: folder.appendingPathComponent(name).path)
  }

  @Test("A playlist that leads to itself, and one of a variant that is not UTF-8, are errors")
  func nestedPlaylists() {
    let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n"
    for (files, name) in [
      (["m.m3u8": [UInt8]((master + "m.m3u8\n").utf8)], "m.m3u8"),
      (
        [
          "m.m3u8": [UInt8]((master + "v.m3u8\n").utf8),
          "v.m3u8": [UInt8]("#EXTM3U\n#EXTINF:1,\n".utf8) + [0xFF] + [UInt8]("a.ts\n#EXT-X-ENDLIST\n".utf8),
        ], "m.m3u8"
      ),
    ] as [([String: [UInt8]], String)] {
      #expect(throws: MediaFileError.self) { try open(files, name) }
    }
  }

  @Test("Many variants without an address take a time that grows with their number")
  func manyVariants() throws {
    let lines = String(repeating: "#EXT-X-STREAM-INF:\n", count: 200_000)
    let text = try #require(PlaylistText(Data(("#EXTM3U\n" + lines).utf8)))
    #expect(text.hasVariants && text.reduced.hasPrefix("#EXTM3U\n#EXT-X-STREAM-INF:"))
  }
}
