// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// The flavor of a time code sample description. Only that of QuickTime movies is supported, which
/// is nil.
public struct CMTimeCodeDescriptionFlavor: RawRepresentable, Hashable, @unchecked Sendable {
  // Sendable: immutable; a CFString is.
  public let rawValue: CFString
  public init(rawValue: CFString) { self.rawValue = rawValue }
  public init(_ rawValue: CFString) { self.rawValue = rawValue }
}

/// Parses and writes the sample description of a time code track (QuickTime File Format, "Timecode
/// Sample Description").
private enum TimeCodeDescription {
  static let name = fourCharCode("name")

  static func read(_ data: Data) throws -> CMFormatDescription {
    let (type, content) = try SampleDescriptionFormat.open(data)
    guard TimeCodeFormat.types.contains(type) else { throw SyntaxError.invalid }
    var reader = ByteReader(content)
    _ = try reader.uint32()
    let flags = try reader.uint32()
    let scale = Int(try reader.uint32())
    let duration = Int(try reader.uint32())
    let quanta = try reader.uint8()
    _ = try reader.uint8()
    guard let timescale = CMTimeScale(exactly: scale), timescale > 0, duration > 0 else {
      throw SyntaxError.invalid
    }
    var extensions: CFDictionary?
    for atom in try SampleDescriptionFormat.atoms(Data(try reader.bytes(reader.remaining)))
    where atom.type == name {
      var reader = ByteReader(atom.content)
      let length = Int(try reader.uint16())
      let language = Int(try reader.uint16())
      let text = Data(try reader.bytes(min(length, reader.remaining)))
      extensions =
        [
          kCMTimeCodeFormatDescriptionExtension_SourceReferenceName: [
            kCMTimeCodeFormatDescriptionKey_Value: String(decoding: text, as: UTF8.self) as CFString,
            kCMTimeCodeFormatDescriptionKey_LangCode: NSNumber(value: language),
          ] as NSDictionary
        ] as NSDictionary
    }
    return CMFormatDescription(
      mediaType: kCMMediaType_TimeCode, mediaSubType: type, extensions: extensions,
      timeCode: TimeCodeFormat(
        frameDuration: CMTime(value: CMTimeValue(duration), timescale: timescale),
        frameQuanta: UInt32(quanta), flags: flags))
  }

  static func write(_ description: CMFormatDescription) throws -> Data {
    guard let format = description.timeCode, TimeCodeFormat.types.contains(description.mediaSubTypeCode),
      let duration = UInt32(exactly: format.frameDuration.value),
      let quanta = UInt8(exactly: format.frameQuanta)
    else { throw SyntaxError.invalid }
    var content = Data()
    content.append(bigEndian: UInt32(0))
    content.append(bigEndian: format.flags)
    content.append(bigEndian: format.frameDuration.timescale)
    content.append(bigEndian: duration)
    content.append(quanta)
    content.append(0)
    let source =
      description.extensionValue(kCMTimeCodeFormatDescriptionExtension_SourceReferenceName) as? NSDictionary
    if let source, let text = source[kCMTimeCodeFormatDescriptionKey_Value] as? String {
      let language = (source[kCMTimeCodeFormatDescriptionKey_LangCode] as? NSNumber)?.uint16Value ?? 0
      let bytes = Data(text.utf8.prefix(Int(UInt16.max)))
      var atom = Data()
      atom.append(bigEndian: UInt16(bytes.count))
      atom.append(bigEndian: language)
      content.append(SampleDescriptionFormat.atom(name, atom + bytes))
    }
    return SampleDescriptionFormat.entry(description.mediaSubTypeCode, content)
  }
}

/// Reads the sample description of a time code track of a movie.
///
/// - Parameters:
///   - allocator: Not used.
///   - timeCodeDescriptionData: The sample description.
///   - size: Its size in bytes.
///   - flavor: Nil; no other flavor is supported.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it is
///   malformed.
@discardableResult
public func CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData(
  allocator: CFAllocator?, bigEndianTimeCodeDescriptionData timeCodeDescriptionData: UnsafePointer<UInt8>,
  size: Int, flavor: CMTimeCodeDescriptionFlavor?,
  formatDescriptionOut: UnsafeMutablePointer<CMTimeCodeFormatDescription?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  return SampleDescriptionFormat.read(
    size >= 0 ? Data(bytes: timeCodeDescriptionData, count: size) : nil, formatDescriptionOut,
    TimeCodeDescription.read)
}

/// Reads the sample description of a time code track of a movie; see
/// `CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionData`.
@discardableResult
public func CMTimeCodeFormatDescriptionCreateFromBigEndianTimeCodeDescriptionBlockBuffer(
  allocator: CFAllocator?, bigEndianTimeCodeDescriptionBlockBuffer timeCodeDescription: CMBlockBuffer,
  flavor: CMTimeCodeDescriptionFlavor?,
  formatDescriptionOut: UnsafeMutablePointer<CMTimeCodeFormatDescription?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  return SampleDescriptionFormat.read(
    try? timeCodeDescription.dataBytes(), formatDescriptionOut, TimeCodeDescription.read)
}

/// Writes a description of time codes as the sample description of a track of a movie.
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is of another
///   media type, or its frame duration or quanta do not fit into their fields.
@discardableResult
public func CMTimeCodeFormatDescriptionCopyAsBigEndianTimeCodeDescriptionBlockBuffer(
  allocator: CFAllocator?, timeCodeFormatDescription: CMTimeCodeFormatDescription,
  flavor: CMTimeCodeDescriptionFlavor?,
  blockBufferOut timeCodeDescriptionBlockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  guard flavor == nil else { return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor }
  return SampleDescriptionFormat.write(
    timeCodeFormatDescription, of: [kCMMediaType_TimeCode], timeCodeDescriptionBlockBufferOut,
    TimeCodeDescription.write)
}
