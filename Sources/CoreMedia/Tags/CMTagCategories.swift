// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The eyes for which a picture is intended.
public struct CMStereoViewComponents: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static let leftEye = CMStereoViewComponents(rawValue: 1)
  public static let rightEye = CMStereoViewComponents(rawValue: 2)
}

/// Options for the interpretation of stereo views.
public struct CMStereoViewInterpretationOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The right eye comes first.
  public static let stereoOrderReversed = CMStereoViewInterpretationOptions(rawValue: 1)
  /// There are views in addition to those of the two eyes.
  public static let additionalViews = CMStereoViewInterpretationOptions(rawValue: 2)
}

/// The projection of a picture.
public enum CMProjectionType: UInt64, Sendable {
  case rectangular = 0x7265_6374  // 'rect'
  case equirectangular = 0x6571_7569  // 'equi'
  /// The front half of an equirectangular projection.
  case halfEquirectangular = 0x6865_7175  // 'hequ'
  case fisheye = 0x6669_7368  // 'fish'
}

/// The arrangement of pictures in a frame.
public enum CMPackingType: UInt64, Sendable {
  /// The frame contains one picture.
  case none = 0x6E6F_6E65  // 'none'
  /// The picture of the left eye is on the left.
  case sideBySide = 0x7369_6465  // 'side'
  /// The picture of the left eye is at the top.
  case overUnder = 0x6F76_6572  // 'over'
}

// MARK: - Categories

extension CMTypedTag.Category where TypedValue == Int64 {
  private static func integers(_ code: FourCharCode) -> Self {
    Self(
      rawCategory: code, valueForTagValue: { if case .int64(let number) = $0 { number } else { nil } },
      tagValueForValue: { .int64($0) })
  }

  /// The identifier of a layer in a video stream with several layers.
  public static var videoLayerID: CMTypedTag<Int64>.Category { integers(0x766C_6179) }  // 'vlay'
  /// The identifier of a channel.
  public static var channelID: CMTypedTag<Int64>.Category { integers(0x7663_686E) }  // 'vchn'
}

extension CMTypedTag.Category where TypedValue == CMPersistentTrackID {
  /// The identifier of a track of an asset.
  public static var trackID: CMTypedTag<CMPersistentTrackID>.Category {
    Self(
      rawCategory: 0x7472_616B,  // 'trak'
      valueForTagValue: { if case .int64(let number) = $0 { Int32(exactly: number) } else { nil } },
      tagValueForValue: { .int64(Int64($0)) })
  }
}

extension CMTypedTag.Category where TypedValue == CMFormatDescription.MediaType {
  public static var mediaType: CMTypedTag<CMFormatDescription.MediaType>.Category {
    codes(0x6D64_6961, { .init(rawValue: $0) }, \.rawValue)  // 'mdia'
  }
}

extension CMTypedTag.Category where TypedValue == CMFormatDescription.MediaSubType {
  public static var mediaSubType: CMTypedTag<CMFormatDescription.MediaSubType>.Category {
    codes(0x6D73_7562, { .init(rawValue: $0) }, \.rawValue)  // 'msub'
  }
}

extension CMTypedTag.Category where TypedValue == OSType {
  /// The pixel format, one of `kCVPixelFormatType_*`.
  public static var pixelFormat: CMTypedTag<OSType>.Category {
    codes(0x7069_7866, { $0 }, { $0 })  // 'pixf'
  }
}

extension CMTypedTag.Category where TypedValue == CMProjectionType {
  public static var projectionType: CMTypedTag<CMProjectionType>.Category {
    codes(0x7072_6F6A, { .init(rawValue: UInt64($0)) }, { OSType($0.rawValue) })  // 'proj'
  }
}

extension CMTypedTag.Category where TypedValue == CMPackingType {
  public static var packingType: CMTypedTag<CMPackingType>.Category {
    codes(0x7061_636B, { .init(rawValue: UInt64($0)) }, { OSType($0.rawValue) })  // 'pack'
  }
}

extension CMTypedTag.Category where TypedValue == CMStereoViewComponents {
  /// The eyes for which a picture is intended.
  public static var stereoView: CMTypedTag<CMStereoViewComponents>.Category {
    flags(0x6579_6573, { .init(rawValue: $0) }, \.rawValue)  // 'eyes'
  }
}

extension CMTypedTag.Category where TypedValue == CMStereoViewInterpretationOptions {
  public static var stereoViewInterpretation: CMTypedTag<CMStereoViewInterpretationOptions>.Category {
    flags(0x6579_6970, { .init(rawValue: $0) }, \.rawValue)  // 'eyip'
  }
}

extension CMTypedTag.Category {
  fileprivate static func codes(
    _ code: FourCharCode, _ value: @escaping @Sendable (OSType) -> TypedValue?,
    _ raw: @escaping @Sendable (TypedValue) -> OSType
  ) -> Self {
    Self(
      rawCategory: code, valueForTagValue: { if case .osType(let code) = $0 { value(code) } else { nil } },
      tagValueForValue: { .osType(raw($0)) })
  }

  fileprivate static func flags(
    _ code: FourCharCode, _ value: @escaping @Sendable (UInt64) -> TypedValue?,
    _ raw: @escaping @Sendable (TypedValue) -> UInt64
  ) -> Self {
    Self(
      rawCategory: code, valueForTagValue: { if case .flags(let flags) = $0 { value(flags) } else { nil } },
      tagValueForValue: { .flags(raw($0)) })
  }
}

// MARK: - Tags

extension CMTag {
  public static func mediaType(_ value: CMFormatDescription.MediaType)
    -> CMTypedTag<CMFormatDescription.MediaType>
  { CMTypedTag(category: .mediaType, value: value) }

  public static func mediaSubType(_ value: CMFormatDescription.MediaSubType)
    -> CMTypedTag<CMFormatDescription.MediaSubType>
  { CMTypedTag(category: .mediaSubType, value: value) }

  public static func trackID(_ value: CMPersistentTrackID) -> CMTypedTag<CMPersistentTrackID> {
    CMTypedTag(category: .trackID, value: value)
  }

  public static func channelID(_ value: Int64) -> CMTypedTag<Int64> {
    CMTypedTag(category: .channelID, value: value)
  }

  public static func videoLayerID(_ value: Int64) -> CMTypedTag<Int64> {
    CMTypedTag(category: .videoLayerID, value: value)
  }

  /// Creates a tag for a pixel format, one of `kCVPixelFormatType_*`.
  public static func pixelFormat(_ value: OSType) -> CMTypedTag<OSType> {
    CMTypedTag(category: .pixelFormat, value: value)
  }

  public static func packingType(_ value: CMPackingType) -> CMTypedTag<CMPackingType> {
    CMTypedTag(category: .packingType, value: value)
  }

  public static func projectionType(_ value: CMProjectionType) -> CMTypedTag<CMProjectionType> {
    CMTypedTag(category: .projectionType, value: value)
  }

  public static func stereoView(_ value: CMStereoViewComponents) -> CMTypedTag<CMStereoViewComponents> {
    CMTypedTag(category: .stereoView, value: value)
  }

  public static func stereoViewInterpretation(_ value: CMStereoViewInterpretationOptions)
    -> CMTypedTag<CMStereoViewInterpretationOptions>
  { CMTypedTag(category: .stereoViewInterpretation, value: value) }
}
