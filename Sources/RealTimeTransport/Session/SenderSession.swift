// SPDX-License-Identifier: Apache-2.0
/// The sending end of a call to one receiver: it greets, sends media as long as the receiver
/// answers, repairs losses, and reports. It has no clock and no socket: times come with each call,
/// in seconds, and datagrams are returned by ``takeOutgoing()``.
public struct SenderSession {
  /// The time in seconds without an answer to a recent greeting after which the session ends. No
  /// media is sent from ``Consent/time`` on.
  public static let silenceTime = 10.0
  /// The time in seconds between two key frames for players that join later.
  public static let joinInterval = 2.0
  private static let reportInterval = 1.0
  /// The largest round trip in seconds from which waiting times are computed, whatever the receiver
  /// reports.
  private static let maxRTT = 1.0
  /// The shortest time in seconds between two retransmissions of a packet: no receiver asks
  /// earlier.
  private static let minPause = 0.005
  /// The number of goodbyes to a player, which does not answer them.
  private static let playerGoodbyes = 3
  /// The lowest limit in bits per second that a receiver can set: below it nothing can be shown.
  private static let minLimit = 20_000.0

  private let configuration: Configuration
  private let secret: (any SharedSecret)?
  private var protection: (any PacketProtection)?
  private var policy: RecoveryPolicy
  private var sequencer = FrameSequencer()
  private var stream: MediaSender
  private var parity: ParitySender
  private var audio: AudioSender?
  /// The bit rate of the last audio packets, in bits per second; 0 while none are sent.
  public private(set) var audioRate = 0.0
  private var lastAudio = -Double.infinity
  /// The time in seconds without a packet after which audio takes nothing of the rate.
  private static let audioPause = 1.0
  /// The limit that the receiver has set, in bits per second (RFC 5104, 4.2.1); nil for no limit.
  public private(set) var rateLimit: Double?
  private var repair: RepairSchedule
  private var budget = RepairBudget()
  private var lastFrame = -Double.infinity
  private var controller: CongestionController
  private var sent = SentPackets()
  /// When the first packet was sent after the last feedback; nil if there was none.
  private var unanswered: Double?
  private var outgoing: [[UInt8]] = []
  private let began: Double
  private var nextGreeting: Double
  private var nextReport = Double.infinity
  /// Whether the receiver still consents: only an answer to a recent greeting proves that it is at
  /// its address and wants the media.
  private var consent = Consent()
  /// Whether the round trip was measured.
  private var isMeasured = false
  /// The receiver's nonce, by which its answers are recognised; nil before the first.
  private var receiverNonce: Greeting.Nonce?
  private var receiverSource: UInt32?
  private var measuredRTT: Double?
  private var lastKeyFrame = -Double.infinity
  /// The state of this end's goodbye, if it has said goodbye first.
  private var goodbye: Goodbye?
  private var goodbyeAnswers = GoodbyeAnswers()
  public private(set) var state = State.greeting
  public private(set) var counts = Counts()
  /// The time in seconds by which the receiver's clock is ahead of the sender's.
  public private(set) var clockOffset: Double?
  /// The fraction of the packets of about the last two seconds that the receiver did not get at the
  /// first attempt.
  public var lossShare: Double { repair.lossShare }

  public init(_ configuration: Configuration, secret: (any SharedSecret)? = nil, at time: Double) {
    self.configuration = configuration
    self.secret = secret
    policy = RecoveryPolicy(
      configuration.recovery, receiverCount: 1, roundTrip: 0.1, clock: configuration.stream.clock,
      keyFrameInterval: configuration.keyFrameInterval)
    stream = MediaSender(configuration.stream, source: configuration.source)
    parity = ParitySender(
      source: configuration.source &+ 2, media: configuration.source,
      firstSequence: configuration.stream.firstSequence)
    controller = CongestionController(configuration.rates)
    repair = RepairSchedule(firstSequence: configuration.stream.firstSequence)
    began = time
    nextGreeting = time
    if configuration.hasAudio, !configuration.isOneWay {
      var settings = AudioSender.Configuration(
        source: configuration.source &+ 3, payloadType: RTPPayloadType.audio)
      settings.retransmits = configuration.stream.retransmits
      settings.repairSource = configuration.source &+ 4
      settings.repairType = RTPPayloadType.audioRetransmission
      settings.clock = configuration.stream.clock
      settings.name = configuration.name
      settings.firstSequence = configuration.stream.firstSequence
      settings.timestampOffset = configuration.stream.timestampOffset
      audio = AudioSender(settings)
    }
    guard configuration.isOneWay else { return }
    state = .open
    (nextGreeting, nextReport) = (.infinity, time + Self.reportInterval)
  }

  /// The round trip in seconds; nil before it was measured.
  public var roundTrip: Double? { measuredRTT ?? (isMeasured ? policy.roundTrip : nil) }

  /// The bit rate that the encoder may produce, in bits per second: what the path carries and the
  /// receiver wants, minus packet headers, audio, repair packets and retransmissions. These may
  /// take up to half of it, because a call that only repairs itself shows nothing. In the long run
  /// retransmissions take less than that (``RepairBudget``).
  public var targetRate: Double {
    guard !configuration.isOneWay else { return configuration.rates.maximum * 0.95 }
    return max(wholeRate * 0.95 - resentRate - audioRate, wholeRate / 2) / (1 + parity.load)
  }
  /// The bit rate of media and repair together that the path carries and the receiver wants.
  private var wholeRate: Double { min(controller.targetRate, rateLimit ?? .infinity) }
  /// The shortest recent round trip in seconds, without queues.
  private var minPathRTT: Double { min(consent.minRTT ?? policy.roundTrip, Self.maxRTT) }
  /// The smoothed round trip in seconds, including queues.
  private var smoothedRTT: Double { min(policy.roundTrip, Self.maxRTT) }
  /// The bit rate of retransmissions over the last seconds.
  private var resentRate = 0.0
  /// Whether another picture would only wait in a queue: skip it, and those after it until this is
  /// false.
  /// - Parameter time: The current time.
  public func isOverfull(at time: Double) -> Bool {
    guard !configuration.isOneWay else { return false }
    return controller.isOverfull(at: time)
      || repair.isOverfull(at: time, rate: controller.targetRate, lastFrame: lastFrame)
  }
  /// The time in seconds that packets wait in queues on the path.
  public var queueDelay: Double { controller.queueDelay }

  /// Whether the receiver has answered recently enough that media may be sent to it.
  /// - Parameter time: The current time.
  public func hasConsent(at time: Double) -> Bool {
    state == .open && (configuration.isOneWay || consent.isFresh(at: time))
  }

  /// The time when ``poll(at:)`` is due.
  public var deadline: Double {
    switch state {
    case .greeting, .open:
      min(
        nextGreeting, nextReport, repair.nextCopy, goodbye?.next ?? .infinity, audio?.deadline ?? .infinity)
    case .refused, .silent, .closed: .infinity
    }
  }

  /// Removes and returns the datagrams to send, in order.
  public mutating func takeOutgoing() -> [[UInt8]] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// Does what is due: greetings, copies, reports and goodbyes.
  /// - Parameter time: The current time.
  public mutating func poll(at time: Double) {
    guard state == .greeting || state == .open else { return }
    if !configuration.isOneWay, time - max(consent.last, began) > Self.silenceTime {
      state = .silent
      return
    }
    // Media is sent, and no feedback arrives.
    if !configuration.isOneWay, let since = unanswered, time - since > 0.5 + 2 * smoothedRTT {
      controller.noteSilence(at: time)
    }
    sendCopies(at: time)
    resentRate = repair.resentRate(at: time)
    switch goodbye?.step(at: time) {
    case .send: sendGoodbye(at: time)
    case .giveUp: state = .closed
    default: break
    }
    if time >= nextGreeting {
      greet(at: time)
      // A check that is not answered is repeated soon (RFC 7675, 5.1): on a path with many losses,
      // one in a second is not enough to distinguish a peer that listens from one that has left.
      let isUrgent = state == .greeting || !configuration.isOneWay && time - consent.last > 1.5
      nextGreeting = time + (isUrgent ? 0.2 : 1)
    }
    if time >= nextReport {
      nextReport = time + Self.reportInterval
      if hasConsent(at: time) { sendControl(stream.report(at: time, name: configuration.name)) }
    }
    if time - lastAudio > Self.audioPause { audioRate = 0 }
    audio?.poll(at: time)
    sendAudio(at: time)
  }

  /// Says goodbye; what was sent is still repaired. ``poll(at:)`` repeats the goodbye until the
  /// receiver answers, for at most a second: then ``state`` is `closed`. A player does not answer,
  /// so that the state is `closed` at once.
  /// - Parameter time: The current time.
  public mutating func sayGoodbye(at time: Double) {
    guard state == .open, goodbye == nil else { return }
    goodbye = Goodbye(at: time)
    guard !configuration.isOneWay else {
      for _ in 0..<Self.playerGoodbyes { sendGoodbye(at: time) }
      state = .closed
      return
    }
    if goodbye?.step(at: time) == .send { sendGoodbye(at: time) }
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
    greeting.hasAudio = audio != nil
    greeting.codec = configuration.stream.codec
    greeting.frameRate = configuration.frameRate
    greeting.clockOffset = clockOffset
    greeting.roundTrip = policy.roundTrip
    greeting.answered = receiverNonce
    greeting.check = consent.newCheck(at: time)
    outgoing.append(greeting.bytes(authenticate: secret?.authenticate))
  }

  // MARK: - What comes

  /// Processes a datagram from the receiver's address.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - time: When it arrived.
  public mutating func receive(_ bytes: [UInt8], at time: Double) {
    // After its end a session still answers goodbyes.
    guard state != .silent, state != .refused, !configuration.isOneWay else { return }
    if Greeting.isGreeting(bytes) {
      guard state != .closed else { return }
      receiveAnswer(bytes, at: time)
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
      // Two ends that both said goodbye would otherwise answer each other forever.
      if goodbye == nil, goodbyeAnswers.allowAnswer(at: time) {
        for answer in Goodbye.answers(toBytes: plain.count, from: configuration.source) {
          sendControl(answer)
        }
      }
    }
    guard state == .open else { return }
    // A datagram with several rate requests is answered once.
    var noticed: RTCPPacket.RateLimit?
    for packet in packets {
      switch packet {
      case .receiverReport(_, let blocks):
        for block in blocks where block.source == configuration.source {
          repair.update(block, at: time)
          protect()
          if block.lastReport != 0 { isMeasured = true }
        }
      case .pictureLoss, .lostFrames: counts.requests += 1
      case .congestionFeedback(_, let streams, let stamp):
        unanswered = nil
        controller.update(sent.results(streams, stamp: stamp), at: time, roundTrip: smoothedRTT)
      case .rateRequest(let asker, let limit) where limit.media == configuration.source:
        let wanted = max(Double(limit.bitsPerSecond), Self.minLimit)
        rateLimit = wanted < configuration.rates.maximum ? wanted : nil
        // The notification names the owner of the limit (RFC 5104, 4.2.2.1).
        noticed = limit
        noticed?.media = asker
      default: break
      }
    }
    policy.receive(packets, from: 0, at: time)
    // Reports do not count as consent: a receiver that does not answer greetings is sent nothing.
    guard hasConsent(at: time) else { return }
    // Sent without a report, as RFC 5506 allows, so that the answer is never longer than the
    // request, whoever sent that.
    if let noticed { sendControl([.rateNotice(sender: configuration.source, limit: noticed)]) }
    sendAgain(packets, at: time)
    let pause = max(minPathRTT * 0.9, Self.minPause)
    audio?.receive(packets, at: time, pause: pause)
    sendAudio(at: time)
  }

  /// Sends the packets that the receiver asks for again, within the budget.
  private mutating func sendAgain(_ requests: [RTCPPacket], at time: Double) {
    // A packet that was sent less than a round trip ago, for the first time or again, is not known
    // to be lost: the receiver has guessed.
    let pause = minPathRTT * 0.9
    let again = stream.packets(
      askedFor: requests, at: time, interval: max(pause, Self.minPause), age: pause, within: &budget,
      rate: wholeRate)
    counts.ignoredRequests = budget.refused
    // Where the round trip is long, repair packets take the place of copies.
    let isBurst = repair.plan(
      again.map(\.number), at: time, roundTrip: minPathRTT, isProtected: parity.strength > 0)
    for (_, packet) in again { sendAgain(packet, isBurst: isBurst, at: time) }
    resentRate = repair.resentRate(at: time)
  }

  /// Records a media, repair or retransmission packet that is sent.
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

  /// Sends the copies of retransmissions that are due.
  private mutating func sendCopies(at time: Double) {
    for number in repair.takeCopies(at: time) where hasConsent(at: time) {
      guard let packet = stream.packet(again: number, at: time, within: &budget, rate: wholeRate) else {
        continue
      }
      sendAgain(packet, isBurst: false, at: time)
    }
  }

  /// Sets the strength of forward error correction from the losses of the last seconds.
  private mutating func protect() {
    guard configuration.stream.protects else { return }
    parity.strength = ParitySender.strength(
      loss: repair.lossLevel, roundTrip: minPathRTT, retransmits: configuration.stream.retransmits)
  }

  private mutating func receiveAnswer(_ bytes: [UInt8], at time: Double) {
    guard let answer = Greeting.Answer(bytes, authenticate: secret?.authenticate),
      answer.greetingNonce == configuration.nonce, receiverNonce == nil || receiverNonce == answer.nonce
    else {
      counts.refused += 1
      return
    }
    // An answer that is a replay, or was computed from earlier ones, proves nothing.
    let clock = configuration.stream.clock.time(ofNTP: answer.clock)
    guard let rtt = consent.processAnswer(answer.check, clock: clock, at: time) else {
      counts.refused += 1
      return
    }
    if receiverNonce == nil {
      guard answer.codecs.contains(configuration.stream.codec) else {
        state = .refused
        return
      }
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
      // Sent before any media: the receiver's session begins with it.
      greet(at: time)
      nextReport = time + Self.reportInterval
    }
    policy.note(roundTrip: rtt)
    // Round trips from reports are accepted only as far as greetings confirm them.
    policy.plausibleRTTs = (consent.minRTT ?? 0)...(2 * (consent.maxRTT ?? Consent.time) + 0.1)
    protect()
    measuredRTT = measuredRTT.map { $0 + (rtt - $0) * 0.25 } ?? rtt
    isMeasured = true
    clockOffset = consent.clockOffset
  }

  private mutating func unprotected(_ bytes: [UInt8]) -> [UInt8]? {
    secret == nil ? bytes : protection?.unprotect(bytes, isControl: true)
  }

  // MARK: - What goes

  /// Returns the requirements for the next frame, before it is encoded.
  /// - Parameter time: The current time.
  /// - Returns: The requirements, and the attempt to pass to ``send(_:_:_:captured:at:)`` or
  ///   ``drop(_:)``.
  public mutating func takeRequirements(
    at time: Double
  ) -> (requirements: RecoveryPolicy.FrameRequirements, attempt: FrameSequencer.Attempt) {
    var requirements = policy.takeRequirements(at: time, leavesReference: sequencer.leavesReference)
    if configuration.isOneWay, time >= lastKeyFrame + Self.joinInterval { requirements.forcesKeyFrame = true }
    return (requirements, sequencer.attempt(requirements))
  }

  /// Notes that rate control has dropped the frame.
  /// - Parameter attempt: What ``takeRequirements(at:)`` has returned.
  public mutating func drop(_ attempt: FrameSequencer.Attempt) { sequencer.drop(attempt) }

  /// Sends a coded frame.
  /// - Parameters:
  ///   - units: The frame's NAL units, without start codes.
  ///   - coded: What the encoder reports about the frame.
  ///   - attempt: What ``takeRequirements(at:)`` has returned.
  ///   - captured: When its picture was taken, in seconds.
  ///   - time: The current time.
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
      // The report maps RTP time stamps to the time when pictures were taken.
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
    let repairs = parity.protect(packets, isDiscardable: descriptor.isDiscardable, timestamp: timestamp)
    counts.parityPackets = parity.packets
    counts.parityBytes = parity.byteCount
    for packet in packets + repairs {
      note(packet, at: time)
      send(packet, isControl: false)
    }
  }

  /// The numbers of what was sent of the audio.
  public var audioCounts: AudioSender.Counts { audio?.counts ?? .init() }

  /// Sends an audio packet (``AudioSender/send(_:position:samples:captured:at:)``).
  public mutating func sendAudio(
    _ payload: [UInt8], position: Int64, samples: Int, captured: Double, at time: Double
  ) {
    guard audio != nil, hasConsent(at: time), samples > 0 else { return }
    audio?.send(payload, position: position, samples: samples, captured: captured, at: time)
    let rate = Double(payload.count + 40) * 8 * AudioSender.rtpRate / Double(samples)
    audioRate += (rate - audioRate) / 16
    lastAudio = time
    sendAudio(at: time)
  }

  private mutating func sendAudio(at time: Double) {
    for (packet, isControl) in audio?.takeOutgoing() ?? [] where hasConsent(at: time) {
      if !isControl {
        sent.add(packet, at: time)
        controller.noteSent(bits: packet.count * 8, at: time)
      }
      send(packet, isControl: isControl)
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
