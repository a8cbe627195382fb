// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Elementary streams, pipes, and inputs that are not movies.
@Suite(.serialized) struct StreamTests {
  @Test(arguments: [("avc1", "264", "h264"), ("hvc1", "265", "hevc")])
  func elementaryStreamsAreWrittenAsAnnexB(codec: String, ending: String, seen: String) throws {
    let folder = try Folder()
    let out = folder.path("out.\(ending)")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--codec", codec, "--dimensions", "320", "180", "--frames", "40",
      "--out",
      out)
    #expect(run.status == 0, "\(run.complaints)")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: out))
    #expect(bytes.starts(with: [0, 0, 0, 1]))
    let probe = Probe(out)
    #expect(try probe.video().codec_name == seen)
    #expect(try probe.frameCount() == 40)
    try expectNoErrors(probe)
    #expect(folder.contents == ["out.\(ending)"])
  }

  @Test func pipeGivesTheSameBytesAsAFile() throws {
    let folder = try Folder()
    let arguments = [
      "transcoding", CommandLine.sample, "--dimensions", "320", "180", "--frames", "30", "--threads", "1",
      "--quality", "0.5", "--out",
    ]
    let toFile = try CommandLine.run(CommandLine.vtencode, arguments + [folder.path("out.264")])
    let toPipe = try CommandLine.run(CommandLine.vtencode, arguments + ["-"])
    #expect(toFile.status == 0 && toPipe.status == 0, "\(toPipe.complaints)")
    #expect(toPipe.output == (try Data(contentsOf: URL(fileURLWithPath: folder.path("out.264")))))
    // The summary must not mix with the stream.
    #expect(toPipe.complaints.contains("30 frames"))
  }

  @Test func closedOutputPipeIsReported() throws {
    let run = try CommandLine.shell(
      "{ '\(CommandLine.vtencode)' transcoding '\(CommandLine.sample)' --bitrate 8M --out - ; echo \"status $?\" >&2; } | head -c 1000 >/dev/null"
    )
    let lines = run.complaintLines.filter { !$0.contains("fps") }
    #expect(lines.count == 2, "\(run.complaints)")
    #expect(run.complaints.contains("has gone"))
    #expect(run.complaints.contains("status 1"))
  }

  @Test func y4mIsReadAsInput() throws {
    let folder = try Folder()
    let y4m = folder.path("in.y4m")
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-v", "error", "-i", CommandLine.sample, "-frames:v", "30", "-vf", "scale=320:180", "-pix_fmt",
        "yuv420p", y4m,
      ])
    #expect(made.status == 0)
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode("transcoding", y4m, "--psnr", "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    let frames = try Probe(out).frames()
    #expect(frames.count == 30)
    #expect(abs(try #require(frames.last?.time) - 29.0 / 30) < 0.001)
  }

  @Test func rawStreamInputTakesItsFrameRateFromTheOption() throws {
    let folder = try Folder()
    let raw = folder.path("in.264")
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-v", "error", "-i", CommandLine.sample, "-frames:v", "50", "-an", "-c", "copy", "-bsf:v",
        "h264_mp4toannexb", raw,
      ])
    #expect(made.status == 0)
    let out = folder.path("out.mp4")
    let run = try CommandLine.vtencode(
      "transcoding", raw, "--fps", "50", "--dimensions", "320", "180", "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    let times = try Probe(out).frames().compactMap(\.time)
    #expect(times.count == 50)
    for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 50) < 1e-4) }
  }

  @Test func unevenFrameTimesSurvive() throws {
    let folder = try Folder()
    let input = folder.path("in.mp4")
    // Every third frame is missing, and the first comes late.
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-v", "error", "-i", CommandLine.sample, "-an", "-frames:v", "40", "-vf",
        "scale=320:180,select='mod(n,3)',setpts=PTS+0.5/TB", "-fps_mode", "vfr", "-c:v", "libx264", input,
      ])
    #expect(made.status == 0, "\(made.complaints)")
    let out = folder.path("out.mov")
    let run = try CommandLine.vtencode("transcoding", input, "--out", out)
    #expect(run.status == 0, "\(run.complaints)")
    let source = try Probe(input).frames().compactMap(\.time)
    let encoded = try Probe(out).frames().compactMap(\.time)
    #expect(source.count == encoded.count)
    for (one, other) in zip(source, encoded) { #expect(abs(one - other) < 1e-4, "\(one) \(other)") }
  }

  @Test func interruptLeavesAPlayableMovie() throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      CommandLine.vtencode,
      [
        "streaming", CommandLine.sample, "--dimensions", "320", "180", "--out", "out.mp4", "--progress",
        "json",
      ], in: folder.url, signal: .sent(SIGINT, atFrame: 30))
    #expect(run.status == 130, "\(run.complaints)")
    #expect(run.complaints.contains("interrupted"))
    #expect(folder.contents == ["out-part.mp4"])
    #expect(!run.complaints.contains("is unchanged"), "\(run.complaints)")
    let probe = Probe(folder.path("out-part.mp4"))
    let count = try probe.frameCount()
    #expect(count > 10 && count < 200, "\(count)")
    try expectNoErrors(probe)
    // Audio does not outlast the picture by more than a packet.
    let end = try #require(try probe.frames().last?.time)
    let audio = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", "a", "-show_entries", "stream=duration", "-of", "csv=p=0",
        folder.path("out-part.mp4"),
      ])
    let duration = try #require(Double(audio.text.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(duration < end + 0.1)
  }
}
