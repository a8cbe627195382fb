// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo

@c @implementation
public func CVIsCompressedPixelFormatAvailable(_ pixelFormatType: UInt32) -> UInt8 {
  CoreVideo.CVIsCompressedPixelFormatAvailable(pixelFormatType) ? 1 : 0
}

@c @implementation
public func CVPixelBufferLockBaseAddress(_ pixelBuffer: OpaquePointer?, _ lockFlags: UInt64) -> Int32 {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return kCVReturnInvalidArgument }
  return CoreVideo.CVPixelBufferLockBaseAddress(pixelBuffer, .init(rawValue: lockFlags))
}

@c @implementation
public func CVPixelBufferUnlockBaseAddress(_ pixelBuffer: OpaquePointer?, _ unlockFlags: UInt64) -> Int32 {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return kCVReturnInvalidArgument }
  return CoreVideo.CVPixelBufferUnlockBaseAddress(pixelBuffer, .init(rawValue: unlockFlags))
}

@c @implementation
public func CVPixelBufferGetWidth(_ pixelBuffer: OpaquePointer?) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetWidth(pixelBuffer)
}

@c @implementation
public func CVPixelBufferGetHeight(_ pixelBuffer: OpaquePointer?) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetHeight(pixelBuffer)
}

@c @implementation
public func CVPixelBufferGetPixelFormatType(_ pixelBuffer: OpaquePointer?) -> UInt32 {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetPixelFormatType(pixelBuffer)
}

@c @implementation
public func CVPixelBufferGetBaseAddress(_ pixelBuffer: OpaquePointer?) -> UnsafeMutableRawPointer? {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return nil }
  return CoreVideo.CVPixelBufferGetBaseAddress(pixelBuffer)
}

@c @implementation
public func CVPixelBufferGetBytesPerRow(_ pixelBuffer: OpaquePointer?) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetBytesPerRow(pixelBuffer)
}

@c @implementation
public func CVPixelBufferGetDataSize(_ pixelBuffer: OpaquePointer?) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetDataSize(pixelBuffer)
}

@c @implementation
public func CVPixelBufferIsPlanar(_ pixelBuffer: OpaquePointer?) -> UInt8 {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferIsPlanar(pixelBuffer) ? 1 : 0
}

@c @implementation
public func CVPixelBufferGetPlaneCount(_ pixelBuffer: OpaquePointer?) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetPlaneCount(pixelBuffer)
}

@c @implementation
public func CVPixelBufferGetWidthOfPlane(_ pixelBuffer: OpaquePointer?, _ planeIndex: Int) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetWidthOfPlane(pixelBuffer, planeIndex)
}

@c @implementation
public func CVPixelBufferGetHeightOfPlane(_ pixelBuffer: OpaquePointer?, _ planeIndex: Int) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetHeightOfPlane(pixelBuffer, planeIndex)
}

@c @implementation
public func CVPixelBufferGetBaseAddressOfPlane(_ pixelBuffer: OpaquePointer?, _ planeIndex: Int)
  -> UnsafeMutableRawPointer?
{
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return nil }
  return CoreVideo.CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, planeIndex)
}

@c @implementation
public func CVPixelBufferGetBytesPerRowOfPlane(_ pixelBuffer: OpaquePointer?, _ planeIndex: Int) -> Int {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  return CoreVideo.CVPixelBufferGetBytesPerRowOfPlane(pixelBuffer, planeIndex)
}

@c @implementation
public func CVPixelBufferGetExtendedPixels(
  _ pixelBuffer: OpaquePointer?, _ extraColumnsOnLeft: UnsafeMutablePointer<Int>?,
  _ extraColumnsOnRight: UnsafeMutablePointer<Int>?, _ extraRowsOnTop: UnsafeMutablePointer<Int>?,
  _ extraRowsOnBottom: UnsafeMutablePointer<Int>?
) {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return }
  CoreVideo.CVPixelBufferGetExtendedPixels(
    pixelBuffer, extraColumnsOnLeft, extraColumnsOnRight, extraRowsOnTop, extraRowsOnBottom)
}

@c @implementation
public func CVPixelBufferCreate(
  _ allocator: OpaquePointer?, _ width: Int, _ height: Int, _ pixelFormatType: UInt32,
  _ pixelBufferAttributes: OpaquePointer?, _ pixelBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelBufferOut?.pointee = nil
  guard let pixelBufferOut else { return kCVReturnInvalidArgument }
  guard let pixelBufferAttributes = FromC.optionalDictionary(pixelBufferAttributes) else {
    return kCVReturnInvalidArgument
  }
  var pixelBufferOutObject: CVPixelBuffer?
  let result = CoreVideo.CVPixelBufferCreate(
    FromC.allocator(allocator), width, height, pixelFormatType, pixelBufferAttributes, &pixelBufferOutObject)
  pixelBufferOut.pointee = ToC.retained(pixelBufferOutObject)
  return result
}

@c @implementation
public func CVPixelBufferGetTypeID() -> UInt {
  CoreVideo.CVPixelBufferGetTypeID()
}

@c @implementation
public func CVPixelBufferCopyCreationAttributes(_ pixelBuffer: OpaquePointer?) -> OpaquePointer? {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return nil }
  return ToC.retained(CoreVideo.CVPixelBufferCopyCreationAttributes(pixelBuffer))
}

@c @implementation
public func CVPixelBufferIsCompatibleWithAttributes(
  _ pixelBuffer: OpaquePointer?, _ attributes: OpaquePointer?
) -> UInt8 {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return 0 }
  guard let attributes = FromC.optionalDictionary(attributes) else { return 0 }
  return CoreVideo.CVPixelBufferIsCompatibleWithAttributes(pixelBuffer, attributes) ? 1 : 0
}

@c @implementation
public func CVPixelBufferFillExtendedPixels(_ pixelBuffer: OpaquePointer?) -> Int32 {
  guard let pixelBuffer = FromC.object(pixelBuffer, CVBuffer.self) else { return kCVReturnInvalidArgument }
  return CoreVideo.CVPixelBufferFillExtendedPixels(pixelBuffer)
}

@c @implementation
public func CVPixelBufferCreateResolvedAttributesDictionary(
  _ allocator: OpaquePointer?, _ attributes: OpaquePointer?,
  _ resolvedDictionaryOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  resolvedDictionaryOut?.pointee = nil
  guard let resolvedDictionaryOut else { return kCVReturnInvalidArgument }
  guard let attributes = FromC.optionalArray(attributes) else { return kCVReturnInvalidArgument }
  var resolvedDictionaryOutObject: CFDictionary?
  let result = CoreVideo.CVPixelBufferCreateResolvedAttributesDictionary(
    FromC.allocator(allocator), attributes, &resolvedDictionaryOutObject)
  resolvedDictionaryOut.pointee = ToC.retained(resolvedDictionaryOutObject)
  return result
}
