// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Conversion of dictionaries and arrays that C code has created.
//
// A dictionary that C code has created hashes and compares its keys with C functions, which do not
// support Swift's strings. So such a dictionary or array is copied, with all its contents, to the
// classes of Foundation that the package's modules use. Dictionaries and arrays that Swift code has
// created are returned unchanged.

extension FromC {
  /// Returns the dictionary at an address; nil for null, and for an object that is not a dictionary
  /// or cannot be converted.
  static func dictionary(_ pointer: OpaquePointer?) -> NSDictionary? {
    object(pointer, NSDictionary.self).flatMap { native($0, depth: 0) }
  }

  /// Returns the dictionary of an argument that may be null. The inner optional is nil for null,
  /// and the outer one for an object that is not a dictionary or cannot be converted.
  static func optionalDictionary(_ pointer: OpaquePointer?) -> NSDictionary?? {
    guard pointer != nil else { return .some(nil) }
    return dictionary(pointer).map { .some($0) }
  }

  /// Returns the array at an address; nil for null, and for an object that is not an array or
  /// cannot be converted.
  static func array(_ pointer: OpaquePointer?) -> NSArray? {
    object(pointer, NSArray.self).flatMap { native($0, depth: 0) }
  }

  /// Returns the array of an argument that may be null. The inner optional is nil for null, and the
  /// outer one for an object that is not an array or cannot be converted.
  static func optionalArray(_ pointer: OpaquePointer?) -> NSArray?? {
    guard pointer != nil else { return .some(nil) }
    return array(pointer).map { .some($0) }
  }

  /// Returns the objects in the array at an address; nil for null, for an object that is not an
  /// array, and if it contains anything but objects of that class.
  static func objects<Object: AnyObject>(_ pointer: OpaquePointer?, _ type: Object.Type) -> [Object]? {
    guard let array = object(pointer, NSArray.self) else { return nil }
    var result: [Object] = []
    for index in 0..<CFArrayGetCount(array) {
      guard let object = object(CFArrayGetValueAtIndex(array, index)) as? Object else { return nil }
      result.append(object)
    }
    return result
  }

  /// Returns a value after conversion, if it is a dictionary or an array, and any other value
  /// unchanged. Nil if it cannot be converted.
  static func propertyList(_ value: AnyObject) -> AnyObject? { native(value, depth: 0) }

  /// The largest depth of nested containers, which is more than any valid argument has. Conversion
  /// of a container that contains itself fails at this depth.
  private static let maximumDepth = 32

  /// Whether an object is a dictionary, an array or a set that Swift code has created. Such a
  /// dictionary or array needs no conversion, and Foundation's C function that describes containers
  /// crashes for all of them.
  static func isNative(_ object: AnyObject) -> Bool {
    let type = ObjectIdentifier(type(of: object))
    return type == ObjectIdentifier(NSDictionary.self) || type == ObjectIdentifier(NSMutableDictionary.self)
      || type == ObjectIdentifier(NSArray.self) || type == ObjectIdentifier(NSMutableArray.self)
      || type == ObjectIdentifier(NSSet.self) || type == ObjectIdentifier(NSMutableSet.self)
  }

  /// Converts a dictionary that is nested `depth` containers deep.
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
