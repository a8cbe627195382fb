// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite(.serialized) struct ExportTests {
  private static let presets: [(name: String, codec: String, width: Int, height: Int)] = [
    ("LowQuality", "h264", 298, 224), ("MediumQuality", "h264", 426, 320),
    ("HighestQuality", "h264", 640, 480),
    ("HEVCHighestQuality", "hevc", 640, 480), ("640x480", "h264", 640, 480), ("960x540", "h264", 640, 480),
    ("1280x720", "h264", 640, 480), ("1920x1080", "h264", 640, 480), ("3840x2160", "h264", 640, 480),
    ("HEVC1920x1080", "hevc", 640, 480), ("HEVC3840x2160", "hevc", 640, 480),
    ("Passthrough", "mpeg4", 640, 480),
  ]

  @Test("Subtitles that a preset leaves out are named")
  func subtitlesThatAreLeftOutAreNamed() throws {
    let folder = try Folder()
    try "1\n00:00:00,100 --> 00:00:00,900\nA line\n".write(
      toFile: folder.path("a.srt"), atomically: true, encoding: .utf8)
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x240:rate=25:duration=1 -i a.srt -c:v libx264 "
        + "-c:s mov_text in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "640x480", "--out", "out.mp4", in: folder)
    #expect(run.status == 0 && run.complaints.contains("1 subtitle track left out"), "\(run)")
    let copied = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "passthrough", "--out", "copy.mp4", in: folder)
    #expect(copied.status == 0 && !copied.complaints.contains("subtitle"), "\(copied)")
  }

  @Test func everyPresetExportsAsHelpSays() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 1, size: "640x480", audio: true)
    let help = try CommandLine.vtencode("export", "--help")
    for preset in Self.presets {
      #expect(help.text.contains("  \(preset.name) "), "\(preset.name) is missing in the help")
      let run = try CommandLine.vtencode(
        "export", "in.mp4", "--preset", preset.name, "--out", "out.mp4", "--overwrite", in: folder)
      #expect(run.status == 0, "\(preset.name): \(run.complaints)")
      let probe = Probe(folder.path("out.mp4"))
      let video = try probe.video()
      #expect(video.codec_name == preset.codec, "\(preset.name)")
      #expect(video.width == preset.width && video.height == preset.height, "\(preset.name): \(video)")
      #expect(
        Int(video.nb_read_frames ?? "") == 24 || Int(video.nb_read_frames ?? "") == 25, "\(preset.name)")
      #expect(try probe.streams().contains { $0.codec_type == "audio" && $0.codec_name == "aac" })
      try expectNoErrors(probe)
    }
    let audio = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "AVAssetExportPresetAppleM4A", "--out", "out.m4a", in: folder)
    #expect(audio.status == 0, "\(audio.complaints)")
    #expect(try Probe(folder.path("out.m4a")).streams().map(\.codec_type) == ["audio"])
    #expect(folder.contents == ["in.mp4", "out.m4a", "out.mp4"])
  }

  @Test func aPartOfAMovieIsExportedInTwoPasses() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 6, audio: true)
    let run = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "HighestQuality", "--start", "0:03", "--duration", "2.4",
      "--multi-pass",
      "--progress", "json", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    // A third is made, over parts, where the second has missed the rate.
    #expect(run.text.contains(/in [23] passes/))
    let shares = run.complaintLines.compactMap { line -> Double? in
      let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return object?["share"] as? Double
    }
    // The last word is that all is done, however short the work was.
    #expect(shares == shares.sorted() && shares.last == 1, "\(shares)")
    let probe = Probe(folder.path("out.mp4"))
    #expect(try probe.frameCount() == 60)
    try expectNoErrors(probe)
    // Its first picture is the movie's at 3 s.
    let same = try CommandLine.shell(
      "ffmpeg -nostdin -i out.mp4 -ss 3 -i in.mp4 -frames:v 1 -lavfi psnr -f null - 2>&1 | grep -o 'PSNR y:[0-9.]*'",
      in: folder)
    #expect((Double(same.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 22)
    let end = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "Passthrough", "--end", "2", "--out", "copy.mp4", in: folder)
    #expect(end.status == 0, "\(end.complaints)")
    #expect(try Probe(folder.path("copy.mp4")).frameCount() == 50)
  }

  /// A limit that takes seconds away says so, and one that cannot be kept does too.
  @Test func limitsOfTheLengthAreReported() throws {
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 10)
    let size = try #require(
      try FileManager.default.attributesOfItem(atPath: folder.path("in.mp4"))[.size] as? Int)
    func export(_ preset: String, _ limit: Int, _ out: String) throws -> (run: Finished, bytes: Int) {
      let run = try CommandLine.vtencode(
        "export", "in.mp4", "--preset", preset, "--file-length-limit", "\(limit)", "--out", out, in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      return (run, try FileManager.default.attributesOfItem(atPath: folder.path(out))[.size] as? Int ?? 0)
    }
    let cut = try export("Passthrough", size / 2, "cut.mp4")
    #expect(cut.run.complaints.contains("s of 10.0 s so as to fit"), "\(cut.run.complaints)")
    let tight = try export("640x480", 2000, "tight.mp4")
    #expect(tight.bytes > 2000 && tight.run.complaints.contains("more than --file-length-limit"))
    #expect(try export("Passthrough", size * 2, "whole.mp4").run.complaints.isEmpty)
    // Programs are notified at the end.
    let reported = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "Passthrough", "--multi-pass", "--file-length-limit", "\(size / 2)",
      "--out",
      "told.mp4", "--progress", "json", in: folder)
    let last = try #require(reported.complaints.split(separator: "\n").last)
    let event = try #require(try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
    let notices = try #require(event["notices"] as? [String])
    #expect(notices.count == 2 && notices[0].contains("--multi-pass changes nothing"), "\(notices)")
    #expect(notices.last?.contains("so as to fit --file-length-limit") == true)
  }

  @Test func interruptedExportLeavesNothing() throws {
    let folder = try Folder()
    try makeLongMovie(in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "export", "in.mp4", "--preset", "HighestQuality", "--multi-pass", "--out", "out.mp4", "--progress",
        "json",
      ], in: folder.url, signal: .sent(SIGINT, atShare: 0.02))
    #expect(run.status == 130, "\(run.complaints)")
    #expect(run.complaints.contains("nothing was written"))
    #expect(folder.contents == ["in.mp4"])
  }

  @Test(arguments: [
    ["64", "--preset", "Nonsense", "--out", "o.mp4"], ["64", "--preset", "AppleM4A", "--out", "o.mp4"],
    ["64", "--preset", "1280x720", "--out", "o.m4a"], ["64", "--preset", "1280x720", "--out", "in.mp4"],
    ["1", "--preset", "1280x720", "--out", "there.mp4"],
    ["64", "--preset", "1280x720", "--start", "5", "--end", "4", "--out", "o.mp4"],
    ["64", "--preset", "1280x720", "--start", "1:75", "--out", "o.mp4"],
    ["1", "--preset", "1280x720", "--start", "100", "--out", "o.mp4"],
  ]) func wrongExportsAreRefused(statusAndOptions: [String]) throws {
    let status = statusAndOptions.first.flatMap { Int32($0) }
    let options = statusAndOptions.dropFirst()
    let folder = try Folder()
    try makeVaryingMovie(folder.path("in.mp4"), seconds: 1)
    try Data("whole".utf8).write(to: folder.url.appendingPathComponent("there.mp4"))
    let run = try CommandLine.run(CommandLine.vtencode, ["export", "in.mp4"] + options, in: folder.url)
    #expect(run.status == status && run.complaintLines.count == 1, "\(run.status): \(run.complaints)")
    #expect(folder.contents == ["in.mp4", "there.mp4"])
    #expect(try String(contentsOfFile: folder.path("there.mp4"), encoding: .utf8) == "whole")
  }
}
