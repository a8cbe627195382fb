// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import H264Codec
import TestSupport
import Testing
import VideoToolbox

/// The level in the parameter sets allows the rates that were asked for.
@Suite(.enabled(if: StreamProbe.isAvailable)) struct LevelTests {
  typealias Encoder = PictureSizeTests.Encoder

  /// level_idc of H.264, or ten times the level of HEVC.
  private static func level(_ sample: CMSampleBuffer?, _ encoder: Encoder) throws -> Int {
    let sets = try #require(sample?.parameterSets)
    guard encoder.isHEVC else { return Int(try #require(sets.first?[3])) }
    let set = try #require(sets.first { $0.first.map { $0 >> 1 == 33 } == true })
    // Without emulation prevention: a 3 after two zeros.
    var plain: [UInt8] = []
    for byte in set where !(byte == 3 && plain.suffix(2) == [0, 0]) { plain.append(byte) }
    // After the header of two bytes, one with the sub-layers, one with the tier and ten with
    // flags.
    return Int(plain[3 + 11]) / 3
  }

  private static func properties(_ rate: Int, _ more: [CFString: Any] = [:]) -> [CFString: Any] {
    var properties: [CFString: Any] = [
      kVTCompressionPropertyKey_AverageBitRate: rate,
      kVTCompressionPropertyKey_ExpectedFrameRate: 30,
    ]
    for (key, value) in more { properties[key] = value }
    return properties
  }

  /// Table A-1: 720p at 30 a second is level 3.1, whose MaxBR is 14,000 (times 1,250 in the High
  /// profile); 3.2 has 20,000, 4.1 50,000. libx264 leaves room for twice the average, where it
  /// keeps to that itself.
  @Test(
    "Levels of H.264 follow the average rate",
    arguments: [
      (Encoder.own, 17_500_000, 31), (.own, 17_600_000, 32), (.own, 25_000_001, 41),
      (.ownInCalls, 17_500_000, 31), (.ownInCalls, 20_000_000, 32),
    ])
  func levelsOfH264FollowTheAverageRate(_ encoder: Encoder, rate: Int, level: Int) throws {
    let session = try encoder.session(1280, 720, Self.properties(rate))
    let samples = try encode(session, TestClip(width: 1280, height: 720), count: 2)
    #expect(try Self.level(samples.first, encoder) == level)
  }

  @Test("Levels of the Main profile have less", arguments: [(14_000_000, 31), (14_100_000, 32)])
  func levelsOfTheMainProfileHaveLess(rate: Int, level: Int) throws {
    let profile = [kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_H264_Main_AutoLevel as Any]
    let session = try Encoder.own.session(1280, 720, Self.properties(rate, profile))
    let samples = try encode(session, TestClip(width: 1280, height: 720), count: 2)
    #expect(try Self.level(samples.first, .own) == level)
  }

  @Test("Limits of the data rate count as well as its average", arguments: [Encoder.own, .ownInCalls])
  func limitsOfTheDataRateCountAsWellAsItsAverage(_ encoder: Encoder) throws {
    for (bytes, level) in [(2_000_000, 31), (2_500_000, 32)] {
      let limit = [kVTCompressionPropertyKey_DataRateLimits: [bytes, 1] as Any]
      let session = try encoder.session(1280, 720, Self.properties(5_000_000, limit))
      let samples = try encode(session, TestClip(width: 1280, height: 720), count: 2)
      #expect(try Self.level(samples.first, encoder) == level, "\(bytes) bytes a second")
    }
  }

  @Test("A rate that rises beyond the level begins a stream with another one", arguments: Encoder.all)
  func aRateThatRisesBeyondTheLevelBeginsAStreamWithAnotherOne(_ encoder: Encoder) throws {
    let session = try encoder.session(1280, 720, Self.properties(4_000_000))
    let clip = TestClip(width: 1280, height: 720)
    let collector = Collector()
    _ = try encode(session, clip, count: 4, into: collector)
    try check(
      VTSessionSetProperty(
        session, key: kVTCompressionPropertyKey_AverageBitRate, value: 60_000_000 as AnyObject),
      "rate")
    let samples = try encode(session, clip, count: 4, from: 4, into: collector)
    #expect(samples.count == 8)
    #expect(try Self.level(samples.first, encoder) <= (encoder.isHEVC ? 41 : 32))
    let last = try Self.level(samples.last, encoder)
    // 62.5 Mb/s of H.264's level 4.1; 100 of the high tier of HEVC's level 5, 60 of the main tier
    // of 5.2.
    #expect(last >= (encoder.isHEVC ? 50 : 41), "level \(last)")
  }

  @Test("Levels of the libraries' streams allow the average rate", arguments: Encoder.libraries)
  func levelsOfTheLibrariesStreamsAllowTheAverageRate(_ encoder: Encoder) throws {
    for isRealTime in [false, true] {
      let session = try encoder.session(
        1280, 720, Self.properties(45_000_000, [kVTCompressionPropertyKey_RealTime: isRealTime]))
      let samples = try encode(session, TestClip(width: 1280, height: 720), count: 4)
      // 45 Mb/s: 62.5 in H.264's level 4.1, 50 in the high tier of HEVC's, 60 in its level 5.2.
      #expect(try Self.level(samples.first, encoder) >= 41)
      #expect(
        try StreamProbe.decode(LevelTests.stream(samples), hevc: encoder.isHEVC).count == 4 * 1280 * 720)
    }
  }

  private static func stream(_ samples: [CMSampleBuffer]) -> Data {
    var data = Data()
    for sample in samples {
      for unit in (sample.isSync ? sample.parameterSets : []) + sample.nalUnits {
        data += [0, 0, 0, 1] + unit
      }
    }
    return data
  }
}
