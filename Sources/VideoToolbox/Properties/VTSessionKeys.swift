// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Keys and values of the dictionary that describes one property of a session.

/// How the value is to be understood: one of the `kVTPropertyType_` constants.
public nonisolated(unsafe) let kVTPropertyTypeKey: CFString = "PropertyType"
/// One of a list of values.
public nonisolated(unsafe) let kVTPropertyType_Enumeration: CFString = "Enumeration"
/// True or false.
public nonisolated(unsafe) let kVTPropertyType_Boolean: CFString = "Boolean"
/// A number.
public nonisolated(unsafe) let kVTPropertyType_Number: CFString = "Number"

/// Whether the property can be set: one of the `kVTPropertyReadWriteStatus_` constants.
public nonisolated(unsafe) let kVTPropertyReadWriteStatusKey: CFString = "ReadWriteStatus"
public nonisolated(unsafe) let kVTPropertyReadWriteStatus_ReadOnly: CFString = "ReadOnly"
public nonisolated(unsafe) let kVTPropertyReadWriteStatus_ReadWrite: CFString = "ReadWrite"

/// Whether `VTSessionCopySerializableProperties` gives it. Boolean.
public nonisolated(unsafe) let kVTPropertyShouldBeSerializedKey: CFString = "ShouldBeSerialized"
/// The smallest number allowed.
public nonisolated(unsafe) let kVTPropertySupportedValueMinimumKey: CFString = "SupportedValueMinimum"
/// The greatest number allowed.
public nonisolated(unsafe) let kVTPropertySupportedValueMaximumKey: CFString = "SupportedValueMaximum"
/// The values allowed, an array.
public nonisolated(unsafe) let kVTPropertySupportedValueListKey: CFString = "SupportedValueList"
/// A sentence for developers.
public nonisolated(unsafe) let kVTPropertyDocumentationKey: CFString = "PropertyDocumentation"
