// SPDX-License-Identifier: Apache-2.0
// Identifiers and data types of metadata.

#ifndef OVT_COREMEDIA_CMMETADATA_H
#define OVT_COREMEDIA_CMMETADATA_H

#include <CoreMedia/CMBase.h>

OVT_HEADER_BEGIN

enum {
  /// A parameter is missing or empty.
  kCMMetadataDataTypeRegistryError_RequiredParameterMissing = -16311,
  /// Memory ran out.
  kCMMetadataDataTypeRegistryError_AllocationFailed = -16310,
  /// The name is not in reverse-DNS form.
  kCMMetadataDataTypeRegistryError_BadDataTypeIdentifier = -16312,
  /// The type is known already, with other conforming types.
  kCMMetadataDataTypeRegistryError_DataTypeAlreadyRegistered = -16313,
  /// A type must conform to a base type.
  kCMMetadataDataTypeRegistryError_RequiresConformingBaseType = -16314,
  /// A type may conform to one base type only.
  kCMMetadataDataTypeRegistryError_MultipleConformingBaseTypes = -16315,
  kCMMetadataIdentifierError_AllocationFailed = -16300,
  /// A parameter is missing or empty.
  kCMMetadataIdentifierError_RequiredParameterMissing = -16301,
  /// The key is not usable.
  kCMMetadataIdentifierError_BadKey = -16302,
  /// The length of the key is not that of its key space.
  kCMMetadataIdentifierError_BadKeyLength = -16303,
  /// The key is neither a string nor a number nor data.
  kCMMetadataIdentifierError_BadKeyType = -16304,
  /// The number is negative or larger than 32 bits.
  kCMMetadataIdentifierError_BadNumberKey = -16305,
  /// The key space does not have four characters.
  kCMMetadataIdentifierError_BadKeySpace = -16306,
  /// The identifier has no slash after four characters, or a per cent sign without a number.
  kCMMetadataIdentifierError_BadIdentifier = -16307,
  /// The identifier has no key.
  kCMMetadataIdentifierError_NoKeyValueAvailable = -16308
};

OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_RawData;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_UTF8;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_UTF16;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_GIF;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_JPEG;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_PNG;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_BMP;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_Float32;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_Float64;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_SInt8;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_SInt16;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_SInt32;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_SInt64;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_UInt8;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_UInt16;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_UInt32;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_UInt64;
/// Two 32-bit floating-point numbers, x and y.
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_PointF32;
/// Two 32-bit floating-point numbers, width and height.
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_DimensionsF32;
/// Four 32-bit floating-point numbers: x, y, width, height.
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_RectF32;
/// Nine 64-bit floating-point numbers, row by row.
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_AffineTransformF64;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_PolygonF32;
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_PolylineF32;
/// JSON in UTF-8.
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_JSON;
/// Nine 64-bit floating-point numbers, row by row.
OVT_EXPORT const CFStringRef kCMMetadataBaseDataType_PerspectiveTransformF64;
/// A location in the format of ISO 6709; conforms to UTF-8.
OVT_EXPORT const CFStringRef kCMMetadataDataType_QuickTimeMetadataLocation_ISO6709;
/// A direction in degrees, as text; conforms to UTF-8.
OVT_EXPORT const CFStringRef kCMMetadataDataType_QuickTimeMetadataDirection;
/// Metadata in QuickTime user data atoms.
OVT_EXPORT const CFStringRef kCMMetadataKeySpace_QuickTimeUserData;
/// Metadata in ISO files' user data boxes.
OVT_EXPORT const CFStringRef kCMMetadataKeySpace_ISOUserData;
/// QuickTime metadata, with reverse-DNS keys.
OVT_EXPORT const CFStringRef kCMMetadataKeySpace_QuickTimeMetadata;
OVT_EXPORT const CFStringRef kCMMetadataKeySpace_iTunes;
OVT_EXPORT const CFStringRef kCMMetadataKeySpace_ID3;
OVT_EXPORT const CFStringRef kCMMetadataKeySpace_Icy;
OVT_EXPORT const CFStringRef kCMMetadataIdentifier_QuickTimeMetadataLocation_ISO6709;
OVT_EXPORT const CFStringRef kCMMetadataIdentifier_QuickTimeMetadataDirection_Facing;
OVT_EXPORT const CFStringRef kCMMetadataIdentifier_QuickTimeMetadataPreferredAffineTransform;
OVT_EXPORT const CFStringRef kCMMetadataIdentifier_QuickTimeMetadataVideoOrientation;
OVT_EXPORT const CFStringRef kCMMetadataIdentifier_QuickTimeMetadataLivePhotoStillImageTransform;

/// Makes a data type known to this process.
///
/// - `dataType`: Its name in reverse-DNS form.
/// - `conformingDataTypes`: The types that it conforms to: one base type at least, and no second.
/// - Returns: `kCMMetadataDataTypeRegistryError_*`.
OVT_EXPORT OSStatus CMMetadataDataTypeRegistryRegisterDataType(
    CFStringRef dataType, CFStringRef description, CFArrayRef conformingDataTypes);

/// Whether a data type is known: a base type, or one that was registered.
OVT_EXPORT Boolean CMMetadataDataTypeRegistryDataTypeIsRegistered(CFStringRef dataType);

/// The description with which a data type was registered; empty for others.
///
/// The result is not retained for the caller.
OVT_EXPORT CFStringRef OVT_NULLABLE CMMetadataDataTypeRegistryGetDataTypeDescription(
    CFStringRef dataType);

/// The types that a data type was registered with; none for others.
///
/// The result is not retained for the caller.
OVT_EXPORT CFArrayRef OVT_NULLABLE CMMetadataDataTypeRegistryGetConformingDataTypes(
    CFStringRef dataType);

/// Whether a data type conforms to another one, or is the same.
OVT_EXPORT Boolean CMMetadataDataTypeRegistryDataTypeConformsToDataType(
    CFStringRef dataType, CFStringRef conformsToDataType);

/// All base types.
///
/// The result is not retained for the caller.
OVT_EXPORT CFArrayRef OVT_NULLABLE CMMetadataDataTypeRegistryGetBaseDataTypes(void);

/// Whether a data type is a base type.
OVT_EXPORT Boolean CMMetadataDataTypeRegistryDataTypeIsBaseDataType(CFStringRef dataType);

/// The base type that a data type conforms to; itself for a base type, raw data for one that is not
/// known.
///
/// The result is not retained for the caller.
OVT_EXPORT CFStringRef OVT_NULLABLE CMMetadataDataTypeRegistryGetBaseDataTypeForConformingDataType(
    CFStringRef dataType);

/// Makes an identifier from a key space and a key: a string, data, or the number of a
/// four-character code.
/// - Returns: `kCMMetadataIdentifierError_*`.
///
/// The caller owns the object that `identifierOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMMetadataCreateIdentifierForKeyAndKeySpace(
    CFAllocatorRef OVT_NULLABLE allocator, CFTypeRef key, CFStringRef keySpace,
    CFStringRef OVT_NULLABLE *identifierOut);

/// The key of an identifier: a string, or data if it is not text in UTF-8.
///
/// The caller owns the object that `keyOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMMetadataCreateKeyFromIdentifier(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef identifier, CFTypeRef OVT_NULLABLE *keyOut);

/// The bytes of an identifier's key.
///
/// The caller owns the object that `keyOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMMetadataCreateKeyFromIdentifierAsCFData(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef identifier, CFDataRef OVT_NULLABLE *keyOut);

/// The key space of an identifier.
///
/// The caller owns the object that `keySpaceOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus CMMetadataCreateKeySpaceFromIdentifier(
    CFAllocatorRef OVT_NULLABLE allocator, CFStringRef identifier,
    CFStringRef OVT_NULLABLE *keySpaceOut);

OVT_HEADER_END

#endif
