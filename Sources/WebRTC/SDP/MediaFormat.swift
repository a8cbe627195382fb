// SPDX-License-Identifier: Apache-2.0

/// A payload type of a media description: codec, parameters and feedback.
public struct MediaFormat: Equatable, Sendable {
  public var payloadType: UInt8
  /// The codec's name, such as `H264`, `opus` or `rtx`; names are compared without case.
  public var codec: String
  public var clockRate: Int
  /// The number of channels of audio; nil for pictures, and for one channel.
  public var channels: Int?
  /// The parameters of `a=fmtp`, their names in lower case.
  public var parameters: [String: String] = [:]
  /// The values of `a=rtcp-fb`, such as `nack`, `nack pli` and `transport-cc`.
  public var feedback: [String] = []

  public init(payloadType: UInt8, codec: String, clockRate: Int, channels: Int? = nil) {
    self.payloadType = payloadType
    self.codec = codec
    self.clockRate = clockRate
    self.channels = channels
  }

  /// The payload type whose packets this one sends again (RFC 4588, 8.6); nil if it does not.
  public var associated: UInt8? { isCodec("rtx") ? parameters["apt"].flatMap { UInt8($0) } : nil }

  public func isCodec(_ name: String) -> Bool { codec.lowercased() == name.lowercased() }

  /// The profile of H.264; nil for another codec, another packetization mode than 1, or a malformed
  /// profile. Without the parameter it is Baseline, level 1 (RFC 6184, 8.1).
  public var h264Profile: H264Profile? {
    guard isCodec("H264"), parameters["packetization-mode"] == "1" else { return nil }
    return H264Profile(parameters["profile-level-id"] ?? "42000A")
  }
}

/// A profile of H.264 and a level, as `profile-level-id` names them (RFC 6184, 8.1).
public struct H264Profile: Equatable, Sendable {
  /// The profiles that matter here, from the one that all decode to the one that compresses best.
  public enum Kind: Int, Comparable, Sendable {
    case constrainedBaseline, baseline, main, constrainedHigh, high

    public static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }
  }

  public var kind: Kind
  /// Ten times the level, such as 31; 9 for level 1b.
  public var level: Int

  public init(_ kind: Kind, level: Int) {
    self.kind = kind
    self.level = level
  }

  /// Reads six hexadecimal digits: profile_idc, the constraint flags, and level_idc.
  /// - Parameter text: The value of `profile-level-id`.
  /// - Returns: Nil for another profile, or a malformed value.
  public init?(_ text: some StringProtocol) {
    guard text.utf8.count == 6, let number = UInt32(text, radix: 16) else { return nil }
    self.init(idc: UInt8(number >> 16), flags: UInt8(number >> 8 & 0xFF), level: UInt8(number & 0xFF))
  }

  /// Reads the profile of a sequence parameter set.
  /// - Parameter set: The NAL unit; nil comes of one that is too short, or of another profile.
  public init?(parameterSet set: [UInt8]) {
    guard set.count >= 4, set[0] & 31 == 7 else { return nil }
    self.init(idc: set[1], flags: set[2], level: set[3])
  }

  /// The patterns of RFC 6184, 8.1, table 5.
  private init?(idc: UInt8, flags: UInt8, level: UInt8) {
    switch idc {
    case 66 where flags & 0x40 != 0: kind = .constrainedBaseline
    case 66: kind = .baseline
    case 77 where flags & 0x80 != 0, 88 where flags & 0xC0 == 0xC0: kind = .constrainedBaseline
    case 77: kind = .main
    case 100 where flags & 0x0C == 0x0C: kind = .constrainedHigh
    case 100: kind = .high
    default: return nil
    }
    self.level = level == 11 && flags & 0x10 != 0 && idc != 100 ? 9 : Int(level)
  }

  /// Whether a decoder of this profile decodes streams of another one.
  public func decodes(_ other: Kind) -> Bool {
    switch kind {
    case .constrainedBaseline: other == .constrainedBaseline
    case .baseline: other <= .baseline
    // Neither has Baseline's slice groups and redundant slices.
    case .main: other == .constrainedBaseline || other == .main
    case .constrainedHigh: other == .constrainedBaseline || other == .constrainedHigh
    case .high: other != .baseline
    }
  }

  /// The value of `profile-level-id`.
  public var text: String {
    let head =
      switch kind {
      case .constrainedBaseline: "42e0"
      case .baseline: "4200"
      case .main: "4d00"
      case .constrainedHigh: "640c"
      case .high: "6400"
      }
    let digits = String(level, radix: 16)
    return head + (digits.count < 2 ? "0" : "") + digits
  }
}

/// The header extensions that are negotiated (RFC 8285).
public enum HeaderExtensionURI {
  /// Numbers packets of all streams, for feedback about each
  /// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
  public static let transportSequence =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  /// When a packet was sent, with 24 bits (6.18 fixed point seconds).
  public static let sendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
  /// Which media description a packet belongs to (RFC 8843, 15).
  public static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
}
