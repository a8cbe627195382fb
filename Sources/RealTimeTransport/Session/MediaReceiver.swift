// SPDX-License-Identifier: Apache-2.0
/// The receiving end of a stream. It puts packets in order, reassembles frames, passes those to a
/// decoder of which all references were decoded, and composes the feedback about what is missing.
/// Times are in seconds.
public struct MediaReceiver: Sendable {
  public struct Configuration: Sendable {
    public var codec = VideoCodec.h264
    public var recovery = RecoveryMode.ltr
    /// Whether to ask for lost packets.
    public var retransmits = true
    /// Whether repair packets (forward error correction) may come.
    public var protects = false
    public var frameRate = 30.0
    /// An estimate of the round trip in seconds, until there is a measurement.
    public var roundTrip = 0.1
    /// Whether packets may arrive in another order than they were sent.
    public var reorders = false
    /// The longest round trip, in seconds, at which lost packets are asked for: the picture stands
    /// still meanwhile.
    public var longestRetransmission = 0.25
    /// The CNAME in reports.
    public var name = "receiver"

    public init() {}
  }

  /// A complete frame, all references of which were decoded.
  public struct Frame: Sendable {
    /// The sender's frame number, unwrapped.
    public var number: Int64
    /// The RTP time stamp.
    public var timestamp: UInt32
    /// The NAL units, without start codes.
    public var units: [[UInt8]]
    public var descriptor: FrameDescriptor

    public init(number: Int64, timestamp: UInt32, units: [[UInt8]], descriptor: FrameDescriptor) {
      self.number = number
      self.timestamp = timestamp
      self.units = units
      self.descriptor = descriptor
    }
  }

  /// The numbers of packets and frames so far, by their outcome.
  public struct Counts: Equatable, Sendable {
    public var packets = 0
    public var bytes = 0
    public var decoded = 0
    /// The number of complete frames that the decoder refused although all of their references were
    /// decoded.
    public var decodeErrors = 0
    /// The number of complete frames that could not be decoded because a reference was missing.
    public var unusable = 0
    /// The number of frames of which packets were missing.
    public var incomplete = 0
    /// The number of requests for a frame that does not depend on lost frames.
    public var requests = 0
    /// The number of packets that were asked for, and the number of retransmissions that arrived,
    /// some of them twice.
    public var requestedPackets = 0
    public var recoveredPackets = 0
    public var recoveredBytes = 0
    /// The numbers of repair packets and of their bytes, and of the packets that were recovered
    /// with them.
    public var parityPackets = 0
    public var parityBytes = 0
    public var restoredPackets = 0
    public var acknowledgements = 0
    /// The number of packets that were lost on the path, including those that were received later.
    public var lostPackets = 0

    public init() {}
  }

  /// Decodes a frame; returns false if that fails.
  public typealias Decode = (Frame) throws -> Bool

  /// The time by which packets may be reordered, before it is measured.
  private static let reorderTime = 0.02
  /// The round trip from which a repair packet is waited for before a packet is asked for.
  private static let longRTT = 0.2
  /// The time between two requests for packets that are guessed to be lost in a silence.
  private static let guessInterval = 0.03
  /// The time after which a path whose round trip was too long for retransmissions is measured
  /// again.
  private static let trialInterval = 2.0

  private var configuration: Configuration
  private let source: UInt32
  private let media: UInt32
  private var reorder: ReorderBuffer
  /// The packets to ask for; nil if lost packets are not asked for.
  private var requests: RetransmissionRequests?
  /// Recovers packets; nil if no repair packets come.
  private var parities: ParityReceiver?
  private var depacketiser: FrameDepacketiser
  private var statistics: ReceptionStatistics
  /// Finds packets that are missing although none has arrived after them.
  private var silenceDetector = SilenceDetector()
  private var reorderDelay = ReorderDelay(start: Self.reorderTime)
  private var numbers = SequenceUnwrapper()
  private var lastNumber: Int64?
  /// The numbers of the reference frames that were decoded.
  private var decodedReferences: Set<Int64> = []
  /// The numbers of the frames since the last decoded reference frame that were not decoded and
  /// that others may refer to.
  private(set) var missing: [Int64] = []
  /// The largest size of `missing`, of which the newest are kept.
  static let maxMissing = 512
  /// Whether the sender has to send a frame that does not depend on lost frames.
  private var needsRepair = false
  /// When such a frame was last asked for.
  private var lastRequest = -Double.infinity
  private var lastTrial = 0.0
  /// The pending request for a key frame for a decoder that has not seen the stream: since when it
  /// is pending, and when it was last sent; nil if there is none.
  private var intraRequest: (since: Double, said: Double)?
  /// The sequence number of the last full intra request.
  private var intraNumber: UInt8 = 0
  /// The tokens of long-term references to acknowledge.
  private var pendingTokens: [Int64] = []
  public private(set) var counts = Counts()

  /// Creates a receiver.
  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - source: The synchronisation source of what the receiver sends.
  ///   - media: The synchronisation source of the media.
  public init(_ configuration: Configuration, source: UInt32, media: UInt32) {
    self.configuration = configuration
    self.source = source
    self.media = media
    depacketiser = FrameDepacketiser(configuration.codec)
    reorder = ReorderBuffer(timeout: Self.reorderTime)
    if configuration.retransmits, configuration.recovery.usesFeedback {
      // Where packets are never reordered, a gap is a loss.
      requests = RetransmissionRequests(
        roundTrip: configuration.roundTrip + 0.02, tolerance: configuration.reorders ? Self.reorderTime : 0)
    }
    if configuration.protects { parities = ParityReceiver(media: media) }
    statistics = ReceptionStatistics(source: media)
  }

  /// The number of payloads that violate the codec's payload format.
  public var malformedCount: Int { depacketiser.malformedCount }

  /// The time to call ``release(at:decode:)`` if no packet comes before; nil if no packet waits.
  public var deadline: Double? { reorder.deadline }

  /// Processes an RTP packet. Packets that do not belong to the stream are ignored.
  /// - Parameters:
  ///   - bytes: The packet.
  ///   - time: When it arrived.
  ///   - decode: Called with each frame that can be decoded now.
  /// - Returns: Whether the packet belongs to the stream.
  @discardableResult
  public mutating func receive(_ bytes: [UInt8], at time: Double, decode: Decode) throws -> Bool {
    guard var packet = RTPPacket(bytes) else { return false }
    if packet.source == media &+ 2 {
      guard packet.payloadType == RTPPayloadType.parity, packet.contributors == [media],
        parities != nil,
        let parity = Parity(packet.payload)
      else { return false }
      silenceDetector.recordOtherPacket(at: time)
      counts.parityPackets += 1
      counts.parityBytes += bytes.count
      let restored = parities?.add(parity, at: time) ?? []
      updateTimeouts()
      try processRecovered(restored, at: time, decode)
      return true
    }
    var restored: [[UInt8]] = []
    if packet.source == media, packet.payloadType == RTPPayloadType.media {
      statistics.add(packet, at: time)
      // Where repair packets are waited for, they may still recover the missing packets.
      let isSilent = silenceDetector.isSilent(at: time) && (parities?.wait ?? 0) == 0
      let isGap = requests?.add(packet.sequenceNumber, at: time, isBehindSilence: isSilent) ?? false
      if isGap, isSilent, let requests { reorder.hold(until: time + requests.timeout) }
      silenceDetector.add(packet, at: time)
      counts.packets += 1
      counts.lostPackets = Int(statistics.cumulativeLost)
      counts.bytes += bytes.count
      if configuration.reorders { reorderDelay.add(packet.sequenceNumber, at: time) }
      restored = parities?.add(bytes, at: time) ?? []
    } else {
      guard requests != nil, packet.source == media &+ 1,
        packet.payloadType == RTPPayloadType.retransmission,
        let original = packet.original(payloadType: RTPPayloadType.media, source: media)
      else { return false }
      packet = original
      requests?.addRetransmitted(packet.sequenceNumber, at: time)
      silenceDetector.recordOtherPacket(at: time)
      counts.recoveredPackets += 1
      counts.recoveredBytes += bytes.count
      restored = parities?.add(packet.bytes, at: time) ?? []
    }
    updateTimeouts()
    try reassemble(reorder.add(packet, at: time, isBeginning: isBeginning(packet)), decode)
    try processRecovered(restored, at: time, decode)
    return true
  }

  /// Whether the stream may begin with this packet: it is the first of a key frame, or has no
  /// descriptor. After the first packet of the stream this is always true.
  private func isBeginning(_ packet: RTPPacket) -> Bool {
    guard reorder.next == nil, let descriptor = FrameDescriptor(packet.headerExtension) else { return true }
    return descriptor.isFirstPacket && descriptor.isKeyFrame
  }

  /// Processes the packets that were recovered with repair packets.
  private mutating func processRecovered(_ restored: [[UInt8]], at time: Double, _ decode: Decode) throws {
    for bytes in restored {
      guard let packet = RTPPacket(bytes), packet.payloadType == RTPPayloadType.media else { continue }
      counts.restoredPackets += 1
      requests?.addRecovered(packet.sequenceNumber)
      try reassemble(reorder.add(packet, at: time), decode)
    }
  }

  /// Sets the times to wait for missing packets to what repair takes with the available means.
  private mutating func updateTimeouts() {
    let wait = parities.map { $0.wait > 0 ? $0.wait + 0.005 : 0 } ?? 0
    let isLate = configuration.reorders ? reorderDelay.timeout : 0
    // With a short round trip a request is faster than waiting for a repair packet.
    let isLong = (requests?.roundTrip ?? 0) > max(1.5 * wait, Self.longRTT)
    requests?.tolerance = max(isLong ? wait : 0, isLate)
    silenceDetector.jitter = max(isLate - 0.01, 0)
    reorder.timeout = max(configuration.reorders ? isLate : Self.reorderTime, wait)
    if let requests, asksAgain { reorder.timeout = requests.timeout }
  }

  /// Continues without missing packets that were waited for long enough.
  /// - Parameters:
  ///   - time: The current time.
  ///   - decode: Called with each frame that can be decoded now.
  public mutating func release(at time: Double, decode: Decode) throws {
    try reassemble(reorder.release(at: time), decode)
  }

  /// The time when the next request for lost packets is due; nil if none is.
  public var requestDeadline: Double? {
    guard asksAgain, let requests else { return nil }
    let due = min(requests.deadline ?? .infinity, silenceDetector.due)
    return due < .infinity ? due : nil
  }

  /// Whether a retransmission arrives early enough to be of use.
  private var asksAgain: Bool {
    requests.map { $0.roundTrip <= configuration.longestRetransmission } ?? false
  }

  /// Processes the sender's reports.
  /// - Parameters:
  ///   - packets: A compound packet.
  ///   - time: When it arrived.
  public mutating func receiveControl(_ packets: [RTCPPacket], at time: Double) {
    for case .senderReport(let report) in packets where report.source == media {
      statistics.add(report, at: time)
    }
  }

  /// Sets the round trip that the sender has measured, which is more exact than the receiver's.
  /// - Parameter roundTrip: The round trip.
  public mutating func note(roundTrip: Double) {
    configuration.roundTrip = roundTrip
    requests?.note(roundTrip: roundTrip)
    updateTimeouts()
  }

  // MARK: - Feedback

  /// Composes the feedback to send at once; empty if there is none.
  /// - Parameter time: The current time.
  public mutating func feedback(at time: Double) -> [RTCPPacket] {
    var packets = pendingTokens.map { token in
      RTCPPacket.referenceSelection(
        sender: source, media: media, payloadType: RTPPayloadType.media, token: token)
    }
    counts.acknowledgements += pendingTokens.count
    pendingTokens.removeAll()
    if asksAgain || time >= lastTrial + Self.trialInterval, case let toRequest = packetsToRequest(at: time),
      !toRequest.isEmpty
    {
      lastTrial = time
      // The packets that are asked for now may still arrive early enough.
      if asksAgain, let requests { reorder.hold(until: time + requests.interval) }
      counts.requestedPackets += toRequest.count
      packets.append(.retransmissionRequest(sender: source, media: media, numbers: toRequest))
    }
    if let request = intraRequest(at: time) { packets.append(request) }
    // The request is repeated if it had no effect within this time.
    let timeout = configuration.roundTrip + 2 / configuration.frameRate + 0.02
    // With intra refresh, a request is needed only at the beginning.
    let asks = configuration.recovery.usesFeedback || decodedReferences.isEmpty
    if needsRepair, asks, time >= lastRequest + timeout {
      lastRequest = time
      counts.requests += 1
      switch configuration.recovery {
      case .invalidate:
        packets.append(
          .lostFrames(sender: source, frames: missing.suffix(64).map { UInt16(truncatingIfNeeded: $0) }))
      default: packets.append(.pictureLoss(sender: source, media: media))
      }
    }
    return packets
  }

  /// The packets to ask for: those that are missing, and those that are probably missing because of
  /// a silence.
  private mutating func packetsToRequest(at time: Double) -> [UInt16] {
    guard var toRequest = requests?.nextRequests(at: time) else { return [] }
    if silenceDetector.due <= time {
      toRequest += requests?.guess(silenceDetector.expected, at: time) ?? []
      silenceDetector.noteAsked(at: time, again: max(requests?.roundTrip ?? 0, Self.guessInterval))
    }
    return toRequest
  }

  /// Asks for a key frame until one is decoded, regardless of losses.
  /// - Parameter time: The current time.
  public mutating func requestKeyFrame(at time: Double) {
    guard intraRequest == nil else { return }
    intraNumber &+= 1
    intraRequest = (time, -.infinity)
  }

  /// The full intra request to send now, if one is due.
  private mutating func intraRequest(at time: Double) -> RTCPPacket? {
    guard let request = intraRequest, time >= request.said + configuration.roundTrip + 0.1 else { return nil }
    // The sender makes at most one key frame a second. If none came in that time it was lost, and a
    // new request is needed.
    let isNew = request.said > -.infinity && time >= request.since + configuration.roundTrip + 1.5
    if isNew { intraNumber &+= 1 }
    intraRequest = (isNew ? time : request.since, time)
    counts.requests += isNew || request.said == -.infinity ? 1 : 0
    return .fullIntraRequest(sender: source, media: media, number: intraNumber)
  }

  /// Composes the receiver report and the source description with which every compound packet
  /// begins.
  /// - Parameter time: The current time.
  public mutating func report(at time: Double) -> [RTCPPacket] {
    let block = statistics.report(at: time)
    return [
      .receiverReport(source: source, blocks: block.map { [$0] } ?? []),
      .sourceDescription(source: source, name: configuration.name),
    ]
  }

  // MARK: - Frames

  private mutating func reassemble(
    _ packets: [(packet: RTPPacket, sequence: Int64)], _ decode: Decode
  ) throws {
    if let next = reorder.next { requests?.giveUp(before: next) }
    for (packet, sequence) in packets {
      for unit in depacketiser.add(packet, sequence: sequence) { try receive(unit, decode) }
    }
  }

  private mutating func receive(_ unit: FrameDepacketiser.ReassembledFrame, _ decode: Decode) throws {
    guard let descriptor = unit.descriptor else {
      counts.incomplete += 1
      return
    }
    let number = numbers.unwrap(descriptor.number)
    // Frame numbers that are skipped count as missing; whether they matter is known when a frame
    // depends on them.
    if let last = lastNumber, number > last + 1 {
      missing += max(last + 1, number - Int64(Self.maxMissing))..<number
      trimMissing()
    }
    lastNumber = max(lastNumber ?? number, number)
    guard unit.isComplete else {
      counts.incomplete += 1
      noteMissing(number, descriptor)
      return
    }
    let previous = number + Int64(Int16(bitPattern: descriptor.previous &- descriptor.number))
    let isFree = descriptor.isKeyFrame || descriptor.isRefresh
    let hasAll = isFree || decodedReferences.contains(previous)
    let isSelfHealing = configuration.recovery == .intraRefresh && !decodedReferences.isEmpty
    guard hasAll || isSelfHealing else {
      counts.unusable += 1
      noteMissing(number, descriptor)
      return
    }
    let frame = Frame(number: number, timestamp: unit.timestamp, units: unit.units, descriptor: descriptor)
    guard try decode(frame) else {
      if hasAll { counts.decodeErrors += 1 }
      noteMissing(number, descriptor)
      return
    }
    counts.decoded += 1
    if descriptor.isKeyFrame { intraRequest = nil }
    if !descriptor.isDiscardable {
      if isFree { decodedReferences.removeAll() }
      decodedReferences.insert(number)
      if decodedReferences.count > 256 {
        decodedReferences = decodedReferences.filter { $0 > number - 200 }
      }
      missing.removeAll()
      needsRepair = false
      // The next loss is a new one, and may be reported at once.
      lastRequest = -.infinity
    }
    if let token = descriptor.token { pendingTokens.append(token) }
  }

  private mutating func noteMissing(_ number: Int64, _ descriptor: FrameDescriptor) {
    if descriptor.isDiscardable && !missing.isEmpty || !descriptor.isDiscardable { needsRepair = true }
    if !descriptor.isDiscardable { missing.append(number) }
    trimMissing()
  }

  private mutating func trimMissing() {
    if missing.count > Self.maxMissing { missing.removeFirst(missing.count - Self.maxMissing / 2) }
  }
}
