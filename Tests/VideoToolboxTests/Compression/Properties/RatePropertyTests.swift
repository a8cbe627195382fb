// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing
import VideoToolbox

/// The effect of the rate control properties on the sizes of frames, also when they change between
/// two frames.
@Suite(.serialized) struct RatePropertyTests {
  static let codecs = [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC]
  static let clip = TestClip(noise: 16)
  static var fast: [CFString: Any] {
    [
      kVTCompressionPropertyKey_ExpectedFrameRate: 30,
      kVTCompressionPropertyKey_PrioritizeEncodingSpeedOverQuality: true,
    ]
  }

  /// Encodes frames; half-way, `change` sets a property.
  static func encodeWithChange(
    _ session: VTCompressionSession, count: Int, change: () -> OSStatus
  ) throws -> [CMSampleBuffer] {
    try encode(session, clip, count: count) { index in
      if index == count / 2 { try check(change(), "change") }
      return nil
    }
  }

  static func rate(_ codec: CMVideoCodecType, _ properties: [CFString: Any], count: Int = 60) throws -> Double
  {
    let session = try makeSession(codec, properties: fast.merging(properties) { $1 })
    return RateMeasure(try encode(session, clip, count: count), frameDuration: 1.0 / 30).bitRate
  }

  @Test(arguments: codecs) func qualityAndQuantizerLimitsDecideOnTheRate(_ codec: CMVideoCodecType) throws {
    let rates = try [0.2, 0.5, 0.8].map { try Self.rate(codec, [kVTCompressionPropertyKey_Quality: $0]) }
    #expect(rates[0] < rates[1] / 1.5 && rates[1] < rates[2] / 1.5)
    // With room for 4 Mb/s, no quantiser below 40 leaves most of it unused; with 100 kb/s, none
    // above 20 bursts it.
    let coarse = try Self.rate(
      codec,
      [kVTCompressionPropertyKey_AverageBitRate: 4_000_000, kVTCompressionPropertyKey_MinAllowedFrameQP: 40])
    #expect(coarse < 1_500_000)
    let fine = try Self.rate(
      codec,
      [kVTCompressionPropertyKey_AverageBitRate: 100_000, kVTCompressionPropertyKey_MaxAllowedFrameQP: 20])
    #expect(fine > 800_000)
  }

  /// A leaky bucket, filled at the highest rate: it never runs empty.
  @Test(arguments: codecs) func theBufferModelNeverRunsEmpty(_ codec: CMVideoCodecType) throws {
    let (rate, highest, seconds, start) = (500_000.0, 700_000.0, 1.0, 60.0)
    let clip = TestClip(noise: 16, cutEvery: 25)
    let session = try makeSession(
      codec,
      properties: Self.fast.merging([
        kVTCompressionPropertyKey_VariableBitRate: Int(rate),
        kVTCompressionPropertyKey_VBVMaxBitRate: Int(highest),
        kVTCompressionPropertyKey_VBVBufferDuration: seconds,
        kVTCompressionPropertyKey_VBVInitialDelayPercentage: start,
      ]) { $1 })
    let samples = try encode(session, clip, count: 200)
    let measure = RateMeasure(samples, frameDuration: 1.0 / 30)
    #expect(abs(measure.bitRate / rate - 1) < 0.05, "\(measure.bitRate)")
    let size = highest * seconds
    var fill = size * start / 100
    var minimum = fill
    for entry in measure.entries {
      fill -= Double(entry.bytes) * 8
      minimum = min(minimum, fill)
      fill = min(fill + highest / 30, size)
    }
    #expect(minimum >= 0, "\(minimum)")
  }

  @Test(arguments: codecs) func bitRateChangesWhileEncoding(_ codec: CMVideoCodecType) throws {
    let session = try makeSession(
      codec, properties: Self.fast.merging([kVTCompressionPropertyKey_AverageBitRate: 1_000_000]) { $1 })
    let samples = try Self.encodeWithChange(session, count: 300) {
      VTSessionSetProperty(session, key: kVTCompressionPropertyKey_AverageBitRate, value: 400_000 as NSNumber)
    }
    func rate(_ range: Range<Double>) -> Double {
      let part = samples.filter { range.contains($0.presentationTimeStamp.seconds) }
      return RateMeasure(part, frameDuration: 1.0 / 30).bitRate
    }
    #expect(abs(rate(0..<5) / 1_000_000 - 1) < 0.12, "\(rate(0..<5))")
    #expect(abs(rate(6..<10) / 400_000 - 1) < 0.12, "\(rate(6..<10))")
    #expect(samples.count == 300)
    #expect(try PropertyEffectTests.probe(samples, codec).frames.count == 300)
  }

  @Test(arguments: codecs) func limitsAndQuantizersChangeWhileEncoding(_ codec: CMVideoCodecType) throws {
    let session = try makeSession(
      codec, properties: Self.fast.merging([kVTCompressionPropertyKey_AverageBitRate: 2_000_000]) { $1 })
    let samples = try Self.encodeWithChange(session, count: 180) {
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_DataRateLimits, value: [50_000, 1.0] as NSArray)
    }
    let late = samples.filter { $0.presentationTimeStamp.seconds >= 3.5 }
    let maximum = RateMeasure(late, frameDuration: 1.0 / 30).windows(of: 1).max() ?? 0
    #expect(maximum <= 50_000, "\(maximum)")
    #expect(samples.count == 180)

    let other = try makeSession(
      codec, properties: Self.fast.merging([kVTCompressionPropertyKey_AverageBitRate: 2_000_000]) { $1 })
    let coarser = try Self.encodeWithChange(other, count: 120) {
      VTSessionSetProperty(other, key: kVTCompressionPropertyKey_MinAllowedFrameQP, value: 42 as NSNumber)
    }
    func bytes(_ range: Range<Double>) -> Int {
      PropertyEffectTests.bytes(coarser.filter { range.contains($0.presentationTimeStamp.seconds) })
    }
    #expect(bytes(2.5..<4) * 2 < bytes(0.5..<2))
  }

  @Test(arguments: codecs) func optionsOfAFrameHoldForThatFrame(_ codec: CMVideoCodecType) throws {
    let session = try makeSession(
      codec,
      properties: Self.fast.merging([
        kVTCompressionPropertyKey_AllowFrameReordering: false, kVTCompressionPropertyKey_Quality: 0.4,
      ]) { $1 })
    let clip = TestClip(noise: 16)
    let samples = try encode(session, clip, count: 40) { index in
      switch index {
      case 13: [kVTEncodeFrameOptionKey_ForceKeyFrame: true]
      case 20: [kVTEncodeFrameOptionKey_BaseFrameQP: 12]
      case 25: [kVTEncodeFrameOptionKey_BaseFrameQP: 48]
      default: nil
      }
    }
    #expect(samples.indices.filter { samples[$0].isSync } == [0, 13])
    let sizes = samples.map { CMSampleBufferGetTotalSampleSize($0) }
    let isOwn = codec == kCMVideoCodecType_H264 && !usesX264
    #expect(2 * sizes[20] > (isOwn ? 5 : 6) * sizes[19])
    #expect(sizes[25] * 3 < sizes[24])
  }
}
