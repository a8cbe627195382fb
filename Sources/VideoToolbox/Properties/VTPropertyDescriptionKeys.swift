// SPDX-License-Identifier: Apache-2.0
import CoreMedia

// Keys and values of the dictionaries that describe a session's properties, of which
// `VTSessionCopySupportedPropertyDictionary` returns one for each property.

/// The type of the property's value: one of the `kVTPropertyType_` constants.
public nonisolated(unsafe) let kVTPropertyTypeKey: CFString = "PropertyType"
/// The value is one of those listed under `kVTPropertySupportedValueListKey`.
public nonisolated(unsafe) let kVTPropertyType_Enumeration: CFString = "Enumeration"
/// The value is a Boolean.
public nonisolated(unsafe) let kVTPropertyType_Boolean: CFString = "Boolean"
/// The value is a number.
public nonisolated(unsafe) let kVTPropertyType_Number: CFString = "Number"

/// Whether the property can be set: one of the `kVTPropertyReadWriteStatus_` constants.
public nonisolated(unsafe) let kVTPropertyReadWriteStatusKey: CFString = "ReadWriteStatus"
public nonisolated(unsafe) let kVTPropertyReadWriteStatus_ReadOnly: CFString = "ReadOnly"
public nonisolated(unsafe) let kVTPropertyReadWriteStatus_ReadWrite: CFString = "ReadWrite"

/// A Boolean: whether `VTSessionCopySerializableProperties` includes the property.
public nonisolated(unsafe) let kVTPropertyShouldBeSerializedKey: CFString = "ShouldBeSerialized"
/// The smallest number that the property can have.
public nonisolated(unsafe) let kVTPropertySupportedValueMinimumKey: CFString = "SupportedValueMinimum"
/// The largest number that the property can have.
public nonisolated(unsafe) let kVTPropertySupportedValueMaximumKey: CFString = "SupportedValueMaximum"
/// An array of the values that the property can have.
public nonisolated(unsafe) let kVTPropertySupportedValueListKey: CFString = "SupportedValueList"
/// A sentence that describes the property for developers.
public nonisolated(unsafe) let kVTPropertyDocumentationKey: CFString = "PropertyDocumentation"
