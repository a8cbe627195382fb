// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// `--out x.m3u8` as a player sees it: playlists by the standard, and segments that ffmpeg decodes.
@Suite struct HTTPLiveTests {
  /// Ten seconds of pictures, 25 a second, and a tone.
  static func makeMovie(in folder: Folder, seconds: Int = 10, size: String = "320x180", hasAudio: Bool = true)
    throws
  {
    let audio =
      hasAudio ? ["-f", "lavfi", "-i", "sine=frequency=440:duration=\(seconds)", "-c:a", "aac"] : []
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=\(seconds)",
      ] + audio + ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", folder.path("in.mkv")])
    try #require(made.status == 0, "\(made.complaints)")
  }

  static func text(_ folder: Folder, _ name: String) throws -> String {
    try String(contentsOf: folder.url.appendingPathComponent(name), encoding: .utf8)
  }

  static func media(_ folder: Folder, _ name: String) throws -> PlaylistChecker {
    let checker = PlaylistChecker(media: try text(folder, name), in: folder.url)
    #expect(checker.complaints.isEmpty, "\(name): \(checker.complaints)\n\(checker.text)")
    return checker
  }

  static func multivariant(_ folder: Folder, _ name: String) throws -> MultivariantChecker {
    let checker = MultivariantChecker(try text(folder, name))
    #expect(checker.complaints.isEmpty, "\(checker.complaints)")
    return checker
  }

  /// The times of the pictures of a playlist, in order.
  static func times(_ path: String) throws -> [Double] {
    try Probe(path).frames().compactMap(\.time).sorted()
  }

  @Test("A movie's playlist lists all pictures and audio in segments of four seconds")
  func aMoviesPlaylistListsAll() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "talk.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(
      folder.contents == [
        "in.mkv", "talk-180p-0.m4s", "talk-180p-1.m4s", "talk-180p-2.m4s", "talk-180p-iframes.m3u8",
        "talk-180p-init-0.mp4", "talk-180p.m3u8", "talk.m3u8",
      ])
    let playlist = try Self.media(folder, "talk-180p.m3u8")
    #expect(playlist.kind == "VOD" && playlist.targetDuration == 4)
    // The audio lasts a little longer than the pictures.
    #expect(playlist.segments.map { ($0.seconds * 10).rounded() / 10 } == [4, 4, 2])
    #expect(playlist.lines.contains("#EXT-X-INDEPENDENT-SEGMENTS"))
    let probe = Probe(folder.path("talk.m3u8"))
    #expect(try probe.frameCount() == 250)
    try expectNoErrors(probe)
    #expect(Set(try probe.streams().map(\.codec_type)) == ["audio", "video"])
    let times = try Self.times(folder.path("talk.m3u8"))
    for (one, next) in zip(times, times.dropFirst()) { #expect(abs(next - one - 0.04) < 0.001) }
    // Each segment can be decoded by itself, and begins with a key frame.
    for segment in playlist.segments {
      let alone =
        try Data(contentsOf: folder.url.appendingPathComponent(try #require(playlist.map).file))
        + Data(contentsOf: folder.url.appendingPathComponent(segment.file))
      try alone.write(to: folder.url.appendingPathComponent("alone.mp4"))
      let frames = try Probe(folder.path("alone.mp4")).frames()
      #expect(frames.first?.key_frame == 1)
      #expect(frames.count == Int((segment.seconds * 25).rounded()))
    }
  }

  @Test("The multivariant playlist has the codecs, the size, and the rates as measured over the segments")
  func theMultivariantPlaylistIsMeasured() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--segment-length", "2", "--out", "talk.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try Self.media(folder, "talk-180p.m3u8")
    #expect(playlist.segments.count == 5)
    let variant = try #require(try Self.multivariant(folder, "talk.m3u8").variants.first)
    #expect(variant.file == "talk-180p.m3u8")
    #expect(variant.attributes["RESOLUTION"] == "320x180" && variant.attributes["FRAME-RATE"] == "25.000")
    let codecs = try #require(variant.attributes["CODECS"])
    #expect(codecs.wholeMatch(of: /avc1\.[0-9A-F]{6},mp4a\.40\.2/) != nil, "\(codecs)")
    // 4.4.6.2, with the target of 2 s: runs of one segment last between 1 and 3 s.
    let sizes = try playlist.segments.map {
      try Data(contentsOf: folder.url.appendingPathComponent($0.file)).count
    }
    let peak = zip(sizes, playlist.segments).map { Double($0 * 8) / $1.seconds }.max() ?? 0
    let average = Double(sizes.reduce(0, +) * 8) / playlist.seconds
    #expect(abs((Double(variant.attributes["BANDWIDTH"] ?? "") ?? 0) - peak) < peak * 0.001 + 1)
    #expect(abs((Double(variant.attributes["AVERAGE-BANDWIDTH"] ?? "") ?? 0) - average) < average * 0.001 + 1)
  }

  @Test("A file with byte ranges holds all segments", arguments: ["vod", "event"])
  func aFileWithByteRangesHoldsAll(_ kind: String) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, seconds: 5)
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--unpaced", "--bitrate", "300k", "--playlist", kind, "--single-file", "--out",
      "talk.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents.count == 5 && folder.contents.contains("talk-180p.m3u8"), "\(folder.contents)")
    let playlist = try Self.media(folder, "talk-180p.m3u8")
    #expect(playlist.kind == kind.uppercased() && playlist.hasEnded)
    // The ranges follow one another without a gap to the end of the file.
    var end = try #require(playlist.map?.range).upperBound
    for segment in playlist.segments {
      #expect(segment.range?.lowerBound == end)
      end = segment.range?.upperBound ?? 0
    }
    let file = try #require(playlist.segments.first?.file)
    #expect(try Data(contentsOf: folder.url.appendingPathComponent(file)).count == end)
    #expect(try Probe(folder.path("talk.m3u8")).frameCount() == 125)
    try expectNoErrors(Probe(folder.path("talk.m3u8")))
  }

  @Test("A window playlist lists the newest segments, in numbers that go on, and ends with the run")
  func aWindowPlaylistListsTheNewest() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--unpaced", "--bitrate", "300k", "--segment-length", "1", "--window", "4",
      "--out",
      "live.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try Self.media(folder, "live-180p.m3u8")
    #expect(playlist.kind == nil && playlist.hasEnded && playlist.segments.count == 4)
    // Ten segments of a second, of which six have left the playlist; no player is done with them.
    let files = folder.contents.filter { $0.hasSuffix(".m4s") }
    #expect(files.count == 10 && files.contains("live-180p-\(playlist.sequence - 6).m4s"), "\(files)")
    #expect(
      playlist.segments.allSatisfy {
        $0.date?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil
      })
    _ = try Self.multivariant(folder, "live.m3u8")
    #expect(try Probe(folder.path("live.m3u8")).frameCount() == 100)
  }

  @Test("Ctrl-C ends a stream with EXT-X-ENDLIST, and its status is 0")
  func aSignalEndsAStream() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, seconds: 4)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "streaming", "in.mkv", "--loop", "--unpaced", "--bitrate", "300k", "--progress", "json", "--out",
        "live.m3u8",
      ], in: folder.url, signal: .sent(SIGINT, atFrame: 260))
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try Self.media(folder, "live-180p.m3u8")
    #expect(playlist.hasEnded && playlist.segments.count >= 4)
    #expect(try Probe(folder.path("live.m3u8")).frameCount() >= 200)
    #expect(!folder.contents.contains { $0.hasPrefix(".") }, "\(folder.contents)")
  }

  @Test("An interrupted movie has -part in its names, and an earlier one stays as it is")
  func anInterruptedMovieIsAPart() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, seconds: 4)
    let whole = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "talk.m3u8", in: folder)
    #expect(whole.status == 0, "\(whole.complaints)")
    let before = try Self.text(folder, "talk-180p.m3u8")
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "transcoding", "in.mkv", "in.mkv", "in.mkv", "in.mkv", "in.mkv", "in.mkv", "in.mkv", "--join",
        "--overwrite",
        "--progress", "json", "--out", "talk.m3u8",
      ], in: folder.url, signal: .sent(SIGTERM, atFrame: 60))
    #expect(run.status == 143, "\(run.status) \(run.complaints)")
    #expect(try Self.text(folder, "talk-180p.m3u8") == before)
    #expect(try Probe(folder.path("talk.m3u8")).frameCount() == 100)
    let part = try Self.media(folder, "talk-part-180p.m3u8")
    #expect(!part.segments.isEmpty)
    try expectNoErrors(Probe(folder.path("talk-part.m3u8")))
  }

  @Test("An earlier run's files are replaced with --overwrite alone, and other files never")
  func earlierFilesNeedOverwrite() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, seconds: 5)
    let others = ["talk-notes.txt", "talk-180p.txt", "talk2-180p-0.m4s", "talk-180p-0.m4s.bak"]
    for name in others { try Data("mine".utf8).write(to: folder.url.appendingPathComponent(name)) }
    func run(_ more: String...) throws -> Finished {
      try CommandLine.run(
        CommandLine.vtencode, ["transcoding", "in.mkv", "--out", "talk.m3u8"] + more, in: folder.url)
    }
    #expect(try run("--segment-length", "1").status == 0)
    #expect(folder.contents.contains("talk-180p-4.m4s"))
    let again = try run()
    #expect(again.status == 1 && again.complaints.contains("--overwrite"), "\(again.complaints)")
    // Without its playlist, an earlier run's segments are known by their names.
    try FileManager.default.removeItem(at: folder.url.appendingPathComponent("talk.m3u8"))
    let remains = try run()
    #expect(remains.status == 1 && remains.complaints.contains("earlier run"), "\(remains.complaints)")
    #expect(try run("--overwrite").status == 0)
    #expect(
      folder.contents.filter { $0.hasSuffix(".m4s") } == [
        "talk-180p-0.m4s", "talk-180p-1.m4s", "talk2-180p-0.m4s",
      ])
    for name in others { #expect(try Self.text(folder, name) == "mine") }
    #expect(try Probe(folder.path("talk.m3u8")).frameCount() == 125)
  }

  @Test("Without room a movie leaves nothing, and the message says so")
  func withoutRoomNothingIsLeft() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, seconds: 5)
    // The limit of a file's size simulates a full disk: either is an error of `write`.
    let run = try CommandLine.shell(
      "ulimit -f 8; exec '\(CommandLine.vtencode)' transcoding in.mkv --quality 0.9 --out talk.m3u8",
      in: folder)
    #expect(run.status == 1 && run.complaints.contains("cannot write"), "\(run.status) \(run.complaints)")
    #expect(folder.contents == ["in.mkv"], "\(folder.contents)")
  }

  @Test(
    "Options that make no sense are refused with advice",
    arguments: [
      (["--segment-length", "0.1"], "0.5 to 60"), (["--window", "4"], "--playlist window"),
      (["--playlist", "window", "--window", "2"], "3 to 10000"),
      (["--playlist", "window", "--single-file"], "window"),
      (["--part-length", "0.5"], "--playlist window"), (["--psnr"], "--psnr"), (["--jobs", "2"], "--jobs"),
      (["--target-size", "1M"], "--target-size"), (["--rendition", "640"], "1280x720:2500k"),
      (["--rendition", "641x360"], "even"), (["--rendition", "64x36", "--bitrate", "1M"], "--bitrate"),
      (["--rendition", "64x36:200k,64x36:200k"], "twice"), (["--rendition", "64x36:1"], "1k"),
      (["--rendition", "64x36", "--out", "b.mp4"], "once"),
      (["--rendition", "64x36", "--multi-pass"], "one pass"),
    ])
  func badOptionsAreRefused(_ options: [String], _ word: String) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, seconds: 1)
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "in.mkv", "--out", "a.m3u8"] + options, in: folder.url)
    #expect(run.status == 64 && run.complaints.contains(word), "\(run.status) \(run.complaints)")
    #expect(folder.contents == ["in.mkv"])
  }

  @Test("Options of segments without segments are refused, and calls have none")
  func segmentsNeedAPlaylist() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, seconds: 1)
    let run = try CommandLine.vtencode("streaming", "in.mkv", "--window", "5", "--out", "a.mp4", in: folder)
    #expect(run.status == 64 && run.complaints.contains(".m3u8"), "\(run.complaints)")
    let call = try CommandLine.vtencode("conferencing", "in.mkv", "--out", "a.m3u8", in: folder)
    #expect(call.status == 64 && call.complaints.contains("streaming"), "\(call.complaints)")
  }
}
