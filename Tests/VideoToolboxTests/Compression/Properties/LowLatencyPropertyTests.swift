// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import TestSupport
import Testing
import VideoToolbox

/// Requests that the low-latency mode refuses, and how it continues afterwards.
@Suite struct LowLatencyPropertyTests {
  private func session(
    _ properties: [CFString: Any] = [:], isLowLatency: Bool = true, size: (Int, Int) = (320, 240)
  ) throws -> VTCompressionSession {
    try makeSession(
      width: size.0, height: size.1,
      specification: isLowLatency
        ? [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
        : [kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.h264"],
      properties: properties)
  }

  @Test("Each property takes the values of its range and no others")
  func eachPropertyTakesTheValuesOfItsRangeAndNoOthers() throws {
    let cases: [(key: CFString, good: [Any], bad: [Any])] = [
      (
        kVTCompressionPropertyKey_BaseLayerFrameRateFraction, [0.25, 0.5, 1, 1.0],
        [0, 0.3, 1.5, -1, "half", Double.nan]
      ),
      (
        kVTCompressionPropertyKey_BaseLayerBitRateFraction, [0, 0.6, 0.8, 1],
        [-0.1, 1.01, "most", Double.nan]
      ),
      (kVTCompressionPropertyKey_MaxAllowedFrameQP, [1, 30, 51], [0, 52, -3, "low"]),
      (kVTCompressionPropertyKey_MinAllowedFrameQP, [0, 10, 1], [-1, 52, "low"]),
      (kVTCompressionPropertyKey_EnableLTR, [true, false], ["yes", [1]]),
      (kVTCompressionPropertyKey_AverageBitRate, [100_000, 1], [-1, 1e12, "fast"]),
      (kVTCompressionPropertyKey_ExpectedFrameRate, [30, 29.97, 0], [-1, 5000, "often"]),
      (
        kVTCompressionPropertyKey_DataRateLimits, [[50_000, 1], [5000, 0.1, 50_000, 1]],
        [[1], [0, 1], [100, 0], 5, ["a", 1]]
      ),
      (kOVTCompressionPropertyKey_IntraRefreshFrameCount, [0, 30], [-1, 1001, "some"]),
      (kOVTCompressionPropertyKey_WritesTemporalLayerPrefix, [true, false], ["yes"]),
      (
        kOVTCompressionPropertyKey_MaximumQueueDelay, [0.02, 10, 0.15],
        [0, -0.3, 0.01, 10.5, Double.nan, Double.infinity, "short", true]
      ),
      (
        kOVTCompressionPropertyKey_MaximumStillPSNR, [30, 100, 41.5],
        [0, -46, 29.9, 100.5, Double.nan, Double.infinity, "sharp", true]
      ),
    ]
    for (key, good, bad) in cases {
      let session = try session()
      for value in good {
        #expect(
          VTSessionSetProperty(session, key: key, value: value as CFTypeRef) == noErr, "\(key) \(value)")
      }
      for value in bad {
        let status = VTSessionSetProperty(session, key: key, value: value as CFTypeRef)
        #expect(
          status == kVTParameterErr || status == kVTPropertyNotSupportedErr, "\(key) \(value): \(status)")
      }
      // A refused change has no effect.
      let now = try property(session, key)
      let wanted = good[good.count - 1] as CFTypeRef as? NSObject
      #expect((now as? NSObject)?.isEqual(wanted) == true, "\(key) is \(String(describing: now))")
    }
  }

  @Test("Outside the mode its properties are not supported")
  func outsideTheModeItsPropertiesAreNotSupported() throws {
    let session = try session(isLowLatency: false)
    for key in [
      kVTCompressionPropertyKey_BaseLayerFrameRateFraction,
      kVTCompressionPropertyKey_BaseLayerBitRateFraction,
      kVTCompressionPropertyKey_EnableLTR, kOVTCompressionPropertyKey_IntraRefreshFrameCount,
      kOVTCompressionPropertyKey_WritesTemporalLayerPrefix,
    ] {
      // For the switches it is true; layers with all frames in the lowest are none, which is so
      // already.
      #expect(
        VTSessionSetProperty(session, key: key, value: NSNumber(value: 0.5)) == kVTPropertyNotSupportedErr
          && VTSessionSetProperty(session, key: key, value: NSNumber(value: true))
            == kVTPropertyNotSupportedErr
      )
      #expect(throws: SessionError.self) { _ = try property(session, key) }
    }
    let clip = TestClip()
    for options in [
      [kVTEncodeFrameOptionKey_ForceLTRRefresh: true], [kVTEncodeFrameOptionKey_AcknowledgedLTRTokens: [1]],
      [kOVTEncodeFrameOptionKey_LostFrameTimes: [NSDictionary]()],
    ] as [[CFString: Any]] {
      let status = VTCompressionSessionEncodeFrame(
        session, imageBuffer: clip.buffer(0), presentationTimeStamp: clip.time(0), duration: .invalid,
        frameProperties: options as CFDictionary, infoFlagsOut: nil
      ) { _, _, _ in }
      #expect(status == kVTPropertyNotSupportedErr)
    }
  }

  @Test("A frame whose options make no sense is refused, and the next is encoded as if nothing had been")
  func aFrameWhoseOptionsMakeNoSenseIsRefused() throws {
    let session = try session([
      kVTCompressionPropertyKey_AverageBitRate: 300_000, kVTCompressionPropertyKey_EnableLTR: true,
    ])
    let clip = TestClip()
    let collector = Collector()
    _ = try encode(session, clip, count: 3, into: collector)
    let bad: [[CFString: Any]] = [
      [kVTEncodeFrameOptionKey_AcknowledgedLTRTokens: 7],
      [kVTEncodeFrameOptionKey_AcknowledgedLTRTokens: ["a"]],
      [kVTEncodeFrameOptionKey_ForceLTRRefresh: "now"], [kVTEncodeFrameOptionKey_ForceKeyFrame: [1]],
      [kOVTEncodeFrameOptionKey_LostFrameTimes: 3], [kOVTEncodeFrameOptionKey_LostFrameTimes: ["yesterday"]],
    ]
    for options in bad {
      let status = VTCompressionSessionEncodeFrame(
        session, imageBuffer: clip.buffer(3), presentationTimeStamp: clip.time(3), duration: .invalid,
        frameProperties: options as CFDictionary, infoFlagsOut: nil
      ) { status, flags, sample in collector.add(status, flags, sample) }
      #expect(status == kVTParameterErr || status == kVTPropertyNotSupportedErr, "\(options): \(status)")
    }
    _ = try encode(session, clip, count: 5, from: 3, into: collector)
    #expect(collector.samples.count == 8 && collector.samples.dropFirst().allSatisfy { !$0.isSync })
    guard StreamProbe.isAvailable else { return }
    let probe = try StreamProbe(annexB(collector.samples))
    #expect(probe.frames.count == 8 && probe.errors.isEmpty)
  }

  @Test("Without long-term references a refresh is a key frame, and tokens say nothing")
  func withoutLongTermReferencesARefreshIsAKeyFrame() throws {
    let session = try session([kVTCompressionPropertyKey_AverageBitRate: 300_000])
    let clip = TestClip()
    let samples = try encode(session, clip, count: 6) { index in
      index == 3
        ? [
          kVTEncodeFrameOptionKey_ForceLTRRefresh: true,
          kVTEncodeFrameOptionKey_AcknowledgedLTRTokens: [5, -1],
        ]
        : nil
    }
    #expect(samples.map(\.isSync) == [true, false, false, true, false, false])
    let token = kVTSampleAttachmentKey_RequireLTRAcknowledgementToken
    #expect(samples.allSatisfy { $0.firstAttachments[token] == nil })
  }

  @Test(
    "The stream says which profile it is",
    arguments: [
      (kVTProfileLevel_H264_ConstrainedBaseline_AutoLevel as String, 66, UInt8(0xC0)),
      (kVTProfileLevel_H264_Baseline_AutoLevel as String, 66, 0xC0),
      (kVTProfileLevel_H264_Main_AutoLevel as String, 77, 0x40),
      (kVTProfileLevel_H264_High_AutoLevel as String, 100, 0x00),
      (kVTProfileLevel_H264_ConstrainedHigh_AutoLevel as String, 100, 0x0C),
    ])
  func theStreamSaysWhichProfileItIs(_ name: String, _ number: Int, _ flags: UInt8) throws {
    let session = try session([
      kVTCompressionPropertyKey_AverageBitRate: 300_000, kVTCompressionPropertyKey_ProfileLevel: name,
    ])
    let samples = try encode(session, TestClip(), count: 2)
    let sps = try #require(samples.first?.parameterSets.first { $0.first.map { $0 & 31 == 7 } ?? false })
    #expect(Int(sps[1]) == number && sps[2] & flags == flags)
    // Constrained High is distinguished from High by constraint_set4 and 5.
    if name == kVTProfileLevel_H264_High_AutoLevel as String { #expect(sps[2] & 0x0C != 0x0C) }
  }

  @Test("Rate, caps and layers change between two frames, without a key frame")
  func rateCapsAndLayersChangeBetweenFrames() throws {
    let session = try session([kVTCompressionPropertyKey_AverageBitRate: 800_000])
    let clip = TestClip()
    let collector = Collector()
    _ = try encode(session, clip, count: 40, complete: false, into: collector) { index in
      switch index {
      case 10:
        try check(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_AverageBitRate, value: 250_000 as CFNumber), "rate")
      case 15:
        try check(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_DataRateLimits, value: [15_000, 0.5] as CFArray), "limits"
        )
      case 20:
        try check(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_BaseLayerFrameRateFraction, value: 0.5 as CFNumber),
          "layers")
      case 25:
        try check(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_ExpectedFrameRate, value: 15 as CFNumber), "frame rate")
      case 30:
        try check(
          VTSessionSetProperty(
            session, key: kVTCompressionPropertyKey_MaxAllowedFrameQP, value: 40 as CFNumber), "cap")
      default: break
      }
      return nil
    }
    _ = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
    #expect(collector.all.count == 40 && collector.all.allSatisfy { $0.status == noErr })
    #expect(collector.samples.count { $0.isSync } == 1)
    #expect(
      collector.samples.prefix(20).allSatisfy { $0.flag(kCMSampleAttachmentKey_IsDependedOnByOthers) == true }
    )
    #expect(
      collector.samples.suffix(8).contains { $0.flag(kCMSampleAttachmentKey_IsDependedOnByOthers) == false })
  }

  @Test("The bound on the delay is reported where it holds unless set")
  func theBoundOnTheWaitIsReportedWhereItHoldsUnlessSet() throws {
    let key = kOVTCompressionPropertyKey_MaximumQueueDelay
    #expect(try property(session(), key) as? Double == 0.3)
    #expect(try property(session(isLowLatency: false), key) == nil)
  }

  @Test("The quality of still pictures is a property of the low-latency mode alone, and takes effect")
  func theQualityOfStillPicturesTakesEffect() throws {
    let key = kOVTCompressionPropertyKey_MaximumStillPSNR
    #expect(try property(session(), key) as? Double == 46)
    #expect(
      VTSessionSetProperty(try session(isLowLatency: false), key: key, value: 40 as CFNumber)
        == kVTPropertyNotSupportedErr)
    func finalQP(_ psnr: Double) throws -> Int {
      let session = try session()
      try #require(
        VTSessionSetProperty(
          session, key: kVTCompressionPropertyKey_AverageBitRate, value: 4_000_000 as CFNumber) == noErr)
      try #require(VTSessionSetProperty(session, key: key, value: psnr as CFNumber) == noErr)
      let clip = TestClip()
      let collector = Collector()
      for n in 0..<45 {
        // The first frame is coarser than either.
        let first = [kVTEncodeFrameOptionKey_BaseFrameQP: 40] as CFDictionary
        let status = VTCompressionSessionEncodeFrame(
          session, imageBuffer: clip.buffer(0), presentationTimeStamp: clip.time(n), duration: .invalid,
          frameProperties: n == 0 ? first : nil, infoFlagsOut: nil
        ) { status, flags, sample in collector.add(status, flags, sample) }
        try #require(status == noErr)
      }
      try #require(
        VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid) == noErr)
      let last = try #require(collector.samples.last)
      return try #require(last.firstAttachments[kOVTSampleAttachmentKey_HighestQP] as? NSNumber).intValue
    }
    #expect(try finalQP(34) == 28)
    #expect(try finalQP(46) == 16)
  }

  private func makeHEVCSession(_ specification: [CFString: Any]) throws -> VTCompressionSession? {
    var made: VTCompressionSession?
    let status = VTCompressionSessionCreate(
      allocator: nil, width: 320, height: 240, codecType: kCMVideoCodecType_HEVC,
      encoderSpecification: specification.merging(
        [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true], uniquingKeysWith: { $1 })
        as CFDictionary,
      imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
      compressionSessionOut: &made)
    // A build may lack the encoder.
    if status == kVTCouldNotFindVideoEncoderErr { return nil }
    let session: VTCompressionSession = try #require(made, "status \(status)")
    return session
  }

  /// Encodes 12 frames and expects each of them before the next goes in, with one key frame.
  private func expectFramesAtOnce(_ session: VTCompressionSession) throws -> [CMSampleBuffer] {
    try check(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_AverageBitRate, value: 300_000 as CFNumber), "rate")
    let collector = Collector()
    for index in 0..<12 {
      _ = try encode(session, TestClip(), count: 1, from: index, complete: false, into: collector)
      _ = VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: TestClip().time(index))
      #expect(collector.all.count == index + 1)
    }
    #expect(collector.samples.count { $0.isSync } == 1)
    #expect(collector.samples.allSatisfy { !$0.decodeTimeStamp.isNumeric })
    return collector.samples
  }

  @Test("HEVC in the mode is the package's own encoder: layers, long-term references, a cap on the QP")
  func hevcHasTheModesProperties() throws {
    guard let session = try makeHEVCSession([:]) else { return }
    let id = try property(session, kVTCompressionPropertyKey_EncoderID) as? String
    #expect(id == "org.openvideotoolbox.videoencoder.hevc.lowlatency")
    for (key, value) in [
      (kVTCompressionPropertyKey_BaseLayerFrameRateFraction, 0.5 as CFNumber),
      (kVTCompressionPropertyKey_EnableLTR, kCFBooleanTrue),
      (kVTCompressionPropertyKey_MaxAllowedFrameQP, 45 as CFNumber),
      (kOVTCompressionPropertyKey_IntraRefreshFrameCount, 10 as CFNumber),
    ] as [(CFString, CFTypeRef)] {
      #expect(VTSessionSetProperty(session, key: key, value: value) == noErr, "\(key)")
    }
    let samples = try expectFramesAtOnce(session)
    let first = try #require(samples.first)
    #expect(
      first.firstAttachments[kVTSampleAttachmentKey_RequireLTRAcknowledgementToken] is NSNumber,
      "\(first.firstAttachments)")
  }

  @Test("HEVC by libx265 in the mode: one in, one out; what it lacks is not supported")
  func x265GivesEachFrameAtOnceInLowLatency() throws {
    let id = "org.openvideotoolbox.videoencoder.hevc.x265.lowlatency"
    guard let session = try makeHEVCSession([kVTVideoEncoderSpecification_EncoderID: id]) else { return }
    for key in [
      kVTCompressionPropertyKey_BaseLayerFrameRateFraction, kVTCompressionPropertyKey_EnableLTR,
      kOVTCompressionPropertyKey_IntraRefreshFrameCount,
    ] {
      #expect(
        VTSessionSetProperty(session, key: key, value: NSNumber(value: true)) == kVTPropertyNotSupportedErr)
    }
    // It drops no frames, so that the rate would give way to it.
    #expect(
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_MaxAllowedFrameQP, value: 30 as CFNumber)
        == kVTPropertyNotSupportedErr)
    _ = try expectFramesAtOnce(session)
  }
}
