// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMSampleBufferCopyPCMDataIntoAudioBufferList(
  _ sbuf: OpaquePointer?, _ frameOffset: Int32, _ numFrames: Int32,
  _ bufferList: UnsafeMutablePointer<C_AudioBufferList>?
) -> Int32 {
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let bufferList else { return kCMSampleBufferError_RequiredParameterMissing }
  return CoreMedia.CMSampleBufferCopyPCMDataIntoAudioBufferList(
    sbuf, at: frameOffset, frameCount: numFrames, into: rebound(bufferList))
}

@c @implementation
public func CMSampleBufferCreateCopy(
  _ allocator: OpaquePointer?, _ sbuf: OpaquePointer?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut else { return kCMSampleBufferError_RequiredParameterMissing }
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  var sampleBufferOutObject: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreateCopy(
    allocator: FromC.allocator(allocator), sampleBuffer: sbuf, sampleBufferOut: &sampleBufferOutObject)
  sampleBufferOut.pointee = ToC.retained(sampleBufferOutObject)
  return result
}

@c @implementation
public func CMSampleBufferCreateCopyWithNewTiming(
  _ allocator: OpaquePointer?, _ originalSBuf: OpaquePointer?, _ numSampleTimingEntries: Int,
  _ sampleTimingArray: UnsafePointer<C_CMSampleTimingInfo>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut else { return kCMSampleBufferError_RequiredParameterMissing }
  guard let originalSBuf = FromC.object(originalSBuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  var sampleBufferOutObject: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreateCopyWithNewTiming(
    allocator: FromC.allocator(allocator), sampleBuffer: originalSBuf,
    sampleTimingEntryCount: numSampleTimingEntries, sampleTimingArray: rebound(sampleTimingArray),
    sampleBufferOut: &sampleBufferOutObject)
  sampleBufferOut.pointee = ToC.retained(sampleBufferOutObject)
  return result
}

@c @implementation
public func CMSampleBufferCopySampleBufferForRange(
  _ allocator: OpaquePointer?, _ sbuf: OpaquePointer?, _ sampleRange: C_CFRange,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut else { return kCMSampleBufferError_RequiredParameterMissing }
  guard let sbuf = FromC.object(sbuf, CMSampleBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  var sampleBufferOutObject: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCopySampleBufferForRange(
    allocator: FromC.allocator(allocator), sampleBuffer: sbuf, sampleRange: FromC.value(sampleRange),
    sampleBufferOut: &sampleBufferOutObject)
  sampleBufferOut.pointee = ToC.retained(sampleBufferOutObject)
  return result
}

@c @implementation
public func CMSampleBufferCreateReady(
  _ allocator: OpaquePointer?, _ dataBuffer: OpaquePointer?, _ formatDescription: OpaquePointer?,
  _ numSamples: Int, _ numSampleTimingEntries: Int, _ sampleTimingArray: UnsafePointer<C_CMSampleTimingInfo>?,
  _ numSampleSizeEntries: Int, _ sampleSizeArray: UnsafePointer<Int>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut else { return kCMSampleBufferError_RequiredParameterMissing }
  guard let dataBuffer = FromC.optionalObject(dataBuffer, CMBlockBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let formatDescription = FromC.optionalObject(formatDescription, CMFormatDescription.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  var sampleBufferOutObject: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreateReady(
    allocator: FromC.allocator(allocator), dataBuffer: dataBuffer, formatDescription: formatDescription,
    sampleCount: numSamples, sampleTimingEntryCount: numSampleTimingEntries,
    sampleTimingArray: rebound(sampleTimingArray), sampleSizeEntryCount: numSampleSizeEntries,
    sampleSizeArray: sampleSizeArray, sampleBufferOut: &sampleBufferOutObject)
  sampleBufferOut.pointee = ToC.retained(sampleBufferOutObject)
  return result
}

@c @implementation
public func CMSampleBufferCreateReadyWithImageBuffer(
  _ allocator: OpaquePointer?, _ imageBuffer: OpaquePointer?, _ formatDescription: OpaquePointer?,
  _ sampleTiming: UnsafePointer<C_CMSampleTimingInfo>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut else { return kCMSampleBufferError_RequiredParameterMissing }
  guard let imageBuffer = FromC.object(imageBuffer, CVBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let formatDescription = FromC.object(formatDescription, CMFormatDescription.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let sampleTiming else { return kCMSampleBufferError_RequiredParameterMissing }
  var sampleBufferOutObject: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreateReadyWithImageBuffer(
    allocator: FromC.allocator(allocator), imageBuffer: imageBuffer, formatDescription: formatDescription,
    sampleTiming: rebound(sampleTiming), sampleBufferOut: &sampleBufferOutObject)
  sampleBufferOut.pointee = ToC.retained(sampleBufferOutObject)
  return result
}

@c @implementation
public func CMAudioSampleBufferCreateReadyWithPacketDescriptions(
  _ allocator: OpaquePointer?, _ dataBuffer: OpaquePointer?, _ formatDescription: OpaquePointer?,
  _ numSamples: Int, _ presentationTimeStamp: C_CMTime,
  _ packetDescriptions: UnsafePointer<C_AudioStreamPacketDescription>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut else { return kCMSampleBufferError_RequiredParameterMissing }
  guard let dataBuffer = FromC.object(dataBuffer, CMBlockBuffer.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  guard let formatDescription = FromC.object(formatDescription, CMFormatDescription.self) else {
    return kCMSampleBufferError_RequiredParameterMissing
  }
  var sampleBufferOutObject: CMSampleBuffer?
  let result = CoreMedia.CMAudioSampleBufferCreateReadyWithPacketDescriptions(
    allocator: FromC.allocator(allocator), dataBuffer: dataBuffer, formatDescription: formatDescription,
    sampleCount: numSamples, presentationTimeStamp: FromC.value(presentationTimeStamp),
    packetDescriptions: rebound(packetDescriptions), sampleBufferOut: &sampleBufferOutObject)
  sampleBufferOut.pointee = ToC.retained(sampleBufferOutObject)
  return result
}
