// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// The flavor of a text sample description. Each format has one, which is nil.
public struct CMTextDescriptionFlavor: RawRepresentable, Hashable, @unchecked Sendable {
  // Sendable: immutable; a CFString is.
  public let rawValue: CFString
  public init(rawValue: CFString) { self.rawValue = rawValue }
  public init(_ rawValue: CFString) { self.rawValue = rawValue }
}

/// Parses and writes the sample description of 3GPP timed text (3GPP TS 26.245, 5.16,
/// `TextSampleEntry`).
private enum TextDescription {
  static let fontTable = fourCharCode("ftab")
  static var colors: [CFString] {
    [
      kCMTextFormatDescriptionColor_Red, kCMTextFormatDescriptionColor_Green,
      kCMTextFormatDescriptionColor_Blue, kCMTextFormatDescriptionColor_Alpha,
    ]
  }
  static var sides: [CFString] {
    [
      kCMTextFormatDescriptionRect_Top, kCMTextFormatDescriptionRect_Left,
      kCMTextFormatDescriptionRect_Bottom, kCMTextFormatDescriptionRect_Right,
    ]
  }

  static func read(_ data: Data, _ mediaType: CMMediaType) throws -> CMFormatDescription {
    let (type, content) = try SampleDescriptionFormat.open(data)
    guard type == kCMTextFormatType_3GText else { throw SyntaxError.invalid }
    var reader = ByteReader(content)
    func color() throws -> NSDictionary {
      let result = NSMutableDictionary()
      for key in colors { result[key] = NSNumber(value: try reader.uint8()) }
      return result
    }
    let extensions = NSMutableDictionary()
    extensions[kCMTextFormatDescriptionExtension_DisplayFlags] = NSNumber(value: Int(try reader.uint32()))
    extensions[kCMTextFormatDescriptionExtension_HorizontalJustification] = NSNumber(
      value: Int8(bitPattern: try reader.uint8()))
    extensions[kCMTextFormatDescriptionExtension_VerticalJustification] = NSNumber(
      value: Int8(bitPattern: try reader.uint8()))
    extensions[kCMTextFormatDescriptionExtension_BackgroundColor] = try color()
    let box = NSMutableDictionary()
    for key in sides { box[key] = NSNumber(value: Int16(truncatingIfNeeded: try reader.uint16())) }
    extensions[kCMTextFormatDescriptionExtension_DefaultTextBox] = box
    let style = NSMutableDictionary()
    style[kCMTextFormatDescriptionStyle_StartChar] = NSNumber(value: Int(try reader.uint16()))
    style[kCMTextFormatDescriptionStyle_EndChar] = NSNumber(value: Int(try reader.uint16()))
    style[kCMTextFormatDescriptionStyle_Font] = NSNumber(value: Int(try reader.uint16()))
    style[kCMTextFormatDescriptionStyle_FontFace] = NSNumber(value: try reader.uint8())
    style[kCMTextFormatDescriptionStyle_FontSize] = NSNumber(value: try reader.uint8())
    style[kCMTextFormatDescriptionStyle_ForegroundColor] = try color()
    extensions[kCMTextFormatDescriptionExtension_DefaultStyle] = style
    for atom in try SampleDescriptionFormat.atoms(Data(try reader.bytes(reader.remaining)))
    where atom.type == fontTable {
      var reader = ByteReader(atom.content)
      let names = NSMutableDictionary()
      for _ in 0..<(try reader.uint16()) {
        let number = Int(try reader.uint16())
        let name = String(decoding: try reader.bytes(Int(try reader.uint8())), as: UTF8.self)
        names["\(number)" as NSString] = name as NSString
      }
      extensions[kCMTextFormatDescriptionExtension_FontTable] = names
    }
    return CMFormatDescription(mediaType: mediaType, mediaSubType: type, extensions: extensions)
  }

  static func write(_ description: CMFormatDescription) throws -> Data {
    guard description.mediaSubTypeCode == kCMTextFormatType_3GText else { throw SyntaxError.invalid }
    func dictionary(_ key: CFString) -> NSDictionary? { description.extensionValue(key) as? NSDictionary }
    func number(_ key: CFString, _ dictionary: NSDictionary?) -> Int {
      (dictionary?[key] as? NSNumber)?.intValue ?? 0
    }
    func top(_ key: CFString) -> Int { (description.extensionValue(key) as? NSNumber)?.intValue ?? 0 }
    var content = Data()
    func add(color: NSDictionary?, unknown: Int) {
      for key in colors { content.append(UInt8(clamping: color == nil ? unknown : number(key, color))) }
    }
    content.append(
      bigEndian: UInt32(truncatingIfNeeded: top(kCMTextFormatDescriptionExtension_DisplayFlags)))
    content.append(
      bigEndian: Int8(clamping: top(kCMTextFormatDescriptionExtension_HorizontalJustification)))
    content.append(bigEndian: Int8(clamping: top(kCMTextFormatDescriptionExtension_VerticalJustification)))
    add(color: dictionary(kCMTextFormatDescriptionExtension_BackgroundColor), unknown: 0)
    let box = dictionary(kCMTextFormatDescriptionExtension_DefaultTextBox)
    for key in sides { content.append(bigEndian: Int16(clamping: number(key, box))) }
    let style = dictionary(kCMTextFormatDescriptionExtension_DefaultStyle)
    for key in [
      kCMTextFormatDescriptionStyle_StartChar, kCMTextFormatDescriptionStyle_EndChar,
      kCMTextFormatDescriptionStyle_Font,
    ] {
      content.append(bigEndian: UInt16(clamping: number(key, style)))
    }
    content.append(UInt8(clamping: number(kCMTextFormatDescriptionStyle_FontFace, style)))
    content.append(UInt8(clamping: number(kCMTextFormatDescriptionStyle_FontSize, style)))
    add(color: style?[kCMTextFormatDescriptionStyle_ForegroundColor] as? NSDictionary, unknown: 255)
    if let names = dictionary(kCMTextFormatDescriptionExtension_FontTable) as? [String: String] {
      var table = Data()
      let fonts = names.compactMap { number, name in UInt16(number).map { ($0, name) } }
      table.append(bigEndian: UInt16(clamping: fonts.count))
      for (number, name) in fonts.sorted(by: { $0.0 < $1.0 }).prefix(Int(UInt16.max)) {
        let bytes = Data(name.utf8.prefix(255))
        table.append(bigEndian: number)
        table.append(UInt8(bytes.count))
        table.append(bytes)
      }
      content.append(SampleDescriptionFormat.atom(fontTable, table))
    }
    return SampleDescriptionFormat.entry(kCMTextFormatType_3GText, content)
  }
}

/// Reads the sample description of a 3GPP text track of a movie.
///
/// - Parameters:
///   - allocator: Not used.
///   - textDescriptionData: The sample description.
///   - size: Its size in bytes.
///   - flavor: Nil; no other flavor is supported.
///   - mediaType: `kCMMediaType_Text` or `kCMMediaType_Subtitle`, which share the format.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it is
///   malformed, or is one of QuickTime text.
@discardableResult
public func CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData(
  allocator: CFAllocator?, bigEndianTextDescriptionData textDescriptionData: UnsafePointer<UInt8>,
  size: Int, flavor: CMTextDescriptionFlavor?, mediaType: CMMediaType,
  formatDescriptionOut: UnsafeMutablePointer<CMTextFormatDescription?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  guard [kCMMediaType_Text, kCMMediaType_Subtitle].contains(mediaType) else {
    return kCMFormatDescriptionBridgeError_InvalidParameter
  }
  return SampleDescriptionFormat.read(
    size >= 0 ? Data(bytes: textDescriptionData, count: size) : nil, formatDescriptionOut
  ) { try TextDescription.read($0, mediaType) }
}

/// Reads the sample description of a 3GPP text track of a movie; see
/// `CMTextFormatDescriptionCreateFromBigEndianTextDescriptionData`.
@discardableResult
public func CMTextFormatDescriptionCreateFromBigEndianTextDescriptionBlockBuffer(
  allocator: CFAllocator?, bigEndianTextDescriptionBlockBuffer textDescription: CMBlockBuffer,
  flavor: CMTextDescriptionFlavor?, mediaType: CMMediaType,
  formatDescriptionOut: UnsafeMutablePointer<CMTextFormatDescription?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  guard [kCMMediaType_Text, kCMMediaType_Subtitle].contains(mediaType) else {
    return kCMFormatDescriptionBridgeError_InvalidParameter
  }
  return SampleDescriptionFormat.read(try? textDescription.dataBytes(), formatDescriptionOut) {
    try TextDescription.read($0, mediaType)
  }
}

/// Writes a description of 3GPP text as the sample description of a track of a movie.
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is of another
///   media type or format.
@discardableResult
public func CMTextFormatDescriptionCopyAsBigEndianTextDescriptionBlockBuffer(
  allocator: CFAllocator?, textFormatDescription: CMTextFormatDescription, flavor: CMTextDescriptionFlavor?,
  blockBufferOut textDescriptionBlockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  return SampleDescriptionFormat.write(
    textFormatDescription, of: [kCMMediaType_Text, kCMMediaType_Subtitle], textDescriptionBlockBufferOut,
    TextDescription.write)
}
