// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import VideoToolbox

/// Sessions whose frames are joined: limits hold over all of them.
@Suite(.serialized) struct JoinedSessionTests {
  private static let own = "org.openvideotoolbox.videoencoder.h264"

  private static func session(_ id: String, _ properties: [CFString: Any]) throws -> VTCompressionSession {
    try makeSession(
      width: 320, height: 192, specification: [kVTVideoEncoderSpecification_EncoderID: id],
      properties: properties)
  }

  @Test("A limit of the data rate holds for windows over joins, whatever the averages are")
  func limits() throws {
    let bytes = 50_000
    // Three sessions; the pictures of each change at its end and at its beginning.
    let rates = [150_000, 380_000, 250_000]
    var sizes: [Int] = []
    var joins: [Int] = []
    for (n, rate) in rates.enumerated() {
      let clip = TestClip(width: 320, height: 192, noise: 24, cutEvery: 29)
      let session = try Self.session(
        Self.own,
        [
          kVTCompressionPropertyKey_AverageBitRate: rate, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
          kVTCompressionPropertyKey_DataRateLimits: [bytes, 1.0],
          kVTCompressionPropertyKey_MoreFramesBeforeStart: n > 0,
          kVTCompressionPropertyKey_MoreFramesAfterEnd: n < rates.count - 1,
        ])
      joins.append(sizes.count)
      sizes += try encode(session, clip, count: 60).map { CMSampleBufferGetTotalSampleSize($0) }
    }
    #expect(sizes.count == 180)
    for start in 0...(sizes.count - 30) {
      let sum = sizes[start..<(start + 30)].reduce(0, +)
      #expect(sum <= bytes, "frames from \(start) on; joins at \(joins)")
    }
    // It is a limit that something is spent of.
    #expect(sizes.reduce(0, +) > bytes * 2)
  }

  @Test("Who cannot share a buffer says so, and that nothing follows is no wish")
  func refusals() throws {
    var others = [Self.own + ".lowlatency"]
    #if X264
      others.append(Self.own + ".x264")
    #endif
    for id in others {
      let session = try Self.session(id, [:])
      for key in [
        kVTCompressionPropertyKey_MoreFramesBeforeStart, kVTCompressionPropertyKey_MoreFramesAfterEnd,
      ] {
        #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanTrue) == kVTPropertyNotSupportedErr)
        #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanFalse) == noErr)
      }
    }
    // There is no end in sight without a look-ahead.
    let session = try Self.session(
      Self.own,
      [
        kVTCompressionPropertyKey_ConstantBitRate: 300_000, kVTCompressionPropertyKey_MaxFrameDelayCount: 0,
        kVTCompressionPropertyKey_MoreFramesAfterEnd: true,
      ])
    #expect(VTCompressionSessionPrepareToEncodeFrames(session) != noErr)
  }
}
