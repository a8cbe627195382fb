// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import Testing
import TestSupport

private func time(_ value: Int64, _ scale: Int32 = 600) -> CMTime { CMTime(value: value, timescale: scale) }

private func sample(_ pts: Int64, dts: Int64? = nil, size: Int = 10) throws -> CMSampleBuffer {
  try CMSampleBuffer(
    dataBuffer: nil, formatDescription: nil, numSamples: 1,
    sampleTimings: [
      CMSampleTimingInfo(
        duration: time(20), presentationTimeStamp: time(pts),
        decodeTimeStamp: dts.map { time($0) } ?? .invalid)
    ], sampleSizes: [size])
}

/// The C functions where the other tests use the members of the same name.
@Suite struct FunctionTests {
  @Test func bufferQueueFunctionsActAsTheMembers() throws {
    var made: CMBufferQueue?
    #expect(
      CMBufferQueueCreate(
        allocator: nil, capacity: 0, callbacks: CMBufferQueueGetCallbacksForSampleBuffersSortedByOutputPTS(),
        queueOut: &made) == noErr)
    let queue = try #require(made)
    #expect(CMBufferQueueIsEmpty(queue) && CMBufferQueueGetTotalSize(queue) == 0)
    for (pts, dts) in [(40, 5), (0, 10), (20, 15)] as [(Int64, Int64)] {
      #expect(CMBufferQueueEnqueue(queue, buffer: try sample(pts, dts: dts)) == noErr)
    }
    #expect(!CMBufferQueueIsEmpty(queue) && CMBufferQueueGetTotalSize(queue) == 30)
    #expect(CMBufferQueueGetFirstDecodeTimeStamp(queue) == time(10))
    #expect(CMBufferQueueGetMinDecodeTimeStamp(queue) == time(5))
    #expect(CMBufferQueueGetMaxPresentationTimeStamp(queue) == time(40))
    var seen: [Int64] = []
    let status = withUnsafeMutablePointer(to: &seen) { seen in
      CMBufferQueueCallForEachBuffer(
        queue,
        callback: { buffer, refcon in
          let pts = (buffer as! CMSampleBuffer).presentationTimeStamp.value
          refcon!.assumingMemoryBound(to: [Int64].self).pointee.append(pts)
          return pts == 20 ? -7 : noErr
        }, refcon: seen)
    }
    #expect(status == -7 && seen == [0, 20])
    #expect((CMBufferQueueDequeueIfDataReady(queue) as? CMSampleBuffer)?.presentationTimeStamp == time(0))

    let fired = Guarded(0)
    var token: CMBufferQueueTriggerToken?
    #expect(
      CMBufferQueueInstallTriggerHandler(
        queue, kCMBufferQueueTrigger_WhenDurationBecomesLessThanOrEqualTo, time(20), &token
      ) { _ in fired.withLock { $0 += 1 } } == noErr)
    #expect(fired.withLock { $0 } == 0)
    _ = CMBufferQueueDequeue(queue)
    #expect(fired.withLock { $0 } == 1)
    #expect(CMBufferQueueTestTrigger(queue, triggerToken: try #require(token)))

    let accepted = CMBufferQueueSetValidationHandler(queue) { _, _ in -8 }
    let refused = CMBufferQueueEnqueue(queue, buffer: try sample(60))
    #expect(accepted == noErr && refused == -8)
    var dropped: [Int64] = []
    _ = withUnsafeMutablePointer(to: &dropped) { dropped in
      CMBufferQueueResetWithCallback(
        queue,
        callback: { buffer, refcon in
          refcon!.assumingMemoryBound(to: [Int64].self).pointee
            .append((buffer as! CMSampleBuffer).presentationTimeStamp.value)
        }, refcon: dropped)
    }
    #expect(dropped == [40] && CMBufferQueueIsEmpty(queue))
    #expect(CMBufferQueueDequeueIfDataReady(queue) == nil)
  }

  @Test func simpleQueueFunctionsActAsTheMembers() throws {
    var made: CMSimpleQueue?
    #expect(CMSimpleQueueCreate(allocator: nil, capacity: 2, queueOut: &made) == noErr)
    let queue = try #require(made)
    #expect(CMSimpleQueueGetHead(queue) == nil)
    let pointers = [8, 16].map { UnsafeRawPointer(bitPattern: $0)! }
    for pointer in pointers { #expect(CMSimpleQueueEnqueue(queue, element: pointer) == noErr) }
    #expect(CMSimpleQueueGetHead(queue) == pointers[0] && CMSimpleQueueGetCount(queue) == 2)
    #expect(CMSimpleQueueReset(queue) == noErr)
    #expect(CMSimpleQueueGetCount(queue) == 0 && CMSimpleQueueDequeue(queue) == nil)
    #expect(CMSimpleQueueEnqueue(queue, element: pointers[1]) == noErr)
    #expect(CMSimpleQueueDequeue(queue) == pointers[1])
  }

  @Test func timebaseFunctionsActAsTheMembers() throws {
    let clock = CMClockGetHostTimeClock()
    var made: CMTimebase?
    #expect(CMTimebaseCreateWithMasterClock(allocator: nil, masterClock: clock, timebaseOut: &made) == noErr)
    let master = try #require(made)
    #expect(
      CMTimebaseCreateWithSourceTimebase(allocator: nil, sourceTimebase: master, timebaseOut: &made) == noErr)
    let slave = try #require(made)
    #expect(
      CMTimebaseCreateWithMasterTimebase(allocator: nil, masterTimebase: slave, timebaseOut: &made) == noErr)
    let last = try #require(made)
    #expect(CMTimebaseCopyMasterClock(master) === clock && CMTimebaseGetMasterClock(master) === clock)
    #expect(CMTimebaseCopyMasterTimebase(master) == nil && CMTimebaseCopySourceTimebase(slave) === master)
    #expect(CMTimebaseCopyMasterTimebase(last) === slave && CMTimebaseCopySourceClock(last) == nil)
    #expect(
      CMTimebaseCopyUltimateSourceClock(last) === clock && CMTimebaseGetUltimateMasterClock(last) === clock)
    #expect(CMTimebaseCopySource(slave) as AnyObject === master as AnyObject)
    #expect(CMTimebaseCopyMaster(master) as AnyObject === clock as AnyObject)
    #expect(CMTimebaseGetMaster(last) as AnyObject === slave as AnyObject)

    #expect(CMTimebaseSetRate(master, rate: 2) == noErr && CMTimebaseSetRate(slave, rate: 0.5) == noErr)
    #expect(CMSyncGetRelativeRate(slave, relativeTo: clock) == 1)
    #expect(CMSyncGetRelativeRate(master, relativeTo: slave) == 2)
    #expect(!CMClockMightDrift(clock, otherClock: clock))
    #expect(CMTimebaseSetRate(master, rate: 0) == noErr)
    #expect(CMTimebaseSetTime(master, time: time(1, 3)) == noErr)
    var (now, rate) = (CMTime.invalid, 9.0)
    #expect(CMTimebaseGetTimeAndRate(master, timeOut: &now, rateOut: &rate) == noErr)
    #expect(now == time(1, 3) && rate == 0)
    #expect(CMTimebaseGetTimeWithTimeScale(master, timescale: 100, method: .roundTowardZero).value == 33)
    #expect(CMTimebaseGetTimeWithTimeScale(master, timescale: 100, method: .roundAwayFromZero).value == 34)
    // Another source does not move the time.
    #expect(CMTimebaseSetSourceClock(slave, clock) == noErr && CMTimebaseCopySourceTimebase(slave) == nil)
    #expect(CMTimebaseSetMasterClock(slave, clock) == noErr && CMTimebaseCopySourceClock(slave) === clock)
  }

  @Test func timerFunctionsActAsTheMembers() async throws {
    let timebase = try CMTimebase(sourceClock: .hostTimeClock)
    let fired: [Bool] = await withCheckedContinuation { done in
      Thread.detachNewThread {
        nonisolated(unsafe) var count = 0
        let timer = Timer(
          fire: Date(timeIntervalSinceReferenceDate: CMTimebase.farFuture),
          interval: CMTimebase.veryLongTimeInterval, repeats: true
        ) { _ in count += 1 }
        let runLoop = CFRunLoopGetCurrent()!
        CFRunLoopAddTimer(runLoop, timer, .defaultMode)
        var results = [CMTimebaseAddTimer(timebase, timer: timer, runloop: runLoop) == noErr]
        CMTimebaseSetRate(timebase, rate: 1)
        let soon = CMTimebaseGetTime(timebase) + CMTime(value: 20, timescale: 1000)
        results.append(
          CMTimebaseSetTimerNextFireTime(timebase, timer: timer, fireTime: soon, flags: 0) == noErr)
        func wait(for firings: Int) {
          blockUntil {
            CFRunLoopRunInMode(.defaultMode, 0.05, true)
            return count >= firings
          }
        }
        wait(for: 1)
        results.append(count == 1 && CMTimebaseGetTime(timebase) >= soon)
        results.append(CMTimebaseSetTimerToFireImmediately(timebase, timer: timer) == noErr)
        wait(for: 2)
        results.append(count == 2)
        results.append(CMTimebaseRemoveTimer(timebase, timer: timer) == noErr)
        results.append(CMTimebaseRemoveTimer(timebase, timer: timer) != noErr)
        timer.invalidate()
        done.resume(returning: results)
      }
    }
    #expect(fired == Array(repeating: true, count: 7))

    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "timer"))
    let signal = Signal()
    source.setEventHandler { signal.fire() }
    source.activate()
    #expect(CMTimebaseAddTimerDispatchSource(timebase, timerSource: source) == noErr)
    #expect(CMTimebaseSetTimerDispatchSourceToFireImmediately(timebase, timerSource: source) == noErr)
    #expect(signal.wait())
    #expect(CMTimebaseRemoveTimerDispatchSource(timebase, timerSource: source) == noErr)
    source.cancel()
  }

  @Test func sampleBufferFunctionsActAsTheMembers() throws {
    // Data that a handler brings.
    var timings = [
      CMSampleTimingInfo(duration: time(20), presentationTimeStamp: time(100), decodeTimeStamp: time(60))
    ]
    var made: CMSampleBuffer?
    #expect(
      CMSampleBufferCreateWithMakeDataReadyHandler(nil, nil, false, nil, 2, 1, &timings, 1, [8], &made) {
        buffer in
        guard let block = try? CMBlockBuffer(length: 16, flags: .assureMemoryNow) else { return -1 }
        return CMSampleBufferSetDataBuffer(buffer, newValue: block)
      } == noErr)
    let buffer = try #require(made)
    #expect(!CMSampleBufferDataIsReady(buffer) && CMSampleBufferMakeDataReady(buffer) == noErr)
    #expect(CMSampleBufferDataIsReady(buffer) && CMSampleBufferGetDataBuffer(buffer)?.dataLength == 16)

    // Faster, trimmed and moved: the output's times are of the whole buffer.
    CMSetAttachments(
      buffer,
      attachments: [
        kCMSampleBufferAttachmentKey_SpeedMultiplier: 2,
        kCMSampleBufferAttachmentKey_TrimDurationAtStart: CMTimeCopyAsDictionary(time(10), allocator: nil)!,
      ] as CFDictionary, attachmentMode: kCMAttachmentMode_ShouldPropagate)
    #expect(CMSampleBufferGetOutputDuration(buffer) == time(15))
    #expect(CMSampleBufferSetOutputPresentationTimeStamp(buffer, newValue: time(1000)) == noErr)
    #expect(CMSampleBufferGetOutputDecodeTimeStamp(buffer) == time(980))
    var needed: CMItemCount = 0
    #expect(
      CMSampleBufferGetOutputSampleTimingInfoArray(
        buffer, entryCount: 0, arrayToFill: nil, entriesNeededOut: &needed) == noErr)
    var entries = [CMSampleTimingInfo](repeating: CMSampleTimingInfo(), count: needed)
    #expect(
      CMSampleBufferGetOutputSampleTimingInfoArray(
        buffer, entryCount: needed, arrayToFill: &entries, entriesNeededOut: nil) == noErr)
    let first = try #require(entries.first)
    // The first sample begins, at double speed, half of what was trimmed before the output does.
    #expect(first.presentationTimeStamp == time(995) && first.duration == time(10))

    // The end, reported to a handler.
    let reported = Guarded(0)
    #expect(CMSampleBufferSetInvalidateHandler(buffer) { _ in reported.withLock { $0 += 1 } } == noErr)
    #expect(CMSampleBufferInvalidate(buffer) == noErr && CMSampleBufferInvalidate(buffer) == noErr)
    #expect(reported.withLock { $0 } == 1)

    // Pictures that come later.
    var pixels: CVPixelBuffer?
    CVPixelBufferCreate(nil, 32, 16, kCVPixelFormatType_32BGRA, nil, &pixels)
    let picture = try #require(pixels)
    let format = try CMVideoFormatDescription(imageBuffer: picture)
    #expect(
      CMSampleBufferCreateForImageBuffer(
        allocator: nil, imageBuffer: picture, dataReady: false,
        makeDataReadyCallback: { _, refcon in refcon == nil ? -1 : noErr },
        refcon: UnsafeMutableRawPointer(bitPattern: 1), formatDescription: format, sampleTiming: &timings,
        sampleBufferOut: &made) == noErr)
    #expect(!CMSampleBufferDataIsReady(made!) && CMSampleBufferMakeDataReady(made!) == noErr)
    #expect(CMSampleBufferDataIsReady(made!))
    #expect(
      CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
        nil, picture, false, format, &timings, &made, { _ in -5 }) == noErr)
    #expect(CMSampleBufferMakeDataReady(made!) != noErr && !CMSampleBufferDataIsReady(made!))
    #expect(
      CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
        nil, picture, false, format, &timings, &made, nil) == noErr)
    #expect(CMSampleBufferSetDataReady(made!) == noErr && CMSampleBufferDataIsReady(made!))
  }

  @Test func formatDescriptionFunctionsActAsTheMembers() throws {
    var made: CMFormatDescription?
    #expect(
      CMFormatDescriptionCreate(
        allocator: nil, mediaType: kCMMediaType_Metadata, mediaSubType: 0x6D65_6278, extensions: nil,
        formatDescriptionOut: &made) == noErr)
    #expect(made?.mediaType == .metadata && made?.mediaSubType.rawValue == 0x6D65_6278)

    // 1440x1080 with a clean aperture that is narrower, and to the right of the middle.
    let extensions: [CFString: Any] = [
      kCMFormatDescriptionExtension_CleanAperture: [
        kCMFormatDescriptionKey_CleanApertureWidth: 1400, kCMFormatDescriptionKey_CleanApertureHeight: 1000,
        kCMFormatDescriptionKey_CleanApertureHorizontalOffset: 10,
        kCMFormatDescriptionKey_CleanApertureVerticalOffset: 20,
      ] as CFDictionary
    ]
    var video: CMVideoFormatDescription?
    #expect(
      CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: kCMVideoCodecType_H264, width: 1440, height: 1080,
        extensions: extensions as CFDictionary, formatDescriptionOut: &video) == noErr)
    let described = try #require(video)
    // The offset counts to the right and down from the middle.
    #expect(
      CMVideoFormatDescriptionGetCleanAperture(described, originIsAtTopLeft: true)
        == CGRect(x: 30, y: 60, width: 1400, height: 1000))
    #expect(
      CMVideoFormatDescriptionGetCleanAperture(described, originIsAtTopLeft: false)
        == CGRect(x: 30, y: 20, width: 1400, height: 1000))
    let common = CMVideoFormatDescriptionGetExtensionKeysCommonWithImageBuffers() as? [String] ?? []
    for key in [
      kCVImageBufferColorPrimariesKey, kCVImageBufferYCbCrMatrixKey, kCVImageBufferTransferFunctionKey,
      kCVImageBufferCleanApertureKey, kCVImageBufferPixelAspectRatioKey, kCVImageBufferFieldCountKey,
    ] { #expect(common.contains(key as String)) }

    // Through a sample description in a block buffer.
    var block: CMBlockBuffer?
    #expect(
      CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
        allocator: nil, videoFormatDescription: described,
        stringEncoding: CFStringBuiltInEncodings.UTF8.rawValue, flavor: nil, blockBufferOut: &block) == noErr)
    #expect(
      CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionBlockBuffer(
        allocator: nil, bigEndianImageDescriptionBlockBuffer: try #require(block),
        stringEncoding: CFStringBuiltInEncodings.UTF8.rawValue, flavor: nil, formatDescriptionOut: &made)
        == noErr)
    let again = try #require(made)
    #expect(
      CMVideoFormatDescriptionGetCleanAperture(again, originIsAtTopLeft: true)
        == CGRect(x: 30, y: 60, width: 1400, height: 1000))
    #expect(again.dimensions.width == 1440 && again.dimensions.height == 1080)
  }

  @Test func timeRangeFunctionsActAsTheMembers() {
    let range = CMTimeRangeFromTimeToTime(start: time(10), end: time(30))
    #expect(range.duration == time(20))
    #expect(CMTimeRangeContainsTime(range, time: time(10)) && !CMTimeRangeContainsTime(range, time: time(30)))
    let inner = CMTimeRange(start: time(15), duration: time(15))
    #expect(CMTimeRangeContainsTimeRange(range, otherRange: inner))
    #expect(!CMTimeRangeContainsTimeRange(inner, otherRange: range))
    let other = CMTimeRange(start: time(50), duration: time(10))
    #expect(CMTimeRangeGetUnion(range, otherRange: other) == CMTimeRange(start: time(10), end: time(60)))
    let mapping = CMTimeMapping(source: range, target: other)
    let text = CMTimeMappingCopyDescription(allocator: nil, mapping: mapping) as String? ?? ""
    #expect(text.contains("10/600") && text.contains("50/600"))
  }
}

private final class Signal: @unchecked Sendable {
  private let semaphore = DispatchSemaphore(value: 0)
  func fire() { semaphore.signal() }
  func wait() -> Bool { waitForSignal(semaphore) }
}
