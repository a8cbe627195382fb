// SPDX-License-Identifier: Apache-2.0
import CoreVideo

/// Describes the format of samples: the media type, the codec, and what is needed to decode and
/// present them.
///
/// A format description is immutable.
public final class CMFormatDescription: NSObject, @unchecked Sendable {
  // Sendable: immutable property-list values.
  let mediaTypeCode: CMMediaType
  let mediaSubTypeCode: FourCharCode
  /// The dimensions of video in pixels; zero for other media.
  let videoDimensions: CMVideoDimensions
  /// Property list values by key; nil if there are none.
  let extensionDictionary: CFDictionary?
  /// Parameter sets of `avcC` or `hvcC`; nil if there are none.
  let configuration: DecoderConfiguration?
  let audio: AudioFormat?
  /// The properties of time codes and counters; nil for other media.
  let timeCode: TimeCodeFormat?
  /// The extensions that image buffers are compared with, for video.
  let imageExtensions: ImageExtensions

  /// The bytes of all parameter sets, at an address that is valid as long as the description.
  private let parameterSetBytes: UnsafeMutablePointer<UInt8>?
  private let parameterSetRanges: [Range<Int>]

  init(
    mediaType: CMMediaType, mediaSubType: FourCharCode,
    dimensions: CMVideoDimensions = CMVideoDimensions(width: 0, height: 0), extensions: CFDictionary?,
    configuration: DecoderConfiguration? = nil, audio: AudioFormat? = nil, timeCode: TimeCodeFormat? = nil
  ) {
    mediaTypeCode = mediaType
    mediaSubTypeCode = mediaSubType
    videoDimensions = dimensions
    // The dictionary is copied, since the caller may change a mutable one.
    extensionDictionary = extensions.flatMap { $0.count == 0 ? nil : $0.copy() as? CFDictionary }
    self.audio = audio
    self.timeCode = timeCode
    imageExtensions = ImageExtensions(mediaType == kCMMediaType_Video ? extensionDictionary : nil)
    self.configuration =
      configuration ?? (mediaType == kCMMediaType_Video ? Self.configuration(in: extensionDictionary) : nil)
    (parameterSetBytes, parameterSetRanges) = Self.store(self.configuration?.parameterSets ?? [])
  }

  deinit { parameterSetBytes?.deallocate() }

  private static func store(_ sets: [Data]) -> (UnsafeMutablePointer<UInt8>?, [Range<Int>]) {
    let size = sets.reduce(0) { $0 + $1.count }
    guard size > 0 else { return (nil, []) }
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
    var ranges: [Range<Int>] = []
    var offset = 0
    for set in sets {
      set.copyBytes(to: bytes + offset, count: set.count)
      ranges.append(offset..<offset + set.count)
      offset += set.count
    }
    return (bytes, ranges)
  }

  /// The configuration in the sample description atoms; nil if there is none or it is malformed.
  private static func configuration(in extensions: CFDictionary?) -> DecoderConfiguration? {
    guard
      let atoms = extensions?.object(forKey: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
        as? NSDictionary
    else { return nil }
    func atom(_ name: String) -> Data? {
      let value = atoms.object(forKey: name as NSString)
      return value as? Data ?? (value as? [Data])?.first
    }
    if let record = atom("avcC") { return try? DecoderConfiguration(avcC: record) }
    if let record = atom("hvcC") { return try? DecoderConfiguration(hvcC: record) }
    return nil
  }

  /// Returns the bytes of a parameter set, which are valid as long as the description; nil if there
  /// is no such set.
  func parameterSet(at index: Int) -> UnsafeBufferPointer<UInt8>? {
    guard let parameterSetBytes, parameterSetRanges.indices.contains(index) else { return nil }
    let range = parameterSetRanges[index]
    return UnsafeBufferPointer(start: parameterSetBytes + range.lowerBound, count: range.count)
  }

  func extensionValue(_ key: CFString) -> Any? { extensionDictionary?.object(forKey: key) }

  // MARK: - Equality

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CMFormatDescription else { return false }
    return isEqual(to: other, ignoringExtensions: [], ignoringAtoms: [])
  }

  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(mediaTypeCode)
    hasher.combine(mediaSubTypeCode)
    hasher.combine(videoDimensions.width)
    hasher.combine(videoDimensions.height)
    return hasher.finalize()
  }

  func isEqual(
    to other: CMFormatDescription, ignoringExtensions: Set<String>, ignoringAtoms: Set<String>
  ) -> Bool {
    if self === other { return true }
    guard mediaTypeCode == other.mediaTypeCode, mediaSubTypeCode == other.mediaSubTypeCode,
      videoDimensions.width == other.videoDimensions.width,
      videoDimensions.height == other.videoDimensions.height, audio == other.audio,
      timeCode == other.timeCode
    else { return false }
    func relevant(_ extensions: CFDictionary?) -> NSDictionary {
      guard let extensions else { return [:] }
      if ignoringExtensions.isEmpty && ignoringAtoms.isEmpty { return extensions }
      let result = NSMutableDictionary()
      let atomsKey = kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms as String
      extensions.enumerateKeysAndObjects { key, value, _ in
        guard let key = key as? String, !ignoringExtensions.contains(key) else { return }
        if key == atomsKey, let atoms = value as? [String: Any] {
          result[key as NSString] = atoms.filter { !ignoringAtoms.contains($0.key) } as NSDictionary
        } else {
          result[key as NSString] = value
        }
      }
      return result
    }
    return relevant(extensionDictionary).isEqual(relevant(other.extensionDictionary))
  }

  public override var description: String {
    let kind = "CMFormatDescription \(fourCharacters(mediaTypeCode)) \(fourCharacters(mediaSubTypeCode))"
    switch mediaTypeCode {
    case kCMMediaType_Video: return kind + " \(videoDimensions.width) x \(videoDimensions.height)"
    case kCMMediaType_Audio:
      guard let basic = audio?.basic else { return kind }
      return kind + " \(basic.mSampleRate) Hz, \(basic.mChannelsPerFrame) channels"
    default: return kind
    }
  }
}

extension CMFormatDescription: CFRuntimeObject {
  package static let cfTypeID: CFTypeID = CFRuntimeRegister("CMFormatDescription")
  package func cfIsEqual(to other: AnyObject) -> Bool { isEqual(other) }
  package var cfHash: CFHashCode { CFHashCode(bitPattern: hash) }
  package var cfDescription: String { description }
}

/// Returns a code as text, or as a number if it is not four printable characters.
func fourCharacters(_ code: FourCharCode) -> String {
  let bytes = Swift.withUnsafeBytes(of: code.bigEndian) { Array($0) }
  guard bytes.allSatisfy({ $0 >= 32 && $0 < 127 }) else { return "\(code)" }
  return String(decoding: bytes, as: UTF8.self)
}

/// A description of video.
public typealias CMVideoFormatDescription = CMFormatDescription
/// An audio format description.
public typealias CMAudioFormatDescription = CMFormatDescription

/// A width and a height in pixels.
public struct CMVideoDimensions: Sendable {
  public var width: Int32
  public var height: Int32

  public init() {
    width = 0
    height = 0
  }

  public init(width: Int32, height: Int32) {
    self.width = width
    self.height = height
  }
}
