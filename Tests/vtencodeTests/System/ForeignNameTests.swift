// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Files with untrusted names: what is not a regular file is refused before a
/// byte of it is read.
@Suite(.serialized) struct ForeignNameTests {
  /// A plan of a movie of a second, with both segments encoded.
  private func makePlan(in folder: Folder) throws {
    let made = try CommandLine.shell(
      """
      ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=160x96:rate=25:duration=2 -pix_fmt yuv420p -c:v libx264 in.mp4
      '\(CommandLine.vtencode)' split in.mp4 --bitrate 100k --segments 2 --plan plan.json > text
      for n in 0 1; do '\(CommandLine.vtencode)' encode-segment --plan plan.json --segment $n >> text; done
      mkfifo pipe; mkdir tmp folder
      """, in: folder)
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// Nothing is stored anywhere, and nothing waited for: a second would not be enough to be sure,
  /// and so a limit is far above the duration of an answer.
  private func run(_ arguments: [String], in folder: Folder) throws -> Finished {
    let run = try CommandLine.run(
      "env",
      ["TMPDIR=\(folder.path("tmp"))", "timeout", "-s", "KILL", "60", CommandLine.vtencode] + arguments,
      in: folder.url)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp")).isEmpty)
    return run
  }

  private static let others = ["/dev/zero", "/dev/urandom", "/dev/null", "/dev/tty", "pipe", "folder"]

  @Test("A movie of a plan that is a device, a pipe or a folder is not read")
  func aPlansMovieThatIsNoRegularFileIsNotRead() throws {
    let folder = try Folder()
    try makePlan(in: folder)
    let text = try String(contentsOfFile: folder.path("plan.json"), encoding: .utf8)
    for name in Self.others {
      for command in [["encode-segment", "--segment", "0", "--overwrite"], ["join", "--out", "out.mp4"]] {
        let named = try run(command + ["--plan", "plan.json", "--movie", name], in: folder)
        #expect(named.status == 1 && named.complaintLines.count == 1, "\(name): \(named.complaints)")
        let path = name.hasPrefix("/") ? name : folder.path(name)
        try PartTests.seal(
          text.replacingOccurrences(
            of: "\"path\" : \"\(folder.path("in.mp4"))\"", with: "\"path\" : \"\(path)\""),
          in: folder)
        let planned = try run(command + ["--plan", "plan.json"], in: folder)
        #expect(planned.status == 1 && planned.complaintLines.count == 1, "\(name): \(planned.complaints)")
        #expect(planned.complaints.contains("'\(path)'"), "\(planned.complaints)")
        try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("plan.json")))
      }
    }
    #expect(!folder.contents.contains { $0.hasPrefix("out") })
  }

  @Test("What lies in a plan's folder, and the plan itself, is read only if it is a file")
  func whatLiesBesideAPlanIsReadOnlyIfItIsAFile() throws {
    let folder = try Folder()
    try makePlan(in: folder)
    for name in Self.others {
      let command = ["encode-segment", "--segment", "0", "--plan", name]
      let run = try run(command, in: folder)
      #expect(run.status == 1 && run.complaintLines.count == 1, "\(name): \(run.complaints)")
    }
    let record = "plan.parts/segment-00000.json"
    let original = try String(contentsOfFile: folder.path(record), encoding: .utf8)
    for (file, target) in [
      (record, "/dev/zero"), (record, "pipe"), ("plan.parts/segment-00000.mov", "/dev/zero"),
      ("plan.parts/segment-00000.mov", "pipe"), ("plan.parts/segment-00000.pass", "/dev/zero"),
      ("plan.parts/segment-00000.pass", "pipe"),
    ] {
      let place = folder.path(file)
      try #require(rename(place, folder.path("kept")) == 0)
      try #require(symlink(target.hasPrefix("/") ? target : folder.path(target), place) == 0)
      // A device has no bytes to count, and a record may say so.
      let size = original.replacing(/"fileBytes" : \d+/, with: "\"fileBytes\" : 0")
      if file.hasSuffix(".mov") { try Data(size.utf8).write(to: URL(fileURLWithPath: folder.path(record))) }
      let run =
        file.hasSuffix(".pass")
        ? try run(["encode-segment", "--plan", "plan.json", "--segment", "0", "--overwrite"], in: folder)
        : try run(["join", "--plan", "plan.json", "--out", "out.mp4"], in: folder)
      #expect(run.status == 1 && run.complaintLines.count == 1, "\(file), \(target): \(run.complaints)")
      try #require(unlink(place) == 0 && rename(folder.path("kept"), place) == 0)
      if file.hasSuffix(".mov") {
        try Data(original.utf8).write(to: URL(fileURLWithPath: folder.path(record)))
      }
    }
    let joined = try run(["join", "--plan", "plan.json", "--out", "out.mp4"], in: folder)
    #expect(joined.status == 0, "\(joined.complaints)")
  }

  @Test("A device is not a movie", arguments: ["/dev/zero", "/dev/urandom", "- < /dev/zero"])
  func aDeviceIsNoMovie(movie: String) throws {
    let folder = try Folder()
    for command in [
      "transcoding MOVIE --out out.mp4", "export MOVIE --preset 640x480 --out out.mp4",
      "play MOVIE --terminal",
    ] {
      let run = try CommandLine.shell(
        "mkdir -p tmp; TMPDIR=tmp timeout -s KILL 60 '\(CommandLine.vtencode)' \(command.replacing("MOVIE", with: movie)) ; "
          + "status=$?; rmdir tmp && exit $status", in: folder)
      #expect(run.status == 1 && run.complaints.contains("is a device"), "\(run.status) \(run.complaints)")
    }
    #expect(folder.contents.isEmpty)
  }

  @Test(
    "A pipe or a device among numbered pictures is refused, and not waited for",
    arguments: ["pipe", "device"])
  func aPipeOrADeviceAmongNumberedPicturesIsRefused(kind: String) throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc=size=64x48:rate=25 -frames:v 2 f%03d.png; "
        + (kind == "pipe" ? "mkfifo f003.png" : "ln -s /dev/zero f003.png"), in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode("transcoding", "f%03d.png", "--out", "out.mp4", in: folder)
    #expect(run.status == 1 && run.complaints.contains("f003.png"), "\(run.status) \(run.complaints)")
    #expect(!folder.contents.contains("out.mp4"))
  }
}
