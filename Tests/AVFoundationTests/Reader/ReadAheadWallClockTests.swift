// SPDX-License-Identifier: Apache-2.0
@testable import AVFoundation
import FFmpegMedia
import Foundation
import TestSupport
import Testing

/// The gain of reading ahead.
@Suite(.enabled(if: runsWallClockTests)) struct ReadAheadWallClockTests {
  /// The gain of reading ahead for a loop that reads a picture and encodes it: run with
  /// `OVT_MEASURE` set to a movie.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["OVT_MEASURE"] != nil))
  func readEncodeLoop() throws {
    let path = try #require(ProcessInfo.processInfo.environment["OVT_MEASURE"])
    let properties = try AssetFile(url: URL(fileURLWithPath: path), frameRate: nil, restrictions: [])
      .properties()
    let track = try #require(properties.video)
    let size = CMVideoFormatDescriptionGetDimensions(try #require(track.format))
    let settings = [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_420YpCbCr8Planar]
    func run(_ isAhead: Bool, waits: Bool) throws -> Double {
      let source = try PictureSource(
        Demuxer(again: properties.demuxer), track, PictureRequirements(settings), copies: false)
      let reader: any SampleSource = isAhead ? ReadAhead(source, depth: 3) : source
      try reader.seek(to: CMTimeRange(start: .zero, duration: .positiveInfinity))
      var made: VTCompressionSession?
      VTCompressionSessionCreate(
        allocator: nil, width: size.width, height: size.height, codecType: kCMVideoCodecType_H264,
        encoderSpecification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
          as NSDictionary,
        imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
        compressionSessionOut: &made)
      let session = try #require(made)
      let start = Date()
      var count = 0
      while count < 250, let sample = try reader.next(), let image = sample.imageBuffer {
        count += 1
        let status = VTCompressionSessionEncodeFrame(
          session, imageBuffer: image, presentationTimeStamp: sample.presentationTimeStamp,
          duration: .invalid, frameProperties: nil, infoFlagsOut: nil, outputHandler: { _, _, _ in })
        #expect(status == noErr)
        if waits {
          VTCompressionSessionCompleteFrames(
            session, untilPresentationTimeStamp: sample.presentationTimeStamp)
        }
      }
      VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
      return Date().timeIntervalSince(start) / Double(max(1, count)) * 1000
    }
    for waits in [false, true] {
      var times: [[Double]] = [[], []]
      for _ in 0..<5 { for way in 0..<2 { times[way].append(try run(way == 1, waits: waits)) } }
      let best = times.map { $0.min() ?? 0 }
      print(
        String(
          format: "read-encode loop%@: %.2f ms a frame without, %.2f with read-ahead, ratio %.2f",
          waits ? " that waits for each frame" : "", best[0], best[1], best[1] / best[0]))
    }
  }
}
