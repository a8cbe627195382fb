// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Movies that are stored on their side, or mirrored, and say how they are shown.
@Suite struct TurnTests {
  /// The matrices of all turns by a quarter and their mirrors, but for the one that changes
  /// nothing.
  static let matrices: [[Int32]] = [
    [0, 1, -1, 0], [-1, 0, 0, -1], [0, -1, 1, 0], [-1, 0, 0, 1], [1, 0, 0, -1], [0, 1, 1, 0], [0, -1, -1, 0],
  ]

  /// - Parameter matrix: a, b, c and d of the track header (ISO/IEC 14496-12, 8.3.2).
  private func makeMovie(_ name: String, _ matrix: [Int32], _ options: [String] = [], in folder: Folder)
    throws
  {
    let path = folder.path(name)
    let made = try CommandLine.run(
      "ffmpeg",
      ["-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=192x128:rate=25:duration=0.4"] + options
        + ["-pix_fmt", "yuv420p", "-c:v", "mpeg4", "-q:v", "2", path])
    try #require(made.status == 0, "\(made.complaints)")
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let header = try #require(data.range(of: Data("tkhd".utf8)))
    for (place, value) in zip([0, 1, 3, 4], matrix) {
      withUnsafeBytes(of: (value << 16).bigEndian) {
        data.replaceSubrange(
          (header.upperBound + 40 + place * 4)..<(header.upperBound + 44 + place * 4), with: $0)
      }
    }
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// The pictures of two files in ffmpeg, which rotates by itself.
  private func psnr(_ one: String, _ other: String, in folder: Folder, size: String = "iw:ih") throws
    -> Double
  {
    let run = try CommandLine.shell(
      "ffmpeg -nostdin -i \(one) -i \(other) -lavfi '[0:v]scale=\(size)[a];[a][1:v]psnr=shortest=1' -f null - 2>&1 "
        + "| grep -o 'PSNR y:[0-9.]*'", in: folder)
    return Double(run.text.dropFirst(7).trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
  }

  /// A stream has no place for it, so its pictures stand upright.
  @Test(arguments: matrices) func streamsStandUpright(matrix: [Int32]) throws {
    let folder = try Folder()
    try makeMovie("in.mp4", matrix, in: folder)
    let stream = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--quality", "0.9", "--psnr", "--out", "out.264", in: folder)
    #expect(
      stream.status == 0 && stream.complaints.contains("which a stream cannot store"), "\(stream.complaints)")
    let isOnItsSide = matrix[0] == 0
    let video = try Probe(folder.path("out.264")).video()
    #expect((video.width, video.height) == (isOnItsSide ? (128, 192) : (192, 128)))
    let quality = try psnr("in.mp4", "out.264", in: folder)
    #expect(quality > 33, "\(quality)")
    let own = stream.text.firstMatch(of: /Y ([0-9.]+)/).flatMap { Double($0.1) }
    #expect(abs((own ?? 0) - quality) < 1.5, "\(stream.text)")
    // A movie says it itself, and nothing is turned.
    let movie = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--quality", "0.9", "--out", "out.mp4", in: folder)
    #expect(movie.status == 0 && movie.complaints.isEmpty, "\(movie.complaints)")
    #expect(try Probe(folder.path("out.mp4")).video().width == 192)
    #expect(try psnr("in.mp4", "out.mp4", in: folder) > 33)
  }

  @Test func segmentsStandUprightToo() throws {
    let folder = try Folder()
    try makeMovie("in.mp4", Self.matrices[0], in: folder)
    let jobs = try CommandLine.vtencode(
      "transcoding", "in.mp4", "--quality", "0.9", "--jobs", "2", "--out", "out.264", in: folder)
    #expect(jobs.status == 0 && jobs.complaints.contains("which a stream cannot store"), "\(jobs.complaints)")
    #expect(try psnr("in.mp4", "out.264", in: folder) > 33)
  }

  /// So do calls, whose samples are square.
  @Test func callsStandUpright() throws {
    let folder = try Folder()
    try makeMovie("in.mp4", Self.matrices[0], in: folder)
    try makeMovie("wide.mp4", [1, 0, 0, 1], ["-vf", "setsar=4/3"], in: folder)
    for (name, size) in [("in.mp4", [128, 192]), ("wide.mp4", [256, 128])] {
      let run = try CommandLine.vtencode(
        "call", name, "--bandwidth", "20M", "--bitrate", "4M", "--received", "\(name).mov", in: folder)
      #expect(run.status == 0, "\(run.complaints)")
      let video = try Probe(folder.path("\(name).mov")).video()
      #expect([video.width, video.height] == size)
      let quality = try psnr(name, "\(name).mov", in: folder, size: "\(size[0]):\(size[1])")
      #expect(quality > 25, "\(quality)")
    }
  }

  @Test(arguments: [0, 3, 5]) func terminalsStandUpright(index: Int) throws {
    let folder = try Folder()
    try makeMovie("in.mp4", Self.matrices[index], in: folder)
    let run = try CommandLine.vtencode(
      "play", "in.mp4", "--terminal", "--muted", "--frames", "1", "--snapshot", "shown.png", in: folder)
    #expect(run.status == 0, "\(run.complaints)")
    #expect(try psnr("in.mp4", "shown.png", in: folder) > 28)
  }
}
