// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The parts of audio format descriptions that are compared.
public typealias CMAudioFormatDescriptionMask = UInt32
public let kCMAudioFormatDescriptionMask_StreamBasicDescription: CMAudioFormatDescriptionMask = 1 << 0
public let kCMAudioFormatDescriptionMask_MagicCookie: CMAudioFormatDescriptionMask = 1 << 1
public let kCMAudioFormatDescriptionMask_ChannelLayout: CMAudioFormatDescriptionMask = 1 << 2
public let kCMAudioFormatDescriptionMask_Extensions: CMAudioFormatDescriptionMask = 1 << 3
public let kCMAudioFormatDescriptionMask_All: CMAudioFormatDescriptionMask = 0b1111

/// Compares parts of two audio format descriptions.
///
/// - Parameters:
///   - formatDescription: A description.
///   - otherFormatDescription: Another description.
///   - equalityMask: The parts to be compared.
///   - equalityMaskOut: Receives those of the parts that are equal.
/// - Returns: Whether all of the parts are equal; false for other media.
@discardableResult
public func CMAudioFormatDescriptionEqual(
  _ formatDescription: CMAudioFormatDescription, otherFormatDescription: CMAudioFormatDescription,
  equalityMask: CMAudioFormatDescriptionMask,
  equalityMaskOut: UnsafeMutablePointer<CMAudioFormatDescriptionMask>?
) -> Bool {
  let result = formatDescription.equalTo(
    otherFormatDescription, equalityMask: CMFormatDescription.EqualityMask(rawValue: equalityMask))
  equalityMaskOut?.pointee = result.equalityMask.rawValue
  return result.0
}

extension CMFormatDescription {
  /// The parts of audio format descriptions that are compared.
  public struct EqualityMask: OptionSet, Sendable, Hashable {
    public let rawValue: CMAudioFormatDescriptionMask
    public init(rawValue: CMAudioFormatDescriptionMask) { self.rawValue = rawValue }

    public static let streamBasicDescription = EqualityMask(
      rawValue: kCMAudioFormatDescriptionMask_StreamBasicDescription)
    public static let magicCookie = EqualityMask(rawValue: kCMAudioFormatDescriptionMask_MagicCookie)
    public static let channelLayout = EqualityMask(rawValue: kCMAudioFormatDescriptionMask_ChannelLayout)
    public static let extensions = EqualityMask(rawValue: kCMAudioFormatDescriptionMask_Extensions)
    public static let all = EqualityMask(rawValue: kCMAudioFormatDescriptionMask_All)
  }

  /// Compares parts of two audio format descriptions.
  /// - Parameters:
  ///   - otherFormatDescription: The description to compare with.
  ///   - equalityMask: The parts to compare.
  /// - Returns: Whether all of these parts are equal, and the mask of those that are; false and an
  ///   empty mask if one of the descriptions is not of audio.
  public func equalTo(_ otherFormatDescription: CMAudioFormatDescription, equalityMask: EqualityMask = .all)
    -> (
      Bool, equalityMask: EqualityMask
    )
  {
    guard let audio, let other = otherFormatDescription.audio else { return (false, []) }
    var equal: EqualityMask = []
    if audio.basic == other.basic { equal.insert(.streamBasicDescription) }
    if audio.magicCookie == other.magicCookie { equal.insert(.magicCookie) }
    if audio.layout == other.layout { equal.insert(.channelLayout) }
    if (extensionDictionary ?? [:]).isEqual(otherFormatDescription.extensionDictionary ?? [:]) {
      equal.insert(.extensions)
    }
    equal.formIntersection(equalityMask)
    return (equal == equalityMask.intersection(.all), equal)
  }

  /// Calls `body` with the magic cookie, further data that a decoder of the audio needs; nil if
  /// there is none.
  public func withMagicCookie<R>(_ body: (UnsafeRawBufferPointer?) throws -> R) rethrows -> R {
    guard let cookie = audio?.magicCookie else { return try body(nil) }
    return try cookie.withUnsafeBytes { try body($0) }
  }

  /// The channel layout of audio; nil if there is none, and for other media.
  public var audioChannelLayout: ManagedAudioChannelLayout? {
    audio?.layout.flatMap { ManagedAudioChannelLayout($0) }
  }

  /// The formats that the audio can be decoded to, the richest first. There is one, that of the
  /// description.
  public var audioFormatList: [AudioFormatListItem] {
    audio.map { [$0.memory.format.pointee] } ?? []
  }

  /// The richest format that the audio can be decoded to; nil for other media.
  public var richestDecodableFormat: AudioFormatListItem? { audioFormatList.first }

  /// The format of the audio that most decoders support; nil for other media.
  public var mostCompatibleFormat: AudioFormatListItem? { audioFormatList.last }
}
