// SPDX-License-Identifier: Apache-2.0
/// A video codec, by the four characters of its sample description.
public struct AVVideoCodecType: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension AVVideoCodecType {
  public static let hevc = AVVideoCodecType(rawValue: "hvc1")
  public static let h264 = AVVideoCodecType(rawValue: "avc1")
  public static let jpeg = AVVideoCodecType(rawValue: "jpeg")
  public static let proRes4444 = AVVideoCodecType(rawValue: "ap4h")
  public static let proRes422 = AVVideoCodecType(rawValue: "apcn")
  public static let proRes422HQ = AVVideoCodecType(rawValue: "apch")
  public static let proRes422LT = AVVideoCodecType(rawValue: "apcs")
  public static let proRes422Proxy = AVVideoCodecType(rawValue: "apco")
  public static let hevcWithAlpha = AVVideoCodecType(rawValue: "muxa")
}

/// The part of the coded picture that is presented.
public struct AVVideoApertureMode: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension AVVideoApertureMode {
  public static let cleanAperture = AVVideoApertureMode(rawValue: "CleanAperture")
  public static let productionAperture = AVVideoApertureMode(rawValue: "ProductionAperture")
  public static let encodedPixels = AVVideoApertureMode(rawValue: "EncodedPixels")
}
