// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import VideoToolbox

@c @implementation
public func VTSessionCopySupportedPropertyDictionary(
  _ session: UnsafeRawPointer?, _ supportedPropertyDictionaryOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  supportedPropertyDictionaryOut?.pointee = nil
  guard let supportedPropertyDictionaryOut else { return kVTParameterErr }
  guard let session = FromC.object(session, AnyObject.self) else { return kVTInvalidSessionErr }
  var supportedPropertyDictionaryOutObject: CFDictionary?
  let result = VideoToolbox.VTSessionCopySupportedPropertyDictionary(
    session, supportedPropertyDictionaryOut: &supportedPropertyDictionaryOutObject)
  supportedPropertyDictionaryOut.pointee = ToC.retained(supportedPropertyDictionaryOutObject)
  return result
}

@c @implementation
public func VTSessionSetProperty(
  _ session: UnsafeRawPointer?, _ propertyKey: OpaquePointer?, _ propertyValue: UnsafeRawPointer?
) -> Int32 {
  guard let session = FromC.object(session, AnyObject.self) else { return kVTInvalidSessionErr }
  guard let propertyKey = FromC.object(propertyKey, NSString.self) else { return kVTParameterErr }
  guard let propertyValue = FromC.optionalObject(propertyValue, AnyObject.self) else {
    return kVTParameterErr
  }
  return VideoToolbox.VTSessionSetProperty(session, key: propertyKey, value: propertyValue)
}

@c @implementation
public func VTSessionSetProperties(_ session: UnsafeRawPointer?, _ propertyDictionary: OpaquePointer?)
  -> Int32
{
  guard let session = FromC.object(session, AnyObject.self) else { return kVTInvalidSessionErr }
  guard let propertyDictionary = FromC.dictionary(propertyDictionary) else { return kVTParameterErr }
  return VideoToolbox.VTSessionSetProperties(session, propertyDictionary: propertyDictionary)
}

@c @implementation
public func VTSessionCopySerializableProperties(
  _ session: UnsafeRawPointer?, _ allocator: OpaquePointer?,
  _ dictionaryOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  dictionaryOut?.pointee = nil
  guard let dictionaryOut else { return kVTParameterErr }
  guard let session = FromC.object(session, AnyObject.self) else { return kVTInvalidSessionErr }
  var dictionaryOutObject: CFDictionary?
  let result = VideoToolbox.VTSessionCopySerializableProperties(
    session, allocator: FromC.allocator(allocator), dictionaryOut: &dictionaryOutObject)
  dictionaryOut.pointee = ToC.retained(dictionaryOutObject)
  return result
}
