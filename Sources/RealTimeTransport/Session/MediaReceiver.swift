// SPDX-License-Identifier: Apache-2.0
/// The receiving end of a stream: puts packets in order, frames together, gives those to a decoder that it has all for,
/// and says what it lacks.
public struct MediaReceiver: Sendable {
  public struct Configuration: Sendable {
    public var recovery = RecoveryMode.ltr
    /// Lost packets are asked for.
    public var retransmits = true
    /// Repair packets may come.
    public var protects = false
    public var frameRate = 30.0
    /// Seconds: a guess, until there is a measurement.
    public var roundTrip = 0.1
    /// Packets may come in another order than they were sent.
    public var reorders = false
    /// Longest round trip in seconds at which retransmission is tried: the picture stands still meanwhile.
    public var longestRetransmission = 0.25
    /// Name in reports.
    public var name = "receiver"

    public init() {}
  }

  /// A frame that is whole, and of which all that it depends on was decoded.
  public struct Frame: Sendable {
    /// The sender's number, unwrapped.
    public var number: Int64
    /// RTP's.
    public var timestamp: UInt32
    public var units: [[UInt8]]
    public var descriptor: FrameDescriptor
  }

  /// What came, and what became of it.
  public struct Counts: Equatable, Sendable {
    public var packets = 0
    public var bytes = 0
    public var decoded = 0
    /// Complete frames that the decoder refused although the receiver had all that they depend on.
    public var decodeErrors = 0
    /// Frames that came and were of no use, since something before them was missing.
    public var unusable = 0
    /// Frames of which packets were missing.
    public var incomplete = 0
    /// Requests for a frame that depends on nothing lost.
    public var requests = 0
    /// Packets that were asked for again, and that came then: some of them twice.
    public var requestedPackets = 0
    public var recoveredPackets = 0
    public var recoveredBytes = 0
    /// Repair packets, and what came back by them.
    public var parityPackets = 0
    public var parityBytes = 0
    public var restoredPackets = 0
    public var acknowledgements = 0
    /// Packets that the line lost, whether they came again or not.
    public var lostPackets = 0

    public init() {}
  }

  /// Takes a frame; false if it cannot be decoded.
  public typealias Decode = (Frame) throws -> Bool

  /// Seconds that a packet may come after those that were sent behind it, before that is known.
  private static let reorderTime = 0.02
  /// Seconds of round trip from which a repair packet is waited for before a packet is asked for.
  private static let longTrip = 0.2
  /// Seconds from one guess at what is lost in a silence to the next.
  private static let guessInterval = 0.03
  /// Seconds after which a way that was too long for retransmissions is measured again.
  private static let trialInterval = 2.0

  private var configuration: Configuration
  private let source: UInt32
  private let media: UInt32
  private var reorder: ReorderBuffer
  /// nil: lost packets are not asked for.
  private var requests: RetransmissionRequests?
  /// nil: there are no repair packets.
  private var parities: ParityReceiver?
  private var depacketiser = H264Depacketiser()
  private var statistics: ReceptionStatistics
  /// When the frame's next packet counts as missing, though nothing came behind it.
  private var tail = FrameTail()
  private var reorderDelay = ReorderDelay(start: Self.reorderTime)
  private var numbers = SequenceUnwrapper()
  private var lastNumber: Int64?
  /// Reference frames that were decoded.
  private var decodedReferences: Set<Int64> = []
  /// Frames that were not decoded and that others may depend on, since the last one that was.
  private(set) var missing: [Int64] = []
  /// Of those, the newest.
  static let mostMissing = 512
  private var needsRepair = false
  private var lastRequest = -Double.infinity
  private var lastTrial = 0.0
  /// A key frame was asked for by somebody who has seen nothing yet: since when, and when it was said last.
  private var intraRequest: (since: Double, said: Double)?
  private var intraNumber: UInt8 = 0
  private var pendingTokens: [Int64] = []
  public private(set) var counts = Counts()

  /// - Parameters:
  ///   - source: the receiver's own number in what it sends.
  ///   - media: the sender's, of media.
  public init(_ configuration: Configuration, source: UInt32, media: UInt32) {
    self.configuration = configuration
    self.source = source
    self.media = media
    reorder = ReorderBuffer(patience: Self.reorderTime)
    if configuration.retransmits, configuration.recovery.usesFeedback {
      // Without jitter that changes the order, a gap is a loss.
      requests = RetransmissionRequests(
        roundTrip: configuration.roundTrip + 0.02, tolerance: configuration.reorders ? Self.reorderTime : 0)
    }
    if configuration.protects { parities = ParityReceiver(media: media) }
    statistics = ReceptionStatistics(source: media)
  }

  /// Payloads that are not what RFC 6184 describes.
  public var malformedCount: Int { depacketiser.malformedCount }

  /// When ``release(at:decode:)`` is due if no packet comes before; nil if nothing waits.
  public var deadline: Double? { reorder.deadline }

  /// Takes a packet of RTP. What does not belong to the stream is passed over.
  /// - Returns: Whether it belongs to the stream.
  @discardableResult
  public mutating func take(_ bytes: [UInt8], at time: Double, decode: Decode) throws -> Bool {
    guard var packet = RTPPacket(bytes) else { return false }
    if packet.source == media &+ 2 {
      guard packet.payloadType == MediaStream.parityPayloadType, packet.contributors == [media],
        parities != nil,
        let parity = Parity(packet.payload)
      else { return false }
      tail.noteOther(at: time)
      counts.parityPackets += 1
      counts.parityBytes += bytes.count
      let restored = parities?.add(parity, at: time) ?? []
      updatePatience()
      try giveBack(restored, at: time, decode)
      return true
    }
    var restored: [[UInt8]] = []
    if packet.source == media, packet.payloadType == MediaStream.payloadType {
      statistics.add(packet, at: time)
      // Where repair packets are waited for, they may still bring it.
      let isSilent = tail.isSilent(at: time) && (parities?.wait ?? 0) == 0
      let isGap = requests?.add(packet.sequenceNumber, at: time, isBehindSilence: isSilent) ?? false
      if isGap, isSilent, let requests { reorder.hold(until: time + requests.patience) }
      tail.add(packet, at: time)
      counts.packets += 1
      counts.lostPackets = Int(statistics.cumulativeLost)
      counts.bytes += bytes.count
      if configuration.reorders { reorderDelay.add(packet.sequenceNumber, at: time) }
      restored = parities?.add(bytes, at: time) ?? []
    } else {
      guard requests != nil, packet.source == media &+ 1,
        packet.payloadType == MediaStream.retransmissionPayloadType,
        let original = packet.original(payloadType: MediaStream.payloadType, source: media)
      else { return false }
      packet = original
      requests?.addRetransmitted(packet.sequenceNumber, at: time)
      tail.noteOther(at: time)
      counts.recoveredPackets += 1
      counts.recoveredBytes += bytes.count
      restored = parities?.add(packet.bytes, at: time) ?? []
    }
    updatePatience()
    try giveOut(reorder.add(packet, at: time, isBeginning: isBeginning(packet)), decode)
    try giveBack(restored, at: time, decode)
    return true
  }

  /// Whether a stream begins with this packet, as far as it tells.
  private func isBeginning(_ packet: RTPPacket) -> Bool {
    guard reorder.next == nil, let descriptor = FrameDescriptor(packet.headerExtension) else { return true }
    return descriptor.isFirstPacket && descriptor.isKeyFrame
  }

  /// Packets that repair packets brought back.
  private mutating func giveBack(_ restored: [[UInt8]], at time: Double, _ decode: Decode) throws {
    for bytes in restored {
      guard let packet = RTPPacket(bytes), packet.payloadType == MediaStream.payloadType else { continue }
      counts.restoredPackets += 1
      requests?.addRecovered(packet.sequenceNumber)
      try giveOut(reorder.add(packet, at: time), decode)
    }
  }

  /// As long as repair may take, by what means there are.
  private mutating func updatePatience() {
    let wait = parities.map { $0.wait > 0 ? $0.wait + 0.005 : 0 } ?? 0
    let isLate = configuration.reorders ? reorderDelay.patience : 0
    // On a short way asking is sooner than waiting for a repair packet.
    let isLong = (requests?.roundTrip ?? 0) > max(1.5 * wait, Self.longTrip)
    requests?.tolerance = max(isLong ? wait : 0, isLate)
    tail.jitter = max(isLate - 0.01, 0)
    reorder.patience = max(configuration.reorders ? isLate : Self.reorderTime, wait)
    if let requests, asksAgain { reorder.patience = requests.patience }
  }

  /// Goes on without packets that were waited for long enough.
  public mutating func release(at time: Double, decode: Decode) throws {
    try giveOut(reorder.release(at: time), decode)
  }

  /// When the next request for lost packets is due; nil if none is.
  public var requestDeadline: Double? {
    guard asksAgain, let requests else { return nil }
    let due = min(requests.deadline ?? .infinity, tail.due)
    return due < .infinity ? due : nil
  }

  /// Whether a packet that is sent again still comes in time.
  private var asksAgain: Bool {
    requests.map { $0.roundTrip <= configuration.longestRetransmission } ?? false
  }

  /// Takes the sender's reports.
  public mutating func takeControl(_ packets: [RTCPPacket], at time: Double) {
    for case .senderReport(let report) in packets where report.source == media {
      statistics.add(report, at: time)
    }
  }

  /// The sender knows better.
  public mutating func note(roundTrip: Double) {
    configuration.roundTrip = roundTrip
    requests?.note(roundTrip: roundTrip)
    updatePatience()
  }

  // MARK: - Feedback

  /// What is to be said at once; empty if there is nothing.
  public mutating func feedback(at time: Double) -> [RTCPPacket] {
    var packets = pendingTokens.map { token in
      RTCPPacket.referenceSelection(
        sender: source, media: media, payloadType: MediaStream.payloadType, token: token)
    }
    counts.acknowledgements += pendingTokens.count
    pendingTokens.removeAll()
    if asksAgain || time >= lastTrial + Self.trialInterval, case let lacking = lackingPackets(at: time),
      !lacking.isEmpty
    {
      lastTrial = time
      // What is asked for now may still come in time.
      if asksAgain, let requests { reorder.hold(until: time + requests.interval) }
      counts.requestedPackets += lacking.count
      packets.append(.retransmissionRequest(sender: source, media: media, numbers: lacking))
    }
    if let request = intraRequest(at: time) { packets.append(request) }
    // Once more if nothing came of it in time.
    let patience = configuration.roundTrip + 2 / configuration.frameRate + 0.02
    // One that heals by itself needs help only to begin.
    let asks = configuration.recovery.usesFeedback || decodedReferences.isEmpty
    if needsRepair, asks, time >= lastRequest + patience {
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

  /// What was lost, and what most likely was, since nothing comes.
  private mutating func lackingPackets(at time: Double) -> [UInt16] {
    guard var lacking = requests?.take(at: time) else { return [] }
    if tail.due <= time {
      lacking += requests?.guess(tail.expected, at: time) ?? []
      tail.noteAsked(at: time, again: max(requests?.roundTrip ?? 0, Self.guessInterval))
    }
    return lacking
  }

  /// Asks for a key frame until one comes, whatever was lost or not.
  public mutating func requestKeyFrame(at time: Double) {
    guard intraRequest == nil else { return }
    intraNumber &+= 1
    intraRequest = (time, -.infinity)
  }

  private mutating func intraRequest(at time: Double) -> RTCPPacket? {
    guard let request = intraRequest, time >= request.said + configuration.roundTrip + 0.1 else { return nil }
    // The sender makes one a second at most. What does not come after that was lost, and is another request.
    let isNew = request.said > -.infinity && time >= request.since + configuration.roundTrip + 1.5
    if isNew { intraNumber &+= 1 }
    intraRequest = (isNew ? time : request.since, time)
    counts.requests += isNew || request.said == -.infinity ? 1 : 0
    return .fullIntraRequest(sender: source, media: media, number: intraNumber)
  }

  /// A report, and a description, as every compound packet begins.
  public mutating func report(at time: Double) -> [RTCPPacket] {
    let block = statistics.report(at: time)
    return [
      .receiverReport(source: source, blocks: block.map { [$0] } ?? []),
      .sourceDescription(source: source, name: configuration.name),
    ]
  }

  // MARK: - Frames

  private mutating func giveOut(
    _ packets: [(packet: RTPPacket, sequence: Int64)], _ decode: Decode
  ) throws {
    if let next = reorder.next { requests?.giveUp(before: next) }
    for (packet, sequence) in packets {
      for unit in depacketiser.add(packet, sequence: sequence) { try take(unit, decode) }
    }
  }

  private mutating func take(_ unit: H264Depacketiser.AccessUnit, _ decode: Decode) throws {
    guard let descriptor = unit.descriptor else {
      counts.incomplete += 1
      return
    }
    let number = numbers.unwrap(descriptor.number)
    // Frames passed over: whether they matter, a frame that depends on them tells.
    if let last = lastNumber, number > last + 1 {
      missing += max(last + 1, number - Int64(Self.mostMissing))..<number
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
      // The next loss is another one.
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
    if missing.count > Self.mostMissing { missing.removeFirst(missing.count - Self.mostMissing / 2) }
  }
}
