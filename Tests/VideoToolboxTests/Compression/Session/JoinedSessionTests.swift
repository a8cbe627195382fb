// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing
import VideoToolbox

/// Sessions whose frames are joined: what a buffer holds at their ends, and limits over all of
/// them.
@Suite(.serialized) struct JoinedSessionTests {
  private static let own = "org.openvideotoolbox.videoencoder.h264"

  /// The encoders of this package that are built in.
  private static let encoders: [String] = {
    #if HEVC
      [own, "org.openvideotoolbox.videoencoder.hevc"]
    #else
      [own]
    #endif
  }()

  private static func session(_ id: String, _ properties: [CFString: Any]) throws -> VTCompressionSession {
    try makeSession(
      id.contains("hevc") ? kCMVideoCodecType_HEVC : kCMVideoCodecType_H264, width: 320, height: 192,
      specification: [kVTVideoEncoderSpecification_EncoderID: id],
      properties: properties)
  }

  private static var keys: [CFString] {
    [kVTCompressionPropertyKey_MoreFramesBeforeStart, kVTCompressionPropertyKey_MoreFramesAfterEnd]
  }

  private static func value(_ key: CFString, of session: VTCompressionSession) -> Bool? {
    var value: NSNumber?
    let status = VTSessionCopyProperty(
      session, key: key, allocator: kCFAllocatorDefault, valueOut: &value)
    return status == noErr ? value?.boolValue : nil
  }

  @Test(
    "Both are listed, set and read back until frames come, and false unless set",
    arguments: encoders)
  func joinPropertiesAreListedAndReadBack(id: String) throws {
    let session = try Self.session(id, [kVTCompressionPropertyKey_ConstantBitRate: 300_000])
    var listed: CFDictionary?
    #expect(
      VTSessionCopySupportedPropertyDictionary(session, supportedPropertyDictionaryOut: &listed) == noErr)
    for key in Self.keys {
      #expect((listed as? [CFString: Any])?[key] != nil)
      #expect(Self.value(key, of: session) == false)
      #expect(VTSessionSetProperty(session, key: key, value: "yes" as CFString) == kVTParameterErr)
      #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanTrue) == noErr)
      #expect(Self.value(key, of: session) == true)
    }
    _ = try encode(session, TestClip(width: 320, height: 192), count: 30)
    for key in Self.keys {
      #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanTrue) == noErr)
      #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanFalse) == kVTPropertyReadOnlyErr)
      #expect(Self.value(key, of: session) == true)
    }
  }

  @Test(
    "What the buffer holds after the last frame is what the next stream begins with, where one follows",
    arguments: [(true, true), (true, false), (false, true), (false, false)], encoders)
  func theBufferEndsAsTheNextStreamBegins(form: (isConstant: Bool, isFollowed: Bool), id: String) throws {
    let (isConstant, isFollowed) = form
    let (rate, seconds, count) = (300_000, 0.5, 75)
    let size = Double(rate) * seconds
    for hasBefore in [false, true] {
      let session = try Self.session(
        id,
        [
          kVTCompressionPropertyKey_ExpectedFrameRate: 30,
          kVTCompressionPropertyKey_VBVBufferDuration: seconds,
          kVTCompressionPropertyKey_MoreFramesBeforeStart: hasBefore,
          kVTCompressionPropertyKey_MoreFramesAfterEnd: isFollowed,
        ].merging(
          isConstant
            ? [kVTCompressionPropertyKey_ConstantBitRate: rate]
            : [
              kVTCompressionPropertyKey_VariableBitRate: rate, kVTCompressionPropertyKey_VBVMaxBitRate: rate,
            ]
        ) { $1 })
      // Noise that takes more than the rate allows, so that nothing is left over by itself.
      let clip = TestClip(width: 320, height: 192, noise: 24, cutEvery: 29)
      let samples = try encode(session, clip, count: count, from: hasBefore ? count : 0)
      var held = size * 0.9
      for (n, sample) in samples.enumerated() {
        held -= Double(CMSampleBufferGetTotalSampleSize(sample) * 8)
        #expect(held > -8, "frame \(n)")
        held += Double(rate) / 30
        if isConstant { #expect(held < size + 8, "frame \(n)") }
        held = min(held, size)
      }
      let over = held - size * 0.9
      if isFollowed {
        #expect(over > -8 && (over < 8 || !isConstant), "\(over) bits over what was agreed upon")
      } else {
        #expect(abs(over) > 8, "by chance")
      }
    }
  }

  @Test("A cap on the QP gives way to what is agreed upon at the end", arguments: encoders)
  func aCapOnTheQPGivesWayToWhatIsAgreedUponAtTheEnd(id: String) throws {
    let (rate, seconds) = (300_000, 0.5)
    let size = Double(rate) * seconds
    let session = try Self.session(
      id,
      [
        kVTCompressionPropertyKey_ExpectedFrameRate: 30, kVTCompressionPropertyKey_ConstantBitRate: rate,
        kVTCompressionPropertyKey_VBVBufferDuration: seconds,
        kVTCompressionPropertyKey_MoreFramesAfterEnd: true,
        kVTCompressionPropertyKey_MaxAllowedFrameQP: 20,
      ])
    let clip = TestClip(width: 320, height: 192, noise: 24, cutEvery: 29)
    let samples = try encode(session, clip, count: 75)
    #expect(samples.count == 75)
    var held = size * 0.9
    for (n, sample) in samples.enumerated() {
      held -= Double(CMSampleBufferGetTotalSampleSize(sample) * 8)
      #expect(held > -8, "frame \(n)")
      held = min(held + Double(rate) / 30, size)
    }
    #expect(abs(held - size * 0.9) < 8, "\(held)")
  }

  @Test(
    "A limit of the data rate holds for windows over joins, whatever the averages are", arguments: encoders)
  func aLimitOfTheDataRateHoldsForWindowsOverJoins(id: String) throws {
    let bytes = 50_000
    // Three sessions; the pictures of each change at its end and at its beginning.
    let rates = [150_000, 380_000, 250_000]
    var sizes: [Int] = []
    var joins: [Int] = []
    for (n, rate) in rates.enumerated() {
      let clip = TestClip(width: 320, height: 192, noise: 24, cutEvery: 29)
      let session = try Self.session(
        id,
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
  func anEncoderThatCannotShareABufferSaysSo() throws {
    var others = Self.encoders.map { $0 + ".lowlatency" }
    #if X264
      others.append(Self.own + ".x264")
    #endif
    #if X265
      others.append("org.openvideotoolbox.videoencoder.hevc.x265")
    #endif
    for session in try others.map({ try Self.session($0, [:]) }) {
      for key in Self.keys {
        #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanTrue) == kVTPropertyNotSupportedErr)
        #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanFalse) == noErr)
      }
    }
    // There is no end in sight without a look-ahead.
    for id in Self.encoders {
      let session = try Self.session(
        id,
        [
          kVTCompressionPropertyKey_ConstantBitRate: 300_000,
          kVTCompressionPropertyKey_MaxFrameDelayCount: 0,
          kVTCompressionPropertyKey_MoreFramesAfterEnd: true,
        ])
      #expect(VTCompressionSessionPrepareToEncodeFrames(session) != noErr)
    }
  }
}
