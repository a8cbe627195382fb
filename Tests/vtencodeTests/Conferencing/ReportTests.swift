// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The page of charts that `conferencing --report` writes, compared with what other programs make
/// of the movie.
@Suite struct ReportTests {
  @Test("Waits and quality are those that follow from the movie")
  func theReportsWaitsAndQualityAreThoseOfTheMovie() throws {
    let folder = try Folder()
    let run = try CommandLine.vtencode(
      "conferencing", CommandLine.sample, "--frames", "45", "--bitrate", "600k", "--unpaced", "--report",
      "report.html",
      "--out", "out.mov", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    let page = try String(contentsOf: URL(fileURLWithPath: folder.path("report.html")), encoding: .utf8)

    let probed = try CommandLine.run(
      "ffprobe",
      [
        "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,size", "-of", "csv=p=0",
        folder.path("out.mov"),
      ])
    let packets = probed.text.split(separator: "\n").compactMap { line -> (time: Double, bits: Double)? in
      let fields = line.split(separator: ",").compactMap { Double($0) }
      return fields.count == 2 ? (fields[0], fields[1] * 8) : nil
    }
    #expect(packets.count == 45)
    var (free, longest) = (0.0, 0.0)
    for packet in packets {
      free = max(free, packet.time) + packet.bits / 600_000
      longest = max(longest, free - packet.time)
    }
    let wait = try #require(page.firstMatch(of: /before a line of the rate; the longest is ([0-9]+) ms/))
    #expect(abs(try #require(Double(wait.1)) - longest * 1000) < 1, "\(longest)")
    // A frame takes longer than no time at all, and the bound is 0.3 s.
    #expect(longest > 0.03 && longest < 0.35)

    let compared = try CommandLine.run(
      "ffmpeg",
      [
        "-v", "error", "-i", folder.path("out.mov"), "-i", CommandLine.sample, "-lavfi",
        "[0:v]setpts=N[a];[1:v]trim=end_frame=45,setpts=N[b];[a][b]psnr=stats_file=\(folder.path("psnr"))",
        "-f", "null", "-",
      ])
    #expect(compared.status == 0, "\(compared.complaints)")
    let frames = try String(contentsOf: URL(fileURLWithPath: folder.path("psnr")), encoding: .utf8)
      .matches(of: /psnr_y:([0-9.]+)/).compactMap { Double($0.1) }
    #expect(frames.count == 45)
    let shown = try #require(page.firstMatch(of: /([0-9.]+) dB in the mean, ([0-9.]+) dB at least/))
    #expect(abs(try #require(Double(shown.1)) - frames.reduce(0, +) / 45) < 0.02)
    #expect(abs(try #require(Double(shown.2)) - (frames.min() ?? 0)) < 0.02)
    #expect(page.contains("PSNR of each frame's luma") || page.contains("PSNR of each frame&#39;s luma"))
  }
}
