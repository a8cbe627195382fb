// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMMetadataDataTypeRegistryRegisterDataType(
  _ dataType: OpaquePointer?, _ description: OpaquePointer?, _ conformingDataTypes: OpaquePointer?
) -> Int32 {
  guard let dataType = FromC.object(dataType, NSString.self) else {
    return kCMMetadataDataTypeRegistryError_RequiredParameterMissing
  }
  guard let description = FromC.object(description, NSString.self) else {
    return kCMMetadataDataTypeRegistryError_RequiredParameterMissing
  }
  guard let conformingDataTypes = FromC.array(conformingDataTypes) else {
    return kCMMetadataDataTypeRegistryError_RequiredParameterMissing
  }
  return CoreMedia.CMMetadataDataTypeRegistryRegisterDataType(
    dataType, description: description, conformingDataTypes: conformingDataTypes)
}

@c @implementation
public func CMMetadataDataTypeRegistryDataTypeIsRegistered(_ dataType: OpaquePointer?) -> UInt8 {
  guard let dataType = FromC.object(dataType, NSString.self) else { return 0 }
  return CoreMedia.CMMetadataDataTypeRegistryDataTypeIsRegistered(dataType) ? 1 : 0
}

@c @implementation
public func CMMetadataDataTypeRegistryGetDataTypeDescription(_ dataType: OpaquePointer?) -> OpaquePointer? {
  guard let dataType = FromC.object(dataType, NSString.self) else { return nil }
  return ToC.interned(CoreMedia.CMMetadataDataTypeRegistryGetDataTypeDescription(dataType))
}

@c @implementation
public func CMMetadataDataTypeRegistryGetConformingDataTypes(_ dataType: OpaquePointer?) -> OpaquePointer? {
  guard let dataType = FromC.object(dataType, NSString.self) else { return nil }
  return ToC.interned(CoreMedia.CMMetadataDataTypeRegistryGetConformingDataTypes(dataType))
}

@c @implementation
public func CMMetadataDataTypeRegistryDataTypeConformsToDataType(
  _ dataType: OpaquePointer?, _ conformsToDataType: OpaquePointer?
) -> UInt8 {
  guard let dataType = FromC.object(dataType, NSString.self) else { return 0 }
  guard let conformsToDataType = FromC.object(conformsToDataType, NSString.self) else { return 0 }
  return CoreMedia.CMMetadataDataTypeRegistryDataTypeConformsToDataType(
    dataType, conformsToDataType: conformsToDataType) ? 1 : 0
}

@c @implementation
public func CMMetadataDataTypeRegistryGetBaseDataTypes() -> OpaquePointer? {
  ToC.interned(CoreMedia.CMMetadataDataTypeRegistryGetBaseDataTypes())
}

@c @implementation
public func CMMetadataDataTypeRegistryDataTypeIsBaseDataType(_ dataType: OpaquePointer?) -> UInt8 {
  guard let dataType = FromC.object(dataType, NSString.self) else { return 0 }
  return CoreMedia.CMMetadataDataTypeRegistryDataTypeIsBaseDataType(dataType) ? 1 : 0
}

@c @implementation
public func CMMetadataDataTypeRegistryGetBaseDataTypeForConformingDataType(_ dataType: OpaquePointer?)
  -> OpaquePointer?
{
  guard let dataType = FromC.object(dataType, NSString.self) else { return nil }
  return ToC.interned(CoreMedia.CMMetadataDataTypeRegistryGetBaseDataTypeForConformingDataType(dataType))
}

@c @implementation
public func CMMetadataCreateIdentifierForKeyAndKeySpace(
  _ allocator: OpaquePointer?, _ key: UnsafeRawPointer?, _ keySpace: OpaquePointer?,
  _ identifierOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  identifierOut?.pointee = nil
  guard let identifierOut else { return kCMMetadataIdentifierError_RequiredParameterMissing }
  guard let key = FromC.object(key, AnyObject.self) else {
    return kCMMetadataIdentifierError_RequiredParameterMissing
  }
  guard let keySpace = FromC.object(keySpace, NSString.self) else {
    return kCMMetadataIdentifierError_RequiredParameterMissing
  }
  var identifierOutObject: CFString?
  let result = CoreMedia.CMMetadataCreateIdentifierForKeyAndKeySpace(
    allocator: FromC.allocator(allocator), key: key, keySpace: keySpace, identifierOut: &identifierOutObject)
  identifierOut.pointee = ToC.retained(identifierOutObject)
  return result
}

@c @implementation
public func CMMetadataCreateKeyFromIdentifier(
  _ allocator: OpaquePointer?, _ identifier: OpaquePointer?,
  _ keyOut: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int32 {
  keyOut?.pointee = nil
  guard let keyOut else { return kCMMetadataIdentifierError_RequiredParameterMissing }
  guard let identifier = FromC.object(identifier, NSString.self) else {
    return kCMMetadataIdentifierError_RequiredParameterMissing
  }
  var keyOutObject: CFTypeRef?
  let result = CoreMedia.CMMetadataCreateKeyFromIdentifier(
    allocator: FromC.allocator(allocator), identifier: identifier, keyOut: &keyOutObject)
  keyOut.pointee = ToC.retained(keyOutObject)
  return result
}

@c @implementation
public func CMMetadataCreateKeyFromIdentifierAsCFData(
  _ allocator: OpaquePointer?, _ identifier: OpaquePointer?, _ keyOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  keyOut?.pointee = nil
  guard let keyOut else { return kCMMetadataIdentifierError_RequiredParameterMissing }
  guard let identifier = FromC.object(identifier, NSString.self) else {
    return kCMMetadataIdentifierError_RequiredParameterMissing
  }
  var keyOutObject: CFData?
  let result = CoreMedia.CMMetadataCreateKeyFromIdentifierAsCFData(
    allocator: FromC.allocator(allocator), identifier: identifier, keyOut: &keyOutObject)
  keyOut.pointee = ToC.retained(keyOutObject)
  return result
}

@c @implementation
public func CMMetadataCreateKeySpaceFromIdentifier(
  _ allocator: OpaquePointer?, _ identifier: OpaquePointer?,
  _ keySpaceOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  keySpaceOut?.pointee = nil
  guard let keySpaceOut else { return kCMMetadataIdentifierError_RequiredParameterMissing }
  guard let identifier = FromC.object(identifier, NSString.self) else {
    return kCMMetadataIdentifierError_RequiredParameterMissing
  }
  var keySpaceOutObject: CFString?
  let result = CoreMedia.CMMetadataCreateKeySpaceFromIdentifier(
    allocator: FromC.allocator(allocator), identifier: identifier, keySpaceOut: &keySpaceOutObject)
  keySpaceOut.pointee = ToC.retained(keySpaceOutObject)
  return result
}
