// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import Foundation
import Testing

@testable import FFmpegMedia

/// Presentation times that a container does not tell: as libavformat finds them, without holding
/// the file.
@Suite(.enabled(if: FFmpegTool.isAvailable)) struct MissingTimesTests {
  private struct Failure: Error {}

  private struct Times: Equatable {
    var stream: Int
    var size: Int
    var pts: Int64
    var dts: Int64
  }

  private static func file(_ bytes: [UInt8], _ ending: String) throws -> URL {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + "." + ending)
    try Data(bytes).write(to: url)
    return url
  }

  /// The times that libavformat generates.
  private static func generated(_ path: String) throws -> [Times] {
    var context: UnsafeMutablePointer<AVFormatContext>?
    guard avformat_open_input(&context, path, nil, nil) >= 0 else { throw Failure() }
    defer { avformat_close_input(&context) }
    guard let context, avformat_find_stream_info(context, nil) >= 0 else { throw Failure() }
    context.pointee.flags |= AVFMT_FLAG_GENPTS
    var found: [Times] = []
    while let pointer = av_packet_alloc() {
      let packet = MediaPacket(owning: pointer)
      guard av_read_frame(context, pointer) >= 0 else { break }
      found.append(
        Times(
          stream: packet.streamIndex, size: packet.bytes.count, pts: pointer.pointee.pts,
          dts: pointer.pointee.dts))
    }
    return found
  }

  private static let movie = [
    "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=3", "-f", "lavfi", "-i",
    "sine=sample_rate=44100:duration=3",
  ]

  @Test(arguments: [
    ("avi", ["-c:v", "mpeg4", "-bf", "2", "-c:a", "pcm_u8", "-ar", "8000"]),
    ("avi", ["-c:v", "mpeg4", "-bf", "0", "-c:a", "mp2"]),
    ("vob", ["-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"]),
    ("mpegts", ["-c:v", "mpeg2video", "-bf", "2", "-c:a", "aac"]),
    ("mpeg2video", ["-map", "0", "-c:v", "mpeg2video", "-bf", "2"]),
    ("m4v", ["-map", "0", "-c:v", "mpeg4", "-bf", "2"]),
    ("matroska", ["-c:v", "mpeg4", "-bf", "2", "-c:a", "aac"]),
  ]) func missingTimesAreThoseOfLibavformat(format: String, codecs: [String]) throws {
    let url = try Self.file(FFmpegTool.run(Self.movie + codecs + ["-f", format]), format)
    defer { try? FileManager.default.removeItem(at: url) }
    let expected = try Self.generated(url.path)
    let demuxer = try Demuxer(url: url.path)
    var found: [Times] = []
    while let packet = try demuxer.next() {
      found.append(
        Times(
          stream: packet.streamIndex, size: packet.bytes.count, pts: packet.pointer.pointee.pts,
          dts: packet.pointer.pointee.dts))
    }
    try #require(found.count == expected.count)
    #expect(found.count > 70)
    // The file is moved to begin at zero.
    var shifts: [Int: Int64] = [:]
    for (one, other) in zip(found, expected) {
      #expect(one.stream == other.stream && one.size == other.size)
      guard other.pts != ovt_av_nopts_value(), one.pts != ovt_av_nopts_value() else {
        // Where libavformat knows nothing.
        #expect(other.pts == ovt_av_nopts_value())
        continue
      }
      let shift = shifts[one.stream, default: other.pts - one.pts]
      shifts[one.stream] = shift
      #expect(one.pts == other.pts - shift)
      if other.dts != ovt_av_nopts_value() { #expect(one.dts == other.dts - shift) }
    }
  }

  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The last picture waits for another one that never comes, while audio continues.
  @Test func nothingWaitsForTheEndOfTheFile() throws {
    let whole = try FFmpegTool.run(
      Self.movie + ["-c:v", "mpeg4", "-bf", "2", "-c:a", "pcm_u8", "-ar", "8000", "-f", "avi"])
    let data = Data(whole)
    let list = try #require(data.range(of: Data("movi".utf8))?.lowerBound)
    func number(_ place: Int) -> Int { (0..<4).reduce(0) { $0 | Int(whole[place + $1]) << (8 * $1) } }
    func little(_ value: Int) -> [UInt8] { MovieBox.bytes(value).reversed() }
    var pictures: [UInt8] = []
    var count = 0
    var place = list + 4
    while count < 6 {
      let next = place + 8 + (number(place + 4) + 1) & ~1
      if whole[place] == 0x30, whole[place + 1] == 0x30 {
        pictures += whole[place..<next]
        count += 1
      }
      place = next
    }
    let audio = Array("01wb".utf8) + little(2) + [0x80, 0x80]
    let content = Array("movi".utf8) + pictures + [[UInt8]](repeating: audio, count: 15_000).joined()
    var bytes = whole[..<(list - 8)] + Array("LIST".utf8) + little(content.count) + content
    bytes.replaceSubrange(4..<8, with: little(bytes.count - 8))
    let url = try Self.file(Array(bytes), "avi")
    defer { try? FileManager.default.removeItem(at: url) }
    let begin = Self.processorTime()
    let demuxer = try Demuxer(url: url.path)
    var shown = 0
    while let packet = try demuxer.next() {
      if packet.streamIndex == 0, packet.pts != nil { shown += 1 }
    }
    #expect(Self.processorTime() - begin < 2)
    #expect(shown == 6)
  }

  private struct Held { weak var packet: MediaPacket? }

  /// A delivered packet is not kept, although the time of a later one is still unknown.
  @Test func whatWasGivenOutIsGone() throws {
    let url = try Self.file(FFmpegTool.run(Self.movie + ["-c:v", "mpeg4", "-bf", "2", "-f", "avi"]), "avi")
    defer { try? FileManager.default.removeItem(at: url) }
    let demuxer = try Demuxer(url: url.path)
    var held: [Held] = []
    var maximum = 0
    while let packet = try demuxer.next() {
      held.append(Held(packet: packet))
      held.removeAll { $0.packet == nil }
      maximum = max(maximum, held.count)
    }
    // This one, and the one before.
    #expect(maximum <= 2, "\(maximum)")
  }
}
