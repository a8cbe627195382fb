// SPDX-License-Identifier: Apache-2.0
import CFFmpeg
import CoreMedia
import ElementaryStream
import Foundation
import Testing
import VideoToolbox

/// The conformance streams, from byte stream to images through public API, against the MD5 of their
/// frames.
@Suite struct ConformanceTests {
  struct Stream: Sendable, CustomStringConvertible {
    let file: String
    let frames: Int
    let md5: String
    var description: String { file }
  }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("shared/media/conformance")

  /// The list of the streams; empty where they are not at hand.
  static let streams: [Stream] = {
    let list = try? String(contentsOf: folder.appendingPathComponent("md5.tsv"), encoding: .utf8)
    return (list ?? "").split(separator: "\n").dropFirst().compactMap { line in
      let columns = line.split(separator: "\t").map(String.init)
      guard columns.count == 6, let frames = Int(columns[4]) else { return nil }
      return Stream(file: columns[0], frames: frames, md5: columns[5])
    }
  }()

  /// The list was made with libavcodec, which by default rounds the origin of a cropped picture
  /// down to what its vector code likes. These are the sums with the origin that the stream says,
  /// on which OpenH264 and libavcodec's `unaligned` flag agree.
  static let exactlyCropped = ["CVFC1_Sony_C.jsv": "9fdb17e17d332b5d9752362c9c7ff9b0"]

  @Test(arguments: streams) func conformanceStreamsDecodeToTheirDigests(stream: Stream) throws {
    let data = try Data(contentsOf: Self.folder.appendingPathComponent(stream.file))
    var parser = try ElementaryStreamParser(codec: .h264)
    // In pieces, as from a network.
    var samples: [CMSampleBuffer] = []
    for start in stride(from: 0, to: data.count, by: 40_000) {
      samples += try parser.append(data[start..<min(start + 40_000, data.count)])
    }
    samples += try parser.finish()
    #expect(samples.count == stream.frames)

    for flags in [VTDecodeFrameFlags(), ._EnableTemporalProcessing] {
      let collector = ImageCollector()
      var session: VTDecompressionSession?
      for sample in samples {
        let format = try #require(sample.formatDescription)
        if let current = session,
          !VTDecompressionSessionCanAcceptFormatDescription(current, formatDescription: format)
        {
          try check(VTDecompressionSessionWaitForAsynchronousFrames(current), "wait")
          session = nil
        }
        let decoder = try session ?? makeDecoder(format)
        session = decoder
        try decode(decoder, [sample], flags, into: collector)
      }
      if let session { try check(VTDecompressionSessionWaitForAsynchronousFrames(session), "wait") }
      #expect(collector.all.allSatisfy { $0.status == noErr })
      #expect(collector.images.count == stream.frames)
      var digest = MD5()
      for entry in collector.all.sorted(by: { $0.time < $1.time }) {
        if let image = entry.image { digest.add(planar(image)) }
      }
      #expect(digest.finish() == (Self.exactlyCropped[stream.file] ?? stream.md5), "\(flags)")
    }
  }
}

/// libavutil's MD5.
struct MD5 {
  private let context = av_md5_alloc()

  init() { av_md5_init(context) }

  mutating func add(_ bytes: [UInt8]) {
    bytes.withUnsafeBufferPointer { av_md5_update(context, $0.baseAddress, bytes.count) }
  }

  mutating func finish() -> String {
    var sum = [UInt8](repeating: 0, count: 16)
    av_md5_final(context, &sum)
    av_free(UnsafeMutableRawPointer(context))
    return sum.map { String(UInt32($0) + 256, radix: 16).dropFirst() }.joined()
  }
}
