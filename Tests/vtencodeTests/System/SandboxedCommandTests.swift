// SPDX-License-Identifier: Apache-2.0
import Foundation
import RealTimeTransport
import Testing

/// Every subcommand that reads foreign files works inside the sandbox.
@Suite(.serialized) struct SandboxedCommandTests {
  private static let isAvailable: Bool = {
    let run = try? CommandLine.vtencode("sandbox-check", CommandLine.sample, "--out", "/tmp/none.mov")
    return run?.complaints.contains("landlock") != true
  }()

  /// For a shell: the state of the process `$program`: its filter, its capabilities, and that it
  /// gains no privileges.
  private static let state =
    "grep -E '^(Seccomp|NoNewPrivs|Cap...):' /proc/$program/status | tr -d '\\t' > state.txt"

  private func expectConfined(_ folder: Folder) throws {
    let state = try String(contentsOfFile: folder.path("state.txt"), encoding: .utf8)
    let none = "0000000000000000"
    #expect(
      Set(state.split(separator: "\n")).isSuperset(of: [
        "Seccomp:2", "NoNewPrivs:1", "CapInh:\(none)", "CapPrm:\(none)", "CapEff:\(none)", "CapAmb:\(none)",
      ]), "\(state)")
  }

  /// The movie comes through a pipe, which is opened inside, and which the shell's writing waits
  /// for: the program is looked at before there is anything to read.
  @Test(
    .enabled(if: isAvailable),
    arguments: [
      ["export", "--preset", "640x480", "--out", "out.mp4"],
      ["export", "--preset", "640x480", "--multi-pass", "--out", "out.mp4"],
      ["export", "--preset", "Passthrough", "--out", "out.mp4"],
      ["play", "--terminal", "--muted", "--speed", "16", "--frames", "20", "--snapshot", "out.png"],
      ["call", "--frames", "10", "--report", "out.html", "--record", "out.json"],
      ["call", "--frames", "10", "--sdp", "out.sdp"],
      ["streaming", "--unpaced", "--frames", "10", "--out", "out.mp4"],
      ["conferencing", "--unpaced", "--frames", "10", "--report", "out.html", "--out", "out.mp4"],
    ]) func subcommandsWorkInside(arguments: [String]) throws
  {
    let folder = try Folder()
    let run = try CommandLine.shell(
      """
      mkfifo pipe
      '\(CommandLine.vtencode)' \(arguments[0]) pipe --sandbox \(arguments.dropFirst().joined(separator: " ")) > text &
      program=$!
      exec 3> pipe
      \(Self.state)
      cat '\(CommandLine.sample)' >&3
      exec 3>&-
      wait $program
      """, in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    try expectConfined(folder)
    let made = folder.contents.filter { $0.hasPrefix("out.") }
    #expect(made.count == arguments.count { $0.hasPrefix("out.") }, "\(folder.contents)")
    #expect(Set(folder.contents).subtracting(made) == ["pipe", "state.txt", "text"])
    if made.contains("out.mp4") { try expectNoErrors(Probe(folder.path("out.mp4"))) }
  }

  @Test(
    "A plan is made, encoded and joined in the sandbox, where links do not resolve", .enabled(if: isAvailable)
  )
  func segmentsAreMadeAndJoinedInside() throws {
    let folder = try Folder()
    let place = try Folder()
    func vtencode(_ arguments: String...) throws -> Finished {
      try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
    }
    try FileManager.default.copyItem(atPath: CommandLine.sample, toPath: folder.path("in.m4v"))
    let split = try vtencode(
      "split", "in.m4v", "--sandbox", "--dimensions", "160", "90", "--bitrate", "60k", "--segments", "2",
      "--plan",
      "plan.json")
    #expect(split.status == 0, "\(split.complaints)")
    // Files in other folders are read without the sandbox, and not inside.
    let statistics = folder.path("plan.parts/segment-00000.pass")
    try #require(rename(statistics, place.path("pass")) == 0 && symlink(place.path("pass"), statistics) == 0)
    #expect(try vtencode("encode-segment", "--plan", "plan.json", "--segment", "0", "--sandbox").status == 1)
    #expect(try vtencode("encode-segment", "--plan", "plan.json", "--segment", "0").status == 0)
    let inside = try vtencode("encode-segment", "--plan", "plan.json", "--segment", "1", "--sandbox")
    #expect(inside.status == 0, "\(inside.complaints)")
    let joined = try vtencode("join", "--plan", "plan.json", "--out", "out.mp4", "--sandbox")
    #expect(joined.status == 0, "\(joined.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 300)
    let movie = folder.path("plan.parts/segment-00001.mov")
    try #require(rename(movie, place.path("movie")) == 0 && symlink(place.path("movie"), movie) == 0)
    let refused = try vtencode("join", "--plan", "plan.json", "--out", "again.mp4", "--sandbox")
    #expect(refused.status == 1 && refused.complaints.contains("permission denied"), "\(refused.complaints)")
    let outside = try vtencode("join", "--plan", "plan.json", "--out", "again.mp4")
    #expect(outside.status == 0, "\(outside.complaints)")
  }

  @Test(
    "A call goes from one sandbox to another, with a key from a file", .enabled(if: isAvailable),
    arguments: ["", "--web"])
  func aCallGoesFromOneSandboxToAnother(web: String) throws {
    let folder = try Folder()
    try Data(String(repeating: "0f", count: 32).utf8).write(to: folder.url.appendingPathComponent("key"))
    try #require(chmod(folder.path("key"), 0o600) == 0)
    let port = try freeDatagramPort()
    let page = web.isEmpty ? "" : "--web \(try freePort())"
    let run = try CommandLine.shell(
      """
      mkfifo said
      '\(CommandLine.vtencode)' receive --listen localhost:\(port) --key-file key --sandbox \(page) --out out.mp4 \
        2> said > /dev/null &
      program=$!
      \(CommandLine.awaiting("Listening", in: "complaints.txt"))
      \(Self.state)
      '\(CommandLine.vtencode)' send '\(CommandLine.sample)' --to localhost:\(port) --key-file key --sandbox \
        --dimensions 160 90 --frames 20 > /dev/null
      status=$?
      if [ $status != 0 ]; then kill -INT $program; fi
      wait $program || { cat complaints.txt >&2; exit 9; }
      exit $status
      """, in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    try expectConfined(folder)
    #expect(try Probe(folder.path("out.mp4")).frameCount() > 0)
  }

  @Test("Movies from two pipes are joined in the sandbox, with an overlay picture", .enabled(if: isAvailable))
  func pipesAreJoinedInside() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      """
      ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=192x128:rate=25:duration=1 -c:v mpeg4 one.mp4
      ffmpeg -nostdin -v error -f lavfi -i color=c=red:size=16x16 -frames:v 1 logo.png
      mkfifo pipe
      cat one.mp4 > pipe &
      cat one.mp4 | '\(CommandLine.vtencode)' transcoding - one.mp4 pipe --join --sandbox --overlay logo.png \
        --quality 0.5 --out out.mp4
      """, in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 75)
  }

  @Test("A folder given as a movie or a picture does not become readable")
  func foldersAreRefused() throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path("secret"), withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: CommandLine.sample, toPath: folder.path("in.m4v"))
    for (arguments, word) in [
      (["in.m4v", "secret", "--join"], "'secret' is a folder"), (["secret"], "'secret' is a folder"),
      (["in.m4v", "--overlay", "secret"], "not a regular file"),
    ] {
      let run = try CommandLine.run(
        CommandLine.vtencode, ["transcoding"] + arguments + ["--sandbox", "--out", "out.mp4"], in: folder.url)
      #expect(run.status == 1 && run.complaints.contains(word), "\(arguments): \(run.complaints)")
    }
    #expect(folder.contents == ["in.m4v", "secret"])
  }

  @Test func whatHasNoPlaceInsideIsRefused() throws {
    let folder = try Folder()
    for arguments in [
      ["play", CommandLine.sample, "--sandbox"], ["play", CommandLine.sample, "--sandbox", "--terminal"],
      ["receive", "--listen", "5004", "--play", "--sandbox"],
      ["receive", "--whep", "https://127.0.0.1/whep", "--sandbox"],
      ["send", CommandLine.sample, "--whip", "https://127.0.0.1/whip", "--sandbox"],
      ["send", "v4l2:/dev/video0", "--to", "127.0.0.1:5004", "--sandbox"],
      [
        "export", CommandLine.sample, "--preset", "640x480", "--out", "out.mp4", "--sandbox-device",
        "/dev/zero",
      ],
    ] {
      let run = try CommandLine.run(CommandLine.vtencode, arguments, in: folder.url)
      #expect(run.status == 64 && run.complaints.contains("--sandbox"), "\(arguments): \(run.complaints)")
    }
    #expect(folder.contents.isEmpty)
  }
}
