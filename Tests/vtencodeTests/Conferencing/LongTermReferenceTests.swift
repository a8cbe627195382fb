// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing

@testable import vtencode

/// Long-term references that `vtencode conferencing --ltr` acknowledges in place of a receiver.
@Suite struct LongTermReferenceTests {
  private static let codecs: [String] = {
    #if HEVC
      ["h264", "hevc"]
    #else
      ["h264"]
    #endif
  }()

  @Test("Two runs with acknowledged references give the same stream", arguments: codecs)
  func repeatableStreams(codec: String) throws {
    let folder = try Folder()
    // A limit of the QP drops frames, which have no result with a token. Without --effort the
    // effort follows the time that frames take.
    for name in ["a.mp4", "b.mp4"] {
      let run = try CommandLine.vtencode(
        "conferencing", CommandLine.sample, "--ltr", "--codec", codec, "--unpaced", "--frames", "90",
        "--dimensions", "160x90", "--bitrate", "120k", "--rate-steps", "1s:60k", "--max-qp", "38",
        "--effort", "2", "--out", name, in: folder)
      try #require(run.status == 0, "\(run.complaints)")
    }
    let streams = try ["a.mp4", "b.mp4"].map { name in
      try CommandLine.run(
        "ffmpeg",
        ["-nostdin", "-v", "error", "-i", folder.path(name), "-map", "0:v", "-c", "copy", "-f", "md5", "-"]
      ).text
    }
    #expect(streams[0] == streams[1] && streams[0].hasPrefix("MD5="))
  }

  @Test("Frames that were dropped or have failed have a result, for which the next ones wait")
  func resultsWithoutTokens() async {
    let log = FrameLog()
    #expect(log.takeAcknowledgedTokens(before: 0).isEmpty)
    #expect(log.takeAcknowledgedTokens(before: 2).isEmpty)
    log.add(.success(nil), frame: 0, time: 0, started: 0, rate: 1)
    #expect(log.takeAcknowledgedTokens(before: 3).isEmpty)
    // The result of the second frame comes from another thread.
    async let waiting = withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      Thread { done.resume(returning: log.takeAcknowledgedTokens(before: 4).isEmpty) }.start()
    }
    log.add(.failure(Failure("none")), frame: 1, time: 0, started: 0, rate: 1)
    #expect(await waiting)
    #expect(log.contents.entries.count == 1 && log.contents.entries[0].isDropped)
  }
}
