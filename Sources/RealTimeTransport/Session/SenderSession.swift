// SPDX-License-Identifier: Apache-2.0
/// The sending end of a call to one receiver: it greets, sends media as long as the receiver answers, repairs, and
/// reports. It has no clock and no socket: times come with each call, in seconds, and datagrams go out through
/// ``takeOutgoing()``.
public struct SenderSession {
  /// Seconds without a word after which nothing more is sent, as RFC 7675 wants consent to be fresh, and after which the
  /// session ends.
  static let consentTime = 5.0
  public static let silenceTime = 10.0
  /// Seconds from one key frame to the next for players that come later.
  public static let joinInterval = 2.0
  private static let reportInterval = 1.0
  /// Seconds after which an exchange says nothing of the clocks any more: they drift apart.
  private static let clockSpan = 30.0
  /// Share of packets lost from which on a retransmission goes twice: one that is lost too is missed for a whole round trip
  /// more, and the picture stands still; a copy costs as many bits as were lost. Seconds between the two, since losses
  /// come in bursts.
  private static let copyLoss = 0.02
  private static let copyDelay = 0.012
  /// Longest round trip in seconds with copies.
  private static let copyTrip = 0.15
  /// Copies that wait at most.
  private static let mostCopies = 256
  /// Packets of one request that are copied at most.
  private static let mostCopied = 2
  /// Seconds of repair on the line from which a picture is left out, since it would only make the repair behind it late, and
  /// seconds without a picture that this may take.
  private static let longRepair = 0.045
  private static let longestPause = 0.09
  /// Seconds over which retransmissions are counted.
  private static let resentSpan = 3.0
  /// Seconds in which the loss that repair packets follow goes two thirds of its way.
  private static let lossSpan = 3.5
  /// Bits a second that a receiver can bring a sender down to: less shows nothing.
  private static let leastLimit = 20_000.0

  private let configuration: Configuration
  private let secret: (any SharedSecret)?
  private var protection: (any PacketProtection)?
  private var policy: RecoveryPolicy
  private var sequencer = FrameSequencer()
  private var stream: MediaStream
  private var parity: ParitySender
  /// Bits a second that the receiver wants at most (RFC 5104, 4.2.1); nil is no limit.
  public private(set) var rateLimit: Double?
  /// Packets that are sent a third time without being asked for, in the order in which they are due.
  private var copies: [(due: Double, number: UInt16)] = []
  /// What was sent again, lately: when, and how many bits.
  private var resent: [(time: Double, bits: Int)] = []
  /// Bits that the line has to carry of what was sent again, at a time.
  private var debt = (bits: 0.0, time: 0.0)
  private var lastFrame = -Double.infinity
  /// Share of packets, smoothed; a guess at first, since what is lost before the first report is not protected else.
  private var lossLevel = 0.02
  private var lastLossReport: Double?
  private var controller: CongestionController
  private var sent = SentPackets()
  /// When the first packet was sent that no feedback came of yet.
  private var unanswered: Double?
  private var outgoing: [[UInt8]] = []
  private let began: Double
  private var nextGreeting: Double
  private var nextReport = Double.infinity
  private var lastHeard = -Double.infinity
  /// When the newest greeting went that the receiver answered: nothing else proves that it is at that address.
  private var lastConsent = -Double.infinity
  /// Exchanges of the last ``clockSpan`` seconds.
  private var exchanges: [(time: Double, trip: Double, offset: Double)] = []
  private var losses: ReportedLosses
  private var isMeasured = false
  /// The receiver's number, to know its answers again.
  private var receiverNonce: Greeting.Nonce?
  private var receiverSource: UInt32?
  private var measuredTrip: Double?
  private var lastKeyFrame = -Double.infinity
  public private(set) var state = State.greeting
  public private(set) var counts = Counts()
  /// Seconds that the receiver's clock is ahead.
  public private(set) var clockOffset: Double?
  /// Share of the packets of the last two seconds or so that the receiver did not get the first time.
  public var lossShare: Double { losses.share }

  public init(_ configuration: Configuration, secret: (any SharedSecret)? = nil, at time: Double) {
    self.configuration = configuration
    self.secret = secret
    policy = RecoveryPolicy(
      configuration.recovery, receiverCount: 1, roundTrip: 0.1, clock: configuration.stream.clock,
      keyFrameInterval: configuration.keyFrameInterval)
    stream = MediaStream(configuration.stream, source: configuration.source)
    parity = ParitySender(
      source: configuration.source &+ 2, media: configuration.source,
      firstSequence: configuration.stream.firstSequence)
    controller = CongestionController(configuration.rates)
    losses = ReportedLosses(firstSequence: configuration.stream.firstSequence)
    began = time
    nextGreeting = time
    guard configuration.isOneWay else { return }
    state = .open
    (nextGreeting, nextReport) = (.infinity, time + Self.reportInterval)
  }

  /// Seconds, measured.
  public var roundTrip: Double? { measuredTrip ?? (isMeasured ? policy.roundTrip : nil) }

  /// Bits a second that the encoder may make: what the path takes and the receiver wants, less what packets, repair packets
  /// and those that are sent again add. These may take half of it: a call that only repairs itself shows nothing.
  public var targetRate: Double {
    guard !configuration.isOneWay else { return configuration.rates.most * 0.95 }
    let all = min(controller.targetRate, rateLimit ?? .infinity)
    return max(all * 0.95 - resentRate, all / 2) / (1 + parity.strength)
  }
  /// Seconds of the round trip without what waits on the way, as far as it was seen.
  private var pathTrip: Double { exchanges.lazy.map(\.trip).min() ?? policy.roundTrip }
  /// Bits a second of what was sent again in the last ``resentSpan``.
  private var resentRate: Double { Double(resent.reduce(0) { $0 + $1.bits }) / Self.resentSpan }
  /// Whether a picture more would only wait on the way: it is better left out, and so are those after it until this ends.
  public func isOverfull(at time: Double) -> Bool {
    guard !configuration.isOneWay else { return false }
    let waits = max(debt.bits / max(controller.targetRate, 1) - (time - debt.time), 0)
    return controller.isOverfull(at: time) || waits > Self.longRepair && time - lastFrame < Self.longestPause
  }
  /// Seconds that packets wait on the way.
  public var queueDelay: Double { controller.queueDelay }

  /// Whether the receiver answered lately enough that it may be sent to.
  public func hasConsent(at time: Double) -> Bool {
    state == .open && (configuration.isOneWay || time - lastConsent <= Self.consentTime)
  }

  /// When ``poll(at:)`` is due.
  public var deadline: Double {
    switch state {
    case .greeting, .open: min(nextGreeting, nextReport, copies.first?.due ?? .infinity)
    case .silent, .closed: .infinity
    }
  }

  /// Datagrams to send now, in order.
  public mutating func takeOutgoing() -> [[UInt8]] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// Does what is due.
  public mutating func poll(at time: Double) {
    guard state == .greeting || state == .open else { return }
    if !configuration.isOneWay, time - max(lastHeard, began) > Self.silenceTime {
      state = .silent
      return
    }
    // Media goes, and no word comes of it.
    if !configuration.isOneWay, let since = unanswered, time - since > 0.5 + 2 * policy.roundTrip {
      controller.noteSilence(at: time)
    }
    resent.removeAll { $0.time < time - Self.resentSpan }
    sendCopies(at: time)
    if time >= nextGreeting {
      greet(at: time)
      nextGreeting = time + (state == .greeting ? 0.2 : 1)
    }
    if time >= nextReport {
      nextReport = time + Self.reportInterval
      if hasConsent(at: time) { sendControl(stream.report(at: time, name: configuration.name)) }
    }
  }

  /// Says that nothing more comes.
  public mutating func sayGoodbye(at time: Double) {
    guard state == .open else { return }
    // Nothing answers it: one of three comes.
    for _ in 0..<3 {
      sendControl(stream.report(at: time, name: configuration.name) + [.bye(source: configuration.source)])
    }
  }

  private mutating func greet(at time: Double) {
    var greeting = Greeting(
      nonce: configuration.nonce, clock: configuration.stream.clock.ntpTime(at: time),
      source: configuration.source)
    greeting.recovery = configuration.recovery
    greeting.retransmits = configuration.stream.retransmits
    greeting.protects = configuration.stream.protects
    greeting.frameRate = configuration.frameRate
    greeting.clockOffset = clockOffset
    greeting.roundTrip = policy.roundTrip
    greeting.answered = receiverNonce
    outgoing.append(greeting.bytes(authenticate: secret?.authenticate))
  }

  // MARK: - What comes

  /// Takes a datagram from the receiver's address.
  public mutating func take(_ bytes: [UInt8], at time: Double) {
    guard state == .greeting || state == .open, !configuration.isOneWay else { return }
    if Greeting.isGreeting(bytes) {
      takeAnswer(bytes, at: time)
      return
    }
    guard state == .open, PacketKind(bytes) == .control, let plain = unprotected(bytes),
      let parsed = RTCPPacket.parse(plain), case let packets = parsed.filter({ $0.origin == receiverSource }),
      !packets.isEmpty
    else {
      counts.refused += 1
      return
    }
    lastHeard = max(lastHeard, time)
    // Answered once, however many a datagram holds.
    var noticed: RTCPPacket.RateLimit?
    for packet in packets {
      switch packet {
      case .receiverReport(_, let blocks):
        for block in blocks where block.source == configuration.source {
          losses.take(block, at: time)
          // By time: reports come with every request, and more of them when more is lost.
          let elapsed = min(max(time - (lastLossReport ?? time - Self.reportInterval), 0), 2 * Self.lossSpan)
          lastLossReport = time
          lossLevel += (losses.share - lossLevel) * elapsed / (elapsed + Self.lossSpan)
          protect()
          if block.lastReport != 0 { isMeasured = true }
        }
      case .pictureLoss, .lostFrames: counts.requests += 1
      case .congestionFeedback(_, let streams, let stamp):
        unanswered = nil
        controller.take(sent.results(streams, stamp: stamp), at: time, roundTrip: policy.roundTrip)
      case .rateRequest(_, let limit) where limit.media == configuration.source:
        let wanted = max(Double(limit.bitsPerSecond), Self.leastLimit)
        rateLimit = wanted < configuration.rates.most ? wanted : nil
        noticed = limit
      case .bye: state = .closed
      default: break
      }
    }
    if let noticed {
      sendControl(
        stream.report(at: time, name: configuration.name)
          + [.rateNotice(sender: configuration.source, limit: noticed)])
    }
    policy.take(packets, from: 0, at: time)
    let again = stream.packets(askedFor: packets, at: time, interval: policy.roundTrip * 0.9)
    // Where asking takes long, repair packets do it. Who asks for many has seen the end of a burst.
    let isShort = parity.strength == 0 && pathTrip < Self.copyTrip && again.count <= Self.mostCopied
    for (number, packet) in again {
      sendAgain(packet, at: time)
      if lossLevel >= Self.copyLoss, isShort, copies.count < Self.mostCopies {
        copies.append((time + Self.copyDelay, number))
      }
    }
    resent.removeAll { $0.time < time - Self.resentSpan }
  }

  private mutating func note(_ packet: [UInt8], at time: Double) {
    sent.add(packet, at: time)
    controller.noteSent(bits: packet.count * 8, at: time)
  }

  private mutating func sendAgain(_ packet: [UInt8], at time: Double) {
    note(packet, at: time)
    resent.append((time, packet.count * 8))
    debt.bits = max(debt.bits - (time - debt.time) * controller.targetRate, 0) + Double(packet.count * 8)
    debt.time = time
    send(packet, isControl: false)
    counts.resentPackets = stream.resentPackets
    counts.resentBytes = stream.resentBytes
  }

  private mutating func sendCopies(at time: Double) {
    while let copy = copies.first, copy.due <= time {
      copies.removeFirst()
      if hasConsent(at: time), let packet = stream.packet(again: copy.number, at: time) {
        sendAgain(packet, at: time)
      }
    }
  }

  /// Forward error correction follows the losses of the last seconds.
  private mutating func protect() {
    guard configuration.stream.protects else { return }
    parity.strength = ParitySender.strength(
      loss: lossLevel, roundTrip: pathTrip, retransmits: configuration.stream.retransmits)
  }

  private mutating func takeAnswer(_ bytes: [UInt8], at time: Double) {
    guard let answer = Greeting.Answer(bytes, authenticate: secret?.authenticate),
      answer.greeted == configuration.nonce, receiverNonce == nil || receiverNonce == answer.nonce
    else {
      counts.refused += 1
      return
    }
    let clock = configuration.stream.clock
    let trip = time - clock.time(ofNTP: answer.greetedClock)
    // One that was kept and sent again later proves nothing.
    guard trip >= 0, trip <= Self.consentTime else {
      counts.refused += 1
      return
    }
    if receiverNonce == nil {
      do {
        protection = try secret?.protection(
          sender: configuration.nonce, receiver: answer.nonce, isSender: true)
      } catch {
        counts.refused += 1
        return
      }
      receiverNonce = answer.nonce
      receiverSource = answer.source
      state = .open
      // Before any media: the receiver begins with it.
      greet(at: time)
      nextReport = time + Self.reportInterval
    }
    lastHeard = max(lastHeard, time)
    lastConsent = max(lastConsent, time - trip)
    policy.note(roundTrip: trip)
    protect()
    measuredTrip = measuredTrip.map { $0 + (trip - $0) * 0.25 } ?? trip
    isMeasured = true
    exchanges.removeAll { $0.time < time - Self.clockSpan }
    if exchanges.count >= 64 { exchanges.removeFirst() }
    exchanges.append((time, trip, clock.time(ofNTP: answer.clock) - (time - trip / 2)))
    // The two ways take the same time most nearly when nothing waited on either.
    clockOffset = exchanges.min { $0.trip < $1.trip }?.offset
  }

  private mutating func unprotected(_ bytes: [UInt8]) -> [UInt8]? {
    secret == nil ? bytes : protection?.unprotect(bytes, isControl: true)
  }

  // MARK: - What goes

  /// What the next frame must answer.
  public mutating func takeWish(
    at time: Double
  ) -> (wish: RecoveryPolicy.Wish, attempt: FrameSequencer.Attempt) {
    var wish = policy.takeWish(at: time, leavesReference: sequencer.leavesReference)
    if configuration.isOneWay, time >= lastKeyFrame + Self.joinInterval { wish.forcesKeyFrame = true }
    return (wish, sequencer.attempt(wish))
  }

  /// Rate control dropped the frame.
  public mutating func drop(_ attempt: FrameSequencer.Attempt) { sequencer.drop(attempt) }

  /// Sends the frame that the encoder made.
  /// - Parameter captured: when its picture was taken.
  public mutating func send(
    _ units: [[UInt8]], _ coded: FrameSequencer.CodedFrame, _ attempt: FrameSequencer.Attempt,
    captured: Double, at time: Double
  ) {
    let (descriptor, isRepair) = sequencer.finish(attempt, coded, time: captured)
    policy.note(coded, isRepair: isRepair, at: time)
    if coded.isKeyFrame { lastKeyFrame = time }
    lastFrame = time
    guard hasConsent(at: time) else {
      counts.withheld += 1
      return
    }
    if counts.frames == 0 {
      // Receivers know from this when pictures were taken.
      sendControl(stream.report(at: time, name: configuration.name))
    }
    let packets = stream.packets(
      of: MediaFrame(time: captured, units: units, descriptor: descriptor), at: time)
    let bytes = packets.reduce(0) { $0 + $1.count }
    counts.frames += 1
    counts.keyFrames += coded.isKeyFrame ? 1 : 0
    counts.packets += packets.count
    counts.mediaBytes += bytes
    if isRepair, !configuration.isOneWay {
      counts.repairs += 1
      counts.repairBytes += bytes
    }
    unanswered = unanswered ?? time
    let timestamp = MediaClock.rtpTime(at: captured, offset: configuration.stream.timestampOffset)
    let repairs = parity.take(packets, isDiscardable: descriptor.isDiscardable, timestamp: timestamp)
    counts.parityPackets = parity.packets
    counts.parityBytes = parity.byteCount
    for packet in packets + repairs {
      note(packet, at: time)
      send(packet, isControl: false)
    }
  }

  private mutating func sendControl(_ packets: [RTCPPacket]) {
    send(RTCPPacket.compound(packets), isControl: true)
  }

  private mutating func send(_ packet: [UInt8], isControl: Bool) {
    guard secret != nil else {
      outgoing.append(packet)
      return
    }
    if let hidden = protection?.protect(packet, isControl: isControl) { outgoing.append(hidden) }
  }
}
