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
    #expect(lines.count == 10, "\(run.text)")
    for (index, line) in lines.enumerated() {
      // The movie and the output's folder stay.
      #expect(line.hasSuffix("works") == (index < 2), "\(line)")
    }
    #expect(other.contents == ["secret"] && folder.contents.isEmpty)
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
}
