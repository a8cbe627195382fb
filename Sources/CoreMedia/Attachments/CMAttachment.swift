// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// An object that attachments can be set on: a `CMSampleBuffer`, `CMBlockBuffer` or `CVBuffer`.
///
/// With any other object the functions do nothing and find nothing.
public typealias CMAttachmentBearer = CFTypeRef

/// Whether an attachment is copied when attachments are propagated to another object.
public typealias CMAttachmentMode = UInt32

/// Not copied.
public let kCMAttachmentMode_ShouldNotPropagate: CMAttachmentMode = 0
/// Copied.
public let kCMAttachmentMode_ShouldPropagate: CMAttachmentMode = 1

private func cvMode(_ mode: CMAttachmentMode) -> CVAttachmentMode {
  mode == kCMAttachmentMode_ShouldPropagate ? .shouldPropagate : .shouldNotPropagate
}

/// Attaches a value, instead of one that may be there under the same key. No value removes it.
public func CMSetAttachment(
  _ target: CMAttachmentBearer, key: CFString, value: CFTypeRef?, attachmentMode: CMAttachmentMode
) {
  guard let value else { return CMRemoveAttachment(target, key: key) }
  if let bearer = target as? any AttachmentBearing {
    bearer.withAttachmentTable { $0[key as String] = .init(value: value, mode: attachmentMode) }
  } else if let buffer = target as? CVBuffer {
    CVBufferSetAttachment(buffer, key, value, cvMode(attachmentMode))
  }
}

/// The value attached under a key, and its mode.
@discardableResult
public func CMGetAttachment(
  _ target: CMAttachmentBearer, key: CFString, attachmentModeOut: UnsafeMutablePointer<CMAttachmentMode>?
) -> CFTypeRef? {
  if let bearer = target as? any AttachmentBearing {
    guard let entry = bearer.withAttachmentTable({ $0[key as String] }) else { return nil }
    attachmentModeOut?.pointee = entry.mode
    return entry.value
  }
  if let buffer = target as? CVBuffer {
    var mode = CVAttachmentMode.shouldNotPropagate
    guard let value = CVBufferCopyAttachment(buffer, key, &mode) else { return nil }
    attachmentModeOut?.pointee = CMAttachmentMode(mode.rawValue)
    return value
  }
  return nil
}

/// Removes the value attached under a key.
public func CMRemoveAttachment(_ target: CMAttachmentBearer, key: CFString) {
  if let bearer = target as? any AttachmentBearing {
    bearer.withAttachmentTable { $0[key as String] = nil }
  } else if let buffer = target as? CVBuffer {
    CVBufferRemoveAttachment(buffer, key)
  }
}

/// Removes all attachments.
public func CMRemoveAllAttachments(_ target: CMAttachmentBearer) {
  if let bearer = target as? any AttachmentBearing {
    bearer.withAttachmentTable { $0.removeAll() }
  } else if let buffer = target as? CVBuffer {
    CVBufferRemoveAllAttachments(buffer)
  }
}

/// A dictionary of the attachments of one mode, or nil if there are none.
@discardableResult
public func CMCopyDictionaryOfAttachments(
  allocator: CFAllocator?, target: CMAttachmentBearer, attachmentMode: CMAttachmentMode
) -> CFDictionary? {
  if let bearer = target as? any AttachmentBearing {
    return bearer.withAttachmentTable { $0.dictionary(mode: attachmentMode) }
  }
  if let buffer = target as? CVBuffer {
    guard let attachments = CVBufferCopyAttachments(buffer, cvMode(attachmentMode)), attachments.count > 0
    else { return nil }
    return attachments
  }
  return nil
}

/// Attaches all values of a dictionary.
public func CMSetAttachments(
  _ target: CMAttachmentBearer, attachments theAttachments: CFDictionary, attachmentMode: CMAttachmentMode
) {
  if let bearer = target as? any AttachmentBearing {
    bearer.withAttachmentTable { $0.set(theAttachments, mode: attachmentMode) }
  } else if let buffer = target as? CVBuffer {
    CVBufferSetAttachments(buffer, theAttachments, cvMode(attachmentMode))
  }
}

/// Copies the attachments that are to be propagated from one object to another.
public func CMPropagateAttachments(_ source: CMAttachmentBearer, destination: CMAttachmentBearer) {
  guard source !== destination else { return }
  if let source = source as? any AttachmentBearing, let destination = destination as? any AttachmentBearing {
    let table = source.withAttachmentTable { $0 }
    destination.withAttachmentTable { $0.propagate(from: table) }
  } else if let attachments = CMCopyDictionaryOfAttachments(
    allocator: kCFAllocatorDefault, target: source, attachmentMode: kCMAttachmentMode_ShouldPropagate)
  {
    CMSetAttachments(
      destination, attachments: attachments, attachmentMode: kCMAttachmentMode_ShouldPropagate)
  }
}
