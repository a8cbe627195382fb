// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Foundation
import VideoToolbox

/// A picture with a gradient and a square that moves.
func makePicture(
  _ index: Int, width: Int = 320, height: Int = 240,
  format: OSType = kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
)
  -> CVPixelBuffer
{
  var pixelBuffer: CVPixelBuffer?
  CVPixelBufferCreate(kCFAllocatorDefault, width, height, format, nil, &pixelBuffer)
  CVPixelBufferLockBaseAddress(pixelBuffer!, [])
  defer { CVPixelBufferUnlockBaseAddress(pixelBuffer!, []) }
  for plane in 0..<max(1, CVPixelBufferGetPlaneCount(pixelBuffer!)) {
    let base = CVPixelBufferGetBaseAddressOfPlane(pixelBuffer!, plane)!.assumingMemoryBound(to: UInt8.self)
    let stride = CVPixelBufferGetBytesPerRowOfPlane(pixelBuffer!, plane)
    for y in 0..<CVPixelBufferGetHeightOfPlane(pixelBuffer!, plane) {
      for x in 0..<min(stride, width) {
        let isSquare = abs(x - 40 - index * 4) < 16 && abs(y - 60) < 16
        base[y * stride + x] = plane == 0 ? UInt8(isSquare ? 220 : 40 + (x + y) % 120) : 128
      }
    }
  }
  return pixelBuffer!
}

/// Encodes some pictures in the shape of a tutorial.
func encode(_ count: Int, codec: CMVideoCodecType = kCMVideoCodecType_H264, reordering: Bool = false)
  -> [CMSampleBuffer]
{
  var session: VTCompressionSession?
  let status = VTCompressionSessionCreate(
    allocator: kCFAllocatorDefault, width: 320, height: 240, codecType: codec, encoderSpecification: nil,
    imageBufferAttributes: nil, compressedDataAllocator: nil, outputCallback: nil, refcon: nil,
    compressionSessionOut: &session)
  checkEqual(status, noErr)
  guard let session else { return [] }
  defer { VTCompressionSessionInvalidate(session) }
  let properties: [CFString: Any] = [
    kVTCompressionPropertyKey_RealTime: kCFBooleanFalse!,
    kVTCompressionPropertyKey_AllowFrameReordering: reordering,
    kVTCompressionPropertyKey_MaxKeyFrameInterval: 10,
    kVTCompressionPropertyKey_AverageBitRate: 500_000,
  ]
  checkEqual(VTSessionSetProperties(session, propertyDictionary: properties as CFDictionary), noErr)
  VTCompressionSessionPrepareToEncodeFrames(session)
  let box = SampleBox()
  for index in 0..<count {
    VTCompressionSessionEncodeFrame(
      session, imageBuffer: makePicture(index),
      presentationTimeStamp: CMTime(value: CMTimeValue(index), timescale: 30),
      duration: CMTime(value: 1, timescale: 30), frameProperties: nil, infoFlagsOut: nil
    ) { status, flags, sampleBuffer in
      guard status == noErr, let sampleBuffer else { return check(false, "\(status)") }
      box.append(sampleBuffer)
    }
  }
  VTCompressionSessionCompleteFrames(session, untilPresentationTimeStamp: .invalid)
  return box.samples
}

final class SampleBox: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [CMSampleBuffer] = []
  func append(_ sample: CMSampleBuffer) {
    lock.lock()
    list.append(sample)
    lock.unlock()
  }
  var samples: [CMSampleBuffer] {
    lock.lock()
    defer { lock.unlock() }
    return list
  }
}

/// A decoder as hundreds of repositories have it: a callback record with a refcon.
final class TutorialDecoder {
  private var formatDesc: CMVideoFormatDescription?
  private var decompressionSession: VTDecompressionSession?
  var pictures: [(CMTime, CVPixelBuffer)] = []
  var errors: [OSStatus] = []
  private var sps: [UInt8]?
  private var pps: [UInt8]?

  deinit {
    guard let session = decompressionSession else { return }
    VTDecompressionSessionWaitForAsynchronousFrames(session)
    VTDecompressionSessionInvalidate(session)
    decompressionSession = nil
  }

  private func createSession() -> Bool {
    guard let sps, let pps else { return false }
    let pointers = UnsafeMutablePointer<UnsafePointer<UInt8>>.allocate(capacity: 2)
    defer { pointers.deallocate() }
    let spsPointer = UnsafeMutablePointer<UInt8>.allocate(capacity: sps.count)
    spsPointer.initialize(from: sps, count: sps.count)
    let ppsPointer = UnsafeMutablePointer<UInt8>.allocate(capacity: pps.count)
    ppsPointer.initialize(from: pps, count: pps.count)
    defer {
      spsPointer.deallocate()
      ppsPointer.deallocate()
    }
    pointers[0] = UnsafePointer(spsPointer)
    pointers[1] = UnsafePointer(ppsPointer)
    var sizes = [sps.count, pps.count]
    let status = CMVideoFormatDescriptionCreateFromH264ParameterSets(
      allocator: kCFAllocatorDefault, parameterSetCount: 2, parameterSetPointers: pointers,
      parameterSetSizes: &sizes, nalUnitHeaderLength: 4, formatDescriptionOut: &formatDesc)
    guard status == noErr, let formatDesc else { return false }

    let decoderParameters = NSMutableDictionary()
    let destinationPixelBufferAttributes = NSMutableDictionary()
    destinationPixelBufferAttributes.setValue(
      NSNumber(value: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange as UInt32),
      forKey: kCVPixelBufferPixelFormatTypeKey as String)
    var outputCallback = VTDecompressionOutputCallbackRecord()
    outputCallback.decompressionOutputCallback = decompressionOutputCallback
    outputCallback.decompressionOutputRefCon = UnsafeMutableRawPointer(
      Unmanaged.passUnretained(self).toOpaque())
    let created = VTDecompressionSessionCreate(
      allocator: nil, formatDescription: formatDesc, decoderSpecification: decoderParameters,
      imageBufferAttributes: destinationPixelBufferAttributes, outputCallback: &outputCallback,
      decompressionSessionOut: &decompressionSession)
    VTSessionSetProperty(
      decompressionSession!, key: kVTDecompressionPropertyKey_RealTime, value: kCFBooleanTrue)
    return created == noErr
  }

  func interpret(_ nalUnit: [UInt8], pts: CMTime) {
    switch nalUnit[4] & 0x1F {
    case 5:
      if decompressionSession == nil { check(createSession()) }
      decode(nalUnit, pts)
    case 7: sps = Array(nalUnit[4...])
    case 8: pps = Array(nalUnit[4...])
    default: decode(nalUnit, pts)
    }
  }

  private func decode(_ unit: [UInt8], _ pts: CMTime) {
    guard let session = decompressionSession, let formatDesc else { return }
    var unit = unit
    // The length in place of the start code.
    var bigEndianLength = CFSwapInt32HostToBig(UInt32(unit.count - 4))
    memcpy(&unit, &bigEndianLength, 4)
    var blockBuffer: CMBlockBuffer?
    let count = unit.count
    var status = unit.withUnsafeMutableBytes { pointer in
      CMBlockBufferCreateWithMemoryBlock(
        allocator: kCFAllocatorDefault, memoryBlock: pointer.baseAddress, blockLength: count,
        blockAllocator: kCFAllocatorNull, customBlockSource: nil, offsetToData: 0, dataLength: count,
        flags: 0,
        blockBufferOut: &blockBuffer)
    }
    check(status == kCMBlockBufferNoErr)
    var sampleBuffer: CMSampleBuffer?
    var sampleSizeArray = [count]
    var timing = [
      CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: pts, decodeTimeStamp: .invalid)
    ]
    status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: blockBuffer, formatDescription: formatDesc, sampleCount: 1,
      sampleTimingEntryCount: 1, sampleTimingArray: &timing, sampleSizeEntryCount: 1,
      sampleSizeArray: &sampleSizeArray, sampleBufferOut: &sampleBuffer)
    guard status == noErr, let sampleBuffer else { return check(false, "\(status)") }
    var flagOut = VTDecodeInfoFlags(rawValue: 0)
    var outputBuffer = UnsafeMutablePointer<CVPixelBuffer>.allocate(capacity: 1)
    defer { outputBuffer.deallocate() }
    status = VTDecompressionSessionDecodeFrame(
      session, sampleBuffer: sampleBuffer, flags: [], frameRefcon: &outputBuffer, infoFlagsOut: &flagOut)
    if status != noErr { errors.append(status) }
  }
}

private func decompressionOutputCallback(
  decompressionOutputRefCon: UnsafeMutableRawPointer?, sourceFrameRefCon: UnsafeMutableRawPointer?,
  status: OSStatus, infoFlags: VTDecodeInfoFlags, imageBuffer: CVImageBuffer?, presentationTimeStamp: CMTime,
  presentationDuration: CMTime
) {
  let decoder = Unmanaged<TutorialDecoder>.fromOpaque(decompressionOutputRefCon!).takeUnretainedValue()
  if status != noErr { decoder.errors.append(status) }
  if let imageBuffer { decoder.pictures.append((presentationTimeStamp, imageBuffer)) }
}

/// The NAL units of a sample, each with a start code.
func annexB(_ sample: CMSampleBuffer) -> [[UInt8]] {
  var result: [[UInt8]] = []
  let isKeyFrame =
    !((CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: true)! as NSArray)[0]
    as! NSDictionary)
    .allKeys.contains { ($0 as! String) == kCMSampleAttachmentKey_NotSync as String }
  if isKeyFrame {
    let format = sample.formatDescription!
    for set in format.parameterSets { result.append([0, 0, 0, 1] + Array(set)) }
  }
  let data = try! sample.dataBuffer!.dataBytes()
  var offset = 0
  while offset < data.count - 4 {
    let length = Int(data[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    result.append([0, 0, 0, 1] + Array(data[offset + 4..<offset + 4 + length]))
    offset += 4 + length
  }
  return result
}

func luma(_ pixelBuffer: CVPixelBuffer, _ x: Int, _ y: Int) -> Int {
  CVPixelBufferLockBaseAddress(pixelBuffer, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, .readOnly) }
  let base = CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, 0)!
  return Int(
    base.load(fromByteOffset: y * CVPixelBufferGetBytesPerRowOfPlane(pixelBuffer, 0) + x, as: UInt8.self))
}

func decoding() {
  let samples = encode(25)
  checkEqual(samples.count, 25)
  checkEqual(samples.filter { $0.sampleAttachments[0][.notSync] == nil }.count, 3)
  let decoder = TutorialDecoder()
  for sample in samples {
    for unit in annexB(sample) { decoder.interpret(unit, pts: sample.presentationTimeStamp) }
  }
  checkEqual(decoder.pictures.count, 25)
  checkEqual(decoder.errors, [])
  checkEqual(decoder.pictures.map { $0.0.value }, Array(0..<25))
  for (index, picture) in decoder.pictures.enumerated() {
    check(
      abs(luma(picture.1, 40 + index * 4, 60) - 220) < 12, "\(index): \(luma(picture.1, 40 + index * 4, 60))")
  }

  // With handlers, asynchronous, and pictures as BGRA.
  for codec in [kCMVideoCodecType_H264, kCMVideoCodecType_HEVC] {
    let samples = encode(20, codec: codec, reordering: true)
    var session: VTDecompressionSession!
    let imageBufferAttributes: CFDictionary =
      [
        kCVPixelBufferPixelFormatTypeKey: kCVPixelFormatType_32BGRA,
        kCVPixelBufferMetalCompatibilityKey: true,
      ] as CFDictionary
    checkEqual(
      VTDecompressionSessionCreate(
        allocator: kCFAllocatorDefault, formatDescription: samples[0].formatDescription!,
        decoderSpecification: [
          kVTVideoDecoderSpecification_EnableHardwareAcceleratedVideoDecoder: kCFBooleanTrue!
        ] as CFDictionary, imageBufferAttributes: imageBufferAttributes, outputCallback: nil,
        decompressionSessionOut: &session), noErr)
    let times = TimeBox()
    for sample in samples {
      var infoFlags: VTDecodeInfoFlags = []
      let status = VTDecompressionSessionDecodeFrame(
        session, sampleBuffer: sample,
        flags: [._EnableAsynchronousDecompression, ._EnableTemporalProcessing],
        infoFlagsOut: &infoFlags
      ) { status, flags, imageBuffer, pts, duration in
        check(status == noErr && imageBuffer != nil)
        if let imageBuffer {
          checkEqual(CVPixelBufferGetPixelFormatType(imageBuffer), kCVPixelFormatType_32BGRA)
        }
        checkEqual(duration, CMTime(value: 1, timescale: 30))
        times.append(pts)
      }
      checkEqual(status, noErr)
    }
    checkEqual(VTDecompressionSessionFinishDelayedFrames(session), noErr)
    checkEqual(VTDecompressionSessionWaitForAsynchronousFrames(session), noErr)
    checkEqual(times.values.map(\.value), Array(0..<20))
    check(
      VTDecompressionSessionCanAcceptFormatDescription(
        session, formatDescription: samples[0].formatDescription!))
    var black: CVPixelBuffer?
    checkEqual(VTDecompressionSessionCopyBlackPixelBuffer(session, pixelBufferOut: &black), noErr)
    VTDecompressionSessionInvalidate(session)
    checkEqual(
      VTDecompressionSessionDecodeFrame(session, sampleBuffer: samples[0], flags: [], infoFlagsOut: nil) {
        _, _, _, _, _ in
        check(false)
      }, kVTInvalidSessionErr)
  }

  // Damage: the session continues with the next key frame.
  var session: VTDecompressionSession?
  VTDecompressionSessionCreate(
    allocator: nil, formatDescription: samples[0].formatDescription!, decoderSpecification: nil,
    imageBufferAttributes: nil, decompressionSessionOut: &session)
  let results = StatusBox()
  for (index, sample) in samples.enumerated() {
    var sample = sample
    if index == 4 || index == 10 {
      let data = [UInt8](repeating: 0x5A, count: 40)
      sample = makeSample(data, format: samples[0].formatDescription!, pts: Int64(index))
    }
    let status = VTDecompressionSessionDecodeFrame(
      session!, sampleBuffer: sample, flags: [], infoFlagsOut: nil
    ) {
      status, flags, image, _, _ in
      results.append(image != nil ? 0 : status != 0 ? status : flags.contains(.frameDropped) ? 1 : 2)
    }
    if status != noErr { results.append(status) }
  }
  let list = results.values
  checkEqual(list.count, 25)
  check(list[4] != 0 && list[10] != 0 && list[20...].allSatisfy { $0 == 0 }, "\(list)")

  // Types, properties and lists.
  check(CFGetTypeID(session!) == VTDecompressionSessionGetTypeID())
  var supported: CFDictionary?
  checkEqual(
    VTSessionCopySupportedPropertyDictionary(session!, supportedPropertyDictionaryOut: &supported), noErr)
  check((supported as? [CFString: Any])?[kVTDecompressionPropertyKey_RealTime] != nil)
  var formats: CFArray?
  let status = withUnsafeMutablePointer(to: &formats) {
    VTSessionCopyProperty(
      session!, key: kVTDecompressionPropertyKey_SupportedPixelFormatsOrderedByQuality, allocator: nil,
      valueOut: $0)
  }
  check(status == noErr && ((formats as? [NSNumber])?.count ?? 0) > 3)
  checkEqual(
    VTSessionSetProperty(session!, key: "NoSuchProperty" as CFString, value: kCFBooleanTrue),
    kVTPropertyNotSupportedErr)
  check(!VTIsHardwareDecodeSupported(kCMVideoCodecType_H264))
  var encoders: CFArray?
  checkEqual(VTCopyVideoEncoderList(nil, &encoders), noErr)
  let list2 = encoders as! [[CFString: Any]]
  check(list2.contains { $0[kVTVideoEncoderList_CodecType] as? CMVideoCodecType == kCMVideoCodecType_H264 })
  check(list2.allSatisfy { $0[kVTVideoEncoderList_EncoderID] is String })
  var none: VTDecompressionSession?
  var unknown: CMVideoFormatDescription?
  CMVideoFormatDescriptionCreate(
    allocator: nil, codecType: 0x3F3F_3F3F, width: 16, height: 16, extensions: nil,
    formatDescriptionOut: &unknown)
  checkEqual(
    VTDecompressionSessionCreate(
      allocator: nil, formatDescription: unknown!, decoderSpecification: nil, imageBufferAttributes: nil,
      outputCallback: nil, decompressionSessionOut: &none), kVTCouldNotFindVideoDecoderErr)
}

final class TimeBox: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [CMTime] = []
  func append(_ time: CMTime) { lock.withLock { list.append(time) } }
  var values: [CMTime] { lock.withLock { list } }
}

final class StatusBox: @unchecked Sendable {
  private let lock = NSLock()
  private var list: [OSStatus] = []
  func append(_ status: OSStatus) { lock.withLock { list.append(status) } }
  var values: [OSStatus] { lock.withLock { list } }
}

// MARK: - Transfer

func transfer() {
  let source = makePicture(0)
  var session: VTPixelTransferSession?
  checkEqual(
    VTPixelTransferSessionCreate(allocator: kCFAllocatorDefault, pixelTransferSessionOut: &session), noErr)
  VTSessionSetProperty(
    session!, key: kVTPixelTransferPropertyKey_ScalingMode, value: kVTScalingMode_Letterbox)
  var target: CVPixelBuffer?
  CVPixelBufferCreate(nil, 400, 240, kCVPixelFormatType_32BGRA, nil, &target)
  checkEqual(VTPixelTransferSessionTransferImage(session!, from: source, to: target!), noErr)
  CVPixelBufferLockBaseAddress(target!, .readOnly)
  let row = CVPixelBufferGetBaseAddress(target!)! + 120 * CVPixelBufferGetBytesPerRow(target!)
  checkEqual(row.load(fromByteOffset: 0, as: UInt32.self), 0xFF00_0000)
  check(row.load(fromByteOffset: 200 * 4, as: UInt8.self) > 20)
  CVPixelBufferUnlockBaseAddress(target!, .readOnly)
  VTPixelTransferSessionInvalidate(session!)
  checkEqual(VTPixelTransferSessionTransferImage(session!, from: source, to: target!), kVTInvalidSessionErr)

  var rotation: VTPixelRotationSession?
  checkEqual(VTPixelRotationSessionCreate(kCFAllocatorDefault, &rotation), noErr)
  VTSessionSetProperty(rotation!, key: kVTPixelRotationPropertyKey_Rotation, value: kVTRotation_CW90)
  var rotated: CVPixelBuffer?
  CVPixelBufferCreate(nil, 240, 320, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &rotated)
  checkEqual(VTPixelRotationSessionRotateImage(rotation!, source, rotated!), noErr)
  // The pixel at (x, y) is at (height - 1 - y, x).
  checkEqual(luma(rotated!, 239 - 60, 40), luma(source, 40, 60))

  var image: CGImage?
  checkEqual(
    VTCreateCGImageFromCVPixelBuffer(
      makePicture(0, format: kCVPixelFormatType_32BGRA), options: nil, imageOut: &image), noErr)
  check(image?.width == 320 && image?.height == 240)
}
