// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

extension CMFormatDescription {
  /// The errors that format descriptions throw, in `NSOSStatusErrorDomain`.
  public struct Error: Sendable {
    public static let invalidParameter = osStatusError(kCMFormatDescriptionError_InvalidParameter)
    public static let allocationFailed = osStatusError(kCMFormatDescriptionError_AllocationFailed)
    public static let valueNotAvailable = osStatusError(kCMFormatDescriptionError_ValueNotAvailable)
  }

  /// Creates a description of any media.
  public convenience init(mediaType: MediaType, mediaSubType: MediaSubType, extensions: Extensions? = nil)
    throws
  {
    self.init(
      mediaType: mediaType.rawValue, mediaSubType: mediaSubType.rawValue, extensions: extensions?.dictionary)
  }

  /// The type identifier of format descriptions.
  public static var typeID: CFTypeID { cfTypeID }

  /// Returns whether another description is equal apart from some extensions and sample description
  /// atoms.
  public func equalTo(
    _ otherFormatDescription: CMFormatDescription, extensionKeysToIgnore: [Extensions.Key] = [],
    sampleDescriptionExtensionAtomKeysToIgnore: [String] = []
  ) -> Bool {
    isEqual(
      to: otherFormatDescription,
      ignoringExtensions: Set(extensionKeysToIgnore.map { $0.rawValue as String }),
      ignoringAtoms: Set(sampleDescriptionExtensionAtomKeysToIgnore))
  }

  /// The media type.
  public var mediaType: MediaType { MediaType(rawValue: mediaTypeCode) }

  /// The codec, or the pixel format of uncompressed video.
  public var mediaSubType: MediaSubType { MediaSubType(rawValue: mediaSubTypeCode) }

  /// The extensions by key.
  public var extensions: Extensions { Extensions(dictionary: extensionDictionary) }
}
