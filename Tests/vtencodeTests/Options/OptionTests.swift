// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Each option's effect, as ffprobe sees it in what was written.
@Suite(.serialized) struct OptionTests {
  @Test func defaultsGiveAPlayableMovieWithAudio() throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg", ["-v", "error", "-i", CommandLine.sample, "-t", "1", "-c", "copy", folder.path("in.m4v")])
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode("transcoding", "in.m4v", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["in-transcoding.mov", "in.m4v"])
    let probe = Probe(folder.path("in-transcoding.mov"))
    let streams = try probe.streams()
    let video = try probe.video()
    #expect(video.codec_name == "h264")
    #expect(video.codec_tag_string == "avc1")
    #expect(video.width == 1280 && video.height == 720)
    let count = try Probe(folder.path("in.m4v")).frameCount()
    #expect(try count >= 30 && probe.frameCount() == count)
    #expect(streams.contains { $0.codec_type == "audio" && $0.codec_name == "aac" })
    try expectNoErrors(probe)
    // The summary: frames, rate compared with what was asked, speed.
    #expect(run.text.contains("\(count) frames"))
    #expect(run.text.contains("constant quality 0.47"))
    #expect(run.text.contains(/\d+\.\d fps/))
  }

  @Test func timesAreThoseOfTheSource() throws {
    let folder = try Folder()
    let out = folder.path("out.mov")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--frames", "90", "--dimensions", "320", "180", "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    let source = try Probe(CommandLine.sample).frames().prefix(90).map(\.time)
    let encoded = try Probe(out).frames().map(\.time)
    #expect(encoded.count == 90)
    for (one, other) in zip(source, encoded) {
      #expect(abs(try #require(one) - #require(other)) < 1e-5)
    }
  }

  /// Fewer frames than an encoder holds back: all of them come at the end.
  @Test(arguments: ["avc1", "hvc1"], [1, 2, 10]) func fewFramesAllComeAtTheEnd(codec: String, count: Int)
    throws
  {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--codec", codec, "--frames", "\(count)", "--dimensions", "320",
      "180",
      "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(out).frameCount() == count)
  }

  @Test func theCodecHVC1MakesHEVC() throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--codec", "hvc1", "--dimensions", "320", "180", "--frames", "60",
      "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    let probe = Probe(out)
    let video = try probe.video()
    #expect(video.codec_name == "hevc")
    #expect(video.codec_tag_string == "hvc1")
    #expect(video.width == 320 && video.height == 180)
    #expect(try probe.frameCount() == 60)
    try expectNoErrors(probe)
  }

  @Test(arguments: [
    ("avc1", "baseline", "Baseline"), ("avc1", "constrainedBaseline", "Constrained Baseline"),
    ("avc1", "main", "Main"), ("avc1", "high", "High"), ("avc1", "constrainedHigh", "Constrained High"),
    ("avc1", "high444", "High 4:4:4 Predictive"),
    ("hvc1", "main", "Main"), ("hvc1", "main10", "Main 10"),
  ])
  func theStreamHasTheProfileAskedFor(codec: String, name: String, seen: String) throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--codec", codec, "--profile", name, "--dimensions", "320", "180",
      "--frames", "20", "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    let video = try Probe(out).video()
    // Not every ffprobe tells the constrained High profile from the High one.
    // Baseline streams that keep to the constrained profile are shown as that.
    let accepted =
      switch name {
      case "constrainedHigh": [seen, "High"]
      case "baseline": [seen, "Constrained Baseline"]
      default: [seen]
      }
    #expect(accepted.contains(video.profile ?? ""), "\(video.profile ?? "none")")
    if name == "main10" { #expect(video.pix_fmt == "yuv420p10le") }
    if name == "high444" { #expect(video.pix_fmt == "yuv444p" && video.has_b_frames == 0) }
    if name.lowercased().contains("baseline") { #expect(video.has_b_frames == 0) }
    try expectNoErrors(Probe(out))
  }

  @Test(arguments: ["streaming", "transcoding"], ["100k", "300k"])
  func theMovieHasTheBitRateAskedFor(subcommand: String, rate: String) throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    var arguments = [
      subcommand, CommandLine.sample, "--dimensions", "320", "180", "--bitrate", rate, "--effort", "1",
      "--out", out,
    ]
    if subcommand == "streaming" { arguments.append("--unpaced") }
    let run = try CommandLine.run(CommandLine.vtencode, arguments)
    #expect(run.status == 0, "\(run.complaints)")
    let target = Double(rate.dropLast())! * 1000
    let measured = try Probe(out).bitRate(seconds: 10)
    #expect(abs(measured / target - 1) < 0.05, "\(measured) against \(target)")
  }

  @Test func streamingLooksAheadUnlessToldNotTo() throws {
    let folder = try Folder()
    func reordered(_ more: [String]) throws -> Int? {
      let out = folder.path("\(more.count).mp4")
      let run = try CommandLine.run(
        CommandLine.vtencode,
        [
          "streaming", CommandLine.sample, "--unpaced", "--dimensions", "160x90", "--frames", "40", "--out",
          out,
        ]
          + more)
      #expect(run.status == 0, "\(run.complaints)")
      return try Probe(out).video().has_b_frames
    }
    #expect(try reordered([]) == 2)
    #expect(try reordered(["--preset", "highSpeed", "--codec", "avc1"]) == 2)
    #expect(try reordered(["--look-ahead-frames", "0"]) == 0)
  }

  @Test(arguments: ["avc1", "hvc1"])
  func constantBitRateFillsUp(codec: String) throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    // Far more than a small picture needs: only filling reaches it.
    let run = try CommandLine.vtencode(
      "streaming", CommandLine.sample, "--unpaced", "--codec", codec, "--dimensions", "128", "72",
      "--bitrate",
      "2M", "--cbr", "--frames", "120", "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(abs(try Probe(out).bitRate(seconds: 4) / 2_000_000 - 1) < 0.05)
    try expectNoErrors(Probe(out))
  }

  @Test func bufferTimingIsWrittenWhereItIsAskedFor() throws {
    let folder = try Folder()
    func run(_ command: String..., to out: String = "other.264") throws -> Finished {
      let common = ["--dimensions", "128x72", "--frames", "60", "--buffer-timing", "--out", out]
      return try CommandLine.run(
        CommandLine.vtencode, command + [CommandLine.sample] + common, in: folder.url)
    }
    let engine = ["--encoder", "org.openvideotoolbox.videoencoder.h264"]
    let made = try run("streaming", "--unpaced", "--bitrate", "200k", engine[0], engine[1], to: "out.264")
    #expect(made.status == 0, "\(made.complaints)")
    let traced = try CommandLine.shell(
      "ffmpeg -nostdin -v verbose -i out.264 -c copy -bsf:v trace_headers -f null - 2>&1 | grep -c 'Picture Timing'",
      in: folder)
    #expect(traced.text.trimmingCharacters(in: .whitespacesAndNewlines) == "60")
    for refused in [
      try run("transcoding", "--bitrate", "200k", engine[0], engine[1]), try run("conferencing"),
      try run("streaming", "--unpaced", "--quality", "0.5", engine[0], engine[1]),
      try run("transcoding", "--bitrate", "200k", "--max-rate", "100k"),
      try run("transcoding", "--bitrate", "200k", "--cbr", "--max-rate", "300k"),
      try run("transcoding", "--bitrate", "200k", "--buffer", "2"),
      try run("transcoding", "--max-rate", "200k", "--buffer", "0", engine[0], engine[1]),
    ] {
      #expect(refused.status == 64 && refused.complaints.contains("--"), "\(refused.complaints)")
    }
    #if X265
      let other = try run("streaming", "--unpaced", "--codec", "hvc1", to: "out.265")
      #expect(
        other.status != 0 && other.complaints.contains("does not support --buffer-timing"),
        "\(other.complaints)")
    #endif
  }

  @Test(arguments: [["--keyframe-interval", "12"], ["--keyframe-duration", "0.4"]])
  func keyFramesComeAtTheIntervalAskedFor(option: [String]) throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", CommandLine.sample, "--dimensions", "320", "180", "--frames", "80", "--out", out]
        + option)
    #expect(run.status == 0, "\(run.complaints)")
    let keys = try Probe(out).frames().enumerated().filter { $0.element.key_frame == 1 }.map(\.offset)
    #expect(keys.first == 0)
    let gaps = zip(keys.dropFirst(), keys).map { $0 - $1 } + [80 - (keys.last ?? 0)]
    #expect(gaps.allSatisfy { $0 <= 12 }, "\(keys)")
    #expect(keys.count >= 7)
  }

  @Test(arguments: ["420v", "BGRA", "x420"])
  func picturesAreReadInThePixelFormatAskedFor(name: String) throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--pixel-format", name, "--dimensions", "640", "360", "--bitrate",
      "3M",
      "--effort", "1", "--frames", "30", "--psnr", "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(out).frameCount() == 30)
    // Colours survive the conversion: a wrong matrix or range costs tens of decibels.
    let quality = try #require(run.text.firstMatch(of: /psnr\s+([\d.]+) dB/))
    #expect(try #require(Double(quality.1)) > 34, "\(run.text)")
  }

  @Test func psnrIsWhatFFmpegMeasures() throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--bitrate", "800k", "--preset", "highSpeed", "--frames", "60",
      "--psnr",
      "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    let ours = try #require(run.text.firstMatch(of: /psnr\s+([\d.]+) dB \(Y ([\d.]+) dB/))
    let theirs = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-i", out, "-i", CommandLine.sample, "-lavfi", "[0:v][1:v]psnr=shortest=1", "-f", "null",
        "-",
      ])
    let answer = try #require(theirs.complaints.firstMatch(of: /PSNR y:([\d.]+).*average:([\d.]+)/))
    #expect(abs(Double(ours.1)! - Double(answer.2)!) < 0.05)
    #expect(abs(Double(ours.2)! - Double(answer.1)!) < 0.05)
  }

  @Test(arguments: ["balanced", "highQuality", "highSpeed"])
  func everyPresetEncodes(name: String) throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--preset", name, "--dimensions", "320", "180", "--frames", "30",
      "--out",
      out)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(out).frameCount() == 30)
    try expectNoErrors(Probe(out))
  }

  /// Settings whose effect is in the coded bits: the same settings give the same stream, others
  /// another.
  @Test(arguments: [
    ["--look-ahead-frames", "5"], ["--spatial-adaptive-qp", "disabled"], ["--save-power"],
    ["--preset", "highSpeed"],
  ])
  func encoderSettingsChangeTheStreamRepeatably(option: [String]) throws {
    let arguments = [
      "transcoding", CommandLine.sample, "--dimensions", "320", "180", "--frames", "45", "--threads", "1",
      "--bitrate", "300k", "--out", "-",
    ]
    let baseline = try CommandLine.run(CommandLine.vtencode, arguments)
    let again = try CommandLine.run(CommandLine.vtencode, arguments)
    let other = try CommandLine.run(CommandLine.vtencode, arguments + option)
    #expect(baseline.status == 0 && other.status == 0, "\(other.complaints)")
    #expect(!baseline.output.isEmpty && baseline.output == again.output)
    #expect(other.output != baseline.output)
    #expect(!other.output.isEmpty)
  }

  /// How many threads the process has at its most, seen from outside.
  @Test(arguments: ["avc1", "hvc1"]) func theEncoderHasTheThreadsAskedFor(codec: String) throws {
    let folder = try Folder()
    func threads(_ count: Int) throws -> Int {
      // Nobody reads on from the pipe while the threads are counted, so that the program waits with
      // all of them: the stream is larger than a pipe.
      let run = try CommandLine.shell(
        """
        mkfifo pipe\(count)
        '\(CommandLine.vtencode)' transcoding '\(CommandLine.sample)' --codec \(codec) --dimensions 640 360 \
          --preset highSpeed --frames 30 --bitrate 8M --threads \(count) --out - >pipe\(count) 2>/dev/null & child=$!
        exec 3<pipe\(count)
        head -c 4 <&3 >/dev/null
        ls /proc/$child/task | wc -l
        cat <&3 >/dev/null
        wait $child
        """, in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      return try #require(Int(run.text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }
    #expect(try threads(8) - threads(1) >= 5)
  }

  @Test func audioIsLeftOut() throws {
    let folder = try Folder()
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--no-audio", "--frames", "10", "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(out).streams().map(\.codec_type) == ["video"])
  }

  @Test func audioIsCopiedUnchangedAndEndsWithThePicture() throws {
    let folder = try Folder()
    let whole = folder.path("whole.mov")
    let short = folder.path("short.mov")
    #expect(
      try CommandLine.vtencode(
        "transcoding", CommandLine.sample, "--preset", "highSpeed", "--dimensions", "320", "180", "--out",
        whole
      ).status == 0)
    let md5 = ["-map", "0:a", "-c", "copy", "-f", "md5", "-"]
    let before = try CommandLine.run("ffmpeg", ["-v", "error", "-i", CommandLine.sample] + md5)
    let after = try CommandLine.run("ffmpeg", ["-v", "error", "-i", whole] + md5)
    #expect(before.text.hasPrefix("MD5="))
    #expect(before.text == after.text)

    #expect(
      try CommandLine.vtencode(
        "transcoding", CommandLine.sample, "--dimensions", "320", "180", "--frames", "60", "--out", short
      ).status == 0)
    let seconds = try CommandLine.run(
      "ffprobe",
      ["-v", "error", "-select_streams", "a", "-show_entries", "stream=duration", "-of", "csv=p=0", short])
    let duration = try #require(Double(seconds.text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(abs(duration - 2) < 0.05, "\(duration)")
  }

  @Test func verbosePrintsSettingsAndFrames() throws {
    let folder = try Folder()
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--frames", "5", "--bitrate", "1M", "--verbose", "--out",
      folder.path("out.mp4"))
    #expect(run.status == 0)
    #expect(run.complaintLines.filter { $0.hasPrefix("frame ") }.count == 5)
    #expect(run.complaints.contains("AverageBitRate"))
    #expect(run.complaints.contains("key frame"))
  }

  @Test func encodersAreListed() throws {
    let short = try CommandLine.vtencode("encoders")
    #expect(short.status == 0)
    for word in ["avc1", "hvc1", "AverageBitRate", "H264_High_AutoLevel", "HEVC_Main10_AutoLevel"] {
      #expect(short.text.contains(word), "\(word)")
    }
    let long = try CommandLine.vtencode("encoders", "--properties")
    #expect(long.text.contains("CABAC"))
    #expect(long.text.contains("read only"))
  }

  @Test(arguments: ["streaming", "transcoding", "encoders"])
  func helpHasExamples(subcommand: String) throws {
    let run = try CommandLine.vtencode(subcommand, "--help")
    #expect(run.status == 0)
    #expect(run.text.contains("Examples:"))
    #expect(run.text.contains("vtencode \(subcommand)"))
  }
}
