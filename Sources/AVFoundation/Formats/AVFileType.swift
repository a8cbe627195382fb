// SPDX-License-Identifier: Apache-2.0
/// A file format, by its uniform type identifier.
public struct AVFileType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension AVFileType {
  public static let mov = AVFileType(rawValue: "com.apple.quicktime-movie")
  public static let mp4 = AVFileType(rawValue: "public.mpeg-4")
  public static let m4v = AVFileType(rawValue: "com.apple.m4v-video")
  public static let m4a = AVFileType(rawValue: "com.apple.m4a-audio")
  public static let mobile3GPP = AVFileType(rawValue: "public.3gpp")
  public static let mobile3GPP2 = AVFileType(rawValue: "public.3gpp2")
  public static let caf = AVFileType(rawValue: "com.apple.coreaudio-format")
  public static let wav = AVFileType(rawValue: "com.microsoft.waveform-audio")
  public static let aiff = AVFileType(rawValue: "public.aiff-audio")
  public static let aifc = AVFileType(rawValue: "public.aifc-audio")
  public static let amr = AVFileType(rawValue: "org.3gpp.adaptive-multi-rate-audio")
  public static let mp3 = AVFileType(rawValue: "public.mp3")
  public static let au = AVFileType(rawValue: "public.au-audio")
  public static let ac3 = AVFileType(rawValue: "public.ac3-audio")
  public static let eac3 = AVFileType(rawValue: "public.enhanced-ac3-audio")
  public static let jpg = AVFileType(rawValue: "public.jpeg")
  public static let dng = AVFileType(rawValue: "com.adobe.raw-image")
  public static let heic = AVFileType(rawValue: "public.heic")
  public static let avci = AVFileType(rawValue: "public.avci")
  public static let heif = AVFileType(rawValue: "public.heif")
  public static let tif = AVFileType(rawValue: "public.tiff")
  /// Closed captions of CEA-608 with times, as text (Scenarist).
  public static let SCC = AVFileType(rawValue: "com.scenarist.closed-caption")
  /// iTunes Timed Text.
  public static let appleiTT = AVFileType(rawValue: "com.apple.itunes-timed-text")
  /// Haptic patterns.
  public static let AHAP = AVFileType(rawValue: "com.apple.haptics.ahap")
  public static let dicom = AVFileType(rawValue: "org.nema.dicom")
}

/// A profile of a file type: rules for how segments are written.
public struct AVFileTypeProfile: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension AVFileTypeProfile {
  /// Fragmented MPEG-4 for HTTP Live Streaming.
  public static let mpeg4AppleHLS = AVFileTypeProfile(rawValue: "MPEG4AppleHLS")
  /// Fragmented MPEG-4 according to the Common Media Application Format (ISO/IEC 23000-19).
  public static let mpeg4CMAFCompliant = AVFileTypeProfile(rawValue: "MPEG4CMAFCompliant")
}
