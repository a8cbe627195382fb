// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// Receives H.264 of one WebRTC peer: order, requests for lost packets, frames, feedback. It has no
/// clock and no socket. Times are in seconds.
///
/// Frames are delivered in decoding order, from a key frame on. After a frame that is not complete
/// the next key frame is waited for and asked for (PLI), since nothing in H.264 itself says which
/// later frames do not depend on the lost one.
public struct VideoReceiver: Sendable {
  public struct Configuration: Sendable {
    /// The synchronisation source of what this end sends.
    public var source: UInt32
    /// The payload types of H.264.
    public var payloadTypes: Set<UInt8>
    /// The payload type that each payload type of retransmissions stands for.
    public var repairTypes: [UInt8: UInt8] = [:]
    public var extensions = ExtensionIdentifiers()
    public var retransmits = true
    /// Whether the peer takes estimates of the rate (REMB).
    public var estimatesRate = false
    public var name = "vtencode"

    public init(source: UInt32, payloadTypes: Set<UInt8>) {
      self.source = source
      self.payloadTypes = payloadTypes
    }
  }

  /// A complete frame.
  public struct Frame: Sendable {
    /// The number of the frame among those that were delivered.
    public var number: Int64
    public var timestamp: UInt32
    /// The NAL units, without start codes.
    public var units: [[UInt8]]
    public var isKeyFrame: Bool
  }

  /// The numbers of what has come so far.
  public struct Counts: Equatable, Sendable {
    public var packets = 0
    public var bytes = 0
    public var recoveredPackets = 0
    public var recoveredBytes = 0
    public var requestedPackets = 0
    /// The number of packets that were lost on the path, including those that came later.
    public var lostPackets = 0
    public var frames = 0
    public var incomplete = 0
    /// The number of complete frames for which a key frame was missing.
    public var unusable = 0
    public var decodeErrors = 0
    /// The number of requests for a key frame.
    public var requests = 0

    public init() {}
  }

  /// Decodes a frame; returns false if that fails.
  public typealias Decode = (Frame) throws -> Bool

  private static let reportInterval = 1.0
  private static let feedbackInterval = 0.05
  /// The longest time for which a packet is waited for: later the picture would freeze.
  private static let maxWait = 0.5
  /// The time after which another source may take the place of a silent one.
  private static let silence = 1.0
  /// The losses from which a request goes twice, the time between both, and the longest round trip
  /// for it: a request is lost as easily as a packet, and to learn that takes a round trip.
  private static let (copiedLoss, copyDelay, longestCopied) = (0.004, 0.012, 0.15)

  private let configuration: Configuration
  /// The media's source, which the first packet tells.
  public private(set) var media: UInt32?
  private var lastPacket = -Double.infinity
  private var reorder = ReorderBuffer(timeout: 0.1)
  private var requests = RetransmissionRequests(roundTrip: 0.1, tolerance: 0.01)
  /// The requests to send once more, and when.
  private var copies: [(due: Double, numbers: [UInt16])] = []
  /// The largest share of packets lost in the last seconds; older ones count for less.
  private var lossShare = 0.0
  private var depacketiser = FrameDepacketiser()
  private var statistics = ReceptionStatistics(source: 0)
  private var arrivals = TransportArrivals()
  private var estimate = ReceiverEstimate()
  private var timestamps: (rtp: UInt32, ntp: UInt64)?
  private var isBroken = true
  private var lastRequest = -Double.infinity
  private var nextReport = Double.infinity
  private var nextFeedback = Double.infinity
  private var outgoing: [[UInt8]] = []
  public private(set) var roundTrip: Double?
  public private(set) var counts = Counts()

  public init(_ configuration: Configuration) { self.configuration = configuration }

  /// Sets the round trip that checks of the path have measured.
  public mutating func note(roundTrip: Double) {
    self.roundTrip = roundTrip
    requests.note(roundTrip: roundTrip)
  }

  /// The time when ``poll(at:decode:)`` is due.
  public var deadline: Double {
    min(
      nextReport, nextFeedback, reorder.deadline ?? .infinity,
      configuration.retransmits ? requestDeadline : .infinity,
      isBroken && media != nil ? lastRequest + requestInterval : .infinity)
  }

  private var requestDeadline: Double {
    min(requests.deadline ?? .infinity, copies.first?.due ?? .infinity)
  }

  private var requestInterval: Double { max(0.2, 2 * (roundTrip ?? 0.1)) }

  /// Removes and returns the RTCP packets to send.
  public mutating func takeOutgoing() -> [[UInt8]] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// The time at which a picture was taken by the sender's clock, as an NTP time; nil before the
  /// sender's first report.
  /// - Parameter timestamp: The RTP time stamp of the picture.
  public func captureTime(of timestamp: UInt32) -> UInt64? {
    timestamps.map { base in
      let ticks = Int64(Int32(bitPattern: timestamp &- base.rtp))
      return base.ntp &+ UInt64(bitPattern: ticks * 47_722)  // 2^32 / 90,000 is 47,721.86.
    }
  }

  /// Processes an RTP packet; those of other streams are ignored.
  /// - Parameters:
  ///   - bytes: The packet, decrypted.
  ///   - time: When it came.
  ///   - decode: Called with each frame that can be decoded now.
  public mutating func receive(_ bytes: [UInt8], at time: Double, decode: Decode) throws {
    guard var packet = RTPPacket(bytes) else { return }
    let extensions = PacketExtensions(packet.headerExtension, configuration.extensions)
    // Feedback is about all packets, whatever they carry.
    if let number = extensions.transportSequence {
      arrivals.add(number, at: time)
      if nextFeedback == .infinity { nextFeedback = time + Self.feedbackInterval }
    }
    if configuration.payloadTypes.contains(packet.payloadType) {
      guard belongs(packet, at: time) else { return }
      lastPacket = time
      counts.packets += 1
      counts.bytes += bytes.count
      statistics.add(packet, at: time)
      counts.lostPackets = Int(max(statistics.cumulativeLost, 0))
      requests.add(packet.sequenceNumber, at: time)
      if configuration.estimatesRate, let sendTime = extensions.sendTime {
        estimate.add(packet.sequenceNumber, sendTime: sendTime, bits: bytes.count * 8, at: time)
      }
    } else if let original = configuration.repairTypes[packet.payloadType], let media {
      // An empty one only probes the path.
      guard let restored = packet.original(payloadType: original, source: media), !restored.payload.isEmpty
      else { return }
      packet = restored
      counts.recoveredPackets += 1
      counts.recoveredBytes += bytes.count
      requests.addRetransmitted(packet.sequenceNumber, at: time)
    } else {
      return
    }
    // As long as three requests take: a key frame, which is the alternative, takes longer.
    reorder.timeout =
      configuration.retransmits ? min(requests.timeout + requests.interval, Self.maxWait) : 0.02
    // Padding without a payload only probes the path, but has its number.
    try take(reorder.add(packet, at: time), at: time, decode)
  }

  /// Whether a packet is of the stream, which begins with the first one, and again where a server
  /// continues with another source.
  private mutating func belongs(_ packet: RTPPacket, at time: Double) -> Bool {
    if packet.source == media { return true }
    guard media == nil || time - lastPacket > Self.silence else { return false }
    media = packet.source
    statistics = ReceptionStatistics(source: packet.source)
    reorder = ReorderBuffer(timeout: 0.1)
    requests = RetransmissionRequests(roundTrip: roundTrip ?? 0.1, tolerance: 0.01)
    copies.removeAll()
    depacketiser = FrameDepacketiser()
    timestamps = nil
    isBroken = true
    nextReport = time + Self.reportInterval
    return true
  }

  /// Processes the peer's RTCP.
  public mutating func receiveControl(_ packets: [RTCPPacket], at time: Double) {
    for case .senderReport(let report) in packets where report.source == media {
      statistics.add(report, at: time)
      timestamps = (report.rtpTime, report.ntpTime)
    }
  }

  /// Whether the peer has said that its stream ends.
  public func isGoodbye(_ packets: [RTCPPacket]) -> Bool {
    packets.contains { if case .bye(let source) = $0 { source == media } else { false } }
  }

  /// Does what is due.
  public mutating func poll(at time: Double, decode: Decode) throws {
    try take(reorder.release(at: time), at: time, decode)
    var packets: [RTCPPacket] = []
    guard let media else { return }
    if time >= nextReport {
      nextReport = time + Self.reportInterval
      let block = statistics.report(at: time)
      lossShare = max(Double(block?.fractionLost ?? 0) / 256, lossShare * 0.75)
      packets.append(.receiverReport(source: configuration.source, blocks: block.map { [$0] } ?? []))
      packets.append(.sourceDescription(source: configuration.source, name: configuration.name))
      if configuration.estimatesRate, let rate = estimate.take(at: time, roundTrip: roundTrip ?? 0.1) {
        packets.append(
          .receiverEstimate(sender: configuration.source, sources: [media], bitsPerSecond: UInt64(rate)))
      }
    }
    if time >= nextFeedback {
      nextFeedback = .infinity
      if let report = arrivals.report(sender: configuration.source, media: media) { packets.append(report) }
    }
    if configuration.retransmits, case let numbers = packetsToRequest(at: time), !numbers.isEmpty {
      counts.requestedPackets += numbers.count
      packets.append(.retransmissionRequest(sender: configuration.source, media: media, numbers: numbers))
    }
    if isBroken, time >= lastRequest + requestInterval {
      lastRequest = time
      counts.requests += 1
      packets.append(.pictureLoss(sender: configuration.source, media: media))
    }
    if !packets.isEmpty { outgoing.append(RTCPPacket.compound(packets)) }
  }

  /// The packets to ask for: those that are missing, and those of a request that is sent once more.
  private mutating func packetsToRequest(at time: Double) -> [UInt16] {
    let asked = requests.nextRequests(at: time)
    var numbers = asked
    while let copy = copies.first, copy.due <= time {
      copies.removeFirst()
      numbers += copy.numbers.filter { requests.isAwaited($0) && !asked.contains($0) }
    }
    if lossShare > Self.copiedLoss, requests.roundTrip < Self.longestCopied, !asked.isEmpty {
      copies.append((time + Self.copyDelay, asked))
    }
    return numbers
  }

  private mutating func take(
    _ packets: [(packet: RTPPacket, sequence: Int64)], at time: Double, _ decode: Decode
  ) throws {
    if let next = reorder.next { requests.giveUp(before: next) }
    for (packet, sequence) in packets {
      for frame in depacketiser.add(packet, sequence: sequence)
      where !(frame.units.isEmpty && frame.isComplete) {
        try take(frame, decode)
      }
    }
  }

  private mutating func take(_ frame: FrameDepacketiser.ReassembledFrame, _ decode: Decode) throws {
    guard frame.isComplete else {
      counts.incomplete += 1
      isBroken = true
      return
    }
    let isKeyFrame = frame.units.contains { ($0.first ?? 0) & 31 == 5 }
    guard isKeyFrame || !isBroken else {
      counts.unusable += 1
      return
    }
    counts.frames += 1
    let good = try decode(
      Frame(
        number: Int64(counts.frames), timestamp: frame.timestamp, units: frame.units, isKeyFrame: isKeyFrame))
    if !good { counts.decodeErrors += 1 }
    if isBroken, good { lastRequest = -.infinity }
    isBroken = !good
  }
}
