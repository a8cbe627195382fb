// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Segments of movies whose pictures pause, and whose audio begins late or lasts longer.
@Suite struct UnevenSourceTests {
  private static func make(_ arguments: String, in folder: Folder) throws {
    let made = try CommandLine.shell("ffmpeg -nostdin -v error \(arguments) in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// The times of the pictures from the first one on, in milliseconds.
  private static func times(_ path: String) throws -> [Int] {
    let times = try HTTPLiveTests.times(path)
    return times.map { Int((($0 - times[0]) * 1000).rounded()) }
  }

  private static let expression = [
    // A pause of six seconds, and a rate that changes.
    "lt(t,3)+gt(t,9)", "eq(mod(n,3),0)+lt(mod(n,40),10)",
  ]

  @Test(
    "Pictures of uneven durations keep their times", arguments: expression, [[], ["--part-length", "0.5"]])
  func unevenPicturesKeepTheirTimes(_ expression: String, parts: [String]) throws {
    let folder = try Folder()
    try Self.make(
      "-f lavfi -i testsrc2=size=160x120:rate=25:duration=11 -f lavfi -i sine=duration=11 "
        + "-vf \"select='\(expression)'\" -fps_mode vfr -c:v libx264 -preset ultrafast -c:a aac", in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "streaming", "in.mp4", "--unpaced", "--playlist", "event", "--segment-length", "1", "--out", "x.m3u8",
      ] + parts, in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Self.times(folder.path("x.m3u8")) == (try Self.times(folder.path("in.mp4"))))
    _ = try HTTPLiveTests.media(folder, "x-120p.m3u8")
  }

  @Test(
    "A part of a movie in which there is no audio yet needs none", arguments: ["transcoding", "streaming"])
  func audioThatComesLaterIsNotNeeded(_ command: String) throws {
    let folder = try Folder()
    try Self.make(
      "-f lavfi -i testsrc2=size=160x120:rate=25:duration=6 -itsoffset 5 -f lavfi -i sine=duration=1 "
        + "-c:v libx264 -preset ultrafast -c:a aac", in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [command, "in.mp4", "--duration", "3", "--dash", "--out", "x.m3u8"]
        + (command == "streaming" ? ["--unpaced"] : []), in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try HTTPLiveTests.text(folder, "x.m3u8")
    #expect(playlist.contains("x-120p.m3u8") && !playlist.contains("AUDIO"), "\(playlist)")
    #expect(try Probe(folder.path("x.m3u8")).frameCount() == 75)
    #expect(folder.contents.contains("x.mpd") && !folder.contents.contains("x-sound.m3u8"))
  }

  @Test("Encoded audio that begins before the picture has no negative time, and stays in sync with it")
  func audioThatComesEarlierHasNoNegativeTime() throws {
    let folder = try Folder()
    try Self.make(
      "-itsoffset 0.5 -f lavfi -i testsrc2=size=160x120:rate=25:duration=3 -f lavfi -i sine=duration=4 "
        + "-map 0 -map 1 -c:v libx264 -preset ultrafast -c:a aac -f matroska", in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "in.mp4", "--audio", "aac", "--out", "x.m3u8"], in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    func first(_ kind: String) throws -> [Double] {
      let probed = try CommandLine.shell(
        "ffprobe -v error -select_streams \(kind) -show_entries packet=pts_time,dts_time -of csv=p=0 x.m3u8",
        in: folder)
      return try #require(probed.text.split(separator: "\n").first).split(separator: ",").compactMap {
        Double($0)
      }
    }
    let (picture, audio) = (try first("v"), try first("a"))
    #expect(picture.count == 2 && picture[1] == 0, "\(picture)")
    // The pictures are reordered; the first audio is heard at most one packet after the first one
    // that is decoded.
    #expect(audio.count == 2 && audio[0] >= 0 && audio[0] < 1024.0 / 44_100, "\(audio)")
  }

  @Test("Audio that comes later makes no segment longer")
  func laterAudioMakesNoSegmentLonger() throws {
    let folder = try Folder()
    try Self.make(
      "-f lavfi -i testsrc2=size=160x120:rate=25:duration=8 -itsoffset 5 -f lavfi -i sine=duration=3 "
        + "-c:v libx264 -preset ultrafast -c:a aac", in: folder)
    let run = try CommandLine.vtencode(
      "streaming", "in.mp4", "--unpaced", "--playlist", "event", "--segment-length", "1", "--out", "x.m3u8",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try HTTPLiveTests.media(folder, "x-120p.m3u8")
    #expect(playlist.targetDuration == 1, "\(playlist.text)")
    #expect(playlist.segments.prefix(7).allSatisfy { abs($0.seconds - 1) < 0.01 }, "\(playlist.text)")
    let probe = Probe(folder.path("x.m3u8"))
    #expect(try probe.frameCount() == 200)
    #expect(try probe.streams().map(\.codec_type).sorted() == ["audio", "video"])
    try expectNoErrors(probe)
  }

  @Test("Audio of a transport stream, which has no configuration, is encoded")
  func audioOfATransportStreamIsEncoded() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 3)
    let made = try CommandLine.shell("ffmpeg -nostdin -v error -i in.mkv -c copy in.ts", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode("transcoding", "in.ts", "--out", "x.m3u8", in: folder)
    #expect(run.status == 0 && run.text.contains("encoded as AAC"), "\(run)")
    let probe = Probe(folder.path("x.m3u8"))
    #expect(try probe.streams().map(\.codec_type).sorted() == ["audio", "video"])
    try expectNoErrors(probe)
    let copied = try CommandLine.vtencode(
      "transcoding", "in.ts", "--audio", "copy", "--out", "y.m3u8", in: folder)
    #expect(copied.status == 1 && copied.complaints.contains("--audio aac"), "\(copied)")
  }

  @Test("Audio that lasts longer than the pictures counts")
  func longerAudioCounts() throws {
    let folder = try Folder()
    try Self.make(
      "-f lavfi -i testsrc2=size=160x120:rate=25:duration=3 -f lavfi -i sine=duration=8 "
        + "-c:v libx264 -preset ultrafast -c:a aac", in: folder)
    let run = try CommandLine.vtencode("transcoding", "in.mp4", "--out", "x.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try HTTPLiveTests.media(folder, "x-120p.m3u8")
    #expect(abs(playlist.segments.reduce(0) { $0 + $1.seconds } - 8) < 0.15, "\(playlist.text)")
  }

  @Test("A name that is too long for its segments is refused before anything is encoded")
  func longNamesAreRefused() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 1)
    let name = String(repeating: "я", count: 60) + ".m3u8"
    let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", name, in: folder)
    #expect(run.status == 1 && run.complaints.contains("too long"), "\(run.complaints)")
    #expect(folder.contents == ["in.mkv"])
  }

  @Test("--overwrite leaves files alone whose names merely look like those of a run")
  func otherFilesAreLeftAlone() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 1)
    let others = [
      "x-180p-2.mp4": "a movie", "x-720p.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\ny-1.m3u8\n",
      "x.mpd": "<MPD/>",
    ]
    for (name, text) in others { try Data(text.utf8).write(to: folder.url.appendingPathComponent(name)) }
    for _ in 0..<2 {
      let run = try CommandLine.vtencode(
        "transcoding", "in.mkv", "--overwrite", "--single-file", "--out", "x.m3u8", in: folder)
      #expect(run.status == 0, "\(run.complaints)")
    }
    for (name, text) in others { #expect(try HTTPLiveTests.text(folder, name) == text) }
    // The movie of the first run is replaced.
    #expect(folder.contents.filter { $0.hasSuffix(".mp4") } == ["x-180p-0.mp4", "x-180p-2.mp4"])
  }
}
