// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import TestSupport
import Testing
import VideoToolbox

/// How many parameter sets there are, and which of them counts.
@Suite(.enabled(if: !usesX264)) struct ParameterSetTests {
  private static let clip = TestClip()

  /// Many multiplexers send one of each kind.
  @Test func aStreamHasOneParameterSetOfEachKind() throws {
    for properties: [CFString: Any] in [
      [:], [kVTCompressionPropertyKey_AverageBitRate: 200_000],
      [kVTCompressionPropertyKey_ProfileLevel: kVTProfileLevel_H264_Main_AutoLevel],
    ] {
      let session = try makeSession(properties: properties)
      let samples = try encode(session, Self.clip, count: 20)
      #expect(samples.first?.parameterSets.map { $0[0] & 31 } == [7, 8], "\(properties)")
      #expect(samples.contains { $0.decodeTimeStamp < $0.presentationTimeStamp })
    }
  }

  @Test(.enabled(if: SampleMovie.isAvailable)) func severalWhereTheyAreAllowed() throws {
    let key = kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets
    let session = try makeSession(properties: [key: true])
    let samples = try encode(session, Self.clip, count: 20)
    #expect(samples.first?.parameterSets.map { $0[0] & 31 } == [7, 8, 8, 8])
    #expect(VTSessionSetProperty(session, key: key, value: kCFBooleanFalse) != noErr)
  }

  /// Tables that say nothing take a few bits of a picture.
  @Test func oneSetCostsLittle() throws {
    let sizes = try [false, true].map { isAllowed in
      let session = try makeSession(properties: [
        kOVTCompressionPropertyKey_AllowsSeveralPictureParameterSets: isAllowed,
        kVTCompressionPropertyKey_Quality: 0.5,
      ])
      return try encode(session, Self.clip, count: 120).reduce(0) { $0 + $1.bytes.count }
    }
    #expect(Double(sizes[0]) < 1.01 * Double(sizes[1]), "\(sizes)")
    #expect(sizes[0] != sizes[1])
  }

  /// Any of a description's sets may be the stream's.
  @Test(.enabled(if: SampleMovie.isAvailable), arguments: [false, true]) func theLargestSetCounts(
    isFirst: Bool
  ) throws {
    let small = try SampleMovie(["-c:v", "libx264"], size: "64x48", seconds: 0.2, reference: false)
    let large = try SampleMovie(
      ["-c:v", "libx264", "-x264-params", "sps-id=1"], size: "320x240", seconds: 0.2, reference: false)
    func entry(_ set: [UInt8]) -> [UInt8] { [UInt8(set.count >> 8), UInt8(set.count & 255)] + set }
    let sets = try [small, large].map { try #require($0.samples.first).parameterSets }
    let (first, second) = isFirst ? (sets[1], sets[0]) : (sets[0], sets[1])
    let record =
      [1] + first[0][1...3] + [0xFF, 0xE2] + entry(first[0]) + entry(second[0]) + [2] + entry(first[1])
      + entry(second[1])
    let format = try SampleMovie.describe(kCMVideoCodecType_H264, 320, 240, ["avcC": Data(record)])
    let samples = try large.samples.map {
      try SampleMovie.sample(Data($0.bytes), format, time: $0.presentationTimeStamp, isSync: $0.isSync)
    }
    let images = try decode(makeDecoder(format), samples).images
    #expect(images.count == samples.count)
    #expect(images.allSatisfy { CVPixelBufferGetWidth($0) == 320 && CVPixelBufferGetHeight($0) == 240 })
  }
}
