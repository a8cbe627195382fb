// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import TestSupport
import VideoToolbox

/// The frame rate that a session takes from its frames where no property names one.
@Suite(.serialized) struct FrameDurationTests {
  static let codecs = [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC]

  /// Encodes frames, each with its time and its duration in seconds.
  private func encode(
    _ session: VTCompressionSession, _ clip: TestClip, _ frames: [(time: Double, duration: Double)]
  ) throws -> [CMSampleBuffer] {
    let collector = Collector()
    for (index, frame) in frames.enumerated() {
      try check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: clip.buffer(index),
          presentationTimeStamp: CMTime(seconds: frame.time, preferredTimescale: 90_000),
          duration: CMTime(seconds: frame.duration, preferredTimescale: 90_000), frameProperties: nil,
          infoFlagsOut: nil
        ) { status, flags, sample in collector.add(status, flags, sample) }, "frame \(index)")
    }
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid), "complete")
    for entry in collector.all { try check(entry.status, "result") }
    return collector.samples
  }

  @Test("A first frame that is shown very shortly raises no level", arguments: codecs)
  func aFirstFrameThatIsShownShortlyRaisesNoLevel(codec: CMVideoCodecType) throws {
    let clip = TestClip(width: 640, height: 360)
    func level(first: Double) throws -> Int {
      let session = try makeSession(
        codec, width: 640, height: 360,
        properties: [kVTCompressionPropertyKey_AverageBitRate: 500_000])
      let frames = (0..<6).map { n in
        n == 0 ? (0.0, first) : (first + Double(n - 1) / 30, 1.0 / 30)
      }
      let samples = try encode(session, clip, frames)
      #expect(samples.count == 6)
      let probe = try StreamProbe(annexB(samples), hevc: codec == kCMVideoCodecType_HEVC)
      return try #require(probe.number("level"))
    }
    #expect(try level(first: 1.0 / 600) == level(first: 1.0 / 30))
    // A camera of 240 frames per second needs a higher one.
    #expect(try level(first: 1.0 / 240) > level(first: 1.0 / 30))
  }

  @Test("A stream with a frame each five seconds gets its rate", arguments: codecs)
  func aStreamWithAFrameEachFiveSecondsGetsItsRate(codec: CMVideoCodecType) throws {
    let name = codec == kCMVideoCodecType_HEVC ? "hevc" : "h264"
    let session = try makeSession(
      codec,
      specification: [
        kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.\(name)"
      ],
      properties: [
        kVTCompressionPropertyKey_RealTime: true, kVTCompressionPropertyKey_AverageBitRate: 60_000,
        kVTCompressionPropertyKey_ExpectedFrameRate: 0.2,
        kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality: true,
      ])
    let frames = (0..<10).map { (Double($0) * 5, 5.0) }
    let samples = try encode(session, TestClip(noise: 40), frames)
    let bits = samples.dropFirst(2).reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) * 8 }
    let rate = Double(bits) / (5 * 8)
    #expect(rate > 40_000 && rate < 75_000, "\(rate)")
  }

  @Test("A call takes a limit of the delay that it keeps anyway", arguments: codecs, [0, 1])
  func aCallTakesALimitOfItsDelay(codec: CMVideoCodecType, limit: Int) throws {
    let session = try makeSession(
      codec, specification: [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true],
      properties: [kVTCompressionPropertyKey_MaxFrameDelayCount: limit])
    let frames = (0..<5).map { (Double($0) / 30, 1.0 / 30) }
    #expect(try encode(session, TestClip(), frames).count == 5)
  }
}
