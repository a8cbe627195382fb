// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Subtitles and chapters, as ffmpeg and ffprobe read them.
@Suite(.serialized) struct TextTests {
  private static let words = """
    1
    00:00:00,200 --> 00:00:01,400
    Good <i>day</i>

    2
    00:00:01,000 --> 00:00:01,800
    Good night

    3
    00:00:02,500 --> 00:00:09,000
    Žluťoučký kůň

    """
  private static let chapters = """
    ;FFMETADATA1
    [CHAPTER]
    TIMEBASE=1/1000
    START=0
    END=1000
    title=One
    [CHAPTER]
    TIMEBASE=1/1000
    START=1000
    END=1700
    title=Zwölf
    [CHAPTER]
    TIMEBASE=1/1000
    START=1700
    END=3000
    title=

    """

  /// A movie of three seconds with text.
  private func make(_ folder: Folder, _ name: String, subtitles: String) throws {
    try Data(Self.words.utf8).write(to: URL(fileURLWithPath: folder.path("words.srt")))
    try Data(Self.chapters.utf8).write(to: URL(fileURLWithPath: folder.path("chapters.txt")))
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x96:rate=10:duration=3",
        "-i", "words.srt", "-i", "chapters.txt", "-map", "0", "-map", "1", "-map", "1", "-map_metadata", "2",
        "-c:s", subtitles, "-metadata:s:s:0", "language=deu", "-metadata:s:s:1", "language=fra", name,
      ], in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// The words of a movie's track as ffmpeg gives them, with their times.
  private func words(_ folder: Folder, _ name: String, track: Int = 0) throws -> [String] {
    let read = try CommandLine.run(
      "ffmpeg", ["-nostdin", "-v", "error", "-i", name, "-map", "0:s:\(track)", "-f", "srt", "-"],
      in: folder.url)
    try #require(read.status == 0, "\(read.complaints)")
    return read.text.split(whereSeparator: \.isNewline).map(String.init).filter { Int($0) == nil }
  }

  private func chapters(_ folder: Folder, _ name: String) throws -> [String] {
    let read = try CommandLine.run(
      "ffprobe", ["-v", "error", "-show_chapters", "-of", "compact=nk=1:p=0", name], in: folder.url)
    return read.text.split(separator: "\n").map { line in
      let parts = line.split(separator: "|", omittingEmptySubsequences: false)
      // id, time base, start, start_time, end, end_time, title
      return "\(Double(parts[3]) ?? -1)-\(Double(parts[5]) ?? -1) \(parts.count > 6 ? parts[6] : "")"
    }
  }

  @Test(arguments: [("in.mkv", "srt"), ("in.mkv", "ass"), ("in.mkv", "webvtt"), ("in.mp4", "mov_text")])
  func textsAreCarried(name: String, subtitles: String) throws {
    let folder = try Folder()
    try make(folder, name, subtitles: subtitles)
    for ending in ["mp4", "mov", "m4v"] {
      let run = try CommandLine.vtencode("transcoding", name, "--out", "out.\(ending)", in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      #expect(run.text.contains("2 subtitle tracks, 3 chapters"), "\(run.text)")
      let probe = Probe(folder.path("out.\(ending)"))
      let streams = try probe.streams()
      #expect(streams.filter { $0.codec_type == "subtitle" }.count == 2)
      #expect(try chapters(folder, "out.\(ending)") == ["0.0-1.0 One", "1.0-1.7 Zwölf", "1.7-3.0 "])
      for track in 0...1 {
        let found = try words(folder, "out.\(ending)", track: track)
        let plain = found.map { $0.replacing(#/<[^>]*>/#, with: "") }
        if subtitles == "mov_text" {
          // ffmpeg's result for the two that overlap; the last one ends with the pictures.
          let source = try words(folder, name, track: track).map {
            $0.replacing(#/<[^>]*>/#, with: "").replacing("00:00:09,000", with: "00:00:03,000")
          }
          #expect(plain == source)
        } else {
          #expect(
            plain == [
              "00:00:00,200 --> 00:00:01,000", "Good day", "00:00:01,000 --> 00:00:01,400", "Good day",
              "Good night", "00:00:01,400 --> 00:00:01,800", "Good night", "00:00:02,500 --> 00:00:03,000",
              "Žluťoučký kůň",
            ])
          // A text that is alone keeps its looks.
          #expect(found.contains { $0.contains("<i>day</i>") })
        }
      }
      let lasts = try CommandLine.run(
        "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", "out.\(ending)"],
        in: folder.url)
      #expect(abs((Double(lasts.text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) - 3) < 0.15)
    }
  }

  /// Text ends where a run ends that is cut short.
  @Test func textsEndWithThePictures() throws {
    let folder = try Folder()
    try make(folder, "in.mkv", subtitles: "srt")
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--frames", "12", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let ends = try chapters(folder, "out.mp4")
    #expect(ends.count == 2 && ends.first == "0.0-1.0 One")
    #expect(try words(folder, "out.mp4").filter { $0.contains("-->") }.count == 2)
    let lasts = try CommandLine.run(
      "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", "out.mp4"],
      in: folder.url)
    #expect(abs((Double(lasts.text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) - 1.2) < 0.15)
  }

  @Test func textsAreLeftOutWhereAsked() throws {
    let folder = try Folder()
    try make(folder, "in.mkv", subtitles: "srt")
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--no-subtitles", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(!(try Probe(folder.path("out.mp4")).streams()).contains { $0.codec_type == "subtitle" })
    #expect(try chapters(folder, "out.mp4").count == 3)
  }

  /// A chapter that lasts longer than what waits between the stages, and subtitles far apart:
  /// nobody waits for them.
  @Test func longTextsDoNotHoldUp() throws {
    let folder = try Folder()
    try Data("1\n00:00:01,000 --> 00:00:38,000\nLong\n\n2\n00:00:39,000 --> 00:00:39,500\nLast\n".utf8)
      .write(to: URL(fileURLWithPath: folder.path("words.srt")))
    try Data(
      ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/10000\nSTART=5\nEND=350004\ntitle=One\n[CHAPTER]\nTIMEBASE=1/10000\nSTART=350017\nEND=400000\ntitle=Two\n"
        .utf8
    ).write(to: URL(fileURLWithPath: folder.path("chapters.txt")))
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=40",
        "-i", "words.srt", "-i", "chapters.txt", "-map", "0", "-map", "1", "-map_metadata", "2",
        "-c:v", "mpeg4", "in.mkv",
      ], in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 1000)
    #expect(
      try words(folder, "out.mp4") == [
        "00:00:01,000 --> 00:00:38,000", "Long", "00:00:39,000 --> 00:00:39,500", "Last",
      ])
    #expect(try chapters(folder, "out.mp4").suffix(2) == ["0.001-35.002 One", "35.002-40.0 Two"])
  }

  /// Audio that begins long after the pictures, and continues after a long pause.
  @Test func lateAudioDoesNotHoldUp() throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=60",
        "-itsoffset",
        "35", "-f", "lavfi", "-i", "sine=frequency=400:duration=10", "-map", "0", "-map", "1", "-c:v",
        "mpeg4",
        "-c:a", "aac", "in.mkv",
      ], in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
    for audio in ["copy", "aac"] {
      let run = try CommandLine.vtencode(
        "transcoding", "in.mkv", "--audio", audio, "--out", "\(audio).mp4", in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      #expect(try Probe(folder.path("\(audio).mp4")).frameCount() == 1500)
      let begins = try CommandLine.run(
        "ffprobe",
        [
          "-v", "error", "-select_streams", "a", "-show_entries", "stream=start_time", "-of", "csv=p=0",
          "\(audio).mp4",
        ],
        in: folder.url)
      #expect(abs((Double(begins.text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) - 35) < 0.1)
    }
  }

  /// Flags are pairs of letters: where one ends depends on all before it.
  @Test func longTitlesAreCutAtACharacter() throws {
    let folder = try Folder()
    let letter = "\u{1F1E6}"
    let title = String(repeating: letter, count: 1 << 19)
    let text = ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=1000\ntitle=\(title)\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("chapters.txt")))
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=1", "-i",
        "chapters.txt", "-map", "0", "-map_metadata", "1", "-c:v", "mpeg4", "in.mkv",
      ], in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
    // Half a second of processor time is enough, of which it may have thirty.
    let run = try CommandLine.shell(
      "ulimit -t 30; exec '\(CommandLine.vtencode)' transcoding in.mkv --out out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let read = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-show_entries", "chapter_tags=title", "-of", "default=noprint_wrappers=1:nokey=1",
        "out.mp4",
      ], in: folder.url)
    let found = read.output.filter { $0 != UInt8(ascii: "\n") }
    #expect(found == Data(String(repeating: letter, count: 0xFFFF / 4).utf8))
  }
}
