// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// The flavor of a metadata sample description. Only that of QuickTime movies is supported, which
/// is nil.
public struct CMMetadataDescriptionFlavor: RawRepresentable, Hashable, @unchecked Sendable {
  // Sendable: immutable; a CFString is.
  public let rawValue: CFString
  public init(rawValue: CFString) { self.rawValue = rawValue }
  public init(_ rawValue: CFString) { self.rawValue = rawValue }
}

/// Parses and writes the sample description of a boxed metadata track (QuickTime File Format,
/// "Timed Metadata Sample Description"). It is a key table: boxes whose types are the local
/// identifiers.
private enum MetadataDescription {
  static let keys = fourCharCode("keys")
  static let declaration = fourCharCode("keyd")
  static let dataType = fourCharCode("dtyp")
  static let locale = fourCharCode("loca")
  static let setup = fourCharCode("setu")
  static let structure = fourCharCode("stru")
  static let conforming = fourCharCode("ctyp")

  static func read(_ data: Data) throws -> CMFormatDescription {
    let (type, content) = try SampleDescriptionFormat.open(data)
    guard type == kCMMetadataFormatType_Boxed else {
      return CMFormatDescription(mediaType: kCMMediaType_Metadata, mediaSubType: type, extensions: nil)
    }
    var entries: [MetadataKeyTable.Entry] = []
    for table in try SampleDescriptionFormat.atoms(content) where table.type == keys {
      for key in try SampleDescriptionFormat.atoms(table.content) {
        entries.append(try entry(key.type, try SampleDescriptionFormat.atoms(key.content)))
      }
    }
    guard let table = MetadataKeyTable(entries) else { throw SyntaxError.invalid }
    return table.description(type)
  }

  private static func entry(
    _ localID: UInt32, _ atoms: [(type: FourCharCode, content: Data)]
  ) throws -> MetadataKeyTable.Entry {
    guard let declaration = atoms.first(where: { $0.type == declaration })?.content else {
      throw SyntaxError.invalid
    }
    func split(_ data: Data) throws -> (UInt32, Data) {
      var reader = ByteReader(data)
      return (try reader.uint32(), Data(try reader.bytes(reader.remaining)))
    }
    let (namespace, key) = try split(declaration)
    var entry = MetadataKeyTable.Entry(localID: localID, namespace: namespace, key: key)
    for (type, content) in atoms {
      switch type {
      case dataType:
        let (namespace, name) = try split(content)
        (entry.dataType, entry.dataTypeNamespace) = (name, namespace)
      case conforming:
        let (namespace, name) = try split(content)
        entry.conformingTypes.append(.init(dataType: name, namespace: namespace))
      case locale: entry.language = String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
      case setup: entry.setup = content
      case structure: entry.dependencyIsInvalid = (content.first ?? 0) != 0
      default: break
      }
    }
    return entry
  }

  static func write(_ description: CMFormatDescription) throws -> Data {
    guard description.mediaSubTypeCode == kCMMetadataFormatType_Boxed else {
      return SampleDescriptionFormat.entry(description.mediaSubTypeCode, Data())
    }
    func joined(_ number: UInt32, _ bytes: Data) -> Data {
      var data = Data()
      data.append(bigEndian: number)
      return data + bytes
    }
    var table = Data()
    for entry in MetadataKeyTable(description).entries {
      var content = SampleDescriptionFormat.atom(declaration, joined(entry.namespace, entry.key))
      if let type = entry.dataType {
        content += SampleDescriptionFormat.atom(dataType, joined(entry.dataTypeNamespace, type))
      }
      for type in entry.conformingTypes {
        content += SampleDescriptionFormat.atom(conforming, joined(type.namespace, type.dataType))
      }
      if let language = entry.language {
        content += SampleDescriptionFormat.atom(locale, Data(language.utf8) + [0])
      }
      if let isInvalid = entry.dependencyIsInvalid {
        content += SampleDescriptionFormat.atom(structure, Data([isInvalid ? 1 : 0]))
      }
      if let data = entry.setup { content += SampleDescriptionFormat.atom(setup, data) }
      table += SampleDescriptionFormat.atom(entry.localID, content)
    }
    return SampleDescriptionFormat.entry(
      kCMMetadataFormatType_Boxed, SampleDescriptionFormat.atom(keys, table))
  }
}

/// Reads the sample description of a metadata track of a movie.
///
/// - Parameters:
///   - allocator: Not used.
///   - metadataDescriptionData: The sample description.
///   - size: Its size in bytes.
///   - flavor: Nil; no other flavor is supported.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it is
///   malformed.
@discardableResult
public func CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData(
  allocator: CFAllocator?, bigEndianMetadataDescriptionData metadataDescriptionData: UnsafePointer<UInt8>,
  size: Int, flavor: CMMetadataDescriptionFlavor?,
  formatDescriptionOut: UnsafeMutablePointer<CMMetadataFormatDescription?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  return SampleDescriptionFormat.read(
    size >= 0 ? Data(bytes: metadataDescriptionData, count: size) : nil, formatDescriptionOut,
    MetadataDescription.read)
}

/// Reads the sample description of a metadata track of a movie; see
/// `CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionData`.
@discardableResult
public func CMMetadataFormatDescriptionCreateFromBigEndianMetadataDescriptionBlockBuffer(
  allocator: CFAllocator?, bigEndianMetadataDescriptionBlockBuffer metadataDescription: CMBlockBuffer,
  flavor: CMMetadataDescriptionFlavor?,
  formatDescriptionOut: UnsafeMutablePointer<CMMetadataFormatDescription?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  return SampleDescriptionFormat.read(
    try? metadataDescription.dataBytes(), formatDescriptionOut, MetadataDescription.read)
}

/// Writes a description of timed metadata as the sample description of a track of a movie.
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is of another
///   media type.
@discardableResult
public func CMMetadataFormatDescriptionCopyAsBigEndianMetadataDescriptionBlockBuffer(
  allocator: CFAllocator?, metadataFormatDescription: CMMetadataFormatDescription,
  flavor: CMMetadataDescriptionFlavor?,
  blockBufferOut metadataDescriptionBlockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  return SampleDescriptionFormat.write(
    metadataFormatDescription, of: [kCMMediaType_Metadata], metadataDescriptionBlockBufferOut,
    MetadataDescription.write)
}
