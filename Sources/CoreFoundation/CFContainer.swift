// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

// Dictionaries and arrays share these conversions between pointers and objects.
//
// A container that is created with the `kCFType...` callbacks is an ordinary `NSMutableDictionary`
// or `NSMutableArray`. A container that is created without callbacks holds plain pointers, which it
// neither retains nor reads from.

/// Returns the object at a pointer that a container of objects returned.
///
/// Foundation wraps an object whose class is not one of its own in a box object. For a box, the
/// function returns the object inside.
@inline(__always)
func object(at pointer: UnsafeRawPointer) -> AnyObject {
  let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
  return ObjectIdentifier(type(of: object)) == Box.identifier ? Box.content(of: object) : object
}

enum Box {
  /// A class that Foundation does not bridge, to find out which class Foundation boxes such objects
  /// in.
  private final class UnbridgedObject {}

  /// The class of Foundation's box objects. It is determined by storing an object of a Swift class
  /// in an array.
  static let identifier: ObjectIdentifier = {
    let array = NSArray(object: UnbridgedObject())
    guard let pointer = OVTArrayGetValueAtIndex(raw(array), 0) else {
      return ObjectIdentifier(UnbridgedObject.self)
    }
    return ObjectIdentifier(type(of: Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()))
  }()

  static func content(of box: AnyObject) -> AnyObject {
    // The accessor of `NSArray` returns the object inside a box.
    NSArray(object: box).object(at: 0) as AnyObject
  }
}

@inline(__always)
func raw(_ object: AnyObject) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
}

/// Returns the address of an object that a container returned, or, if the object is a box, of the
/// object inside. It returns plain pointers unchanged.
@inline(__always)
func unboxed(_ pointer: UnsafeRawPointer?, in container: AnyObject) -> UnsafeRawPointer? {
  guard let pointer, holdsObjects(container) else { return pointer }
  return raw(object(at: pointer))
}

/// Returns whether a container's values are objects. A container that Core Foundation's C code
/// created without callbacks holds plain pointers.
@inline(__always)
func holdsObjects(_ container: AnyObject) -> Bool {
  let kind = ObjectIdentifier(type(of: container))
  return kind != PointerContainerClasses.dictionary && kind != PointerContainerClasses.array
}

enum PointerContainerClasses {
  static let dictionary = kind(OVTDictionaryCreateMutable(nil, 0, nil, nil))
  static let array = kind(OVTArrayCreateMutable(nil, 0, nil))

  private static func kind(_ pointer: UnsafeRawPointer?) -> ObjectIdentifier? {
    pointer.map { ObjectIdentifier(type(of: Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue())) }
  }
}

// Key-value coding of dictionaries, which programs use for attachments. Foundation on Linux does
// not have it.
extension NSDictionary {
  /// Returns the value for a key, or nil if there is none.
  public func value(forKey key: String) -> Any? { object(forKey: key as NSString) }
}

extension NSMutableDictionary {
  /// Sets the value for a key. A value of nil removes the key.
  public func setValue(_ value: Any?, forKey key: String) {
    if let value {
      setObject(value, forKey: key as NSString)
    } else {
      removeObject(forKey: key as NSString)
    }
  }
}
