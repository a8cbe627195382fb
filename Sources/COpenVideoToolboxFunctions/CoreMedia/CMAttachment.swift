// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMSetAttachment(
  _ target: UnsafeRawPointer?, _ key: OpaquePointer?, _ value: UnsafeRawPointer?, _ attachmentMode: UInt32
) {
  guard let target = FromC.object(target, AnyObject.self) else { return }
  guard let key = FromC.object(key, NSString.self) else { return }
  guard let value = FromC.optionalObject(value, AnyObject.self) else { return }
  CoreMedia.CMSetAttachment(target, key: key, value: value, attachmentMode: attachmentMode)
}

@c @implementation
public func CMGetAttachment(
  _ target: UnsafeRawPointer?, _ key: OpaquePointer?, _ attachmentModeOut: UnsafeMutablePointer<UInt32>?
) -> UnsafeRawPointer? {
  guard let target = FromC.object(target, AnyObject.self) else { return nil }
  guard let key = FromC.object(key, NSString.self) else { return nil }
  return ToC.unretained(CoreMedia.CMGetAttachment(target, key: key, attachmentModeOut: attachmentModeOut))
}

@c @implementation
public func CMRemoveAttachment(_ target: UnsafeRawPointer?, _ key: OpaquePointer?) {
  guard let target = FromC.object(target, AnyObject.self) else { return }
  guard let key = FromC.object(key, NSString.self) else { return }
  CoreMedia.CMRemoveAttachment(target, key: key)
}

@c @implementation
public func CMRemoveAllAttachments(_ target: UnsafeRawPointer?) {
  guard let target = FromC.object(target, AnyObject.self) else { return }
  CoreMedia.CMRemoveAllAttachments(target)
}

@c @implementation
public func CMCopyDictionaryOfAttachments(
  _ allocator: OpaquePointer?, _ target: UnsafeRawPointer?, _ attachmentMode: UInt32
) -> OpaquePointer? {
  guard let target = FromC.object(target, AnyObject.self) else { return nil }
  return ToC.retained(
    CoreMedia.CMCopyDictionaryOfAttachments(
      allocator: FromC.allocator(allocator), target: target, attachmentMode: attachmentMode))
}

@c @implementation
public func CMSetAttachments(
  _ target: UnsafeRawPointer?, _ theAttachments: OpaquePointer?, _ attachmentMode: UInt32
) {
  guard let target = FromC.object(target, AnyObject.self) else { return }
  guard let theAttachments = FromC.dictionary(theAttachments) else { return }
  CoreMedia.CMSetAttachments(target, attachments: theAttachments, attachmentMode: attachmentMode)
}

@c @implementation
public func CMPropagateAttachments(_ source: UnsafeRawPointer?, _ destination: UnsafeRawPointer?) {
  guard let source = FromC.object(source, AnyObject.self) else { return }
  guard let destination = FromC.object(destination, AnyObject.self) else { return }
  CoreMedia.CMPropagateAttachments(source, destination: destination)
}
