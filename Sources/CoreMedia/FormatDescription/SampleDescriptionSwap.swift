// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Converts the byte order of sample descriptions in place.
enum SampleDescriptionSwap {
  /// The offset and the size of a field, in bytes.
  typealias Field = (offset: Int, size: Int)

  /// Returns the fields of an image description before its atoms, and their size.
  static func imageFields(_ version: Int) -> (fields: [Field], size: Int) {
    (
      [
        (0, 4), (4, 4), (8, 4), (12, 2), (14, 2), (16, 2), (18, 2), (20, 4), (24, 4), (28, 4), (32, 2),
        (34, 2),
        (36, 4), (40, 4), (44, 4), (48, 2), (82, 2), (84, 2),
      ], 86
    )
  }

  /// Returns the fields of a sound description before its atoms, and their size, which depend on
  /// its version.
  static func soundFields(_ version: Int) -> (fields: [Field], size: Int) {
    let common: [Field] = [
      (0, 4), (4, 4), (8, 4), (12, 2), (14, 2), (16, 2), (18, 2), (20, 4), (24, 2), (26, 2), (28, 2), (30, 2),
      (32, 4),
    ]
    switch version {
    case 1: return (common + [(36, 4), (40, 4), (44, 4), (48, 4)], 52)
    case 2: return (common + [(36, 4), (40, 8), (48, 4), (52, 4), (56, 4), (60, 4), (64, 4), (68, 4)], 72)
    default: return (common, 36)
    }
  }

  static func swap(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, toHost: Bool,
    fields: (Int) -> (fields: [Field], size: Int)
  ) -> OSStatus {
    let bytes = UnsafeMutableBufferPointer(start: data, count: max(size, 0))
    func value(_ field: Field, isBig: Bool) -> Int {
      let part = bytes[field.offset..<field.offset + field.size]
      return isBig
        ? part.reduce(0) { $0 << 8 | Int($1) } : part.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    // On a big-endian machine no bytes are reversed, but the description is checked all the same.
    let hostIsBig = 1.bigEndian == 1
    let isBig = toHost || hostIsBig
    func turn(_ field: Field) {
      if !hostIsBig { bytes[field.offset..<field.offset + field.size].reverse() }
    }
    guard size >= 18 else { return kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription }
    let layout = fields(value((16, 2), isBig: isBig))
    let total = value((0, 4), isBig: isBig)
    guard total >= layout.size, total <= size else {
      return kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription
    }
    var atoms: [Int] = []
    var position = layout.size
    while total - position >= 8 {
      let length = value((position, 4), isBig: isBig)
      if length == 0 { break }
      guard length >= 8, length <= total - position else {
        return kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription
      }
      atoms.append(position)
      position += length
    }
    for field in layout.fields { turn(field) }
    for atom in atoms {
      turn((atom, 4))
      turn((atom + 4, 4))
    }
    return noErr
  }
}

/// The flavor of a sound sample description.
public struct CMSoundDescriptionFlavor: RawRepresentable, Hashable, @unchecked Sendable {
  // Sendable: immutable; a CFString is.
  public let rawValue: CFString
  public init(rawValue: CFString) { self.rawValue = rawValue }
  public init(_ rawValue: CFString) { self.rawValue = rawValue }

  /// QuickTime movies; the default.
  public static let quickTimeMovie = CMSoundDescriptionFlavor("QuickTimeMovie" as CFString)
  /// QuickTime movies, with version 2 of the description.
  public static let quickTimeMovieV2 = CMSoundDescriptionFlavor("QuickTimeMovieV2" as CFString)
  /// Files of the ISO family, such as MP4.
  public static let isoFamily = CMSoundDescriptionFlavor("ISOFamily" as CFString)
  /// 3GPP files.
  public static let mobile3GPFamily = CMSoundDescriptionFlavor("3GPFamily" as CFString)
}

/// Returns whether the sample tables of a track with this sound description count uncompressed
/// frames although the audio may be compressed. This is so in QuickTime movies if the version of
/// the description is below 2 and its compression identifier is not -2.
@discardableResult
public func CMDoesBigEndianSoundDescriptionRequireLegacyCBRSampleTableLayout(
  _ soundDescriptionBlockBuffer: CMBlockBuffer, flavor: CMSoundDescriptionFlavor?
) -> Bool {
  guard flavor == nil || flavor == .quickTimeMovie || flavor == .quickTimeMovieV2,
    let data = try? soundDescriptionBlockBuffer.dataBytes(), data.count >= 36
  else { return false }
  let version = Int(data[16]) << 8 | Int(data[17])
  let compression = Int16(bitPattern: UInt16(data[28]) << 8 | UInt16(data[29]))
  return version < 2 && compression != -2
}

/// Converts the fields of a sound description, and the sizes and types of its atoms, from
/// big-endian to host byte order, in place. The content of the atoms is not changed.
/// - Returns: `kCMFormatDescriptionBridgeError_InvalidSerializedSampleDescription` if it is
///   malformed; nothing is then changed.
@discardableResult
public func CMSwapBigEndianSoundDescriptionToHost(
  _ soundDescriptionData: UnsafeMutablePointer<UInt8>, _ size: Int
)
  -> OSStatus
{
  SampleDescriptionSwap.swap(
    soundDescriptionData, size, toHost: true, fields: SampleDescriptionSwap.soundFields)
}

/// The reverse of `CMSwapBigEndianSoundDescriptionToHost`: converts from host byte order to
/// big-endian.
@discardableResult
public func CMSwapHostEndianSoundDescriptionToBig(
  _ soundDescriptionData: UnsafeMutablePointer<UInt8>, _ size: Int
)
  -> OSStatus
{
  SampleDescriptionSwap.swap(
    soundDescriptionData, size, toHost: false, fields: SampleDescriptionSwap.soundFields)
}
