// SPDX-License-Identifier: Apache-2.0
// Key-value observing needs the Objective-C runtime: on Linux Foundation has none of it, and no object has observers.
// What an object of a program's own says to its observers is heard by nobody, as by an object without observers elsewhere.

extension NSObject {
  /// A property's value is about to change. On Linux nobody observes it.
  public func willChangeValue(forKey key: String) {}

  /// A property's value has changed. On Linux nobody observes it.
  public func didChangeValue(forKey key: String) {}
}

extension NSObjectProtocol where Self: NSObject {
  /// A property's value is about to change. On Linux nobody observes it.
  public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {}

  /// A property's value has changed. On Linux nobody observes it.
  public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {}
}
