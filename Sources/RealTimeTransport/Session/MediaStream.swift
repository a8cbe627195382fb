// SPDX-License-Identifier: Apache-2.0
/// A sender's packets to one receiver: media, what is sent once more, reports.
public struct MediaStream: Sendable {
  public struct Configuration: Sendable {
    /// Largest RTP packet in bytes, header included.
    public var packetSize = 1200
    public var retransmits = true
    /// Room is left for forward error correction.
    public var protects = false
    public var clock = MediaClock.simulated
    public var firstSequence: UInt16 = 1000
    public var timestampOffset: UInt32 = 0x2000_0000

    public init() {}
  }

  /// Of media.
  public static let payloadType: UInt8 = 96
  /// Of packets that are sent once more; their source is the next number to the media's.
  public static let retransmissionPayloadType: UInt8 = 97

  /// Of repair packets; their source is the second number after the media's.
  public static let parityPayloadType: UInt8 = 98

  public let configuration: Configuration
  /// The synchronisation source of the media.
  public let source: UInt32
  private let packetiser: H264Packetiser
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
    // Header, extension of at most 20 bytes with its own header, and the number of a packet that is sent once more.
    packetiser = H264Packetiser(
      maximumPayload: configuration.packetSize - RTPPacket.fixedHeaderSize - 20
        - max(configuration.retransmits ? 2 : 0, configuration.protects ? Parity.mostGrowth : 0))
  }

  /// The frame's packets.
  public mutating func packets(of frame: MediaFrame, at time: Double) -> [[UInt8]] {
    let payloads = packetiser.payloads(of: frame.units)
    return payloads.enumerated().map { index, payload in
      var packet = RTPPacket(
        payloadType: Self.payloadType, sequenceNumber: sequence,
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

  /// The packets that a receiver asks for, once more.
  /// - Parameters:
  ///   - interval: Seconds within which a packet is not sent again.
  ///   - age: Seconds that it was sent ago at least.
  ///   - budget: What may be sent again; the rest is left out.
  ///   - rate: Bits a second of media and repair together.
  public mutating func packets(
    askedFor feedback: [RTCPPacket], at time: Double, interval: Double, age: Double = 0,
    within budget: inout RepairBudget, rate: Double
  ) -> [(number: UInt16, bytes: [UInt8])] {
    guard configuration.retransmits else { return [] }
    var result: [(UInt16, [UInt8])] = []
    for case .retransmissionRequest(_, let media, let numbers) in feedback where media == source {
      let packets = sent.take(numbers, at: time, interval: interval, age: age) {
        budget.take(bits: Self.bits(again: $0), rate: rate, at: time)
      }
      for packet in packets { result.append((packet.sequenceNumber, again(packet))) }
    }
    return result
  }

  /// One of them yet again, without being asked for; nil if it is gone, or beyond the budget.
  public mutating func packet(
    again number: UInt16, at time: Double, within budget: inout RepairBudget, rate: Double
  ) -> [UInt8]? {
    let packets = sent.take([number], at: time, interval: 0) {
      budget.take(bits: Self.bits(again: $0), rate: rate, at: time)
    }
    return packets.first.map { again($0) }
  }

  /// Of a packet when it is sent once more.
  private static func bits(again packet: RTPPacket) -> Int {
    let descriptor = packet.headerExtension.map { 4 + $0.data.count } ?? 0
    return (RTPPacket.fixedHeaderSize + descriptor + 2 + packet.payload.count) * 8
  }

  private mutating func again(_ packet: RTPPacket) -> [UInt8] {
    let bytes = packet.retransmission(
      payloadType: Self.retransmissionPayloadType, source: source &+ 1, sequenceNumber: retransmissionSequence
    ).bytes
    retransmissionSequence &+= 1
    resentPackets += 1
    resentBytes += bytes.count
    return bytes
  }

  /// A sender's report.
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
