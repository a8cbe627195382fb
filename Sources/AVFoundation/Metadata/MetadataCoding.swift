// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Converts between metadata items and their stored form in movie files.
enum MetadataCoding {
  /// The well-known types of the QuickTime File Format.
  private static let types: [(code: Int, type: String)] = [
    (0, kCMMetadataBaseDataType_RawData as String), (1, kCMMetadataBaseDataType_UTF8 as String),
    (2, kCMMetadataBaseDataType_UTF16 as String), (12, kCMMetadataBaseDataType_GIF as String),
    (13, kCMMetadataBaseDataType_JPEG as String), (14, kCMMetadataBaseDataType_PNG as String),
    (23, kCMMetadataBaseDataType_Float32 as String), (24, kCMMetadataBaseDataType_Float64 as String),
    (27, kCMMetadataBaseDataType_BMP as String), (65, kCMMetadataBaseDataType_SInt8 as String),
    (66, kCMMetadataBaseDataType_SInt16 as String), (67, kCMMetadataBaseDataType_SInt32 as String),
    (70, kCMMetadataBaseDataType_PointF32 as String),
    (71, kCMMetadataBaseDataType_DimensionsF32 as String),
    (72, kCMMetadataBaseDataType_RectF32 as String), (74, kCMMetadataBaseDataType_SInt64 as String),
    (75, kCMMetadataBaseDataType_UInt8 as String), (76, kCMMetadataBaseDataType_UInt16 as String),
    (77, kCMMetadataBaseDataType_UInt32 as String), (78, kCMMetadataBaseDataType_UInt64 as String),
    (79, kCMMetadataBaseDataType_AffineTransformF64 as String),
  ]
  private static let signed = [1: 65, 2: 66, 3: 67, 4: 67, 8: 74]
  private static let unsigned = [1: 75, 2: 76, 3: 77, 4: 77, 8: 78]

  /// The most bytes and items of the metadata of a movie or of a track.
  private static let maxBytes = 1 << 26 - 1 << 16
  private static let maxItems = 4096

  // MARK: - Reading

  static func item(_ stored: MovieMetadataItem) -> AVMetadataItem {
    let item = AVMutableMetadataItem()
    item.identifier = AVMetadataIdentifier(space: stored.keySpace.rawValue, key: stored.key)
    // The types 21 and 22 are used for integers of several widths; the number of bytes determines
    // the width.
    var code = stored.type
    if code == 21 { code = signed[stored.bytes.count] ?? 0 }
    if code == 22 { code = unsigned[stored.bytes.count] ?? 0 }
    item.value = value(stored.bytes, code)
    item.dataType = types.first { $0.code == code }?.type ?? kCMMetadataBaseDataType_RawData as String
    item.extendedLanguageTag = languageTag(stored)
    return item
  }

  private static func value(_ bytes: [UInt8], _ code: Int) -> any NSCopying & NSObjectProtocol {
    let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let signedBits =
      Int64(bitPattern: bits << (64 - 8 * UInt64(min(8, max(1, bytes.count)))))
      >> Int64(64 - 8 * min(8, max(1, bytes.count)))
    switch (code, bytes.count) {
    case (1, _): return NSString(string: String(decoding: bytes, as: UTF8.self))
    case (2, _):
      if let text = String(data: Data(bytes), encoding: .utf16BigEndian) { return NSString(string: text) }
    case (65, 1), (66, 2), (67, 3...4), (74, 8): return NSNumber(value: signedBits)
    case (75, 1), (76, 2), (77, 3...4), (78, 8): return NSNumber(value: bits)
    case (23, 4): return NSNumber(value: Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case (24, 8): return NSNumber(value: Double(bitPattern: bits))
    default: break
    }
    return NSData(data: Data(bytes))
  }

  /// Creates an item from the bytes of its value.
  /// - Parameters:
  ///   - identifier: The identifier.
  ///   - type: The data type. If neither it nor a type that it conforms to is known, the value is
  ///     `NSData`.
  ///   - bytes: The bytes, in big-endian order.
  ///   - language: The BCP 47 language tag.
  static func item(
    _ identifier: AVMetadataIdentifier, _ type: String?, _ bytes: [UInt8], language: String?
  ) -> AVMutableMetadataItem {
    let item = AVMutableMetadataItem()
    item.identifier = identifier
    item.value = value(bytes, type.flatMap(code(of:)) ?? 0)
    item.dataType = type
    item.extendedLanguageTag = language
    return item
  }

  /// Returns the bytes of an item's value.
  /// - Parameters:
  ///   - item: The item.
  ///   - type: The data type of the bytes.
  /// - Returns: Nil if the value cannot be converted to the type.
  static func bytes(of item: AVMetadataItem, as type: String) -> [UInt8]? {
    // Values of types with several numbers are in their stored form already.
    if let data = item.value as? NSData { return [UInt8](Data(referencing: data)) }
    let typed = AVMutableMetadataItem()
    typed.value = item.value
    typed.dataType = type
    return encoded(typed, .quickTimeMetadata, "")?.bytes
  }

  /// Returns the data type with a number of the QuickTime File Format; nil if there is none.
  static func dataType(_ code: Int) -> String? { types.first { $0.code == code }?.type }

  /// Returns the number of a data type, or of a type that it conforms to; nil if there is none.
  private static func code(of type: String) -> Int? {
    types.first { $0.type == type }?.code
      ?? types.first { pair in
        CMMetadataDataTypeRegistryDataTypeConformsToDataType(
          type as CFString, conformsToDataType: pair.type as CFString)
      }?.code
  }

  private static func languageTag(_ stored: MovieMetadataItem) -> String? {
    guard let language = stored.language else { return nil }
    let code = Locale.LanguageCode(language)
    return (code.identifier(.alpha2) ?? language) + (stored.country.map { "-" + $0 } ?? "")
  }

  // MARK: - Writing

  /// Returns the stored form of items: entries that libavformat writes, and further items.
  /// - Parameters:
  ///   - items: The items.
  ///   - isQuickTime: Whether the file is a QuickTime movie.
  ///   - ofMovie: Whether the items belong to the movie rather than to a track. Only then are there
  ///     entries.
  ///   - shouldDrop: Whether items that a movie cannot store are left out.
  /// - Throws: `AVError.Code.formatUnsupported` for the first item that a movie cannot store,
  ///   unless `shouldDrop` is true.
  static func stored(
    _ items: [AVMetadataItem], inQuickTime isQuickTime: Bool, ofMovie: Bool = true, shouldDrop: Bool = false
  ) throws -> (entries: [String: String], items: [MovieMetadataItem]) {
    var entries: [String: String] = [:]
    var stored: [MovieMetadataItem] = []
    // A reader rejects metadata above this size, so the total is limited.
    var size = 0
    for item in items {
      let name = MetadataNames.pairs.first { $0.0 == item.identifier }?.1
      // The header of a movie has a creation time; a date without a time of day is stored as a
      // further item.
      let isMoment = name != "creation_time" || item.stringValue?.contains("T") == true
      if ofMovie, let name, item.extendedLanguageTag == nil, entries[name] == nil, isMoment,
        let text = item.stringValue
      {
        entries[name] = text
      } else {
        let made: MovieMetadataItem
        do { made = try self.stored(item, isQuickTime) } catch {
          if shouldDrop { continue }
          throw error
        }
        let totalSize = size + made.bytes.count + made.key.utf8.count + 64
        guard totalSize < maxBytes, stored.count < maxItems else {
          if shouldDrop { continue }
          throw AVError(
            .formatUnsupported, reason: "There is more metadata than a movie file holds.",
            advice: "Omit some of the \(items.count) items.")
        }
        size = totalSize
        stored.append(made)
      }
    }
    return (entries, stored)
  }

  private static func stored(_ item: AVMetadataItem, _ isQuickTime: Bool) throws -> MovieMetadataItem {
    func invalid(_ reason: String) -> AVError {
      AVError(
        .formatUnsupported,
        reason: "The metadata item \(item.identifier?.rawValue ?? "without an identifier") \(reason).",
        advice: "Omit it, or give it an identifier and a value that a movie file holds.")
    }
    var identifier = item.identifier
    if item.keySpace == .common, let key = item.commonKey {
      identifier = MetadataNames.identifier(for: key, inQuickTime: isQuickTime)
    }
    guard let identifier, let space = identifier.space.flatMap(MovieMetadataItem.KeySpace.init(rawValue:)),
      let key = identifier.plainKey, !key.isEmpty
    else { throw invalid("has no place in a movie file") }
    guard let (type, bytes) = encoded(item, space, key) else {
      throw invalid("has no value, or one that cannot be stored")
    }
    guard bytes.count < maxBytes, key.utf8.count <= 1024 else { throw invalid("is too large") }
    let stored = MovieMetadataItem(
      keySpace: space, key: key, type: type, language: language(item), country: country(item), bytes: bytes)
    switch space {
    case .quickTimeUserData:
      guard type == 1, stored.code?.first == 0xA9, bytes.count <= Int(UInt16.max) else {
        throw invalid("is not text, which user data holds alone")
      }
    case .isoUserData:
      guard type == 1, MovieMetadataItem.isoTexts.contains(key) else {
        throw invalid("is not text that user data of ISO files holds")
      }
    case .iTunes:
      guard stored.code != nil else { throw invalid("has a key that is not a four-character code") }
    case .iTunesLong:
      guard key.dropFirst().dropLast().contains(".") else { throw invalid("has a key without a dot") }
    case .quickTimeMetadata: break
    }
    return stored
  }

  private static func language(_ item: AVMetadataItem) -> String? {
    item.extendedLanguageTag.flatMap { Locale.Language(identifier: $0).languageCode?.identifier(.alpha3) }
  }

  private static func country(_ item: AVMetadataItem) -> String? {
    guard let tag = item.extendedLanguageTag, tag.contains("-") else { return nil }
    return Locale.Language(identifier: tag).region.map(\.identifier).flatMap { $0.utf8.count == 2 ? $0 : nil }
  }

  /// The number of bytes of the integers that iTunes writes under these keys; others have four.
  private static let widths = ["cpil": 1, "pgap": 1, "pcst": 1, "rtng": 1, "stik": 1, "akID": 1, "tmpo": 2]

  private static func encoded(
    _ item: AVMetadataItem, _ space: MovieMetadataItem.KeySpace, _ key: String
  ) -> (type: Int, bytes: [UInt8])? {
    var code = item.saidDataType.flatMap(code(of:))
    if code == nil, item.saidDataType == kCMMetadataBaseDataType_JSON as String { code = 1 }
    if code == nil, item.saidDataType != nil { return nil }
    switch item.value {
    case is NSString, is NSDate:
      guard let text = item.stringValue, [nil, 1, 2].contains(code) else { return nil }
      return code == 2
        ? (2, text.data(using: .utf16BigEndian).map { [UInt8]($0) } ?? []) : (1, Array(text.utf8))
    case let number as NSNumber:
      return self.number(number, code, space == .iTunes ? widths[key] ?? 4 : nil)
    case let data as NSData:
      let type = code ?? types.first { $0.type == item.dataType }?.code ?? 0
      return (type, [UInt8](Data(referencing: data)))
    default: return nil
    }
  }

  /// Encodes a number. Integers of up to 32 bits get the types 21 and 22, which all readers
  /// support.
  private static func number(_ number: NSNumber, _ code: Int?, _ width: Int?) -> (Int, [UInt8])? {
    func bytes(_ bits: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64(count - 1 - $0))) }
    }
    let isFloat = CFNumberIsFloatType(number)
    // NSNumber converts a value that does not fit into the integer type to another value.
    let signedValue: Int64? =
      isFloat
      ? Int64(exactly: number.doubleValue)
      : number.int64Value < 0 && number.compare(NSNumber(value: 0)) == .orderedDescending
        ? nil : number.int64Value
    let unsignedValue: UInt64? =
      isFloat
      ? UInt64(exactly: number.doubleValue)
      : number.compare(NSNumber(value: 0)) == .orderedAscending ? nil : number.uint64Value
    func signed(_ count: Int) -> [UInt8]? {
      guard let integer = signedValue else { return nil }
      let limit = Int64(1) << Int64(8 * count - 1)
      return count == 8 || (-limit..<limit).contains(integer)
        ? bytes(UInt64(bitPattern: integer), count) : nil
    }
    func unsigned(_ count: Int) -> [UInt8]? {
      guard let integer = unsignedValue else { return nil }
      return count == 8 || integer < 1 << UInt64(8 * count) ? bytes(integer, count) : nil
    }
    switch code ?? (isFloat ? 24 : nil) {
    case nil:
      if let width { return signed(width).map { (21, $0) } ?? unsigned(width).map { (22, $0) } }
      return signed(4).map { (21, $0) } ?? signed(8).map { (74, $0) } ?? unsigned(8).map { (78, $0) }
    case 23: return (23, bytes(UInt64(number.floatValue.bitPattern), 4))
    case 24: return (24, bytes(number.doubleValue.bitPattern, 8))
    case 65: return signed(1).map { (21, $0) }
    case 66: return signed(2).map { (21, $0) }
    case 67: return signed(4).map { (21, $0) }
    case 74: return signed(8).map { (74, $0) }
    case 75: return unsigned(1).map { (22, $0) }
    case 76: return unsigned(2).map { (22, $0) }
    case 77: return unsigned(4).map { (22, $0) }
    case 78: return unsigned(8).map { (78, $0) }
    case 1: return (1, Array(number.stringValue.utf8))
    default: return nil
    }
  }
}
