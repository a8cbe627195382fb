// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation
import Testing
import VideoToolbox

/// Numbers at the ends of their types, and such as are none, as arguments of all kinds.
enum Extremes {
  static let int64s: [Int64] = [
    .min, .min + 1, -1 << 40, -1, 0, 1, 3, 1 << 31, 1 << 40, 1 << 53, .max - 1, .max,
  ]
  static let ints: [Int] = int64s.map { Int($0) }
  static let int32s: [Int32] = [.min, .min + 1, -65_536, -1, 0, 1, 2, 600, 65_536, .max - 1, .max]
  static let doubles: [Double] = [
    .nan, .signalingNaN, .infinity, -.infinity, 0, -0.0, 1, -1, 0.5, 1e-300, 1e-20, 1e9, 1e19, 1e300,
    -1e300, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
  ]
  static let times: [CMTime] =
    [
      .invalid, .indefinite, .positiveInfinity, .negativeInfinity, .zero,
      CMTime(value: 1, timescale: 0, flags: .valid, epoch: 0),
      CMTime(value: 1, timescale: -30, flags: .valid, epoch: 0),
      CMTime(value: 1, timescale: 30, flags: .valid, epoch: .max),
      CMTime(value: 1, timescale: 30, flags: .valid, epoch: .min),
      CMTime(value: .max, timescale: .max, flags: CMTimeFlags(rawValue: .max), epoch: .max),
    ]
    + [Int64.min, -1, 1, 1 << 53, .max].flatMap { value in
      [Int32.min, 1, 600, .max].map { CMTime(value: value, timescale: $0, flags: .valid, epoch: 0) }
    }
  static let ranges: [CMTimeRange] = times.flatMap { start in
    times.map { CMTimeRange(start: start, duration: $0) }
  }
}

/// Every entry that takes numbers, called with those of `Extremes`: it answers, and the process
/// continues. What answers are right, other tests say.
@Suite struct ExtremeArgumentTests {
  private let times = Extremes.times

  @Test func timeArithmeticTakesExtremes() {
    var count = 0
    for a in times {
      _ = (CMTimeGetSeconds(a), CMTimeAbsoluteValue(a), CMTimeCopyDescription(allocator: nil, time: a))
      #expect(CMTimeMakeFromDictionary(CMTimeCopyAsDictionary(a, allocator: nil)).isValid == a.isValid)
      for b in times {
        _ = (CMTimeAdd(a, b), CMTimeSubtract(a, b), CMTimeMinimum(a, b), CMTimeMaximum(a, b))
        // An order in spite of all.
        #expect(CMTimeCompare(a, b) == -CMTimeCompare(b, a), "\(a) \(b)")
        _ = (a == b, a.hashValue, CMTimeRangeGetEnd(CMTimeRange(start: a, duration: b)))
        _ = CMTimeRangeFromTimeToTime(start: a, end: b)
        count += 1
      }
      for number in Extremes.int32s {
        _ = CMTimeMultiply(a, multiplier: number)
        for other in Extremes.int32s { _ = CMTimeMultiplyByRatio(a, multiplier: number, divisor: other) }
        for method in [
          CMTimeRoundingMethod.roundHalfAwayFromZero, .roundTowardZero, .roundAwayFromZero, .quickTime,
          .roundTowardPositiveInfinity, .roundTowardNegativeInfinity,
        ] { _ = CMTimeConvertScale(a, timescale: number, method: method) }
      }
      for number in Extremes.doubles { _ = CMTimeMultiplyByFloat64(a, multiplier: number) }
    }
    for number in Extremes.doubles {
      for scale in Extremes.int32s {
        let time = CMTimeMakeWithSeconds(number, preferredTimescale: scale)
        #expect(!number.isNaN || !time.isNumeric)
      }
    }
    for value in Extremes.int64s {
      for scale in Extremes.int32s {
        for epoch in Extremes.int64s { _ = CMTimeMakeWithEpoch(value: value, timescale: scale, epoch: epoch) }
      }
    }
    #expect(count == times.count * times.count)
  }

  @Test func timeRangesTakeExtremes() {
    // Some of each kind with some of each kind.
    let some = Swift.stride(from: 0, to: Extremes.ranges.count, by: 13).map { Extremes.ranges[$0] }
    for a in some {
      _ = (CMTimeRangeGetEnd(a), CMTimeRangeCopyDescription(allocator: nil, range: a), a.isEmpty, a.hashValue)
      if let words = CMTimeRangeCopyAsDictionary(a, allocator: nil) {
        _ = CMTimeRangeMakeFromDictionary(words)
      }
      _ = CMTimeMappingCopyDescription(allocator: nil, mapping: CMTimeMappingMakeEmpty(target: a))
      for time in times {
        _ = (CMTimeRangeContainsTime(a, time: time), CMTimeClampToRange(time, range: a))
        _ = CMTimeFoldIntoRange(time, foldRange: a)
      }
      for b in some {
        _ = (CMTimeRangeGetUnion(a, otherRange: b), CMTimeRangeGetIntersection(a, otherRange: b))
        _ = CMTimeRangeContainsTimeRange(a, otherRange: b)
        #expect(CMTimeRangeEqual(a, b) == CMTimeRangeEqual(b, a))
        for time in [times[4], times[5], times[12], times[20], times[27]] {
          _ = CMTimeMapTimeFromRangeToRange(time, fromRange: a, toRange: b)
          _ = CMTimeMapDurationFromRangeToRange(time, fromRange: a, toRange: b)
        }
      }
    }
    #expect(CMTimeRangeGetEnd(CMTimeRange(start: .zero, duration: .positiveInfinity)) == .positiveInfinity)
  }

  @Test func clocksAndTimebasesTakeExtremes() throws {
    let clock = CMClockGetHostTimeClock()
    var made: CMTimebase?
    #expect(CMTimebaseCreateWithSourceClock(allocator: nil, sourceClock: clock, timebaseOut: &made) == noErr)
    let timebase = try #require(made)
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler {}
    timer.resume()
    defer { timer.cancel() }
    #expect(CMTimebaseAddTimerDispatchSource(timebase, timerSource: timer) == noErr)
    for time in times {
      _ = (CMClockConvertHostTimeToSystemUnits(time), CMTimebaseSetTime(timebase, time: time))
      _ = (CMTimebaseGetTime(timebase), CMSyncConvertTime(time, from: timebase, to: clock))
      _ = CMSyncConvertTime(time, from: clock, to: timebase)
      _ = CMTimebaseSetTimerDispatchSourceNextFireTime(
        timebase, timerSource: timer, fireTime: time, flags: .max)
      for other in times {
        _ = CMTimebaseSetAnchorTime(timebase, timebaseTime: time, immediateSourceTime: other)
        _ = CMTimebaseGetTime(timebase)
      }
    }
    for rate in Extremes.doubles {
      _ = CMTimebaseSetRate(timebase, rate: rate)
      for time in times {
        _ = CMTimebaseSetRateAndAnchorTime(timebase, rate: rate, anchorTime: time, immediateSourceTime: time)
        _ = (CMTimebaseGetTime(timebase), CMTimebaseGetEffectiveRate(timebase))
        _ = CMSyncGetRelativeRate(timebase, relativeTo: clock)
        _ = CMTimebaseSetTimerDispatchSourceNextFireTime(
          timebase, timerSource: timer, fireTime: time, flags: 0)
      }
      for scale in Extremes.int32s {
        _ = CMTimebaseGetTimeWithTimeScale(timebase, timescale: scale, method: .default)
      }
    }
    for units in [UInt64.min, 1, .max / 2, .max] { _ = CMClockMakeHostTimeFromSystemUnits(units) }
    #expect(
      CMTimebaseSetRateAndAnchorTime(
        timebase, rate: 0, anchorTime: CMTime(value: 5, timescale: 1),
        immediateSourceTime: CMClockGetTime(clock)) == noErr)
    #expect(CMTimebaseGetTime(timebase) == CMTime(value: 5, timescale: 1))
  }

  @Test func queuesTakeExtremes() throws {
    for capacity in Extremes.ints {
      var queue: CMBufferQueue?
      let status = CMBufferQueueCreate(
        allocator: nil, capacity: capacity, callbacks: CMBufferQueueGetCallbacksForUnsortedSampleBuffers(),
        queueOut: &queue)
      #expect((status == noErr) == (queue != nil) && (queue != nil) == (capacity >= 0))
      guard let queue else { continue }
      for condition in 0..<14 {
        for time in times {
          var token: CMBufferQueueTriggerToken?
          _ = CMBufferQueueInstallTriggerHandler(
            queue, CMBufferQueueTriggerCondition(Int32(condition)), time, &token, nil)
          if let token {
            _ = CMBufferQueueTestTrigger(queue, triggerToken: token)
            _ = CMBufferQueueRemoveTrigger(queue, triggerToken: token)
          }
        }
        for threshold in Extremes.ints {
          _ = CMBufferQueueInstallTriggerHandlerWithIntegerThreshold(
            queue, CMBufferQueueTriggerCondition(Int32(condition)), threshold, nil, nil)
        }
      }
      #expect(CMBufferQueueGetBufferCount(queue) == 0)
    }
    for capacity in Extremes.int32s {
      var queue: CMSimpleQueue?
      #expect(
        (CMSimpleQueueCreate(allocator: nil, capacity: capacity, queueOut: &queue) == noErr) == (queue != nil)
      )
    }
  }

  @Test func blockBuffersTakeExtremes() throws {
    let whole = try CMBlockBuffer(length: 16, flags: .assureMemoryNow)
    let room = UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16)
    defer { room.deallocate() }
    for a in Extremes.ints {
      // Memory of the program's is as long as it says: nil asks for some.
      for b in Extremes.ints where b < 1 << 31 || b > 1 << 50 {
        var made: CMBlockBuffer?
        let status = CMBlockBufferCreateWithMemoryBlock(
          allocator: nil, memoryBlock: nil, blockLength: b, blockAllocator: nil, customBlockSource: nil,
          offsetToData: a, dataLength: b, flags: 0, blockBufferOut: &made)
        #expect((status == noErr) == (made != nil))
        made = nil
        _ = CMBlockBufferCreateWithBufferReference(
          allocator: nil, referenceBuffer: whole, offsetToData: a, dataLength: b, flags: 0,
          blockBufferOut: &made)
        if let made { #expect(a >= 0 && b >= 0 && a + CMBlockBufferGetDataLength(made) <= 16) }
        made = nil
        _ = CMBlockBufferCreateContiguous(
          allocator: nil, sourceBuffer: whole, blockAllocator: nil, customBlockSource: nil, offsetToData: a,
          dataLength: b, flags: 0, blockBufferOut: &made)
        if let made { #expect(CMBlockBufferGetDataLength(made) <= 16) }
        _ = CMBlockBufferIsRangeContiguous(whole, atOffset: a, length: b)
        let isInside = a >= 0 && a <= 16 && b >= 0 && b <= 16 && a + b <= 16
        if !isInside {
          #expect(CMBlockBufferCopyDataBytes(whole, atOffset: a, dataLength: b, destination: room) != noErr)
          #expect(
            CMBlockBufferReplaceDataBytes(
              with: room, blockBuffer: whole, offsetIntoDestination: a, dataLength: b) != noErr)
          #expect(
            CMBlockBufferFillDataBytes(with: 1, blockBuffer: whole, offsetIntoDestination: a, dataLength: b)
              != noErr)
          var pointer: UnsafeMutablePointer<CChar>?
          #expect(
            CMBlockBufferAccessDataBytes(
              whole, atOffset: a, length: b, temporaryBlock: room, returnedPointerOut: &pointer) != noErr)
        }
      }
      var pointer: UnsafeMutablePointer<CChar>?
      let status = CMBlockBufferGetDataPointer(
        whole, atOffset: a, lengthAtOffsetOut: nil, totalLengthOut: nil, dataPointerOut: &pointer)
      #expect(status != noErr || (0..<16).contains(a))
    }
  }

  @Test func sampleBuffersTakeExtremes() throws {
    var basic = AudioStreamBasicDescription(
      mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM, mFormatFlags: kAudioFormatFlagIsPacked,
      mBytesPerPacket: 2, mFramesPerPacket: 1, mBytesPerFrame: 2, mChannelsPerFrame: 1, mBitsPerChannel: 16,
      mReserved: 0)
    var format: CMAudioFormatDescription?
    #expect(
      CMAudioFormatDescriptionCreate(
        allocator: nil, asbd: &basic, layoutSize: 0, layout: nil, magicCookieSize: 0, magicCookie: nil,
        extensions: nil, formatDescriptionOut: &format) == noErr)
    let audio = try #require(format)
    let block = try CMBlockBuffer(length: 8, flags: .assureMemoryNow)
    for time in times {
      for other in times {
        var timing = CMSampleTimingInfo(duration: other, presentationTimeStamp: time, decodeTimeStamp: other)
        var size = 2
        var made: CMSampleBuffer?
        let status = CMSampleBufferCreateReady(
          allocator: nil, dataBuffer: block, formatDescription: audio, sampleCount: 4,
          sampleTimingEntryCount: 1,
          sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &made)
        #expect((status == noErr) == (made != nil))
        guard let made else { continue }
        _ = (CMSampleBufferGetDuration(made), CMSampleBufferGetOutputDuration(made))
        _ = (CMSampleBufferGetOutputPresentationTimeStamp(made), CMSampleBufferGetOutputDecodeTimeStamp(made))
        _ = CMSampleBufferSetOutputPresentationTimeStamp(made, newValue: other)
        _ = CMSampleBufferGetOutputPresentationTimeStamp(made)
        for index in Extremes.ints {
          _ = CMSampleBufferGetSampleTimingInfo(made, at: index, timingInfoOut: &timing)
        }
      }
    }
    var timing = CMSampleTimingInfo(
      duration: CMTime(value: 1, timescale: 48000), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
    var size = 2
    var sample: CMSampleBuffer?
    CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: block, formatDescription: audio, sampleCount: 4, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 1, sampleSizeArray: &size, sampleBufferOut: &sample)
    let whole = try #require(sample)
    for a in Extremes.ints {
      #expect(CMSampleBufferGetSampleSize(whole, at: a) == ((0..<4).contains(a) ? 2 : 0))
      for b in Extremes.ints {
        var part: CMSampleBuffer?
        let status = CMSampleBufferCopySampleBufferForRange(
          allocator: nil, sampleBuffer: whole, sampleRange: CFRange(location: a, length: b),
          sampleBufferOut: &part)
        #expect(status != noErr || a >= 0 && a < 4 && b > 0 && b <= 4 - a, "\(a) \(b)")
      }
      // Counts without what is counted.
      var made: CMSampleBuffer?
      _ = CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: block, formatDescription: audio, sampleCount: a,
        sampleTimingEntryCount: 0,
        sampleTimingArray: nil, sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &made)
      if let made {
        _ = (CMSampleBufferGetTotalSampleSize(made), CMSampleBufferGetDuration(made))
        _ = CMSampleBufferGetSampleAttachmentsArray(made, createIfNecessary: true)
        _ = CMSampleBufferCallBlockForEachSample(made) { _, _ in 1 }
      }
      made = nil
      for time in times {
        _ = CMAudioSampleBufferCreateReadyWithPacketDescriptions(
          allocator: nil, dataBuffer: block, formatDescription: audio, sampleCount: a,
          presentationTimeStamp: time,
          packetDescriptions: nil, sampleBufferOut: &made)
        if let made { _ = (CMSampleBufferGetDuration(made), CMSampleBufferGetOutputDuration(made)) }
      }
    }
    let list = AudioBufferList.allocate(maximumBuffers: 1)
    defer { list.unsafeMutablePointer.deallocate() }
    let room = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
    defer { room.deallocate() }
    list[0] = AudioBuffer(mNumberChannels: 1, mDataByteSize: 8, mData: room)
    for a in Extremes.int32s {
      for b in Extremes.int32s {
        let status = CMSampleBufferCopyPCMDataIntoAudioBufferList(
          whole, at: a, frameCount: b, into: list.unsafeMutablePointer)
        #expect(status != noErr || a >= 0 && b >= 0 && Int(a) + Int(b) <= 4, "\(a) \(b)")
      }
    }
  }

  /// One channel after the other, of more frames than there are bytes: where a channel would begin
  /// is beyond any number.
  @Test func channelsOfMissingFramesAreRefused() throws {
    var basic = AudioStreamBasicDescription(
      mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
      mFormatFlags: kAudioFormatFlagIsPacked | kAudioFormatFlagIsNonInterleaved, mBytesPerPacket: 4,
      mFramesPerPacket: 1, mBytesPerFrame: 4, mChannelsPerFrame: 3, mBitsPerChannel: 32, mReserved: 0)
    var format: CMAudioFormatDescription?
    CMAudioFormatDescriptionCreate(
      allocator: nil, asbd: &basic, layoutSize: 0, layout: nil, magicCookieSize: 0, magicCookie: nil,
      extensions: nil, formatDescriptionOut: &format)
    let room = UnsafeMutableRawPointer.allocate(byteCount: 24, alignment: 8)
    defer { room.deallocate() }
    let list = AudioBufferList.allocate(maximumBuffers: 3)
    defer { list.unsafeMutablePointer.deallocate() }
    for index in 0..<3 {
      list[index] = AudioBuffer(mNumberChannels: 1, mDataByteSize: 8, mData: room + 8 * index)
    }
    let block = try CMBlockBuffer(length: 8, flags: .assureMemoryNow)
    for claimed in [Int.max, .max / 2, 1 << 40] {
      var timing = CMSampleTimingInfo(
        duration: CMTime(value: 1, timescale: 48000), presentationTimeStamp: .zero, decodeTimeStamp: .invalid)
      var made: CMSampleBuffer?
      CMSampleBufferCreateReady(
        allocator: nil, dataBuffer: block, formatDescription: format, sampleCount: claimed,
        sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 0, sampleSizeArray: nil,
        sampleBufferOut: &made)
      let buffer = try #require(made)
      for (offset, count) in [(Int32(0), Int32(0)), (0, 1), (5, 2), (.max - 1, 1)] {
        let status = CMSampleBufferCopyPCMDataIntoAudioBufferList(
          buffer, at: offset, frameCount: count, into: list.unsafeMutablePointer)
        #expect((status == noErr) == (count == 0), "\(claimed) \(offset) \(count)")
      }
    }
  }

  /// More channels than anything has, each with a buffer of its own: no list of them is made.
  @Test func listsOfTooManyChannelsAreRefused() throws {
    for (channels, isPossible) in [(UInt32(8), true), (65_535, true), (65_536, false), (.max, false)] {
      var basic = AudioStreamBasicDescription(
        mSampleRate: 48000, mFormatID: kAudioFormatLinearPCM,
        mFormatFlags: kAudioFormatFlagIsPacked | kAudioFormatFlagIsNonInterleaved, mBytesPerPacket: 2,
        mFramesPerPacket: 1, mBytesPerFrame: 2, mChannelsPerFrame: channels, mBitsPerChannel: 16, mReserved: 0
      )
      var format: CMAudioFormatDescription?
      CMAudioFormatDescriptionCreate(
        allocator: nil, asbd: &basic, layoutSize: 0, layout: nil, magicCookieSize: 0, magicCookie: nil,
        extensions: nil, formatDescriptionOut: &format)
      let block = try CMBlockBuffer(length: 16, flags: .assureMemoryNow)
      let buffer = try CMSampleBuffer(
        dataBuffer: block, formatDescription: try #require(format), numSamples: 1,
        presentationTimeStamp: .zero, packetDescriptions: [])
      for flags in [CMSampleBuffer.Flags(), .audioBufferListAssure16ByteAlignment] {
        let count = try? buffer.withAudioBufferList(flags: flags) { list, _ in list.count }
        #expect(count == (isPossible ? Int(channels) : nil), "\(channels)")
      }
    }
  }

  @Test func formatDescriptionsTakeExtremes() throws {
    for width in Extremes.int32s {
      for height in Extremes.int32s {
        var made: CMFormatDescription?
        let extensions: NSDictionary = [
          kCMFormatDescriptionExtension_CleanAperture: [
            kCMFormatDescriptionKey_CleanApertureWidth: Double(width),
            kCMFormatDescriptionKey_CleanApertureHeight: Double.nan,
            kCMFormatDescriptionKey_CleanApertureHorizontalOffset: 1e300,
            kCMFormatDescriptionKey_CleanApertureVerticalOffset: -Double.infinity,
          ] as NSDictionary,
          kCMFormatDescriptionExtension_PixelAspectRatio: [
            kCMFormatDescriptionKey_PixelAspectRatioHorizontalSpacing: Int(height),
            kCMFormatDescriptionKey_PixelAspectRatioVerticalSpacing: 0,
          ] as NSDictionary,
        ]
        _ = CMVideoFormatDescriptionCreate(
          allocator: nil, codecType: kCMVideoCodecType_H264, width: width, height: height,
          extensions: extensions,
          formatDescriptionOut: &made)
        guard let made else { continue }
        #expect(CMVideoFormatDescriptionGetDimensions(made).width == width)
        for flag in [false, true] {
          _ = CMVideoFormatDescriptionGetCleanAperture(made, originIsAtTopLeft: flag)
          _ = CMVideoFormatDescriptionGetPresentationDimensions(
            made, usePixelAspectRatio: flag, useCleanAperture: flag)
          _ = CMVideoFormatDescriptionGetPresentationDimensions(
            made, usePixelAspectRatio: flag, useCleanAperture: !flag)
        }
        var block: CMBlockBuffer?
        _ = CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
          allocator: nil, videoFormatDescription: made, stringEncoding: 0, flavor: nil, blockBufferOut: &block
        )
        for index in Extremes.ints {
          #expect(
            CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
              made, parameterSetIndex: index, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
              parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil) != noErr)
        }
      }
    }
    for rate in Extremes.doubles {
      for number in [UInt32.min, 1, 2, 65_536, .max] {
        for codec in [kAudioFormatLinearPCM, kAudioFormatMPEG4AAC] {
          var basic = AudioStreamBasicDescription(
            mSampleRate: rate, mFormatID: codec, mFormatFlags: number, mBytesPerPacket: number,
            mFramesPerPacket: number, mBytesPerFrame: number, mChannelsPerFrame: number,
            mBitsPerChannel: number,
            mReserved: number)
          var made: CMAudioFormatDescription?
          _ = CMAudioFormatDescriptionCreate(
            allocator: nil, asbd: &basic, layoutSize: 0, layout: nil, magicCookieSize: 0, magicCookie: nil,
            extensions: nil, formatDescriptionOut: &made)
          guard let made else { continue }
          _ = CMAudioFormatDescriptionGetRichestDecodableFormat(made)
          _ = CMAudioFormatDescriptionEqual(
            made, otherFormatDescription: made, equalityMask: kCMAudioFormatDescriptionMask_All,
            equalityMaskOut: nil)
        }
      }
    }
    for time in times {
      for number in [UInt32.min, 1, 30, .max] {
        var made: CMTimeCodeFormatDescription?
        _ = CMTimeCodeFormatDescriptionCreate(
          allocator: nil, timeCodeFormatType: kCMTimeCodeFormatType_TimeCode32, frameDuration: time,
          frameQuanta: number, flags: number, extensions: nil, formatDescriptionOut: &made)
        guard let made else { continue }
        var block: CMBlockBuffer?
        _ = CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
          allocator: nil, timeCodeFormatDescription: made, flavor: nil, blockBufferOut: &block)
      }
    }
  }
}
