// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// Exports to containers that an export session does not write.
@Suite struct ContainerExportTests {
  private static let inputs = [
    "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2", "-f", "lavfi", "-i", "sine=duration=2",
    "-pix_fmt", "yuv420p",
  ]

  private static func make(_ codecs: [String], in folder: Folder) throws {
    let made = try CommandLine.run(
      "ffmpeg", ["-nostdin", "-v", "error"] + inputs + codecs + [folder.path("in.mp4")])
    try #require(made.status == 0, "\(made.complaints)")
  }

  @Test("A preset's movie goes into .mkv, .ts and .flv whole", arguments: ["mkv", "ts", "flv"])
  func aPresetsMovieGoesIntoContainers(_ ending: String) throws {
    let folder = try Folder()
    try Self.make(["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"], in: folder)
    let run = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "MediumQuality", "--out", "out.\(ending)", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["in.mp4", "out.\(ending)"])
    let probe = Probe(folder.path("out.\(ending)"))
    #expect(try probe.frameCount() == 50)
    #expect(try probe.streams().map(\.codec_name).compactMap(\.self).sorted() == ["aac", "h264"])
    try expectNoErrors(probe)
  }

  @Test("Passthrough copies VP9 and Opus into .webm, and what WebM cannot hold is refused by name")
  func passthroughCopiesIntoWebM() throws {
    let folder = try Folder()
    try Self.make(
      ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"], in: folder)
    let run = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "Passthrough", "--out", "out.webm", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let probe = Probe(folder.path("out.webm"))
    #expect(try probe.frameCount() == 50)
    #expect(try probe.streams().map(\.codec_name).compactMap(\.self).sorted() == ["opus", "vp9"])
    let refused = try CommandLine.vtencode(
      "export", CommandLine.sample, "--preset", "Passthrough", "--out", "no.webm", in: folder)
    #expect(refused.status == 64 && refused.complaints.contains("WebM cannot hold h264"), "\(refused)")
    #expect(folder.contents == ["in.mp4", "out.webm"])
  }

  @Test("VP9 of a WebM file is copied into .mp4 and again from there; .mov is refused by name")
  func passthroughCopiesVP9IntoMP4() throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=1"]
        + [
          "-pix_fmt", "yuv444p", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "in.webm",
        ],
      in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
    for (input, output) in [("in.webm", "one.mp4"), ("one.mp4", "two.mp4"), ("two.mp4", "back.webm")] {
      let run = try CommandLine.vtencode(
        "export", input, "--preset", "Passthrough", "--out", output, in: folder)
      #expect(run.status == 0, "\(output): \(run.complaints)")
      let probe = Probe(folder.path(output))
      #expect(try probe.frameCount() == 25)
      #expect(try probe.video().codec_name == "vp9" && probe.video().pix_fmt == "yuv444p")
      try expectNoErrors(probe)
    }
    let refused = try CommandLine.vtencode(
      "export", "in.webm", "--preset", "Passthrough", "--out", "no.mov", in: folder)
    #expect(
      refused.status != 0 && refused.complaints.contains(".mov file cannot hold samples of vp9"), "\(refused)"
    )
    #expect(folder.contents == ["back.webm", "in.webm", "one.mp4", "two.mp4"])
  }
}
