// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// `--profile high444` on the command line: what works by default, and what is refused in a
/// sentence.
@Suite struct FullChromaCommandTests {
  /// A second of pictures whose colour changes from each column to the next, and a small drawing.
  private static func makeMovie(in folder: Folder) throws {
    let columns = "geq=lum=128:cb='if(mod(X\\,2)\\,200\\,50)':cr=128"
    for arguments in [
      [
        "-f", "lavfi", "-i", "color=gray:size=160x96:rate=10:duration=1,format=yuv444p,\(columns)", "-c:v",
        "ffv1", folder.path("in.mkv"),
      ],
      ["-f", "lavfi", "-i", "color=red:size=16x16", "-frames:v", "1", folder.path("logo.png")],
    ] {
      let made = try CommandLine.run("ffmpeg", ["-nostdin", "-v", "error"] + arguments)
      try #require(made.status == 0, "\(made.complaints)")
    }
  }

  /// The mean difference of Cb between neighbouring columns, below the first rows of the first
  /// picture.
  private static func columnDifference(_ path: String) throws -> Double {
    let raw = path + ".yuv"
    let run = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-i", path, "-frames:v", "1", "-pix_fmt", "yuv444p", "-f", "rawvideo", raw])
    try #require(run.status == 0, "\(run.complaints)")
    let samples = [UInt8](try Data(contentsOf: URL(fileURLWithPath: raw)))
    let (width, height) = (160, 96)
    var sum = 0
    for y in 48..<height {
      for x in 0..<width - 1 {
        let at = width * height + y * width + x
        sum += abs(Int(samples[at]) - Int(samples[at + 1]))
      }
    }
    return Double(sum) / Double((height - 48) * (width - 1))
  }

  @Test("A drawing leaves the colour of each sample", arguments: [[], ["--overlay", "logo.png"]])
  func aDrawingLeavesTheColour(_ more: [String]) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode,
      ["transcoding", "in.mkv", "--profile", "high444", "--quality", "0.8", "--out", "out.mp4"] + more,
      in: folder.url)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Self.columnDifference(folder.path("out.mp4")) > 120)
  }

  @Test("Live pictures and standard output need no rate")
  func liveSourcesNeedNoRate() throws {
    let folder = try Folder()
    let run = try CommandLine.vtencode(
      "transcoding", "test:320x180@30", "--duration", "0.5", "--profile", "high444", "--out", "out.mp4",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).streams().first?.pix_fmt == "yuv444p")
  }

  @Test(
    "What takes a look-ahead, or has half of the colour, is refused by name",
    arguments: [
      (["split", "in.mkv", "--plan", "p.json"], "--profile high444"),
      (["transcoding", "in.mkv", "--jobs", "2", "--out", "out.mp4"], "--profile high444"),
      (["transcoding", "in.mkv", "--pixel-format", "y420", "--out", "out.mp4"], "--pixel-format y420"),
      (["transcoding", "in.mkv", "--pixel-format", "x420", "--out", "out.mp4"], "--pixel-format x420"),
    ])
  func whatCannotBeDoneIsRefused(_ arguments: [String], _ name: String) throws {
    let folder = try Folder()
    try Self.makeMovie(in: folder)
    let run = try CommandLine.run(
      CommandLine.vtencode, arguments + ["--profile", "high444", "--bitrate", "1M"], in: folder.url)
    #expect(run.status == 64 && run.complaints.contains(name), "\(run.status) \(run.complaints)")
    #expect(folder.contents == ["in.mkv", "logo.png"], "\(folder.contents)")
  }
}
