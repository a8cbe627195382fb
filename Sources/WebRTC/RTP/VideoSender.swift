// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// Sends H.264 to one WebRTC peer: packets, retransmissions (RFC 4588), reports, and the rate that
/// the path carries. It has no clock and no socket. Times are in seconds.
///
/// The rate follows the peer's feedback about each packet (transport-wide congestion control), by
/// the controller that calls use. A peer without it sends estimates (REMB) or reports of losses:
/// the rate is then the lower one of both (draft-ietf-rmcat-gcc-02, 6). Lost packets are sent
/// again, within ``RepairBudget``. What is lost nevertheless takes a key frame: browsers discard
/// frames after a loss up to a key frame, so that no other frame would help them. A peer without
/// feedback about each packet is made to ask again, by a ``RequestProbe``, since its requests get
/// lost too.
public struct VideoSender: Sendable {
  private static let reportInterval = 1.0
  /// The losses from which an answer to a request goes twice, the time between both, and the
  /// largest number of packets of such an answer: some peers ask for a packet only once.
  private static let (copiedLoss, copyDelay, maxCopied) = (0.004, 0.012, 2)
  /// The shortest time between two key frames that a peer causes.
  private static let keyFrameInterval = 1.0

  public let configuration: Configuration
  private let packetiser: FramePacketiser
  private var sequence: UInt16
  private var repairSequence: UInt16
  private var transportSequence: UInt16
  private let timestampOffset: UInt32
  private var kept = RetransmissionBuffer()
  private var budget = RepairBudget()
  private var controller: CongestionController
  private var sent = TransportHistory()
  private var lossRate: LossBasedRate
  private var octets: UInt32 = 0
  private var nextReport = Double.infinity
  private var unanswered: Double?
  private var resent = RecentBits()
  /// The sequence numbers of packets to send once more, and when.
  private var copies: [(due: Double, number: UInt16)] = []
  private var probe = RequestProbe()
  private var lastKeyFrame = -Double.infinity
  private var outgoing: [(bytes: [UInt8], isControl: Bool)] = []
  /// Whether the next frame has to be a key frame.
  public private(set) var wantsKeyFrame = true
  public private(set) var roundTrip: Double?
  /// The fraction of packets that the peer's last report calls lost.
  public private(set) var lossShare = 0.0
  public private(set) var counts = Counts()

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    var random = SystemRandomNumberGenerator()
    // Below 2^15, so that the number does not wrap before the peer has seen some (RFC 3711, 3.3.1).
    sequence = random.next() & 0x7FFF
    repairSequence = random.next() & 0x7FFF
    transportSequence = random.next()
    timestampOffset = random.next()
    packetiser = FramePacketiser(
      maximumPayload: configuration.packetSize - RTPPacket.fixedHeaderSize - 2
        - PacketExtensions.maxSize(mid: configuration.mid))
    controller = CongestionController(configuration.rates)
    lossRate = LossBasedRate(configuration.rates)
  }

  /// The bit rate that the path carries, of media and repair together.
  private var wholeRate: Double {
    configuration.hasTransportFeedback ? controller.targetRate : lossRate.rate
  }

  /// The bit rate that the encoder may produce, in bits per second.
  /// - Parameter time: The current time.
  public mutating func targetRate(at time: Double) -> Double {
    max(wholeRate * 0.95 - resent.rate(at: time), wholeRate / 2)
  }

  /// Whether another picture would only wait in a queue, and had better be left out.
  public func isOverfull(at time: Double) -> Bool {
    configuration.hasTransportFeedback && controller.isOverfull(at: time)
  }

  /// Demands a key frame because frames were left out for this peer.
  public mutating func requireKeyFrame() { wantsKeyFrame = true }

  /// The time when ``poll(at:)`` is due.
  public var deadline: Double { min(nextReport, copies.first?.due ?? .infinity) }

  /// Removes and returns the packets to send, in order.
  public mutating func takeOutgoing() -> [(bytes: [UInt8], isControl: Bool)] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// Does what is due.
  public mutating func poll(at time: Double) {
    if let since = unanswered, configuration.hasTransportFeedback,
      time - since > 0.5 + 2 * min(roundTrip ?? 0.25, 1)
    {
      controller.noteSilence(at: time)
    }
    while let copy = copies.first, copy.due <= time {
      copies.removeFirst()
      let rate = wholeRate
      for packet in take([copy.number], interval: 0, rate: rate, at: time) { again(packet, at: time) }
    }
    guard time >= nextReport else { return }
    nextReport = time + Self.reportInterval
    report(at: time, isBye: false)
  }

  /// Tells the peer that the stream ends.
  public mutating func sayGoodbye(at time: Double) { report(at: time, isBye: true) }

  private mutating func report(at time: Double, isBye: Bool) {
    var packets: [RTCPPacket] = [
      .senderReport(
        .init(
          source: configuration.source, ntpTime: configuration.clock.ntpTime(at: time),
          rtpTime: MediaClock.rtpTime(at: time, offset: timestampOffset),
          packets: UInt32(truncatingIfNeeded: counts.packets), octets: octets)),
      .sourceDescription(source: configuration.source, name: configuration.name),
    ]
    if isBye { packets.append(.bye(source: configuration.source)) }
    outgoing.append((RTCPPacket.compound(packets), true))
  }

  /// Sends a coded frame.
  /// - Parameters:
  ///   - units: The frame's NAL units, without start codes; a key frame begins with its parameter
  ///     sets.
  ///   - isKeyFrame: Whether decoding may begin with it.
  ///   - captured: When its picture was taken.
  ///   - time: The current time.
  public mutating func send(_ units: [[UInt8]], isKeyFrame: Bool, captured: Double, at time: Double) {
    if counts.frames == 0 {
      nextReport = time + Self.reportInterval
      report(at: time, isBye: false)
    }
    counts.frames += 1
    if isKeyFrame {
      counts.keyFrames += 1
      lastKeyFrame = time
      wantsKeyFrame = false
    }
    for var packet in packets(of: units, captured: captured, at: time) {
      octets &+= UInt32(packet.payload.count)
      counts.packets += 1
      counts.bytes += send(&packet, media: packet.sequenceNumber, at: time)
      if configuration.retransmits { kept.keep(packet, at: time) }
    }
    unanswered = unanswered ?? time
  }

  /// The packets of a frame, in the order in which they go: their numbers' order, unless the peer
  /// has to find a gap.
  private mutating func packets(of units: [[UInt8]], captured: Double, at time: Double) -> [RTPPacket] {
    var payloads = packetiser.payloads(of: units)
    let probes = configuration.retransmits && !configuration.hasTransportFeedback && probe.isActive(at: time)
    if probes, payloads.count == 1 {
      // Two can change places.
      let half = FramePacketiser(maximumPayload: payloads[0].count / 2 + 4)
      payloads = half.payloads(of: units)
    }
    var packets = payloads.map { payload in
      defer { sequence &+= 1 }
      return RTPPacket(
        payloadType: configuration.payloadType, sequenceNumber: sequence,
        timestamp: MediaClock.rtpTime(at: captured, offset: timestampOffset), source: configuration.source,
        payload: payload)
    }
    guard !packets.isEmpty else { return [] }
    packets[packets.count - 1].marker = true
    if probes, packets.count > 1 {
      packets.swapAt(0, 1)
      probe.noteLate(packets[1].sequenceNumber, at: time)
    }
    return packets
  }

  /// Adds the header extensions and sends a packet.
  /// - Returns: Its size in bytes.
  private mutating func send(_ packet: inout RTPPacket, media: UInt16, at time: Double) -> Int {
    var extensions = PacketExtensions()
    extensions.transportSequence = transportSequence
    extensions.sendTime = PacketExtensions.sendTime(at: time)
    extensions.mid = configuration.mid
    packet.headerExtension = extensions.content(configuration.extensions)
    let bytes = packet.bytes
    sent.add(transportSequence, media: media, bits: bytes.count * 8, at: time)
    controller.noteSent(bits: bytes.count * 8, at: time)
    transportSequence &+= 1
    outgoing.append((bytes, false))
    return bytes.count
  }

  /// Processes the peer's RTCP.
  /// - Parameters:
  ///   - packets: A compound packet.
  ///   - time: When it came.
  public mutating func receive(_ packets: [RTCPPacket], at time: Double) {
    for packet in packets {
      switch packet {
      case .receiverReport(_, let blocks):
        for block in blocks where block.source == configuration.source { take(block, at: time) }
      case .retransmissionRequest(_, let media, let numbers) where media == configuration.source:
        sendAgain(numbers, at: time)
      case .pictureLoss(_, let media) where media == configuration.source: requestKeyFrame(at: time)
      case .fullIntraRequest(_, let media, _) where media == configuration.source: requestKeyFrame(at: time)
      case .transportFeedback(_, _, let feedback):
        unanswered = nil
        let report = sent.results(feedback)
        controller.update(report.packets, at: time, roundTrip: min(roundTrip ?? 0.1, 1))
        sendAgain(lost: report.lost, at: time)
      case .receiverEstimate(_, let sources, let rate) where sources.contains(configuration.source):
        lossRate.limit = Double(rate)
      default: break
      }
    }
  }

  private mutating func requestKeyFrame(at time: Double) {
    // A request that was sent before the last key frame arrived is about the same loss. A later one
    // is repeated by the peer until it is answered.
    guard time >= lastKeyFrame + max(roundTrip ?? 0, Self.keyFrameInterval) else { return }
    if !wantsKeyFrame { counts.requests += 1 }
    wantsKeyFrame = true
  }

  private mutating func take(_ block: RTCPPacket.ReportBlock, at time: Double) {
    lossShare = Double(block.fractionLost) / 256
    // The request for the first lost packet may have been lost.
    if block.fractionLost > 0 { probe.noteLoss(at: time) }
    lossRate.update(loss: lossShare, at: time)
    guard block.lastReport != 0 else { return }
    let now = UInt32(truncatingIfNeeded: configuration.clock.ntpTime(at: time) >> 16)
    let trip = Double(now &- block.lastReport &- block.delaySinceLastReport) / 65_536
    // A longer one comes from a wrong time stamp.
    if trip < 5 { roundTrip = roundTrip.map { $0 + (trip - $0) / 4 } ?? trip }
  }

  private mutating func sendAgain(_ numbers: [UInt16], at time: Double) {
    guard configuration.retransmits else { return }
    let numbers = numbers.filter { !probe.explains($0, roundTrip: roundTrip, at: time) }
    guard !numbers.isEmpty else { return }
    if numbers.contains(where: { !probe.wasLate($0) }) { probe.noteLoss(at: time) }
    let rate = wholeRate
    let pause = max(min(roundTrip ?? 0.02, 0.5) * 0.9, 0.005)
    let packets = take(numbers, interval: pause, rate: rate, at: time)
    counts.ignoredRequests = budget.refused
    for packet in packets { again(packet, at: time) }
    guard lossShare > Self.copiedLoss, packets.count <= Self.maxCopied, copies.count < 64 else { return }
    for packet in packets { copies.append((time + Self.copyDelay, packet.sequenceNumber)) }
  }

  /// Sends what feedback tells to be lost, unless it was sent again since: the request may have
  /// been lost, and browsers repeat it late where they do not know the round trip.
  private mutating func sendAgain(lost: [(number: UInt16, sent: Double)], at time: Double) {
    guard configuration.retransmits else { return }
    let rate = wholeRate
    for (number, sent) in lost {
      for packet in take([number], interval: time - sent - 1e-6, rate: rate, at: time) {
        again(packet, at: time)
      }
    }
    counts.ignoredRequests = budget.refused
  }

  /// The packets that may be sent again now, within the budget.
  private mutating func take(
    _ numbers: [UInt16], interval: Double, rate: Double, at time: Double
  ) -> [RTPPacket] {
    kept.packetsToResend(numbers, at: time, interval: interval) { packet in
      budget.spend(bits: (packet.payload.count + 40) * 8, rate: rate, at: time)
    }
  }

  /// Sends a packet again.
  private mutating func again(_ packet: RTPPacket, at time: Double) {
    let size: Int
    if let type = configuration.repairType, let source = configuration.repairSource {
      var again = packet.retransmission(payloadType: type, source: source, sequenceNumber: repairSequence)
      repairSequence &+= 1
      size = send(&again, media: packet.sequenceNumber, at: time)
    } else {
      // Unchanged to the last byte: the same part of SRTP's key stream hides it.
      let bytes = packet.bytes
      size = bytes.count
      controller.noteSent(bits: size * 8, at: time)
      outgoing.append((bytes, false))
    }
    counts.resentPackets += 1
    counts.resentBytes += size
    resent.add(size * 8, at: time)
  }
}
