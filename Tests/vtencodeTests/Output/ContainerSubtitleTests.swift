// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Subtitles of text in Matroska and WebM, and in joined movies, read back by ffmpeg.
@Suite struct ContainerSubtitleTests {
  private static let english = """
    1
    00:00:00,200 --> 00:00:01,000
    Two lines,
    one <i>here</i> & more

    2
    00:00:01,500 --> 00:00:02,400
    Second

    """
  private static let french = """
    1
    00:00:00,600 --> 00:00:02,600
    Été

    """

  /// Three seconds of pictures and a tone, with two tracks of subtitles.
  private func makeMovie(
    _ name: String, codecs: [String] = ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"],
    in folder: Folder
  ) throws {
    try Data(Self.english.utf8).write(to: folder.url.appendingPathComponent("en.srt"))
    try Data(Self.french.utf8).write(to: folder.url.appendingPathComponent("fr.srt"))
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x96:rate=25:duration=3"]
        + ["-f", "lavfi", "-i", "sine=frequency=440:duration=3", "-i", "en.srt", "-i", "fr.srt"]
        + ["-map", "0", "-map", "1", "-map", "2", "-map", "3", "-pix_fmt", "yuv420p"] + codecs
        + ["-c:s", "mov_text", "-metadata:s:s:0", "language=eng", "-metadata:s:s:1", "language=fra"]
        + [name], in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
    for name in ["en.srt", "fr.srt"] { try FileManager.default.removeItem(atPath: folder.path(name)) }
  }

  /// A track of subtitles as ffmpeg reads it, without its style, which MP4 keeps and Matroska does
  /// not.
  private func subtitles(_ track: Int, of name: String, in folder: Folder) throws -> [SubtitleText.Cue] {
    let read = try CommandLine.run(
      "ffmpeg", ["-nostdin", "-v", "error", "-copyts", "-i", name, "-map", "0:s:\(track)", "-f", "srt", "-"],
      in: folder.url)
    try #require(read.status == 0, "\(read.complaints)")
    return SubtitleText.cues(
      in: read.text.replacingOccurrences(of: "\r\n", with: "\n")
        .replacing(/<.?i>/, with: ""))
  }

  private func expect(
    _ cues: [SubtitleText.Cue], _ expected: [(start: Double, end: Double, text: String)], delay: Double = 0
  ) {
    #expect(cues.map(\.text) == expected.map(\.text))
    for (cue, wanted) in zip(cues, expected) {
      #expect(abs(cue.start - delay - wanted.start) < 0.0025, "\(cue)")
      #expect(abs(cue.end - delay - wanted.end) < 0.0025, "\(cue)")
    }
  }

  private static let first = [
    (start: 0.2, end: 1.0, text: "Two lines,\none here & more"), (start: 1.5, end: 2.4, text: "Second"),
  ]
  private static let second = [(start: 0.6, end: 2.6, text: "Été")]

  @Test("A .mkv file keeps the movie's subtitles, with their languages and times")
  func matroskaKeepsSubtitles() throws {
    let folder = try Folder()
    try makeMovie("in.mp4", in: folder)
    let run = try CommandLine.vtencode("transcoding", "in.mp4", "--out", "out.mkv", in: folder)
    #expect(run.status == 0 && run.text.contains("2 subtitle tracks"), "\(run.text) \(run.complaints)")
    let probe = Probe(folder.path("out.mkv"))
    try expectNoErrors(probe)
    let codecs = try probe.streams().compactMap(\.codec_name).sorted()
    #expect(codecs == ["aac", "h264", "subrip", "subrip"])
    let languages = try CommandLine.run(
      "ffprobe",
      ["-v", "error", "-select_streams", "s", "-show_entries", "stream_tags=language", "-of", "csv=p=0"]
        + [folder.path("out.mkv")])
    #expect(languages.text.split(separator: "\n") == ["eng", "fre"] || languages.text.contains("fra"))
    // libavformat moves all tracks by the priming of the audio.
    let delay = try #require(probe.frames().first?.time)
    expect(try subtitles(0, of: "out.mkv", in: folder), Self.first, delay: delay)
    expect(try subtitles(1, of: "out.mkv", in: folder), Self.second, delay: delay)
    // Each text is stored where the pictures with which it begins are.
    let packets = try CommandLine.run(
      "ffprobe",
      ["-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", folder.path("out.mkv")]
    ).text.split(separator: "\n").compactMap { Double($0.filter { $0 != "," }) }
    var latest = 0.0
    for time in packets {
      #expect(time > latest - 0.8, "a packet of \(time) s comes after one of \(latest) s")
      latest = max(latest, time)
    }
    // Without subtitles, and of a part.
    let none = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--no-subtitles", "--out", "none.mkv", in: folder)
    #expect(none.status == 0)
    #expect(try Probe(folder.path("none.mkv")).streams().count == 2)
    let part = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--start", "1", "--out", "part.mkv", in: folder)
    #expect(part.status == 0, "\(part.complaints)")
    #expect(try subtitles(0, of: "part.mkv", in: folder).map(\.text) == ["Second"])
  }

  @Test("An export into .mkv or .webm keeps subtitles of a movie that is copied")
  func exportKeepsSubtitles() throws {
    let folder = try Folder()
    try makeMovie("in.mp4", in: folder)
    try makeMovie(
      "vp9.mp4",
      codecs: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"],
      in: folder)
    for (input, output, codec) in [("in.mp4", "out.mkv", "subrip"), ("vp9.mp4", "out.webm", "webvtt")] {
      let run = try CommandLine.vtencode(
        "export", input, "--preset", "Passthrough", "--out", output, in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      let probe = Probe(folder.path(output))
      #expect(try probe.streams().filter { $0.codec_name == codec }.count == 2)
      let delay = try #require(probe.frames().first?.time)
      expect(try subtitles(0, of: output, in: folder), Self.first, delay: delay)
      expect(try subtitles(1, of: output, in: folder), Self.second, delay: delay)
    }
  }

  @Test("Joined movies keep subtitles and chapters at their places")
  func joinedMoviesKeepText() throws {
    let folder = try Folder()
    try makeMovie("one.mp4", in: folder)
    let made = try CommandLine.shell(
      """
      printf ';FFMETADATA1\\n[CHAPTER]\\nTIMEBASE=1/1\\nSTART=0\\nEND=1\\ntitle=A\\n[CHAPTER]\\nTIMEBASE=1/1\\nSTART=1\\nEND=3\\ntitle=B\\n' > words
      ffmpeg -nostdin -v error -i one.mp4 -i words -map 0:v -map 0:a -map_chapters 1 -c copy two.mp4
      """, in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", "one.mp4", "two.mp4", "one.mp4", "--join", "--out", "out.mp4", in: folder)
    #expect(run.status == 0 && !run.complaints.contains("left out"), "\(run.complaints)")
    #expect(run.text.contains("2 subtitle tracks") && run.text.contains("4 chapters"), "\(run.text)")
    let length = 3.0
    func twice(_ cues: [(start: Double, end: Double, text: String)])
      -> [(start: Double, end: Double, text: String)]
    {
      cues + cues.map { ($0.start + 2 * length, $0.end + 2 * length, $0.text) }
    }
    expect(try subtitles(0, of: "out.mp4", in: folder), twice(Self.first))
    expect(try subtitles(1, of: "out.mp4", in: folder), twice(Self.second))
    let chapters = try CommandLine.run(
      "ffprobe",
      ["-v", "error", "-show_entries", "chapter=start_time,end_time:chapter_tags=title", "-of", "csv=p=0"]
        + [folder.path("out.mp4")])
    let expected = "0.000000,3.000000,one\n3.000000,4.000000,A\n4.000000,6.000000,B\n6.000000,9.000000,one\n"
    #expect(chapters.text == expected, "\(chapters.text)")
  }
}
