// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

// Dictionaries through raw pointers: a key or a value is the address of an object,
// `Unmanaged.passUnretained(object).toOpaque()`, unless the dictionary was made without callbacks.

/// What a dictionary's keys are: objects with `kCFTypeDictionaryKeyCallBacks`, plain pointers with `init()`.
public struct CFDictionaryKeyCallBacks: Sendable {
  public let version: CFIndex = 0
  let holdsObjects: Bool
  public init() { holdsObjects = false }
  fileprivate init(holdsObjects: Bool) { self.holdsObjects = holdsObjects }
}

/// What a dictionary's values are: objects with `kCFTypeDictionaryValueCallBacks`, plain pointers with `init()`.
public struct CFDictionaryValueCallBacks: Sendable {
  public let version: CFIndex = 0
  let holdsObjects: Bool
  public init() { holdsObjects = false }
  fileprivate init(holdsObjects: Bool) { self.holdsObjects = holdsObjects }
}

// Variables, so that their address can be taken with `&`.
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

/// A dictionary of `numValues` keys and values.
///
/// It holds objects if the callbacks for keys or for values say so; else plain pointers.
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

/// An empty dictionary that can be changed. The capacity is a hint.
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

/// A copy that cannot be changed.
@discardableResult
public func CFDictionaryCreateCopy(_ allocator: CFAllocator!, _ theDict: CFDictionary!) -> CFDictionary! {
  guard let theDict else { return nil }
  return holdsObjects(theDict)
    ? (theDict.copy() as! CFDictionary) : CFDictionaryCreateMutableCopy(nil, 0, theDict)
}

/// A copy that can be changed.
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

/// 1 if the key is in the dictionary, else 0.
@discardableResult
public func CFDictionaryGetCountOfKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> CFIndex {
  CFDictionaryContainsKey(theDict, key) ? 1 : 0
}

@discardableResult
public func CFDictionaryContainsKey(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> Bool {
  CFDictionaryGetValue(theDict, key) != nil
}

/// Whether a value is in the dictionary, by `CFEqual` or, for plain pointers, by address.
@discardableResult
public func CFDictionaryContainsValue(_ theDict: CFDictionary!, _ value: UnsafeRawPointer!) -> Bool {
  CFDictionaryGetCountOfValue(theDict, value) > 0
}

/// How many keys have a value.
@discardableResult
public func CFDictionaryGetCountOfValue(_ theDict: CFDictionary!, _ value: UnsafeRawPointer!) -> CFIndex {
  guard let theDict else { return 0 }
  return withKeysAndValues(of: theDict) { _, values in
    values.count { same($0, value, in: theDict) }
  }
}

/// The address of the value of a key, or nil. It stays valid as long as the value is in the dictionary.
@discardableResult
public func CFDictionaryGetValue(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> UnsafeRawPointer! {
  guard let theDict else { return nil }
  if holdsObjects(theDict) {
    guard let key else { return nil }
    return unboxed(OVTDictionaryGetValue(raw(theDict), key), in: theDict)
  }
  return OVTDictionaryGetValue(raw(theDict), key)
}

/// Whether a key is in the dictionary, and the address of its value.
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

/// Fills two arrays, each with room for as many as the dictionary has, with its keys and values.
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

/// Adds a value unless the key is there already.
public func CFDictionaryAddValue(
  _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
  guard let theDict, isStorable(key, value, in: theDict), !CFDictionaryContainsKey(theDict, key) else {
    return
  }
  OVTDictionarySetValue(raw(theDict), key, value)
}

/// Sets a key's value, whether it had one or not.
public func CFDictionarySetValue(
  _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {
  guard let theDict, isStorable(key, value, in: theDict) else { return }
  OVTDictionarySetValue(raw(theDict), key, value)
}

/// Replaces a value if the key is there.
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

// MARK: - Within

/// A container of objects has no room for null.
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
