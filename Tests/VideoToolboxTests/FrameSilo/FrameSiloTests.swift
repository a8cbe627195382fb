// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import TestSupport
import Testing

@testable import VideoToolbox

@Suite struct FrameSiloTests {
  @Test("Samples are read back with their data, times, format description and attachments")
  func whatAnEncoderGivesComesBack() throws {
    let sink = try encode(frames: 24)
    let silo = try #require(SiloFrames.silo().silo)
    #expect(CFGetTypeID(silo) == VTFrameSiloGetTypeID())
    for (index, sample) in sink.enumerated() {
      CMSetAttachment(sample, key: "number" as CFString, value: NSNumber(value: index), attachmentMode: 1)
      CMSetAttachment(sample, key: "own" as CFString, value: "here" as NSString, attachmentMode: 0)
      #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample) == noErr)
    }
    let (status, back) = SiloFrames.all(silo)
    #expect(status == noErr && back.count == 24)
    for (index, (sample, other)) in zip(sink, back).enumerated() {
      #expect(try SiloFrames.content(sample) == SiloFrames.content(other))
      #expect(sample.presentationTimeStamp == other.presentationTimeStamp)
      #expect(sample.duration == other.duration)
      #expect(sample.decodeTimeStamp.isValid == other.decodeTimeStamp.isValid)
      #expect(!sample.decodeTimeStamp.isValid || sample.decodeTimeStamp == other.decodeTimeStamp)
      #expect(CMSampleBufferGetTotalSampleSize(sample) == CMSampleBufferGetTotalSampleSize(other))
      #expect(
        CMFormatDescriptionEqual(
          CMSampleBufferGetFormatDescription(sample),
          otherFormatDescription: CMSampleBufferGetFormatDescription(other)))
      func attachments(_ buffer: CMSampleBuffer) -> NSDictionary? {
        CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false)?.object(at: 0)
          as? NSDictionary
      }
      #expect(attachments(sample) == attachments(other))
      var mode: CMAttachmentMode = 9
      #expect(CMGetAttachment(other, key: "number" as CFString, attachmentModeOut: &mode) as? Int == index)
      #expect(mode == kCMAttachmentMode_ShouldPropagate)
      #expect(CMGetAttachment(other, key: "own" as CFString, attachmentModeOut: &mode) as? String == "here")
      #expect(mode == kCMAttachmentMode_ShouldNotPropagate)
    }
    // The formats of a stream are few, and the same object.
    let formats = back.compactMap { CMSampleBufferGetFormatDescription($0) }
    #expect(Set(formats.map(ObjectIdentifier.init)).count == 1)
  }

  private func encode(frames: Int) throws -> [CMSampleBuffer] {
    let session = try makeSession(width: 160, height: 96)
    return try VideoToolboxTests.encode(session, TestClip(width: 160, height: 96), count: frames)
  }

  @Test("Several samples in a buffer, two formats, and an output time of its own come back")
  func everyShapeOfSampleComesBack() throws {
    let format = try SiloFrames.format()
    let silo = try #require(SiloFrames.silo().silo)
    let single = try SiloFrames.frame(0, format: format)
    CMSampleBufferSetOutputPresentationTimeStamp(single, newValue: CMTime(value: 7, timescale: 3))
    let block = try #require(CMSampleBufferGetDataBuffer(try SiloFrames.frame(1, count: 60)))
    var buffer: CMSampleBuffer?
    let timings = (1...3).map {
      CMSampleTimingInfo(
        duration: CMTime(value: Int64($0), timescale: 90),
        presentationTimeStamp: CMTime(value: Int64($0), timescale: 30),
        decodeTimeStamp: .invalid)
    }
    #expect(
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: block, formatDescription: try SiloFrames.format(width: 80),
        sampleCount: 3,
        sampleTimingEntryCount: 3, sampleTimingArray: timings, sampleSizeEntryCount: 3,
        sampleSizeArray: [10, 20, 30],
        sampleBufferOut: &buffer) == noErr)
    let several = try #require(buffer)
    several.sampleAttachments[2][.notSync] = true
    for sample in [single, several] {
      #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample) == noErr)
    }
    let (_, back) = SiloFrames.all(silo)
    try #require(back.count == 2)
    #expect(back[0].outputPresentationTimeStamp == CMTime(value: 7, timescale: 3))
    #expect(try back[1].sampleSizes() == [10, 20, 30])
    #expect(
      try back[1].sampleTimingInfos().map(\.presentationTimeStamp) == timings.map(\.presentationTimeStamp))
    #expect(try back[1].sampleTimingInfos().map(\.duration) == timings.map(\.duration))
    #expect(back[1].sampleAttachments[2][.notSync] as? Bool == true)
    #expect(back[1].sampleAttachments[0][.notSync] == nil)
    #expect(
      back.map { CMVideoFormatDescriptionGetDimensions(CMSampleBufferGetFormatDescription($0)!).width } == [
        64, 80,
      ])
  }

  @Test(
    "A second pass replaces the frames of its ranges, and no other bit")
  func aSecondPassReplacesTheFramesOfItsRanges() throws {
    let silo = try #require(SiloFrames.silo(range: SiloFrames.range(0..<100)).silo)
    for index in 0..<100 {
      #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(index)) == noErr)
    }
    let ranges = [SiloFrames.range(20..<30), SiloFrames.range(30..<35), SiloFrames.range(60..<70)]
    #expect(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 3, timeRangeArray: ranges) == noErr)
    #expect(silo.passNumber == 2 && silo.timeRangesOfCurrentPass == ranges)
    #expect(SiloFrames.indices(SiloFrames.all(silo).1) == Array(0..<20) + Array(35..<60) + Array(70..<100))
    // Its own times begin again, and stay within the ranges: starts belong to them, ends do not.
    for (index, expected) in [
      (19, kVTFrameSiloInvalidTimeStampErr), (35, kVTFrameSiloInvalidTimeStampErr), (20, noErr), (34, noErr),
      (34, kVTFrameSiloInvalidTimeStampErr), (33, kVTFrameSiloInvalidTimeStampErr), (60, noErr), (69, noErr),
      (70, kVTFrameSiloInvalidTimeStampErr),
    ] {
      let sample = try SiloFrames.frame(index, generation: 1, count: 200)
      #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample) == expected, "frame \(index)")
    }
    let (_, back) = SiloFrames.all(silo)
    #expect(
      SiloFrames.indices(back) == Array(0..<20) + [20, 34] + Array(35..<60) + [60, 69] + Array(70..<100))
    for sample in back {
      let index = SiloFrames.indices([sample])[0]
      let isNew = [20, 34, 60, 69].contains(index)
      #expect(
        try SiloFrames.content(sample)
          == SiloFrames.bytes(index, generation: isNew ? 1 : 0, count: isNew ? 200 : 100))
    }
  }

  @Test("Passes take the room of the frames that they replace")
  func passesTakeTheRoomOfTheFramesThatTheyReplace() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("size-\(UUID().uuidString)")
    let silo = try #require(SiloFrames.silo(url).silo)
    func bytes() throws -> Int {
      try silo.synchronize()
      return try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
    }
    for index in 0..<400 {
      #expect(
        VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(index, count: 2000)) == noErr)
    }
    let first = try bytes()
    for generation in 1...4 {
      let ranges = [SiloFrames.range(0..<300)]
      #expect(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 1, timeRangeArray: ranges) == noErr)
      for index in 0..<300 {
        let frame = try SiloFrames.frame(index, generation: generation, count: 2000)
        #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: frame) == noErr)
      }
    }
    #expect(first > 800_000 && first < 2_000_000)
    #expect(try bytes() < first + first / 20)
  }

  @Test("Progress follows the end of the last frame through the ranges of the pass")
  func progressFollowsTheFramesThroughTheRangesOfThePass() throws {
    func progress(_ silo: VTFrameSilo) -> Float32? {
      var value: Float32 = -1
      let status = VTFrameSiloGetProgressOfCurrentPass(silo, progressOut: &value)
      return status == noErr ? value : nil
    }
    let silo = try #require(SiloFrames.silo(range: SiloFrames.range(0..<40)).silo)
    #expect(progress(silo) == 0)
    for (index, expected) in [(0, 0.025), (19, 0.5), (39, 1), (50, 1)] {
      #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(index)) == noErr)
      #expect(abs(Double(try #require(progress(silo))) - expected) < 1e-6)
    }
    let ranges = [SiloFrames.range(10..<20), SiloFrames.range(30..<40)]
    #expect(VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: 2, timeRangeArray: ranges) == noErr)
    #expect(progress(silo) == 0)
    for (index, expected) in [(14, 0.25), (30, 0.55)] {
      #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(index)) == noErr)
      #expect(abs(Double(try #require(progress(silo))) - expected) < 1e-6)
    }
    var value: Float32 = 0
    let unknown = try #require(SiloFrames.silo().silo)
    #expect(
      VTFrameSiloGetProgressOfCurrentPass(unknown, progressOut: &value) == kVTFrameSiloInvalidTimeRangeErr)
  }

  @Test(
    "Iteration takes half-open ranges of decode times, stops on request, and lets frames be added meanwhile")
  func iterationTakesHalfOpenRangesOfDecodeTimes() throws {
    let silo = try #require(SiloFrames.silo().silo)
    for index in 0..<30 {
      #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(index)) == noErr)
    }
    #expect(SiloFrames.indices(SiloFrames.all(silo, in: SiloFrames.range(10..<13)).1) == [10, 11, 12])
    #expect(SiloFrames.all(silo, in: SiloFrames.range(40..<50)).1.isEmpty)
    // Of another time scale: 1/3 s is frame 10 to the tick.
    let third = CMTimeRange(
      start: CMTime(value: 1, timescale: 3), end: CMTime(value: 333_334, timescale: 1_000_000))
    #expect(SiloFrames.indices(SiloFrames.all(silo, in: third).1) == [10])
    #expect(
      SiloFrames.all(silo, in: CMTimeRange(start: .zero, duration: .positiveInfinity)).0
        == kVTFrameSiloInvalidTimeRangeErr)
    var seen = 0
    let stopped = VTFrameSiloCallFunctionForEachSampleBuffer(silo, in: .invalid, refcon: &seen) { refcon, _ in
      guard let count = refcon?.assumingMemoryBound(to: Int.self) else { return -1 }
      count.pointee += 1
      return count.pointee == 7 ? -777 : noErr
    }
    #expect(stopped == -777 && seen == 7)
    var added = 30
    let status = VTFrameSiloCallBlockForEachSampleBuffer(silo, in: .invalid) { _ in
      guard added < 40, let sample = try? SiloFrames.frame(added) else { return noErr }
      added += 1
      return VTFrameSiloAddSampleBuffer(silo, sampleBuffer: sample)
    }
    #expect(status == noErr && SiloFrames.all(silo).1.count == 40)
  }

  @Test("Invalid samples are rejected with Apple's error codes and leave the silo unchanged")
  func whatDoesNotBelongIntoASiloIsRefused() throws {
    let silo = try #require(SiloFrames.silo().silo)
    #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(5)) == noErr)
    for index in [5, 4] {
      #expect(
        VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(index))
          == kVTFrameSiloInvalidTimeStampErr)
    }
    let picture = try #require(TestClip(width: 32, height: 32).buffer(0) as CVImageBuffer?)
    var description: CMVideoFormatDescription?
    CMVideoFormatDescriptionCreateForImageBuffer(
      allocator: nil, imageBuffer: picture, formatDescriptionOut: &description)
    var timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: CMTime(value: 9, timescale: 1), decodeTimeStamp: .invalid)
    var uncompressed: CMSampleBuffer?
    CMSampleBufferCreateReadyWithImageBuffer(
      allocator: nil, imageBuffer: picture, formatDescription: try #require(description),
      sampleTiming: &timing,
      sampleBufferOut: &uncompressed)
    #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try #require(uncompressed)) == kVTParameterErr)
    let odd = try SiloFrames.frame(8)
    CMSetAttachment(odd, key: "lock" as CFString, value: NSLock(), attachmentMode: 1)
    #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: odd) == kVTParameterErr)
    var (block, sizes) = (CMSampleBufferGetDataBuffer(odd), [101])
    var longer: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: try SiloFrames.format(), sampleCount: 1,
      sampleTimingEntryCount: 0, sampleTimingArray: nil, sampleSizeEntryCount: 1, sampleSizeArray: &sizes,
      sampleBufferOut: &longer)
    #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try #require(longer)) != noErr)
    block = nil
    let nested = try SiloFrames.frame(8)
    CMSetAttachment(
      nested, key: "deep" as CFString,
      value: (0..<200).reduce(NSArray()) { inner, _ in NSArray(object: inner) }, attachmentMode: 1)
    #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: nested) == kVTParameterErr)
    let timeless = try SiloFrames.frame(8)
    var copy: CMSampleBuffer?
    var none = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: .positiveInfinity, decodeTimeStamp: .indefinite)
    CMSampleBufferCreateCopyWithNewTiming(
      allocator: nil, sampleBuffer: timeless, sampleTimingEntryCount: 1, sampleTimingArray: &none,
      sampleBufferOut: &copy)
    #expect(
      VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try #require(copy)) == kVTFrameSiloInvalidTimeStampErr)

    func begin(_ ranges: [CMTimeRange]) -> OSStatus {
      VTFrameSiloSetTimeRangesForNextPass(silo, timeRangeCount: ranges.count, timeRangeArray: ranges)
    }
    #expect(begin([]) == kVTParameterErr)
    for ranges in [
      [.invalid], [SiloFrames.range(5..<10), SiloFrames.range(0..<5)],
      [SiloFrames.range(0..<6), SiloFrames.range(5..<10)],
      [CMTimeRange(start: .zero, duration: .positiveInfinity)],
    ] {
      #expect(begin(ranges) == kVTFrameSiloInvalidTimeRangeErr)
    }
    #expect(silo.passNumber == 1)
    #expect(SiloFrames.indices(SiloFrames.all(silo).1) == [5])
    #expect(VTFrameSiloAddSampleBuffer(silo, sampleBuffer: try SiloFrames.frame(6)) == noErr)
  }

  @Test("Keys of times order as times do, whatever their scales and signs")
  func keysOfTimesOrderAsTimesDo() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      func time() -> CMTime {
        let scale: Int32 =
          [1, 3, 30, 1001, 90_000, 2_147_483_647, 2_147_483_646].randomElement(using: &generator) ?? 1
        let value =
          Bool.random()
          ? Int64.random(in: -5...5) : Int64.random(in: .min ... .max) >> Int64.random(in: 0...60)
        return CMTime(value: value, timescale: scale)
      }
      let (a, b) = (time(), time())
      let (first, second) = (try #require(DecodeTimeKey(a)), try #require(DecodeTimeKey(b)))
      // By cross-multiplication, in full width.
      let left = a.value.multipliedFullWidth(by: Int64(b.timescale))
      let right = b.value.multipliedFullWidth(by: Int64(a.timescale))
      #expect((first < second) == ((left.high, left.low) < (right.high, right.low)), "\(a) \(b)")
      #expect((first == second) == (left == right), "\(a) \(b)")
    }
    for time in [CMTime.invalid, .indefinite, .positiveInfinity, .negativeInfinity] {
      #expect(DecodeTimeKey(time) == nil)
    }
    #expect(DecodeTimeKey(CMTime(value: 1, timescale: 0, flags: .valid, epoch: 0)) == nil)
    #expect(DecodeTimeKey(CMTime(value: 1, timescale: -5, flags: .valid, epoch: 0)) == nil)
  }
}
