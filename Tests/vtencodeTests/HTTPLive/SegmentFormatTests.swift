// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Parts, encryption and DASH over the segments of `--out x.m3u8`.
@Suite struct SegmentFormatTests {
  @Test("Parts make up their segments, and a finished playlist has none")
  func partsMakeUpSegments() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 6)
    let run = try CommandLine.vtencode(
      "streaming", "in.mkv", "--unpaced", "--bitrate", "300k", "--part-length", "0.5", "--playlist", "event",
      "--out",
      "a.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try HTTPLiveTests.media(folder, "a-180p.m3u8")
    #expect(playlist.hasEnded && playlist.segments.count == 3)
    #expect(!playlist.text.contains("#EXT-X-PART"))
    for segment in playlist.segments {
      let stem = segment.file.replacingOccurrences(of: ".m4s", with: "")
      let parts = (0..<9).compactMap {
        try? Data(contentsOf: folder.url.appendingPathComponent("\(stem).\($0).m4s"))
      }
      // 12 pictures of 40 ms are 0.48 s: four parts and the rest.
      #expect(parts.count == 5)
      #expect(
        try parts.reduce(Data(), +) == Data(contentsOf: folder.url.appendingPathComponent(segment.file)))
    }
    #expect(try Probe(folder.path("a.m3u8")).frameCount() == 150)
    try expectNoErrors(Probe(folder.path("a.m3u8")))
  }

  @Test(
    "While a stream continues, its playlists are by the standard at any time, with parts",
    arguments: [false, true])
  func aRunningStreamIsByTheStandard(_ hasRenditions: Bool) throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 4)
    // A process that has been stopped changes nothing while its files are copied.
    let sizes = hasRenditions ? "--rendition 320x180:200k,160x90:80k" : "--bitrate 200k"
    let script = """
      has_enough() { [ -e a.m3u8 ] && [ "$(ls | grep -c '180p-[0-9]*[.]m4s')" -gt 5 ]; }
      '\(CommandLine.vtencode)' streaming in.mkv --loop --unpaced --part-length 0.4 --segment-length 1 --window 3 \
        \(sizes) --out a.m3u8 2> log & run=$!
      await $run has_enough
      kill -STOP $run
      await $run has_stopped $run
      mkdir copy
      cp a*.m3u8 copy
      kill -CONT $run
      kill -INT $run
      wait $run
      """
    let run = try CommandLine.shell(script, in: folder)
    #expect(run.status == 0, "\(run.complaints) \((try? HTTPLiveTests.text(folder, "log")) ?? "")")
    let name = "copy/a-180p.m3u8"
    let playlist = PlaylistChecker(media: try HTTPLiveTests.text(folder, name), in: nil)
    #expect(playlist.complaints.isEmpty, "\(playlist.complaints)\n\(playlist.text)")
    #expect(!playlist.hasEnded && playlist.segments.count >= 3)
    #expect(playlist.segments.last?.parts.isEmpty == false)
    let hint = try #require(playlist.value("#EXT-X-PRELOAD-HINT:"))
    // The hinted part is the one that the stream has made next.
    let file = try #require(PlaylistChecker.attributes(hint)["URI"])
    #expect(folder.contents.contains(file), "\(file)")
    let reports = playlist.lines.filter { $0.hasPrefix("#EXT-X-RENDITION-REPORT:") }
    #expect(reports.count == (hasRenditions ? 2 : 0), "\(playlist.text)")
    _ = try HTTPLiveTests.multivariant(folder, "copy/a.m3u8")
  }

  @Test("Encrypted segments play with their key alone")
  func encryptedSegmentsPlay() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 5)
    let key = folder.url.appendingPathComponent("talk.key")
    try Data((0..<16).map { _ in UInt8.random(in: 0...255) }).write(to: key)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--hls-key", "talk.key", "--hls-key-uri", "talk.key", "--segment-length", "2",
      "--out",
      "a.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let playlist = try HTTPLiveTests.media(folder, "a-180p.m3u8")
    // A key frame cannot be decrypted without the rest of its segment.
    #expect(!folder.contents.contains("a-180p-iframes.m3u8"))
    #expect(try HTTPLiveTests.multivariant(folder, "a.m3u8").keyFrames.isEmpty)
    #expect(playlist.value("#EXT-X-KEY:") == "METHOD=AES-128,URI=\"talk.key\"")
    func frames() throws -> Finished {
      try CommandLine.run(
        "ffprobe",
        [
          "-v", "error", "-allowed_extensions", "ALL", "-count_frames", "-select_streams", "v",
          "-show_entries",
          "stream=nb_read_frames", "-of", "csv=p=0", folder.path("a-180p.m3u8"),
        ])
    }
    #expect(try frames().text.hasPrefix("125"))
    try Data(count: 16).write(to: key)
    #expect(try !frames().text.hasPrefix("125"))
    try Data(count: 15).write(to: key)
    let short = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--hls-key", "talk.key", "--hls-key-uri", "k", "--out", "b.m3u8", in: folder)
    #expect(short.status == 64 && short.complaints.contains("16 bytes"), "\(short.complaints)")
  }

  @Test("A DASH manifest is over the same segments, and ffmpeg reads all pictures and the audio")
  func aManifestIsOverTheSameSegments() throws {
    let folder = try Folder()
    try HTTPLiveTests.makeMovie(in: folder, seconds: 5)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--dash", "--rendition", "320x180:200k,160x90:80k", "--segment-length", "2",
      "--out",
      "a.m3u8", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    // ffmpeg 5 finds segments next to a manifest only from its folder.
    let read = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-count_frames", "-show_entries", "stream=codec_type,nb_read_frames", "-of", "csv=p=0",
        "a.mpd",
      ],
      in: folder.url)
    #expect(read.status == 0 && read.complaints.isEmpty, "\(read.complaints)")
    #expect(read.text.components(separatedBy: "video,125").count == 3, "\(read.text)")
    #expect(read.text.contains("audio,"))
    let checked = try CommandLine.run(
      "ffmpeg", ["-v", "error", "-i", "a.mpd", "-map", "0", "-f", "null", "-"], in: folder.url)
    #expect(checked.status == 0 && checked.complaints.isEmpty, "\(checked.complaints)")
  }

  @Test("Equal durations are one entry of a time line, and gaps are kept")
  func timelinesAreShort() {
    func segment(_ start: Double, _ seconds: Double) -> MediaPlaylist.Segment {
      MediaPlaylist.Segment(number: 0, resource: .init(suffix: ""), start: start, seconds: seconds)
    }
    let entries = DASHManifest.timeline([
      segment(0.08, 2), segment(2.08, 2), segment(4.08, 1), segment(9, 1), segment(10.0005, 1),
    ])
    #expect(
      entries == [
        #"<S t="80000" d="2000000" r="1"/>"#, #"<S t="4080000" d="1000000"/>"#,
        #"<S t="9000000" d="1000500"/>"#,
        #"<S t="10000500" d="1000000"/>"#,
      ])
  }
}
