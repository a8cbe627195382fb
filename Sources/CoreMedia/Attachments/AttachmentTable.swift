// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The attachments of one object: values by key, each with a mode of propagation.
struct AttachmentTable {
  struct Entry {
    var value: AnyObject
    var mode: CMAttachmentMode
  }

  private var entries: [String: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }

  init() {}

  /// The attachments of a dictionary.
  init(_ attachments: CFDictionary, mode: CMAttachmentMode) {
    attachments.enumerateKeysAndObjects { key, value, _ in
      guard let key = key as? String else { return }
      entries[key] = Entry(value: value as AnyObject, mode: mode)
    }
  }

  subscript(key: String) -> Entry? { entries[key] }

  /// Sets or removes an entry; returns the old one.
  mutating func replace(_ key: String, with entry: Entry?) -> Entry? {
    guard let entry else { return entries.removeValue(forKey: key) }
    return entries.updateValue(entry, forKey: key)
  }

  /// Adds the entries of another table, in place of those with the same keys.
  mutating func merge(_ other: AttachmentTable) {
    entries.merge(other.entries) { $1 }
  }

  func dictionary(mode: CMAttachmentMode) -> CFDictionary? {
    if entries.isEmpty { return nil }
    let result = NSMutableDictionary()
    for (key, entry) in entries where entry.mode == mode {
      result.setObject(entry.value, forKey: key as NSString)
    }
    return result.count > 0 ? result : nil
  }

  /// Adds the entries of another table whose mode is to propagate.
  mutating func propagate(from other: AttachmentTable) {
    for (key, entry) in other.entries where entry.mode == kCMAttachmentMode_ShouldPropagate {
      entries[key] = entry
    }
  }
}

/// An object of this module with attachments.
protocol AttachmentBearing: AnyObject {
  /// Calls a closure with the attachments under the lock of the object. The closure must not
  /// release values, whose deinitializers may call this object again: it returns those that it
  /// replaces.
  func withAttachmentTable<R>(_ body: (inout AttachmentTable) -> R) -> R
}
