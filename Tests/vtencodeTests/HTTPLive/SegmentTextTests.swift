// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Text tracks as WebVTT segments with the pictures' segments.
@Suite struct SegmentTextTests {
  private static let words = """
    1
    00:00:00,500 --> 00:00:01,500
    One & <b>two</b>

    2
    00:00:03,000 --> 00:00:05,250
    Žluťoučký
    kůň

    3
    00:00:06,200 --> 00:00:06,700
    five > four

    """

  /// Eight seconds of pictures and a tone, with two text tracks.
  private func make(in folder: Folder) throws {
    try HTTPLiveTests.makeMovie(in: folder, seconds: 8)
    try Data(Self.words.utf8).write(to: URL(fileURLWithPath: folder.path("words.srt")))
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-i", "in.mkv", "-i", "words.srt", "-map", "0", "-map", "1", "-map", "1",
        "-c:v", "copy", "-c:a", "copy", "-c:s", "srt", "-metadata:s:s:0", "language=ces", "-metadata:s:s:1",
        "language=deu", "text.mkv",
      ], in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
  }

  private static let head = "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n"
  /// The texts, later by as much as the pictures: decode times begin at zero.
  private static func cues(_ shift: Double) -> [String] {
    func clock(_ seconds: Double) -> String { String(format: "00:00:%06.3f", seconds + shift) }
    return [(0.5, 1.5, "One &amp; two"), (3, 5.25, "Žluťoučký\nkůň"), (6.2, 6.7, "five &gt; four")].map {
      "\n\(clock($0)) --> \(clock($1))\n\($2)\n"
    }
  }

  /// How much later than in the movie the first picture of a rendition is presented.
  private static func shift(_ folder: Folder, _ playlist: PlaylistChecker) throws -> Double {
    let (map, first) = (try #require(playlist.map), try #require(playlist.segments.first))
    func bytes(_ file: String, _ range: Range<Int>?) throws -> Data {
      let data = try Data(contentsOf: folder.url.appendingPathComponent(file))
      return range.map { data[$0] } ?? data
    }
    try (bytes(map.file, map.range) + bytes(first.file, first.range))
      .write(to: folder.url.appendingPathComponent("alone.mp4"))
    let (from, to) = (Probe(folder.path("text.mkv")), Probe(folder.path("alone.mp4")))
    return try #require(to.frames().compactMap(\.time).min())
      - #require(from.frames().compactMap(\.time).min())
  }

  private func expectText(_ folder: Folder, _ name: String, after run: Finished) throws {
    #expect(run.status == 0, "\(run.complaints)")
    let pictures = try HTTPLiveTests.media(folder, "\(name)-180p.m3u8")
    let main = try HTTPLiveTests.multivariant(folder, "\(name).m3u8")
    let texts = main.media.filter { $0["TYPE"] == "SUBTITLES" }
    #expect(texts.map { $0["LANGUAGE"] } == ["cs", "de"])
    #expect(texts.compactMap { $0["URI"] } == ["\(name)-text.m3u8", "\(name)-text-2.m3u8"])
    #expect(main.variants.allSatisfy { $0.attributes["SUBTITLES"] == texts.first?["GROUP-ID"] })
    for file in texts.compactMap({ $0["URI"] }) {
      let playlist = PlaylistChecker(media: try HTTPLiveTests.text(folder, file), in: nil)
      #expect(playlist.complaints.isEmpty, "\(playlist.complaints)")
      #expect(playlist.hasEnded && playlist.targetDuration == pictures.targetDuration)
      #expect(playlist.segments.map(\.seconds) == pictures.segments.map(\.seconds))
      #expect(playlist.segments.map(\.number) == pictures.segments.map(\.number))
      #expect(playlist.segments.map(\.date) == pictures.segments.map(\.date))
      let found = try playlist.segments.map { segment in
        let data = try Data(contentsOf: folder.url.appendingPathComponent(segment.file))
        return String(decoding: segment.range.map { data[$0] } ?? data, as: UTF8.self)
      }
      // Segments of two seconds: the second text is in two of them.
      let cues = Self.cues(try Self.shift(folder, pictures))
      #expect(found == [cues[0], cues[1], cues[1], cues[2]].map { Self.head + $0 })
    }
  }

  @Test("Movies have their texts in segments", arguments: [[], ["--single-file"]])
  func moviesHaveTheirTexts(_ options: [String]) throws {
    let folder = try Folder()
    try make(in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", "text.mkv", "--segment-length", "2", "--out", "talk.m3u8"] + options, in: folder.url)
    try expectText(folder, "talk", after: run)
    // A text as ffmpeg reads it: the one that spans two segments is in both.
    if options.isEmpty {
      let read = try CommandLine.run(
        "ffmpeg", ["-nostdin", "-v", "error", "-i", "talk-text-1.vtt", "-f", "srt", "-"], in: folder.url)
      let plain = read.text.replacingOccurrences(of: "\r\n", with: "\n")
      #expect(plain.contains("\nŽluťoučký\nkůň\n"), "\(read.text)")
    }
  }

  @Test("A text is in each segment in which it is shown, and one that comes late is counted")
  func lateTexts() {
    var cues = SegmentText.Cues()
    cues.append(.init(start: 1, end: nil, text: "one"))
    cues.append(.init(start: 1.5, end: 5, text: "two"))
    let first = cues.segment(from: 0, to: 2)
    #expect(
      first == Self.head + "\n00:00:01.000 --> 00:00:01.500\none\n\n00:00:01.500 --> 00:00:05.000\ntwo\n")
    #expect(cues.lateCount == 0 && cues.waiting.map(\.text) == ["two"])
    // It is shown in the first segment, too, but that is written.
    cues.append(.init(start: 1.8, end: 3, text: "three"))
    #expect(cues.lateCount == 1)
    #expect(cues.segment(from: 2, to: 4).contains("three"))
    cues.append(.init(start: 1, end: 1.5, text: "four"))
    #expect(cues.lateCount == 2)
    #expect(cues.segment(from: 4, to: 6) == Self.head + "\n00:00:01.500 --> 00:00:05.000\ntwo\n")
    #expect(cues.waiting.isEmpty)
  }

  @Test("Live streams have their texts, which later runs replace")
  func liveStreamsHaveTheirTexts() throws {
    let folder = try Folder()
    try make(in: folder)
    func run(_ options: String...) throws -> Finished {
      try CommandLine.run(
        CommandLine.vtencode,
        ["streaming", "text.mkv", "--playlist", "event", "--out", "live.m3u8"] + options, in: folder.url)
    }
    // At the pace of the movie, since a text that comes late is not in its segment.
    try expectText(folder, "live", after: try run())
    let again = try run("--unpaced", "--overwrite", "--no-subtitles")
    #expect(again.status == 0, "\(again.complaints)")
    #expect(!folder.contents.contains { $0.contains("-text") }, "\(folder.contents)")
  }

  @Test("Texts are encrypted with the key of the segments")
  func textsAreEncrypted() throws {
    let folder = try Folder()
    try make(in: folder)
    try Data(0..<16).write(to: folder.url.appendingPathComponent("hls.key"))
    let run = try CommandLine.vtencode(
      "transcoding", "text.mkv", "--hls-key", "hls.key", "--hls-key-uri", "hls.key", "--out", "talk.m3u8",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try HTTPLiveTests.text(folder, "talk-text.m3u8").contains("#EXT-X-KEY:METHOD=AES-128"))
    let plain = try CommandLine.run(
      "openssl",
      [
        "enc", "-d", "-aes-128-cbc", "-K", "000102030405060708090a0b0c0d0e0f", "-iv",
        "00000000000000000000000000000001", "-in", "talk-text-1.vtt",
      ], in: folder.url)
    #expect(plain.text.hasPrefix(Self.head) && plain.text.contains("\nfive &gt; four\n"), "\(plain)")
    #expect(plain.text.contains("\nŽluťoučký\nkůň\n") && !plain.text.contains("One"), "\(plain)")
  }

  @Test func aTextIsInEachSegmentThatItIsShownIn() {
    let cues = [
      SegmentText.Cue(start: 1, end: 5, text: "a\n\nb --> c\0"), .init(start: 4, end: nil, text: "d"),
      .init(start: 3600 * 100, end: 3600 * 100 + 0.0001, text: "e"),
    ]
    func document(_ start: Double, _ end: Double) -> String {
      String(SegmentText.document(cues, from: start, to: end).dropFirst(Self.head.count))
    }
    #expect(document(0, 1) == "")
    #expect(document(0, 2) == "\n00:00:01.000 --> 00:00:05.000\na\nb --&gt; c\u{FFFD}\n")
    #expect(
      document(4, 6)
        == "\n00:00:01.000 --> 00:00:05.000\na\nb --&gt; c\u{FFFD}\n\n00:00:04.000 --> 00:00:06.000\nd\n")
    // At least a millisecond, and hours with three digits.
    #expect(document(3600 * 100, 3600 * 100 + 2).hasSuffix("\n100:00:00.000 --> 100:00:00.001\ne\n"))
  }
}
