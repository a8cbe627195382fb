// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Odd but real movies, made by ffmpeg: the right movie comes out, and what is changed is said.
@Suite(.serialized) struct SourceTests {
  /// A movie that ffmpeg makes of its test picture, and of a tone where `options` map one.
  private func make(_ name: String, in folder: Folder, size: String = "320x180", _ options: [String]) throws
    -> String
  {
    let path = folder.path(name)
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=1", "-f",
        "lavfi", "-i",
        "sine=frequency=440:sample_rate=48000:duration=1",
      ] + options + [path])
    try #require(made.status == 0, "\(made.complaints)")
    return path
  }

  private func encode(_ arguments: String..., in folder: Folder) throws -> Finished {
    let run = try CommandLine.run(
      CommandLine.vtencode, ["transcoding", "--preset", "highSpeed"] + arguments, in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    return run
  }

  // MARK: Rates

  /// Encoders expect 0.001 to 1000 pictures a second; what a movie has in addition is for its times
  /// to say.
  @Test(
    "A picture an hour, and 60 within two milliseconds, are encoded at their times, and sent",
    arguments: [
      (["-frames:v", "4"], "1/3600", 4, 10_800.0),
      (Self.dense(30_000), "25", 60, 59 / 30_000.0),
      // Closer together than RTP's clock can tell.
      (Self.dense(2_000_000), "25", 60, 59 / 2e6),
    ])
  func picturesOfOddRatesKeepTheirTimes(options: [String], rate: String, frames: Int, seconds: Double) throws
  {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x96:rate=\(rate)"] + options
        + ["-c:v", "libx264", "-bf", "0", folder.path("odd.mp4")])
    try #require(made.status == 0, "\(made.complaints)")
    func times(_ name: String) throws -> [Double] {
      try Probe(folder.path(name)).frames().compactMap(\.time)
    }
    for name in ["odd.mp4", "out.mov"] {
      if name == "out.mov" { _ = try encode("odd.mp4", "--out", name, in: folder) }
      let times = try times(name)
      #expect(times.count == frames, "\(name)")
      #expect(abs((times.last ?? 0) - (times.first ?? 0) - seconds) < seconds / 10, "\(name): \(times)")
    }
    let call = try CommandLine.vtencode("call", "odd.mp4", "--frames", "3", in: folder)
    #expect(call.status == 0, "\(call.complaints)")
  }

  /// ffmpeg's options for 60 pictures, so many of which fill a second.
  private static func dense(_ rate: Int) -> [String] {
    [
      "-vf", "settb=1/\(rate),setpts=N", "-enc_time_base", "1/\(rate)", "-frames:v", "60", "-fps_mode",
      "passthrough", "-video_track_timescale", "\(rate)",
    ]
  }

  // MARK: The picture's shape

  /// 180x320 as a person sees it, from a movie that is stored lying and shown upright.
  @Test func dimensionsAreThoseThatAPersonSees() throws {
    let folder = try Folder()
    let plain = try make("plain.mp4", in: folder, size: "640x360", ["-map", "0:v"])
    let turned = folder.path("turned.mp4")
    let rotate = try CommandLine.run(
      "ffmpeg", ["-nostdin", "-v", "error", "-display_rotation", "90", "-i", plain, "-c", "copy", turned])
    if rotate.status != 0 {
      // Before version 6 the rotation was metadata of the stream.
      let old = try CommandLine.run(
        "ffmpeg",
        ["-nostdin", "-v", "error", "-i", plain, "-c", "copy", "-metadata:s:v", "rotate=90", turned])
      try #require(old.status == 0, "\(old.complaints)")
    }
    let run = try encode(turned, "--dimensions", "180", "320", "--out", "out.mp4", in: folder)
    let video = try Probe(folder.path("out.mp4")).video()
    #expect(video.width == 320 && video.height == 180, "stored lying, as the source")
    #expect(!run.complaints.contains("black bars"))
  }

  /// 4:3 within 16:9: black at both sides, the picture in the middle.
  @Test func theShapeIsKept() throws {
    let folder = try Folder()
    let source = try make("narrow.mp4", in: folder, size: "320x240", ["-map", "0:v"])
    let run = try encode(
      source, "--dimensions", "640", "360", "--bitrate", "2M", "--out", "out.mp4", in: folder)
    #expect(run.complaints.contains("480x360 within 640x360"), "\(run.complaints)")
    let crop = try CommandLine.shell(
      "ffmpeg -nostdin -i out.mp4 -vf cropdetect=24:2:0 -f null - 2>&1 | grep -o 'crop=[0-9:]*' | tail -n 1",
      in: folder)
    #expect(crop.text.hasPrefix("crop=480:"), "\(crop.text)")
    _ = try encode(
      source, "--dimensions", "640", "360", "--scaling", "stretch", "--bitrate", "2M", "--out", "wide.mp4",
      in: folder)
    let wide = try CommandLine.shell(
      "ffmpeg -nostdin -i wide.mp4 -vf cropdetect=24:2:0 -f null - 2>&1 | grep -o 'crop=[0-9:]*' | tail -n 1",
      in: folder)
    #expect(wide.text.hasPrefix("crop=640:"), "\(wide.text)")
  }

  /// A sample of another shape than a square stays so, or is scaled to a square.
  @Test func samplesKeepTheirShapeOrAreScaledToSquares() throws {
    let folder = try Folder()
    let source = try make("wide.mp4", in: folder, size: "360x288", ["-map", "0:v", "-vf", "setsar=16/11"])
    _ = try encode(source, "--out", "same.mp4", in: folder)
    let same = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-show_entries", "stream=sample_aspect_ratio", "-of", "csv=p=0",
        folder.path("same.mp4"),
      ])
    #expect(same.text.contains("16:11"), "\(same.text)")
    let run = try encode(source, "--dimensions", "640", "352", "--out", "square.mp4", in: folder)
    let square = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-show_entries", "stream=sample_aspect_ratio", "-of", "csv=p=0",
        folder.path("square.mp4"),
      ])
    #expect(square.text.contains("1:1") || square.text.contains("N/A"), "\(square.text)")
    // 360 * 16/11 / 288 = 1.818 = 640 / 352: no bars are needed.
    #expect(!run.complaints.contains("black bars"), "\(run.complaints)")
  }

  /// Of an odd side the last sample is repeated, and the rest is not touched: at a high rate it is
  /// all but the source's picture.
  @Test(arguments: ["avc1", "hvc1"]) func oddSidesAreFilledUpAndNotScaled(_ codec: String) throws {
    let folder = try Folder()
    let source = try make(
      "odd.mkv", in: folder, size: "322x180",
      [
        "-map", "0:v", "-vf", "format=yuv444p,crop=321:179:0:0:exact=1", "-c:v", "ffv1", "-pix_fmt",
        "yuv444p",
      ])
    let run = try encode(
      source, "--codec", codec, "--bitrate", "8M", "--psnr", "--out", "out.mp4", in: folder)
    #expect(run.complaints.contains("321x179 has an odd side"), "\(run.complaints)")
    #expect(run.complaints.contains("coded as 322x180"), "\(run.complaints)")
    #expect(run.text.contains("321x179,"), "\(run.text)")
    let compared = try CommandLine.shell(
      "ffmpeg -nostdin -i out.mp4 -i odd.mkv -lavfi "
        + "'[0:v]crop=321:179:0:0:exact=1[a];[1:v]format=yuv420p[b];[a][b]psnr' "
        + "-f null - 2>&1 | grep -o 'PSNR y:[0-9.]*'", in: folder)
    let decibels =
      Double(compared.text.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespacesAndNewlines))
      ?? 0
    #expect(decibels > 38, "\(compared.text)")
    // The clean aperture: 321/1 by 179/1, whose centre lies half a sample before that of the coded
    // picture.
    let file = try Data(contentsOf: URL(fileURLWithPath: folder.path("out.mp4")))
    let box = try #require(file.range(of: Data("clap".utf8)))
    let numbers = (0..<8).map { n in
      file[(box.upperBound + 4 * n)..<(box.upperBound + 4 * n + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }
    #expect(numbers.map { Int32(bitPattern: $0) } == [321, 1, 179, 1, -1, 2, -1, 2])
  }

  // MARK: Colours

  private static let hdr10 = [
    "-map", "0:v", "-c:v", "libx265", "-pix_fmt", "yuv420p10le", "-x265-params", "log-level=error", "-tag:v",
    "hvc1",
    "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc",
  ]

  @Test func highDynamicRangeStaysInHEVC() throws {
    let folder = try Folder()
    let source = try make("hdr.mp4", in: folder, Self.hdr10)
    _ = try encode(source, "--codec", "hevc", "--out", "out.mp4", in: folder)
    let video = try Probe(folder.path("out.mp4")).video()
    #expect(video.pix_fmt == "yuv420p10le")
    #expect(video.color_transfer == "smpte2084" && video.color_primaries == "bt2020")
  }

  @Test func highDynamicRangeIsMappedForH264() throws {
    let folder = try Folder()
    let source = try make("hdr.mp4", in: folder, Self.hdr10)
    let run = try encode(source, "--codec", "h264", "--out", "out.mp4", in: folder)
    #expect(run.complaints.contains("tones are mapped"), "\(run.complaints)")
    let video = try Probe(folder.path("out.mp4")).video()
    #expect(video.pix_fmt == "yuv420p")
    #expect(
      video.color_transfer == "bt709" && video.color_primaries == "bt709" && video.color_space == "bt709")
  }

  // MARK: Audio

  @Test func audioThatMP4CannotPlayIsEncoded() throws {
    let folder = try Folder()
    let source = try make(
      "sound.mkv", in: folder,
      ["-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-c:a", "libopus", "-ac", "2"])
    let run = try encode(source, "--out", "out.mp4", in: folder)
    #expect(run.text.contains("audio   encoded as AAC"), "\(run.text)")
    let audio = try #require(try Probe(folder.path("out.mp4")).streams().first { $0.codec_type == "audio" })
    #expect(audio.codec_name == "aac")
    let refused = try CommandLine.vtencode(
      "transcoding", source, "--audio", "none", "--out", "silent.mp4", in: folder)
    #expect(refused.status == 0)
    #expect(try Probe(folder.path("silent.mp4")).streams().count == 1)
  }

  @Test func allAudioTracksAreKept() throws {
    let folder = try Folder()
    let source = try make(
      "two.mkv", in: folder,
      [
        "-map", "0:v", "-map", "1:a", "-map", "1:a", "-c:v", "libx264", "-c:a:0", "aac", "-c:a:1", "flac",
        "-metadata:s:a:0", "language=deu", "-metadata:s:a:1", "language=eng",
      ])
    let run = try encode(source, "--out", "out.mov", in: folder)
    #expect(run.text.contains("audio   1 of 2 tracks copied, 1 encoded as AAC"), "\(run.text)")
    let probe = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name:stream_tags=language",
        "-of", "csv=p=0",
        folder.path("out.mov"),
      ])
    let lines = probe.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(lines == ["aac,ger", "aac,eng"] || lines == ["aac,deu", "aac,eng"], "\(lines)")
  }

  // MARK: Ways in and out

  @Test(arguments: [
    "cat source.mp4 | '%' transcoding - --out out.mp4", "'%' transcoding <(cat source.mp4) --out out.mp4",
  ])
  func pipesAreRead(script: String) throws {
    let folder = try Folder()
    _ = try make("source.mp4", in: folder, ["-map", "0:v", "-map", "1:a"])
    let command = script.replacingOccurrences(of: "%", with: CommandLine.vtencode)
    let run = try CommandLine.run("bash", ["-c", command], in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 25)
    #expect(folder.contents == ["out.mp4", "source.mp4"])
  }

  @Test func anEmptyPipeIsRefused() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      "'\(CommandLine.vtencode)' transcoding - --out out.mp4 </dev/null", in: folder)
    #expect(run.status == 1)
    #expect(run.complaints.contains("standard input is empty"), "\(run.complaints)")
  }

  /// The index before the pictures, for players on the web, unless asked otherwise.
  @Test func theIndexComesFirstUnlessAskedOtherwise() throws {
    let folder = try Folder()
    let source = try make("source.mp4", in: folder, ["-map", "0:v"])
    func isIndexFirst(_ name: String) throws -> Bool {
      let data = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
      let index = try #require(data.range(of: Data("moov".utf8)))
      let media = try #require(data.range(of: Data("mdat".utf8)))
      return index.lowerBound < media.lowerBound
    }
    _ = try encode(source, "--out", "fast.mp4", in: folder)
    #expect(try isIndexFirst("fast.mp4"))
    _ = try encode(source, "--no-faststart", "--out", "slow.mp4", in: folder)
    #expect(try !isIndexFirst("slow.mp4"))
  }

  @Test func existingFilesAreKeptUnlessToldOtherwise() throws {
    let folder = try Folder()
    let source = try make("source.mp4", in: folder, ["-map", "0:v"])
    try Data("precious".utf8).write(to: folder.url.appendingPathComponent("out.mp4"))
    let refused = try CommandLine.vtencode("transcoding", source, "--out", "out.mp4", in: folder)
    #expect(refused.status == 1)
    #expect(refused.complaints.contains("--overwrite"), "\(refused.complaints)")
    #expect(try String(contentsOfFile: folder.path("out.mp4"), encoding: .utf8) == "precious")
    _ = try encode(source, "--overwrite", "--out", "out.mp4", in: folder)
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 25)
  }

  /// Never more bits than the source has, without being asked.
  @Test func theRateFollowsTheSource() throws {
    let folder = try Folder()
    let source = try make(
      "small.mp4", in: folder, size: "640x360", ["-map", "0:v", "-c:v", "libx264", "-b:v", "150k"])
    let run = try encode(source, "--multi-pass", "--out", "out.mp4", in: folder)
    let rate = try Probe(source).bitRate(seconds: 1)
    let target = try #require(run.text.firstMatch(of: /target ([0-9,]+) kb/))
    let asked = try #require(Double(target.1.replacing(",", with: "")))
    #expect(asked <= rate / 1000 * 1.02, "\(asked) kb/s asked for, the source has \(rate / 1000)")
  }

  @Test func aQualityTakesThePlaceOfARate() throws {
    let folder = try Folder()
    let source = try make("source.mp4", in: folder, size: "640x360", ["-map", "0:v"])
    var sizes: [Int] = []
    for quality in ["0.2", "0.5", "0.8"] {
      _ = try encode(source, "--quality", quality, "--out", "q\(quality).mp4", in: folder)
      sizes.append(try Data(contentsOf: URL(fileURLWithPath: folder.path("q\(quality).mp4"))).count)
    }
    #expect(sizes == sizes.sorted() && sizes[0] * 2 < sizes[2], "\(sizes)")
    let both = try CommandLine.vtencode(
      "transcoding", source, "--quality", "0.5", "--bitrate", "1M", in: folder)
    #expect(both.status == 64)
  }

  // MARK: Manners

  @Test func progressIsReportedToPrograms() throws {
    struct Finish: Decodable {
      var event: String
      var frames: Int?
      var output: String?
      var soundTracksCopied: Int?
    }
    let folder = try Folder()
    let source = try make("source.mp4", in: folder, ["-map", "0:v", "-map", "1:a"])
    let run = try encode(source, "--progress", "json", "--out", "out.mp4", in: folder)
    let events = try run.complaintLines.map { try JSONDecoder().decode(Finish.self, from: Data($0.utf8)) }
    let last = try #require(events.last)
    #expect(
      last.event == "finished" && last.frames == 25 && last.output == "out.mp4" && last.soundTracksCopied == 1
    )
    #expect(events.dropLast().allSatisfy { $0.event == "progress" })
  }

  /// A run that fails says so to programs as it does to people, whatever it fails on.
  @Test(arguments: [
    (["transcoding", "not-there.mp4", "--progress", "json"], 1),
    (["transcoding", "text.mp4", "--progress=json"], 1),
    (["export", "text.mp4", "--preset", "Passthrough", "--out", "o.mp4", "--progress", "json"], 1),
    (["transcoding", "text.mp4", "--quality", "2", "--progress", "json"], 64),
  ]) func failuresAreReportedToPrograms(arguments: [String], status: Int) throws {
    struct Event: Decodable {
      var event: String
      var message: String
      var status: Int
    }
    let folder = try Folder()
    try Data("no movie".utf8).write(to: folder.url.appendingPathComponent("text.mp4"))
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == status && run.complaintLines.count == 2, "\(run.complaints)")
    let last = try JSONDecoder().decode(Event.self, from: Data(try #require(run.complaintLines.last).utf8))
    #expect(last.event == "failed" && last.status == status)
    #expect(run.complaintLines.first == "vtencode: \(last.message)")
  }

  @Test(arguments: [
    (["transcodign", "x.mp4"], "did you mean vtencode transcoding"),
    (["call", "x.mp4", "--loss", "5"], "--loss 5%"),
    (["transcoding", "https://example.org/x.mp4"], "only files are read"),
    (["transcoding", "x.mp4", "--quality", "2"], "0 to 1"),
  ]) func mistakesGetHints(arguments: [String], hint: String) throws {
    let folder = try Folder()
    let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    #expect(run.status == 64, "\(run.complaints)")
    #expect(run.complaintLines.count == 1 && run.complaints.contains(hint), "\(run.complaints)")
  }

  @Test func aFullOutputIsReported() throws {
    let run = try CommandLine.shell("'\(CommandLine.vtencode)' encoders >/dev/full", in: try Folder())
    #expect(run.status == 1)
    #expect(run.complaints.contains("standard output"), "\(run.complaints)")
  }

  @Test func aReportIsNoOtherFile() throws {
    let folder = try Folder()
    let source = try make("source.mp4", in: folder, ["-map", "0:v"])
    let same = try CommandLine.vtencode(
      "conferencing", source, "--report", source, "--out", "o.mp4", in: folder)
    #expect(same.status == 64 && same.complaints.contains("another output"), "\(same.complaints)")
    let nowhere = try CommandLine.vtencode(
      "conferencing", source, "--report", "none/report.html", "--out", "o.mp4", in: folder)
    #expect(nowhere.status == 1 && nowhere.complaints.contains("does not exist"), "\(nowhere.complaints)")
    #expect(folder.contents == ["source.mp4"])
  }
}
