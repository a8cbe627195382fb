// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreFoundation
import CoreMedia
import Glibc

// The Core Foundation functions that accept any object, such as `CFRetain` and `CFEqual`. Those of
// Swift's Foundation support only its own types. The functions here support the package's types as
// well, and call Foundation's functions, named `OVTReal...`, for the types of Foundation.

/// The origin of an object, which determines how the functions here handle it.
private enum Kind {
  /// An object of this package.
  case own(any CFRuntimeObject)
  /// An object of Foundation or of Core Foundation.
  case foundation
  /// Any other Swift object.
  case other

  init(_ object: AnyObject) {
    let pointer = UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    if OVTIsKnownFoundation(pointer) {
      self = .foundation
    } else if let object = object as? any CFRuntimeObject {
      self = .own(object)
    } else if object is NSObject {
      self = .foundation
      OVTNoteFoundation(pointer)
    } else {
      self = .other
    }
  }
}

@c @implementation
public func CFGetTypeID(_ object: UnsafeRawPointer?) -> UInt {
  guard let object else { return 0 }
  guard let it = FromC.object(object) else { return 0 }
  switch Kind(it) {
  case .own(let own): return type(of: own).cfTypeID
  case .foundation: return OVTRealGetTypeID(object)
  case .other: return 0
  }
}

@c @implementation
public func CFCopyTypeIDDescription(_ type: UInt) -> OpaquePointer? {
  ToC.retained(CoreFoundation.CFCopyTypeIDDescription(type))
}

@c @implementation
public func CFRetain(_ object: UnsafeRawPointer?) -> UnsafeRawPointer? {
  guard let object else { return nil }
  if ReferenceChecker.isOn { ReferenceChecker.shared.retain(object) }
  return OVTRealRetain(object)
}

@c @implementation
public func CFRelease(_ object: UnsafeRawPointer?) {
  guard let object else { return }
  if ReferenceChecker.isOn { ReferenceChecker.shared.release(object) }
  OVTRealRelease(object)
}

@c @implementation
public func CFEqual(_ first: UnsafeRawPointer?, _ second: UnsafeRawPointer?) -> UInt8 {
  guard let first, let second else { return first == second ? 1 : 0 }
  if first == second { return 1 }
  guard let a = FromC.object(first), let b = FromC.object(second) else { return 0 }
  switch (Kind(a), Kind(b)) {
  case (.own(let own), .own): return own.cfIsEqual(to: b) ? 1 : 0
  case (.foundation, .foundation): return OVTRealEqual(first, second)
  default: return 0
  }
}

@c @implementation
public func CFHash(_ object: UnsafeRawPointer?) -> UInt {
  guard let object, let it = FromC.object(object) else { return 0 }
  switch Kind(it) {
  case .own(let own): return own.cfHash
  case .foundation: return OVTRealHash(object)
  case .other: return UInt(bitPattern: object)
  }
}

@c @implementation
public func CFCopyDescription(_ object: UnsafeRawPointer?) -> OpaquePointer? {
  guard let object, let it = FromC.object(object) else { return nil }
  switch Kind(it) {
  case .own(let own): return ToC.retained(NSString(string: own.cfDescription))
  case .foundation:
    // Foundation's C function reads the memory of a container that Swift created as that of its
    // own.
    if FromC.isNative(it), let container = it as? NSObject {
      return ToC.retained(NSString(string: container.description))
    }
    return OVTRealCopyDescription(object)
  case .other: return ToC.retained(NSString(string: "<\(type(of: it)) \(object)>"))
  }
}

@c @implementation
public func CFShow(_ object: UnsafeRawPointer?) {
  guard let description = CFCopyDescription(object) else {
    OVTWriteError("(null)\n")
    return
  }
  if let text = FromC.object(description, NSString.self) { OVTWriteError((text as String) + "\n") }
  CFRelease(UnsafeRawPointer(description))
}

@c @implementation
public func CFGetAllocator(_ object: UnsafeRawPointer?) -> OpaquePointer? {
  guard let object, let it = FromC.object(object) else { return nil }
  if case .foundation = Kind(it) { return OVTRealGetAllocator(object) }
  return OVTAllocatorOfSystem()
}
