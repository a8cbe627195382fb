// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Ends of a call where the system gives a process few file descriptors.
@Suite struct DescriptorLimitTests {
  private static let limits =
    [5, 8, 11, 16, 20, 25, 30, 33, 35, 36, 38, 48, 99, 100, 130, 160, 256]

  /// A run either goes as ever, or ends with one sentence that names the limit, and leaves nothing.
  private func expectOrder(_ command: String, for seconds: Double = 60, out: String? = nil) throws {
    var (refused, ran) = (0, 0)
    for limit in Self.limits {
      let folder = try Folder()
      // A waiting process is ended as a user would end it.
      let run = try CommandLine.shell(
        """
        mkdir tmp; export TMPDIR=$PWD/tmp
        ulimit -n \(limit); exec timeout --preserve-status -k 30 -s INT \(seconds) '\(CommandLine.vtencode)' \(command)
        """, in: folder)
      let lines = run.complaintLines
      if run.status == 1, lines.count == 1, lines[0].contains("the limit of open files, \(limit),"),
        lines[0].contains("ulimit -n")
      {
        refused += 1
        #expect(folder.contents == ["tmp"], "\(limit): \(folder.contents)")
      } else {
        ran += 1
        #expect([0, 130].contains(run.status), "\(command) with \(limit): \(run.status), \(run.complaints)")
        #expect(folder.contents.allSatisfy { $0 == "tmp" || $0 == out }, "\(limit): \(folder.contents)")
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("tmp"))
      #expect(left.isEmpty, "\(limit): \(left)")
    }
    #expect(refused >= 8 && ran > 0, "\(refused) refused, \(ran) ran")
  }

  @Test func receiveRunsOrNamesTheLimit() throws {
    try expectOrder("receive --listen \(try freeDatagramPort()) --out a.mp4", for: 1.5)
  }

  @Test func receiveWithAPageRunsOrNamesTheLimit() throws {
    try expectOrder(
      "receive --listen \(try freeDatagramPort()) --web \(try freePort()) --out a.mp4", for: 1.5)
  }

  @Test func sendToAPlayerRunsOrNamesTheLimit() throws {
    try expectOrder(
      "send test:64x64@30 --frames 5 --to 127.0.0.1:\(try freeDatagramPort()) --sdp a.sdp --speed 0",
      out: "a.sdp")
  }

  @Test func sendToAPageRunsOrNamesTheLimit() throws {
    try expectOrder(
      "send '\(CommandLine.sample)' --dimensions 64 64 --frames 5 --web \(try freePort()) --speed 0")
  }

  @Test func callRunsOrNamesTheLimit() throws {
    try expectOrder(
      "call '\(CommandLine.sample)' --dimensions 64 64 --frames 5 --speed 0 --report a.html", out: "a.html")
  }

  @Test("A limit that the process may raise is raised")
  func aSoftLimitIsRaised() throws {
    let folder = try Folder()
    let run = try CommandLine.shell(
      "ulimit -S -n 12; '\(CommandLine.vtencode)' call '\(CommandLine.sample)' --dimensions 64 64 --frames 3 --speed 0",
      in: folder)
    #expect(run.status == 0, "\(run.complaints)")
  }
}
