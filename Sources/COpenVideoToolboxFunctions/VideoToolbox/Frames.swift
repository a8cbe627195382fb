// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

// Sessions and their frames, with callbacks and blocks.

public typealias CompressionCallback =
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32, UInt32, OpaquePointer?) -> Void

public typealias DecompressionCallback =
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32, UInt32, OpaquePointer?, C_CMTime, C_CMTime
  ) -> Void

// MARK: - Compression

@c @implementation
public func VTCompressionSessionCreate(
  _ allocator: OpaquePointer?, _ width: Int32, _ height: Int32, _ codecType: UInt32,
  _ encoderSpecification: OpaquePointer?, _ sourceImageBufferAttributes: OpaquePointer?,
  _ compressedDataAllocator: OpaquePointer?, _ outputCallback: CompressionCallback?,
  _ outputCallbackRefCon: UnsafeMutableRawPointer?,
  _ compressionSessionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  compressionSessionOut?.pointee = nil
  guard let compressionSessionOut,
    let specification = FromC.optionalDictionary(encoderSpecification),
    let attributes = FromC.optionalDictionary(sourceImageBufferAttributes)
  else { return VideoToolbox.kVTParameterErr }
  let callback = outputCallback.map { callback -> VideoToolbox.VTCompressionOutputCallback in
    { refcon, frameRefcon, status, flags, sample in
      callback(refcon, frameRefcon, status, flags.rawValue, ToC.unretained(sample))
    }
  }
  var session: VTCompressionSession?
  let result = VideoToolbox.VTCompressionSessionCreate(
    allocator: FromC.allocator(allocator), width: width, height: height, codecType: codecType,
    encoderSpecification: specification, imageBufferAttributes: attributes,
    compressedDataAllocator: FromC.allocator(compressedDataAllocator), outputCallback: callback,
    refcon: outputCallbackRefCon, compressionSessionOut: &session)
  compressionSessionOut.pointee = ToC.retained(session)
  return result
}

@c @implementation
public func VTCompressionSessionEncodeFrame(
  _ session: OpaquePointer?, _ imageBuffer: OpaquePointer?, _ presentationTimeStamp: C_CMTime,
  _ duration: C_CMTime, _ frameProperties: OpaquePointer?, _ sourceFrameRefcon: UnsafeMutableRawPointer?,
  _ infoFlagsOut: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  infoFlagsOut?.pointee = 0
  guard let session = FromC.object(session, VTCompressionSession.self) else {
    return VideoToolbox.kVTInvalidSessionErr
  }
  guard let buffer = FromC.object(imageBuffer, CVBuffer.self),
    let properties = FromC.optionalDictionary(frameProperties)
  else { return VideoToolbox.kVTParameterErr }
  return VideoToolbox.VTCompressionSessionEncodeFrame(
    session, imageBuffer: buffer, presentationTimeStamp: FromC.value(presentationTimeStamp),
    duration: FromC.value(duration), frameProperties: properties, sourceFrameRefcon: sourceFrameRefcon,
    infoFlagsOut: rebound(infoFlagsOut))
}

@c(VTCompressionSessionEncodeFrameWithOutputHandler)
public func VTCompressionSessionEncodeFrameWithOutputHandler(
  _ session: OpaquePointer?, _ imageBuffer: OpaquePointer?, _ presentationTimeStamp: C_CMTime,
  _ duration: C_CMTime, _ frameProperties: OpaquePointer?, _ infoFlagsOut: UnsafeMutablePointer<UInt32>?,
  _ outputHandler: UnsafeRawPointer?
) -> Int32 {
  infoFlagsOut?.pointee = 0
  guard let session = FromC.object(session, VTCompressionSession.self) else {
    return VideoToolbox.kVTInvalidSessionErr
  }
  guard let buffer = FromC.object(imageBuffer, CVBuffer.self),
    let properties = FromC.optionalDictionary(frameProperties), let block = Block(outputHandler)
  else { return VideoToolbox.kVTParameterErr }
  return VideoToolbox.VTCompressionSessionEncodeFrame(
    session, imageBuffer: buffer, presentationTimeStamp: FromC.value(presentationTimeStamp),
    duration: FromC.value(duration), frameProperties: properties, infoFlagsOut: rebound(infoFlagsOut)
  ) { status, flags, sample in
    OVTBlockCallCompressionOutput(block.pointer, status, flags.rawValue, ToC.unretained(sample))
  }
}

@c @implementation
public func VTCompressionSessionGetTimeRangesForNextPass(
  _ session: OpaquePointer?, _ timeRangeCountOut: UnsafeMutablePointer<Int>?,
  _ timeRangeArrayOut: UnsafeMutablePointer<UnsafePointer<C_CMTimeRange>?>?
) -> Int32 {
  timeRangeCountOut?.pointee = 0
  timeRangeArrayOut?.pointee = nil
  guard let session = FromC.object(session, VTCompressionSession.self) else {
    return VideoToolbox.kVTInvalidSessionErr
  }
  guard let timeRangeCountOut, let timeRangeArrayOut else { return VideoToolbox.kVTParameterErr }
  return VideoToolbox.VTCompressionSessionGetTimeRangesForNextPass(
    session, timeRangeCountOut: timeRangeCountOut, timeRangeArrayOut: rebound(timeRangeArrayOut))
}

// MARK: - Decompression

@c @implementation
public func VTDecompressionSessionCreate(
  _ allocator: OpaquePointer?, _ videoFormatDescription: OpaquePointer?,
  _ videoDecoderSpecification: OpaquePointer?, _ destinationImageBufferAttributes: OpaquePointer?,
  _ outputCallback: UnsafePointer<C_VTDecompressionOutputCallbackRecord>?,
  _ decompressionSessionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  decompressionSessionOut?.pointee = nil
  guard let decompressionSessionOut,
    let format = FromC.object(videoFormatDescription, CMFormatDescription.self),
    let specification = FromC.optionalDictionary(videoDecoderSpecification),
    let attributes = FromC.optionalDictionary(destinationImageBufferAttributes)
  else { return VideoToolbox.kVTParameterErr }
  var session: VTDecompressionSession?
  let result: OSStatus
  if let record = outputCallback?.pointee, let callback = record.decompressionOutputCallback {
    var swiftRecord = VTDecompressionOutputCallbackRecord(
      decompressionOutputCallback: { refcon, frameRefcon, status, flags, image, time, duration in
        callback(
          refcon, frameRefcon, status, flags.rawValue, ToC.unretained(image), ToC.value(time),
          ToC.value(duration))
      }, decompressionOutputRefCon: record.decompressionOutputRefCon)
    result = VideoToolbox.VTDecompressionSessionCreate(
      allocator: FromC.allocator(allocator), formatDescription: format, decoderSpecification: specification,
      imageBufferAttributes: attributes, outputCallback: &swiftRecord, decompressionSessionOut: &session)
  } else {
    result = VideoToolbox.VTDecompressionSessionCreate(
      allocator: FromC.allocator(allocator), formatDescription: format, decoderSpecification: specification,
      imageBufferAttributes: attributes, outputCallback: nil, decompressionSessionOut: &session)
  }
  decompressionSessionOut.pointee = ToC.retained(session)
  return result
}

@c @implementation
public func VTDecompressionSessionDecodeFrame(
  _ session: OpaquePointer?, _ sampleBuffer: OpaquePointer?, _ decodeFlags: UInt32,
  _ sourceFrameRefCon: UnsafeMutableRawPointer?, _ infoFlagsOut: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  VTDecompressionSessionDecodeFrameWithOptions(
    session, sampleBuffer, decodeFlags, nil, sourceFrameRefCon, infoFlagsOut)
}

@c @implementation
public func VTDecompressionSessionDecodeFrameWithOptions(
  _ session: OpaquePointer?, _ sampleBuffer: OpaquePointer?, _ decodeFlags: UInt32,
  _ frameOptions: OpaquePointer?, _ sourceFrameRefCon: UnsafeMutableRawPointer?,
  _ infoFlagsOut: UnsafeMutablePointer<UInt32>?
) -> Int32 {
  infoFlagsOut?.pointee = 0
  guard let session = FromC.object(session, VTDecompressionSession.self) else {
    return VideoToolbox.kVTInvalidSessionErr
  }
  guard let sample = FromC.object(sampleBuffer, CMSampleBuffer.self),
    let options = FromC.optionalDictionary(frameOptions)
  else { return VideoToolbox.kVTParameterErr }
  return VideoToolbox.VTDecompressionSessionDecodeFrame(
    session, sampleBuffer: sample, flags: VTDecodeFrameFlags(rawValue: decodeFlags), frameOptions: options,
    frameRefcon: sourceFrameRefCon, infoFlagsOut: rebound(infoFlagsOut))
}

@c(VTDecompressionSessionDecodeFrameWithOutputHandler)
public func VTDecompressionSessionDecodeFrameWithOutputHandler(
  _ session: OpaquePointer?, _ sampleBuffer: OpaquePointer?, _ decodeFlags: UInt32,
  _ infoFlagsOut: UnsafeMutablePointer<UInt32>?, _ outputHandler: UnsafeRawPointer?
) -> Int32 {
  VTDecompressionSessionDecodeFrameWithOptionsAndOutputHandler(
    session, sampleBuffer, decodeFlags, nil, infoFlagsOut, outputHandler)
}

@c(VTDecompressionSessionDecodeFrameWithOptionsAndOutputHandler)
public func VTDecompressionSessionDecodeFrameWithOptionsAndOutputHandler(
  _ session: OpaquePointer?, _ sampleBuffer: OpaquePointer?, _ decodeFlags: UInt32,
  _ frameOptions: OpaquePointer?, _ infoFlagsOut: UnsafeMutablePointer<UInt32>?,
  _ outputHandler: UnsafeRawPointer?
) -> Int32 {
  infoFlagsOut?.pointee = 0
  guard let session = FromC.object(session, VTDecompressionSession.self) else {
    return VideoToolbox.kVTInvalidSessionErr
  }
  guard let sample = FromC.object(sampleBuffer, CMSampleBuffer.self),
    let options = FromC.optionalDictionary(frameOptions), let block = Block(outputHandler)
  else { return VideoToolbox.kVTParameterErr }
  return VideoToolbox.VTDecompressionSessionDecodeFrame(
    session, sampleBuffer: sample, flags: VTDecodeFrameFlags(rawValue: decodeFlags), frameOptions: options,
    infoFlagsOut: rebound(infoFlagsOut)
  ) { status, flags, image, time, duration in
    OVTBlockCallDecompressionOutput(
      block.pointer, status, flags.rawValue, ToC.unretained(image), ToC.value(time), ToC.value(duration))
  }
}

@c(VTDecompressionSessionDecodeFrameWithMultiImageCapableOutputHandler)
public func VTDecompressionSessionDecodeFrameWithMultiImageCapableOutputHandler(
  _ session: OpaquePointer?, _ sampleBuffer: OpaquePointer?, _ decodeFlags: UInt32,
  _ infoFlagsOut: UnsafeMutablePointer<UInt32>?, _ multiImageCapableOutputHandler: UnsafeRawPointer?
) -> Int32 {
  infoFlagsOut?.pointee = 0
  guard let session = FromC.object(session, VTDecompressionSession.self) else {
    return VideoToolbox.kVTInvalidSessionErr
  }
  guard let sample = FromC.object(sampleBuffer, CMSampleBuffer.self),
    let block = Block(multiImageCapableOutputHandler)
  else { return VideoToolbox.kVTParameterErr }
  return VideoToolbox.VTDecompressionSessionDecodeFrame(
    session, sampleBuffer: sample, flags: VTDecodeFrameFlags(rawValue: decodeFlags),
    infoFlagsOut: rebound(infoFlagsOut)
  ) { (status, flags, image, buffers: [CMTaggedBuffer]?, time, duration) in
    let group = buffers.map { TaggedBufferGroup($0) }
    withExtendedLifetime(group) {
      OVTBlockCallMultiImageOutput(
        block.pointer, status, flags.rawValue, ToC.unretained(image), ToC.unretained(group), ToC.value(time),
        ToC.value(duration))
    }
  }
}

// MARK: - Properties

@c @implementation
public func VTSessionCopyProperty(
  _ session: UnsafeRawPointer?, _ propertyKey: OpaquePointer?, _ allocator: OpaquePointer?,
  _ propertyValueOut: UnsafeMutableRawPointer?
) -> Int32 {
  propertyValueOut?.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
  guard let session = FromC.object(session) else { return VideoToolbox.kVTInvalidSessionErr }
  guard let key = FromC.object(propertyKey, NSString.self) else { return VideoToolbox.kVTParameterErr }
  guard let propertyValueOut else {
    return VideoToolbox.VTSessionCopyProperty(session, key: key, allocator: nil, valueOut: nil)
  }
  // The function writes a reference that its caller owns.
  let result = VideoToolbox.VTSessionCopyProperty(
    session, key: key, allocator: nil, valueOut: propertyValueOut)
  if ReferenceChecker.isOn, let value = propertyValueOut.load(as: UnsafeRawPointer?.self) {
    ReferenceChecker.shared.give(value, owned: true)
  }
  return result
}

// MARK: - Frame silos

@c @implementation
public func VTFrameSiloSetTimeRangesForNextPass(
  _ silo: OpaquePointer?, _ timeRangeCount: Int, _ timeRangeArray: UnsafePointer<C_CMTimeRange>?
) -> Int32 {
  guard let silo = FromC.object(silo, VTFrameSilo.self), let timeRangeArray, timeRangeCount >= 0 else {
    return VideoToolbox.kVTParameterErr
  }
  return VideoToolbox.VTFrameSiloSetTimeRangesForNextPass(
    silo, timeRangeCount: timeRangeCount, timeRangeArray: rebound(timeRangeArray))
}

@c @implementation
public func VTFrameSiloCallFunctionForEachSampleBuffer(
  _ silo: OpaquePointer?, _ timeRange: C_CMTimeRange, _ refcon: UnsafeMutableRawPointer?,
  _ callback: (@convention(c) (UnsafeMutableRawPointer?, OpaquePointer?) -> Int32)?
) -> Int32 {
  guard let silo = FromC.object(silo, VTFrameSilo.self), let callback else {
    return VideoToolbox.kVTParameterErr
  }
  return VideoToolbox.VTFrameSiloCallFunctionForEachSampleBuffer(
    silo, in: FromC.value(timeRange), refcon: refcon
  ) { refcon, sample in callback(refcon, ToC.unretained(sample)) }
}

@c(VTFrameSiloCallBlockForEachSampleBuffer)
public func VTFrameSiloCallBlockForEachSampleBuffer(
  _ silo: OpaquePointer?, _ timeRange: C_CMTimeRange, _ handler: UnsafeRawPointer?
) -> Int32 {
  guard let silo = FromC.object(silo, VTFrameSilo.self), let handler else {
    return VideoToolbox.kVTParameterErr
  }
  return VideoToolbox.VTFrameSiloCallBlockForEachSampleBuffer(silo, in: FromC.value(timeRange)) { sample in
    OVTBlockCallSample(handler, ToC.unretained(sample))
  }
}
