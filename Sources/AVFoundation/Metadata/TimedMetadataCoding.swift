// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Converts between groups of metadata items and samples of boxed timed metadata (QuickTime File
/// Format, "Timed Metadata Media"). A sample is a list of boxes. The type of each box is a number
/// that the track's key table assigns to an identifier, a data type and a language.
enum TimedMetadataCoding {
  /// An entry of the key table of a format description.
  struct Key {
    var number: UInt32
    var identifier: AVMetadataIdentifier
    var dataType: String?
    var language: String?
  }

  /// The most bytes of a sample, and the most items in it.
  private static let maxBytes = 1 << 24
  private static let maxItems = 4096

  /// A sample without items: a box with the number 0 has no meaning.
  static let nothing: [UInt8] = [0, 0, 0, 8, 0, 0, 0, 0]

  // MARK: - Descriptions

  static func description(of items: [AVMetadataItem]) -> CMMetadataFormatDescription? {
    var specifications: [NSDictionary] = []
    for item in items {
      guard let identifier = item.identifier, let type = item.dataType else { return nil }
      let specification: NSMutableDictionary = [
        kCMMetadataFormatDescriptionMetadataSpecificationKey_Identifier as String: identifier.rawValue,
        kCMMetadataFormatDescriptionMetadataSpecificationKey_DataType as String: type,
      ]
      if let language = item.extendedLanguageTag {
        specification[kCMMetadataFormatDescriptionMetadataSpecificationKey_ExtendedLanguageTag as String] =
          language
      }
      if !specifications.contains(where: { $0.isEqual(specification) }) {
        specifications.append(specification)
      }
    }
    guard !specifications.isEmpty else { return nil }
    var made: CMMetadataFormatDescription?
    CMMetadataFormatDescriptionCreateWithMetadataSpecifications(
      allocator: kCFAllocatorDefault, metadataType: kCMMetadataFormatType_Boxed,
      metadataSpecifications: specifications as NSArray, formatDescriptionOut: &made)
    return made
  }

  /// Returns the key table of a format description.
  static func keys(of description: CMFormatDescription) -> [Key] {
    guard CMFormatDescriptionGetMediaType(description) == kCMMediaType_Metadata,
      CMFormatDescriptionGetMediaSubType(description) == kCMMetadataFormatType_Boxed,
      let table = CMFormatDescriptionGetExtension(
        description, extensionKey: kCMFormatDescriptionExtensionKey_MetadataKeyTable) as? NSDictionary
    else { return [] }
    let numbers = table.allKeys.compactMap { UInt32(String(describing: $0)) }.sorted()
    let identifiers = CMMetadataFormatDescriptionGetIdentifiers(description) as? [Any] ?? []
    guard numbers.count == identifiers.count else { return [] }
    return zip(numbers, identifiers).compactMap { number, identifier in
      guard let name = identifier as? String,
        let entry = CMMetadataFormatDescriptionGetKeyWithLocalID(description, localKeyID: number)
      else { return nil }
      return Key(
        number: number, identifier: AVMetadataIdentifier(name), dataType: dataType(entry),
        language: entry[kCMMetadataFormatDescriptionKey_LanguageTag] as? String)
    }
  }

  private static func dataType(_ entry: NSDictionary) -> String? {
    guard let data = entry[kCMMetadataFormatDescriptionKey_DataType] as? Data else { return nil }
    let space = entry[kCMMetadataFormatDescriptionKey_DataTypeNamespace] as? NSNumber
    if space?.intValue == 1 { return String(decoding: data, as: UTF8.self) }
    return MetadataCoding.dataType(data.reduce(0) { $0 << 8 | Int($1) })
  }

  // MARK: - Samples

  /// Encodes items as a sample.
  /// - Parameters:
  ///   - items: The items.
  ///   - description: The format description, whose key table is used.
  /// - Throws: `AVError.Code.invalidSourceMedia` if the key table has no key for an item, or the
  ///   value cannot be converted to the key's data type.
  static func sample(_ items: [AVMetadataItem], _ description: CMFormatDescription) throws -> [UInt8] {
    let keys = keys(of: description)
    var bytes: [UInt8] = []
    for item in items {
      func invalid(_ reason: String) -> AVError {
        AVError(
          .invalidSourceMedia,
          reason: "The metadata item \(item.identifier?.rawValue ?? "without an identifier") \(reason).",
          advice: "Give the input a source format hint that describes all items.")
      }
      let fitting = keys.filter {
        $0.identifier == item.identifier && $0.language == item.extendedLanguageTag
      }
      // If no data type was set, any key's type is acceptable that can represent the value; the
      // type of the value's class is preferred.
      let said = item.saidDataType
      guard
        let key = fitting.first(where: { said == nil ? $0.dataType == item.dataType : $0.dataType == said })
          ?? (said == nil ? fitting.first : nil)
      else { throw invalid("is not among those of the track") }
      guard let type = key.dataType, let value = MetadataCoding.bytes(of: item, as: type) else {
        throw invalid("has no value, or one of another data type")
      }
      guard bytes.count + value.count + 8 <= maxBytes else { throw invalid("is too large") }
      bytes += number(UInt32(value.count + 8)) + number(key.number) + value
    }
    return bytes.isEmpty ? nothing : bytes
  }

  private static func number(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
  }

  /// Returns the items and the time range of a sample buffer with a single sample; nil for other
  /// sample buffers and malformed boxes.
  static func group(of buffer: CMSampleBuffer) -> (items: [AVMetadataItem], range: CMTimeRange)? {
    guard CMSampleBufferDataIsReady(buffer), CMSampleBufferGetNumSamples(buffer) == 1,
      let description = CMSampleBufferGetFormatDescription(buffer),
      CMFormatDescriptionGetMediaType(description) == kCMMediaType_Metadata,
      CMFormatDescriptionGetMediaSubType(description) == kCMMetadataFormatType_Boxed,
      let block = CMSampleBufferGetDataBuffer(buffer), block.dataLength <= maxBytes,
      let bytes = try? [UInt8](block.dataBytes())
    else { return nil }
    let range = CMTimeRange(
      start: CMSampleBufferGetPresentationTimeStamp(buffer), duration: CMSampleBufferGetDuration(buffer))
    let keys = Dictionary(keys(of: description).map { ($0.number, $0) }) { first, _ in first }
    var items: [AVMetadataItem] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard rest.count >= 8 else { return nil }
      func number(_ at: Int) -> Int { rest.dropFirst(at).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
      let size = number(0)
      guard size >= 8, size <= rest.count, items.count < maxItems else { return nil }
      if let key = keys[UInt32(number(4))] {
        let item = MetadataCoding.item(
          key.identifier, key.dataType, Array(rest.dropFirst(8).prefix(size - 8)), language: key.language)
        (item.time, item.duration) = (range.start, range.duration)
        items.append(item)
      }
      rest = rest.dropFirst(size)
    }
    return (items, range)
  }
}
