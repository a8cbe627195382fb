// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import CoreVideo
import Foundation

nonisolated(unsafe) private var invalidated: UInt64 = 0
nonisolated(unsafe) private var madeReady = 0

/// Sample buffers with several samples, with data that comes later, and what copies carry on.
func sampleBuffers() {
  // Three samples, one buffer, data on demand.
  let sizes = [100, 50, 25]
  let durations = CMTime(value: 1001, timescale: 30_000)
  var timing = CMSampleTimingInfo(
    duration: durations, presentationTimeStamp: CMTime(value: 3003, timescale: 30_000),
    decodeTimeStamp: .invalid)
  var format: CMVideoFormatDescription?
  expectNoErr(
    CMVideoFormatDescriptionCreate(
      allocator: kCFAllocatorDefault, codecType: kCMVideoCodecType_JPEG, width: 320, height: 240,
      extensions: nil, formatDescriptionOut: &format))
  var sampleBuffer: CMSampleBuffer?
  expectNoErr(
    CMSampleBufferCreate(
      allocator: kCFAllocatorDefault, dataBuffer: nil, dataReady: false,
      makeDataReadyCallback: { sbuf, refcon in
        madeReady += 1
        var block: CMBlockBuffer?
        var status = CMBlockBufferCreateWithMemoryBlock(
          allocator: nil, memoryBlock: nil, blockLength: 175, blockAllocator: nil, customBlockSource: nil,
          offsetToData: 0, dataLength: 175, flags: kCMBlockBufferAssureMemoryNowFlag, blockBufferOut: &block)
        guard status == noErr, let block else { return status }
        CMBlockBufferFillDataBytes(
          with: 0x11, blockBuffer: block, offsetIntoDestination: 0, dataLength: 175)
        status = CMSampleBufferSetDataBuffer(sbuf, newValue: block)
        return status
      },
      refcon: nil, formatDescription: format, sampleCount: 3, sampleTimingEntryCount: 1,
      sampleTimingArray: &timing, sampleSizeEntryCount: 3, sampleSizeArray: sizes,
      sampleBufferOut: &sampleBuffer))
  let buffer = sampleBuffer!
  expect(!CMSampleBufferDataIsReady(buffer) && CMSampleBufferGetDataBuffer(buffer) == nil)
  expect(CMSampleBufferGetTotalSampleSize(buffer) == 175)
  expectNoErr(CMSampleBufferMakeDataReady(buffer))
  expect(madeReady == 1 && CMSampleBufferDataIsReady(buffer))
  expectNoErr(CMSampleBufferMakeDataReady(buffer))
  expect(madeReady == 1)
  expect(CMSampleBufferGetDuration(buffer) == CMTime(value: 3003, timescale: 30_000))
  expect(CMSampleBufferGetSampleSize(buffer, at: 1) == 50)
  expect(CMSampleBufferGetSampleSize(buffer, at: 3) == 0)
  var second = CMSampleTimingInfo()
  expectNoErr(CMSampleBufferGetSampleTimingInfo(buffer, at: 1, timingInfoOut: &second))
  expect(second.presentationTimeStamp == CMTime(value: 4004, timescale: 30_000))
  expect(!second.decodeTimeStamp.isValid)
  expect(
    CMSampleBufferGetSampleTimingInfo(buffer, at: 3, timingInfoOut: &second)
      == kCMSampleBufferError_SampleIndexOutOfRange)
  var needed: CMItemCount = 0
  expectNoErr(
    CMSampleBufferGetSampleSizeArray(
      buffer, entryCount: 0, arrayToFill: nil, entriesNeededOut: &needed))
  expect(needed == 3)
  var array = [Int](repeating: 0, count: 2)
  expect(
    CMSampleBufferGetSampleSizeArray(buffer, entryCount: 2, arrayToFill: &array, entriesNeededOut: nil)
      == kCMSampleBufferError_ArrayTooSmall)

  // The last two of them.
  var part: CMSampleBuffer?
  expectNoErr(
    CMSampleBufferCopySampleBufferForRange(
      allocator: nil, sampleBuffer: buffer, sampleRange: CFRange(location: 1, length: 2),
      sampleBufferOut: &part))
  expect(CMSampleBufferGetNumSamples(part!) == 2 && CMSampleBufferGetTotalSampleSize(part!) == 75)
  expect(part!.presentationTimeStamp == CMTime(value: 4004, timescale: 30_000))
  expect(CMBlockBufferGetDataLength(part!.dataBuffer!) == 75)
  expect(
    CMSampleBufferCopySampleBufferForRange(
      allocator: nil, sampleBuffer: buffer, sampleRange: CFRangeMake(2, 2), sampleBufferOut: &part)
      == kCMSampleBufferError_SampleIndexOutOfRange)

  // One at a time.
  var seen: [CMItemCount] = []
  expectNoErr(
    withUnsafeMutablePointer(to: &seen) { seen in
      CMSampleBufferCallForEachSample(
        buffer,
        callback: { single, index, refcon in
          refcon!.assumingMemoryBound(to: [CMItemCount].self).pointee.append(index)
          return CMSampleBufferGetNumSamples(single) == 1 ? noErr : -1
        }, refcon: seen)
    })
  expect(seen == [0, 1, 2])
  expect(
    CMSampleBufferCallForEachSample(
      buffer, callback: { _, index, _ in index == 1 ? -42 : noErr }, refcon: nil) == -42)
  expect((try? Array(buffer.singleSampleBuffers()))?.count == 3)

  // Attachments of each sample.
  buffer.sampleAttachments[1][.notSync] = true
  buffer.sampleAttachments[2][.dependsOnOthers] = true
  let attachments =
    CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false)! as! [NSDictionary]
  expect(attachments.count == 3 && attachments[0].count == 0)
  expect(attachments[1][kCMSampleAttachmentKey_NotSync] as? Bool == true)
  expectNoErr(
    CMSampleBufferCopySampleBufferForRange(
      allocator: nil, sampleBuffer: buffer, sampleRange: CFRange(location: 2, length: 1),
      sampleBufferOut: &part))
  expect(part!.sampleAttachments.count == 1)
  expect(part!.sampleAttachments[0][.dependsOnOthers] as? Bool == true)

  // Backwards and with output times.
  var reversed = CMSampleTimingInfo(
    duration: CMTime(value: 1, timescale: 10), presentationTimeStamp: CMTime(value: 10, timescale: 10),
    decodeTimeStamp: CMTime(value: 9, timescale: 10))
  var retimed: CMSampleBuffer?
  expectNoErr(
    CMSampleBufferCreateCopyWithNewTiming(
      allocator: nil, sampleBuffer: buffer, sampleTimingEntryCount: 1, sampleTimingArray: &reversed,
      sampleBufferOut: &retimed))
  expect(retimed!.decodeTimeStamp == CMTime(value: 9, timescale: 10))
  expect(retimed!.outputPresentationTimeStamp == retimed!.presentationTimeStamp)
  CMSetAttachment(
    retimed!, key: kCMSampleBufferAttachmentKey_TrimDurationAtStart,
    value: CMTimeCopyAsDictionary(CMTime(value: 1, timescale: 20), allocator: nil)!,
    attachmentMode: kCMAttachmentMode_ShouldPropagate)
  expect(CMSampleBufferGetOutputDuration(retimed!) == CMTime(value: 5, timescale: 20))
  CMSetAttachment(
    retimed!, key: kCMSampleBufferAttachmentKey_SpeedMultiplier, value: 2 as CFNumber,
    attachmentMode: kCMAttachmentMode_ShouldPropagate)
  expect(abs(CMSampleBufferGetOutputDuration(retimed!).seconds - 0.125) < 1e-6)
  expectNoErr(
    CMSampleBufferSetOutputPresentationTimeStamp(retimed!, newValue: CMTime(value: 7, timescale: 1)))
  expect(CMSampleBufferGetOutputPresentationTimeStamp(retimed!).seconds == 7)

  // The end of it.
  expectNoErr(
    CMSampleBufferSetInvalidateCallback(
      buffer, callback: { _, refcon in invalidated = refcon }, refcon: 77))
  expectNoErr(CMSampleBufferInvalidate(buffer))
  expect(invalidated == 77 && !CMSampleBufferIsValid(buffer))
  expect(CMSampleBufferMakeDataReady(buffer) == kCMSampleBufferError_Invalidated)

  // A camera's picture.
  var pixelBuffer: CVPixelBuffer?
  CVPixelBufferCreate(nil, 64, 48, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, nil, &pixelBuffer)
  CVBufferSetAttachment(
    pixelBuffer!, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2, .shouldPropagate)
  var videoInfo: CMVideoFormatDescription?
  expectNoErr(
    CMVideoFormatDescriptionCreateForImageBuffer(
      allocator: kCFAllocatorDefault, imageBuffer: pixelBuffer!, formatDescriptionOut: &videoInfo))
  var image: CMSampleBuffer?
  var cameraTiming = CMSampleTimingInfo(
    duration: .invalid, presentationTimeStamp: CMClockGetTime(CMClockGetHostTimeClock()),
    decodeTimeStamp: .invalid)
  expectNoErr(
    CMSampleBufferCreateReadyWithImageBuffer(
      allocator: kCFAllocatorDefault, imageBuffer: pixelBuffer!, formatDescription: videoInfo!,
      sampleTiming: &cameraTiming, sampleBufferOut: &image))
  expect(CMSampleBufferGetImageBuffer(image!) === pixelBuffer!)
  expect(CMSampleBufferGetNumSamples(image!) == 1 && !CMSampleBufferGetDuration(image!).isValid)
  expect(
    image!.formatDescription!.extensions[.yCbCrMatrix]?.propertyListRepresentation as? String == "ITU_R_709_2"
  )
  // A format that is not the picture's.
  var wrong: CMVideoFormatDescription?
  CMVideoFormatDescriptionCreate(
    allocator: nil, codecType: kCVPixelFormatType_32BGRA, width: 64, height: 48, extensions: nil,
    formatDescriptionOut: &wrong)
  expect(
    CMSampleBufferCreateReadyWithImageBuffer(
      allocator: nil, imageBuffer: pixelBuffer!, formatDescription: wrong!, sampleTiming: &cameraTiming,
      sampleBufferOut: &image) == kCMSampleBufferError_InvalidMediaFormat)
}
