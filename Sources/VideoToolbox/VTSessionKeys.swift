import CoreMedia

// Keys and values of the dictionary that describes one property of a session.

/// How the value is to be understood: one of the `kVTPropertyType_` constants.
public let kVTPropertyTypeKey: CFString = "PropertyType"
/// One of a list of values.
public let kVTPropertyType_Enumeration: CFString = "Enumeration"
/// True or false.
public let kVTPropertyType_Boolean: CFString = "Boolean"
/// A number.
public let kVTPropertyType_Number: CFString = "Number"

/// Whether the property can be set: one of the `kVTPropertyReadWriteStatus_` constants.
public let kVTPropertyReadWriteStatusKey: CFString = "ReadWriteStatus"
public let kVTPropertyReadWriteStatus_ReadOnly: CFString = "ReadOnly"
public let kVTPropertyReadWriteStatus_ReadWrite: CFString = "ReadWrite"

/// Whether `VTSessionCopySerializableProperties` gives it. Boolean.
public let kVTPropertyShouldBeSerializedKey: CFString = "ShouldBeSerialized"
/// The smallest number allowed.
public let kVTPropertySupportedValueMinimumKey: CFString = "SupportedValueMinimum"
/// The greatest number allowed.
public let kVTPropertySupportedValueMaximumKey: CFString = "SupportedValueMaximum"
/// The values allowed, an array.
public let kVTPropertySupportedValueListKey: CFString = "SupportedValueList"
/// A sentence for developers.
public let kVTPropertyDocumentationKey: CFString = "PropertyDocumentation"
