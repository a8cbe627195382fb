// SPDX-License-Identifier: Apache-2.0
import CoreFoundation
import VideoBitstream

// An identifier of metadata consists of a key space, a slash and a key. Bytes of the key that are
// not allowed in the path of a URL are percent-encoded.

public var kCMMetadataIdentifierError_AllocationFailed: OSStatus { -16300 }
/// A required parameter is missing or empty.
public var kCMMetadataIdentifierError_RequiredParameterMissing: OSStatus { -16301 }
/// The key is invalid.
public var kCMMetadataIdentifierError_BadKey: OSStatus { -16302 }
/// The key is empty.
public var kCMMetadataIdentifierError_BadKeyLength: OSStatus { -16303 }
/// The key is not a string, a number or data.
public var kCMMetadataIdentifierError_BadKeyType: OSStatus { -16304 }
/// The number is negative, or does not fit into 32 bits.
public var kCMMetadataIdentifierError_BadNumberKey: OSStatus { -16305 }
/// The key space is empty, or contains a slash.
public var kCMMetadataIdentifierError_BadKeySpace: OSStatus { -16306 }
/// The identifier has no slash or no key space, or its percent-encoding is malformed.
public var kCMMetadataIdentifierError_BadIdentifier: OSStatus { -16307 }
/// The key of the identifier is empty.
public var kCMMetadataIdentifierError_NoKeyValueAvailable: OSStatus { -16308 }

/// Metadata in QuickTime user data atoms.
nonisolated(unsafe) public let kCMMetadataKeySpace_QuickTimeUserData: CFString = "udta"
/// Metadata in user data boxes of ISO files.
nonisolated(unsafe) public let kCMMetadataKeySpace_ISOUserData: CFString = "uiso"
/// QuickTime metadata, with reverse-DNS keys.
nonisolated(unsafe) public let kCMMetadataKeySpace_QuickTimeMetadata: CFString = "mdta"
nonisolated(unsafe) public let kCMMetadataKeySpace_iTunes: CFString = "itsk"
nonisolated(unsafe) public let kCMMetadataKeySpace_ID3: CFString = "org.id3"
nonisolated(unsafe) public let kCMMetadataKeySpace_Icy: CFString = "icy"

nonisolated(unsafe) public let kCMMetadataIdentifier_QuickTimeMetadataLocation_ISO6709: CFString =
  "mdta/com.apple.quicktime.location.ISO6709"
nonisolated(unsafe) public let kCMMetadataIdentifier_QuickTimeMetadataDirection_Facing: CFString =
  "mdta/com.apple.quicktime.direction.facing"
nonisolated(unsafe) public let kCMMetadataIdentifier_QuickTimeMetadataPreferredAffineTransform: CFString =
  "mdta/com.apple.quicktime.preferred-affine-transform"
nonisolated(unsafe) public let kCMMetadataIdentifier_QuickTimeMetadataVideoOrientation: CFString =
  "mdta/com.apple.quicktime.video-orientation"
nonisolated(unsafe) public let kCMMetadataIdentifier_QuickTimeMetadataLivePhotoStillImageTransform: CFString =
  "mdta/com.apple.quicktime.live-photo-still-image-transform"

/// Conversions of identifiers and their keys.
enum MetadataIdentifier {
  private static let plain = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@".utf8)

  static func escape(_ bytes: Data) -> String {
    bytes.reduce(into: "") { text, byte in
      if plain.contains(byte) {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
  }

  /// Returns the bytes of a percent-encoded key; nil if the encoding is malformed.
  static func unescape(_ text: Substring) -> Data? {
    var data = Data()
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        data.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
      data.append(value)
      rest = rest.dropFirst(2)
    }
    return data
  }

  /// Parses an identifier into its key space and the bytes of its key; nil if it is invalid.
  static func parts(_ identifier: String) -> (space: String, key: Data)? {
    guard let slash = identifier.firstIndex(of: "/") else { return nil }
    guard slash != identifier.startIndex,
      let key = unescape(identifier[identifier.index(after: slash)...])
    else { return nil }
    return (String(identifier[..<slash]), key)
  }
}

/// Creates an identifier from a key space and a key.
///
/// - Parameters:
///   - allocator: Not used.
///   - key: A string, data, or an `NSNumber` with a four-character code.
///   - keySpace: The key space.
///   - identifierOut: Receives the identifier.
/// - Returns: `kCMMetadataIdentifierError_*`.
@discardableResult
public func CMMetadataCreateIdentifierForKeyAndKeySpace(
  allocator: CFAllocator?, key: CFTypeRef, keySpace: CFString,
  identifierOut: UnsafeMutablePointer<CFString?>
) -> OSStatus {
  identifierOut.pointee = nil
  let space = keySpace as String
  guard !space.isEmpty, !space.contains("/") else { return kCMMetadataIdentifierError_BadKeySpace }
  var bytes: Data
  if let number = key as? NSNumber {
    guard let code = UInt32(exactly: number) else { return kCMMetadataIdentifierError_BadNumberKey }
    bytes = Data()
    bytes.append(bigEndian: code)
  } else if let text = key as? String {
    bytes = Data(text.utf8)
  } else if let data = key as? Data {
    bytes = data
  } else {
    return kCMMetadataIdentifierError_BadKeyType
  }
  guard !bytes.isEmpty else { return kCMMetadataIdentifierError_BadKeyLength }
  identifierOut.pointee = (space + "/" + MetadataIdentifier.escape(bytes)) as CFString
  return noErr
}

/// Gets the key of an identifier: a string, or data if it is not valid UTF-8.
@discardableResult
public func CMMetadataCreateKeyFromIdentifier(
  allocator: CFAllocator?, identifier: CFString, keyOut: UnsafeMutablePointer<CFTypeRef?>
) -> OSStatus {
  var data: CFData?
  let status = CMMetadataCreateKeyFromIdentifierAsCFData(
    allocator: allocator, identifier: identifier, keyOut: &data)
  keyOut.pointee = data.map { data in
    String(data: Data(referencing: data), encoding: .utf8).map { $0 as CFString } ?? data
  }
  return status
}

/// Gets the bytes of the key of an identifier.
@discardableResult
public func CMMetadataCreateKeyFromIdentifierAsCFData(
  allocator: CFAllocator?, identifier: CFString, keyOut: UnsafeMutablePointer<CFData?>
) -> OSStatus {
  keyOut.pointee = nil
  guard let parts = MetadataIdentifier.parts(identifier as String) else {
    return kCMMetadataIdentifierError_BadIdentifier
  }
  guard !parts.key.isEmpty else { return kCMMetadataIdentifierError_NoKeyValueAvailable }
  keyOut.pointee = parts.key as NSData
  return noErr
}

/// Gets the key space of an identifier.
@discardableResult
public func CMMetadataCreateKeySpaceFromIdentifier(
  allocator: CFAllocator?, identifier: CFString, keySpaceOut: UnsafeMutablePointer<CFString?>
) -> OSStatus {
  keySpaceOut.pointee = nil
  guard let parts = MetadataIdentifier.parts(identifier as String) else {
    return kCMMetadataIdentifierError_BadIdentifier
  }
  keySpaceOut.pointee = parts.space as CFString
  return noErr
}
