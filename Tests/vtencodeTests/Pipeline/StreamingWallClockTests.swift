// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// `vtencode streaming` against the time of day.
@Suite(.serialized, .enabled(if: runsWallClockTests)) struct StreamingWallClockTests {
  @Test func streamingKeepsTheSourcesPace() throws {
    let folder = try Folder()
    let began = Date()
    let run = try CommandLine.vtencode(
      "streaming", CommandLine.sample, "--dimensions", "320", "180", "--frames", "60", "--out",
      folder.path("out.mp4"))
    let seconds = Date().timeIntervalSince(began)
    #expect(run.status == 0, "\(run.complaints)")
    // 60 frames at 30 a second: the last is due after 1.97 seconds.
    #expect((1.95..<6).contains(seconds))
    #expect(try Probe(folder.path("out.mp4")).frameCount() == 60)
  }
}
