// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import Foundation

/// The fields in the Exif data of an image file (Exif 2.32, which uses the format of TIFF 6.0).
///
/// The data is not trusted. A field is ignored if its offset leads outside of the data, if its type
/// is unknown or if it is too long. If a directory is truncated, its remaining fields are ignored.
struct ExifData {
  private(set) var picture: [CFString: Any] = [:]
  private(set) var exif: [CFString: Any] = [:]

  /// The maximum number of fields of a directory, and of values of a field, that are read.
  private static let maxFields = 512
  private static let maxValues = 4096

  private let bytes: Data
  private let isBigEndian: Bool

  /// Reads the fields.
  /// - Parameter bytes: The data, which begins with the byte order mark of TIFF.
  /// - Returns: nil if the data is not in the format of TIFF.
  init?(_ bytes: Data) {
    self.bytes = Data(bytes)
    switch (bytes.first, bytes.dropFirst().first) {
    case (0x4D, 0x4D): isBigEndian = true
    case (0x49, 0x49): isBigEndian = false
    default: return nil
    }
    guard word(2) == 42, let start = long(4) else { return nil }
    var position: Int?
    read(start, ExifTags.picture, into: &picture) { tag, offset in if tag == 0x8769 { position = offset } }
    if let position { read(position, ExifTags.exif, into: &exif) { _, _ in } }
  }

  /// The orientation, or nil if the file does not contain a valid one.
  var orientation: CGImagePropertyOrientation? {
    (picture[kCGImagePropertyTIFFOrientation] as? NSNumber).flatMap {
      CGImagePropertyOrientation(rawValue: $0.uint32Value)
    }
  }

  /// Returns a resolution in pixels per inch, or nil if the file does not contain a valid one.
  func resolution(_ key: CFString) -> Double? {
    guard let number = (picture[key] as? NSNumber)?.doubleValue, number > 0 else { return nil }
    switch (picture[kCGImagePropertyTIFFResolutionUnit] as? NSNumber)?.intValue ?? 2 {
    case 2: return number
    case 3: return number * 2.54
    default: return nil
    }
  }

  // MARK: - Directories

  private func read(
    _ start: Int, _ names: [UInt16: CFString], into fields: inout [CFString: Any],
    directory: (_ tag: UInt16, _ offset: Int) -> Void
  ) {
    guard let count = word(start) else { return }
    for index in 0..<min(Int(count), Self.maxFields) {
      let entry = start + 2 + 12 * index
      guard let tag = word(entry), let type = word(entry + 2), let values = long(entry + 4),
        let offset = long(entry + 8)
      else { return }
      if type == 4 || type == 13 { directory(tag, offset) }
      guard let name = names[tag], fields[name] == nil, (1...Self.maxValues).contains(values) else {
        continue
      }
      let size = Self.size(type) * values
      if let value = value(type, values, at: size <= 4 ? entry + 8 : offset, tag) { fields[name] = value }
    }
  }

  private static func size(_ type: UInt16) -> Int {
    switch type {
    case 1, 2, 6, 7: 1
    case 3, 8: 2
    case 4, 9, 11, 13: 4
    case 5, 10, 12: 8
    default: 0
    }
  }

  private func value(_ type: UInt16, _ count: Int, at position: Int, _ tag: UInt16) -> Any? {
    guard let size = Optional(Self.size(type)), size > 0, bytes.count - position >= size * count,
      position >= 0
    else {
      return nil
    }
    // Strings end with a null byte.
    if type == 2 {
      let text = bytes[position..<position + count].prefix { $0 != 0 }
      return String(decoding: text, as: UTF8.self)
    }
    // A version consists of decimal digits as text. Leading zeros are removed.
    if type == 7, tag == 0x9000 || tag == 0xA000 {
      let digits = bytes[position..<position + count].map { Int($0) - 48 }
      guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
      return Array(digits.drop { $0 == 0 }) as [Any]
    }
    // A comment begins with 8 bytes that name its character code. Only ASCII is read.
    if type == 7, tag == 0x9286 {
      guard count > 8, bytes[position..<position + 5].elementsEqual("ASCII".utf8) else { return nil }
      let text = bytes[position + 8..<position + count].prefix { $0 != 0 }
      return String(decoding: text, as: UTF8.self)
    }
    let numbers = (0..<count).compactMap { number(type, at: position + size * $0) }
    guard numbers.count == count else { return nil }
    // The value of `ISOSpeedRatings` (0x8827) is an array even if it has a single element.
    return count == 1 && tag != 0x8827 ? numbers[0] : numbers as [Any]
  }

  private func number(_ type: UInt16, at position: Int) -> NSNumber? {
    switch type {
    case 1, 7: return NSNumber(value: Int(bytes[position]))
    case 6: return NSNumber(value: Int(Int8(bitPattern: bytes[position])))
    case 3: return word(position).map { NSNumber(value: Int($0)) }
    case 8: return word(position).map { NSNumber(value: Int(Int16(bitPattern: $0))) }
    case 4, 13: return long(position).map { NSNumber(value: $0) }
    case 9: return signed(position).map { NSNumber(value: $0) }
    case 11: return long(position).map { NSNumber(value: Float(bitPattern: UInt32($0))) }
    case 12:
      guard let first = long(position), let second = long(position + 4) else { return nil }
      let (high, low) = isBigEndian ? (first, second) : (second, first)
      return NSNumber(value: Double(bitPattern: UInt64(high) << 32 | UInt64(low)))
    case 5:
      guard let above = long(position), let below = long(position + 4), below != 0 else { return nil }
      return NSNumber(value: Double(above) / Double(below))
    case 10:
      guard let above = signed(position), let below = signed(position + 4), below != 0 else { return nil }
      return NSNumber(value: Double(above) / Double(below))
    default: return nil
    }
  }

  // MARK: - Numbers

  private func word(_ position: Int) -> UInt16? {
    guard position >= 0, position <= bytes.count - 2 else { return nil }
    let (a, b) = (UInt16(bytes[position]), UInt16(bytes[position + 1]))
    return isBigEndian ? a << 8 | b : b << 8 | a
  }

  private func long(_ position: Int) -> Int? {
    guard let a = word(position), let b = word(position + 2) else { return nil }
    return isBigEndian ? Int(a) << 16 | Int(b) : Int(b) << 16 | Int(a)
  }

  private func signed(_ position: Int) -> Int? {
    long(position).map { Int(Int32(bitPattern: UInt32($0))) }
  }
}

extension ExifData {
  /// Reads the Exif data of a JPEG file (its APP1 segment) or of a PNG file (its `eXIf` chunk). It
  /// is nil if there is none, and for a HEIC file, whose Exif data is an item (`HEIFDecoder`).
  init?(in file: Data, _ codec: ImageCodec) {
    let file = Data(file)
    switch codec {
    case .jpeg: self.init(jpeg: file)
    case .png: self.init(png: file)
    case .heic: return nil
    }
  }

  private init?(jpeg file: Data) {
    var position = 2
    // Marker segments precede the image data. Bytes of 255 can pad the space between them.
    while position <= file.count - 4, file[position] == 0xFF {
      let marker = file[position + 1]
      if marker == 0xFF {
        position += 1
        continue
      }
      guard marker != 0xDA, marker != 0xD9 else { return nil }
      let length = Int(file[position + 2]) << 8 | Int(file[position + 3])
      guard length >= 2, length <= file.count - position - 2 else { return nil }
      let content = file[position + 4..<position + 2 + length]
      if marker == 0xE1, content.starts(with: [0x45, 0x78, 0x69, 0x66, 0, 0]) {
        self.init(Data(content.dropFirst(6)))
        return
      }
      position += 2 + length
    }
    return nil
  }

  private init?(png file: Data) {
    var position = 8
    while position <= file.count - 12 {
      let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let type = file[position + 4..<position + 8]
      guard length <= file.count - position - 12, !type.elementsEqual("IEND".utf8) else { return nil }
      if type.elementsEqual("eXIf".utf8) {
        self.init(Data(file[position + 8..<position + 8 + length]))
        return
      }
      position += 12 + length
    }
    return nil
  }
}
