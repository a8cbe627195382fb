// SPDX-License-Identifier: Apache-2.0

/// Sends packets of Opus in RTP (RFC 7587): one audio packet in each packet of RTP, lost ones
/// again, and the reports by which a receiver plays audio and pictures together. It has no clock
/// and no socket. Times are in seconds.
public struct AudioSender: Sendable {
  /// The rate of RTP's clock for Opus in ticks per second, whatever the rate of the audio is (RFC
  /// 7587, 4.1).
  public static let rtpRate = 48_000.0

  public struct Configuration: Sendable {
    public var source: UInt32
    public var payloadType: UInt8
    /// The header extension of all packets; nil for none.
    public var headerExtension: RTPPacket.HeaderExtension?
    /// Whether the other end asks for lost packets.
    public var retransmits = false
    /// The source and the payload type of retransmissions; nil if the other end does not know them:
    /// the same packets are then sent again.
    public var repairSource: UInt32?
    public var repairType: UInt8?
    /// The highest bit rate that the other end wants, in bits per second; nil if it does not say.
    public var maxRate: Int?
    public var clock = MediaClock.simulated
    /// The canonical name (CNAME), which is that of the pictures: only streams of one name are
    /// played together (RFC 3550, 6.5.1).
    public var name = "vtencode"
    /// Below 2^15, so that the number does not wrap before the peer has seen some (RFC 3711,
    /// 3.3.1).
    public var firstSequence: UInt16
    public var timestampOffset: UInt32

    public init(source: UInt32, payloadType: UInt8) {
      self.source = source
      self.payloadType = payloadType
      var random = SystemRandomNumberGenerator()
      firstSequence = random.next() & 0x7FFF
      timestampOffset = random.next()
    }
  }

  /// The numbers of what was sent so far, retransmissions apart.
  public struct Counts: Equatable, Sendable {
    public var packets = 0
    public var bytes = 0
    public var resentPackets = 0
    public var resentBytes = 0

    public init() {}
  }

  private static let reportInterval = 1.0
  /// The rate in bits per second by which retransmissions are limited (``RepairBudget``).
  private static let budgetRate = 300_000.0

  public let configuration: Configuration
  private var sequence: UInt16
  private var repairSequence: UInt16
  private var kept = RetransmissionBuffer()
  private var budget = RepairBudget()
  private var octets: UInt32 = 0
  /// The last packet: its position, its end, and when it was taken.
  private var last: (position: Int64, end: Int64, captured: Double)?
  private var nextReport = Double.infinity
  private var outgoing: [(bytes: [UInt8], isControl: Bool)] = []
  public private(set) var counts = Counts()

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    sequence = configuration.firstSequence
    repairSequence = configuration.firstSequence
  }

  /// The time when ``poll(at:)`` is due.
  public var deadline: Double { nextReport }

  /// Removes and returns the packets to send, in order.
  public mutating func takeOutgoing() -> [(bytes: [UInt8], isControl: Bool)] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// Sends a packet of Opus.
  /// - Parameters:
  ///   - payload: The packet.
  ///   - position: The place of its first sample in the audio, in samples of 48 kHz.
  ///   - samples: Its length, in samples of 48 kHz.
  ///   - captured: When its first sample was taken.
  ///   - time: The current time.
  public mutating func send(
    _ payload: [UInt8], position: Int64, samples: Int, captured: Double, at time: Double
  ) {
    var packet = RTPPacket(
      payloadType: configuration.payloadType, sequenceNumber: sequence, timestamp: timestamp(position),
      source: configuration.source, payload: payload)
    packet.headerExtension = configuration.headerExtension
    // The first packet after a pause (RFC 7587, 4.2; RFC 3551, 4.1).
    packet.marker = last?.end != position
    let isFirst = last == nil
    last = (position, position + Int64(samples), captured)
    if isFirst {
      nextReport = time + Self.reportInterval
      report(at: time, isBye: false)
    }
    sequence &+= 1
    octets &+= UInt32(truncatingIfNeeded: payload.count)
    if configuration.retransmits { kept.keep(packet, at: time) }
    let bytes = packet.bytes
    counts.packets += 1
    counts.bytes += bytes.count
    outgoing.append((bytes, false))
  }

  private func timestamp(_ position: Int64) -> UInt32 {
    configuration.timestampOffset &+ UInt32(truncatingIfNeeded: position)
  }

  /// Does what is due.
  public mutating func poll(at time: Double) {
    guard time >= nextReport else { return }
    nextReport = time + Self.reportInterval
    report(at: time, isBye: false)
  }

  /// Tells the other end that the stream ends.
  public mutating func sayGoodbye(at time: Double) {
    if last != nil { report(at: time, isBye: true) }
  }

  private mutating func report(at time: Double, isBye: Bool) {
    guard let last else { return }
    let elapsed = Int64(((time - last.captured) * Self.rtpRate).rounded())
    var packets: [RTCPPacket] = [
      .senderReport(
        .init(
          source: configuration.source, ntpTime: configuration.clock.ntpTime(at: time),
          rtpTime: timestamp(last.position + elapsed), packets: UInt32(truncatingIfNeeded: counts.packets),
          octets: octets)),
      .sourceDescription(source: configuration.source, name: configuration.name),
    ]
    if isBye { packets.append(.bye(source: configuration.source)) }
    outgoing.append((RTCPPacket.compound(packets), true))
  }

  /// Sends the packets again that the other end asks for.
  /// - Parameters:
  ///   - packets: A compound packet.
  ///   - time: When it came.
  ///   - pause: The shortest time between two retransmissions of a packet.
  public mutating func receive(_ packets: [RTCPPacket], at time: Double, pause: Double = 0.02) {
    guard configuration.retransmits else { return }
    for case .retransmissionRequest(_, let media, let numbers) in packets where media == configuration.source
    {
      let again = kept.packetsToResend(numbers, at: time, interval: pause) { packet in
        budget.spend(bits: (packet.payload.count + 40) * 8, rate: Self.budgetRate, at: time)
      }
      for packet in again { send(again: packet) }
    }
  }

  private mutating func send(again packet: RTPPacket) {
    var bytes = packet.bytes
    if let type = configuration.repairType, let source = configuration.repairSource {
      bytes =
        packet.retransmission(payloadType: type, source: source, sequenceNumber: repairSequence).bytes
      repairSequence &+= 1
    }
    counts.resentPackets += 1
    counts.resentBytes += bytes.count
    outgoing.append((bytes, false))
  }
}
