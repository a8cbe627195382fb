// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// The codecs of pictures that RTP packets carry.
public enum VideoCodec: String, CaseIterable, Sendable {
  /// RFC 6184, packetization-mode 1.
  case h264
  /// RFC 7798, in one stream (SRST), with NAL units in decoding order (sprop-max-don-diff 0).
  case hevc

  /// The name for people.
  public var name: String { self == .h264 ? "H.264" : "HEVC" }

  /// The syntax of the codec's NAL units.
  package var nal: NALCodec { self == .h264 ? .h264 : .hevc }

  var payloads: any PayloadFormat.Type { self == .h264 ? H264Payload.self : HEVCPayload.self }
}

/// How a codec's NAL units are put into payloads: alone, several in an aggregation packet, or in
/// parts, each in a fragmentation unit.
protocol PayloadFormat: SendableMetatype {
  /// The size of the header of NAL units, with which payloads begin too, in bytes.
  static var headerSize: Int { get }

  /// Whether bytes are a NAL unit that a packet may carry, by its header.
  static func isUnit(_ bytes: some Collection<UInt8>) -> Bool

  /// Makes the header of an aggregation packet.
  /// - Parameter units: The NAL units, none of which is shorter than its header.
  static func aggregateHeader(of units: [[UInt8]]) -> [UInt8]

  /// Makes the header of a fragmentation unit, without the start and end bits.
  /// - Parameter unit: The NAL unit, which is not shorter than its header.
  /// - Returns: The payload's header and, after it, the byte with the unit's type.
  static func fragmentHeader(of unit: [UInt8]) -> [UInt8]

  /// Restores the header of a fragmented NAL unit; nil if it is none that may be fragmented.
  /// - Parameter header: The payload's header and, after it, the byte with the unit's type.
  static func unitHeader(fromFragment header: ArraySlice<UInt8>) -> [UInt8]?

  /// Reads what a payload is from its header.
  static func kind(of payload: [UInt8]) -> PayloadKind
}

/// The kind of payload of an RTP packet.
enum PayloadKind {
  case single
  case aggregate
  case fragment
  /// A kind that is not taken, or no payload of the codec.
  case other
}
