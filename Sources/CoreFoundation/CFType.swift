// SPDX-License-Identifier: Apache-2.0
// Functions that apply to every object.

/// Returns the identifier of an object's type, or 0 if the type has none.
@discardableResult
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID {
  switch cf {
  case nil: 0
  case let object as any CFRuntimeObject: type(of: object).cfTypeID
  case let number as NSNumber: isBoolean(number) ? CFBooleanGetTypeID() : CFNumberGetTypeID()
  case is NSString: CFStringGetTypeID()
  case is NSDictionary: CFDictionaryGetTypeID()
  case is NSArray: CFArrayGetTypeID()
  case is NSData: CFDataGetTypeID()
  case is NSURL: CFURLGetTypeID()
  case is NSDate: CFDateGetTypeID()
  case is NSSet: CFSetGetTypeID()
  case is NSNull: CFNullGetTypeID()
  case is NSError: CFErrorGetTypeID()
  case is NSUUID: CFUUIDGetTypeID()
  case is CFAllocator: CFAllocatorGetTypeID()
  default: 0
  }
}

@discardableResult
public func CFAllocatorGetTypeID() -> CFTypeID { 2 }
@discardableResult
public func CFStringGetTypeID() -> CFTypeID { 7 }
@discardableResult
public func CFNullGetTypeID() -> CFTypeID { 16 }
@discardableResult
public func CFSetGetTypeID() -> CFTypeID { 17 }
@discardableResult
public func CFDictionaryGetTypeID() -> CFTypeID { 18 }
@discardableResult
public func CFArrayGetTypeID() -> CFTypeID { 19 }
@discardableResult
public func CFDataGetTypeID() -> CFTypeID { 20 }
@discardableResult
public func CFBooleanGetTypeID() -> CFTypeID { 21 }
@discardableResult
public func CFNumberGetTypeID() -> CFTypeID { 22 }
@discardableResult
public func CFErrorGetTypeID() -> CFTypeID { 27 }
@discardableResult
public func CFURLGetTypeID() -> CFTypeID { 29 }
@discardableResult
public func CFUUIDGetTypeID() -> CFTypeID { 41 }
@discardableResult
public func CFDateGetTypeID() -> CFTypeID { 42 }

/// Returns the name of a type, or nil if no type has the identifier.
@discardableResult
public func CFCopyTypeIDDescription(_ type_id: CFTypeID) -> CFString! {
  let name =
    switch type_id {
    case CFAllocatorGetTypeID(): "CFAllocator"
    case CFStringGetTypeID(): "CFString"
    case CFNullGetTypeID(): "CFNull"
    case CFSetGetTypeID(): "CFSet"
    case CFDictionaryGetTypeID(): "CFDictionary"
    case CFArrayGetTypeID(): "CFArray"
    case CFDataGetTypeID(): "CFData"
    case CFBooleanGetTypeID(): "CFBoolean"
    case CFNumberGetTypeID(): "CFNumber"
    case CFErrorGetTypeID(): "CFError"
    case CFURLGetTypeID(): "CFURL"
    case CFUUIDGetTypeID(): "CFUUID"
    case CFDateGetTypeID(): "CFDate"
    default: CFRuntimeName(of: type_id)
    }
  return name as CFString?
}

/// Returns whether two objects have the same type and are equal.
@discardableResult
public func CFEqual(_ cf1: CFTypeRef!, _ cf2: CFTypeRef!) -> Bool {
  guard let cf1, let cf2 else { return cf1 == nil && cf2 == nil }
  if cf1 === cf2 { return true }
  if let object = cf1 as? any CFRuntimeObject { return object.cfIsEqual(to: cf2) }
  // Foundation compares booleans and numbers as equals. Core Foundation has two types for them.
  guard CFGetTypeID(cf1) == CFGetTypeID(cf2), let object = cf1 as? NSObject else { return false }
  return object.isEqual(cf2)
}

/// Returns a hash, which is the same for equal objects.
@discardableResult
public func CFHash(_ cf: CFTypeRef!) -> CFHashCode {
  switch cf {
  case nil: 0
  case let object as any CFRuntimeObject: object.cfHash
  case let object as NSObject: CFHashCode(bitPattern: object.hash)
  case let object?: CFHashCode(bitPattern: ObjectIdentifier(object).hashValue)
  }
}

/// Returns a description of an object for people to read.
@discardableResult
public func CFCopyDescription(_ cf: CFTypeRef!) -> CFString! {
  switch cf {
  case nil: nil
  case let object as any CFRuntimeObject: object.cfDescription as CFString
  case let object?: String(describing: object) as CFString
  }
}

/// Writes an object's description to the standard error stream.
public func CFShow(_ obj: CFTypeRef!) {
  let text = (CFCopyDescription(obj) as String?) ?? "(null)"
  FileHandle.standardError.write(Data((text + "\n").utf8))
}

extension CFAllocator: CFRuntimeObject {
  package static var cfTypeID: CFTypeID { CFAllocatorGetTypeID() }
}

/// Returns whether a number object is one of the two boolean objects.
package func isBoolean(_ number: NSNumber) -> Bool {
  number === kCFBooleanTrue || number === kCFBooleanFalse
}
