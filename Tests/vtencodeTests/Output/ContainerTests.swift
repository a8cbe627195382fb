// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Matroska, transport streams, FLV and MP4 in fragments hold what movies hold: all pictures, the
/// audio, and their times.
@Suite struct ContainerTests {
  /// Three seconds of pictures and a tone.
  private static func makeMovie(in folder: Folder, audio: [String] = ["-c:a", "aac"]) throws {
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=3", "-f",
        "lavfi", "-i", "sine=frequency=440:duration=3", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset",
        "ultrafast",
      ] + audio + [folder.path("in.mkv")])
    try #require(made.status == 0, "\(made.complaints)")
  }

  private struct Times: Decodable {
    struct Packet: Decodable {
      var codec_type: String
      var pts_time: String?
      var dts_time: String?
      var flags: String?
    }
    var packets: [Packet]

    init(_ path: String) throws {
      let run = try CommandLine.run(
        "ffprobe", ["-v", "error", "-of", "json", "-show_packets", path])
      try #require(run.status == 0, "\(run.complaints)")
      self = try JSONDecoder().decode(Times.self, from: run.output)
    }

    func presented(_ type: String) -> [Double] {
      packets.filter { $0.codec_type == type }.compactMap { $0.pts_time.flatMap(Double.init) }.sorted()
    }
  }

  /// The pictures are 40 ms apart, and the audio begins and ends with them.
  /// - Parameter lead: by how many seconds a track may run ahead of the other in the file.
  private func expectTimes(_ path: String, lead: Double = 0.75) throws {
    let probe = Probe(path)
    #expect(try probe.frameCount() == 75)
    try expectNoErrors(probe)
    let times = try Times(path)
    let pictures = times.presented("video")
    let audio = times.presented("audio")
    #expect(pictures.count == 75)
    for (one, next) in zip(pictures, pictures.dropFirst()) { #expect(abs(next - one - 0.04) < 0.0015) }
    let (first, last) = (try #require(audio.first), try #require(audio.last))
    #expect(abs(first - pictures[0]) < 0.06, "the audio begins at \(first), the pictures at \(pictures[0])")
    #expect(abs(last - pictures[74]) < 0.1, "the audio ends at \(last), the pictures at \(pictures[74])")
    // In the file, no track runs ahead of the other.
    var latest = -Double.infinity
    for packet in times.packets {
      guard let time = (packet.dts_time ?? packet.pts_time).flatMap(Double.init) else { continue }
      #expect(time > latest - lead, "a packet of \(time) s comes after one of \(latest) s")
      latest = max(latest, time)
    }
    let streams = try probe.streams()
    #expect(streams.map(\.codec_type).sorted() == ["audio", "video"])
    #expect(streams.first { $0.codec_type == "video" }?.codec_name == "h264")
  }

  private struct Description: Decodable {
    struct Chapter: Decodable, Equatable {
      var start_time: String
      var end_time: String
      var tags: [String: String]?
    }
    struct Format: Decodable { var tags: [String: String]? }
    var chapters: [Chapter]
    var format: Format

    init(_ path: String) throws {
      let run = try CommandLine.run(
        "ffprobe", ["-v", "error", "-of", "json", "-show_chapters", "-show_format", path])
      try #require(run.status == 0, "\(run.complaints)")
      self = try JSONDecoder().decode(Description.self, from: run.output)
    }

    func tag(_ name: String) -> String? { format.tags?.first { $0.key.lowercased() == name }?.value }
  }

  /// Chapters of a second each, and what libavformat has names for.
  private static func makeDescribedMovie(in folder: Folder) throws {
    try makeMovie(in: folder)
    var text = ";FFMETADATA1\ntitle=A Title\nartist=Somebody\ncomment=Words\n"
    for n in 0..<3 {
      text += "[CHAPTER]\nTIMEBASE=1/1\nSTART=\(n)\nEND=\(n + 1)\ntitle=Chapter \(n) é\n"
    }
    try Data(text.utf8).write(to: folder.url.appendingPathComponent("words"))
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i in.mkv -i words -map_metadata 1 -map_chapters 1 -c copy in.mp4 "
        + "&& rm in.mkv words", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  @Test("A .mkv file keeps the movie's title and chapters")
  func matroskaKeepsTitleAndChapters() throws {
    let folder = try Folder()
    try Self.makeDescribedMovie(in: folder)
    let run = try CommandLine.vtencode("transcoding", "in.mp4", "--out", "out.mkv", in: folder)
    #expect(run.status == 0 && run.text.contains("3 chapters"), "\(run.text) \(run.complaints)")
    try expectTimes(folder.path("out.mkv"))
    let written = try Description(folder.path("out.mkv"))
    #expect(written.tag("title") == "A Title" && written.tag("artist") == "Somebody")
    #expect(written.tag("comment") == "Words")
    // The times count from the first picture's decoding, as those of the pictures; libavformat
    // moves the pictures, but no chapters, by the priming of the audio (1,024 samples).
    let first = try #require(Probe(folder.path("out.mkv")).frames().first?.time)
    for (n, chapter) in written.chapters.enumerated() {
      #expect(abs((Double(chapter.start_time) ?? -1) - Double(n) - first) < 0.03, "\(chapter)")
      #expect(chapter.tags?["title"] == "Chapter \(n) é")
    }
    #expect(written.chapters.count == 3)
    // Of a part that begins within a chapter, that one is the first.
    let part = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--start", "1.5", "--out", "part.mkv", in: folder)
    #expect(part.status == 0, "\(part.complaints)")
    let rest = try Description(folder.path("part.mkv")).chapters
    #expect(rest.map { $0.tags?["title"] } == ["Chapter 1 é", "Chapter 2 é"])
  }

  @Test("Of several outputs each keeps what it can of title and chapters")
  func severalOutputsKeepChapters() throws {
    let folder = try Folder()
    try Self.makeDescribedMovie(in: folder)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--out", "out.mp4", "--out", "out.mkv", "--out", "out.ts", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let movie = try Description(folder.path("out.mp4"))
    #expect(movie.chapters.map { $0.tags?["title"] } == (0..<3).map { "Chapter \($0) é" })
    #expect(
      try Description(folder.path("out.mkv")).chapters.map { $0.tags?["title"] }
        == movie.chapters.map { $0.tags?["title"] })
    #expect(try Description(folder.path("out.ts")).chapters.isEmpty)
    try expectTimes(folder.path("out.ts"))
  }

  @Test(
    "A .mkv, .ts or .flv file holds all pictures and the audio at the movie's times",
    arguments: ["mkv", "ts", "flv"])
  func aFileHoldsAllPicturesAndTheAudio(_ ending: String) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "out.\(ending)", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["in.mkv", "out.\(ending)"])
    try expectTimes(folder.path("out.\(ending)"))
  }

  @Test(
    "Standard output is a container with audio if --format says so",
    arguments: ["mpegts", "mp4", "matroska", "flv"])
  func standardOutputIsAContainer(_ format: String) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.shell(
      "'\(CommandLine.vtencode)' streaming in.mkv --unpaced --out - --format \(format) | cat > out.bin",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    // A fragment of MP4 has the pictures of two key frames' distance, and then the audio.
    try expectTimes(folder.path("out.bin"), lead: format == "mp4" ? 3 : 0.75)
  }

  @Test(
    "A movie in fragments can be decoded while it is written: its header is in front, and it has fragments")
  func aMovieInFragmentsCanBeDecodedWhileItIsWritten() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["streaming", "in.mkv", "--unpaced", "--keyframe-duration", "1", "--out", "-", "--format", "mp4"],
      in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    var boxes: [String] = []
    var at = 0
    while at + 8 <= run.output.count {
      let size = run.output[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      boxes.append(String(decoding: run.output[at + 4..<at + 8], as: UTF8.self))
      guard size >= 8 else { break }
      at += size
    }
    #expect(boxes.prefix(2) == ["ftyp", "moov"])
    #expect(boxes.filter { $0 == "moof" }.count >= 3, "\(boxes)")
  }

  @Test("A transport stream has no gap, and a program clock reference every 100 ms or more often")
  func aTransportStreamHasNoGap() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "out.ts", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let data = try Data(contentsOf: folder.url.appendingPathComponent("out.ts"))
    #expect(data.count % 188 == 0)
    let stream = TransportStream(data)
    #expect(stream.breaks.isEmpty, "\(stream.breaks)")
    #expect(stream.types.values.sorted() == [0x0F, 0x1B])
    #expect(stream.clocks.count >= 30 && stream.longestClockInterval <= 0.1, "\(stream.longestClockInterval)")
    #expect(zip(stream.clocks, stream.clocks.dropFirst()).allSatisfy { $0 < $1 })
    // No picture is decoded before its data has arrived.
    let first = try #require(Times(folder.path("out.ts")).packets.first { $0.codec_type == "video" })
    #expect(try #require(first.dts_time.flatMap(Double.init)) > stream.clocks[0])
  }

  @Test("Audio that a container holds is copied, and other audio is encoded")
  func audioThatAContainerHoldsIsCopied() throws {
    for (codec, ending, expected, wording) in [
      ("libopus", "mkv", "opus", "copied"), ("libopus", "flv", "aac", "encoded as AAC"),
      ("flac", "mkv", "flac", "copied"), ("flac", "ts", "aac", "encoded as AAC"),
      ("ac3", "ts", "ac3", "copied"),
    ] {
      let folder = try Folder()
      try Self.makeMovie(in: folder, audio: ["-c:a", codec])
      let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "out.\(ending)", in: folder)
      #expect(run.status == 0 && run.text.contains(wording), "\(codec) in .\(ending): \(run)")
      let streams = try Probe(folder.path("out.\(ending)")).streams()
      #expect(streams.first { $0.codec_type == "audio" }?.codec_name == expected, "\(codec) in .\(ending)")
    }
  }

  @Test("The language of the audio is kept", arguments: ["mkv", "ts"])
  func theLanguageOfTheAudioIsKept(ending: String) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder, audio: ["-c:a", "aac", "-metadata:s:a:0", "language=ger"])
    let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "out.\(ending)", in: folder)
    #expect(run.status == 0, "\(run)")
    let probe = try CommandLine.run(
      "ffprobe",
      ["-v", "error", "-select_streams", "a", "-show_entries", "stream_tags=language", "-of", "csv=p=0"]
        + [folder.path("out.\(ending)")])
    #expect(["ger", "deu"].contains(probe.text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(probe)")
  }

  @Test("The files of several outputs are named in the last event")
  func theFilesOfSeveralOutputsAreNamed() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--frames", "10", "--out", "one.mp4", "--out", "two.mkv", "--progress", "json",
      in: folder)
    #expect(run.status == 0, "\(run)")
    struct Last: Decodable { var furtherOutputs: [String]? }
    let events = (run.text + run.complaints).split(separator: "\n").compactMap {
      try? JSONDecoder().decode(Last.self, from: Data($0.utf8)).furtherOutputs
    }
    #expect(events.last.map { $0.map { ($0 as NSString).lastPathComponent } } == ["two.mkv"], "\(run)")
  }

  @Test("HEVC goes into .mkv and .ts")
  func hevcGoesIntoMatroskaAndTransportStreams() throws {
    let folder = try Folder()
    for ending in ["mkv", "ts"] {
      let run = try CommandLine.vtencode(
        "transcoding", "test:160x120@25", "--frames", "10", "--codec", "hevc", "--out", "out.\(ending)",
        in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      let video = try Probe(folder.path("out.\(ending)")).video()
      #expect(video.codec_name == "hevc" && video.nb_read_frames == "10")
      try expectNoErrors(Probe(folder.path("out.\(ending)")))
    }
  }

  @Test("AAC of a transport stream, whose packets have headers, goes into fragments of MP4")
  func aacOfATransportStreamGoesIntoFragments() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      "ffmpeg -nostdin -v error -i '\(CommandLine.sample)' -t 2 -c copy in.ts && '\(CommandLine.vtencode)' "
        + "transcoding in.ts --dimensions 320 180 --format mp4 --out - > out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let audio = try CommandLine.shell(
      "ffprobe -v error -select_streams a -show_entries stream=codec_name -of csv=p=0 out.mp4", in: folder)
    #expect(audio.text == "aac\n")
    try expectNoErrors(Probe(folder.path("out.mp4")))
  }

  @Test("What a container cannot hold is refused in one line, before anything is written")
  func whatAContainerCannotHoldIsRefused() throws {
    let folder = try Folder()
    for (arguments, text) in [
      (["--out", "out.webm"], "neither H.264 nor HEVC"),
      (["--out", "out.gif", "--bitrate", "1M"], "--bitrate does not apply"),
      (["--out", "out.mp4", "--out", "out.webp"], "give --out once"),
      (["--out", "out.mkv", "--format", "mpegts"], "--format requires --out -"),
      (["--out", "-", "--audio", "aac"], "cannot contain audio"),
      (["--out", "http://localhost/x"], "rtmp://"),
      (["--out", "rtmp://localhost/app/key", "--format", "mpegts"], "omit it"),
      (["--out", "rtmp://localhost/app/key", "--sandbox"], "--sandbox"),
      (["--out", "a.mkv", "--out", "./a.mkv"], "named as two outputs"),
      (["--out", "a.mkv", "--no-faststart"], "--no-faststart has an effect on .mov"),
      (["--out", "rtmp://user:pass/word@localhost/app/key"], "is not a valid address"),
      (["--out", "rtmp:/user:key@localhost/app/key"], "rtmp://***"),
    ] {
      let run = try CommandLine.run(
        CommandLine.vtencode, ["transcoding", CommandLine.sample] + arguments, in: folder.url)
      #expect(run.status == 64 && run.complaints.contains(text), "\(arguments): \(run)")
      #expect(!run.complaints.contains("key"))
      #expect(folder.contents.isEmpty)
    }
  }

  @Test("An interrupted run keeps the part that was written, whole as far as it goes")
  func anInterruptedRunKeepsThePart() throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["streaming", "in.mkv", "--loop", "--out", "loop.mkv", "--progress", "json"], in: folder.url,
      signal: .sent(SIGINT, atFrame: 85))
    // A movie that is repeated has no end of its own, so the file is whole.
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["in.mkv", "loop.mkv"])
    let probe = Probe(folder.path("loop.mkv"))
    try expectNoErrors(probe)
    let pictures = try Times(folder.path("loop.mkv")).presented("video")
    #expect(pictures.count >= 85)
    for (one, next) in zip(pictures, pictures.dropFirst()) { #expect(abs(next - one - 0.04) < 0.0015) }
  }
}
