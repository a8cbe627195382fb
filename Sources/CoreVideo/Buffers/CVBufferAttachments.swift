// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Synchronization

/// Whether an attachment is copied when attachments are propagated to another buffer.
public enum CVAttachmentMode: UInt32, Sendable {
  case shouldNotPropagate = 0
  case shouldPropagate = 1
}

/// The attachments of one buffer. Values are immutable, or shared at the client's risk.
struct AttachmentStore: @unchecked Sendable {
  // Sendable: property-list values, guarded by the mutex of the buffer.
  struct Entry {
    var value: AnyObject
    var mode: CVAttachmentMode
  }
  var entries: [String: Entry] = [:]

  func dictionary(_ mode: CVAttachmentMode) -> CFDictionary? {
    let found = NSMutableDictionary()
    for (key, entry) in entries where entry.mode == mode { found[key as NSString] = entry.value }
    return found.count == 0 ? nil : (found.copy() as! NSDictionary)
  }
}

/// Attaches a value to a buffer, replacing an earlier one of the same key.
public func CVBufferSetAttachment(
  _ buffer: CVBuffer, _ key: CFString, _ value: CFTypeRef, _ attachmentMode: CVAttachmentMode
) {
  let entry = AttachmentStore.Entry(value: value, mode: attachmentMode)
  let key = key as String
  // The old value is released without the lock: its deinitialiser may call back.
  let old = buffer.attachments.withLock { store in
    UncheckedBox(store.entries.updateValue(entry, forKey: key))
  }
  _ = old
}

/// The value attached under a key, or nil. It stays valid as long as it is attached.
@discardableResult
public func CVBufferGetAttachment(
  _ buffer: CVBuffer, _ key: CFString, _ attachmentMode: UnsafeMutablePointer<CVAttachmentMode>?
) -> Unmanaged<CFTypeRef>? {
  CVBufferCopyAttachment(buffer, key, attachmentMode).map(Unmanaged.passUnretained)
}

/// The value attached under a key, or nil.
@discardableResult
public func CVBufferCopyAttachment(
  _ buffer: CVBuffer, _ key: CFString, _ attachmentMode: UnsafeMutablePointer<CVAttachmentMode>?
) -> CFTypeRef? {
  let key = key as String
  let entry = buffer.attachments.withLock { UncheckedBox($0.entries[key]) }.value
  if let entry { attachmentMode?.pointee = entry.mode }
  return entry?.value
}

/// Whether something is attached under a key.
@discardableResult
public func CVBufferHasAttachment(_ buffer: CVBuffer, _ key: CFString) -> Bool {
  let key = key as String
  return buffer.attachments.withLock { $0.entries[key] != nil }
}

/// Detaches the value of a key, if there is one.
public func CVBufferRemoveAttachment(_ buffer: CVBuffer, _ key: CFString) {
  let key = key as String
  _ = buffer.attachments.withLock { UncheckedBox($0.entries.removeValue(forKey: key)) }
}

/// Detaches everything.
public func CVBufferRemoveAllAttachments(_ buffer: CVBuffer) {
  _ = buffer.attachments.withLock { store in
    defer { store.entries = [:] }
    return store
  }
}

/// All attachments of a mode, or nil if there are none.
@discardableResult
public func CVBufferGetAttachments(_ buffer: CVBuffer, _ attachmentMode: CVAttachmentMode) -> CFDictionary? {
  CVBufferCopyAttachments(buffer, attachmentMode)
}

/// All attachments of a mode, or nil if there are none.
@discardableResult
public func CVBufferCopyAttachments(_ buffer: CVBuffer, _ attachmentMode: CVAttachmentMode) -> CFDictionary? {
  buffer.attachments.withLock { $0 }.dictionary(attachmentMode)
}

/// Attaches every entry of a dictionary.
public func CVBufferSetAttachments(
  _ buffer: CVBuffer, _ theAttachments: CFDictionary, _ attachmentMode: CVAttachmentMode
) {
  for (key, value) in theAttachments {
    guard let key = key as? String else { continue }
    CVBufferSetAttachment(buffer, key as CFString, value as AnyObject, attachmentMode)
  }
}

/// Propagating attachments for many buffers, parsed once so that attaching them is cheap.
package struct CVAttachmentSet: @unchecked Sendable {
  // Sendable: immutable property-list values.
  // The entries are never changed, and their values are immutable.
  private let entries: [String: AttachmentStore.Entry]

  package init(_ attachments: CFDictionary) {
    var entries: [String: AttachmentStore.Entry] = [:]
    for (key, value) in attachments {
      guard let key = key as? String else { continue }
      entries[key] = AttachmentStore.Entry(value: value as AnyObject, mode: .shouldPropagate)
    }
    self.entries = entries
  }

  /// Attaches all values, as `CVBufferSetAttachments` does.
  /// - Parameter buffer: The buffer to attach them to.
  package func attach(to buffer: CVBuffer) {
    let old = buffer.attachments.withLock { store in
      let old = UncheckedBox(store)
      if store.entries.isEmpty {
        store.entries = entries
      } else {
        store.entries.merge(entries) { $1 }
      }
      return old
    }
    _ = old
  }
}

/// Copies the attachments that propagate from one buffer to another.
public func CVBufferPropagateAttachments(_ sourceBuffer: CVBuffer, _ destinationBuffer: CVBuffer) {
  for (key, entry) in sourceBuffer.attachments.withLock({ $0 }).entries where entry.mode == .shouldPropagate {
    CVBufferSetAttachment(destinationBuffer, key as CFString, entry.value, .shouldPropagate)
  }
}

extension CVBuffer {
  /// Whether a closure returns true for each attachment of both modes. It is not called again after
  /// it has returned false.
  /// - Parameter body: Called with a key and its value.
  package func attachmentsSatisfy(_ body: (_ key: String, _ value: AnyObject) -> Bool) -> Bool {
    attachments.withLock { $0 }.entries.allSatisfy { body($0.key, $0.value.value) }
  }

  /// Attaches the initial attachments that a buffer's attributes contain.
  func attachInitial(_ attributes: CFDictionary?) {
    guard let attributes else { return }
    for (key, mode) in [
      (kCVBufferPropagatedAttachmentsKey, CVAttachmentMode.shouldPropagate),
      (kCVBufferNonPropagatedAttachmentsKey, .shouldNotPropagate),
    ] {
      if let list = attributes[key] as? NSDictionary { CVBufferSetAttachments(self, list, mode) }
    }
  }
}

/// Passes a value that is not Sendable out of a lock.
struct UncheckedBox<Value>: @unchecked Sendable {
  // Sendable: the value is moved out of a lock, whose owner keeps no reference to it.
  let value: Value
  init(_ value: Value) { self.value = value }
}
