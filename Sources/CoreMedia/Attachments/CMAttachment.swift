// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// An object that can have attachments: a `CMSampleBuffer`, `CMBlockBuffer` or `CVBuffer`. For
/// other objects the functions have no effect and return nil.
public typealias CMAttachmentBearer = CFTypeRef

/// Whether an attachment is copied when attachments are propagated to another object.
public typealias CMAttachmentMode = UInt32

/// The attachment is not copied.
public let kCMAttachmentMode_ShouldNotPropagate: CMAttachmentMode = 0
/// The attachment is copied.
public let kCMAttachmentMode_ShouldPropagate: CMAttachmentMode = 1

private func cvMode(_ mode: CMAttachmentMode) -> CVAttachmentMode {
  mode == kCMAttachmentMode_ShouldPropagate ? .shouldPropagate : .shouldNotPropagate
}

/// Sets or removes a value. The old value is released outside the lock, since its deinitializer may
/// call the object again.
private func replace(_ key: CFString, with entry: AttachmentTable.Entry?, in bearer: any AttachmentBearing) {
  let key = key as String
  let old = bearer.withAttachmentTable { $0.replace(key, with: entry) }
  _ = old
}

/// Changes the attachments. The old values are released outside the lock, since their
/// deinitializers may call the object again.
private func change(_ bearer: any AttachmentBearing, _ body: (inout AttachmentTable) -> Void) {
  let old = bearer.withAttachmentTable { table in
    let old = table
    body(&table)
    return old
  }
  _ = old
}

/// Attaches a value under a key, in place of an earlier one. Without a value, the attachment is
/// removed.
public func CMSetAttachment(
  _ target: CMAttachmentBearer, key: CFString, value: CFTypeRef?, attachmentMode: CMAttachmentMode
) {
  guard let value else { return CMRemoveAttachment(target, key: key) }
  if let bearer = target as? any AttachmentBearing {
    replace(key, with: .init(value: value, mode: attachmentMode), in: bearer)
  } else if let buffer = target as? CVBuffer {
    CVBufferSetAttachment(buffer, key, value, cvMode(attachmentMode))
  }
}

/// Returns the value attached under a key, and its mode; nil if there is none.
@discardableResult
public func CMGetAttachment(
  _ target: CMAttachmentBearer, key: CFString, attachmentModeOut: UnsafeMutablePointer<CMAttachmentMode>?
) -> CFTypeRef? {
  if let bearer = target as? any AttachmentBearing {
    let key = key as String
    guard let entry = bearer.withAttachmentTable({ $0[key] }) else { return nil }
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
    replace(key, with: nil, in: bearer)
  } else if let buffer = target as? CVBuffer {
    CVBufferRemoveAttachment(buffer, key)
  }
}

/// Removes all attachments.
public func CMRemoveAllAttachments(_ target: CMAttachmentBearer) {
  if let bearer = target as? any AttachmentBearing {
    change(bearer) { $0 = AttachmentTable() }
  } else if let buffer = target as? CVBuffer {
    CVBufferRemoveAllAttachments(buffer)
  }
}

/// Returns a dictionary of the attachments with a mode; nil if there are none.
@discardableResult
public func CMCopyDictionaryOfAttachments(
  allocator: CFAllocator?, target: CMAttachmentBearer, attachmentMode: CMAttachmentMode
) -> CFDictionary? {
  if let bearer = target as? any AttachmentBearing {
    return bearer.withAttachmentTable { $0 }.dictionary(mode: attachmentMode)
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
    let table = AttachmentTable(theAttachments, mode: attachmentMode)
    change(bearer) { $0.merge(table) }
  } else if let buffer = target as? CVBuffer {
    CVBufferSetAttachments(buffer, theAttachments, cvMode(attachmentMode))
  }
}

/// Copies the attachments whose mode is to propagate from one object to another.
public func CMPropagateAttachments(_ source: CMAttachmentBearer, destination: CMAttachmentBearer) {
  guard source !== destination else { return }
  if let source = source as? any AttachmentBearing, let destination = destination as? any AttachmentBearing {
    let table = source.withAttachmentTable { $0 }
    change(destination) { $0.propagate(from: table) }
  } else if let attachments = CMCopyDictionaryOfAttachments(
    allocator: kCFAllocatorDefault, target: source, attachmentMode: kCMAttachmentMode_ShouldPropagate)
  {
    CMSetAttachments(
      destination, attachments: attachments, attachmentMode: kCMAttachmentMode_ShouldPropagate)
  }
}
