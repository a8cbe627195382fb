// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import FFmpegMedia

/// The duration of Matroska files whose first sample comes late.
@Suite(.enabled(if: FFmpegTool.isAvailable)) struct MatroskaEndTests {
  /// - Parameter stated: the duration in the header, in milliseconds; nil for the end of the last
  ///   sample, which ffmpeg writes.
  private func seconds(start: String, stated: Double?) throws -> Double {
    var bytes = try FFmpegTool.run([
      "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=5", "-c:v", "mpeg4", "-g", "25",
      "-output_ts_offset", start, "-f", "matroska",
    ])
    if let stated {
      // The element Duration (RFC 9559, 5.1.2.10) with eight bytes of data.
      let element: [UInt8] = [0x44, 0x89, 0x88]
      let position = try #require(
        bytes.indices.first { bytes[$0...].starts(with: element) })
      let value = withUnsafeBytes(of: stated.bitPattern.bigEndian) { [UInt8]($0) }
      bytes.replaceSubrange(position + 3..<position + 11, with: value)
    }
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".mkv")
    try Data(bytes).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let stream = try #require(try Demuxer(url: url.path).streams.first)
    return Double(stream.duration) * Double(stream.timeBase.num) / Double(stream.timeBase.den)
  }

  @Test(
    "It is counted once, whether the header's counts from zero or from the first sample",
    arguments: [("0", nil), ("8", nil), ("8", 5000), ("3", 5000), ("3", nil)]
      as [(String, Double?)])
  func durations(start: String, stated: Double?) throws {
    #expect(abs(try seconds(start: start, stated: stated) - 5) < 0.05)
  }

  private func stream(of bytes: some Collection<UInt8>) throws -> MediaStream {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".mkv")
    try Data(bytes).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try #require(try Demuxer(url: url.path).streams.first)
  }

  private func seconds(_ stream: MediaStream) -> Double {
    Double(stream.duration) * Double(stream.timeBase.num) / Double(stream.timeBase.den)
  }

  /// ffmpeg writes no duration to a pipe, as a browser that records does not.
  private static func unfinished(_ options: [String]) throws -> [UInt8] {
    try FFmpegTool.run(
      [
        "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=5", "-f", "lavfi", "-i",
        "sine=duration=4.5",
      ] + options)
  }

  @Test(
    "Without a duration in the header it follows from the last cluster",
    arguments: [
      ["-c:v", "libvpx", "-deadline", "realtime", "-an", "-f", "webm"],
      [
        "-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus", "-cluster_time_limit", "1000", "-f",
        "webm",
      ],
      ["-c:v", "mpeg4", "-bf", "2", "-c:a", "aac", "-f", "matroska"],
      ["-c:v", "mpeg4", "-c:a", "aac", "-live", "1", "-f", "matroska"],
    ])
  func unfinishedFiles(options: [String]) throws {
    let bytes = try Self.unfinished(options)
    #expect(abs(try seconds(stream(of: bytes)) - 5) < 0.05)
    // A recording that was interrupted ends with the last block that is there.
    let cut = try seconds(stream(of: bytes.prefix(bytes.count * 3 / 5)))
    #expect(cut > 1 && cut < 4.5, "\(cut)")
  }

  @Test("Damaged ends of files do no harm") func damagedFiles() throws {
    let bytes = try Self.unfinished([
      "-c:v", "mpeg4", "-an", "-cluster_time_limit", "500", "-f", "matroska",
    ])
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    var random = SystemRandomNumberGenerator()
    var found = 0
    for round in 0..<300 {
      var damaged = Array(bytes.suffix(Int.random(in: 0...bytes.count, using: &random)))
      for _ in 0..<round where !damaged.isEmpty {
        damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      try Data(damaged).write(to: url)
      let reader = try #require(LocalFileReader(path: url.path))
      if MatroskaEnd.ticks(reader) != nil { found += 1 }
    }
    #expect(found > 0)
  }
}
