// SPDX-License-Identifier: Apache-2.0

/// Receives packets of Opus in RTP (RFC 7587): order, requests for lost packets, and the times by
/// which audio and pictures are played together. It has no clock and no socket. Times are in
/// seconds.
public struct AudioReceiver: Sendable {
  public struct Configuration: Sendable {
    /// The synchronisation source of what this end sends.
    public var source: UInt32
    public var payloadTypes: Set<UInt8>
    /// The payload types of retransmissions, whose packets begin with the original number.
    public var repairTypes: Set<UInt8> = []
    /// The source of the audio; nil if its first packet tells.
    public var media: UInt32?
    /// Whether the other end sends lost packets again.
    public var retransmits = false
    public var name = "vtencode"

    public init(source: UInt32, payloadTypes: Set<UInt8>) {
      self.source = source
      self.payloadTypes = payloadTypes
    }
  }

  /// A packet of Opus.
  public struct Packet: Equatable, Sendable {
    public var payload: [UInt8]
    /// Its RTP time stamp, and the same without wrapping, from that of the first packet on.
    public var timestamp: UInt32
    public var position: Int64
  }

  /// The numbers of what has come so far.
  public struct Counts: Equatable, Sendable {
    public var packets = 0
    public var bytes = 0
    /// The number of packets that came again after a request.
    public var recoveredPackets = 0
    /// The number of packets that never came, or too late.
    public var lostPackets = 0

    public init() {}
  }

  private static let reportInterval = 1.0
  /// The time for which a packet is waited for that may only be late, and the longest time for one
  /// that was asked for.
  private static let (patience, maxWait) = (0.06, 0.3)
  /// The time after which another source may take the place of a silent one.
  private static let silence = 1.0
  /// The longest packet of Opus in bytes: 120 ms in frames of 1,275 bytes and their lengths (RFC
  /// 6716, 3.4).
  public static let maxPacket = 48 * (1275 + 2) + 2
  /// The largest number of packets that wait to be taken.
  private static let maxPackets = 1024

  private let configuration: Configuration
  /// The audio's source, which the first packet tells.
  public private(set) var media: UInt32?
  private var lastPacket = -Double.infinity
  private var reorder = ReorderBuffer(timeout: AudioReceiver.patience)
  private var requests = RetransmissionRequests(roundTrip: 0.1, tolerance: 0.02)
  private var statistics = ReceptionStatistics(source: 0)
  private var mapping: (rtp: UInt32, ntp: UInt64)?
  private var last: (timestamp: UInt32, position: Int64, sequence: Int64)?
  private var nextReport = Double.infinity
  private var packets: [Packet] = []
  private var outgoing: [[RTCPPacket]] = []
  public private(set) var counts = Counts()

  public init(_ configuration: Configuration) { self.configuration = configuration }

  /// The time when ``poll(at:)`` is due.
  public var deadline: Double {
    min(
      nextReport, reorder.deadline ?? .infinity,
      configuration.retransmits ? requests.deadline ?? .infinity : .infinity)
  }

  /// Sets the round trip that checks of the path have measured.
  public mutating func note(roundTrip: Double) { requests.note(roundTrip: roundTrip) }

  /// Removes and returns the audio packets that came, in order.
  public mutating func takePackets() -> [Packet] {
    defer { packets.removeAll(keepingCapacity: true) }
    return packets
  }

  /// Removes and returns the compound RTCP packets to send.
  public mutating func takeOutgoing() -> [[RTCPPacket]] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// The time at which a sample was taken by the sender's clock, as an NTP time; nil before the
  /// sender's first report.
  /// - Parameter timestamp: The RTP time stamp of the sample.
  public func captureTime(of timestamp: UInt32) -> UInt64? {
    mapping.map { base in
      let ticks = Double(Int32(bitPattern: timestamp &- base.rtp))
      return base.ntp &+ UInt64(bitPattern: Int64(ticks / AudioSender.rtpRate * 4_294_967_296))
    }
  }

  /// Processes an RTP packet.
  /// - Parameters:
  ///   - bytes: The packet, decrypted.
  ///   - time: When it came.
  /// - Returns: Whether it was of the audio.
  @discardableResult
  public mutating func receive(_ bytes: [UInt8], at time: Double) -> Bool {
    guard var packet = RTPPacket(bytes), packet.payload.count <= Self.maxPacket + 2 else { return false }
    if configuration.payloadTypes.contains(packet.payloadType) {
      guard belongs(packet, at: time) else { return false }
      lastPacket = time
      counts.packets += 1
      counts.bytes += bytes.count
      statistics.add(packet, at: time)
      requests.add(packet.sequenceNumber, at: time)
    } else if configuration.repairTypes.contains(packet.payloadType), let media,
      let type = configuration.payloadTypes.first
    {
      guard let original = packet.original(payloadType: type, source: media) else { return false }
      packet = original
      counts.recoveredPackets += 1
      counts.bytes += bytes.count
      requests.addRetransmitted(packet.sequenceNumber, at: time)
    } else {
      return false
    }
    reorder.timeout =
      configuration.retransmits ? min(requests.timeout, Self.maxWait) : Self.patience
    take(reorder.add(packet, at: time))
    return true
  }

  /// Whether a packet is of the stream, which begins with the first one, and again where the other
  /// end continues with another source.
  private mutating func belongs(_ packet: RTPPacket, at time: Double) -> Bool {
    if packet.source == media { return true }
    guard configuration.media == nil || packet.source == configuration.media,
      media == nil || time - lastPacket > Self.silence
    else { return false }
    media = packet.source
    statistics = ReceptionStatistics(source: packet.source, clockRate: AudioSender.rtpRate)
    reorder = ReorderBuffer(timeout: Self.patience)
    requests = RetransmissionRequests(roundTrip: requests.roundTrip, tolerance: 0.02)
    mapping = nil
    // The next one's time stamps have nothing to do with those before it.
    last = nil
    nextReport = time + Self.reportInterval
    return true
  }

  /// Processes the sender's RTCP.
  public mutating func receiveControl(_ packets: [RTCPPacket], at time: Double) {
    for case .senderReport(let report) in packets where report.source == media {
      statistics.add(report, at: time)
      mapping = (report.rtpTime, report.ntpTime)
    }
  }

  /// Does what is due.
  public mutating func poll(at time: Double) {
    take(reorder.release(at: time))
    guard let media else { return }
    if time >= nextReport {
      nextReport = time + Self.reportInterval
      let block = statistics.report(at: time)
      outgoing.append([
        .receiverReport(source: configuration.source, blocks: block.map { [$0] } ?? []),
        .sourceDescription(source: configuration.source, name: configuration.name),
      ])
    }
    if configuration.retransmits, case let numbers = requests.nextRequests(at: time), !numbers.isEmpty {
      outgoing.append([
        .retransmissionRequest(sender: configuration.source, media: media, numbers: numbers)
      ])
    }
  }

  private mutating func take(_ released: [(packet: RTPPacket, sequence: Int64)]) {
    if let next = reorder.next { requests.giveUp(before: next) }
    for (packet, sequence) in released {
      let before = last ?? (packet.timestamp, 0, sequence - 1)
      let position = before.position + Int64(Int32(bitPattern: packet.timestamp &- before.timestamp))
      last = (packet.timestamp, position, sequence)
      counts.lostPackets += Int(clamping: sequence - before.sequence - 1)
      // An empty packet is padding, or a pause.
      guard !packet.payload.isEmpty, packets.count < Self.maxPackets else { continue }
      packets.append(
        Packet(payload: packet.payload, timestamp: packet.timestamp, position: position))
    }
  }
}
