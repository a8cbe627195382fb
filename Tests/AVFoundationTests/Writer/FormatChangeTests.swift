// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import Testing

@testable import FFmpegMedia

/// Samples of several formats in one track.
@Suite(.serialized) struct FormatChangeTests {
  private static func clip(_ size: String, _ codec: String) throws -> String {
    let hevc = ["-x265-params", "log-level=none:bframes=0", "-tag:v", "hvc1"]
    return try Fixture.make(
      "\(codec)-\(size).mp4",
      [
        "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25:duration=0.4", "-pix_fmt", "yuv420p", "-c:v",
        codec,
        "-preset", "ultrafast", "-bf", "0",
      ] + (codec == "libx265" ? hevc : []))
  }

  private static func samples(_ path: String) throws -> [CMSampleBuffer] {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let reader = try AVAssetReader(asset: asset)
    let track = try #require(asset.tracks(withMediaType: .video).first)
    let output = AVAssetReaderTrackOutput(track: track, outputSettings: nil)
    reader.add(output)
    #expect(reader.startReading())
    var samples: [CMSampleBuffer] = []
    while let sample = output.copyNextSampleBuffer() { samples.append(sample) }
    return samples
  }

  private static func sizes(_ path: String) throws -> [Int] {
    let asset = AVURLAsset(url: URL(fileURLWithPath: path))
    let reader = try AVAssetReader(asset: asset)
    let output = AVAssetReaderTrackOutput(
      track: try #require(asset.tracks(withMediaType: .video).first),
      outputSettings: [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar])
    reader.add(output)
    #expect(reader.startReading())
    var widths: [Int] = []
    while let sample = output.copyNextSampleBuffer() {
      widths.append(try CVPixelBufferGetWidth(#require(sample.imageBuffer)))
    }
    #expect(reader.status == .completed, "\(String(describing: reader.error))")
    return widths
  }

  /// Writes clips one after the other into a track.
  private func write(_ clips: [String], to url: URL, type: AVFileType, optimizes: Bool) async throws {
    let writer = try AVAssetWriter(url: url, fileType: type)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
    writer.shouldOptimizeForNetworkUse = optimizes
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    var count: Int64 = 0
    for clip in clips {
      for sample in try Self.samples(clip) {
        var timing = CMSampleTimingInfo(
          duration: CMTime(value: 1, timescale: 25),
          presentationTimeStamp: CMTime(value: count, timescale: 25),
          decodeTimeStamp: .invalid)
        var moved: CMSampleBuffer?
        CMSampleBufferCreateCopyWithNewTiming(
          allocator: nil, sampleBuffer: sample, sampleTimingEntryCount: 1, sampleTimingArray: &timing,
          sampleBufferOut: &moved)
        #expect(input.append(try #require(moved)), "\(String(describing: writer.error))")
        count += 1
      }
    }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed, "\(String(describing: writer.error))")
  }

  @Test(arguments: ["libx264", "libx265"], [false, true])
  func eachFormatHasItsDescription(_ codec: String, _ optimizes: Bool) async throws {
    let scratch = Scratch()
    let large = try Self.clip("320x240", codec)
    let small = try Self.clip("160x128", codec)
    for (name, type) in [("a.mov", AVFileType.mov), ("a.mp4", .mp4)] {
      let path = scratch.file(name)
      try await write([large, small, large], to: scratch.url(name), type: type, optimizes: optimizes)

      // Two descriptions for three parts, and the samples as they were.
      let bytes = [UInt8](try Data(contentsOf: scratch.url(name)))
      let boxes = try #require(MovieBox.parse(bytes[...]))
      let movie = try #require(boxes.first { $0.type == "moov" })
      #expect(movie.find("trak", "mdia", "minf", "stbl", "stsd")?.number(4) == 2)
      let order = boxes.map(\.type).filter { $0 == "moov" || $0 == "mdat" }
      #expect(order == (optimizes ? ["moov", "mdat"] : ["mdat", "moov"]))
      let parts = try Probe.samples(large) + Probe.samples(small) + Probe.samples(large)
      #expect(try Probe.samples(path).map(\.hash) == parts.map(\.hash))
      #expect(try Probe.samples(path).count == 30)

      // Others read it, and so do we.
      #expect(try Tool.decodingErrors(path) == "")
      let packets = try Tool.run(
        ["ffprobe", "-v", "error", "-show_entries", "packet_side_data=side_data_type", "-of", "csv", path])
      #expect(packets.components(separatedBy: "New Extradata").count - 1 == 2, "\(packets)")
      let own = Array(repeating: 320, count: 10) + Array(repeating: 160, count: 10)
      #expect(try Self.sizes(path) == own + Array(repeating: 320, count: 10))
      let widths = try Self.samples(path).map {
        CMVideoFormatDescriptionGetDimensions(try #require(CMSampleBufferGetFormatDescription($0))).width
      }
      #expect(widths.map(Int.init) == own + Array(repeating: 320, count: 10))
    }
  }

  @Test("A track of a file in fragments keeps its description; the parameter sets are in the samples")
  func fragmentsKeepTheirDescription() async throws {
    let scratch = Scratch()
    let parts = [try Self.clip("320x240", "libx264"), try Self.clip("160x128", "libx264")]
    let writer = try AVAssetWriter(url: scratch.url("a.mov"), fileType: .mov)
    writer.movieFragmentInterval = CMTime(value: 1, timescale: 5)
    let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
    writer.add(input)
    #expect(writer.startWriting())
    writer.startSession(atSourceTime: .zero)
    for (index, part) in parts.enumerated() {
      for sample in try Self.samples(part) {
        var timing = CMSampleTimingInfo()
        CMSampleBufferGetSampleTimingInfo(sample, at: 0, timingInfoOut: &timing)
        timing.presentationTimeStamp =
          timing.presentationTimeStamp + CMTime(value: Int64(index), timescale: 1)
        timing.decodeTimeStamp = .invalid
        var moved: CMSampleBuffer?
        CMSampleBufferCreateCopyWithNewTiming(
          allocator: nil, sampleBuffer: sample, sampleTimingEntryCount: 1, sampleTimingArray: &timing,
          sampleBufferOut: &moved)
        #expect(input.append(try #require(moved)))
      }
    }
    input.markAsFinished()
    await writer.finishWriting()
    #expect(writer.status == .completed)
    #expect(try Tool.decodingErrors(scratch.file("a.mov")) == "")
  }
}
