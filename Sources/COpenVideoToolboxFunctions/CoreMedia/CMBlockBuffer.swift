// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMBlockBufferCreateEmpty(
  _ structureAllocator: OpaquePointer?, _ subBlockCapacity: UInt32, _ flags: UInt32,
  _ blockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  blockBufferOut?.pointee = nil
  guard let blockBufferOut else { return kCMBlockBufferBadPointerParameterErr }
  var blockBufferOutObject: CMBlockBuffer?
  let result = CoreMedia.CMBlockBufferCreateEmpty(
    allocator: FromC.allocator(structureAllocator), capacity: subBlockCapacity, flags: flags,
    blockBufferOut: &blockBufferOutObject)
  blockBufferOut.pointee = ToC.retained(blockBufferOutObject)
  return result
}

@c @implementation
public func CMBlockBufferCreateWithBufferReference(
  _ structureAllocator: OpaquePointer?, _ bufferReference: OpaquePointer?, _ offsetToData: Int,
  _ dataLength: Int, _ flags: UInt32, _ blockBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  blockBufferOut?.pointee = nil
  guard let blockBufferOut else { return kCMBlockBufferBadPointerParameterErr }
  guard let bufferReference = FromC.object(bufferReference, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  var blockBufferOutObject: CMBlockBuffer?
  let result = CoreMedia.CMBlockBufferCreateWithBufferReference(
    allocator: FromC.allocator(structureAllocator), referenceBuffer: bufferReference,
    offsetToData: offsetToData, dataLength: dataLength, flags: flags, blockBufferOut: &blockBufferOutObject)
  blockBufferOut.pointee = ToC.retained(blockBufferOutObject)
  return result
}

@c @implementation
public func CMBlockBufferGetTypeID() -> UInt {
  CoreMedia.CMBlockBufferGetTypeID()
}

@c @implementation
public func CMBlockBufferAppendBufferReference(
  _ theBuffer: OpaquePointer?, _ targetBBuf: OpaquePointer?, _ offsetToData: Int, _ dataLength: Int,
  _ flags: UInt32
) -> Int32 {
  guard let theBuffer = FromC.object(theBuffer, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  guard let targetBBuf = FromC.object(targetBBuf, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  return CoreMedia.CMBlockBufferAppendBufferReference(
    theBuffer, targetBBuf: targetBBuf, offsetToData: offsetToData, dataLength: dataLength, flags: flags)
}

@c @implementation
public func CMBlockBufferAssureBlockMemory(_ theBuffer: OpaquePointer?) -> Int32 {
  guard let theBuffer = FromC.object(theBuffer, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  return CoreMedia.CMBlockBufferAssureBlockMemory(theBuffer)
}

@c @implementation
public func CMBlockBufferAccessDataBytes(
  _ theBuffer: OpaquePointer?, _ offset: Int, _ length: Int, _ temporaryBlock: UnsafeMutableRawPointer?,
  _ returnedPointerOut: UnsafeMutablePointer<UnsafeMutablePointer<Int8>?>?
) -> Int32 {
  guard let theBuffer = FromC.object(theBuffer, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  guard let temporaryBlock else { return kCMBlockBufferBadPointerParameterErr }
  guard let returnedPointerOut else { return kCMBlockBufferBadPointerParameterErr }
  return CoreMedia.CMBlockBufferAccessDataBytes(
    theBuffer, atOffset: offset, length: length, temporaryBlock: temporaryBlock,
    returnedPointerOut: returnedPointerOut)
}

@c @implementation
public func CMBlockBufferCopyDataBytes(
  _ theSourceBuffer: OpaquePointer?, _ offsetToData: Int, _ dataLength: Int,
  _ destination: UnsafeMutableRawPointer?
) -> Int32 {
  guard let theSourceBuffer = FromC.object(theSourceBuffer, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  guard let destination else { return kCMBlockBufferBadPointerParameterErr }
  return CoreMedia.CMBlockBufferCopyDataBytes(
    theSourceBuffer, atOffset: offsetToData, dataLength: dataLength, destination: destination)
}

@c @implementation
public func CMBlockBufferReplaceDataBytes(
  _ sourceBytes: UnsafeRawPointer?, _ destinationBuffer: OpaquePointer?, _ offsetIntoDestination: Int,
  _ dataLength: Int
) -> Int32 {
  guard let sourceBytes else { return kCMBlockBufferBadPointerParameterErr }
  guard let destinationBuffer = FromC.object(destinationBuffer, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  return CoreMedia.CMBlockBufferReplaceDataBytes(
    with: sourceBytes, blockBuffer: destinationBuffer, offsetIntoDestination: offsetIntoDestination,
    dataLength: dataLength)
}

@c @implementation
public func CMBlockBufferFillDataBytes(
  _ fillByte: Int8, _ destinationBuffer: OpaquePointer?, _ offsetIntoDestination: Int, _ dataLength: Int
) -> Int32 {
  guard let destinationBuffer = FromC.object(destinationBuffer, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  return CoreMedia.CMBlockBufferFillDataBytes(
    with: fillByte, blockBuffer: destinationBuffer, offsetIntoDestination: offsetIntoDestination,
    dataLength: dataLength)
}

@c @implementation
public func CMBlockBufferGetDataPointer(
  _ theBuffer: OpaquePointer?, _ offset: Int, _ lengthAtOffsetOut: UnsafeMutablePointer<Int>?,
  _ totalLengthOut: UnsafeMutablePointer<Int>?,
  _ dataPointerOut: UnsafeMutablePointer<UnsafeMutablePointer<Int8>?>?
) -> Int32 {
  guard let theBuffer = FromC.object(theBuffer, CMBlockBuffer.self) else {
    return kCMBlockBufferBadPointerParameterErr
  }
  return CoreMedia.CMBlockBufferGetDataPointer(
    theBuffer, atOffset: offset, lengthAtOffsetOut: lengthAtOffsetOut, totalLengthOut: totalLengthOut,
    dataPointerOut: dataPointerOut)
}

@c @implementation
public func CMBlockBufferGetDataLength(_ theBuffer: OpaquePointer?) -> Int {
  guard let theBuffer = FromC.object(theBuffer, CMBlockBuffer.self) else { return 0 }
  return CoreMedia.CMBlockBufferGetDataLength(theBuffer)
}

@c @implementation
public func CMBlockBufferIsRangeContiguous(_ theBuffer: OpaquePointer?, _ offset: Int, _ length: Int) -> UInt8
{
  guard let theBuffer = FromC.object(theBuffer, CMBlockBuffer.self) else { return 0 }
  return CoreMedia.CMBlockBufferIsRangeContiguous(theBuffer, atOffset: offset, length: length) ? 1 : 0
}

@c @implementation
public func CMBlockBufferIsEmpty(_ theBuffer: OpaquePointer?) -> UInt8 {
  guard let theBuffer = FromC.object(theBuffer, CMBlockBuffer.self) else { return 0 }
  return CoreMedia.CMBlockBufferIsEmpty(theBuffer) ? 1 : 0
}
