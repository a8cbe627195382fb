// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// A session description (RFC 8866) with the parameters of H.264 (RFC 6184, 8.2.1) or HEVC (RFC
/// 7798, 7.1), with which a player can receive the stream.
public struct SessionDescription: Sendable {
  /// The IP address to which the media are sent.
  public var address = "127.0.0.1"
  /// The UDP port of the media; RTCP uses the next one.
  public var port: UInt16
  /// The RTP payload type, 96 to 127.
  public var payloadType: UInt8
  /// The codec of the stream.
  public var codec: VideoCodec
  /// The parameter sets, as NAL units without start codes.
  public var parameterSets: [[UInt8]]
  /// The frame rate in frames per second; nil if it is unknown.
  public var frameRate: Double?
  /// The session name (s=).
  public var name = "vtencode call"
  /// Whether the sender processes the receiver's feedback.
  public var hasFeedback = true

  /// Creates a description of a session at the address 127.0.0.1.
  /// - Parameters:
  ///   - port: The UDP port of the media.
  ///   - payloadType: The RTP payload type, 96 to 127.
  ///   - codec: The codec of the stream.
  ///   - parameterSets: The parameter sets, as NAL units without start codes.
  public init(port: UInt16, payloadType: UInt8, codec: VideoCodec = .h264, parameterSets: [[UInt8]]) {
    self.port = port
    self.payloadType = payloadType
    self.codec = codec
    self.parameterSets = parameterSets
  }

  /// The parameter sets of each type, in the order of the standard.
  private var setsByType: [[[UInt8]]] {
    codec.nal.parameterSetTypes.map { type in
      parameterSets.filter { $0.first.map(codec.nal.unitType) == type }
    }
  }

  private var h264Parameters: [String] {
    var parameters = ["packetization-mode=1"]
    if let sps = setsByType[0].first, sps.count > 3 {
      parameters.append("profile-level-id=" + sps[1...3].map(Self.hexadecimal).joined())
    }
    let sets = setsByType.joined().map(Self.base64)
    if !sets.isEmpty { parameters.append("sprop-parameter-sets=" + sets.joined(separator: ",")) }
    return parameters
  }

  private var hevcParameters: [String] {
    var parameters = ["tx-mode=SRST", "sprop-max-don-diff=0"]
    if let set = setsByType[1].first, let sps = try? HEVCSequenceParameterSet(nalUnit: set) {
      let level = sps.profileTierLevel
      parameters += [
        "profile-space=\(level.profile.space)", "profile-id=\(level.profile.idc)",
        "tier-flag=\(level.profile.isHighTier ? 1 : 0)", "level-id=\(level.levelIDC)",
      ]
    }
    for (name, sets) in zip(["sprop-vps", "sprop-sps", "sprop-pps"], setsByType) where !sets.isEmpty {
      parameters.append("\(name)=" + sets.map(Self.base64).joined(separator: ","))
    }
    return parameters
  }

  public var text: String {
    let parameters = codec == .h264 ? h264Parameters : hevcParameters
    let place = "IN \(address.contains(":") ? "IP6" : "IP4") \(address)"
    var lines = [
      "v=0", "o=- 0 0 \(place)", "s=\(name)", "c=\(place)\(isIPv4Multicast ? "/1" : "")", "t=0 0",
      "m=video \(port) RTP/\(hasFeedback ? "AVPF" : "AVP") \(payloadType)", "a=recvonly",
      "a=rtpmap:\(payloadType) \(codec == .h264 ? "H264" : "H265")/90000",
      "a=fmtp:\(payloadType) " + parameters.joined(separator: ";"),
    ]
    if hasFeedback {
      lines += ["a=rtcp-fb:\(payloadType) nack pli", "a=rtcp-fb:\(payloadType) nack rpsi"]
    }
    lines.append("a=extmap:\(FrameDescriptor.identifier) \(FrameDescriptor.uri)")
    if let frameRate { lines.append("a=framerate:\(frameRate)") }
    return lines.map { $0 + "\r\n" }.joined()
  }

  /// Whether the address is an IPv4 multicast address, which is followed by a TTL; no other address
  /// is (RFC 8866, 5.7).
  private var isIPv4Multicast: Bool {
    guard !address.contains(":"), let first = address.split(separator: ".").first else { return false }
    return UInt8(first).map { 224...239 ~= $0 } ?? false
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16, uppercase: true)
    return text.count < 2 ? "0" + text : text
  }

  /// Encodes bytes as base64 (RFC 4648, 4). Foundation's encoder is not used, because the module
  /// does not import Foundation.
  static func base64(_ bytes: [UInt8]) -> String {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var result = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value = 0
      for i in 0..<3 { value = value << 8 | (i < group.count ? Int(group[start + i]) : 0) }
      for i in 0..<4 { result.append(i <= group.count ? digits[value >> (18 - 6 * i) & 63] : "=") }
    }
    return result
  }
}
