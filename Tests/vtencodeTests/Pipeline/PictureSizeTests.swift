// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Movies whose pictures are smaller than a macroblock, or larger than a level allows.
@Suite struct PictureSizeTests {
  private func make(_ size: String, frames: Int, in folder: Folder) throws {
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v",
        "\(frames)", "-vf", "scale=\(size):flags=area,setsar=1,format=yuv444p", "-c:v", "ffv1",
        folder.path("in.mkv"),
      ])
    try #require(made.status == 0, "\(made.complaints)")
  }

  @Test(arguments: [
    ["transcoding"], ["transcoding", "--multi-pass"], ["transcoding", "--codec", "hvc1"],
    ["transcoding", "--bitrate", "50k", "--cbr"], ["streaming", "--unpaced"], ["conferencing", "--unpaced"],
    ["conferencing", "--unpaced", "--codec", "hvc1"], ["transcoding", "--jobs", "2"],
  ])
  func smallMoviesAreEncodedInEveryMode(_ mode: [String]) throws {
    let folder = try Folder()
    for (width, height) in [(1, 1), (7, 5), (15, 16), (33, 31)] {
      try make("\(width):\(height)", frames: 30, in: folder)
      let run = try CommandLine.run(
        CommandLine.vtencode, [mode[0], "in.mkv", "--out", "out.mp4", "--overwrite"] + mode.dropFirst(),
        in: folder.url)
      try #require(run.status == 0, "\(width)x\(height): \(run.complaints)")
      let properties = try CommandLine.run(
        "ffprobe",
        [
          "-v", "error", "-count_frames", "-show_entries", "stream=width,height,nb_read_frames", "-of",
          "csv=p=0", folder.path("out.mp4"),
        ])
      #expect(
        properties.text.trimmingCharacters(in: .whitespacesAndNewlines)
          == "\((width + 1) & ~1),\((height + 1) & ~1),30")
      #expect(properties.complaints.isEmpty, "\(properties.complaints)")
    }
  }

  @Test(
    "Pictures that are scaled to a size have square samples", arguments: ["stretch", "letterbox", "trim"])
  func scaledPicturesHaveSquareSamples(scaling: String) throws {
    let folder = try Folder()
    let made = try CommandLine.shell(
      "ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=360x288:rate=25:duration=0.4 -vf setsar=16/11 "
        + "-c:v libx264 in.mp4", in: folder)
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--dimensions", "320", "180", "--scaling", scaling, "--out", "out.mp4",
      in: folder)
    try #require(run.status == 0, "\(run.complaints)")
    let probed = try CommandLine.shell(
      "ffprobe -v error -show_entries stream=width,height,sample_aspect_ratio -of csv=p=0 out.mp4", in: folder
    )
    let shape = probed.text.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(["320,180,1:1", "320,180,N/A"].contains(shape), "\(shape)")
  }

  @Test(arguments: [("16880x32", "2110x32"), ("32x16880", "32x2110")])
  func theLongestSidesOfALevelAreEncoded(_ size: String, drawn: String) throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "mandelbrot=size=\(drawn):rate=25,scale=\(size)",
        "-frames:v", "2", "-pix_fmt", "yuv420p", "-c:v", "ffv1", folder.path("in.mkv"),
      ])
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode(
      "transcoding", "in.mkv", "--quality", "0.6", "--out", "out.mp4", in: folder)
    try #require(run.status == 0, "\(run.complaints)")
    let compared = try CommandLine.shell(
      "ffmpeg -nostdin -i out.mp4 -i in.mkv -lavfi psnr -f null - 2>&1 | grep -o 'PSNR y:[0-9.]*'",
      in: folder)
    let decibels =
      Double(compared.text.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespacesAndNewlines))
      ?? 0
    #expect(decibels > 35, "\(compared.text)")
  }

  /// 8320x4320 has 520 by 270 macroblocks, 1,136 more than level 6.2 allows.
  @Test(arguments: [("16896x32", "1056x2"), ("8320x4320", "520x270")])
  func whatNoLevelAllowsIsRefusedWithTheLevelsWord(size: String, macroblocks: String) throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=red:size=\(size):rate=25", "-frames:v", "1",
        "-pix_fmt", "yuv420p", "-c:v", "ffv1", folder.path("in.mkv"),
      ])
    try #require(made.status == 0, "\(made.complaints)")
    let run = try CommandLine.vtencode("transcoding", "in.mkv", "--out", "out.mp4", in: folder)
    #expect(run.status == 1)
    #expect(run.complaints.contains("level 6.2") && run.complaints.contains("139264 macroblocks"))
    #expect(run.complaints.contains(macroblocks), "\(run.complaints)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("out.mp4")))
  }

  /// MaxBR of level 3.1 is 17.5 Mb/s in the High profile.
  @Test(arguments: [("17M", "31"), ("20M", "32")])
  func theLevelAllowsTheRate(rate: String, level: String) throws {
    let folder = try Folder()
    let made = try CommandLine.run(
      "ffmpeg",
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30", "-frames:v", "8",
        "-pix_fmt", "yuv420p", folder.path("in.y4m"),
      ])
    try #require(made.status == 0, "\(made.complaints)")
    for mode in [[], ["--multi-pass"]] {
      let run = try CommandLine.run(
        CommandLine.vtencode,
        ["transcoding", "in.y4m", "--bitrate", rate, "--out", "out.mp4", "--overwrite"] + mode, in: folder.url
      )
      try #require(run.status == 0, "\(run.complaints)")
      let properties = try CommandLine.run(
        "ffprobe", ["-v", "error", "-show_entries", "stream=level", "-of", "csv=p=0", folder.path("out.mp4")])
      #expect(properties.text.trimmingCharacters(in: .whitespacesAndNewlines) == level, "\(mode)")
    }
  }
}
