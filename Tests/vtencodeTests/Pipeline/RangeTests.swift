// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Parts of movies, by `--start`, `--end` and `--duration`.
@Suite struct RangeTests {
  private func times(_ path: String) throws -> [Double] { try Probe(path).frames().compactMap(\.time) }

  @Test(
    "A part has the frames and the audio of its time range",
    arguments: ["transcoding", "streaming", "conferencing"])
  func partOfMovie(command: String) throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 4, audio: true)
    var arguments = [
      command, "in.mp4", "--start", "0:02", "--duration", "1.5", "--quality", "0.9", "--out", "out.mp4",
    ]
    if command != "transcoding" { arguments.append("--unpaced") }
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("out.mp4"))
    #expect(try probe.frameCount() == 38)
    try expectNoErrors(probe)
    let shown = try times(folder.path("out.mp4"))
    #expect(abs((shown.first ?? 9) - 0) < 0.001 && abs((shown.last ?? 9) - 1.48) < 0.001, "\(shown)")
    // Its first picture is the movie's at 2 s, where every picture is different, as ffmpeg sees
    // both.
    let same = try CommandLine.shell(
      "ffmpeg -nostdin -ss 2 -i in.mp4 -i out.mp4 -lavfi '[0:v][1:v]psnr=shortest=1' -frames:v 1 -f null - 2>&1 "
        + "| grep -o 'PSNR y:[0-9.inf]*'", in: folder)
    let quality = Double(same.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    #expect(quality > 30, "\(same.text)")
    // ffprobe's duration of the audio is that of the part, to a packet of AAC.
    let audio = try CommandLine.shell(
      "ffprobe -v error -select_streams a -show_entries stream=duration -of csv=p=0 out.mp4", in: folder)
    let seconds = Double(audio.text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    #expect(abs(seconds - 1.5) < 0.05, "\(audio.text)")
  }

  @Test("A simulated call sends the pictures of a part alone")
  func partInACall() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 4)
    let run = try CommandLine.vtencode(
      "call", "in.mp4", "--start", "2", "--duration", "0.6", "--bandwidth", "4M", "--effort", "1",
      "--received", "out.264", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.264")).frameCount() == 15)
    let same = try CommandLine.shell(
      "ffmpeg -nostdin -ss 2 -i in.mp4 -i out.264 -lavfi '[0:v][1:v]psnr=shortest=1' -frames:v 1 -f null - 2>&1 "
        + "| grep -o 'PSNR y:[0-9.inf]*'", in: folder)
    let quality = Double(same.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    #expect(quality > 25, "\(same.text)")
    let late = try CommandLine.vtencode("call", "in.mp4", "--start", "9", in: folder)
    #expect(late.status == 64 && late.complaints.contains("--start"), "\(late.complaints)")
  }

  @Test("The frame that is displayed when a part begins is the part's first one")
  func frameBeforeStart() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=192x128:rate=2:duration=3 -c:v mpeg4 -q:v 2 in.mp4",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--start", "0.75", "--end", "1.75", "--quality", "0.9", "--out", "out.mp4",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let shown = try times(folder.path("out.mp4"))
    #expect(shown.count == 3, "\(shown)")
    for (time, expected) in zip(shown, [0, 0.25, 0.75]) { #expect(abs(time - expected) < 0.001, "\(shown)") }
  }

  @Test("A part of a movie with a coarse time scale begins between two of its ticks")
  func startBetweenTicks() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=192x128:rate=25:duration=2 -c:v mpeg4 -q:v 2 in.avi",
      in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    for (start, first) in [("1.03", 0.01), ("1.0395", 0.0)] {
      let run = try CommandLine.vtencode(
        "transcoding", "in.avi", "--start", start, "--duration", "0.5", "--quality", "0.8", "--overwrite",
        "--out", "out.mp4", in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      let shown = try times(folder.path("out.mp4"))
      let expected = (first > 0 ? [0] : []) + (0..<12).map { first + Double($0) * 0.04 }
      #expect(shown.count >= expected.count, "\(start): \(shown)")
      for (time, wanted) in zip(shown, expected) { #expect(abs(time - wanted) < 0.001, "\(start): \(shown)") }
      try expectNoErrors(Probe(folder.path("out.mp4")))
    }
  }

  @Test("A part that begins after the end is refused, and so is one of a segmented run")
  func refusals() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 1)
    let late = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--start", "5", "--out", "out.mp4", in: folder)
    #expect(late.status == 64 && late.complaints.contains("after the end"), "\(late.complaints)")
    let jobs = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--start", "0.5", "--jobs", "2", "--out", "out.mp4", in: folder)
    #expect(
      jobs.status == 64 && jobs.complaints.contains("cannot be combined with --start"), "\(jobs.complaints)")
    for command in ["transcoding", "export", "play", "thumbnails", "send"] {
      let word = try CommandLine.vtencode(command, "in.mp4", "--start", "soon", in: folder)
      #expect(word.status == 64 && word.complaints.contains("0:01:30.5"), "\(command): \(word.complaints)")
    }
    #expect(folder.contents == ["in.mp4"])
  }

  @Test("Times are seconds, minutes and hours")
  func clockTimes() {
    for (text, seconds) in [("90", 90), ("1:30", 90), ("0:01:30.5", 90.5), ("2.25", 2.25)] {
      #expect(ClockTime(argument: text)?.seconds == seconds)
    }
    for text in ["", "-1", "1:60", "1:2:3:4", "1.5:00", "nan", "1e10", "a"] {
      #expect(ClockTime(argument: text) == nil, "\(text)")
    }
  }
}

/// Sources that are not files.
@Suite struct LiveSourceTests {
  @Test(
    "A test picture is encoded for its duration, and every run gives the same pictures",
    arguments: ["transcoding", "streaming", "conferencing"])
  func testPicture(command: String) throws {
    let folder = try Folder()
    var hashes: Set<String> = []
    for name in ["one.mp4", "two.mp4"] {
      let extra = command == "transcoding" ? [] : ["--unpaced"]
      let run = try CommandLine.run(
        CommandLine.vtencode,
        [
          command, "test:320x240@25", "--duration", "0.4", "--quality", "0.7", "--threads", "1", "--out",
          name,
        ] + extra,
        in: folder.url)
      #expect(run.status == 0 && run.complaints.contains("there is no audio"), "\(run.complaints)")
      #expect(try Probe(folder.path(name)).frameCount() == 10)
      hashes.insert(
        try CommandLine.shell("ffmpeg -nostdin -v error -i \(name) -f md5 -", in: folder).text)
    }
    #expect(hashes.count == 1 && hashes.first?.contains("MD5=") == true, "\(hashes)")
  }

  @Test("Ctrl-C ends a live recording well")
  func interruption() throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["streaming", "test:320x240@25", "--bitrate", "500k", "--progress", "json", "--out", "out.mp4"],
      in: folder.url, signal: .sent(SIGINT, atFrame: 5))
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["out.mp4"])
    try expectNoErrors(Probe(folder.path("out.mp4")))
  }

  @Test("What needs the source twice, or earlier, is refused for live sources")
  func refusals() throws {
    let folder = try Folder()
    for options in [
      ["--multi-pass"], ["--jobs", "2"], ["--target-size", "1M"], ["--psnr"], ["--start", "1"],
    ] {
      let run = try CommandLine.run(
        CommandLine.vtencode, ["transcoding", "test:", "--frames", "5", "--out", "out.mp4"] + options,
        in: folder.url)
      #expect(run.status == 64 && run.complaints.contains("live"), "\(options): \(run.complaints)")
    }
    for command in [["play", "test:"], ["export", "test:", "--preset", "HighestQuality", "--out", "o.mp4"]] {
      let run = try CommandLine.run(CommandLine.vtencode, command, in: folder.url)
      #expect(run.complaints.contains("which transcoding, streaming"), "\(run.complaints)")
    }
    let wrong = try CommandLine.vtencode("streaming", "test:big", "--out", "out.mp4", in: folder)
    #expect(wrong.status == 64 && wrong.complaints.contains("test:640x360@25"), "\(wrong.complaints)")
    #expect(folder.contents.isEmpty)
  }
}
