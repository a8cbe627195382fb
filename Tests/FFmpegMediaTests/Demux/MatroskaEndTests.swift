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
}
