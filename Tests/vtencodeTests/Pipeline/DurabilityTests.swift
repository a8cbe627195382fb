// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Signals, and the files of killed runs.
@Suite struct DurabilityTests {
  @Test(arguments: [SIGTERM, SIGHUP, SIGINT]) func signalsEndTheRunWell(signal: Int32) throws {
    let folder = try Folder()
    let run = try CommandLine.run(
      "env",
      [
        "--default-signal=HUP", CommandLine.vtencode, "streaming", CommandLine.sample, "--dimensions", "320",
        "180",
        "--out", "out.mp4", "--progress", "json",
      ], in: folder.url, signal: .sent(signal, atFrame: 30))
    #expect(run.status == 128 + signal, "\(run.complaints)")
    // Only a complete file has the final name.
    #expect(folder.contents == ["out-part.mp4"])
    try expectNoErrors(Probe(folder.path("out-part.mp4")))
  }

  @Test func hangUpCanBeIgnored() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      """
      trap '' HUP
      '\(CommandLine.vtencode)' streaming '\(CommandLine.sample)' --dimensions 320 180 --frames 60 --out out.mp4 &
      child=$!
      await $child exists './.vtencode-*'
      kill -HUP $child
      wait $child
      """, in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 60)
  }

  /// Killed without warning, the run leaves a hidden folder at most, and the next run removes it.
  @Test(arguments: ["mp4", "264"]) func killedRunsLeaveNothingForLong(ending: String) throws {
    let folder = try Folder()
    try Data("before".utf8).write(to: folder.url.appendingPathComponent("out.\(ending)"))
    let killed = try CommandLine.run(
      CommandLine.vtencode,
      [
        "streaming", CommandLine.sample, "--dimensions", "320", "180", "--overwrite", "--out",
        "out.\(ending)",
        "--progress", "json",
      ], in: folder.url, signal: .sent(SIGKILL, atFrame: 15))
    #expect(killed.status == 137, "\(killed.complaints)")
    #expect(try Data(contentsOf: folder.url.appendingPathComponent("out.\(ending)")) == Data("before".utf8))
    #expect(folder.contents.filter { !$0.hasPrefix(".vtencode-") } == ["out.\(ending)"])
    let next = try CommandLine.vtencode(
      "transcoding", CommandLine.sample, "--dimensions", "160", "90", "--frames", "5", "--overwrite",
      "--out", "out.\(ending)",
      in: folder)
    #expect(next.status == 0, "\(next.complaints)")
    #expect(folder.contents == ["out.\(ending)"])
    #expect(try Probe(folder.path("out.\(ending)")).frameCount() == 5)
  }

  /// A run does not remove the files of another active run.
  @Test func runsLeaveEachOtherAlone() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      """
      '\(CommandLine.vtencode)' streaming '\(CommandLine.sample)' --dimensions 320 180 --frames 75 --out long.264 &
      child=$!
      await $child exists './.vtencode-*'
      '\(CommandLine.vtencode)' transcoding '\(CommandLine.sample)' --dimensions 160 90 --frames 5 --out short.264 || exit 9
      wait $child
      """, in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(folder.contents == ["long.264", "short.264"])
    #expect(try Probe(folder.path("long.264")).frameCount() == 75)
  }
}
