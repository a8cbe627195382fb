// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Movies of a high dynamic range.
@Suite struct DynamicRangeTests {
  private func makeMovie(_ name: String, in folder: Folder) throws {
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25:duration=0.4",
        "-pix_fmt",
        "yuv420p10le", "-c:v", "libx265", "-x265-params",
        "log-level=none:hdr10=1:repeat-headers=1:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:"
          + "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400",
        folder.path(name),
      ])
    try #require(made.status == 0, "\(made.complaints)")
  }

  /// HDR metadata in messages of the stream, not in the file, is kept
  /// all the same.
  @Test func messagesOfTheDynamicRangeGoAlong() throws {
    let folder = try Folder()
    try makeMovie("in.mkv", in: folder)
    func metadata(_ name: String) throws -> Set<String> {
      let run = try CommandLine.run(
        "ffprobe",
        [
          "-v", "error", "-select_streams", "v", "-read_intervals", "%+#1", "-show_frames", "-show_entries",
          "side_data", "-of", "default=noprint_wrappers=1", folder.path(name),
        ])
      let keys = [
        "green_x", "red_y", "white_point_x", "min_luminance", "max_luminance", "max_content", "max_average",
      ]
      return Set(
        run.text.split(separator: "\n").map(String.init).filter { line in keys.contains { line.hasPrefix($0) }
        })
    }
    let expected = try metadata("in.mkv")
    try #require(expected.count == 7, "\(expected)")
    for encoder in [nil, "org.openvideotoolbox.videoencoder.hevc"] {
      for kind in ["mp4", "265"] {
        let out = "\(encoder ?? "usual").\(kind)"
        let run = try CommandLine.run(
          CommandLine.vtencode,
          ["transcoding", folder.path("in.mkv"), "--codec", "hevc", "--out", folder.path(out)]
            + (encoder.map { ["--encoder", $0] } ?? []))
        #expect(run.status == 0, "\(run.complaints)")
        #expect(try metadata(out) == expected)
        #expect(try Probe(folder.path(out)).video().pix_fmt == "yuv420p10le")
      }
    }
    // Pictures mapped to BT.709 do not have it any more.
    let mapped = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--codec", "hevc", "--pixel-format", "420v", "--out", "mapped.mp4", in: folder)
    #expect(mapped.status == 0, "\(mapped.complaints)")
    #expect(try metadata("mapped.mp4").isEmpty)
  }

  /// A call's receivers have common screens: its pictures are those of a conversion.
  @Test func callsMapTones() throws {
    let folder = try Folder()
    try makeMovie("in.mkv", in: folder)
    let call = try CommandLine.vtencode(
      "call", "in.mkv", "--bandwidth", "20M", "--bitrate", "4M", "--received", "call.mov", in: folder)
    #expect(call.status == 0, "\(call.complaints)")
    let mapped = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--codec", "avc1", "--quality", "0.9", "--out", "mapped.mov", in: folder)
    #expect(mapped.status == 0, "\(mapped.complaints)")
    let same = try CommandLine.shell(
      "ffmpeg -nostdin -i call.mov -i mapped.mov -lavfi psnr=shortest=1 -f null - 2>&1 | grep -o 'PSNR y:[0-9.]*'",
      in: folder)
    #expect(
      (Double(same.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 24,
      "\(same.text)")
  }
}
