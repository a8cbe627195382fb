// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A parameter is wrong or missing.
public let kCMFormatDescriptionError_InvalidParameter: OSStatus = -12710
/// Memory ran out.
public let kCMFormatDescriptionError_AllocationFailed: OSStatus = -12711
/// The format description does not say that.
public let kCMFormatDescriptionError_ValueNotAvailable: OSStatus = -12718

/// Creates a description of any media.
///
/// Of the parameters:
///
/// - `extensions`: Property list values by key.
@discardableResult
public func CMFormatDescriptionCreate(
  allocator: CFAllocator?, mediaType: CMMediaType, mediaSubType: FourCharCode, extensions: CFDictionary?,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = CMFormatDescription(
    mediaType: mediaType, mediaSubType: mediaSubType, extensions: extensions)
  return noErr
}

/// The type identifier of format descriptions.
@discardableResult
public func CMFormatDescriptionGetTypeID() -> CFTypeID { CMFormatDescription.cfTypeID }

/// Whether two format descriptions say the same. Two that are missing are not equal.
@discardableResult
public func CMFormatDescriptionEqual(
  _ formatDescription: CMFormatDescription?, otherFormatDescription: CMFormatDescription?
) -> Bool {
  guard let formatDescription, let otherFormatDescription else { return false }
  return formatDescription.isEqual(to: otherFormatDescription, ignoringExtensions: [], ignoringAtoms: [])
}

/// Whether two format descriptions say the same but for some extensions and atoms.
///
/// Of the parameters:
///
/// - `formatDescriptionExtensionKeysToIgnore`: A key or an array of keys of extensions.
/// - `sampleDescriptionExtensionAtomKeysToIgnore`: A name or an array of names of sample description atoms.
@discardableResult
public func CMFormatDescriptionEqualIgnoringExtensionKeys(
  _ formatDescription: CMFormatDescription?, otherFormatDescription: CMFormatDescription?,
  extensionKeysToIgnore formatDescriptionExtensionKeysToIgnore: CFTypeRef?,
  sampleDescriptionExtensionAtomKeysToIgnore: CFTypeRef?
) -> Bool {
  guard let formatDescription, let otherFormatDescription else { return false }
  func names(_ object: CFTypeRef?) -> Set<String> {
    if let name = object as? String { return [name] }
    return Set(object as? [String] ?? [])
  }
  return formatDescription.isEqual(
    to: otherFormatDescription, ignoringExtensions: names(formatDescriptionExtensionKeysToIgnore),
    ignoringAtoms: names(sampleDescriptionExtensionAtomKeysToIgnore))
}

/// The kind of media.
@discardableResult
public func CMFormatDescriptionGetMediaType(_ desc: CMFormatDescription) -> CMMediaType { desc.mediaTypeCode }

/// The codec, or for uncompressed video the pixel format.
@discardableResult
public func CMFormatDescriptionGetMediaSubType(_ desc: CMFormatDescription) -> FourCharCode {
  desc.mediaSubTypeCode
}

/// All extensions; nil if there are none.
@discardableResult
public func CMFormatDescriptionGetExtensions(_ desc: CMFormatDescription) -> CFDictionary? {
  desc.extensionDictionary
}

/// One extension; nil if it is not there.
@discardableResult
public func CMFormatDescriptionGetExtension(_ desc: CMFormatDescription, extensionKey: CFString)
  -> CFPropertyList?
{
  desc.extensionValue(extensionKey).map { $0 as AnyObject }
}
