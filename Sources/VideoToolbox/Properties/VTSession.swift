// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// A session of Video Toolbox: of compression, decompression, pixel transfer or pixel rotation.
public typealias VTSession = CFTypeRef

/// Describes the properties of a session.
///
/// The parameters that need an explanation:
///
/// - `supportedPropertyDictionaryOut`: receives a dictionary from property to a dictionary with the
///   keys `kVTPropertyTypeKey`, `kVTPropertyReadWriteStatusKey` and so on.
/// - Returns: `kVTInvalidSessionErr` after the session was invalidated; `kVTParameterErr` for
///   another object.
@discardableResult
public func VTSessionCopySupportedPropertyDictionary(
  _ session: VTSession, supportedPropertyDictionaryOut: UnsafeMutablePointer<CFDictionary?>
) -> OSStatus {
  supportedPropertyDictionaryOut.pointee = nil
  guard let session = session as? any PropertySession else { return kVTParameterErr }
  let result = session.copySupportedProperties()
  if result.status == noErr {
    supportedPropertyDictionaryOut.pointee = NSDictionary(
      dictionary: result.properties.mapValues { NSDictionary(dictionary: $0) })
  }
  return result.status
}

/// Sets a property.
///
/// The parameters that need an explanation:
///
/// - `value`: the value; nil restores the default.
/// - Returns: `kVTPropertyNotSupportedErr` for a property that the session or its encoder does not
///   have, `kVTPropertyReadOnlyErr` for one that is read-only or cannot be set any more,
///   `kVTParameterErr` for a value of the wrong type or out of range, `kVTInvalidSessionErr` after
///   the session was invalidated.
@discardableResult
public func VTSessionSetProperty(
  _ session: VTSession, key propertyKey: CFString, value propertyValue: CFTypeRef?
)
  -> OSStatus
{
  guard let session = session as? any PropertySession else { return kVTParameterErr }
  return session.setProperty(propertyKey as String, to: propertyValue)
}

/// Reads a property.
///
/// The parameters that need an explanation:
///
/// - `allocator`: ignored.
/// - `valueOut`: the address of an optional object variable (`CFTypeRef?`, `CFNumber?`,
///   `CFDictionary?`, ...), which receives the value, or nil if the property has none.
/// - Returns: `kVTPropertyNotSupportedErr` for a property that the session does not have,
///   `kVTInvalidSessionErr` after the session was invalidated.
@discardableResult
public func VTSessionCopyProperty(
  _ session: VTSession, key propertyKey: CFString, allocator: CFAllocator?,
  valueOut propertyValueOut: UnsafeMutableRawPointer?
) -> OSStatus {
  guard let session = session as? any PropertySession else { return kVTParameterErr }
  let result = session.copyProperty(propertyKey as String)
  if let propertyValueOut {
    // The variable holds one object reference, whatever its static type.
    let reference = result.value.map { Unmanaged.passRetained($0).toOpaque() }
    propertyValueOut.storeBytes(of: reference, as: UnsafeMutableRawPointer?.self)
  }
  return result.status
}

/// Reads a property into a variable of a static type.
///
/// The parameters that need an explanation:
///
/// - `valueOut`: receives the value, or nil if the property has none or is of another class.
/// - Returns: the errors of the form with a raw pointer.
@discardableResult
public func VTSessionCopyProperty<Value: AnyObject>(
  _ session: VTSession, key propertyKey: CFString, allocator: CFAllocator?,
  valueOut propertyValueOut: UnsafeMutablePointer<Value?>
) -> OSStatus {
  guard let session = session as? any PropertySession else { return kVTParameterErr }
  let result = session.copyProperty(propertyKey as String)
  propertyValueOut.pointee = result.value as? Value
  return result.status
}

/// Sets several properties, all of them even if one causes an error.
@discardableResult
public func VTSessionSetProperties(_ session: VTSession, propertyDictionary: CFDictionary) -> OSStatus {
  guard let session = session as? any PropertySession else { return kVTParameterErr }
  var remaining: [String: AnyObject] = [:]
  for (key, value) in propertyDictionary {
    guard let key = key as? String else { return kVTParameterErr }
    remaining[key] = value as AnyObject
  }
  // A fixed order, and those that are taken back first, since some properties exclude each other or
  // depend on another.
  let known = session.propertyOrder.filter { remaining[$0] != nil }
  let others = remaining.keys.filter { !known.contains($0) }.sorted()
  let keys = known + others
  var pending = keys.filter { remaining[$0] is NSNull } + keys.filter { !(remaining[$0] is NSNull) }
  // A value that was refused with an old value may be valid with a new one, such as a least and a
  // largest QP that both change.
  while true {
    var refused: [String] = []
    var first = noErr
    for key in pending {
      let value = remaining[key].flatMap { $0 is NSNull ? nil : $0 }
      let status = session.setProperty(key, to: value)
      guard status != noErr else { continue }
      refused.append(key)
      if first == noErr { first = status }
    }
    guard !refused.isEmpty, refused.count < pending.count else { return first }
    pending = refused
  }
}

/// Reads all properties that were set and that make sense in another session.
///
/// The parameters that need an explanation:
///
/// - `dictionaryOut`: receives a dictionary that `VTSessionSetProperties` takes.
@discardableResult
public func VTSessionCopySerializableProperties(
  _ session: VTSession, allocator: CFAllocator?, dictionaryOut: UnsafeMutablePointer<CFDictionary?>
) -> OSStatus {
  dictionaryOut.pointee = nil
  guard let session = session as? any PropertySession else { return kVTParameterErr }
  let result = session.copySerializableProperties()
  if result.status == noErr { dictionaryOut.pointee = NSDictionary(dictionary: result.properties) }
  return result.status
}
