// SPDX-License-Identifier: Apache-2.0
// Properties of sessions.

#ifndef OVT_VIDEOTOOLBOX_VTSESSION_H
#define OVT_VIDEOTOOLBOX_VTSESSION_H

#include <VideoToolbox/VTErrors.h>

OVT_HEADER_BEGIN

/// A session of compression, decompression, pixel transfer or pixel rotation.
typedef CFTypeRef VTSessionRef;

/// How the value is to be understood: one of the `kVTPropertyType_` constants.
OVT_EXPORT const CFStringRef kVTPropertyTypeKey;
/// One of a list of values.
OVT_EXPORT const CFStringRef kVTPropertyType_Enumeration;
/// True or false.
OVT_EXPORT const CFStringRef kVTPropertyType_Boolean;
/// A number.
OVT_EXPORT const CFStringRef kVTPropertyType_Number;
/// Whether the property can be set: one of the `kVTPropertyReadWriteStatus_` constants.
OVT_EXPORT const CFStringRef kVTPropertyReadWriteStatusKey;
OVT_EXPORT const CFStringRef kVTPropertyReadWriteStatus_ReadOnly;
OVT_EXPORT const CFStringRef kVTPropertyReadWriteStatus_ReadWrite;
/// Whether `VTSessionCopySerializableProperties` gives it. Boolean.
OVT_EXPORT const CFStringRef kVTPropertyShouldBeSerializedKey;
/// The smallest number allowed.
OVT_EXPORT const CFStringRef kVTPropertySupportedValueMinimumKey;
/// The greatest number allowed.
OVT_EXPORT const CFStringRef kVTPropertySupportedValueMaximumKey;
/// The values allowed, an array.
OVT_EXPORT const CFStringRef kVTPropertySupportedValueListKey;
/// A sentence for developers.
OVT_EXPORT const CFStringRef kVTPropertyDocumentationKey;

/// Describes the properties of a session.
///
/// - `supportedPropertyDictionaryOut`: receives a dictionary from property to a dictionary with the
///   keys `kVTPropertyTypeKey`, `kVTPropertyReadWriteStatusKey` and so on.
/// - Returns: `kVTInvalidSessionErr` after the session was invalidated; `kVTParameterErr` for
///   another object.
///
/// The caller owns the object that `supportedPropertyDictionaryOut` receives, and releases it with
/// `CFRelease`.
OVT_EXPORT OSStatus VTSessionCopySupportedPropertyDictionary(
    VTSessionRef session, CFDictionaryRef OVT_NULLABLE *supportedPropertyDictionaryOut);

/// Sets a property.
///
/// - `value`: the value; NULL restores the default.
/// - Returns: `kVTPropertyNotSupportedErr` for a property that the session or its encoder does not
///   have, `kVTPropertyReadOnlyErr` for one that is read-only or cannot be set any more,
///   `kVTParameterErr` for a value of the wrong type or out of range, `kVTInvalidSessionErr` after
///   the session was invalidated.
OVT_EXPORT OSStatus VTSessionSetProperty(
    VTSessionRef session, CFStringRef propertyKey, CFTypeRef OVT_NULLABLE propertyValue);

/// Sets several properties, all of them even if one causes an error.
OVT_EXPORT OSStatus VTSessionSetProperties(
    VTSessionRef session, CFDictionaryRef propertyDictionary);

/// Reads all properties that were set and that make sense in another session.
///
/// - `dictionaryOut`: receives a dictionary that `VTSessionSetProperties` takes.
///
/// The caller owns the object that `dictionaryOut` receives, and releases it with `CFRelease`.
OVT_EXPORT OSStatus VTSessionCopySerializableProperties(
    VTSessionRef session, CFAllocatorRef OVT_NULLABLE allocator,
    CFDictionaryRef OVT_NULLABLE *dictionaryOut);

/// Reads a property.
///
/// - `propertyValueOut`: the address of a variable of an object's type, such as `CFNumberRef`,
///   which receives the
///   value, or `NULL` if the property has none. The caller owns the value, and releases it with
/// `CFRelease`.
/// - Returns: `kVTPropertyNotSupportedErr` for a property that the session does not have,
///   `kVTInvalidSessionErr` after
///   the session was invalidated.
OVT_EXPORT OSStatus VTSessionCopyProperty(
    VTSessionRef session, CFStringRef propertyKey, CFAllocatorRef OVT_NULLABLE allocator,
    void *OVT_NULLABLE propertyValueOut);

OVT_HEADER_END

#endif
