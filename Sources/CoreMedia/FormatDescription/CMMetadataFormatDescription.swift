// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A description of timed metadata, with the keys of its samples.
public typealias CMMetadataFormatDescription = CMFormatDescription

/// The storage format of timed metadata, a four-character code.
public typealias CMMetadataFormatType = FourCharCode
public let kCMMetadataFormatType_ICY: CMMetadataFormatType = 0x69637920  // 'icy '
public let kCMMetadataFormatType_ID3: CMMetadataFormatType = 0x69643320  // 'id3 '
/// Samples consist of boxes. The type of each is a local identifier in the key table of the
/// description.
public let kCMMetadataFormatType_Boxed: CMMetadataFormatType = 0x6D656278  // 'mebx'
public let kCMMetadataFormatType_EMSG: CMMetadataFormatType = 0x656D7367  // 'emsg'

/// The key table: a dictionary of dictionaries by local identifier in decimal.
nonisolated(unsafe) public let kCMFormatDescriptionExtensionKey_MetadataKeyTable: CFString =
  "MetadataKeyTable"

/// In the dictionary of a key: its key space, a four-character code as a number.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_Namespace: CFString = "MetadataKeyNamespace"
/// In the dictionary of a key: its bytes (data).
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_Value: CFString = "MetadataKeyValue"
/// In the dictionary of a key: the number by which samples refer to it, neither 0 nor 0xFFFFFFFF.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_LocalID: CFString = "MetadataKeyLocalID"
/// In the dictionary of a key: the type of its values (data), in the form of the data type's
/// namespace.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_DataType: CFString = "MetadataKeyDataType"
/// In the dictionary of a key: 0 if the data type is one of QuickTime's numbers, 1 if it is a name
/// in reverse-DNS form.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_DataTypeNamespace: CFString =
  "MetadataKeyDataTypeNameSpace"
/// In the dictionary of a key: the types that its data type conforms to, an array of dictionaries
/// with type and namespace.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_ConformingDataTypes: CFString =
  "MetadataKeyConformingDataTypes"
/// In the dictionary of a key: the language of its values, a BCP 47 tag.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_LanguageTag: CFString =
  "MetadataKeyLanguageTag"
/// In the dictionary of a key: a dictionary that describes the dependency of its values on the
/// structure of the movie.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_StructuralDependency: CFString =
  "MetadataKeyStructuralDependency"
/// In the dictionary of a key: data that is needed to interpret its values.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionKey_SetupData: CFString = "MetadataKeySetupData"
/// In a structural dependency: true if values become invalid when the structure of the movie
/// changes (Boolean).
nonisolated(unsafe)
  public let kCMMetadataFormatDescription_StructuralDependencyKey_DependencyIsInvalidFlag: CFString =
    "StructuralDependencyIsInvalidFlag"

/// In a specification: the identifier (string).
nonisolated(unsafe) public let kCMMetadataFormatDescriptionMetadataSpecificationKey_Identifier: CFString =
  "MetadataIdentifier"
/// In a specification: the data type (string).
nonisolated(unsafe) public let kCMMetadataFormatDescriptionMetadataSpecificationKey_DataType: CFString =
  "MetadataDataType"
/// In a specification: the language (string).
nonisolated(unsafe)
  public let kCMMetadataFormatDescriptionMetadataSpecificationKey_ExtendedLanguageTag: CFString =
    "MetadataExtendedLanguageTag"
/// In a specification: the structural dependency (dictionary).
nonisolated(unsafe)
  public let kCMMetadataFormatDescriptionMetadataSpecificationKey_StructuralDependency: CFString =
    "MetadataStructuralDependency"
/// In a specification: setup data.
nonisolated(unsafe) public let kCMMetadataFormatDescriptionMetadataSpecificationKey_SetupData: CFString =
  "MetadataSetupData"

/// Creates a description of timed metadata with keys.
///
/// - Parameters:
///   - allocator: Not used.
///   - metadataType: The storage format.
///   - keys: Dictionaries with `kCMMetadataFormatDescriptionKey_*`; namespace, value and local
///     identifier are required.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if a key is invalid, or two have the
///   same local identifier.
@discardableResult
public func CMMetadataFormatDescriptionCreateWithKeys(
  allocator: CFAllocator?, metadataType: CMMetadataFormatType, keys: CFArray?,
  formatDescriptionOut: UnsafeMutablePointer<CMMetadataFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  let given = (keys as? [Any] ?? [])
  let entries = given.compactMap { ($0 as? NSDictionary).flatMap { MetadataKeyTable.Entry(key: $0) } }
  guard entries.count == given.count, let table = MetadataKeyTable(entries) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  formatDescriptionOut.pointee = table.description(metadataType)
  return noErr
}

/// Creates a description of timed metadata with specifications.
///
/// - Parameters:
///   - allocator: Not used.
///   - metadataType: `kCMMetadataFormatType_Boxed`.
///   - metadataSpecifications: Dictionaries with
///     `kCMMetadataFormatDescriptionMetadataSpecificationKey_*`; identifier and data type are
///     required. Keys get local identifiers in the order of the array, from 1.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if a specification is invalid, or the
///   type is another one.
@discardableResult
public func CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
  allocator: CFAllocator?, metadataType: CMMetadataFormatType, metadataSpecifications: CFArray,
  formatDescriptionOut: UnsafeMutablePointer<CMMetadataFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard metadataType == kCMMetadataFormatType_Boxed,
    let entries = MetadataKeyTable.entries(metadataSpecifications),
    let table = MetadataKeyTable([]).flatMap({ $0.adding(entries) })
  else { return kCMFormatDescriptionError_InvalidParameter }
  formatDescriptionOut.pointee = table.description(metadataType)
  return noErr
}

/// Creates a description of timed metadata that has the keys of another description, and further
/// ones.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if a specification is invalid, or the
///   description is of another media type.
@discardableResult
public func CMMetadataFormatDescriptionCreateWithMetadataFormatDescriptionAndMetadataSpecifications(
  allocator: CFAllocator?, sourceDescription: CMMetadataFormatDescription, metadataSpecifications: CFArray,
  formatDescriptionOut: UnsafeMutablePointer<CMMetadataFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard sourceDescription.mediaTypeCode == kCMMediaType_Metadata,
    let entries = MetadataKeyTable.entries(metadataSpecifications),
    let table = MetadataKeyTable(sourceDescription).adding(entries)
  else { return kCMFormatDescriptionError_InvalidParameter }
  formatDescriptionOut.pointee = table.description(sourceDescription.mediaSubTypeCode)
  return noErr
}

/// Creates a description of timed metadata that has the keys of two other descriptions. Keys that
/// both have are included once.
/// - Returns: `kCMFormatDescriptionError_InvalidParameter` if one of them is of another media type,
///   or their storage formats differ.
@discardableResult
public func CMMetadataFormatDescriptionCreateByMergingMetadataFormatDescriptions(
  allocator: CFAllocator?, sourceDescription: CMMetadataFormatDescription,
  otherSourceDescription: CMMetadataFormatDescription,
  formatDescriptionOut: UnsafeMutablePointer<CMMetadataFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard sourceDescription.mediaTypeCode == kCMMediaType_Metadata,
    otherSourceDescription.mediaTypeCode == kCMMediaType_Metadata,
    sourceDescription.mediaSubTypeCode == otherSourceDescription.mediaSubTypeCode,
    let table = MetadataKeyTable(sourceDescription).adding(MetadataKeyTable(otherSourceDescription).entries)
  else { return kCMFormatDescriptionError_InvalidParameter }
  formatDescriptionOut.pointee = table.description(sourceDescription.mediaSubTypeCode)
  return noErr
}

/// Returns the dictionary of the key with a local identifier; nil if there is none.
@discardableResult
public func CMMetadataFormatDescriptionGetKeyWithLocalID(
  _ desc: CMMetadataFormatDescription, localKeyID: OSType
) -> CFDictionary? {
  MetadataKeyTable(desc).entries.first { $0.localID == localKeyID }?.dictionary
}

/// Returns the identifiers of the keys, ordered by local identifier; nil if there are no keys.
@discardableResult
public func CMMetadataFormatDescriptionGetIdentifiers(_ desc: CMMetadataFormatDescription) -> CFArray? {
  let entries = MetadataKeyTable(desc).entries
  return entries.isEmpty ? nil : entries.map(\.identifier) as CFArray
}

extension CMFormatDescription {
  /// Creates a description of timed metadata; see
  /// `CMMetadataFormatDescriptionCreateWithMetadataSpecifications`.
  /// - Throws: `CMFormatDescription.Error`.
  public convenience init(
    boxedMetadataSpecifications specifications: [[CFString: Any]]
  ) throws {
    guard let entries = MetadataKeyTable.entries(specifications.map { $0 as NSDictionary } as CFArray),
      let table = MetadataKeyTable([]).flatMap({ $0.adding(entries) })
    else { throw Error.invalidParameter }
    self.init(
      mediaType: kCMMediaType_Metadata, mediaSubType: kCMMetadataFormatType_Boxed,
      extensions: table.extensions)
  }

  /// Returns the dictionary of the key with a local identifier, for timed metadata; nil if there is
  /// none.
  public func keyWithLocalID(_ localKeyID: OSType) -> [CFString: Any]? {
    guard let entry = CMMetadataFormatDescriptionGetKeyWithLocalID(self, localKeyID: localKeyID) else {
      return nil
    }
    return entry.allKeys.reduce(into: [:]) { result, key in
      if let name = key as? String { result[name as CFString] = entry[key] }
    }
  }

  /// The identifiers of the keys of timed metadata, ordered by local identifier.
  public var identifiers: [String] { MetadataKeyTable(self).entries.map(\.identifier) }
}
