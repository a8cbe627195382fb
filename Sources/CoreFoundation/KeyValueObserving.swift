// SPDX-License-Identifier: Apache-2.0
// Key-value observing needs the Objective-C runtime. Foundation on Linux does not implement it, so
// that no object has observers. These functions do nothing, as they do for an object without
// observers on Apple's systems.

extension NSObject {
  /// Announces that a property's value is about to change. It does nothing on Linux.
  public func willChangeValue(forKey key: String) {}

  /// Announces that a property's value has changed. It does nothing on Linux.
  public func didChangeValue(forKey key: String) {}
}

extension NSObjectProtocol where Self: NSObject {
  /// Announces that a property's value is about to change. It does nothing on Linux.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {}

  /// Announces that a property's value has changed. It does nothing on Linux.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {}
}
