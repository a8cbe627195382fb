// SPDX-License-Identifier: Apache-2.0
internal import CCoreFoundation

// What dictionaries and arrays have in common: the way from a pointer to an object and back.
//
// A container made with the `kCFType...` callbacks is an ordinary `NSMutableDictionary` or `NSMutableArray`.
// One made without callbacks holds plain pointers, which it neither retains nor looks into.

/// The object at a pointer that a container of objects returned.
///
/// Foundation keeps an object that is not one of its own in a box; this is what is in the box.
@inline(__always)
func object(at pointer: UnsafeRawPointer) -> AnyObject {
  let object = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
  return ObjectIdentifier(type(of: object)) == Box.identifier ? Box.content(of: object) : object
}

enum Box {
  private final class Stranger {}

  /// The class of Foundation's boxes, found by making it make one.
  static let identifier: ObjectIdentifier = {
    let array = NSArray(object: Stranger())
    guard let pointer = OVTArrayGetValueAtIndex(raw(array), 0) else { return ObjectIdentifier(Stranger.self) }
    return ObjectIdentifier(type(of: Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()))
  }()

  static func content(of box: AnyObject) -> AnyObject {
    // An array's own accessor opens boxes.
    NSArray(object: box).object(at: 0) as AnyObject
  }
}

@inline(__always)
func raw(_ object: AnyObject) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
}

/// A pointer to what is at a pointer that a container returned, boxes opened, plain pointers left alone.
@inline(__always)
func unboxed(_ pointer: UnsafeRawPointer?, in container: AnyObject) -> UnsafeRawPointer? {
  guard let pointer, holdsObjects(container) else { return pointer }
  return raw(object(at: pointer))
}

/// Whether a container's values are objects. One that Foundation's C part made may hold anything.
@inline(__always)
func holdsObjects(_ container: AnyObject) -> Bool {
  let kind = ObjectIdentifier(type(of: container))
  return kind != PlainContainers.dictionary && kind != PlainContainers.array
}

enum PlainContainers {
  static let dictionary = kind(OVTDictionaryCreateMutable(nil, 0, nil, nil))
  static let array = kind(OVTArrayCreateMutable(nil, 0, nil))

  private static func kind(_ pointer: UnsafeRawPointer?) -> ObjectIdentifier? {
    pointer.map { ObjectIdentifier(type(of: Unmanaged<AnyObject>.fromOpaque($0).takeRetainedValue())) }
  }
}

// Key-value coding of dictionaries, which Foundation has elsewhere and programs use for attachments.
extension NSDictionary {
  /// The value for a key, nil if there is none.
  public func value(forKey key: String) -> Any? { object(forKey: key as NSString) }
}

extension NSMutableDictionary {
  /// Sets the value for a key; nil removes it.
  public func setValue(_ value: Any?, forKey key: String) {
    if let value {
      setObject(value, forKey: key as NSString)
    } else {
      removeObject(forKey: key as NSString)
    }
  }
}
