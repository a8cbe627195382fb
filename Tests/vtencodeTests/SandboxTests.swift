// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What `--sandbox` takes away, and that a run does without.
@Suite struct SandboxTests {
  private static let isAvailable: Bool = {
    let run = try? CommandLine.vtencode("sandbox-check", CommandLine.sample, "--out", "/tmp/none.mov")
    return run?.complaints.contains("landlock") != true
  }()

  @Test(.enabled(if: isAvailable)) func takesAwayFilesAndNetwork() throws {
    let folder = try Folder()
    let other = try Folder()
    try Data("secret".utf8).write(to: other.url.appendingPathComponent("secret"))
    let run = try CommandLine.vtencode(
      "sandbox-check", CommandLine.sample, "--out", folder.path("out.mov"), "/etc/passwd",
      other.path("secret"),
      "/proc/1/environ")
    #expect(run.status == 0, "\(run.complaints)")
    let lines = run.text.split(separator: "\n")
    #expect(lines.count == 24, "\(run.text)")
    for (index, line) in lines.enumerated() {
      // The movie and the output's folder stay.
      #expect(line.hasSuffix("works") == (index < 2), "\(line)")
    }
    #expect(other.contents == ["secret"] && folder.contents.isEmpty)
  }

  @Test(.enabled(if: isAvailable)) func leavesNamedDevices() throws {
    let folder = try Folder()
    func check(_ devices: [String]) throws -> [Substring] {
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["sandbox-check", CommandLine.sample, "--out", folder.path("out.mov"), "/dev/zero", "/dev/full"]
          + devices)
      #expect(run.status == 0, "\(run.complaints)")
      // The movie's and the output's lines come first; then four of each file.
      return run.text.split(separator: "\n").filter { $0.contains("/dev/") }
    }
    #expect(try check([]).map { $0.hasSuffix("works") } == Array(repeating: false, count: 8))
    #expect(
      try check(["--device", "/dev/zero"]).map { $0.hasSuffix("works") } == [
        true, true, false, false, false, false, false, false,
      ])
    // A folder of devices: those in it, and no new ones.
    #expect(
      try check(["--device", "/dev"]).map { $0.hasSuffix("works") } == [
        true, true, false, false, true, true, false, false,
      ])

    let missing = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--sandbox", "--sandbox-device", "/dev/no-such-device", "--out",
      folder.path("out.mov"))
    #expect(missing.status != 0 && missing.complaints.contains("/dev/no-such-device"))
    let useless = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--sandbox-device", "/dev/zero", "--out", folder.path("out.mov"))
    #expect(useless.status == 64 && folder.contents.isEmpty, "\(useless.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--sandbox", "--sandbox-device", "/dev/zero", "--dimensions", "160",
      "90",
      "--frames", "5", "--out", folder.path("out.mov"))
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mov")).frameCount() == 5)
  }

  @Test(.enabled(if: isAvailable), arguments: ["mov", "mp4", "264"]) func encodesInside(ending: String) throws
  {
    let folder = try Folder()
    let out = folder.path("out.\(ending)")
    let run = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--sandbox", "--dimensions", "160", "90", "--frames", "10", "--out",
      out)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["out.\(ending)"])
    #expect(try Probe(out).frameCount() == 10)
    try expectNoErrors(Probe(out))
  }

  /// An address of a file; what comes through a pipe, also where nothing is written to a folder.
  @Test(
    .enabled(if: isAvailable),
    arguments: [
      "RUN 'file://SAMPLE' --out out.264", "cat 'SAMPLE' | RUN - --out out.264",
      "cat 'SAMPLE' | RUN - --out - > out.264", "mkfifo pipe; cat 'SAMPLE' > pipe & RUN pipe --out out.264",
      "cat 'SAMPLE' | RUN /proc/self/fd/0 --out out.264",
    ]) func otherInputsInside(script: String) throws
  {
    let folder = try Folder()
    let run = try CommandLine.shell(
      script.replacing(
        "RUN", with: "'\(CommandLine.vtencode)' transcoding --sandbox --dimensions 160 90 --frames 10"
      ).replacing("SAMPLE", with: CommandLine.sample), in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.264")).frameCount() == 10)
  }

  /// The filter's library is there before files cannot be opened any more.
  @Test(.enabled(if: isAvailable)) func deinterlacesInside() throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=160x96:rate=50:duration=1", "-vf",
        "tinterlace=interleave_top,fieldorder=tff,format=yuv420p", "-c:v", "mpeg2video", "-flags",
        "+ilme+ildct",
        folder.path("in.ts"),
      ])
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", folder.path("in.ts"), "--sandbox", "--out", folder.path("out.mp4"))
    #expect(run.status == 0 && run.complaints.contains("interlaced"), "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 25)
  }
}
