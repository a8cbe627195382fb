// SPDX-License-Identifier: Apache-2.0
/// The receiving end of a call: it answers a sender's greeting, gives frames to a decoder, and says what it lacks. It has
/// no clock and no socket: times come with each call, in seconds, and datagrams go out through ``takeOutgoing()``.
public struct ReceiverSession {
  public struct Configuration: Sendable {
    public var clock: MediaClock
    public var source: UInt32
    public var nonce: Greeting.Nonce
    public var name = "receiver"
    /// Packets may come in another order than they were sent.
    public var reorders = true

    public init(clock: MediaClock, source: UInt32, nonce: Greeting.Nonce) {
      self.clock = clock
      self.source = source
      self.nonce = nonce
    }
  }

  public enum State: Equatable, Sendable {
    /// No sender has greeted yet.
    case waiting
    case open
    /// The sender is heard no more.
    case silent
    /// One of both said good-bye, and the other one has heard it or does not answer.
    case closed
  }

  private static let reportInterval = 1.0
  private static let feedbackInterval = 0.05
  /// Where packets come ever later, the sender is to hear of it at once: seconds more than when it heard last, and from one
  /// such report to the next at least.
  private static let delayGrowth = 0.03
  private static let quickInterval = 0.015

  private let configuration: Configuration
  private let secret: (any SharedSecret)?
  private var protection: (any PacketProtection)?
  private var media: MediaReceiver?
  private var arrivals = ArrivalRecorder(sources: [])
  private var nextFeedback = Double.infinity
  private var lastFeedback = -Double.infinity
  /// Arrival less RTP's time, in seconds: of the newest packet of media, and when the sender heard last.
  private var delay = (newest: 0.0, told: Double.infinity)
  private var firstTimestamp: UInt32?
  private var greeting: Greeting?
  private var outgoing: [[UInt8]] = []
  /// Bytes that came from the sender's address since the session began, and that went there. Without a key everybody can send
  /// in the sender's name: what goes there is never more than what came from there.
  private var bytes = (heard: 0, said: 0)
  private var lastHeard = -Double.infinity
  private var nextReport = Double.infinity
  private var mapping: RTCPPacket.SenderReport?
  /// What the stream may take, as far as this end has a say, and whether the sender has answered.
  private var limit: (asked: UInt64, isAnswered: Bool)?
  /// This end's, if it was the one to say so.
  private var goodbye: Goodbye?
  private var goodbyeAnswers = GoodbyeAnswers()
  public private(set) var state = State.waiting
  /// Datagrams that were not authentic, came twice, or were not packets at all.
  public private(set) var refused = 0
  /// Datagrams that were not sent, since more would have gone to the sender's address than came from there.
  public private(set) var unsaid = 0

  public init(_ configuration: Configuration, secret: (any SharedSecret)? = nil) {
    self.configuration = configuration
    self.secret = secret
  }

  public var counts: MediaReceiver.Counts { media?.counts ?? .init() }
  public var malformedCount: Int { media?.malformedCount ?? 0 }
  /// What the sender says of itself.
  public var frameRate: Double? { greeting?.frameRate }
  /// Seconds, as the sender measured it.
  public var roundTrip: Double? { greeting?.clockOffset == nil ? nil : greeting?.roundTrip }

  /// When ``poll(at:decode:)`` is due.
  public var deadline: Double {
    guard state == .open else { return .infinity }
    if let goodbye { return goodbye.next }
    return min(
      nextReport, nextFeedback, media?.deadline ?? .infinity, media?.requestDeadline ?? .infinity,
      lastHeard + SenderSession.silenceTime)
  }

  /// Datagrams to send now, in order.
  public mutating func takeOutgoing() -> [[UInt8]] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// When a picture was taken, on this end's clock; nil before that is known.
  public func captureTime(of timestamp: UInt32) -> Double? {
    guard let mapping, let offset = greeting?.clockOffset else { return nil }
    let distance = Double(Int32(bitPattern: timestamp &- mapping.rtpTime)) / MediaClock.rtpRate
    return configuration.clock.time(ofNTP: mapping.ntpTime) + distance + offset
  }

  /// Takes a datagram of whoever may greet; the answer goes back to where it came from. The first greeting of a sender
  /// only gets that: the session begins with one that brings this end's number back.
  /// - Returns: Whether it began the session, or belongs to it.
  public mutating func greet(_ bytes: [UInt8], at time: Double) -> Bool {
    guard let greeting = Greeting(bytes, authenticate: secret?.authenticate) else {
      refused += 1
      return false
    }
    // One sender at a time.
    guard self.greeting == nil || self.greeting?.nonce == greeting.nonce else { return false }
    // Before the session begins each greeting may be of another address, and stands for itself.
    if media == nil { self.bytes = (0, 0) }
    self.bytes.heard += bytes.count
    self.bytes.said += Greeting.Answer.size
    let answer = Greeting.Answer(
      to: greeting, nonce: configuration.nonce, clock: configuration.clock.ntpTime(at: time),
      source: configuration.source)
    outgoing.append(answer.bytes(authenticate: secret?.authenticate))
    guard greeting.answered == configuration.nonce else { return self.greeting != nil }
    if media == nil {
      do {
        protection = try secret?.protection(
          sender: greeting.nonce, receiver: configuration.nonce, isSender: false)
      } catch {
        refused += 1
        return false
      }
      var settings = MediaReceiver.Configuration()
      settings.recovery = greeting.recovery
      settings.retransmits = greeting.retransmits
      settings.protects = greeting.protects
      // A new picture takes as long to ask for.
      settings.longestRetransmission = 0.5
      settings.frameRate = greeting.frameRate
      settings.reorders = configuration.reorders
      settings.name = configuration.name
      media = MediaReceiver(settings, source: configuration.source, media: greeting.source)
      arrivals = ArrivalRecorder(sources: (0..<3).map { greeting.source &+ $0 })
      nextReport = time + Self.reportInterval
      state = .open
    }
    // One that was overtaken, or that somebody on the way sends again, says nothing new.
    if let last = self.greeting, Int64(bitPattern: greeting.clock &- last.clock) <= 0 { return true }
    lastHeard = max(lastHeard, time)
    if greeting.clockOffset != nil { media?.note(roundTrip: greeting.roundTrip) }
    self.greeting = greeting
    return true
  }

  /// Takes a datagram from the address that greeted.
  public mutating func take(_ bytes: [UInt8], at time: Double, decode: MediaReceiver.Decode) throws {
    // Who has gone still answers good-byes, and wants no media any more.
    guard state == .open || state == .closed else { return }
    self.bytes.heard += bytes.count
    let kind = PacketKind(bytes)
    if kind == .media, state == .closed || goodbye != nil { return }
    guard kind != .other, let plain = unprotected(bytes, isControl: kind == .control) else {
      refused += 1
      return
    }
    if kind == .media {
      guard try media?.take(plain, at: time, decode: decode) == true else {
        refused += 1
        return
      }
      lastHeard = max(lastHeard, time)
      if let packet = RTPPacket(plain) {
        arrivals.add(source: packet.source, number: packet.sequenceNumber, at: time)
        nextFeedback = min(nextFeedback, time + Self.feedbackInterval)
        if packet.source == greeting?.source { noteDelay(packet.timestamp, at: time) }
      }
      sayWhatIsLacking(at: time)
    } else {
      guard let parsed = RTCPPacket.parse(plain), let greeting,
        case let packets = parsed.filter({ $0.origin == greeting.source }), !packets.isEmpty
      else {
        refused += 1
        return
      }
      lastHeard = max(lastHeard, time)
      takeControl(packets, size: plain.count, at: time)
    }
  }

  private mutating func noteDelay(_ timestamp: UInt32, at time: Double) {
    let first = firstTimestamp ?? timestamp
    firstTimestamp = first
    delay.newest = time - Double(Int32(bitPattern: timestamp &- first)) / MediaClock.rtpRate
    delay.told = min(delay.told, delay.newest)
    if delay.newest > delay.told + Self.delayGrowth {
      nextFeedback = min(nextFeedback, max(lastFeedback + Self.quickInterval, time))
    }
  }

  /// Asks for a key frame until one comes: for somebody who has not seen the stream yet. The sender makes one a second at
  /// most. Without a sender it does nothing: a stream begins with one.
  public mutating func requestKeyFrame(at time: Double) { media?.requestKeyFrame(at: time) }

  /// Asks the sender to send no more, and says so every second until it answers (RFC 5104, 4.2.1).
  /// - Parameter bitsPerSecond: of media; nil lifts a limit.
  public mutating func limitRate(_ bitsPerSecond: Double?) {
    // There is no word for none but the highest.
    let most = 1e12
    guard bitsPerSecond != nil || limit != nil else { return }
    limit = (UInt64(min(max(bitsPerSecond ?? most, 1), most)), false)
    nextReport = min(nextReport, lastHeard)
  }

  /// Bits a second that the sender has agreed to; nil before it has, and without a limit.
  public private(set) var agreedRate: Double?

  private var rateRequest: RTCPPacket? {
    guard let limit, !limit.isAnswered, let greeting else { return nil }
    return .rateRequest(
      sender: configuration.source, limit: .init(media: greeting.source, bitsPerSecond: limit.asked))
  }

  private mutating func takeControl(_ packets: [RTCPPacket], size: Int, at time: Double) {
    media?.takeControl(packets, at: time)
    for packet in packets {
      switch packet {
      case .rateNotice(_, let notice):
        // Senders of earlier versions named themselves in place of whoever asked.
        guard let asked = limit?.asked, let greeting,
          notice.media == configuration.source || notice.media == greeting.source,
          notice.bitsPerSecond
            == RTCPPacket.RateLimit(media: notice.media, bitsPerSecond: asked).bitsPerSecond
        else { continue }
        limit?.isAnswered = true
        agreedRate = asked < 1_000_000_000_000 ? Double(asked) : nil
      case .senderReport(let report): mapping = report
      case .bye:
        state = .closed
        // Two that both ask would answer each other for ever.
        if goodbye == nil, goodbyeAnswers.take(at: time) {
          for answer in Goodbye.answers(toBytes: size, from: configuration.source) { send(answer) }
        }
        return
      default: break
      }
    }
  }

  /// Does what is due.
  public mutating func poll(at time: Double, decode: MediaReceiver.Decode) throws {
    guard state == .open else { return }
    if goodbye != nil {
      switch goodbye?.step(at: time) {
      case .say: sendGoodbye(at: time)
      case .giveUp: state = .closed
      default: break
      }
      return
    }
    if time - lastHeard >= SenderSession.silenceTime {
      state = .silent
      return
    }
    if let deadline = media?.deadline, time >= deadline { try media?.release(at: time, decode: decode) }
    sayWhatIsLacking(at: time)
    if time >= nextFeedback {
      nextFeedback = .infinity
      lastFeedback = time
      delay.told = delay.newest
      if let report = arrivals.report(from: configuration.source, clock: configuration.clock, at: time) {
        // Alone, as RFC 5506 allows: it goes twenty times a second.
        send([report])
      }
    }
    if time >= nextReport {
      nextReport = time + Self.reportInterval
      send((media?.report(at: time) ?? []) + (rateRequest.map { [$0] } ?? []))
    }
  }

  /// Gives out what waits for packets that will not come any more.
  public mutating func finish(decode: MediaReceiver.Decode) throws {
    try media?.release(at: .infinity, decode: decode)
  }

  /// Says that it listens no more, and takes no media from now on. ``poll(at:decode:)`` says it again until the sender
  /// answers, for a second at most: then ``state`` is `closed`.
  public mutating func sayGoodbye(at time: Double) {
    guard state == .open, goodbye == nil else { return }
    goodbye = Goodbye(at: time)
    if goodbye?.step(at: time) == .say { sendGoodbye(at: time) }
  }

  private mutating func sendGoodbye(at time: Double) {
    send((media?.report(at: time) ?? []) + [.bye(source: configuration.source)])
  }

  private mutating func sayWhatIsLacking(at time: Double) {
    guard let packets = media?.feedback(at: time), !packets.isEmpty else { return }
    send((media?.report(at: time) ?? []) + packets)
  }

  private mutating func unprotected(_ bytes: [UInt8], isControl: Bool) -> [UInt8]? {
    secret == nil ? bytes : protection?.unprotect(bytes, isControl: isControl)
  }

  private mutating func send(_ packets: [RTCPPacket]) {
    guard secret == nil else {
      if let hidden = protection?.protect(RTCPPacket.compound(packets), isControl: true) {
        outgoing.append(hidden)
      }
      return
    }
    // Where there is no room for the report that goes along, feedback goes alone, as RFC 5506 allows.
    if !sendWithinAllowance(packets), !sendWithinAllowance(packets.filter { !$0.isReport }) { unsaid += 1 }
  }

  /// Sends no more in all than has come.
  private mutating func sendWithinAllowance(_ packets: [RTCPPacket]) -> Bool {
    let datagram = RTCPPacket.compound(packets)
    guard !datagram.isEmpty, bytes.said + datagram.count <= bytes.heard else { return false }
    bytes.said += datagram.count
    outgoing.append(datagram)
    return true
  }
}

extension RTCPPacket {
  /// Whether it says how a stream fares, or who says so: what a compound packet begins with.
  fileprivate var isReport: Bool {
    switch self {
    case .senderReport, .receiverReport, .sourceDescription: true
    default: false
    }
  }
}
