// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreVideo

@c @implementation
public func CVBufferSetAttachment(
  _ buffer: OpaquePointer?, _ key: OpaquePointer?, _ value: UnsafeRawPointer?, _ attachmentMode: UInt32
) {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return }
  guard let key = FromC.object(key, NSString.self) else { return }
  guard let value = FromC.object(value, AnyObject.self) else { return }
  guard let attachmentMode = CVAttachmentMode(rawValue: attachmentMode) else { return }
  CoreVideo.CVBufferSetAttachment(buffer, key, value, attachmentMode)
}

@c @implementation
public func CVBufferGetAttachment(
  _ buffer: OpaquePointer?, _ key: OpaquePointer?, _ attachmentMode: UnsafeMutablePointer<UInt32>?
) -> UnsafeRawPointer? {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return nil }
  guard let key = FromC.object(key, NSString.self) else { return nil }
  return ToC.unretained(
    CoreVideo.CVBufferGetAttachment(buffer, key, rebound(attachmentMode))?.takeUnretainedValue())
}

@c @implementation
public func CVBufferCopyAttachment(
  _ buffer: OpaquePointer?, _ key: OpaquePointer?, _ attachmentMode: UnsafeMutablePointer<UInt32>?
) -> UnsafeRawPointer? {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return nil }
  guard let key = FromC.object(key, NSString.self) else { return nil }
  return ToC.retained(CoreVideo.CVBufferCopyAttachment(buffer, key, rebound(attachmentMode)))
}

@c @implementation
public func CVBufferHasAttachment(_ buffer: OpaquePointer?, _ key: OpaquePointer?) -> UInt8 {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return 0 }
  guard let key = FromC.object(key, NSString.self) else { return 0 }
  return CoreVideo.CVBufferHasAttachment(buffer, key) ? 1 : 0
}

@c @implementation
public func CVBufferRemoveAttachment(_ buffer: OpaquePointer?, _ key: OpaquePointer?) {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return }
  guard let key = FromC.object(key, NSString.self) else { return }
  CoreVideo.CVBufferRemoveAttachment(buffer, key)
}

@c @implementation
public func CVBufferRemoveAllAttachments(_ buffer: OpaquePointer?) {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return }
  CoreVideo.CVBufferRemoveAllAttachments(buffer)
}

@c @implementation
public func CVBufferCopyAttachments(_ buffer: OpaquePointer?, _ attachmentMode: UInt32) -> OpaquePointer? {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return nil }
  guard let attachmentMode = CVAttachmentMode(rawValue: attachmentMode) else { return nil }
  return ToC.retained(CoreVideo.CVBufferCopyAttachments(buffer, attachmentMode))
}

@c @implementation
public func CVBufferSetAttachments(
  _ buffer: OpaquePointer?, _ theAttachments: OpaquePointer?, _ attachmentMode: UInt32
) {
  guard let buffer = FromC.object(buffer, CVBuffer.self) else { return }
  guard let theAttachments = FromC.dictionary(theAttachments) else { return }
  guard let attachmentMode = CVAttachmentMode(rawValue: attachmentMode) else { return }
  CoreVideo.CVBufferSetAttachments(buffer, theAttachments, attachmentMode)
}

@c @implementation
public func CVBufferPropagateAttachments(_ sourceBuffer: OpaquePointer?, _ destinationBuffer: OpaquePointer?)
{
  guard let sourceBuffer = FromC.object(sourceBuffer, CVBuffer.self) else { return }
  guard let destinationBuffer = FromC.object(destinationBuffer, CVBuffer.self) else { return }
  CoreVideo.CVBufferPropagateAttachments(sourceBuffer, destinationBuffer)
}
