// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing

@testable import VideoToolbox

@Suite struct MultiPassEncodingTests {
  /// As programs do it: a session, a storage and a silo, until no further pass is asked for.
  @Test("Passes into a silo: the ranges that are asked for hold every frame, and the last pass hits the rate")
  func passesIntoASiloHitTheRate() throws {
    let clip = TestClip(width: 160, height: 96, noise: 6, cutEvery: 20)
    let (count, rate) = (120, 200_000)
    let session = try makeSession(
      width: 160, height: 96, properties: [kVTCompressionPropertyKey_AverageBitRate: NSNumber(value: rate)])
    defer { VTCompressionSessionInvalidate(session) }
    var (storage, silo) = (VTMultiPassStorage?.none, VTFrameSilo?.none)
    // After zero, like a part of a movie.
    let begin = 300
    let whole = CMTimeRange(start: clip.time(begin), end: clip.time(begin + count))
    #expect(
      VTMultiPassStorageCreate(
        allocator: nil, fileURL: nil, timeRange: whole, options: nil, multiPassStorageOut: &storage) == noErr)
    #expect(
      VTFrameSiloCreate(allocator: nil, fileURL: nil, timeRange: whole, options: nil, frameSiloOut: &silo)
        == noErr)
    let (statistics, frames) = (try #require(storage), try #require(silo))
    let status = VTSessionSetProperty(
      session, key: kVTCompressionPropertyKey_MultiPassStorage, value: statistics)
    // Only an encoder with several passes has the property.
    guard status == noErr else {
      #if X264
        Issue.record("libx264 has several passes")
      #endif
      #expect(status == kVTPropertyNotSupportedErr)
      return
    }
    var (pass, ranges) = (0, [whole])
    var firstPass: [[UInt8]] = []
    while true {
      pass += 1
      try #require(pass < 4)
      try check(VTCompressionSessionBeginPass(session, flags: [], nil), "begin")
      let collector = Collector()
      for index in begin..<begin + count where ranges.contains(where: { $0.containsTime(clip.time(index)) }) {
        _ = try encode(session, clip, count: 1, from: index, complete: false, into: collector)
      }
      var wantsMore = DarwinBoolean(false)
      try check(VTCompressionSessionEndPass(session, furtherPassesRequestedOut: &wantsMore, nil), "end")
      #expect(collector.samples.count == count)
      for sample in collector.samples {
        #expect(VTFrameSiloAddSampleBuffer(frames, sampleBuffer: sample) == noErr)
      }
      guard wantsMore.boolValue else { break }
      firstPass = collector.samples.map(\.bytes)
      var (number, list) = (0, UnsafePointer<CMTimeRange>?.none)
      try check(
        VTCompressionSessionGetTimeRangesForNextPass(
          session, timeRangeCountOut: &number, timeRangeArrayOut: &list), "ranges")
      ranges = Array(UnsafeBufferPointer(start: list, count: number))
      #expect(ranges.allSatisfy { $0.start.isNumeric && $0.duration.isNumeric && $0.duration > .zero })
      try check(
        VTFrameSiloSetTimeRangesForNextPass(
          frames, timeRangeCount: number, timeRangeArray: try #require(list)), "silo")
      // A first pass of libx264 only gives statistics: its frames are not stored.
      #expect(SiloFrames.all(frames).1.isEmpty)
    }
    #expect(pass == 2)
    let (read, samples) = SiloFrames.all(frames)
    #expect(read == noErr && samples.count == count)
    #expect(samples.map(\.bytes) != firstPass)
    let times = samples.map(\.presentationTimeStamp)
    #expect(times.sorted() == (begin..<begin + count).map(clip.time))
    // Some are not in presentation order.
    #expect(times != times.sorted())
    let bits = samples.reduce(0) { $0 + CMSampleBufferGetTotalSampleSize($1) } * 8
    let seconds = Double(count) / 30
    #expect(abs(Double(bits) / seconds / Double(rate) - 1) < 0.1, "\(bits) bits in \(seconds) s")
    // Luma alone.
    #expect(try StreamProbe.decode(annexB(samples)).count == count * 160 * 96)
    #expect(VTMultiPassStorageClose(statistics) == noErr)
  }
}
