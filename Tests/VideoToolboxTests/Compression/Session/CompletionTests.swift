// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import TestSupport
import VideoToolbox

/// How long frames stay in the encoder, and what it takes to get them out.
@Suite(.serialized) struct CompletionTests {
  static let codecs = [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC]

  private static var properties: [CFString: Any] {
    [
      kVTCompressionPropertyKey_AverageBitRate: 500_000, kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality: true,
    ]
  }

  private func complete(_ session: VTCompressionSession, _ time: CMTime = .invalid) throws {
    try check(VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: time), "complete")
  }

  private func waitFor(_ count: Int, of collector: Collector) {
    blockUntil { collector.samples.count >= count }
  }

  private func expectWhole(_ samples: [CMSampleBuffer], _ codec: CMVideoCodecType, count: Int) throws {
    #expect(samples.count == count)
    let times = samples.map { $0.decodeTimeStamp.isNumeric ? $0.decodeTimeStamp : $0.presentationTimeStamp }
    for (a, b) in zip(times, times.dropFirst()) { #expect(a < b) }
    #expect(
      samples.allSatisfy { !$0.decodeTimeStamp.isNumeric || $0.decodeTimeStamp <= $0.presentationTimeStamp })
    guard StreamProbe.isAvailable else { return }
    let probe = try StreamProbe(annexB(samples), hevc: codec == kCMVideoCodecType_HEVC)
    #expect(probe.errors.isEmpty, "\(probe.errors)")
    #expect(probe.frames.count == count)
  }

  @Test("In real time no more than two frames wait, unless more are asked for", arguments: codecs)
  func inRealTimeNoMoreThanTwoFramesWait(_ codec: CMVideoCodecType) throws {
    var properties = Self.properties
    properties[kVTCompressionPropertyKey_RealTime] = true
    var collector = Collector()
    let session = try makeSession(codec, properties: properties)
    _ = try encode(session, TestClip(), count: 20, complete: false, into: collector)
    waitFor(18, of: collector)
    #expect(collector.samples.count >= 18)
    try complete(session)
    try expectWhole(collector.samples, codec, count: 20)

    properties[kVTCompressionPropertyKey_SuggestedLookAheadFrameCount] = 8
    collector = Collector()
    let patient = try makeSession(codec, properties: properties)
    _ = try encode(patient, TestClip(), count: 30, complete: false, into: collector)
    waitFor(30 - 11, of: collector)
    letOthersRun(turns: 300_000)
    #expect((30 - 11...30 - 3).contains(collector.samples.count), "\(collector.samples.count)")
    try complete(patient)
    try expectWhole(collector.samples, codec, count: 30)
  }

  @Test(
    "Frames are completed up to a time, and the stream continues as if nothing had been",
    arguments: usesX264 ? [kCMVideoCodecType_HEVC] : codecs)
  func framesAreCompletedUpToATimeAndTheStreamGoesOn(_ codec: CMVideoCodecType) throws {
    let collector = Collector()
    let clip = TestClip()
    let session = try makeSession(codec, properties: Self.properties)
    _ = try encode(session, clip, count: 40, complete: false, into: collector)
    try complete(session, clip.time(29))
    let early = collector.samples
    #expect(Set(early.map(\.presentationTimeStamp)).isSuperset(of: (0..<30).map(clip.time)))
    #expect(early.count < 40)
    try complete(session)
    #expect(collector.samples.count == 40)
    _ = try encode(session, clip, count: 20, from: 40, complete: false, into: collector)
    // The look-ahead is filled again.
    letOthersRun(turns: 300_000)
    #expect(collector.samples.count < 60)
    try complete(session)
    try expectWhole(collector.samples, codec, count: 60)
    #expect(collector.samples.filter(\.isSync).count == 1)
    let late = collector.samples.dropFirst(40).map(\.presentationTimeStamp)
    #expect(late != late.sorted())
  }

  @Test(
    "libx264 inserts one key frame, holds nothing after it, and looks ahead again from the next on",
    .enabled(if: usesX264))
  func libx264PaysForCompletionWithOneKeyFrame() throws {
    let collector = Collector()
    let clip = TestClip()
    let session = try makeSession(kCMVideoCodecType_H264, properties: Self.properties)
    _ = try encode(session, clip, count: 30, complete: false, into: collector)
    try complete(session, clip.time(9))
    #expect(Set(collector.samples.map(\.presentationTimeStamp)).isSuperset(of: (0..<10).map(clip.time)))
    for index in 30..<45 {
      _ = try encode(session, clip, count: 1, from: index, complete: false, into: collector)
      try complete(session)
      #expect(collector.samples.count == index + 1)
    }
    #expect(collector.samples.indices.filter { collector.samples[$0].isSync } == [0, 30])
    // The first key frame that is asked for keeps to it, since frames were completed before it; the
    // second does not.
    for first in [45, 55] {
      _ = try encode(session, clip, count: 10, from: first, complete: false, into: collector) {
        $0 == first ? [kVTEncodeFrameOptionKey_ForceKeyFrame: true] : nil
      }
      if first == 45 {
        waitFor(55, of: collector)
        #expect(collector.samples.count == 55)
      }
    }
    #expect(collector.samples.count < 65)
    try complete(session)
    try expectWhole(collector.samples, kCMVideoCodecType_H264, count: 65)
    #expect(collector.samples.indices.filter { collector.samples[$0].isSync } == [0, 30, 45, 55])
    let late = collector.samples.dropFirst(55).map(\.presentationTimeStamp)
    #expect(late != late.sorted())
  }

  @Test("Completed one by one from the first on, at an uneven pace", arguments: codecs, [false, true])
  func framesCanBeCompletedOneByOneAtAnUnevenPace(_ codec: CMVideoCodecType, _ isRealTime: Bool) throws {
    let collector = Collector()
    let clip = TestClip()
    var properties = Self.properties
    properties[kVTCompressionPropertyKey_RealTime] = isRealTime
    properties[kVTCompressionPropertyKey_AverageBitRate] = nil
    properties[kVTCompressionPropertyKey_Quality] = 0.4
    let session = try makeSession(codec, properties: properties)
    let seconds = [0, 1, 1.25, 1.3, 3, 3.5, 3.6, 8, 8.1, 8.2, 8.3, 8.5]
    for (index, second) in seconds.enumerated() {
      let time = CMTime(seconds: second, preferredTimescale: 600)
      try check(
        VTCompressionSessionEncodeFrame(
          session, imageBuffer: clip.buffer(index), presentationTimeStamp: time, duration: .invalid,
          frameProperties: nil, infoFlagsOut: nil
        ) { status, flags, sample in collector.add(status, flags, sample) }, "frame \(index)")
      try complete(session, time)
      #expect(collector.samples.last?.presentationTimeStamp == time)
      #expect(collector.samples.count == index + 1)
    }
    try expectWhole(collector.samples, codec, count: seconds.count)
    let keys = collector.samples.indices.filter { collector.samples[$0].isSync }
    #expect(keys == (codec == kCMVideoCodecType_H264 && usesX264 && !isRealTime ? [0, 1] : [0]))
  }

  @Test("Open groups of pictures are HEVC's default")
  func openGroupsOfPicturesAreHEVCsDefault() throws {
    for codec in Self.codecs {
      let session = try makeSession(codec)
      let value = try property(session, kVTCompressionPropertyKey_AllowOpenGOP)
      #expect((value as? NSNumber)?.boolValue == (codec == kCMVideoCodecType_HEVC))
    }
    // CRA pictures (21) in place of IDR pictures (19, 20).
    var properties = Self.properties
    properties[kVTCompressionPropertyKey_MaxKeyFrameInterval] = 12
    let session = try makeSession(kCMVideoCodecType_HEVC, properties: properties)
    let samples = try encode(session, TestClip(), count: 40)
    let types = samples.filter(\.isSync).compactMap { $0.bytes.dropFirst(4).first.map { $0 >> 1 } }
    #expect(types.count >= 4 && types.dropFirst().allSatisfy { $0 == 21 }, "\(types)")
    try expectWhole(samples, kCMVideoCodecType_HEVC, count: 40)
  }
}
