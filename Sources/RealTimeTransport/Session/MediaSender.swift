// SPDX-License-Identifier: Apache-2.0
/// Makes a sender's packets to one receiver: media, retransmissions and reports.
public struct MediaSender: Sendable {
  public struct Configuration: Sendable {
    public var codec = VideoCodec.h264
    /// The largest size of an RTP packet in bytes, including its header.
    public var packetSize = 1200
    public var retransmits = true
    /// Whether packets leave room for the header of repair packets.
    public var protects = false
    public var clock = MediaClock.simulated
    public var firstSequence: UInt16 = 1000
    public var timestampOffset: UInt32 = 0x2000_0000

    public init() {}
  }

  public let configuration: Configuration
  /// The synchronisation source of the media.
  public let source: UInt32
  private let packetiser: FramePacketiser
  private var sent = RetransmissionBuffer()
  private var retransmissionSequence: UInt16
  private var sequence: UInt16
  private var packetCount: UInt32 = 0
  private var octetCount: UInt32 = 0
  public private(set) var resentPackets = 0
  public private(set) var resentBytes = 0

  public init(_ configuration: Configuration, source: UInt32) {
    self.configuration = configuration
    self.source = source
    sequence = configuration.firstSequence
    retransmissionSequence = configuration.firstSequence
    // Room for the header, an extension of at most 20 bytes including its own header, and the
    // original sequence number in retransmissions.
    packetiser = FramePacketiser(
      configuration.codec,
      maximumPayload: configuration.packetSize - RTPPacket.fixedHeaderSize - 20
        - max(configuration.retransmits ? 2 : 0, configuration.protects ? Parity.maxGrowth : 0))
  }

  /// Makes the packets of a frame.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - time: The current time in seconds.
  public mutating func packets(of frame: MediaFrame, at time: Double) -> [[UInt8]] {
    let payloads = packetiser.payloads(of: frame.units)
    return payloads.enumerated().map { index, payload in
      var packet = RTPPacket(
        payloadType: RTPPayloadType.media, sequenceNumber: sequence,
        timestamp: MediaClock.rtpTime(at: frame.time, offset: configuration.timestampOffset), source: source,
        payload: payload)
      packet.marker = index == payloads.count - 1
      var descriptor = frame.descriptor
      descriptor.isFirstPacket = index == 0
      packet.headerExtension = descriptor.headerExtension
      sequence &+= 1
      packetCount &+= 1
      octetCount &+= UInt32(payload.count)
      if configuration.retransmits { sent.keep(packet, at: time) }
      return packet.bytes
    }
  }

  /// Makes the retransmissions that a receiver asks for.
  /// - Parameters:
  ///   - feedback: The receiver's packets.
  ///   - time: The current time in seconds.
  ///   - interval: The time in seconds within which a packet is not sent again.
  ///   - age: The least time in seconds since the packet was sent for the first time.
  ///   - budget: Limits the retransmissions; those beyond it are left out.
  ///   - rate: The bit rate of media and repair together, in bits per second.
  /// - Returns: The original sequence numbers, and the packets' bytes.
  public mutating func packets(
    askedFor feedback: [RTCPPacket], at time: Double, interval: Double, age: Double = 0,
    within budget: inout RepairBudget, rate: Double
  ) -> [(number: UInt16, bytes: [UInt8])] {
    guard configuration.retransmits else { return [] }
    var result: [(UInt16, [UInt8])] = []
    for case .retransmissionRequest(_, let media, let numbers) in feedback where media == source {
      let packets = sent.packetsToResend(numbers, at: time, interval: interval, age: age) {
        budget.spend(bits: Self.bits(again: $0), rate: rate, at: time)
      }
      for packet in packets { result.append((packet.sequenceNumber, again(packet))) }
    }
    return result
  }

  /// Makes a copy of a retransmission, without a request; nil if the packet is not kept any more,
  /// or exceeds the budget.
  /// - Parameters:
  ///   - number: The original sequence number.
  ///   - time: The current time in seconds.
  ///   - budget: Limits the retransmissions.
  ///   - rate: The bit rate of media and repair together, in bits per second.
  public mutating func packet(
    again number: UInt16, at time: Double, within budget: inout RepairBudget, rate: Double
  ) -> [UInt8]? {
    let packets = sent.packetsToResend([number], at: time, interval: 0) {
      budget.spend(bits: Self.bits(again: $0), rate: rate, at: time)
    }
    return packets.first.map { again($0) }
  }

  /// The size in bits of a packet's retransmission.
  private static func bits(again packet: RTPPacket) -> Int {
    let descriptor = packet.headerExtension.map { 4 + $0.data.count } ?? 0
    return (RTPPacket.fixedHeaderSize + descriptor + 2 + packet.payload.count) * 8
  }

  private mutating func again(_ packet: RTPPacket) -> [UInt8] {
    let bytes = packet.retransmission(
      payloadType: RTPPayloadType.retransmission, source: source &+ 1, sequenceNumber: retransmissionSequence
    ).bytes
    retransmissionSequence &+= 1
    resentPackets += 1
    resentBytes += bytes.count
    return bytes
  }

  /// Makes a sender report and a source description.
  /// - Parameters:
  ///   - time: The current time in seconds.
  ///   - name: The CNAME.
  public func report(at time: Double, name: String) -> [RTCPPacket] {
    [
      .senderReport(
        .init(
          source: source, ntpTime: configuration.clock.ntpTime(at: time),
          rtpTime: MediaClock.rtpTime(at: time, offset: configuration.timestampOffset), packets: packetCount,
          octets: octetCount)), .sourceDescription(source: source, name: name),
    ]
  }
}
