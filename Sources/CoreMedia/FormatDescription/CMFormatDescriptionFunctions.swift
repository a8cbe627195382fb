// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A parameter is invalid or missing.
public let kCMFormatDescriptionError_InvalidParameter: OSStatus = -12710
/// There is not enough memory.
public let kCMFormatDescriptionError_AllocationFailed: OSStatus = -12711
/// The format description does not have the requested value.
public let kCMFormatDescriptionError_ValueNotAvailable: OSStatus = -12718

/// Creates a description of any media.
///
/// - Parameters:
///   - allocator: Not used.
///   - mediaType: The media type.
///   - mediaSubType: The codec, or the pixel format of uncompressed video.
///   - extensions: Property list values by key.
///   - formatDescriptionOut: Receives the description.
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

/// Returns whether two format descriptions are equal; false if one of them is nil.
@discardableResult
public func CMFormatDescriptionEqual(
  _ formatDescription: CMFormatDescription?, otherFormatDescription: CMFormatDescription?
) -> Bool {
  guard let formatDescription, let otherFormatDescription else { return false }
  return formatDescription.isEqual(to: otherFormatDescription, ignoringExtensions: [], ignoringAtoms: [])
}

/// Returns whether two format descriptions are equal apart from some extensions and sample
/// description atoms; false if one of them is nil.
///
/// - Parameters:
///   - formatDescription: A description.
///   - otherFormatDescription: Another description.
///   - formatDescriptionExtensionKeysToIgnore: A key or an array of keys of extensions.
///   - sampleDescriptionExtensionAtomKeysToIgnore: A name or an array of names of sample
///     description atoms.
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

/// Returns the media type.
@discardableResult
public func CMFormatDescriptionGetMediaType(_ desc: CMFormatDescription) -> CMMediaType { desc.mediaTypeCode }

/// Returns the codec, or the pixel format of uncompressed video.
@discardableResult
public func CMFormatDescriptionGetMediaSubType(_ desc: CMFormatDescription) -> FourCharCode {
  desc.mediaSubTypeCode
}

/// Returns all extensions; nil if there are none.
@discardableResult
public func CMFormatDescriptionGetExtensions(_ desc: CMFormatDescription) -> CFDictionary? {
  desc.extensionDictionary
}

/// Returns an extension; nil if there is none with this key.
@discardableResult
public func CMFormatDescriptionGetExtension(_ desc: CMFormatDescription, extensionKey: CFString)
  -> CFPropertyList?
{
  desc.extensionValue(extensionKey).map { $0 as AnyObject }
}
