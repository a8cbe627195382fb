// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Losses that a run must report: other people's files, pictures, half ticks, a report at
/// the end.
@Suite(.serialized) struct LossTests {
  private func make(_ folder: Folder, _ rate: String, _ more: [String]) throws {
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x96:rate=\(rate):duration=1"] + more,
      in: folder.url)
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// Their names are like those that unfinished files have.
  @Test("An alpha channel and channels of audio that are lost are named")
  func lostChannelsAreNamed() throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      """
      ffmpeg -nostdin -v error -f lavfi -i color=red@0.5:s=160x120:r=25:d=1,format=yuva444p10le -f lavfi -i sine=d=1 \
        -filter_complex '[1:a]pan=7.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0|c6=c0|c7=c0[a]' -map 0 -map '[a]' \
        -c:v prores_ks -profile:v 4444 -c:a pcm_s16le in.mov
      """, in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode("transcoding", "in.mov", "--out", "out.mp4", in: folder)
    #expect(run.status == 0 && run.complaints.contains("alpha channel"), "\(run)")
    #expect(run.text.contains("8 channels of track 1 mixed down to 6"), "\(run.text)")
    let opaque = try CommandLine.vtencode("transcoding", "out.mp4", "--out", "again.mp4", in: folder)
    #expect(opaque.status == 0 && !opaque.complaints.contains("alpha"), "\(opaque)")
    #expect(!opaque.text.contains("mixed"), "\(opaque.text)")
  }

  @Test func foldersOfOthersStay() throws {
    let folder = try Folder()
    for (name, files, mode) in [
      (".vtencode-backup", ["thesis.txt"], 0o755), (".vtencode-photos", ["a.jpg", "b.jpg"], 0o700),
      (".vtencode-abcdef", ["left.mov"], 0o700),
    ] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name), withIntermediateDirectories: false, attributes: [.posixPermissions: mode])
      for file in files {
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.path("\(name)/\(file)")))
      }
    }
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--frames", "3", "--dimensions", "160", "90", "--out", "out.mp4",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    // The last one is as a run that was killed leaves it.
    #expect(folder.contents == [".vtencode-backup", ".vtencode-photos", "out.mp4"])
    #expect(FileManager.default.fileExists(atPath: folder.path(".vtencode-backup/thesis.txt")))
    #expect(FileManager.default.fileExists(atPath: folder.path(".vtencode-photos/b.jpg")))
  }

  /// Somebody else's file that came meanwhile.
  @Test func whatCameMeanwhileStays() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' streaming '\(CommandLine.sample)' --frames 200 --dimensions 160 90 --out out.mp4 &
      child=$!
      await $child exists './.vtencode-*'
      echo other > out.mp4
      wait $child
      """, in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try String(contentsOfFile: folder.path("out.mp4"), encoding: .utf8) == "other\n")
    #expect(try Probe(folder.path("out-2.mp4")).frameCount() == 200)
  }

  /// A link stays, and what it leads to becomes the movie, there or not.
  @Test func linksStayAndLeadToTheMovie() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path("far"), withIntermediateDirectories: false)
    for (target, options) in [("new.mp4", []), ("old.mp4", ["--overwrite"])] {
      let link = "link-\(target)"
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(link), withDestinationPath: "far/\(target)")
      if target == "old.mp4" {
        try Data("old".utf8).write(to: URL(fileURLWithPath: folder.path("far/old.mp4")))
      }
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["transcoding", CommandLine.sample, "--frames", "5", "--dimensions", "160", "90", "--out", link]
          + options,
        in: folder.url)
      #expect(run.status == 0, "\(run.complaints)")
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path(link)) == "far/\(target)")
      #expect(try Probe(folder.path("far/\(target)")).frameCount() == 5)
    }
  }

  @Test func picturesBeforeTheFirstGoodOneAreMissed() throws {
    let folder = try Folder()
    try make(folder, "10", ["f%02d.png"])
    for number in 1...3 {
      let path = folder.path("f0\(number).png")
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      for index in 40..<bytes.count { bytes[index] = 0 }
      try bytes.write(to: URL(fileURLWithPath: path))
    }
    let run = try CommandLine.vtencode("transcoding", "f%02d.png", "--out", "out.mp4", in: folder)
    #expect(run.status == 2 && run.complaints.contains("3 pictures lost"), "\(run.status) \(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 7)
  }

  @Test func gapsInASequenceAreSaid() throws {
    let folder = try Folder()
    try make(folder, "10", ["f%02d.png"])
    try FileManager.default.removeItem(atPath: folder.path("f04.png"))
    let run = try CommandLine.vtencode("transcoding", "f%02d.png", "--out", "out.mp4", in: folder)
    #expect(run.status == 1 && run.complaints.contains("no picture 4"), "\(run.status) \(run.complaints)")
    #expect(!folder.contents.contains("out.mp4"))
  }

  /// The track's time scale is the frame rate: a field has half a tick of it.
  @Test func fieldsHaveHalfTicks() throws {
    let folder = try Folder()
    try make(
      folder, "50",
      [
        "-vf", "tinterlace=interleave_top,fieldorder=tff,format=yuv420p", "-c:v", "mpeg2video", "-flags",
        "+ilme+ildct", "-video_track_timescale", "25", "in.mov",
      ])
    let run = try CommandLine.vtencode(
      "transcoding", "in.mov", "--deinterlace", "field", "--out", "out.mp4", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let times = try Probe(folder.path("out.mp4")).frames().compactMap(\.time)
    #expect(times.count == 50)
    for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 50) < 0.001) }
  }

  @Test(arguments: ["1", "1/3"]) func slowMoviesAreReportedToTheirEnd(rate: String) throws {
    let folder = try Folder()
    try make(folder, rate, ["-t", "9", "-c:v", "libx264", "-pix_fmt", "yuv420p", "in.mp4"])
    for subcommand in ["call", "conferencing"] {
      let run = try CommandLine.run(
        CommandLine.vtencode,
        [subcommand, "in.mp4", "--report", "\(subcommand).html"]
          + (subcommand == "call" ? [] : ["--unpaced", "--out", "out.mp4"]), in: folder.url)
      #expect(run.status == 0, "\(subcommand): \(run.complaints)")
      #expect(folder.contents.contains("\(subcommand).html"))
    }
  }
}
