// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

/// The flavor of a video sample description.
public struct CMImageDescriptionFlavor: RawRepresentable, Hashable, @unchecked Sendable {
  // Sendable: immutable; a CFString is.
  public let rawValue: CFString
  public init(rawValue: CFString) { self.rawValue = rawValue }
  public init(_ rawValue: CFString) { self.rawValue = rawValue }

  /// QuickTime movies; the default.
  public static let quickTimeMovie = CMImageDescriptionFlavor("QuickTimeMovie" as CFString)
  /// Files of the ISO family, such as MP4.
  public static let isoFamily = CMImageDescriptionFlavor("ISOFamily" as CFString)
  /// 3GPP files.
  public static let mobile3GPFamily = CMImageDescriptionFlavor("3GPFamily" as CFString)

  static let known: [CMImageDescriptionFlavor] = [.quickTimeMovie, .isoFamily, .mobile3GPFamily]
}

/// Parses and writes the video sample description of movies (`ImageDescription` or
/// `VisualSampleEntry`).
private enum ImageDescription {
  /// The size in bytes of the fields before the atoms.
  static let size = 86

  /// The pixel formats of the codec 'raw ' by depth.
  static let rawDepths: [Int: FourCharCode] = [
    16: kCMPixelFormat_16BE555, 24: kCMPixelFormat_24RGB, 32: kCMPixelFormat_32ARGB,
    40: kCMPixelFormat_8IndexedGray_WhiteIsZero,
  ]
  static let raw = fourCharCode("raw ")

  // MARK: - Read

  static func read(_ data: Data, encoding: CFStringEncoding, isQuickTime: Bool) throws -> CMFormatDescription
  {
    var reader = ByteReader(data)
    let total = Int(try reader.uint32())
    guard total >= size, total <= data.count else { throw SyntaxError.invalid }
    let verbatim = Data(data.prefix(total))
    var codec = try reader.uint32()
    _ = try reader.bytes(8)
    let version = Int(try reader.uint16())
    let revision = Int(try reader.uint16())
    let vendor = try reader.uint32()
    let temporalQuality = Int(try reader.uint32())
    let spatialQuality = Int(try reader.uint32())
    let width = Int(try reader.uint16())
    let height = Int(try reader.uint16())
    _ = try reader.bytes(14)
    let name = try reader.bytes(32)
    let depth = Int(try reader.uint16())
    _ = try reader.uint16()

    let extensions = NSMutableDictionary()
    try SampleDescriptionAtoms.read(Data(verbatim.dropFirst(size)), into: extensions)
    let text = name.dropFirst().prefix(min(31, Int(name.first ?? 0)))
    if !text.isEmpty, let string = CFStringCreateWithBytes(nil, [UInt8](text), text.count, encoding, false) {
      extensions[kCMFormatDescriptionExtension_FormatName] = string
    }
    if depth != 0 { extensions[kCMFormatDescriptionExtension_Depth] = NSNumber(value: depth) }
    if isQuickTime {
      extensions[kCMFormatDescriptionExtension_Version] = NSNumber(value: version)
      extensions[kCMFormatDescriptionExtension_RevisionLevel] = NSNumber(value: revision)
      extensions[kCMFormatDescriptionExtension_TemporalQuality] = NSNumber(value: temporalQuality)
      extensions[kCMFormatDescriptionExtension_SpatialQuality] = NSNumber(value: spatialQuality)
      if vendor != 0 { extensions[kCMFormatDescriptionExtension_Vendor] = fourCharacters(vendor) as CFString }
      extensions[kCMFormatDescriptionExtension_VerbatimSampleDescription] = verbatim as NSData
    } else {
      extensions[kCMFormatDescriptionExtension_VerbatimISOSampleEntry] = verbatim as NSData
    }
    if codec == raw, let format = rawDepths[depth] { codec = format }
    return CMFormatDescription(
      mediaType: kCMMediaType_Video, mediaSubType: codec,
      dimensions: CMVideoDimensions(width: Int32(width), height: Int32(height)), extensions: extensions)
  }

  // MARK: - Write

  static func write(_ description: CMFormatDescription, encoding: CFStringEncoding, isQuickTime: Bool) throws
    -> Data
  {
    let key =
      isQuickTime
      ? kCMFormatDescriptionExtension_VerbatimSampleDescription
      : kCMFormatDescriptionExtension_VerbatimISOSampleEntry
    // A description that was read from a movie is written byte for byte.
    if let verbatim = description.extensionValue(key) as? Data, verbatim.count >= size { return verbatim }
    guard let width = Int16(exactly: description.videoDimensions.width),
      let height = Int16(exactly: description.videoDimensions.height)
    else { throw SyntaxError.invalid }
    func number(_ key: CFString) -> Int? { (description.extensionValue(key) as? NSNumber)?.intValue }
    var codec = description.mediaSubTypeCode
    var depth = number(kCMFormatDescriptionExtension_Depth) ?? 24
    if let old = rawDepths.first(where: { $0.value == codec }) { (codec, depth) = (raw, old.key) }
    let atoms = SampleDescriptionAtoms.write(description, isQuickTime: isQuickTime)
    guard let total = UInt32(exactly: size + atoms.count) else { throw SyntaxError.invalid }
    var data = Data(capacity: size + atoms.count)
    data.append(bigEndian: total)
    data.append(bigEndian: codec)
    data.append(Data(count: 6))
    data.append(bigEndian: UInt16(1))  // data reference index
    data.append(
      bigEndian: UInt16(
        truncatingIfNeeded: isQuickTime ? number(kCMFormatDescriptionExtension_Version) ?? 0 : 0))
    data.append(
      bigEndian: UInt16(
        truncatingIfNeeded: isQuickTime ? number(kCMFormatDescriptionExtension_RevisionLevel) ?? 0 : 0))
    let vendor = description.extensionValue(kCMFormatDescriptionExtension_Vendor) as? String
    data.append(bigEndian: isQuickTime ? vendor.map(fourCharCode) ?? 0 : 0)
    data.append(
      bigEndian: UInt32(
        clamping: isQuickTime ? number(kCMFormatDescriptionExtension_TemporalQuality) ?? 0x200 : 0))
    data.append(
      bigEndian: UInt32(
        clamping: isQuickTime ? number(kCMFormatDescriptionExtension_SpatialQuality) ?? 0x200 : 0))
    data.append(bigEndian: width)
    data.append(bigEndian: height)
    data.append(bigEndian: UInt32(72 << 16))
    data.append(bigEndian: UInt32(72 << 16))
    data.append(bigEndian: UInt32(0))
    data.append(bigEndian: UInt16(1))  // frames per sample
    data.append(name(description, encoding: encoding))
    data.append(bigEndian: UInt16(truncatingIfNeeded: depth))
    data.append(bigEndian: UInt16.max)  // no colour table
    data.append(atoms)
    return data
  }

  /// The name of the format as a Pascal string of 32 bytes.
  private static func name(_ description: CMFormatDescription, encoding: CFStringEncoding) -> Data {
    var data = Data(count: 32)
    guard let name = description.extensionValue(kCMFormatDescriptionExtension_FormatName) as? String else {
      return data
    }
    var text = [CChar](repeating: 0, count: 512)
    var string = String(name.prefix(31))
    // The name is shortened by whole characters until it fits.
    while !CFStringGetCString(string as CFString, &text, text.count, encoding) || strlen(text) > 31 {
      if string.isEmpty { return data }
      string.removeLast()
    }
    let count = strlen(text)
    data[0] = UInt8(count)
    for index in 0..<count { data[index + 1] = UInt8(bitPattern: text[index]) }
    return data
  }
}

// MARK: - Functions

/// Reads the sample description of a video track of a movie.
///
/// The atoms for aspect ratio, colour and fields become extensions. All others, including `avcC`
/// and `hvcC` with their parameter sets, are kept as
/// `kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms`.
///
/// - Parameters:
///   - allocator: Not used.
///   - imageDescriptionData: The sample description.
///   - size: Its size in bytes.
///   - stringEncoding: The encoding of the codec's name.
///   - flavor: The flavor; nil for a QuickTime movie.
///   - formatDescriptionOut: Receives the description.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it is
///   malformed, `kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor` if the flavor
///   is not known.
@discardableResult
public func CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData(
  allocator: CFAllocator?, bigEndianImageDescriptionData imageDescriptionData: UnsafePointer<UInt8>,
  size: Int,
  stringEncoding: CFStringEncoding, flavor: CMImageDescriptionFlavor?,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard size >= 0 else { return kCMFormatDescriptionBridgeError_InvalidParameter }
  let data = Data(bytes: imageDescriptionData, count: size)
  return read(data, stringEncoding, flavor, formatDescriptionOut)
}

/// Reads the sample description of a video track of a movie; see
/// `CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionData`.
@discardableResult
public func CMVideoFormatDescriptionCreateFromBigEndianImageDescriptionBlockBuffer(
  allocator: CFAllocator?, bigEndianImageDescriptionBlockBuffer imageDescriptionBlockBuffer: CMBlockBuffer,
  stringEncoding: CFStringEncoding, flavor: CMImageDescriptionFlavor?,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard let data = try? imageDescriptionBlockBuffer.dataBytes() else {
    return kCMFormatDescriptionBridgeError_InvalidParameter
  }
  return read(data, stringEncoding, flavor, formatDescriptionOut)
}

private func read(
  _ data: Data, _ encoding: CFStringEncoding, _ flavor: CMImageDescriptionFlavor?,
  _ output: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  let flavor = flavor ?? .quickTimeMovie
  guard CMImageDescriptionFlavor.known.contains(flavor) else {
    return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor
  }
  guard
    let description = try? ImageDescription.read(
      data, encoding: encoding, isQuickTime: flavor == .quickTimeMovie)
  else { return kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription }
  output.pointee = description
  return noErr
}

/// Writes a description of video as the sample description of a track of a movie.
///
/// A description that was read from a movie of the same flavor is written byte for byte.
///
/// - Returns: `kCMFormatDescriptionBridgeError_IncompatibleFormatDescription` if it is of another
///   media type, or its dimensions do not fit into 16 bits.
@discardableResult
public func CMVideoFormatDescriptionCopyAsBigEndianImageDescriptionBlockBuffer(
  allocator: CFAllocator?, videoFormatDescription: CMVideoFormatDescription, stringEncoding: CFStringEncoding,
  flavor: CMImageDescriptionFlavor?,
  blockBufferOut imageDescriptionBlockBufferOut: UnsafeMutablePointer<CMBlockBuffer?>
) -> OSStatus {
  imageDescriptionBlockBufferOut.pointee = nil
  let flavor = flavor ?? .quickTimeMovie
  guard CMImageDescriptionFlavor.known.contains(flavor) else {
    return kCMFormatDescriptionBridgeError_UnsupportedSampleDescriptionFlavor
  }
  guard videoFormatDescription.mediaTypeCode == kCMMediaType_Video,
    let data = try? ImageDescription.write(
      videoFormatDescription, encoding: stringEncoding, isQuickTime: flavor == .quickTimeMovie)
  else { return kCMFormatDescriptionBridgeError_IncompatibleFormatDescription }
  do {
    let buffer = try CMBlockBuffer(length: data.count, flags: .assureMemoryNow)
    try data.withUnsafeBytes { try buffer.replaceDataBytes(with: $0) }
    imageDescriptionBlockBufferOut.pointee = buffer
    return noErr
  } catch { return kCMFormatDescriptionBridgeError_AllocationFailed }
}

/// Converts the fields of an image description, and the sizes and types of its atoms, from
/// big-endian to host byte order, in place. The content of the atoms is not changed.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it is
///   malformed; nothing is then changed.
@discardableResult
public func CMSwapBigEndianImageDescriptionToHost(
  _ imageDescriptionData: UnsafeMutablePointer<UInt8>, _ size: Int
)
  -> OSStatus
{
  SampleDescriptionSwap.swap(
    imageDescriptionData, size, toHost: true, fields: SampleDescriptionSwap.imageFields)
}

/// The reverse of `CMSwapBigEndianImageDescriptionToHost`: converts from host byte order to
/// big-endian.
@discardableResult
public func CMSwapHostEndianImageDescriptionToBig(
  _ imageDescriptionData: UnsafeMutablePointer<UInt8>, _ size: Int
)
  -> OSStatus
{
  SampleDescriptionSwap.swap(
    imageDescriptionData, size, toHost: false, fields: SampleDescriptionSwap.imageFields)
}
