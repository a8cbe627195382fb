// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import CoreMedia
import Foundation
import TestSupport
import Testing
import VideoToolbox

/// A session applies every property that it accepts, from then on.
@Suite struct PropertyEdgeTests {
  private static var lowLatency: [CFString: Any] {
    [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
  }

  /// Values at the ends of what is taken, from the beginning and in mid-stream.
  @Test("Values in one dictionary are checked against each other, not against those that they replace")
  func dictionariesAreSetAsAWhole() throws {
    var made: VTCompressionSession?
    #expect(
      VTCompressionSessionCreate(
        allocator: nil, width: 64, height: 48, codecType: kCMVideoCodecType_H264, encoderSpecification: nil,
        imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
        compressionSessionOut: &made) == noErr)
    let session = try #require(made)
    func set(_ least: Any, _ largest: Any) -> OSStatus {
      VTSessionSetProperties(
        session,
        propertyDictionary: [
          kVTCompressionPropertyKey_MinAllowedFrameQP: least,
          kVTCompressionPropertyKey_MaxAllowedFrameQP: largest,
        ] as CFDictionary)
    }
    func largest() -> Int? {
      var value: AnyObject?
      VTSessionCopyProperty(
        session, key: kVTCompressionPropertyKey_MaxAllowedFrameQP, allocator: nil, valueOut: &value)
      return (value as? NSNumber)?.intValue
    }
    #expect(set(10, 20) == noErr)
    // Above and below the range before.
    #expect(set(30, 40) == noErr && largest() == 40)
    #expect(set(5, 8) == noErr && largest() == 8)
    // The least QP is taken back, so that the largest may be lower than it was.
    #expect(set(NSNull(), 3) == noErr && largest() == 3)
    #expect(set(9, 4) != noErr)
  }

  @Test(arguments: [false, true]) func valuesThatAreTakenCanBeEncodedWith(isLowLatency: Bool) throws {
    let clip = TestClip(width: 64, height: 48)
    let values: [(CFString, [Any])] = [
      (
        kVTCompressionPropertyKey_DataRateLimits,
        [
          [100_000, 0.001], [1_000_000, 60], [1_000_000, 61], [1_000_000, 3600], [10_000_000, 999_999],
          [100_000, 1, 1_000_000, 999_999], [1, 1000], [999_999_999_999, 1],
        ]
      ),
      (kVTCompressionPropertyKey_MaxH264SliceBytes, [64, 80, 99, 100, Int(Int32.max), 0]),
    ]
    // They must not be rejected.
    let baseline = ["[1000000, 60]", "[1000000, 61]", "[1000000, 3600]", "[10000000, 999999]", "100", "0"]
    for (key, list) in values {
      for value in list {
        var taken = 0
        for isLate in [false, true] {
          let session = try makeSession(
            width: 64, height: 48, specification: isLowLatency ? Self.lowLatency : [:],
            properties: [kVTCompressionPropertyKey_AverageBitRate: 200_000])
          defer { VTCompressionSessionInvalidate(session) }
          if isLate { _ = try encode(session, clip, count: 2) }
          guard VTSessionSetProperty(session, key: key, value: value as CFTypeRef) == noErr else { continue }
          taken += 1
          #expect(VTCompressionSessionPrepareToEncodeFrames(session) == noErr, "\(key) \(value)")
          let collector = Collector()
          _ = try encode(session, clip, count: 3, from: 2, into: collector)
          #expect(collector.all.count == 3, "\(key) \(value)")
        }
        #expect(taken == 0 || taken == 2, "\(key) \(value): the same at all times")
        if baseline.contains(String(describing: value)) { #expect(taken == 2, "\(key) \(value)") }
      }
    }
  }

  @Test func limitsOverLongTimesHold() throws {
    let clip = TestClip(width: 64, height: 48)
    // Half of what the average would take.
    for specification in [[:], Self.lowLatency] {
      let session = try makeSession(
        width: 64, height: 48, specification: specification,
        properties: [
          kVTCompressionPropertyKey_AverageBitRate: 400_000,
          kVTCompressionPropertyKey_ExpectedFrameRate: 30,
          kVTCompressionPropertyKey_DataRateLimits: [50_000, 120],
        ])
      let samples = try encode(session, clip, count: 90)
      let bytes = samples.reduce(0) { $0 + $1.bytes.count }
      #expect(bytes <= 50_000 && bytes > 1000, "\(bytes)")
      VTCompressionSessionInvalidate(session)
    }
  }

  private static func description(_ sample: CMSampleBuffer, _ key: CFString) -> AnyObject? {
    sample.formatDescription.flatMap { CMFormatDescriptionGetExtension($0, extensionKey: key) } as AnyObject?
  }

  @Test func whatTheDescriptionSaysFollowsThePropertiesFromTheNextKeyFrameOn() throws {
    let clip = TestClip(width: 64, height: 48)
    let aperture = kVTCompressionPropertyKey_CleanAperture
    let session = try makeSession(width: 64, height: 48)
    defer { VTCompressionSessionInvalidate(session) }
    func frames(_ from: Int) throws -> (key: AnyObject?, others: [AnyObject?]) {
      let samples = try encode(session, clip, count: 3, from: from) {
        $0 == from ? [kVTEncodeFrameOptionKey_ForceKeyFrame: true] : nil
      }
      let ordered = samples.map { Self.description($0, kCMFormatDescriptionExtension_CleanAperture) }
      #expect(samples[0].isSync)
      return (ordered[0], Array(ordered.dropFirst()))
    }
    #expect(try frames(0).key == nil)
    for (number, width) in [60, 32].enumerated() {
      let value: [CFString: Any] = [
        kCMFormatDescriptionKey_CleanApertureWidth: width, kCMFormatDescriptionKey_CleanApertureHeight: 40,
        kCMFormatDescriptionKey_CleanApertureHorizontalOffset: 0,
        kCMFormatDescriptionKey_CleanApertureVerticalOffset: 0,
      ]
      #expect(VTSessionSetProperty(session, key: aperture, value: value as CFDictionary) == noErr)
      // Not before a key frame.
      let between = try encode(session, clip, count: 2, from: 10 * number + 3)
      let old = between.filter { !$0.isSync }.map {
        (Self.description($0, kCMFormatDescriptionExtension_CleanAperture) as? NSDictionary)?[
          kCMFormatDescriptionKey_CleanApertureWidth] as? Int
      }
      #expect(old.allSatisfy { $0 != width })
      let (key, others) = try frames(10 * number + 5)
      for entry in [key] + others {
        #expect(
          (entry as? NSDictionary)?[kCMFormatDescriptionKey_CleanApertureWidth] as? Int == width)
      }
    }
    #expect(VTSessionSetProperty(session, key: aperture, value: nil) == noErr)
    #expect(try frames(30).key == nil)
  }

  @Test func staticMetadataInTheDescriptionIsThatOfTheStream() throws {
    let clip = TestClip(width: 64, height: 48)
    let key = kVTCompressionPropertyKey_MasteringDisplayColorVolume
    let session = try makeSession(width: 64, height: 48)
    defer { VTCompressionSessionInvalidate(session) }
    for (number, byte) in ([1, 7] as [UInt8]).enumerated() {
      let value = Data(repeating: byte, count: 24)
      #expect(VTSessionSetProperty(session, key: key, value: value as NSData) == noErr)
      let samples = try encode(session, clip, count: 2, from: 2 * number) { _ in
        [kVTEncodeFrameOptionKey_ForceKeyFrame: true]
      }
      for sample in samples {
        #expect(sample.isSync)
        #expect(
          Self.description(sample, kCMFormatDescriptionExtension_MasteringDisplayColorVolume) as? Data
            == value)
      }
    }
  }

  /// Small integers are none of the Booleans, however a number is stored.
  @Test func numbersOfEveryWidthAreNoBooleans() throws {
    let session = try makeSession(width: 64, height: 48, specification: Self.lowLatency)
    defer { VTCompressionSessionInvalidate(session) }
    var bytes: (Int8, Int16, Int32, Int64) = (30, 30, 30, 30)
    let numbers = [
      CFNumberCreate(nil, .sInt8Type, &bytes.0), CFNumberCreate(nil, .sInt16Type, &bytes.1),
      CFNumberCreate(nil, .sInt32Type, &bytes.2), CFNumberCreate(nil, .sInt64Type, &bytes.3),
    ]
    for number in numbers {
      let number = try #require(number)
      #expect(
        VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MaxAllowedFrameQP, value: number)
          == noErr)
      #expect(
        VTSessionSetProperty(session, key: kVTCompressionPropertyKey_RealTime, value: number)
          == kVTParameterErr)
    }
    #expect(
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MaxAllowedFrameQP, value: kCFBooleanTrue)
        != noErr)
    for truth in [kCFBooleanTrue as AnyObject, NSNumber(value: true), true as AnyObject, 1 as AnyObject] {
      #expect(VTSessionSetProperty(session, key: kVTCompressionPropertyKey_RealTime, value: truth) == noErr)
    }
  }
}
