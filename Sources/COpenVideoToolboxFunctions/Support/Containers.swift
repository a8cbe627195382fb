// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Dictionaries and arrays that C made.
//
// A dictionary of Core Foundation's own hashes and compares its keys by C functions, which do not know Swift's
// strings. So what C made is copied, with all that is in it, into the containers that the package's modules use. What
// Swift made comes back as it is.

extension FromC {
  /// The dictionary at an address; nil for null and for another object.
  static func dictionary(_ pointer: OpaquePointer?) -> NSDictionary? {
    object(pointer, NSDictionary.self).flatMap { native($0, depth: 0) }
  }

  /// Null as nil, the dictionary at an address; nil, of the outer kind, for another object.
  static func optionalDictionary(_ pointer: OpaquePointer?) -> NSDictionary?? {
    guard pointer != nil else { return .some(nil) }
    return dictionary(pointer).map { .some($0) }
  }

  /// The array at an address; nil for null and for another object.
  static func array(_ pointer: OpaquePointer?) -> NSArray? {
    object(pointer, NSArray.self).flatMap { native($0, depth: 0) }
  }

  /// Null as nil, the array at an address; nil, of the outer kind, for another object.
  static func optionalArray(_ pointer: OpaquePointer?) -> NSArray?? {
    guard pointer != nil else { return .some(nil) }
    return array(pointer).map { .some($0) }
  }

  /// A property list as the modules use it.
  static func propertyList(_ value: AnyObject) -> AnyObject? { native(value, depth: 0) }

  /// Deeper than any dictionary of these interfaces: one that contains itself ends here.
  private static let maximumDepth = 32

  private static func isNative(_ object: AnyObject) -> Bool {
    let type = ObjectIdentifier(type(of: object))
    return type == ObjectIdentifier(NSDictionary.self) || type == ObjectIdentifier(NSMutableDictionary.self)
      || type == ObjectIdentifier(NSArray.self) || type == ObjectIdentifier(NSMutableArray.self)
  }

  private static func native(_ dictionary: NSDictionary, depth: Int) -> NSDictionary? {
    if isNative(dictionary) { return dictionary }
    guard depth < maximumDepth else { return nil }
    let count = CFDictionaryGetCount(dictionary)
    guard count > 0 else { return NSDictionary() }
    let result = NSMutableDictionary(capacity: count)
    let pointers = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: 2 * count)
    defer { pointers.deallocate() }
    pointers.initialize(repeating: nil, count: 2 * count)
    CFDictionaryGetKeysAndValues(dictionary, pointers, pointers + count)
    for index in 0..<count {
      guard let key = object(pointers[index]), let value = object(pointers[count + index]),
        let copy = native(value, depth: depth + 1)
      else { return nil }
      if let text = key as? NSString {
        result.setObject(copy, forKey: NSString(string: text as String))
      } else if let key = key as? NSObject {
        result.setObject(copy, forKey: key)
      } else {
        return nil
      }
    }
    return result
  }

  private static func native(_ array: NSArray, depth: Int) -> NSArray? {
    if isNative(array) { return array }
    guard depth < maximumDepth else { return nil }
    let result = NSMutableArray()
    for index in 0..<CFArrayGetCount(array) {
      guard let value = object(CFArrayGetValueAtIndex(array, index)),
        let copy = native(value, depth: depth + 1)
      else { return nil }
      result.add(copy)
    }
    return result
  }

  private static func native(_ value: AnyObject, depth: Int) -> AnyObject? {
    switch value {
    case let dictionary as NSDictionary: native(dictionary, depth: depth)
    case let array as NSArray: native(array, depth: depth)
    default: value
    }
  }
}
