// SPDX-License-Identifier: Apache-2.0
import ElementaryStream
import Foundation
import Testing

/// `vtencode conferencing --intra-refresh`.
@Suite struct IntraRefreshCommandTests {
  private static let codecs: [String] = {
    #if HEVC
      ["264", "265"]
    #else
      ["264"]
    #endif
  }()

  /// Whether a NAL unit is an SEI message of payloadType 6, which is alone in its NAL unit.
  private static func isRecoveryPoint(_ unit: [UInt8], isHEVC: Bool) -> Bool {
    guard unit.count > 2 else { return false }
    if isHEVC { return unit[0] >> 1 & 63 == 39 && unit[2] == 6 }
    return unit[0] & 31 == 6 && unit[1] == 6
  }

  @Test("A refresh begins every so many frames, and there is one key frame", arguments: codecs)
  func aRefreshBeginsEverySoManyFrames(kind: String) throws {
    let folder = try Folder()
    for (options, expected) in [(["--intra-refresh", "10"], 6), ([], 0)] {
      let run = try CommandLine.run(
        CommandLine.vtencode,
        [
          "conferencing", CommandLine.sample, "--codec", kind == "264" ? "avc1" : "hvc1", "--frames", "60",
          "--bitrate", "400k", "--dimensions", "320", "180", "--unpaced", "--overwrite", "--out",
          "out.\(kind)",
        ] + options, in: folder.url)
      try #require(run.status == 0, "\(run.complaints)")
      let stream = try Data(contentsOf: URL(fileURLWithPath: folder.path("out.\(kind)")))
      let points = AnnexB.units(in: stream).count { Self.isRecoveryPoint(Array($0), isHEVC: kind == "265") }
      // They are in frames 1, 11, ... 51.
      #expect(points == expected)
      let probe = Probe(folder.path("out.\(kind)"))
      try expectNoErrors(probe)
      let frames = try probe.frames()
      #expect(frames.count == 60 && frames.count { $0.key_frame == 1 } == 1)
    }
  }

  #if X264
    @Test("An encoder without it says so")
    func anEncoderWithoutItSaysSo() throws {
      let folder = try Folder()
      let run = try CommandLine.vtencode(
        "conferencing", CommandLine.sample, "--encoder", "org.openvideotoolbox.videoencoder.h264.x264",
        "--intra-refresh", "10", "--out", "out.mp4", in: folder)
      #expect(run.status != 0 && run.complaintLines.count == 1, "\(run.complaints)")
      #expect(folder.contents.isEmpty)
    }
  #endif
}
