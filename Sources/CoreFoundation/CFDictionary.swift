// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

// Dictionaries are accessed through raw pointers. A key or a value is the address of an object,
// `Unmanaged.passUnretained(object).toOpaque()`, unless the dictionary was created without
// callbacks.

/// The callbacks of a dictionary's keys. They say whether the keys are objects
/// (`kCFTypeDictionaryKeyCallBacks`) or plain pointers (`init()`).
public struct CFDictionaryKeyCallBacks: Sendable {
  public let version: CFIndex = 0
  let holdsObjects: Bool
  public init() { holdsObjects = false }
  fileprivate init(holdsObjects: Bool) { self.holdsObjects = holdsObjects }
}

/// The callbacks of a dictionary's values. They say whether the values are objects
/// (`kCFTypeDictionaryValueCallBacks`) or plain pointers (`init()`).
public struct CFDictionaryValueCallBacks: Sendable {
  public let version: CFIndex = 0
  let holdsObjects: Bool
  public init() { holdsObjects = false }
  fileprivate init(holdsObjects: Bool) { self.holdsObjects = holdsObjects }
}

// These are variables so that their addresses can be taken with `&`.
public nonisolated(unsafe) var kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks(holdsObjects: true)
public nonisolated(unsafe) var kCFCopyStringDictionaryKeyCallBacks = CFDictionaryKeyCallBacks(
  holdsObjects: true)
public nonisolated(unsafe) var kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks(
  holdsObjects: true)

public typealias CFDictionaryApplierFunction =
  @convention(c) (
    _ key: UnsafeRawPointer?, _ value: UnsafeRawPointer?, _ context: UnsafeMutableRawPointer?
  ) -> Void

// MARK: - Creation

/// Creates a dictionary of `numValues` keys and values.
///
/// Its keys and values are objects if the callbacks for keys or those for values say so, and plain
/// pointers otherwise. A dictionary of objects skips pairs in which the key or the value is nil.
@discardableResult
public func CFDictionaryCreate(
  _ allocator: CFAllocator!, _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!,
  _ values: UnsafeMutablePointer<UnsafeRawPointer?>!, _ numValues: CFIndex,
  _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
  _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFDictionary! {
  let result: CFMutableDictionary = CFDictionaryCreateMutable(
    allocator, numValues, keyCallBacks, valueCallBacks)
  if numValues > 0, keys != nil, values != nil {
    for i in 0..<numValues { CFDictionarySetValue(result, keys[i], values[i]) }
  }
  return holdsObjects(result) ? (result.copy() as! CFDictionary) : result
}

/// Creates an empty dictionary that can be changed. The capacity is ignored.
@discardableResult
public func CFDictionaryCreateMutable(
  _ allocator: CFAllocator!, _ capacity: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
  _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! {
  if keyCallBacks?.pointee.holdsObjects == true || valueCallBacks?.pointee.holdsObjects == true {
    return CFMutableDictionary()
  }
  guard let made = OVTDictionaryCreateMutable(nil, 0, nil, nil) else { return nil }
  return Unmanaged<CFMutableDictionary>.fromOpaque(made).takeRetainedValue()
}

/// Returns a copy of a dictionary. The copy of a dictionary of objects is immutable.
@discardableResult
public func CFDictionaryCreateCopy(_ allocator: CFAllocator!, _ theDict: CFDictionary!) -> CFDictionary! {
  guard let theDict else { return nil }
  return holdsObjects(theDict)
    ? (theDict.copy() as! CFDictionary) : CFDictionaryCreateMutableCopy(nil, 0, theDict)
}

/// Returns a mutable copy of a dictionary. The capacity is ignored.
@discardableResult
public func CFDictionaryCreateMutableCopy(
  _ allocator: CFAllocator!, _ capacity: CFIndex, _ theDict: CFDictionary!
) -> CFMutableDictionary! {
  guard let theDict else { return nil }
  if holdsObjects(theDict) { return (theDict.mutableCopy() as! CFMutableDictionary) }
  guard let copy = CFDictionaryCreateMutable(allocator, capacity, nil, nil) else { return nil }
  withKeysAndValues(of: theDict) { keys, values in
    for i in keys.indices { OVTDictionarySetValue(raw(copy), keys[i], values[i]) }
  }
  return copy
}

// MARK: - Reading

@discardableResult
public func CFDictionaryGetCount(_ theDict: CFDictionary!) -> CFIndex {
  theDict.map { OVTDictionaryGetCount(raw($0)) } ?? 0
}

/// Returns 1 if the key is in the dictionary, and 0 otherwise.
@discardableResult
public func CFDictionaryGetCountOfKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> CFIndex {
  CFDictionaryContainsKey(theDict, key) ? 1 : 0
}

@discardableResult
public func CFDictionaryContainsKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> Bool {
  CFDictionaryGetValue(theDict, key) != nil
}

/// Returns whether the dictionary contains a value. Objects are compared by `CFEqual`, plain
/// pointers by address.
@discardableResult
public func CFDictionaryContainsValue(_ theDict: CFDictionary!, _ value: UnsafeRawPointer!) -> Bool {
  CFDictionaryGetCountOfValue(theDict, value) > 0
}

/// Returns the number of keys that have a value.
@discardableResult
public func CFDictionaryGetCountOfValue(_ theDict: CFDictionary!, _ value: UnsafeRawPointer!) -> CFIndex {
  guard let theDict else { return 0 }
  return withKeysAndValues(of: theDict) { _, values in
    values.count { same($0, value, in: theDict) }
  }
}

/// Returns the address of the value of a key, which stays valid as long as the value is in the
/// dictionary, or nil if the key is not there.
@discardableResult
public func CFDictionaryGetValue(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> UnsafeRawPointer! {
  guard let theDict else { return nil }
  if holdsObjects(theDict) {
    guard let key else { return nil }
    return unboxed(OVTDictionaryGetValue(raw(theDict), key), in: theDict)
  }
  return OVTDictionaryGetValue(raw(theDict), key)
}

/// Returns whether a key is in the dictionary. If it is, the function sets `value` to the address
/// of its value.
@discardableResult
public func CFDictionaryGetValueIfPresent(
  _ theDict: CFDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeMutablePointer<UnsafeRawPointer?>!
) -> Bool {
  guard let theDict else { return false }
  if !holdsObjects(theDict), OVTDictionaryContainsKey(raw(theDict), key) != 0 {
    value?.pointee = OVTDictionaryGetValue(raw(theDict), key)
    return true
  }
  guard let found = CFDictionaryGetValue(theDict, key) else { return false }
  value?.pointee = found
  return true
}

/// Copies the keys and the values to two buffers, each of which has room for `CFDictionaryGetCount`
/// pointers. A buffer may be nil.
public func CFDictionaryGetKeysAndValues(
  _ theDict: CFDictionary!, _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!,
  _ values: UnsafeMutablePointer<UnsafeRawPointer?>!
) {
  guard let theDict else { return }
  withKeysAndValues(of: theDict) {
    for i in $0.indices {
      keys?[i] = $0[i]
      values?[i] = $1[i]
    }
  }
}

/// Calls a function for every key and value.
public func CFDictionaryApplyFunction(
  _ theDict: CFDictionary!, _ applier: CFDictionaryApplierFunction!, _ context: UnsafeMutableRawPointer!
) {
  guard let theDict, let applier else { return }
  withKeysAndValues(of: theDict) {
    for i in $0.indices { applier($0[i], $1[i], context) }
  }
}

// MARK: - Changing

/// Adds a key and its value. It does nothing if the key is there already.
public func CFDictionaryAddValue(
  _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
  guard let theDict, isStorable(key, value, in: theDict), !CFDictionaryContainsKey(theDict, key) else {
    return
  }
  OVTDictionarySetValue(raw(theDict), key, value)
}

/// Sets the value of a key, and adds the key if it is not there.
public func CFDictionarySetValue(
  _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
  guard let theDict, isStorable(key, value, in: theDict) else { return }
  OVTDictionarySetValue(raw(theDict), key, value)
}

/// Replaces the value of a key. It does nothing if the key is not there.
public func CFDictionaryReplaceValue(
  _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
  guard let theDict, isStorable(key, value, in: theDict), CFDictionaryContainsKey(theDict, key) else {
    return
  }
  OVTDictionarySetValue(raw(theDict), key, value)
}

public func CFDictionaryRemoveValue(_ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!) {
  guard let theDict, key != nil || !holdsObjects(theDict) else { return }
  OVTDictionaryRemoveValue(raw(theDict), key)
}

public func CFDictionaryRemoveAllValues(_ theDict: CFMutableDictionary!) {
  guard let theDict else { return }
  OVTDictionaryRemoveAllValues(raw(theDict))
}

// MARK: - Private

/// Returns whether a container can store a key and a value. A container of objects cannot store
/// null pointers.
private func isStorable(_ key: UnsafeRawPointer?, _ value: UnsafeRawPointer?, in container: AnyObject) -> Bool
{
  key != nil && value != nil || !holdsObjects(container)
}

func same(_ a: UnsafeRawPointer?, _ b: UnsafeRawPointer?, in container: AnyObject) -> Bool {
  if a == b { return true }
  guard holdsObjects(container), let a, let b else { return false }
  return CFEqual(object(at: a), object(at: b))
}

@discardableResult
private func withKeysAndValues<R>(
  of dictionary: CFDictionary, _ body: ([UnsafeRawPointer?], [UnsafeRawPointer?]) -> R
) -> R {
  let count = OVTDictionaryGetCount(raw(dictionary))
  var keys = [UnsafeRawPointer?](repeating: nil, count: count)
  var values = keys
  if count > 0 { OVTDictionaryGetKeysAndValues(raw(dictionary), &keys, &values) }
  return body(keys.map { unboxed($0, in: dictionary) }, values.map { unboxed($0, in: dictionary) })
}
