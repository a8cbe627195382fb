// SPDX-License-Identifier: Apache-2.0
import AVFoundation
import Foundation
import VideoToolbox

// C functions and Objective-C methods may be called for their effect alone: Apple's importer lets a
// program drop what they return, without a warning. Programs do that everywhere.

var buffer: CVPixelBuffer?
CVPixelBufferCreate(kCFAllocatorDefault, 64, 64, kCVPixelFormatType_32BGRA, nil, &buffer)
guard let buffer else { fatalError("no pixel buffer") }
CVPixelBufferLockBaseAddress(buffer, [])
CVPixelBufferGetBaseAddress(buffer)
CVPixelBufferGetWidth(buffer)
CVPixelBufferUnlockBaseAddress(buffer, [])
CVPixelBufferCopyCreationAttributes(buffer)
CVBufferCopyAttachments(buffer, .shouldPropagate)

var pool: CVPixelBufferPool?
CVPixelBufferPoolCreate(
  kCFAllocatorDefault, nil,
  [kCVPixelBufferWidthKey: 64, kCVPixelBufferHeightKey: 64] as CFDictionary, &pool)

var timebase: CMTimebase?
CMTimebaseCreateWithSourceClock(
  allocator: kCFAllocatorDefault, sourceClock: CMClockGetHostTimeClock(), timebaseOut: &timebase)
if let timebase {
  CMTimebaseSetTime(timebase, time: .zero)
  CMTimebaseSetRate(timebase, rate: 1)
  CMTimebaseGetTime(timebase)
}
CMTimeMake(value: 1, timescale: 30)
CMTimeAdd(.zero, .zero)
CMTimeRangeMake(start: .zero, duration: .zero)
CFAbsoluteTimeGetCurrent()

var format: CMVideoFormatDescription?
CMVideoFormatDescriptionCreateForImageBuffer(
  allocator: kCFAllocatorDefault, imageBuffer: buffer, formatDescriptionOut: &format)
if let format { CMVideoFormatDescriptionGetDimensions(format) }

var session: VTCompressionSession?
VTCompressionSessionCreate(
  allocator: kCFAllocatorDefault, width: 64, height: 64, codecType: kCMVideoCodecType_H264,
  encoderSpecification: nil, imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil,
  refcon: nil, compressionSessionOut: &session)
guard let session else { fatalError("no session") }
VTSessionSetProperty(session, key: kVTCompressionPropertyKey_RealTime, value: kCFBooleanTrue)
VTSessionSetProperties(session, propertyDictionary: [:] as CFDictionary)
VTCompressionSessionGetPixelBufferPool(session)
VTCompressionSessionPrepareToEncodeFrames(session)
VTCompressionSessionEncodeFrame(
  session, imageBuffer: buffer, presentationTimeStamp: .zero, duration: .invalid, frameProperties: nil,
  infoFlagsOut: nil
) { status, _, sample in
  guard status == noErr, let sample else { return }
  CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: true)
  CMSampleBufferGetPresentationTimeStamp(sample)
  if let block = CMSampleBufferGetDataBuffer(sample) {
    CMBlockBufferGetDataLength(block)
    var length = 0
    var pointer: UnsafeMutablePointer<CChar>?
    CMBlockBufferGetDataPointer(
      block, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: &length, dataPointerOut: &pointer)
    print("\(length > 0 ? "a frame" : "nothing")")
  }
}
VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
VTCompressionSessionInvalidate(session)

let url = URL(fileURLWithPath: NSTemporaryDirectory())
  .appendingPathComponent("ignored-\(UUID().uuidString).mov")
if let writer = try? AVAssetWriter(outputURL: url, fileType: .mov) {
  let input = AVAssetWriterInput(mediaType: .video, outputSettings: nil)
  writer.canAdd(input)
  writer.add(input)
  writer.startWriting()
  writer.cancelWriting()
}
