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

  /// The options with which ffmpeg cannot go back to the header, and so writes no duration, as a
  /// browser that records does not.
  private static let live = ["-seekable", "0"]

  private static func unfinished(_ options: [String]) throws -> [UInt8] {
    try FFmpegTool.run(
      [
        "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=5", "-f", "lavfi", "-i",
        "sine=duration=4.5",
      ] + options + live)
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
    // An interrupted recording ends with the last stored block.
    let cut = try seconds(stream(of: bytes.prefix(bytes.count * 3 / 5)))
    #expect(cut > 1 && cut < 4.5, "\(cut)")
  }

  @Test(
    "The last block of a cluster that has no other lasts as long as the ones before it",
    arguments: [
      (["testsrc2=size=160x120:rate=25:duration=5.04", "-c:v", "libvpx", "-g", "25", "-f", "webm"], 5.04),
      (["testsrc2=size=160x120:rate=0.5:duration=20", "-c:v", "mjpeg", "-f", "matroska"], 20),
    ] as [([String], Double)])
  func lonelyBlocks(options: [String], expected: Double) throws {
    let bytes = try FFmpegTool.run(["-f", "lavfi", "-i"] + options + Self.live)
    let found = try seconds(stream(of: bytes))
    #expect(abs(found - expected) < 0.01, "\(found)")
  }

  @Test("Audio of a varying rate lasts until its last block, and not as its size and rate suggest")
  func audioOfAVaryingRate() throws {
    let bytes = try FFmpegTool.run(
      [
        "-f", "lavfi", "-i", "aevalsrc='if(lt(t,2),0,random(0))':d=20", "-c:a", "libmp3lame", "-q:a", "0",
        "-f", "matroska",
      ] + Self.live)
    let found = try seconds(stream(of: bytes))
    #expect(abs(found - 20) < 0.1, "\(found)")
  }

  @Test("Times count in the segment's ticks, whatever a track's own scale is")
  func trackScale() throws {
    var bytes = try Self.unfinished(["-c:v", "mpeg4", "-an", "-f", "matroska"])
    // TrackUID (RFC 9559, 5.1.4.1.2) gives its place to TrackTimestampScale, 2.0, and a Void
    // element.
    let identifier: [UInt8] = [0x73, 0xC5, 0x88]
    let at = try #require(bytes.indices.first { bytes[$0...].starts(with: identifier) })
    bytes.replaceSubrange(
      at..<at + 11, with: [0x23, 0x31, 0x4F, 0x84, 0x40, 0, 0, 0, 0xEC, 0x81, 0])
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(bytes).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let reader = try #require(LocalFileReader(path: url.path))
    let ticks = try #require(MatroskaEnd.ticks(reader, interruption: MediaInterruption()))
    let nanoseconds = ticks * MatroskaTracks(reader).timestampScale
    #expect(abs(Double(nanoseconds) / 1e9 - 5) < 0.05)
  }

  @Test("A file full of what looks like clusters takes a bounded time, and has no end")
  func hostileFile() throws {
    let bytes = try Self.unfinished(["-c:v", "mpeg4", "-an", "-f", "matroska"])
    let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
    let header = bytes[..<(try #require(bytes.indices.first { bytes[$0...].starts(with: cluster) }))]
    // Void elements that hold the header of an empty cluster, and of one with a timestamp alone.
    for unit in [[0xEC, 0x85] + cluster + [0x80], [0xEC, 0x88] + cluster + [0x80, 0xE7, 0x81, 0]] as [[UInt8]]
    {
      let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try Data(header + Array(repeatElement(unit, count: 150_000).joined())).write(to: url)
      defer { try? FileManager.default.removeItem(at: url) }
      let reader = try #require(LocalFileReader(path: url.path))
      #expect(MatroskaEnd.ticks(reader, interruption: MediaInterruption()) == nil)
    }
  }

  @Test("Damaged ends of files do no harm", arguments: [1, 2, 3] as [UInt64])
  func damagedFiles(seed: UInt64) throws {
    let bytes = try Self.unfinished([
      "-c:v", "mpeg4", "-an", "-cluster_time_limit", "500", "-f", "matroska",
    ])
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    var state = seed
    func random(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
    var found = 0
    for round in 0..<100 {
      var damaged = Array(bytes.suffix(random(bytes.count + 1)))
      for _ in 0..<3 * round where !damaged.isEmpty {
        damaged[random(damaged.count)] = UInt8(random(256))
      }
      try Data(damaged).write(to: url)
      let reader = try #require(LocalFileReader(path: url.path))
      if MatroskaEnd.ticks(reader, interruption: MediaInterruption()) != nil { found += 1 }
    }
    #expect(found > 0)
  }
}
