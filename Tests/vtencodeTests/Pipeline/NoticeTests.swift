// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import vtencode

/// What a run says of options and inputs that do not do what a user may expect.
@Suite struct NoticeTests {
  /// A movie of half a second with two video tracks.
  private func makeMovie(in folder: Folder) throws {
    let picture = ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30:duration=0.5"]
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error"] + picture + picture + ["-map", "0:v", "-map", "1:v", "-c:v", "mpeg4"]
        + [folder.path("in.mp4")])
    try #require(made.status == 0, "\(made.complaints)")
  }

  @Test("What is left out is reported without progress, too", arguments: ["auto", "none", "json"])
  func noticesWithoutProgress(style: String) throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--progress", style, "--out", "out.mp4", in: folder)
    #expect(run.status == 0 && run.complaints.contains("1 more video track"), "\(run.complaints)")
    // JSON remains one object for each line.
    if style == "json" {
      #expect(run.complaintLines.allSatisfy { $0.hasPrefix("{") }, "\(run.complaints)")
    }
  }

  @Test("A frame rate may be a fraction")
  func fractionOfFrameRate() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--fps", "24000/1001", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).video().r_frame_rate == "24000/1001")
    for wrong in ["30/0", "a/b", "1/2/3", "/", "0"] {
      let refused = try CommandLine.vtencode(
        "transcoding", "in.mp4", "--fps", wrong, "--out", "no.mp4", in: folder)
      #expect(refused.status == 64 && refused.complaints.contains("fps"), "\(wrong): \(refused.complaints)")
    }
  }

  @Test("An encoder is named by the end of its id; an unknown one is refused with those that there are")
  func encoderNames() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--encoder", "h264", "--verbose", "--out", "out.mp4", in: folder)
    #expect(run.status == 0 && run.complaints.contains("org.openvideotoolbox.videoencoder.h264,"), "\(run)")
    let refused = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--encoder", "other", "--out", "no.mp4", in: folder)
    #expect(
      refused.status != 0 && refused.complaints.contains("there are org.openvideotoolbox.videoencoder.h264"),
      "\(refused.complaints)")
    // Two encoders have this end.
    let ambiguous = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--encoder", "lowlatency", "--out", "no.mp4", in: folder)
    #expect(ambiguous.status != 0, "\(ambiguous.complaints)")
  }

  @Test(
    "An invalid value is refused with what the option takes",
    arguments: [
      ("--preset", "fast", "highQuality"), ("--progress", "foo", "json"), ("--quality", "50%", "from 0"),
      ("--audio", "mp3", "aac"),
    ])
  func invalidValues(option: String, value: String, valid: String) throws {
    let run = try CommandLine.vtencode("transcoding", "in.mp4", option, value, "--out", "o.mp4", in: Folder())
    #expect(run.status == 64 && run.complaintLines.count == 1, "\(run.complaints)")
    #expect(
      run.complaints.contains("'\(value)' is invalid") && run.complaints.contains(valid), "\(run.complaints)")
  }

  @Test("One picture has no part")
  func partOfAPicture() throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64", "-frames:v", "1", folder.path("in.png")])
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", "in.png", "--duration", "5", "--out", "o.mp4", in: folder)
    #expect(run.status == 64 && run.complaints.contains("is one picture"), "\(run.complaints)")
    #expect(folder.contents == ["in.png"])
  }

  @Test("A preset of audio alone says that a movie has none, and help lists the sizes of presets")
  func exportPresets() throws {
    let folder = try Folder()
    try makeMovie(in: folder)
    let run = try CommandLine.vtencode(
      "export", "in.mp4", "--preset", "AppleM4A", "--out", "o.m4a", in: folder)
    #expect(run.status != 0 && run.complaints.contains("has no audio"), "\(run.complaints)")
    let help = try CommandLine.vtencode("export", "--help").text
    #expect(help.contains(/AppleM4VCellular +H\.264, at most 176x144/), "\(help)")
  }
}
