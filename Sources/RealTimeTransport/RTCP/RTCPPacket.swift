// SPDX-License-Identifier: Apache-2.0
/// The packets of RTCP that a call sends: reports and descriptions (RFC 3550, 6), feedback (RFC 4585, 6).
public enum RTCPPacket: Equatable, Sendable {
  case senderReport(SenderReport)
  case receiverReport(source: UInt32, blocks: [ReportBlock])
  case sourceDescription(source: UInt32, name: String)
  case bye(source: UInt32)
  /// Generic NACK: the numbers of packets that the receiver lacks, in rising order modulo 2^16.
  case retransmissionRequest(sender: UInt32, media: UInt32, numbers: [UInt16])
  /// Picture loss indication: the receiver cannot go on without a frame that depends on nothing lost.
  case pictureLoss(sender: UInt32, media: UInt32)
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

  static let lostFramesName: [UInt8] = Array("OVTL".utf8)
  /// What the count field of an application-defined packet leaves room for, and a packet with it.
  static let mostLostFrames = 512
  /// Packets that one request asks for.
  static let mostRequested = 512
}
