// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing

@testable import VideoToolbox

/// Passes over parts of a movie, with the package's own encoder.
@Suite(.serialized) struct PartialPassTests {
  private static let clip = TestClip(width: 160, height: 96, noise: 12, cutEvery: 40)
  private static let count = 150

  /// A session after its second pass, whose rate the program then changes, so that the pass has
  /// missed it.
  private struct Passes {
    let session: VTCompressionSession
    let storage: VTMultiPassStorage
    let silo: VTFrameSilo

    init(allowsReordering: Bool, allowsParts: Bool = true) throws {
      var session: VTCompressionSession?
      try check(
        VTCompressionSessionCreate(
          allocator: nil, width: 160, height: 96, codecType: kCMVideoCodecType_H264,
          encoderSpecification: [
            kVTVideoEncoderSpecification_EncoderID: "org.openvideotoolbox.videoencoder.h264"
          ] as CFDictionary,
          imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
          compressionSessionOut: &session), "create")
      self.session = try #require(session)
      var storage: VTMultiPassStorage?
      try check(
        VTMultiPassStorageCreate(
          allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, multiPassStorageOut: &storage),
        "storage")
      self.storage = try #require(storage)
      var silo: VTFrameSilo?
      try check(
        VTFrameSiloCreate(
          allocator: nil, fileURL: nil, timeRange: .invalid, options: nil, frameSiloOut: &silo), "silo")
      self.silo = try #require(silo)
      let properties: [(CFString, Any)] = [
        (kVTCompressionPropertyKey_AverageBitRate, 150_000),
        (kVTCompressionPropertyKey_ExpectedFrameRate, 30),
        (kVTCompressionPropertyKey_MaxKeyFrameInterval, 30),
        (kVTCompressionPropertyKey_AllowFrameReordering, allowsReordering),
        (kVTCompressionPropertyKey_MultiPassStorage, self.storage),
        (kOVTCompressionPropertyKey_AllowsPartialPasses, allowsParts),
      ]
      for (key, value) in properties {
        try check(VTSessionSetProperty(self.session, key: key, value: value as CFTypeRef), "\(key)")
      }
    }

    /// - Parameter rate: the new rate.
    /// - Returns: Whether another pass is asked for, and what `EndPass` returned.
    func run(_ frames: [Int], thenRate rate: Int? = nil, isFinal: Bool = false) throws -> (Bool, OSStatus) {
      try check(VTCompressionSessionBeginPass(session, flags: isFinal ? .beginFinalPass : [], nil), "begin")
      let collector = Collector()
      for index in frames {
        _ = try encode(
          session, PartialPassTests.clip, count: 1, from: index, complete: false, into: collector)
      }
      if let rate {
        let key = kVTCompressionPropertyKey_AverageBitRate
        try check(VTSessionSetProperty(session, key: key, value: rate as CFTypeRef), "rate")
      }
      var more = DarwinBoolean(false)
      let status = VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &more, nil)
      for sample in collector.samples {
        #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample) == noErr)
      }
      return (more.boolValue, status)
    }

    func ranges() throws -> [CMTimeRange] {
      var (number, list) = (0, UnsafePointer<CMTimeRange>?.none)
      try check(
        VTCompressionSessionGetTimeRangesForNextPass(
          session, timeRangeCountOut: &number, timeRangeArrayOut: &list), "ranges")
      return Array(UnsafeBufferPointer(start: list, count: number))
    }

    func replace(_ ranges: [CMTimeRange]) throws {
      try check(
        ranges.withUnsafeBufferPointer {
          VTFrameSiloSetTimeRangesForNextPass(
            silo, timeRangeCount: $0.count, timeRangeArray: $0.baseAddress!)
        }, "ranges of the silo")
    }
  }

  private func decodeTime(_ sample: CMSampleBuffer) -> CMTime {
    sample.decodeTimeStamp.isNumeric ? sample.decodeTimeStamp : sample.presentationTimeStamp
  }

  private func rate(_ samples: [CMSampleBuffer]) -> Double {
    Double(samples.reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) } * 8) / (Double(Self.count) / 30)
  }

  @Test(
    "A third pass encodes only parts: the rest keeps its bits, and the rate is met",
    arguments: [(true, 156_000), (false, 145_000)])
  func aThirdPassIsOverPartsAlone(_ allowsReordering: Bool, _ wanted: Int) throws {
    let passes = try Passes(allowsReordering: allowsReordering)
    defer { VTCompressionSessionInvalidate(passes.session) }
    let all = Array(0..<Self.count)
    #expect(try passes.run(all) == (true, noErr))
    try passes.replace(try passes.ranges())
    #expect(try passes.run(all, thenRate: wanted) == (true, noErr))
    let before = SiloFrames.all(passes.silo).1
    let ranges = try passes.ranges()
    func isIn(_ sample: CMSampleBuffer) -> Bool { ranges.contains { $0.containsTime(decodeTime(sample)) } }
    let wantedTimes = before.filter(isIn).map(\.presentationTimeStamp)
    #expect(!wantedTimes.isEmpty && wantedTimes.count < Self.count * 2 / 3, "\(wantedTimes.count)")
    try passes.replace(ranges)
    _ = try passes.run(all.filter { wantedTimes.contains(Self.clip.time($0)) })

    let after = SiloFrames.all(passes.silo).1
    #expect(after.map(\.presentationTimeStamp).sorted() == all.map { Self.clip.time($0) })
    #expect(before.filter { !isIn($0) }.map(\.bytes) == after.filter { !isIn($0) }.map(\.bytes))
    #expect(before.filter(isIn).map(\.bytes) != after.filter(isIn).map(\.bytes))
    #expect(before.map(decodeTime) == after.map(decodeTime))
    // Each group has about its planned bits: it changed by a quarter at most, plus the error of the
    // model.
    for group in stride(from: 0, to: Self.count, by: 30) {
      func bits(_ samples: [CMSampleBuffer]) -> Double {
        let own = samples.filter {
          (Self.clip.time(group)..<Self.clip.time(group + 30)).contains($0.presentationTimeStamp)
        }
        return Double(own.reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) })
      }
      #expect(abs(bits(after) / bits(before) - 1) < 0.35, "group at \(group)")
    }
    let misses = [before, after].map { abs(rate($0) / Double(wanted) - 1) }
    #expect(misses[1] < 0.012 && misses[1] < misses[0] / 2, "\(misses)")
    // One sample description, and every picture is there.
    let descriptions = Set(
      after.compactMap(\.formatDescription).map { CMFormatDescription.ParameterSetBytes($0) })
    #expect(descriptions.count == 1)
    let probe = try StreamProbe(annexB(after))
    #expect(probe.errors.isEmpty, "\(probe.errors)")
    #expect(probe.frames.count == Self.count)
  }

  @Test("Without the property a pass encodes the whole movie, and two are made")
  func withoutThePropertyAPassIsOverTheWhole() throws {
    let passes = try Passes(allowsReordering: true, allowsParts: false)
    defer { VTCompressionSessionInvalidate(passes.session) }
    let all = Array(0..<60)
    #expect(try passes.run(all) == (true, noErr))
    #expect(try passes.ranges().count == 1)
    try passes.replace(try passes.ranges())
    #expect(try passes.run(all, thenRate: 160_000) == (false, noErr))
  }

  @Test("Frames that do not belong to a part are refused, and missing ones are reported")
  func framesThatDoNotBelongToAPartAreRefused() throws {
    let passes = try Passes(allowsReordering: false)
    defer { VTCompressionSessionInvalidate(passes.session) }
    let all = Array(0..<Self.count)
    _ = try passes.run(all)
    try passes.replace(try passes.ranges())
    _ = try passes.run(all, thenRate: 156_000)
    let ranges = try passes.ranges()
    let outside = try #require(all.first { n in !ranges.contains { $0.containsTime(Self.clip.time(n)) } })
    let inside = all.filter { n in ranges.contains { $0.containsTime(Self.clip.time(n)) } }
    try passes.replace(ranges)
    try check(VTCompressionSessionBeginPass(passes.session, flags: [], nil), "begin")
    let collector = Collector()
    for index in ([outside] + inside.dropLast()).sorted() {
      _ = VTCompressionSessionEncodeFrame(
        passes.session, imageBuffer: Self.clip.buffer(index), presentationTimeStamp: Self.clip.time(index),
        duration: Self.clip.frameDuration, frameProperties: nil, infoFlagsOut: nil
      ) { collector.add($0, $1, $2) }
    }
    var more = DarwinBoolean(true)
    let status = VTCompressionSessionEndPass(passes.session, furtherPassesRequestedOut: &more, nil)
    #expect(status == kVTParameterErr && !more.boolValue)
    #expect(collector.all.filter { $0.status == kVTParameterErr }.count == 1)
    #expect(collector.samples.count == inside.count - 1)
  }
}

/// The parameter sets of a description, to compare.
extension CMFormatDescription {
  fileprivate struct ParameterSetBytes: Hashable {
    private let sets: [[UInt8]]

    init(_ description: CMFormatDescription) { sets = description.parameterSets.map { Array($0) } }
  }
}
