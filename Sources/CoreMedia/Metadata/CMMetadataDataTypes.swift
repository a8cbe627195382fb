// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// The types of metadata values. Those with a number in the QuickTime File Format ("Well-Known
// Types") are base types; others conform to one of them.

nonisolated(unsafe) public let kCMMetadataBaseDataType_RawData: CFString =
  "com.apple.metadata.datatype.raw-data"
nonisolated(unsafe) public let kCMMetadataBaseDataType_UTF8: CFString = "com.apple.metadata.datatype.UTF-8"
nonisolated(unsafe) public let kCMMetadataBaseDataType_UTF16: CFString = "com.apple.metadata.datatype.UTF-16"
nonisolated(unsafe) public let kCMMetadataBaseDataType_GIF: CFString = "com.apple.metadata.datatype.GIF"
nonisolated(unsafe) public let kCMMetadataBaseDataType_JPEG: CFString = "com.apple.metadata.datatype.JPEG"
nonisolated(unsafe) public let kCMMetadataBaseDataType_PNG: CFString = "com.apple.metadata.datatype.PNG"
nonisolated(unsafe) public let kCMMetadataBaseDataType_BMP: CFString = "com.apple.metadata.datatype.BMP"
nonisolated(unsafe) public let kCMMetadataBaseDataType_Float32: CFString =
  "com.apple.metadata.datatype.float32"
nonisolated(unsafe) public let kCMMetadataBaseDataType_Float64: CFString =
  "com.apple.metadata.datatype.float64"
nonisolated(unsafe) public let kCMMetadataBaseDataType_SInt8: CFString = "com.apple.metadata.datatype.int8"
nonisolated(unsafe) public let kCMMetadataBaseDataType_SInt16: CFString = "com.apple.metadata.datatype.int16"
nonisolated(unsafe) public let kCMMetadataBaseDataType_SInt32: CFString = "com.apple.metadata.datatype.int32"
nonisolated(unsafe) public let kCMMetadataBaseDataType_SInt64: CFString = "com.apple.metadata.datatype.int64"
nonisolated(unsafe) public let kCMMetadataBaseDataType_UInt8: CFString = "com.apple.metadata.datatype.uint8"
nonisolated(unsafe) public let kCMMetadataBaseDataType_UInt16: CFString = "com.apple.metadata.datatype.uint16"
nonisolated(unsafe) public let kCMMetadataBaseDataType_UInt32: CFString = "com.apple.metadata.datatype.uint32"
nonisolated(unsafe) public let kCMMetadataBaseDataType_UInt64: CFString = "com.apple.metadata.datatype.uint64"
/// Two 32-bit floating-point numbers, x and y.
nonisolated(unsafe) public let kCMMetadataBaseDataType_PointF32: CFString =
  "com.apple.metadata.datatype.point-float32"
/// Two 32-bit floating-point numbers, width and height.
nonisolated(unsafe) public let kCMMetadataBaseDataType_DimensionsF32: CFString =
  "com.apple.metadata.datatype.dimensions-float32"
/// Four 32-bit floating-point numbers: x, y, width, height.
nonisolated(unsafe) public let kCMMetadataBaseDataType_RectF32: CFString =
  "com.apple.metadata.datatype.rect-float32"
/// Nine 64-bit floating-point numbers, row by row.
nonisolated(unsafe) public let kCMMetadataBaseDataType_AffineTransformF64: CFString =
  "com.apple.metadata.datatype.affine-transform-float64"
nonisolated(unsafe) public let kCMMetadataBaseDataType_PolygonF32: CFString =
  "com.apple.metadata.datatype.polygon-float32"
nonisolated(unsafe) public let kCMMetadataBaseDataType_PolylineF32: CFString =
  "com.apple.metadata.datatype.polyline-float32"
/// JSON in UTF-8.
nonisolated(unsafe) public let kCMMetadataBaseDataType_JSON: CFString = "com.apple.metadata.datatype.JSON"
/// Nine 64-bit floating-point numbers, row by row.
nonisolated(unsafe) public let kCMMetadataBaseDataType_PerspectiveTransformF64: CFString =
  "com.apple.metadata.datatype.perspective-transform-float64"

/// A location in the format of ISO 6709; conforms to UTF-8.
nonisolated(unsafe) public let kCMMetadataDataType_QuickTimeMetadataLocation_ISO6709: CFString =
  "com.apple.quicktime.datatype.location-ISO6709"
/// A direction in degrees, as text; conforms to UTF-8.
nonisolated(unsafe) public let kCMMetadataDataType_QuickTimeMetadataDirection: CFString =
  "com.apple.quicktime.datatype.direction"

/// A required parameter is missing or empty.
public var kCMMetadataDataTypeRegistryError_RequiredParameterMissing: OSStatus { -16311 }
/// There is not enough memory.
public var kCMMetadataDataTypeRegistryError_AllocationFailed: OSStatus { -16310 }
/// The name is not in reverse-DNS form or is that of a base type, or a conforming type is not
/// known.
public var kCMMetadataDataTypeRegistryError_BadDataTypeIdentifier: OSStatus { -16312 }
/// The type is registered already, with other conforming types.
public var kCMMetadataDataTypeRegistryError_DataTypeAlreadyRegistered: OSStatus { -16313 }
/// A type must conform to a base type.
public var kCMMetadataDataTypeRegistryError_RequiresConformingBaseType: OSStatus { -16314 }
/// A type may conform to one base type only.
public var kCMMetadataDataTypeRegistryError_MultipleConformingBaseTypes: OSStatus { -16315 }

/// The data types that are known in this process.
final class MetadataDataTypes: Sendable {
  /// The numbers of the base types in the QuickTime File Format.
  static let codes: [String: UInt32] = [
    "raw-data": 0, "UTF-8": 1, "UTF-16": 2, "GIF": 12, "JPEG": 13, "PNG": 14, "float32": 23, "float64": 24,
    "BMP": 27, "int8": 65, "int16": 66, "int32": 67, "point-float32": 70, "dimensions-float32": 71,
    "rect-float32": 72, "int64": 74, "uint8": 75, "uint16": 76, "uint32": 77, "uint64": 78,
    "affine-transform-float64": 79, "polygon-float32": 80, "polyline-float32": 81, "JSON": 82,
    "perspective-transform-float64": 83,
  ]
  private static let prefix = "com.apple.metadata.datatype."

  static func code(_ type: String) -> UInt32? {
    type.hasPrefix(prefix) ? codes[String(type.dropFirst(prefix.count))] : nil
  }
  static func name(_ code: UInt32) -> String? {
    codes.first { $0.value == code }.map { prefix + $0.key }
  }
  static var baseTypes: [String] { codes.sorted { $0.value < $1.value }.map { prefix + $0.key } }

  struct Entry {
    let description: String
    let conformsTo: [String]
  }

  static let shared = MetadataDataTypes()

  private let lock = Lock()
  nonisolated(unsafe) private var registered: [String: Entry]

  private init() {
    registered = [
      kCMMetadataDataType_QuickTimeMetadataLocation_ISO6709 as String: Entry(
        description: "Location (ISO 6709)", conformsTo: [kCMMetadataBaseDataType_UTF8 as String]),
      kCMMetadataDataType_QuickTimeMetadataDirection as String: Entry(
        description: "Direction", conformsTo: [kCMMetadataBaseDataType_UTF8 as String]),
    ]
  }

  func entry(_ type: String) -> Entry? { lock.withLock { registered[type] } }

  func isKnown(_ type: String) -> Bool { Self.code(type) != nil || entry(type) != nil }

  /// Returns the base type that a type conforms to, or the type itself if it is a base type; nil
  /// for unknown types.
  func base(of type: String) -> String? {
    first(from: type) { Self.code($0) != nil }
  }

  /// Returns whether a type conforms to another, or is equal to it.
  func conforms(_ type: String, to other: String) -> Bool {
    first(from: type) { $0 == other } != nil
  }

  /// Finds the first type that satisfies a condition, among a type and those that it conforms to,
  /// by depth-first search. Each type is visited once.
  private func first(from type: String, where condition: (String) -> Bool) -> String? {
    var seen: Set<String> = []
    var rest = [type]
    while let next = rest.popLast() {
      if condition(next) { return next }
      if seen.insert(next).inserted { rest += (entry(next)?.conformsTo ?? []).reversed() }
    }
    return nil
  }

  func register(_ type: String, _ entry: Entry) -> OSStatus {
    let parts = type.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, parts.allSatisfy({ !$0.isEmpty }), Self.code(type) == nil else {
      return kCMMetadataDataTypeRegistryError_BadDataTypeIdentifier
    }
    guard entry.conformsTo.allSatisfy(isKnown) else {
      return kCMMetadataDataTypeRegistryError_BadDataTypeIdentifier
    }
    let bases = Set(entry.conformsTo.compactMap { base(of: $0) })
    guard !bases.isEmpty else { return kCMMetadataDataTypeRegistryError_RequiresConformingBaseType }
    guard bases.count == 1 else { return kCMMetadataDataTypeRegistryError_MultipleConformingBaseTypes }
    return lock.withLock {
      if let known = registered[type] {
        return Set(known.conformsTo) == Set(entry.conformsTo)
          ? noErr : kCMMetadataDataTypeRegistryError_DataTypeAlreadyRegistered
      }
      registered[type] = entry
      return noErr
    }
  }
}

// MARK: - The registry

/// Registers a data type in this process.
///
/// - Parameters:
///   - dataType: The name of the type in reverse-DNS form.
///   - description: A description for users.
///   - conformingDataTypes: The types to which it conforms, of exactly one base type.
/// - Returns: `kCMMetadataDataTypeRegistryError_*`.
@discardableResult
public func CMMetadataDataTypeRegistryRegisterDataType(
  _ dataType: CFString, description: CFString, conformingDataTypes: CFArray
) -> OSStatus {
  guard dataType.length > 0 else { return kCMMetadataDataTypeRegistryError_RequiredParameterMissing }
  let names = (conformingDataTypes as? [Any] ?? []).compactMap { $0 as? String }
  return MetadataDataTypes.shared.register(
    dataType as String, MetadataDataTypes.Entry(description: description as String, conformsTo: names))
}

/// Returns whether a data type is a base type or has been registered.
@discardableResult
public func CMMetadataDataTypeRegistryDataTypeIsRegistered(_ dataType: CFString) -> Bool {
  MetadataDataTypes.shared.isKnown(dataType as String)
}

/// Returns the description with which a data type was registered; empty for other types.
@discardableResult
public func CMMetadataDataTypeRegistryGetDataTypeDescription(_ dataType: CFString) -> CFString {
  (MetadataDataTypes.shared.entry(dataType as String)?.description ?? "") as CFString
}

/// Returns the conforming types with which a data type was registered; empty for other types.
@discardableResult
public func CMMetadataDataTypeRegistryGetConformingDataTypes(_ dataType: CFString) -> CFArray {
  (MetadataDataTypes.shared.entry(dataType as String)?.conformsTo ?? []) as CFArray
}

/// Returns whether a data type conforms to another, or is equal to it.
@discardableResult
public func CMMetadataDataTypeRegistryDataTypeConformsToDataType(
  _ dataType: CFString, conformsToDataType: CFString
) -> Bool {
  MetadataDataTypes.shared.conforms(dataType as String, to: conformsToDataType as String)
}

/// Returns all base types.
@discardableResult
public func CMMetadataDataTypeRegistryGetBaseDataTypes() -> CFArray? {
  MetadataDataTypes.baseTypes as CFArray
}

/// Returns whether a data type is a base type.
@discardableResult
public func CMMetadataDataTypeRegistryDataTypeIsBaseDataType(_ dataType: CFString) -> Bool {
  MetadataDataTypes.code(dataType as String) != nil
}

/// Returns the base type to which a data type conforms: the type itself for a base type, and raw
/// data for an unknown type.
@discardableResult
public func CMMetadataDataTypeRegistryGetBaseDataTypeForConformingDataType(_ dataType: CFString) -> CFString {
  (MetadataDataTypes.shared.base(of: dataType as String) as CFString?) ?? kCMMetadataBaseDataType_RawData
}
