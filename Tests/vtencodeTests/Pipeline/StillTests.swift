// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A single picture has no bit rate: it is coded for a quality, whatever file it comes in.
@Suite struct StillTests {
  /// One picture of a fractal, as each kind of file; all without loss but the last.
  private static let kinds = ["still.png", "still.y4m", "still.mkv", "still.mp4"]

  private func makeStills(in folder: Folder) throws {
    let options: [String: [String]] = [
      "still.png": [], "still.y4m": ["-pix_fmt", "yuv420p"], "still.mkv": ["-c:v", "ffv1"],
      "still.mp4": ["-pix_fmt", "yuv420p", "-c:v", "libx264", "-qp", "1"],
    ]
    for kind in Self.kinds {
      let made = try CommandLine.run(
        "ffmpeg",
        [
          "-nostdin", "-v", "error", "-f", "lavfi", "-i", "mandelbrot=size=384x256:start_scale=0.02",
          "-frames:v", "1",
        ] + (options[kind] ?? []) + [folder.path(kind)])
      try #require(made.status == 0, "\(made.complaints)")
    }
  }

  /// Decibels of luma against the picture, as ffmpeg counts them.
  private func decibels(_ name: String, in folder: Folder) throws -> Double {
    let run = try CommandLine.shell(
      "ffmpeg -nostdin -i \(name) -i still.y4m -lavfi psnr -f null - 2>&1 | grep -o 'PSNR y:[0-9.]*'",
      in: folder)
    return Double(run.text.drop { $0 != ":" }.dropFirst().trimmingCharacters(in: .whitespacesAndNewlines))
      ?? 0
  }

  @Test(arguments: ["avc1", "hvc1"]) func everyKindOfFileGivesTheSamePicture(_ codec: String) throws {
    let folder = try Folder()
    try makeStills(in: folder)
    var bytes: [Double] = []
    for kind in Self.kinds {
      let run = try CommandLine.vtencode(
        "transcoding", kind, "--codec", codec, "--out", "\(kind).mov", in: folder)
      try #require(run.status == 0, "\(run.complaints)")
      #expect(run.text.contains("one picture has none"), "\(run.text)")
      #expect(run.text.contains("for a quality of 0.70"), "\(run.text)")
      let quality = try decibels("\(kind).mov", in: folder)
      #expect((40...50).contains(quality), "\(kind): \(quality) dB")
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("\(kind).mov"))
      bytes.append((attributes[.size] as? NSNumber)?.doubleValue ?? 0)
    }
    let (minimum, maximum) = (bytes.min() ?? 0, bytes.max() ?? 0)
    #expect(minimum > 5000 && maximum < minimum * 1.1, "\(bytes)")
  }

  @Test func aRateIsSaidToMeanNothing() throws {
    let folder = try Folder()
    try makeStills(in: folder)
    for options in [
      ["--bitrate", "100k"], ["--bitrate", "100k", "--multi-pass"], ["--bitrate", "100k", "--jobs", "2"],
    ] {
      let run = try CommandLine.run(
        CommandLine.vtencode, ["transcoding", "still.png", "--out", "out.mp4", "--overwrite"] + options,
        in: folder.url)
      try #require(run.status == 0, "\(run.complaints)")
      #expect(run.complaints.contains("one picture has no bit rate"), "\(options): \(run.complaints)")
      #expect(try decibels("out.mp4", in: folder) > 40, "\(options)")
    }
  }

  @Test func aQualityThatIsAskedForIsKept() throws {
    let folder = try Folder()
    try makeStills(in: folder)
    var qualities: [Double] = []
    for quality in ["0.3", "0.7", "0.9"] {
      let run = try CommandLine.vtencode(
        "transcoding", "still.png", "--quality", quality, "--out", "out.mp4", "--overwrite", in: folder)
      try #require(run.status == 0, "\(run.complaints)")
      #expect(run.text.contains("for a quality of \(quality)0"), "\(run.text)")
      qualities.append(try decibels("out.mp4", in: folder))
    }
    #expect(qualities[0] + 4 < qualities[1] && qualities[1] + 2 < qualities[2], "\(qualities)")
  }

  /// `--frames 1` makes a still of a movie; with two pictures there is a rate.
  @Test func oneFrameOfAMovieIsAStill() throws {
    let folder = try Folder()
    for (frames, isStill) in [("1", true), ("2", false)] {
      let run = try CommandLine.vtencode(
        "transcoding", CommandLine.sample, "--frames", frames, "--out", "out.mp4", "--overwrite", in: folder)
      try #require(run.status == 0, "\(run.complaints)")
      #expect(run.text.contains("one picture has none") == isStill, "\(run.text)")
    }
  }
}
