// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import TestSupport
import Testing
import VideoToolbox

/// The low-latency mode as a program sees it.
@Suite struct LowLatencySessionTests {
  private static var lowLatency: [CFString: Any] {
    [kVTVideoEncoderSpecification_EnableLowLatencyRateControl: true]
  }

  private func session(_ properties: [CFString: Any] = [:]) throws -> VTCompressionSession {
    try makeSession(specification: Self.lowLatency, properties: properties)
  }

  @Test("The mode chooses this package's encoder; what it cannot do is not supported")
  func theModeChoosesThisPackagesEncoder() throws {
    let session = try session()
    let id = try property(session, kVTCompressionPropertyKey_EncoderID) as? String
    #expect(id == "org.openvideotoolbox.videoencoder.h264.lowlatency")
    for key in [
      kVTCompressionPropertyKey_AllowFrameReordering, kVTCompressionPropertyKey_AllowOpenGOP,
      kVTCompressionPropertyKey_SuggestedLookAheadFrameCount, kVTCompressionPropertyKey_ConstantBitRate,
    ] {
      let status = VTSessionSetProperty(session, key: key, value: NSNumber(value: 1))
      #expect(status == kVTPropertyNotSupportedErr, "\(key)")
    }
    // Values out of range.
    for (key, value) in [
      (kVTCompressionPropertyKey_BaseLayerFrameRateFraction, 0.4),
      (kVTCompressionPropertyKey_BaseLayerBitRateFraction, 1.2),
      (kVTCompressionPropertyKey_MaxAllowedFrameQP, 52.0),
      (kOVTCompressionPropertyKey_Effort, 10.0),
    ] {
      let status = VTSessionSetProperty(session, key: key, value: NSNumber(value: value))
      #expect(status == kVTParameterErr, "\(key)")
    }
    let extended = VTSessionSetProperty(
      session, key: kVTCompressionPropertyKey_ProfileLevel, value: kVTProfileLevel_H264_Extended_AutoLevel)
    #expect(extended == kVTParameterErr)
  }

  @Test("Each frame comes out before the next goes in, and none but the first is a key frame")
  func eachFrameComesOutBeforeTheNextGoesIn() throws {
    let session = try session([
      kVTCompressionPropertyKey_AverageBitRate: 500_000, kVTCompressionPropertyKey_MaxFrameDelayCount: 0,
    ])
    let clip = TestClip()
    let collector = Collector()
    for index in 0..<30 {
      _ = try encode(session, clip, count: 1, from: index, complete: false, into: collector)
      #expect(collector.all.count == index + 1)
    }
    #expect(collector.samples.map(\.isSync) == [true] + Array(repeating: false, count: 29))
    #expect(collector.samples.allSatisfy { !$0.decodeTimeStamp.isNumeric })
  }

  @Test("HEVC too makes no key frame unasked, however long the call and whatever it shows")
  func hevcMakesNoKeyFrameUnasked() throws {
    let session = try makeSession(
      kCMVideoCodecType_HEVC, width: 96, height: 64, specification: Self.lowLatency,
      properties: [kVTCompressionPropertyKey_AverageBitRate: 100_000])
    let samples = try encode(session, TestClip(width: 96, height: 64, cutEvery: 90), count: 560) {
      $0 == 300 ? [kVTEncodeFrameOptionKey_ForceKeyFrame: true] : nil
    }
    #expect(samples.count == 560)
    #expect(samples.indices.filter { samples[$0].isSync } == [0, 300])
  }

  @Test("Half the frames are the base layer; only they are depended on", arguments: [0.5, 0.25])
  func halfTheFramesAreTheBaseLayer(_ fraction: Double) throws {
    let session = try session([
      kVTCompressionPropertyKey_AverageBitRate: 500_000,
      kVTCompressionPropertyKey_BaseLayerFrameRateFraction: fraction,
    ])
    let samples = try encode(session, TestClip(), count: 24)
    let period = Int(1 / fraction)
    for (index, sample) in samples.enumerated() {
      #expect(sample.flag(kCMSampleAttachmentKey_IsDependedOnByOthers) == (index % period == 0))
    }
    // Somebody else decodes the base layer alone without a complaint.
    guard StreamProbe.isAvailable else { return }
    let base = samples.enumerated().filter { $0.offset % period == 0 }.map(\.element)
    let probe = try StreamProbe(annexB(base))
    #expect(probe.frames.count == base.count)
    #expect(probe.errors.isEmpty, "\(probe.errors)")
  }

  @Test("Tokens come with long-term references; a refresh after an acknowledgement is not a key frame")
  func tokensComeWithLongTermReferences() throws {
    let session = try session([
      kVTCompressionPropertyKey_AverageBitRate: 500_000, kVTCompressionPropertyKey_EnableLTR: true,
    ])
    let clip = TestClip()
    let collector = Collector()
    func token(_ sample: CMSampleBuffer) -> NSNumber? {
      sample.firstAttachments[kVTSampleAttachmentKey_RequireLTRAcknowledgementToken] as? NSNumber
    }
    _ = try encode(session, clip, count: 12, into: collector)
    let tokens = collector.samples.compactMap(token)
    #expect(tokens.count >= 2)
    #expect(Set(tokens).count == tokens.count)
    // Nothing acknowledged yet: a key frame.
    _ = try encode(session, clip, count: 1, from: 12, into: collector) { _ in
      [kVTEncodeFrameOptionKey_ForceLTRRefresh: true]
    }
    #expect(collector.samples[12].isSync)
    let fresh = try #require(token(collector.samples[12]))
    _ = try encode(session, clip, count: 8, from: 13, into: collector)
    _ = try encode(session, clip, count: 1, from: 21, into: collector) { _ in
      // In any order, with some that are old and some that never were.
      [
        kVTEncodeFrameOptionKey_AcknowledgedLTRTokens: [fresh, tokens[0], NSNumber(value: -7)],
        kVTEncodeFrameOptionKey_ForceLTRRefresh: true,
      ]
    }
    #expect(!collector.samples[21].isSync)
    // Frames 13 to 20 are lost, and the rest decodes.
    guard StreamProbe.isAvailable else { return }
    _ = try encode(session, clip, count: 8, from: 22, into: collector)
    let received = Array(collector.samples[12...12] + collector.samples[21...])
    let probe = try StreamProbe(annexB(received))
    #expect(probe.frames.count == received.count)
  }

  @Test("Times of lost frames are dictionaries of times")
  func timesOfLostFramesAreDictionariesOfTimes() throws {
    let session = try session([kVTCompressionPropertyKey_AverageBitRate: 500_000])
    let clip = TestClip()
    let collector = Collector()
    _ = try encode(session, clip, count: 10, into: collector)
    let lost = [8, 9].map { CMTimeCopyAsDictionary(clip.time($0), allocator: nil)! }
    _ = try encode(session, clip, count: 1, from: 10, into: collector) { _ in
      [kOVTEncodeFrameOptionKey_LostFrameTimes: lost]
    }
    #expect(!collector.samples[10].isSync)
    let status = VTCompressionSessionEncodeFrame(
      session, imageBuffer: clip.buffer(11), presentationTimeStamp: clip.time(11), duration: .invalid,
      frameProperties: [kOVTEncodeFrameOptionKey_LostFrameTimes: [1, 2]] as CFDictionary, infoFlagsOut: nil
    ) { _, _, _ in }
    #expect(status == kVTParameterErr)
  }

  @Test("A cap on the QP drops frames rather than blur them")
  func aCapOnTheQPDropsFramesRatherThanBlurThem() throws {
    let session = try session([
      kVTCompressionPropertyKey_AverageBitRate: 150_000, kVTCompressionPropertyKey_MaxAllowedFrameQP: 26,
    ])
    var clip = TestClip()
    clip.noise = 60
    let collector = Collector()
    let samples = try encode(session, clip, count: 60, into: collector)
    let dropped = collector.all.filter { $0.sample == nil }
    #expect(!dropped.isEmpty && !samples.isEmpty)
    #expect(dropped.allSatisfy { $0.status == noErr && $0.flags.contains(.frameDropped) })
    for sample in samples {
      let qp = sample.firstAttachments[kOVTSampleAttachmentKey_HighestQP] as? NSNumber
      #expect((qp?.intValue ?? 99) <= 26)
    }
  }
}
