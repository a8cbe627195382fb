// SPDX-License-Identifier: Apache-2.0
/// The RTCP packets that a call uses: reports and descriptions (RFC 3550, 6), feedback (RFC 4585,
/// 6), and requests to the encoder (RFC 5104, 4).
public enum RTCPPacket: Equatable, Sendable {
  case senderReport(SenderReport)
  case receiverReport(source: UInt32, blocks: [ReportBlock])
  case sourceDescription(source: UInt32, name: String)
  case bye(source: UInt32)
  /// Generic NACK: the sequence numbers of missing packets, in ascending order modulo 2^16.
  case retransmissionRequest(sender: UInt32, media: UInt32, numbers: [UInt16])
  /// Picture loss indication: the receiver needs a frame that does not depend on lost frames.
  case pictureLoss(sender: UInt32, media: UInt32)
  /// Full intra request: a decoder that has not seen the stream yet needs a key frame. The number
  /// changes with each new request, and stays the same where a request is repeated.
  case fullIntraRequest(sender: UInt32, media: UInt32, number: UInt8)
  /// Temporary maximum media stream bit rate request, and the notification that answers it.
  case rateRequest(sender: UInt32, limit: RateLimit)
  case rateNotice(sender: UInt32, limit: RateLimit)
  /// Reference picture selection indication. The bit string is the token (64 bits) of a long-term
  /// reference that the receiver has decoded.
  case referenceSelection(sender: UInt32, media: UInt32, payloadType: UInt8, token: Int64)
  /// Application-defined packet with the name `OVTL`: the numbers of frames that the receiver
  /// lacks.
  case lostFrames(sender: UInt32, frames: [UInt16])
  /// Congestion control feedback (RFC 8888): which packets arrived, and when. The time stamp is the
  /// middle 32 bits of an NTP time.
  case congestionFeedback(sender: UInt32, streams: [StreamArrivals], time: UInt32)

  /// Feedback about packets of all streams, by numbers in a header extension.
  case transportFeedback(sender: UInt32, media: UInt32, feedback: TransportFeedback)
  /// Receiver estimated maximum bitrate (draft-alvestrand-rmcat-remb-03): what all of these sources
  /// together may take, in bits per second.
  case receiverEstimate(sender: UInt32, sources: [UInt32], bitsPerSecond: UInt64)

  /// The synchronisation source that the packet is from.
  public var origin: UInt32 {
    switch self {
    case .senderReport(let report): report.source
    case .receiverReport(let source, _), .sourceDescription(let source, _), .bye(let source): source
    case .retransmissionRequest(let sender, _, _), .pictureLoss(let sender, _): sender
    case .fullIntraRequest(let sender, _, _), .rateRequest(let sender, _), .rateNotice(let sender, _): sender
    case .referenceSelection(let sender, _, _, _): sender
    case .lostFrames(let sender, _), .congestionFeedback(let sender, _, _): sender
    case .transportFeedback(let sender, _, _), .receiverEstimate(let sender, _, _): sender
    }
  }

  public struct SenderReport: Equatable, Sendable {
    public var source: UInt32
    /// The NTP time: seconds since 1900 as a fixed-point number of 32.32 bits.
    public var ntpTime: UInt64
    public var rtpTime: UInt32
    public var packets: UInt32
    public var octets: UInt32

    public init(source: UInt32, ntpTime: UInt64, rtpTime: UInt32, packets: UInt32, octets: UInt32) {
      self.source = source
      self.ntpTime = ntpTime
      self.rtpTime = rtpTime
      self.packets = packets
      self.octets = octets
    }
  }

  public struct ReportBlock: Equatable, Sendable {
    public var source: UInt32
    /// The fraction of packets lost since the last report, in units of 1/256.
    public var fractionLost: UInt8
    /// The number of packets lost since the beginning, a signed number of 24 bits.
    public var cumulativeLost: Int32
    public var highestSequence: UInt32
    /// The interarrival jitter, in units of the RTP time stamp.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's NTP time; 0 if there was none.
    public var lastReport: UInt32
    /// The time since that report arrived, in units of 1/65,536 s.
    public var delaySinceLastReport: UInt32

    public init(
      source: UInt32, fractionLost: UInt8, cumulativeLost: Int32, highestSequence: UInt32, jitter: UInt32,
      lastReport: UInt32, delaySinceLastReport: UInt32
    ) {
      self.source = source
      self.fractionLost = fractionLost
      self.cumulativeLost = cumulativeLost
      self.highestSequence = highestSequence
      self.jitter = jitter
      self.lastReport = lastReport
      self.delaySinceLastReport = delaySinceLastReport
    }
  }

  /// The maximum bit rate of a stream (RFC 5104, 4.2.1).
  public struct RateLimit: Equatable, Sendable {
    /// The synchronisation source of the stream.
    public var media: UInt32
    /// The bit rate as a mantissa of 17 bits times two to the power of an exponent from 0 to 63.
    public let mantissa: UInt32
    public let exponent: UInt8
    /// The size of a packet's headers in bytes: 20 of IP, 8 of UDP, 12 of RTP.
    public var overhead: UInt16 = 40

    /// Creates a limit.
    /// - Parameters:
    ///   - media: The synchronisation source of the stream.
    ///   - bitsPerSecond: The bit rate, which is rounded down to 17 significant bits.
    public init(media: UInt32, bitsPerSecond: UInt64) {
      self.media = media
      exponent = UInt8(max(0, 64 - bitsPerSecond.leadingZeroBitCount - 17))
      mantissa = UInt32(bitsPerSecond >> UInt64(exponent))
    }

    init(media: UInt32, word: UInt32) {
      self.media = media
      exponent = UInt8(word >> 26)
      mantissa = word >> 9 & 0x1_FFFF
      overhead = UInt16(word & 0x1FF)
    }

    var word: UInt32 { UInt32(exponent) << 26 | mantissa << 9 | UInt32(min(overhead, 0x1FF)) }
    /// The bit rate. Exponents for which it would exceed 64 bits are clamped: such a rate is as
    /// good as no limit.
    public var bitsPerSecond: UInt64 {
      UInt64(mantissa) << UInt64(min(exponent, 47))
    }
  }

  static let lostFramesName: [UInt8] = Array("OVTL".utf8)
  /// The largest number of frames in a `lostFrames` packet.
  static let maxLostFrames = 512
  /// The unique identifier of a receiver's estimate, and the largest number of sources in one.
  static let estimateName: [UInt8] = Array("REMB".utf8)
  static let maxEstimateSources = 255
  /// The largest number of packets in one request.
  static let maxRequested = 512
}
