// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// The key table of a description of timed metadata.
struct MetadataKeyTable {
  /// A key and the type of its values.
  struct Entry: Equatable {
    var localID: UInt32
    var namespace: FourCharCode
    var key: Data
    var dataType: Data?
    var dataTypeNamespace: UInt32 = 0
    /// The data types that the data type conforms to.
    var conformingTypes: [ConformingType] = []
    var language: String?
    /// Whether values become invalid when the structure of the movie changes; nil if it is unknown.
    var dependencyIsInvalid: Bool?
    var setup: Data?

    struct ConformingType: Equatable {
      var dataType: Data
      var namespace: UInt32
    }
  }

  let entries: [Entry]

  /// Creates a table.
  /// - Returns: Nil if two entries have the same local identifier, or an identifier is reserved (0
  ///   or 0xFFFFFFFF).
  init?(_ entries: [Entry]) {
    let known = Set(entries.map(\.localID))
    guard known.count == entries.count, !known.contains(0), !known.contains(.max) else { return nil }
    self.entries = entries.sorted { $0.localID < $1.localID }
  }

  /// Gets the table of a description; empty if it has none.
  init(_ description: CMFormatDescription) {
    let table = description.extensionValue(kCMFormatDescriptionExtensionKey_MetadataKeyTable) as? NSDictionary
    entries = (table?.allValues ?? []).compactMap { ($0 as? NSDictionary).flatMap { Entry(key: $0) } }
      .sorted { $0.localID < $1.localID }
  }

  /// Returns a table with further entries, which get new local identifiers. Entries that the table
  /// has already are not added. Nil if there are no identifiers left.
  func adding(_ more: [Entry]) -> MetadataKeyTable? {
    var all = entries
    var next = (entries.last?.localID ?? 0)
    // Entries are compared without their local identifiers.
    func anonymous(_ entry: Entry) -> Entry {
      var entry = entry
      entry.localID = 0
      return entry
    }
    var seen = Set(entries.map(anonymous))
    for var entry in more where seen.insert(anonymous(entry)).inserted {
      guard next < .max - 1 else { return nil }
      next += 1
      entry.localID = next
      all.append(entry)
    }
    return MetadataKeyTable(all)
  }

  /// The extensions of a format description with this table; nil if it is empty.
  var extensions: CFDictionary? {
    if entries.isEmpty { return nil }
    let table = NSMutableDictionary()
    for entry in entries { table["\(entry.localID)" as NSString] = entry.dictionary }
    return [kCMFormatDescriptionExtensionKey_MetadataKeyTable: table.copy()] as NSDictionary
  }

  func description(_ type: CMMetadataFormatType) -> CMFormatDescription {
    CMFormatDescription(mediaType: kCMMediaType_Metadata, mediaSubType: type, extensions: extensions)
  }

  /// Returns the entries for specifications, without local identifiers; nil if a specification is
  /// invalid.
  static func entries(_ specifications: CFArray) -> [Entry]? {
    var result: [Entry] = []
    for specification in specifications {
      guard let specification = specification as? NSDictionary,
        let entry = Entry(specification: specification)
      else { return nil }
      result.append(entry)
    }
    return result
  }
}

extension MetadataKeyTable.Entry: Hashable {
  /// Hashes all bytes. `Data` hashes only its first bytes, which any number of entries may have in
  /// common.
  func hash(into hasher: inout Hasher) {
    hasher.combine(localID)
    hasher.combine(namespace)
    hasher.combine(dataTypeNamespace)
    hasher.combine(language)
    hasher.combine(dependencyIsInvalid)
    for type in conformingTypes { hasher.combine(type.namespace) }
    for data in [key, dataType ?? Data(), setup ?? Data()] + conformingTypes.map(\.dataType) {
      data.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
  }
}

extension MetadataKeyTable.Entry {
  var identifier: String { fourCharacters(namespace) + "/" + MetadataIdentifier.escape(key) }

  /// Creates an entry from a key of `CMMetadataFormatDescriptionCreateWithKeys`; nil if it is
  /// invalid.
  init?(key dictionary: NSDictionary) {
    func number(_ key: CFString, _ dictionary: NSDictionary) -> UInt32? {
      (dictionary[key] as? NSNumber).flatMap { UInt32(exactly: $0) }
    }
    guard let localID = number(kCMMetadataFormatDescriptionKey_LocalID, dictionary),
      let namespace = number(kCMMetadataFormatDescriptionKey_Namespace, dictionary),
      let key = dictionary[kCMMetadataFormatDescriptionKey_Value] as? Data
    else { return nil }
    self.init(localID: localID, namespace: namespace, key: key)
    dataType = dictionary[kCMMetadataFormatDescriptionKey_DataType] as? Data
    dataTypeNamespace = number(kCMMetadataFormatDescriptionKey_DataTypeNamespace, dictionary) ?? 0
    for type in dictionary[kCMMetadataFormatDescriptionKey_ConformingDataTypes] as? [Any] ?? [] {
      guard let type = type as? NSDictionary,
        let name = type[kCMMetadataFormatDescriptionKey_DataType] as? Data
      else { return nil }
      conformingTypes.append(
        .init(
          dataType: name,
          namespace: number(kCMMetadataFormatDescriptionKey_DataTypeNamespace, type) ?? 0))
    }
    language = dictionary[kCMMetadataFormatDescriptionKey_LanguageTag] as? String
    dependencyIsInvalid = Self.flag(
      dictionary[kCMMetadataFormatDescriptionKey_StructuralDependency] as? NSDictionary)
    setup = dictionary[kCMMetadataFormatDescriptionKey_SetupData] as? Data
  }

  /// Creates an entry from a specification, without a local identifier; nil if it is invalid.
  init?(specification: NSDictionary) {
    guard
      let identifier = specification[kCMMetadataFormatDescriptionMetadataSpecificationKey_Identifier]
        as? String,
      let parts = MetadataIdentifier.parts(identifier), parts.space.utf8.count == 4, !parts.key.isEmpty,
      let type = specification[kCMMetadataFormatDescriptionMetadataSpecificationKey_DataType] as? String
    else { return nil }
    self.init(localID: 0, namespace: fourCharCode(parts.space), key: parts.key)
    guard let own = Self.type(type) else { return nil }
    (dataType, dataTypeNamespace) = (own.dataType, own.namespace)
    if let registered = MetadataDataTypes.shared.entry(type) {
      conformingTypes = registered.conformsTo.compactMap { Self.type($0) }
    }
    language =
      specification[kCMMetadataFormatDescriptionMetadataSpecificationKey_ExtendedLanguageTag] as? String
    dependencyIsInvalid = Self.flag(
      specification[kCMMetadataFormatDescriptionMetadataSpecificationKey_StructuralDependency]
        as? NSDictionary)
    setup = specification[kCMMetadataFormatDescriptionMetadataSpecificationKey_SetupData] as? Data
  }

  private static func flag(_ dependency: NSDictionary?) -> Bool? {
    dependency.map {
      ($0[kCMMetadataFormatDescription_StructuralDependencyKey_DependencyIsInvalidFlag] as? NSNumber)?
        .boolValue ?? false
    }
  }

  /// Returns the stored form of a data type: the number of a QuickTime base type, or else the name
  /// of a registered type; nil for other names.
  private static func type(_ name: String) -> ConformingType? {
    if let code = MetadataDataTypes.code(name) {
      var data = Data()
      data.append(bigEndian: code)
      return ConformingType(dataType: data, namespace: 0)
    }
    guard MetadataDataTypes.shared.isKnown(name) else { return nil }
    return ConformingType(dataType: Data(name.utf8), namespace: 1)
  }

  var dictionary: NSDictionary {
    let result = NSMutableDictionary()
    result[kCMMetadataFormatDescriptionKey_LocalID] = NSNumber(value: localID)
    result[kCMMetadataFormatDescriptionKey_Namespace] = NSNumber(value: namespace)
    result[kCMMetadataFormatDescriptionKey_Value] = key as NSData
    func add(_ type: Data, _ namespace: UInt32, to dictionary: NSMutableDictionary) {
      dictionary[kCMMetadataFormatDescriptionKey_DataType] = type as NSData
      dictionary[kCMMetadataFormatDescriptionKey_DataTypeNamespace] = NSNumber(value: namespace)
    }
    if let dataType { add(dataType, dataTypeNamespace, to: result) }
    if !conformingTypes.isEmpty {
      result[kCMMetadataFormatDescriptionKey_ConformingDataTypes] =
        conformingTypes.map { type -> NSDictionary in
          let dictionary = NSMutableDictionary()
          add(type.dataType, type.namespace, to: dictionary)
          return dictionary
        } as NSArray
    }
    if let language { result[kCMMetadataFormatDescriptionKey_LanguageTag] = language as NSString }
    if let dependencyIsInvalid {
      result[kCMMetadataFormatDescriptionKey_StructuralDependency] =
        [
          kCMMetadataFormatDescription_StructuralDependencyKey_DependencyIsInvalidFlag: NSNumber(
            value: dependencyIsInvalid)
        ] as NSDictionary
    }
    if let setup { result[kCMMetadataFormatDescriptionKey_SetupData] = setup as NSData }
    return result
  }
}
