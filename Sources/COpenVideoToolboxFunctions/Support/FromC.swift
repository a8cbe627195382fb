// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

/// The arguments of C callers: pointers to objects, which may be null or of a wrong type, and
/// structures.
enum FromC {
  /// The object at an address, of any type; nil for null.
  @inline(__always)
  static func object(_ pointer: UnsafeRawPointer?, _ type: AnyObject.Type = AnyObject.self) -> AnyObject? {
    pointer.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The object at an address; nil for null and for an object of another class.
  @inline(__always)
  static func object<Object: AnyObject>(_ pointer: OpaquePointer?, _ type: Object.Type) -> Object? {
    guard let object = object(UnsafeRawPointer(pointer)) else { return nil }
    // Nearly all of the package's classes have no subclasses: that is a comparison of two pointers.
    if ObjectIdentifier(Swift.type(of: object)) == ObjectIdentifier(type) {
      return unsafeDowncast(object, to: type)
    }
    return object as? Object
  }

  /// Null as nil, the object at an address; nil, of the outer kind, for an object of another class.
  @inline(__always)
  static func optionalObject<Object: AnyObject>(_ pointer: OpaquePointer?, _ type: Object.Type) -> Object?? {
    guard pointer != nil else { return .some(nil) }
    return object(pointer, type).map { .some($0) }
  }

  /// Null as nil, or the object at an address.
  @inline(__always)
  static func optionalObject(_ pointer: UnsafeRawPointer?, _ type: AnyObject.Type) -> AnyObject?? {
    .some(object(pointer))
  }

  /// The allocator at an address.
  static func allocator(_ pointer: OpaquePointer?) -> CFAllocator? { AllocatorBridge.allocator(pointer) }

  // MARK: - Structures

  // The structures of the headers and those of the modules have the same fields at the same
  // offsets: a difference in size stops the program here, and the C test programs read and write
  // the fields.

  @inline(__always)
  static func value(_ time: C_CMTime) -> CMTime { unsafeBitCast(time, to: CMTime.self) }
  @inline(__always)
  static func value(_ range: C_CMTimeRange) -> CMTimeRange { unsafeBitCast(range, to: CMTimeRange.self) }
  @inline(__always)
  static func value(_ mapping: C_CMTimeMapping) -> CMTimeMapping {
    unsafeBitCast(mapping, to: CMTimeMapping.self)
  }
  @inline(__always)
  static func value(_ range: C_CFRange) -> CFRange { unsafeBitCast(range, to: CFRange.self) }
}

/// A pointer to one structure as a pointer to another of the same layout.
@inline(__always)
func rebound<From, To>(_ pointer: UnsafeMutablePointer<From>?) -> UnsafeMutablePointer<To>? {
  UnsafeMutableRawPointer(pointer)?.assumingMemoryBound(to: To.self)
}

@inline(__always)
func rebound<From, To>(_ pointer: UnsafePointer<From>?) -> UnsafePointer<To>? {
  UnsafeRawPointer(pointer)?.assumingMemoryBound(to: To.self)
}

@inline(__always)
func rebound<From, To>(_ pointer: UnsafeMutablePointer<From>) -> UnsafeMutablePointer<To> {
  UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: To.self)
}

@inline(__always)
func rebound<From, To>(_ pointer: UnsafePointer<From>) -> UnsafePointer<To> {
  UnsafeRawPointer(pointer).assumingMemoryBound(to: To.self)
}
