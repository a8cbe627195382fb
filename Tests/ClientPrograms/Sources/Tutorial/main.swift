// SPDX-License-Identifier: Apache-2.0
// The shape of many a tutorial: a C-style callback with a refcon, frames drawn by hand into buffers
// of the session's own pool, sample attachments read through CF functions, and Annex B written by
// hand. Usage: Tutorial DESTINATION.264
import CoreMedia
import CoreVideo
import Foundation
import VideoToolbox

final class AnnexBWriter {
  var data = Data()
  var frameCount = 0
  var keyFrameCount = 0
  private let startCode = Data([0, 0, 0, 1])

  func append(_ sampleBuffer: CMSampleBuffer) {
    frameCount += 1
    var isKeyFrame = true
    if let attachments = CMSampleBufferGetSampleAttachmentsArray(sampleBuffer, createIfNecessary: true),
      CFArrayGetCount(attachments) > 0
    {
      let dictionary = unsafeBitCast(CFArrayGetValueAtIndex(attachments, 0), to: CFDictionary.self)
      let key = Unmanaged.passUnretained(kCMSampleAttachmentKey_NotSync).toOpaque()
      isKeyFrame = !CFDictionaryContainsKey(dictionary, key)
    }
    if isKeyFrame, let format = CMSampleBufferGetFormatDescription(sampleBuffer) {
      keyFrameCount += 1
      var setCount = 0
      CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
        format, parameterSetIndex: 0, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
        parameterSetCountOut: &setCount, nalUnitHeaderLengthOut: nil)
      for index in 0..<setCount {
        var pointer: UnsafePointer<UInt8>?
        var size = 0
        let status = CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
          format, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
          parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil)
        guard status == noErr, let pointer else { fatalError("parameter set \(index): \(status)") }
        data.append(startCode)
        data.append(pointer, count: size)
      }
    }
    guard let block = CMSampleBufferGetDataBuffer(sampleBuffer) else { return }
    var length = 0
    var bytes: UnsafeMutablePointer<Int8>?
    let status = CMBlockBufferGetDataPointer(
      block, atOffset: 0, lengthAtOffsetOut: nil, totalLengthOut: &length, dataPointerOut: &bytes)
    guard status == kCMBlockBufferNoErr, let bytes else { fatalError("data pointer: \(status)") }
    var offset = 0
    while offset + 4 <= length {
      var bigEndian: UInt32 = 0
      memcpy(&bigEndian, bytes + offset, 4)
      let size = Int(UInt32(bigEndian: bigEndian))
      data.append(startCode)
      bytes.withMemoryRebound(to: UInt8.self, capacity: length) { data.append($0 + offset + 4, count: size) }
      offset += 4 + size
    }
  }
}

let callback: VTCompressionOutputCallback = { refcon, frameRefcon, status, infoFlags, sampleBuffer in
  guard status == noErr, let refcon, let sampleBuffer, !infoFlags.contains(.frameDropped) else { return }
  let writer = Unmanaged<AnnexBWriter>.fromOpaque(refcon).takeUnretainedValue()
  writer.append(sampleBuffer)
}

/// Draws stripes that move, and a grey ramp.
func draw(_ frame: Int, into pixelBuffer: CVPixelBuffer) {
  CVPixelBufferLockBaseAddress(pixelBuffer, CVPixelBufferLockFlags(rawValue: 0))
  defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, CVPixelBufferLockFlags(rawValue: 0)) }
  for plane in 0..<CVPixelBufferGetPlaneCount(pixelBuffer) {
    guard let base = CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, plane) else { continue }
    let stride = CVPixelBufferGetBytesPerRowOfPlane(pixelBuffer, plane)
    for row in 0..<CVPixelBufferGetHeightOfPlane(pixelBuffer, plane) {
      let line = (base + row * stride).assumingMemoryBound(to: UInt8.self)
      for column in 0..<CVPixelBufferGetWidthOfPlane(pixelBuffer, plane) * (plane == 0 ? 1 : 2) {
        line[column] = plane == 0 ? UInt8(40 + ((column + row + frame * 4) & 127)) : UInt8(118 + (row & 15))
      }
    }
  }
}

func encode(to path: String) -> Int32 {
  let writer = AnnexBWriter()
  var created: VTCompressionSession?
  let status = VTCompressionSessionCreate(
    allocator: nil, width: 320, height: 240, codecType: kCMVideoCodecType_H264, encoderSpecification: nil,
    imageBufferAttributes: [
      kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    ] as CFDictionary,
    compressedDataAllocator: nil, outputCallback: callback,
    refcon: Unmanaged.passUnretained(writer).toOpaque(),
    compressionSessionOut: &created)
  guard status == noErr, let session = created else {
    print("VTCompressionSessionCreate: \(status)")
    return 1
  }
  VTSessionSetProperty(session, key: kVTCompressionPropertyKey_RealTime, value: kCFBooleanTrue)
  VTSessionSetProperty(
    session, key: kVTCompressionPropertyKey_ProfileLevel, value: kVTProfileLevel_H264_Baseline_AutoLevel)
  VTSessionSetProperty(session, key: kVTCompressionPropertyKey_AllowFrameReordering, value: kCFBooleanFalse)
  let interval = 10
  VTSessionSetProperty(
    session, key: kVTCompressionPropertyKey_MaxKeyFrameInterval, value: NSNumber(value: interval))
  VTSessionSetProperty(session, key: kVTCompressionPropertyKey_AverageBitRate, value: 400_000 as CFTypeRef)
  VTCompressionSessionPrepareToEncodeFrames(session)

  guard let pool = VTCompressionSessionGetPixelBufferPool(session) else {
    print("no pixel buffer pool")
    return 1
  }
  for frame in 0..<60 {
    var pixelBuffer: CVPixelBuffer?
    guard CVPixelBufferPoolCreatePixelBuffer(nil, pool, &pixelBuffer) == kCVReturnSuccess, let pixelBuffer
    else {
      print("no pixel buffer")
      return 1
    }
    draw(frame, into: pixelBuffer)
    var flags = VTEncodeInfoFlags()
    let result = VTCompressionSessionEncodeFrame(
      session, imageBuffer: pixelBuffer,
      presentationTimeStamp: CMTimeMake(value: Int64(frame), timescale: 30),
      duration: CMTimeMake(value: 1, timescale: 30), frameProperties: nil, sourceFrameRefcon: nil,
      infoFlagsOut: &flags)
    guard result == noErr else {
      print("VTCompressionSessionEncodeFrame: \(result)")
      return 1
    }
  }
  VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: CMTime.invalid)
  VTCompressionSessionInvalidate(session)
  print("\(writer.frameCount) frames, \(writer.keyFrameCount) key frames, \(writer.data.count) bytes")
  do {
    try writer.data.write(to: URL(fileURLWithPath: path))
  } catch {
    print("\(error)")
    return 1
  }
  return writer.frameCount == 60 && writer.keyFrameCount >= 6 ? 0 : 1
}

guard CommandLine.arguments.count == 2 else {
  print("usage: Tutorial DESTINATION.264")
  exit(2)
}
exit(encode(to: CommandLine.arguments[1]))
