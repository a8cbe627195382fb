// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing
import VideoToolbox

/// Rates that change in mid-stream, as a program sees it.
@Suite struct RateChangeTests {
  @Test(
    "A lower frame rate and bit rate, and the first ones again, make no key frame", arguments: [true, false])
  func keyFrames(isLowLatency: Bool) throws {
    let session = try makeSession(
      width: 320, height: 180,
      specification: isLowLatency
        ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
        : [kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.h264"],
      properties: [
        kVTCompressionPropertyKey_AverageBitRate: 250_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      ])
    let samples = try encode(session, TestClip(width: 320, height: 180), count: 24) { frame in
      if frame == 8 || frame == 16 {
        let (frames, bits) = frame == 8 ? (10, 100_000) : (30, 250_000)
        for (key, value) in [
          (kVTCompressionPropertyKey_ExpectedFrameRate, frames),
          (kVTCompressionPropertyKey_AverageBitRate, bits),
        ] {
          #expect(VTSessionSetProperty(session, key: key, value: NSNumber(value: value)) == noErr)
        }
      }
      return nil
    }
    #expect(samples.count == 24)
    #expect(samples.map(\.isSync) == [true] + Array(repeating: false, count: 23))
  }
}
