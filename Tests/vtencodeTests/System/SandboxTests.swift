// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The permissions that `--sandbox` removes.
@Suite struct SandboxTests {
  private static let isAvailable: Bool = {
    let run = try? CommandLine.vtencode("sandbox-check", CommandLine.sample, "--out", "/tmp/none.mov")
    return run?.complaints.contains("landlock") != true
  }()

  /// The permitted operation of each line of `sandbox-check`.
  private func check(_ arguments: [String], as user: User = .own, program: ReachableProgram) throws -> (
    works: [String], fails: [String]
  ) {
    let run = try CommandLine.run(
      "env",
      program.environment + user.command + [program.vtencode, "sandbox-check", program.sample] + arguments)
    #expect(run.status == 0, "\(run.complaints)")
    let lines = run.text.split(separator: "\n").map(String.init)
    return (
      lines.filter { $0.hasSuffix(" works") }.map { String($0.dropLast(6)) },
      lines.filter { $0.contains(" fails: ") || $0.hasPrefix("capabilities") }
    )
  }

  enum User: CaseIterable {
    case own, nobody

    /// A command prefix for a program.
    var command: [String] {
      self == .own ? [] : ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    }

    static var possible: [User] { geteuid() == 0 ? allCases : [.own] }
  }

  @Test(
    "Files, network, processes, clocks and the kernel are not accessible, for root and for nobody",
    .enabled(if: isAvailable), arguments: User.possible)
  func theSandboxTakesAwayFilesAndNetwork(user: User) throws {
    let program = try ReachableProgram()
    let folder = try Folder(in: ReachableProgram.place)
    let other = try Folder(in: ReachableProgram.place)
    try Data("secret".utf8).write(to: other.url.appendingPathComponent("secret"))
    try #require(chmod(folder.url.path, 0o777) == 0 && chmod(other.url.path, 0o777) == 0)
    // Of the process that runs this test, and the kernel.
    let files =
      ["environ", "maps", "smaps", "auxv", "cmdline", "stat", "mem"].map { "/proc/\(getpid())/\($0)" }
      + ["/proc/1/environ", "/proc/kmsg", "/proc/keys", "/proc/kallsyms", "/proc/version"]
      + ["/etc/passwd", other.path("secret")]
    let out = folder.path("out.mov")
    let found = try check(["--out", out] + files, as: user, program: program)
    #expect(found.works == ["read \(program.sample)", "write \(out)"])
    #expect(found.fails.last == "capabilities none")
    // Each file has four lines; of the rest there are some fifty.
    #expect(found.fails.count > files.count * 4 + 50, "\(found.fails)")
    #expect(other.contents == ["secret"] && folder.contents.isEmpty)
  }

  private static let hasFileCapabilities =
    geteuid() == 0 && (try? CommandLine.run("setcap", ["-h"]))?.status == 0

  @Test(
    "Inheritable capabilities are dropped too",
    .enabled(if: isAvailable && hasFileCapabilities))
  func permittedCapabilitiesAreGivenUpToo() throws {
    let program = try ReachableProgram()
    let given = try CommandLine.run("setcap", ["cap_setpcap=p", program.vtencode])
    try #require(given.status == 0, "\(given.complaints)")
    let folder = try Folder(in: ReachableProgram.place)
    try #require(chmod(folder.url.path, 0o777) == 0)
    let found = try check(["--out", folder.path("out.mov")], as: .nobody, program: program)
    #expect(found.works == ["read \(program.sample)", "write \(folder.path("out.mov"))"])
    #expect(found.fails.last == "capabilities none")
  }

  @Test("The operations that test the sandbox succeed outside of it") func trialsCanSucceed() throws {
    let folder = try Folder()
    let found = try check(
      ["--out", folder.path("out.mov"), "--outside", "/proc/\(getpid())/stat"], program: ReachableProgram())
    for trial in [
      "datagram socket", "stream socket", "pair of sockets", "connect", "listen", "start a process",
      "watch files",
      "adjust the clock", "truncate by name", "signal", "limits of others", "read /proc/\(getpid())/stat",
    ] {
      #expect(found.works.contains(trial), "\(trial)")
    }
  }

  @Test("Of the network, what send and receive need stays, and no more", .enabled(if: isAvailable))
  func theSandboxLeavesTheSocketsOfCalls() throws {
    let folder = try Folder()
    let program = try ReachableProgram()
    let out = ["--out", folder.path("out.mov")]
    let files: Set = ["read \(program.sample)", "write \(folder.path("out.mov"))"]
    #expect(
      Set(try check(out + ["--datagrams"], program: program).works).subtracting(files) == ["datagram socket"])
    let server = Set(try check(out + ["--port", "18080"], program: program).works).subtracting(files)
    // Landlock supports ports from version 4 on.
    #expect(
      server.subtracting(["bind another TCP port"]) == ["datagram socket", "stream socket", "listen"])
  }

  @Test(
    "Files that root needs a capability for are accessible, and no others",
    .enabled(if: isAvailable && geteuid() == 0))
  func filesThatRootReachesByACapabilityAloneAreReached() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path("theirs"), withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: CommandLine.sample, toPath: folder.path("theirs/in.m4v"))
    try FileManager.default.copyItem(atPath: CommandLine.sample, toPath: folder.path("in.m4v"))
    for (path, mode) in [("theirs/in.m4v", mode_t(0o600)), ("theirs", 0o700), ("in.m4v", 0o600)] {
      try #require(chmod(folder.path(path), mode) == 0 && chown(folder.path(path), 65534, 65534) == 0)
    }
    for (movie, out, capability) in [
      ("in.m4v", "out.mp4", "CAP_DAC_READ_SEARCH"), ("theirs/in.m4v", "theirs/out.mp4", "CAP_DAC_OVERRIDE"),
    ] {
      let run = try CommandLine.vtencode(
        "sandbox-check", movie, "--out", out, "/etc/shadow", "/proc/\(getpid())/environ", "/proc/kmsg",
        in: folder)
      let lines = run.text.split(separator: "\n")
      #expect(lines.last == "capabilities \(capability)")
      #expect(lines.filter { $0.hasSuffix("works") } == ["read \(movie) works", "write \(out) works"])
      let encoded = try CommandLine.vtencode(
        "transcoding", movie, "--sandbox", "--dimensions", "160", "90", "--frames", "5", "--out", out,
        in: folder)
      #expect(encoded.status == 0, "\(encoded.complaints)")
      #expect(try Probe(folder.path(out)).frameCount() == 5)
    }
  }

  @Test(.enabled(if: isAvailable)) func theSandboxLeavesNamedDevices() throws {
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
    // A folder of devices: existing devices, and no new ones.
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

  @Test(.enabled(if: isAvailable), arguments: ["mov", "mp4", "264"]) func moviesAreEncodedInside(
    ending: String
  ) throws {
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
    ]) func otherInputsAreEncodedInside(script: String) throws
  {
    let folder = try Folder()
    let run = try CommandLine.shell(
      script.replacing(
        "RUN", with: "'\(CommandLine.vtencode)' transcoding --sandbox --dimensions 160 90 --frames 10"
      ).replacing("SAMPLE", with: CommandLine.sample), in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.264")).frameCount() == 10)
  }

  /// The filter's library is loaded before opening files is blocked.
  @Test(.enabled(if: isAvailable)) func picturesAreDeinterlacedInside() throws {
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
