// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

// Sample buffers with callbacks and blocks.

public typealias MakeDataReadyCallback = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32

/// The module's callback for one of C's.
private func closure(_ callback: MakeDataReadyCallback?) -> CoreMedia.CMSampleBufferMakeDataReadyCallback? {
  guard let callback else { return nil }
  return { (sample: CMSampleBuffer, refcon: UnsafeMutableRawPointer?) in
    callback(ToC.unretained(sample), refcon)
  }
}

/// The module's handler for a block of C, which is copied; nil for null.
private func closure(block: UnsafeRawPointer?) -> CoreMedia.CMSampleBufferMakeDataReadyHandler? {
  Block(block).map { block in { OVTBlockCallSample(block.pointer, ToC.unretained($0)) } }
}

@c @implementation
public func CMSampleBufferCreate(
  _ allocator: OpaquePointer?, _ dataBuffer: OpaquePointer?, _ dataReady: UInt8,
  _ makeDataReadyCallback: MakeDataReadyCallback?, _ makeDataReadyRefcon: UnsafeMutableRawPointer?,
  _ formatDescription: OpaquePointer?, _ numSamples: Int, _ numSampleTimingEntries: Int,
  _ sampleTimingArray: UnsafePointer<C_CMSampleTimingInfo>?, _ numSampleSizeEntries: Int,
  _ sampleSizeArray: UnsafePointer<Int>?, _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut, let data = FromC.optionalObject(dataBuffer, CMBlockBuffer.self),
    let format = FromC.optionalObject(formatDescription, CMFormatDescription.self)
  else { return CoreMedia.kCMSampleBufferError_RequiredParameterMissing }
  var sample: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreate(
    allocator: nil, dataBuffer: data, dataReady: dataReady != 0,
    makeDataReadyCallback: closure(makeDataReadyCallback), refcon: makeDataReadyRefcon,
    formatDescription: format, sampleCount: numSamples, sampleTimingEntryCount: numSampleTimingEntries,
    sampleTimingArray: rebound(sampleTimingArray), sampleSizeEntryCount: numSampleSizeEntries,
    sampleSizeArray: sampleSizeArray, sampleBufferOut: &sample)
  sampleBufferOut.pointee = ToC.retained(sample)
  return result
}

@c(CMSampleBufferCreateWithMakeDataReadyHandler)
public func CMSampleBufferCreateWithMakeDataReadyHandler(
  _ allocator: OpaquePointer?, _ dataBuffer: OpaquePointer?, _ dataReady: UInt8,
  _ formatDescription: OpaquePointer?, _ numSamples: Int, _ numSampleTimingEntries: Int,
  _ sampleTimingArray: UnsafePointer<C_CMSampleTimingInfo>?, _ numSampleSizeEntries: Int,
  _ sampleSizeArray: UnsafePointer<Int>?, _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?,
  _ makeDataReadyHandler: UnsafeRawPointer?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut, let data = FromC.optionalObject(dataBuffer, CMBlockBuffer.self),
    let format = FromC.optionalObject(formatDescription, CMFormatDescription.self)
  else { return CoreMedia.kCMSampleBufferError_RequiredParameterMissing }
  var sample: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreateWithMakeDataReadyHandler(
    nil, data, dataReady != 0, format, numSamples, numSampleTimingEntries, rebound(sampleTimingArray),
    numSampleSizeEntries, sampleSizeArray, &sample, closure(block: makeDataReadyHandler))
  sampleBufferOut.pointee = ToC.retained(sample)
  return result
}

@c @implementation
public func CMSampleBufferCreateForImageBuffer(
  _ allocator: OpaquePointer?, _ imageBuffer: OpaquePointer?, _ dataReady: UInt8,
  _ makeDataReadyCallback: MakeDataReadyCallback?, _ makeDataReadyRefcon: UnsafeMutableRawPointer?,
  _ formatDescription: OpaquePointer?, _ sampleTiming: UnsafePointer<C_CMSampleTimingInfo>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut, let sampleTiming, let image = FromC.object(imageBuffer, CVBuffer.self),
    let format = FromC.object(formatDescription, CMFormatDescription.self)
  else { return CoreMedia.kCMSampleBufferError_RequiredParameterMissing }
  var sample: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreateForImageBuffer(
    allocator: nil, imageBuffer: image, dataReady: dataReady != 0,
    makeDataReadyCallback: closure(makeDataReadyCallback), refcon: makeDataReadyRefcon,
    formatDescription: format, sampleTiming: rebound(sampleTiming), sampleBufferOut: &sample)
  sampleBufferOut.pointee = ToC.retained(sample)
  return result
}

@c @implementation
public func CMAudioSampleBufferCreateWithPacketDescriptions(
  _ allocator: OpaquePointer?, _ dataBuffer: OpaquePointer?, _ dataReady: UInt8,
  _ makeDataReadyCallback: MakeDataReadyCallback?, _ makeDataReadyRefcon: UnsafeMutableRawPointer?,
  _ formatDescription: OpaquePointer?, _ numSamples: Int, _ presentationTimeStamp: C_CMTime,
  _ packetDescriptions: UnsafePointer<C_AudioStreamPacketDescription>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut, let data = FromC.optionalObject(dataBuffer, CMBlockBuffer.self),
    let format = FromC.object(formatDescription, CMFormatDescription.self)
  else { return CoreMedia.kCMSampleBufferError_RequiredParameterMissing }
  var sample: CMSampleBuffer?
  let result = CoreMedia.CMAudioSampleBufferCreateWithPacketDescriptions(
    allocator: nil, dataBuffer: data, dataReady: dataReady != 0,
    makeDataReadyCallback: closure(makeDataReadyCallback), refcon: makeDataReadyRefcon,
    formatDescription: format, sampleCount: numSamples,
    presentationTimeStamp: FromC.value(presentationTimeStamp),
    packetDescriptions: rebound(packetDescriptions), sampleBufferOut: &sample)
  sampleBufferOut.pointee = ToC.retained(sample)
  return result
}

@c(CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler)
public func CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
  _ allocator: OpaquePointer?, _ imageBuffer: OpaquePointer?, _ dataReady: UInt8,
  _ formatDescription: OpaquePointer?, _ sampleTiming: UnsafePointer<C_CMSampleTimingInfo>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?, _ makeDataReadyHandler: UnsafeRawPointer?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut, let sampleTiming, let image = FromC.object(imageBuffer, CVBuffer.self),
    let format = FromC.object(formatDescription, CMFormatDescription.self)
  else { return CoreMedia.kCMSampleBufferError_RequiredParameterMissing }
  var sample: CMSampleBuffer?
  let result = CoreMedia.CMSampleBufferCreateForImageBufferWithMakeDataReadyHandler(
    nil, image, dataReady != 0, format, rebound(sampleTiming), &sample, closure(block: makeDataReadyHandler))
  sampleBufferOut.pointee = ToC.retained(sample)
  return result
}

@c(CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler)
public func CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler(
  _ allocator: OpaquePointer?, _ dataBuffer: OpaquePointer?, _ dataReady: UInt8,
  _ formatDescription: OpaquePointer?, _ numSamples: Int, _ presentationTimeStamp: C_CMTime,
  _ packetDescriptions: UnsafePointer<C_AudioStreamPacketDescription>?,
  _ sampleBufferOut: UnsafeMutablePointer<OpaquePointer?>?, _ makeDataReadyHandler: UnsafeRawPointer?
) -> Int32 {
  sampleBufferOut?.pointee = nil
  guard let sampleBufferOut, let data = FromC.optionalObject(dataBuffer, CMBlockBuffer.self),
    let format = FromC.object(formatDescription, CMFormatDescription.self)
  else { return CoreMedia.kCMSampleBufferError_RequiredParameterMissing }
  var sample: CMSampleBuffer?
  let result = CoreMedia.CMAudioSampleBufferCreateWithPacketDescriptionsAndMakeDataReadyHandler(
    nil, data, dataReady != 0, format, numSamples, FromC.value(presentationTimeStamp),
    rebound(packetDescriptions), &sample, closure(block: makeDataReadyHandler))
  sampleBufferOut.pointee = ToC.retained(sample)
  return result
}

// MARK: - Invalidation

@c @implementation
public func CMSampleBufferSetInvalidateCallback(
  _ sbuf: OpaquePointer?, _ invalidateCallback: (@convention(c) (OpaquePointer?, UInt64) -> Void)?,
  _ invalidateRefCon: UInt64
) -> Int32 {
  guard let sample = FromC.object(sbuf, CMSampleBuffer.self), let invalidateCallback else {
    return CoreMedia.kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferSetInvalidateCallback(
    sample, callback: { invalidateCallback(ToC.unretained($0), $1) }, refcon: invalidateRefCon)
}

@c(CMSampleBufferSetInvalidateHandler)
public func CMSampleBufferSetInvalidateHandler(_ sbuf: OpaquePointer?, _ invalidateHandler: UnsafeRawPointer?)
  -> Int32
{
  guard let sample = FromC.object(sbuf, CMSampleBuffer.self), let block = Block(invalidateHandler) else {
    return CoreMedia.kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferSetInvalidateHandler(sample) {
    OVTBlockCallInvalidated(block.pointer, ToC.unretained($0))
  }
}

// MARK: - Each sample

@c @implementation
public func CMSampleBufferCallForEachSample(
  _ sbuf: OpaquePointer?,
  _ callback: (@convention(c) (OpaquePointer?, Int, UnsafeMutableRawPointer?) -> Int32)?,
  _ refcon: UnsafeMutableRawPointer?
) -> Int32 {
  guard let sample = FromC.object(sbuf, CMSampleBuffer.self), let callback else {
    return CoreMedia.kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferCallForEachSample(
    sample, callback: { callback(ToC.unretained($0), $1, $2) }, refcon: refcon)
}

@c(CMSampleBufferCallBlockForEachSample)
public func CMSampleBufferCallBlockForEachSample(_ sbuf: OpaquePointer?, _ handler: UnsafeRawPointer?)
  -> Int32
{
  guard let sample = FromC.object(sbuf, CMSampleBuffer.self), let handler else {
    return CoreMedia.kCMSampleBufferError_RequiredParameterMissing
  }
  return CoreMedia.CMSampleBufferCallBlockForEachSample(sample) {
    OVTBlockCallSampleAndIndex(handler, ToC.unretained($0), $1)
  }
}
