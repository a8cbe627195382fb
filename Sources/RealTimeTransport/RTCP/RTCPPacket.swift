// SPDX-License-Identifier: Apache-2.0
/// The packets of RTCP that a call sends: reports and descriptions (RFC 3550, 6), feedback (RFC 4585, 6), what a receiver
/// asks of the encoder (RFC 5104, 4).
public enum RTCPPacket: Equatable, Sendable {
  case senderReport(SenderReport)
  case receiverReport(source: UInt32, blocks: [ReportBlock])
  case sourceDescription(source: UInt32, name: String)
  case bye(source: UInt32)
  /// Generic NACK: the numbers of packets that the receiver lacks, in rising order modulo 2^16.
  case retransmissionRequest(sender: UInt32, media: UInt32, numbers: [UInt16])
  /// Picture loss indication: the receiver cannot go on without a frame that depends on nothing lost.
  case pictureLoss(sender: UInt32, media: UInt32)
  /// Full intra request: somebody who knows nothing of the stream is to be shown it. Its number changes with each new request,
  /// and stays where one is said again.
  case fullIntraRequest(sender: UInt32, media: UInt32, number: UInt8)
  /// Temporary maximum media stream bit rate request, and the notification that answers it.
  case rateRequest(sender: UInt32, limit: RateLimit)
  case rateNotice(sender: UInt32, limit: RateLimit)
  /// Reference picture selection indication. The bit string is the token of a long-term reference (64 bits) that
  /// the receiver has.
  case referenceSelection(sender: UInt32, media: UInt32, payloadType: UInt8, token: Int64)
  /// Application-defined, named `OVTL`: the numbers of frames that the receiver lacks.
  case lostFrames(sender: UInt32, frames: [UInt16])
  /// Congestion control feedback (RFC 8888): which packets arrived, and when; the time stamp is the middle of an NTP time.
  case congestionFeedback(sender: UInt32, streams: [StreamArrivals], time: UInt32)

  /// The synchronisation source that the packet is from.
  public var origin: UInt32 {
    switch self {
    case .senderReport(let report): report.source
    case .receiverReport(let source, _), .sourceDescription(let source, _), .bye(let source): source
    case .retransmissionRequest(let sender, _, _), .pictureLoss(let sender, _): sender
    case .fullIntraRequest(let sender, _, _), .rateRequest(let sender, _), .rateNotice(let sender, _): sender
    case .referenceSelection(let sender, _, _, _): sender
    case .lostFrames(let sender, _), .congestionFeedback(let sender, _, _): sender
    }
  }

  public struct SenderReport: Equatable, Sendable {
    public var source: UInt32
    /// Seconds since 1900, 32.32 bits.
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
    /// Lost since the last report, in 256ths.
    public var fractionLost: UInt8
    /// 24 bits, signed.
    public var cumulativeLost: Int32
    public var highestSequence: UInt32
    /// In units of the RTP time stamp.
    public var jitter: UInt32
    /// The middle 32 bits of the last sender report's time, 0 if there was none.
    public var lastReport: UInt32
    /// Since then, in 65,536ths of a second.
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

  /// What a stream may take (RFC 5104, 4.2.1).
  public struct RateLimit: Equatable, Sendable {
    /// The stream that it is of.
    public var media: UInt32
    /// 17 bits, and how often they are doubled, 0 to 63.
    public let mantissa: UInt32
    public let exponent: UInt8
    /// Bytes of headers in a packet, those of RTP and below: 20 of IP, 8 of UDP, 12 of RTP.
    public var overhead: UInt16 = 40

    /// - Parameter bitsPerSecond: is cut to 17 binary digits.
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
    /// What a request may say beyond 64 bits is as good as no limit.
    public var bitsPerSecond: UInt64 {
      UInt64(mantissa) << UInt64(min(exponent, 47))
    }
  }

  static let lostFramesName: [UInt8] = Array("OVTL".utf8)
  /// What the count field of an application-defined packet leaves room for, and a packet with it.
  static let mostLostFrames = 512
  /// Packets that one request asks for.
  static let mostRequested = 512
}
