// SPDX-License-Identifier: Apache-2.0
/// The sending end of a call to one receiver: it greets, sends media as long as the receiver answers, repairs, and
/// reports. It has no clock and no socket: times come with each call, in seconds, and datagrams go out through
/// ``takeOutgoing()``.
public struct SenderSession {
  /// Seconds without a fresh answer to a greeting after which the session ends; after ``Consent/time`` no media is sent any
  /// more.
  public static let silenceTime = 10.0
  /// Seconds from one key frame to the next for players that come later.
  public static let joinInterval = 2.0
  private static let reportInterval = 1.0
  /// Seconds of round trip that waits follow at most, whatever the receiver says.
  private static let longestTrip = 1.0
  /// Seconds after which the same packet is sent again, at least: no receiver asks sooner.
  private static let leastPause = 0.005
  /// How often a player is told that nothing more comes.
  private static let playerGoodbyes = 3
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
  private var repair: RepairSchedule
  private var budget = RepairBudget()
  private var lastFrame = -Double.infinity
  private var controller: CongestionController
  private var sent = SentPackets()
  /// When the first packet was sent that no feedback came of yet.
  private var unanswered: Double?
  private var outgoing: [[UInt8]] = []
  private let began: Double
  private var nextGreeting: Double
  private var nextReport = Double.infinity
  /// Nothing but a fresh answer proves that the receiver is at its address and wants the media.
  private var consent = Consent()
  private var isMeasured = false
  /// The receiver's number, to know its answers again.
  private var receiverNonce: Greeting.Nonce?
  private var receiverSource: UInt32?
  private var measuredTrip: Double?
  private var lastKeyFrame = -Double.infinity
  /// This end's, if it was the one to say so.
  private var goodbye: Goodbye?
  private var goodbyeAnswers = GoodbyeAnswers()
  public private(set) var state = State.greeting
  public private(set) var counts = Counts()
  /// Seconds that the receiver's clock is ahead.
  public private(set) var clockOffset: Double?
  /// Share of the packets of the last two seconds or so that the receiver did not get the first time.
  public var lossShare: Double { repair.lossShare }

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
    repair = RepairSchedule(firstSequence: configuration.stream.firstSequence)
    began = time
    nextGreeting = time
    guard configuration.isOneWay else { return }
    state = .open
    (nextGreeting, nextReport) = (.infinity, time + Self.reportInterval)
  }

  /// Seconds, measured.
  public var roundTrip: Double? { measuredTrip ?? (isMeasured ? policy.roundTrip : nil) }

  /// Bits a second that the encoder may make: what the path takes and the receiver wants, less what packets, repair packets
  /// and those that are sent again add. These may take half of it: a call that only repairs itself shows nothing. What is
  /// sent again is less than that over any time (``RepairBudget``).
  public var targetRate: Double {
    guard !configuration.isOneWay else { return configuration.rates.most * 0.95 }
    return max(wholeRate * 0.95 - resentRate, wholeRate / 2) / (1 + parity.load)
  }
  /// Bits a second of media and repair together: what the path takes and the receiver wants.
  private var wholeRate: Double { min(controller.targetRate, rateLimit ?? .infinity) }
  /// Seconds of the round trip without what waits on the way, as far as it was seen.
  private var pathTrip: Double { min(consent.shortestTrip ?? policy.roundTrip, Self.longestTrip) }
  /// Seconds of the round trip with what waits on the way.
  private var usualTrip: Double { min(policy.roundTrip, Self.longestTrip) }
  /// Bits a second of what was sent again in the last seconds.
  private var resentRate = 0.0
  /// Whether a picture more would only wait on the way: it is better left out, and so are those after it until this ends.
  public func isOverfull(at time: Double) -> Bool {
    guard !configuration.isOneWay else { return false }
    return controller.isOverfull(at: time)
      || repair.isOverfull(at: time, rate: controller.targetRate, lastFrame: lastFrame)
  }
  /// Seconds that packets wait on the way.
  public var queueDelay: Double { controller.queueDelay }

  /// Whether the receiver answered lately enough that it may be sent to.
  public func hasConsent(at time: Double) -> Bool {
    state == .open && (configuration.isOneWay || consent.isFresh(at: time))
  }

  /// When ``poll(at:)`` is due.
  public var deadline: Double {
    switch state {
    case .greeting, .open: min(nextGreeting, nextReport, repair.nextCopy, goodbye?.next ?? .infinity)
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
    if !configuration.isOneWay, time - max(consent.last, began) > Self.silenceTime {
      state = .silent
      return
    }
    // Media goes, and no word comes of it.
    if !configuration.isOneWay, let since = unanswered, time - since > 0.5 + 2 * usualTrip {
      controller.noteSilence(at: time)
    }
    sendCopies(at: time)
    resentRate = repair.resentRate(at: time)
    switch goodbye?.step(at: time) {
    case .say: sendGoodbye(at: time)
    case .giveUp: state = .closed
    default: break
    }
    if time >= nextGreeting {
      greet(at: time)
      // A check that is not answered is repeated soon (RFC 7675, 5.1): on a line that loses much, one in a second is not
      // enough to tell a peer that listens from one that has gone.
      let isUrgent = state == .greeting || !configuration.isOneWay && time - consent.last > 1.5
      nextGreeting = time + (isUrgent ? 0.2 : 1)
    }
    if time >= nextReport {
      nextReport = time + Self.reportInterval
      if hasConsent(at: time) { sendControl(stream.report(at: time, name: configuration.name)) }
    }
  }

  /// Says that nothing more comes; what has been sent is still repaired. ``poll(at:)`` says it again until the receiver
  /// answers, for a second at most: then ``state`` is `closed`. Players do not answer: it is at once.
  public mutating func sayGoodbye(at time: Double) {
    guard state == .open, goodbye == nil else { return }
    goodbye = Goodbye(at: time)
    guard !configuration.isOneWay else {
      for _ in 0..<Self.playerGoodbyes { sendGoodbye(at: time) }
      state = .closed
      return
    }
    if goodbye?.step(at: time) == .say { sendGoodbye(at: time) }
  }

  private mutating func sendGoodbye(at time: Double) {
    sendControl(stream.report(at: time, name: configuration.name) + [.bye(source: configuration.source)])
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
    greeting.check = consent.newCheck(at: time)
    outgoing.append(greeting.bytes(authenticate: secret?.authenticate))
  }

  // MARK: - What comes

  /// Takes a datagram from the receiver's address.
  public mutating func take(_ bytes: [UInt8], at time: Double) {
    // Who has gone still answers good-byes.
    guard state != .silent, !configuration.isOneWay else { return }
    if Greeting.isGreeting(bytes) {
      guard state != .closed else { return }
      takeAnswer(bytes, at: time)
      return
    }
    guard state != .greeting, PacketKind(bytes) == .control, let plain = unprotected(bytes),
      let parsed = RTCPPacket.parse(plain), case let packets = parsed.filter({ $0.origin == receiverSource }),
      !packets.isEmpty
    else {
      counts.refused += 1
      return
    }
    let isBye = packets.contains { if case .bye = $0 { true } else { false } }
    if isBye {
      state = .closed
      // Two that both ask would answer each other for ever.
      if goodbye == nil, goodbyeAnswers.take(at: time) {
        for answer in Goodbye.answers(toBytes: plain.count, from: configuration.source) {
          sendControl(answer)
        }
      }
    }
    guard state == .open else { return }
    // Answered once, however many a datagram holds.
    var noticed: RTCPPacket.RateLimit?
    for packet in packets {
      switch packet {
      case .receiverReport(_, let blocks):
        for block in blocks where block.source == configuration.source {
          repair.take(block, at: time)
          protect()
          if block.lastReport != 0 { isMeasured = true }
        }
      case .pictureLoss, .lostFrames: counts.requests += 1
      case .congestionFeedback(_, let streams, let stamp):
        unanswered = nil
        controller.take(sent.results(streams, stamp: stamp), at: time, roundTrip: usualTrip)
      case .rateRequest(let asker, let limit) where limit.media == configuration.source:
        let wanted = max(Double(limit.bitsPerSecond), Self.leastLimit)
        rateLimit = wanted < configuration.rates.most ? wanted : nil
        // The answer names whoever the limit is of (RFC 5104, 4.2.2.1).
        noticed = limit
        noticed?.media = asker
      default: break
      }
    }
    policy.take(packets, from: 0, at: time)
    // Reports keep nothing going: who answers greetings no more is sent nothing.
    guard hasConsent(at: time) else { return }
    // Alone, as RFC 5506 allows: so the answer is never longer than the request, whoever sent that.
    if let noticed { sendControl([.rateNotice(sender: configuration.source, limit: noticed)]) }
    sendAgain(packets, at: time)
  }

  /// Sends what a receiver asks for once more, as far as it may be.
  private mutating func sendAgain(_ requests: [RTCPPacket], at time: Double) {
    // What was sent less than a round trip ago, for the first time or again, is not known to be lost: a guess.
    let pause = pathTrip * 0.9
    let again = stream.packets(
      askedFor: requests, at: time, interval: max(pause, Self.leastPause), age: pause, within: &budget,
      rate: wholeRate)
    counts.ignoredRequests = budget.refused
    // Where asking takes long, repair packets do it.
    let isBurst = repair.plan(
      again.map(\.number), at: time, roundTrip: pathTrip, isProtected: parity.strength > 0)
    for (_, packet) in again { sendAgain(packet, isBurst: isBurst, at: time) }
    resentRate = repair.resentRate(at: time)
  }

  private mutating func note(_ packet: [UInt8], at time: Double) {
    sent.add(packet, at: time)
    repair.noteSent(packet, at: time, rate: controller.targetRate)
    controller.noteSent(bits: packet.count * 8, at: time)
  }

  private mutating func sendAgain(_ packet: [UInt8], isBurst: Bool, at time: Double) {
    note(packet, at: time)
    repair.noteResent(packet, isBurst: isBurst, at: time)
    send(packet, isControl: false)
    counts.resentPackets = stream.resentPackets
    counts.resentBytes = stream.resentBytes
  }

  private mutating func sendCopies(at time: Double) {
    for number in repair.takeCopies(at: time) where hasConsent(at: time) {
      guard let packet = stream.packet(again: number, at: time, within: &budget, rate: wholeRate) else {
        continue
      }
      sendAgain(packet, isBurst: false, at: time)
    }
  }

  /// Forward error correction follows the losses of the last seconds.
  private mutating func protect() {
    guard configuration.stream.protects else { return }
    parity.strength = ParitySender.strength(
      loss: repair.lossLevel, roundTrip: pathTrip, retransmits: configuration.stream.retransmits)
  }

  private mutating func takeAnswer(_ bytes: [UInt8], at time: Double) {
    guard let answer = Greeting.Answer(bytes, authenticate: secret?.authenticate),
      answer.greeted == configuration.nonce, receiverNonce == nil || receiverNonce == answer.nonce
    else {
      counts.refused += 1
      return
    }
    // One that was kept and sent again later, or made of earlier ones, proves nothing.
    let clock = configuration.stream.clock.time(ofNTP: answer.clock)
    guard let trip = consent.take(answer.check, clock: clock, at: time) else {
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
    policy.note(roundTrip: trip)
    // What reports say of it is believed as far as greetings bear it out.
    policy.plausibleTrips = (consent.shortestTrip ?? 0)...(2 * (consent.longestTrip ?? Consent.time) + 0.1)
    protect()
    measuredTrip = measuredTrip.map { $0 + (trip - $0) * 0.25 } ?? trip
    isMeasured = true
    clockOffset = consent.clockOffset
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
