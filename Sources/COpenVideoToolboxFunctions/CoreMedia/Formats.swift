// SPDX-License-Identifier: Apache-2.0
import COpenVideoToolbox
import CoreMedia

@c @implementation
public func CMFormatDescriptionCreate(
  _ allocator: OpaquePointer?, _ mediaType: UInt32, _ mediaSubType: UInt32, _ extensions: OpaquePointer?,
  _ formatDescriptionOut: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  formatDescriptionOut?.pointee = nil
  guard let formatDescriptionOut else { return kCMFormatDescriptionError_InvalidParameter }
  guard let extensions = FromC.optionalDictionary(extensions) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var formatDescriptionOutObject: CMFormatDescription?
  let result = CoreMedia.CMFormatDescriptionCreate(
    allocator: FromC.allocator(allocator), mediaType: mediaType, mediaSubType: mediaSubType,
    extensions: extensions, formatDescriptionOut: &formatDescriptionOutObject)
  formatDescriptionOut.pointee = ToC.retained(formatDescriptionOutObject)
  return result
}

@c @implementation
public func CMFormatDescriptionGetTypeID() -> UInt {
  CoreMedia.CMFormatDescriptionGetTypeID()
}

@c @implementation
public func CMFormatDescriptionEqual(
  _ formatDescription: OpaquePointer?, _ otherFormatDescription: OpaquePointer?
) -> UInt8 {
  guard let formatDescription = FromC.optionalObject(formatDescription, CMFormatDescription.self) else {
    return 0
  }
  guard let otherFormatDescription = FromC.optionalObject(otherFormatDescription, CMFormatDescription.self)
  else { return 0 }
  return CoreMedia.CMFormatDescriptionEqual(formatDescription, otherFormatDescription: otherFormatDescription)
    ? 1 : 0
}

@c @implementation
public func CMFormatDescriptionEqualIgnoringExtensionKeys(
  _ formatDescription: OpaquePointer?, _ otherFormatDescription: OpaquePointer?,
  _ formatDescriptionExtensionKeysToIgnore: UnsafeRawPointer?,
  _ sampleDescriptionExtensionAtomKeysToIgnore: UnsafeRawPointer?
) -> UInt8 {
  guard let formatDescription = FromC.optionalObject(formatDescription, CMFormatDescription.self) else {
    return 0
  }
  guard let otherFormatDescription = FromC.optionalObject(otherFormatDescription, CMFormatDescription.self)
  else { return 0 }
  guard
    let formatDescriptionExtensionKeysToIgnore = FromC.optionalObject(
      formatDescriptionExtensionKeysToIgnore, AnyObject.self)
  else { return 0 }
  guard
    let sampleDescriptionExtensionAtomKeysToIgnore = FromC.optionalObject(
      sampleDescriptionExtensionAtomKeysToIgnore, AnyObject.self)
  else { return 0 }
  return CoreMedia.CMFormatDescriptionEqualIgnoringExtensionKeys(
    formatDescription, otherFormatDescription: otherFormatDescription,
    extensionKeysToIgnore: formatDescriptionExtensionKeysToIgnore,
    sampleDescriptionExtensionAtomKeysToIgnore: sampleDescriptionExtensionAtomKeysToIgnore) ? 1 : 0
}

@c @implementation
public func CMFormatDescriptionGetMediaType(_ desc: OpaquePointer?) -> UInt32 {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return 0 }
  return CoreMedia.CMFormatDescriptionGetMediaType(desc)
}

@c @implementation
public func CMFormatDescriptionGetMediaSubType(_ desc: OpaquePointer?) -> UInt32 {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return 0 }
  return CoreMedia.CMFormatDescriptionGetMediaSubType(desc)
}

@c @implementation
public func CMFormatDescriptionGetExtensions(_ desc: OpaquePointer?) -> OpaquePointer? {
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  return ToC.kept(by: desc, "extensions") { CoreMedia.CMFormatDescriptionGetExtensions(desc) }
}

@c @implementation
public func CMFormatDescriptionGetExtension(_ desc: OpaquePointer?, _ extensionKey: OpaquePointer?)
  -> UnsafeRawPointer?
{
  guard let desc = FromC.object(desc, CMFormatDescription.self) else { return nil }
  guard let extensionKey = FromC.object(extensionKey, NSString.self) else { return nil }
  return ToC.kept(by: desc, "extension " + (extensionKey as String)) {
    CoreMedia.CMFormatDescriptionGetExtension(desc, extensionKey: extensionKey)
  }
}
