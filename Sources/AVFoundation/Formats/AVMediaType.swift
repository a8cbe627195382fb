// SPDX-License-Identifier: Apache-2.0
import CoreMedia

/// The kind of media that a track holds.
public struct AVMediaType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension AVMediaType {
  public static let video = AVMediaType(rawValue: "vide")
  public static let audio = AVMediaType(rawValue: "soun")
  public static let text = AVMediaType(rawValue: "text")
  public static let closedCaption = AVMediaType(rawValue: "clcp")
  public static let subtitle = AVMediaType(rawValue: "sbtl")
  public static let timecode = AVMediaType(rawValue: "tmcd")
  public static let metadata = AVMediaType(rawValue: "meta")
  public static let muxed = AVMediaType(rawValue: "muxx")
  public static let metadataObject = AVMediaType(rawValue: "mobj")
  public static let depthData = AVMediaType(rawValue: "dpth")
  public static let haptic = AVMediaType(rawValue: "hapt")
  public static let auxiliaryPicture = AVMediaType(rawValue: "auxv")
}

/// A characteristic of a track's content, by which a program may select it.
public struct AVMediaCharacteristic: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension AVMediaCharacteristic {
  /// The track has visible content: video, subtitles or closed captions.
  public static let visual = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicVisual")
  public static let audible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicAudible")
  public static let legible = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicLegible")
  /// The media consists of individual frames.
  public static let frameBased = AVMediaCharacteristic(rawValue: "AVMediaCharacteristicFrameBased")
  public static let usesWideGamutColorSpace = AVMediaCharacteristic(
    rawValue: "AVMediaCharacteristicUsesWideGamutColorSpace")
  public static let containsHDRVideo = AVMediaCharacteristic(
    rawValue: "AVMediaCharacteristicContainsHDRVideo")
  public static let containsAlphaChannel = AVMediaCharacteristic(
    rawValue: "AVMediaCharacteristicContainsAlphaChannel")
  public static let isMainProgramContent = AVMediaCharacteristic(rawValue: "public.main-program-content")
  public static let isAuxiliaryContent = AVMediaCharacteristic(rawValue: "public.auxiliary-content")
  public static let isOriginalContent = AVMediaCharacteristic(rawValue: "public.original-content")
  public static let containsOnlyForcedSubtitles = AVMediaCharacteristic(
    rawValue: "public.subtitles.forced-only")
  public static let transcribesSpokenDialogForAccessibility = AVMediaCharacteristic(
    rawValue: "public.accessibility.transcribes-spoken-dialog")
  public static let describesMusicAndSoundForAccessibility = AVMediaCharacteristic(
    rawValue: "public.accessibility.describes-music-and-sound")
  public static let easyToRead = AVMediaCharacteristic(rawValue: "public.easy-to-read")
  public static let describesVideoForAccessibility = AVMediaCharacteristic(
    rawValue: "public.accessibility.describes-video")
  public static let languageTranslation = AVMediaCharacteristic(rawValue: "public.translation")
  public static let dubbedTranslation = AVMediaCharacteristic(rawValue: "public.translation.dubbed")
  public static let voiceOverTranslation = AVMediaCharacteristic(rawValue: "public.translation.voice-over")
  public static let enhancesSpeechIntelligibility = AVMediaCharacteristic(
    rawValue: "public.accessibility.enhances-speech-intelligibility")
  public static let tactileMinimal = AVMediaCharacteristic(rawValue: "public.haptics.minimal")
  /// One stream contains the views for both eyes (MV-HEVC).
  public static let containsStereoMultiviewVideo = AVMediaCharacteristic(
    rawValue: "public.contains-stereo-multiview-video")
  /// The track describes the presentation of its views, for example the distance between the
  /// lenses.
  public static let carriesVideoStereoMetadata = AVMediaCharacteristic(
    rawValue: "com.apple.quicktime.video.stereo-metadata")
  public static let indicatesHorizontalFieldOfView = AVMediaCharacteristic(
    rawValue: "public.indicates-horizontal-field-of-view")
  public static let indicatesNonRectilinearProjection = AVMediaCharacteristic(
    rawValue: "public.indicates-non-rectilinear-projection")
}

extension AVMediaType {
  var isText: Bool { self == .text || self == .subtitle }

  /// Whether samples may be far apart, so that a writer does not wait for the next one before it
  /// writes other tracks.
  var isSparse: Bool { isText || self == .metadata }

  /// The four-character code of Core Media; 0 if the raw value does not have four bytes.
  var code: CMMediaType {
    let bytes = Array(rawValue.utf8)
    return bytes.count == 4 ? bytes.reduce(0) { $0 << 8 | CMMediaType($1) } : 0
  }
}
