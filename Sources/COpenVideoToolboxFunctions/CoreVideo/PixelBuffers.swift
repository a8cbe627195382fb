// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo

// MARK: - References

@c @implementation
public func CVBufferRetain(_ buffer: OpaquePointer?) -> OpaquePointer? {
  OpaquePointer(CFRetain(UnsafeRawPointer(buffer)))
}

@c @implementation
public func CVBufferRelease(_ buffer: OpaquePointer?) { CFRelease(UnsafeRawPointer(buffer)) }

@c @implementation
public func CVPixelBufferRetain(_ texture: OpaquePointer?) -> OpaquePointer? {
  OpaquePointer(CFRetain(UnsafeRawPointer(texture)))
}

@c @implementation
public func CVPixelBufferRelease(_ texture: OpaquePointer?) { CFRelease(UnsafeRawPointer(texture)) }

@c @implementation
public func CVPixelBufferPoolRetain(_ pixelBufferPool: OpaquePointer?) -> OpaquePointer? {
  OpaquePointer(CFRetain(UnsafeRawPointer(pixelBufferPool)))
}

@c @implementation
public func CVPixelBufferPoolRelease(_ pixelBufferPool: OpaquePointer?) {
  CFRelease(UnsafeRawPointer(pixelBufferPool))
}

// MARK: - Attachments

@c @implementation
public func CVBufferGetAttachments(_ buffer: OpaquePointer?, _ attachmentMode: UInt32) -> OpaquePointer? {
  guard let buffer = FromC.object(buffer, CVBuffer.self),
    let mode = CVAttachmentMode(rawValue: attachmentMode),
    let attachments = CoreVideo.CVBufferCopyAttachments(buffer, mode)
  else { return nil }
  KeptObjects.shared.replace(attachments, of: buffer, "attachments \(attachmentMode)")
  return ToC.unretained(attachments)
}

@c @implementation
public func CVImageBufferCreateColorSpaceFromAttachments(_ attachments: OpaquePointer?) -> OpaquePointer? {
  guard let attachments = FromC.dictionary(attachments) else { return nil }
  return ToC.retained(
    CoreVideo.CVImageBufferCreateColorSpaceFromAttachments(attachments)?.takeRetainedValue())
}

@c @implementation
public func CVImageBufferGetColorSpace(_ imageBuffer: OpaquePointer?) -> OpaquePointer? {
  guard let buffer = FromC.object(imageBuffer, CVBuffer.self),
    let space = CoreVideo.CVImageBufferGetColorSpace(buffer)?.takeUnretainedValue()
  else { return nil }
  KeptObjects.shared.replace(space, of: buffer, "color space")
  return ToC.unretained(space)
}

// MARK: - Memory of the program

@c @implementation
public func CVPixelBufferCreateWithBytes(
  _ allocator: OpaquePointer?, _ width: Int, _ height: Int, _ pixelFormatType: UInt32,
  _ baseAddress: UnsafeMutableRawPointer?, _ bytesPerRow: Int,
  _ releaseCallback: (@convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void)?,
  _ releaseRefCon: UnsafeMutableRawPointer?, _ pixelBufferAttributes: OpaquePointer?,
  _ pixelBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelBufferOut?.pointee = nil
  guard let pixelBufferOut, let baseAddress,
    let attributes = FromC.optionalDictionary(pixelBufferAttributes)
  else { return CoreVideo.kCVReturnInvalidArgument }
  var buffer: CVPixelBuffer?
  let result = CoreVideo.CVPixelBufferCreateWithBytes(
    FromC.allocator(allocator), width, height, pixelFormatType, baseAddress, bytesPerRow, releaseCallback,
    releaseRefCon, attributes, &buffer)
  pixelBufferOut.pointee = ToC.retained(buffer)
  return result
}

@c @implementation
public func CVPixelBufferCreateWithPlanarBytes(
  _ allocator: OpaquePointer?, _ width: Int, _ height: Int, _ pixelFormatType: UInt32,
  _ dataPtr: UnsafeMutableRawPointer?, _ dataSize: Int, _ numberOfPlanes: Int,
  _ planeBaseAddress: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ planeWidth: UnsafeMutablePointer<Int>?, _ planeHeight: UnsafeMutablePointer<Int>?,
  _ planeBytesPerRow: UnsafeMutablePointer<Int>?,
  _ releaseCallback: (
    @convention(c) (
      UnsafeMutableRawPointer?, UnsafeRawPointer?, Int, Int, UnsafeMutablePointer<UnsafeRawPointer?>?
    ) -> Void
  )?,
  _ releaseRefCon: UnsafeMutableRawPointer?, _ pixelBufferAttributes: OpaquePointer?,
  _ pixelBufferOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  pixelBufferOut?.pointee = nil
  guard let pixelBufferOut, let planeBaseAddress, let planeWidth, let planeHeight, let planeBytesPerRow,
    let attributes = FromC.optionalDictionary(pixelBufferAttributes)
  else { return CoreVideo.kCVReturnInvalidArgument }
  var buffer: CVPixelBuffer?
  let result = CoreVideo.CVPixelBufferCreateWithPlanarBytes(
    FromC.allocator(allocator), width, height, pixelFormatType, dataPtr, dataSize, numberOfPlanes,
    planeBaseAddress, planeWidth, planeHeight, planeBytesPerRow, releaseCallback, releaseRefCon, attributes,
    &buffer)
  pixelBufferOut.pointee = ToC.retained(buffer)
  return result
}
