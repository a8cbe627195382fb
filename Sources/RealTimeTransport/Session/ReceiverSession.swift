// SPDX-License-Identifier: Apache-2.0
/// The receiving end of a call: it answers a sender's greeting, passes frames to a decoder, and
/// sends feedback about what is missing. It has no clock and no socket: times come with each call,
/// in seconds, and datagrams are returned by ``takeOutgoing()``.
public struct ReceiverSession {
  public struct Configuration: Sendable {
    public var clock: MediaClock
    public var source: UInt32
    public var nonce: Greeting.Nonce
    public var name = "receiver"
    /// Whether packets may arrive in another order than they were sent.
    public var reorders = true
    /// The codecs of pictures that are taken. A sender of another one is notified, and no session
    /// begins.
    public var codecs = Set(VideoCodec.allCases)

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
    /// The sender has not been heard for ``SenderSession/silenceTime``.
    case silent
    /// One end has said goodbye, and the other one has answered or does not answer.
    case closed
  }

  private static let reportInterval = 1.0
  private static let feedbackInterval = 0.05
  /// Where the delay of packets grows, feedback is sent at once: the growth since the last
  /// feedback, in seconds, that triggers it, and the shortest time between two such reports.
  private static let delayGrowth = 0.03
  private static let quickInterval = 0.015

  private let configuration: Configuration
  private let secret: (any SharedSecret)?
  private var protection: (any PacketProtection)?
  private var media: MediaReceiver?
  private var audio: AudioReceiver?
  private var arrivals = ArrivalRecorder(sources: [])
  private var nextFeedback = Double.infinity
  private var lastFeedback = -Double.infinity
  /// The arrival time minus the RTP time, in seconds: of the newest media packet, and when feedback
  /// was last sent.
  private var delay = (newest: 0.0, reported: Double.infinity)
  private var firstTimestamp: UInt32?
  /// The newest greeting of the sender; nil before the session.
  private var greeting: Greeting?
  private var outgoing: [[UInt8]] = []
  /// The number of bytes that were received from the sender's address since the session began, and
  /// sent to it. Without a key everyone can send in the sender's name, so that never more is sent
  /// to the address than was received from it.
  private var bytes = (heard: 0, said: 0)
  private var lastHeard = -Double.infinity
  private var nextReport = Double.infinity
  /// The sender's last report, which maps RTP time stamps to the sender's clock.
  private var mapping: RTCPPacket.SenderReport?
  /// The bit rate that this end asks for, in bits per second, and whether the sender has answered.
  private var limit: (asked: UInt64, isAnswered: Bool)?
  /// The state of this end's goodbye, if it has said goodbye first.
  private var goodbye: Goodbye?
  private var goodbyeAnswers = GoodbyeAnswers()
  public private(set) var state = State.waiting
  /// The number of datagrams that were not authentic, came twice, or were not valid packets.
  public private(set) var refused = 0
  /// The number of datagrams that were not sent because more would have been sent to the sender's
  /// address than was received from it.
  public private(set) var unsaid = 0

  /// The codec of the last sender whose codec is not taken; nil before one has greeted.
  public private(set) var refusedCodec: VideoCodec?

  public init(_ configuration: Configuration, secret: (any SharedSecret)? = nil) {
    self.configuration = configuration
    self.secret = secret
  }

  /// The codec of the pictures; nil before the session.
  public var codec: VideoCodec? { greeting?.codec }

  public var counts: MediaReceiver.Counts { media?.counts ?? .init() }
  public var malformedCount: Int { media?.malformedCount ?? 0 }
  /// Whether the sender has announced audio; false before the session.
  public var hasAudio: Bool { audio != nil }
  public var audioCounts: AudioReceiver.Counts { audio?.counts ?? .init() }
  /// The frame rate that the sender has announced.
  public var frameRate: Double? { greeting?.frameRate }
  /// The round trip in seconds that the sender has measured; nil before that.
  public var roundTrip: Double? { greeting?.clockOffset == nil ? nil : greeting?.roundTrip }

  /// The time when ``poll(at:decode:)`` is due.
  public var deadline: Double {
    guard state == .open else { return .infinity }
    if let goodbye { return goodbye.next }
    return min(
      nextReport, nextFeedback, media?.deadline ?? .infinity, media?.requestDeadline ?? .infinity,
      audio?.deadline ?? .infinity, lastHeard + SenderSession.silenceTime)
  }

  /// Removes and returns the datagrams to send, in order.
  public mutating func takeOutgoing() -> [[UInt8]] {
    defer { outgoing.removeAll(keepingCapacity: true) }
    return outgoing
  }

  /// Computes when a picture was taken, on this end's clock; nil before that is known.
  /// - Parameter timestamp: The frame's RTP time stamp.
  public func captureTime(of timestamp: UInt32) -> Double? {
    guard let offset = greeting?.clockOffset, let time = senderTime(of: timestamp) else { return nil }
    return configuration.clock.time(ofNTP: time) + offset
  }

  /// Computes when a sample of the audio was taken, on this end's clock; nil before that is known.
  /// - Parameter timestamp: The RTP time stamp.
  public func audioCaptureTime(of timestamp: UInt32) -> Double? {
    guard let offset = greeting?.clockOffset, let time = audio?.captureTime(of: timestamp) else { return nil }
    return configuration.clock.time(ofNTP: time) + offset
  }

  /// The sender's NTP time when a picture was taken; nil before its first report.
  /// - Parameter timestamp: The frame's RTP time stamp.
  public func senderTime(of timestamp: UInt32) -> UInt64? {
    mapping.map { mapping in
      let distance = Double(Int32(bitPattern: timestamp &- mapping.rtpTime)) / MediaClock.rtpRate
      return mapping.ntpTime &+ UInt64(bitPattern: Int64(distance * 4_294_967_296))
    }
  }

  /// The sender's NTP time when a sample of the audio was taken; nil before its first report.
  /// - Parameter timestamp: The RTP time stamp.
  public func senderAudioTime(of timestamp: UInt32) -> UInt64? { audio?.captureTime(of: timestamp) }

  /// Removes and returns the audio packets that came, in order.
  public mutating func takeAudio() -> [AudioReceiver.Packet] { audio?.takePackets() ?? [] }

  /// Processes a datagram from any address that may greet; send the answer to where it came from. A
  /// sender's first greeting is only answered: the session begins with a greeting that returns this
  /// end's nonce.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - time: When it arrived.
  /// - Returns: Whether the greeting began the session, or belongs to it.
  public mutating func greet(_ bytes: [UInt8], at time: Double) -> Bool {
    guard let greeting = Greeting(bytes, authenticate: secret?.authenticate) else {
      refused += 1
      return false
    }
    // A receiver has one sender at a time.
    guard self.greeting == nil || self.greeting?.nonce == greeting.nonce else { return false }
    // Before the session each greeting may come from another address, so that bytes are counted for
    // each separately.
    if media == nil { self.bytes = (0, 0) }
    // The session's codec stays that of the greeting with which it began.
    let isTaken = configuration.codecs.contains(greeting.codec) && (codec ?? greeting.codec) == greeting.codec
    if !isTaken { refusedCodec = greeting.codec }
    // A sender that continues all the same does not know what such an answer says. Without answers
    // it loses consent and ends.
    guard isTaken || greeting.answered == nil else { return self.greeting != nil }
    self.bytes.heard += bytes.count
    self.bytes.said += Greeting.Answer.size
    var answer = Greeting.Answer(
      to: greeting, nonce: configuration.nonce, clock: configuration.clock.ntpTime(at: time),
      source: configuration.source)
    answer.codecs = configuration.codecs
    outgoing.append(answer.bytes(authenticate: secret?.authenticate))
    guard isTaken, greeting.answered == configuration.nonce else { return self.greeting != nil }
    if media == nil {
      do {
        protection = try secret?.protection(
          sender: greeting.nonce, receiver: configuration.nonce, isSender: false)
      } catch {
        refused += 1
        return false
      }
      var settings = MediaReceiver.Configuration()
      settings.codec = greeting.codec
      settings.recovery = greeting.recovery
      settings.retransmits = greeting.retransmits
      settings.protects = greeting.protects
      // A request for a new picture would take as long.
      settings.longestRetransmission = 0.5
      settings.frameRate = greeting.frameRate
      settings.reorders = configuration.reorders
      settings.name = configuration.name
      media = MediaReceiver(settings, source: configuration.source, media: greeting.source)
      if greeting.hasAudio {
        var settings = AudioReceiver.Configuration(
          source: configuration.source, payloadTypes: [RTPPayloadType.audio])
        settings.repairTypes = [RTPPayloadType.audioRetransmission]
        settings.media = greeting.source &+ 3
        settings.retransmits = greeting.retransmits
        settings.name = configuration.name
        audio = AudioReceiver(settings)
      }
      arrivals = ArrivalRecorder(sources: (0..<(greeting.hasAudio ? 5 : 3)).map { greeting.source &+ $0 })
      nextReport = time + Self.reportInterval
      state = .open
    }
    // A greeting that was overtaken by a newer one, or was replayed, contains nothing new.
    if let last = self.greeting, Int64(bitPattern: greeting.clock &- last.clock) <= 0 { return true }
    lastHeard = max(lastHeard, time)
    if greeting.clockOffset != nil {
      media?.note(roundTrip: greeting.roundTrip)
      audio?.note(roundTrip: greeting.roundTrip)
    }
    self.greeting = greeting
    return true
  }

  /// Processes a datagram from the address that greeted.
  /// - Parameters:
  ///   - bytes: The datagram.
  ///   - time: When it arrived.
  ///   - decode: Called with each frame that can be decoded now.
  public mutating func receive(_ bytes: [UInt8], at time: Double, decode: MediaReceiver.Decode) throws {
    // After its end a session still answers goodbyes, but takes no media.
    guard state == .open || state == .closed else { return }
    self.bytes.heard += bytes.count
    let kind = PacketKind(bytes)
    if kind == .media, state == .closed || goodbye != nil { return }
    guard kind != .other, let plain = unprotected(bytes, isControl: kind == .control) else {
      refused += 1
      return
    }
    if kind == .media {
      let isAudio = audio?.receive(plain, at: time) == true
      guard try isAudio || media?.receive(plain, at: time, decode: decode) == true else {
        refused += 1
        return
      }
      lastHeard = max(lastHeard, time)
      if let packet = RTPPacket(plain) {
        arrivals.add(source: packet.source, number: packet.sequenceNumber, at: time)
        nextFeedback = min(nextFeedback, time + Self.feedbackInterval)
        if packet.source == greeting?.source { noteDelay(packet.timestamp, at: time) }
      }
      sendLossFeedback(at: time)
    } else {
      guard let parsed = RTCPPacket.parse(plain), let greeting,
        case let own = [greeting.source] + (audio.map { _ in [greeting.source &+ 3] } ?? []),
        case let packets = parsed.filter({ own.contains($0.origin) }), !packets.isEmpty
      else {
        refused += 1
        return
      }
      lastHeard = max(lastHeard, time)
      receiveControl(packets, size: plain.count, at: time)
    }
  }

  private mutating func noteDelay(_ timestamp: UInt32, at time: Double) {
    let first = firstTimestamp ?? timestamp
    firstTimestamp = first
    delay.newest = time - Double(Int32(bitPattern: timestamp &- first)) / MediaClock.rtpRate
    delay.reported = min(delay.reported, delay.newest)
    if delay.newest > delay.reported + Self.delayGrowth {
      nextFeedback = min(nextFeedback, max(lastFeedback + Self.quickInterval, time))
    }
  }

  /// Asks for a key frame until one is decoded, for a viewer that has not seen the stream yet. The
  /// sender makes at most one a second. Without a sender this does nothing: a stream begins with a
  /// key frame.
  /// - Parameter time: The current time.
  public mutating func requestKeyFrame(at time: Double) { media?.requestKeyFrame(at: time) }

  /// Asks the sender to limit its bit rate, and repeats that every second until it answers (RFC
  /// 5104, 4.2.1).
  /// - Parameter bitsPerSecond: The limit for media in bits per second; nil removes the limit.
  public mutating func limitRate(_ bitsPerSecond: Double?) {
    // The protocol has no value for "no limit" except the highest rate.
    let maximum = 1e12
    guard bitsPerSecond != nil || limit != nil else { return }
    limit = (UInt64(min(max(bitsPerSecond ?? maximum, 1), maximum)), false)
    nextReport = min(nextReport, lastHeard)
  }

  /// The limit that the sender has agreed to, in bits per second; nil before its answer, and
  /// without a limit.
  public private(set) var agreedRate: Double?

  private var rateRequest: RTCPPacket? {
    guard let limit, !limit.isAnswered, let greeting else { return nil }
    return .rateRequest(
      sender: configuration.source, limit: .init(media: greeting.source, bitsPerSecond: limit.asked))
  }

  private mutating func receiveControl(_ packets: [RTCPPacket], size: Int, at time: Double) {
    media?.receiveControl(packets, at: time)
    audio?.receiveControl(packets, at: time)
    // The audio's source says nothing of the session.
    for packet in packets where packet.origin == greeting?.source {
      switch packet {
      case .rateNotice(_, let notice):
        // Earlier versions of the sender put their own source here in place of the requester's.
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
        // Two ends that both said goodbye would otherwise answer each other forever.
        if goodbye == nil, goodbyeAnswers.allowAnswer(at: time) {
          for answer in Goodbye.answers(toBytes: size, from: configuration.source) { send(answer) }
        }
        return
      default: break
      }
    }
  }

  /// Does what is due: repeats, reports and feedback, and frames that waited long enough.
  /// - Parameters:
  ///   - time: The current time.
  ///   - decode: Called with each frame that can be decoded now.
  public mutating func poll(at time: Double, decode: MediaReceiver.Decode) throws {
    guard state == .open else { return }
    if goodbye != nil {
      switch goodbye?.step(at: time) {
      case .send: sendGoodbye(at: time)
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
    sendLossFeedback(at: time)
    audio?.poll(at: time)
    for packets in audio?.takeOutgoing() ?? [] { send(packets) }
    if time >= nextFeedback {
      nextFeedback = .infinity
      lastFeedback = time
      delay.reported = delay.newest
      if let report = arrivals.report(from: configuration.source, clock: configuration.clock, at: time) {
        // Sent without a report, as RFC 5506 allows, because it is sent twenty times a second.
        send([report])
      }
    }
    if time >= nextReport {
      nextReport = time + Self.reportInterval
      send((media?.report(at: time) ?? []) + (rateRequest.map { [$0] } ?? []))
    }
  }

  /// Processes the packets that wait for missing ones, at the end of the stream.
  /// - Parameter decode: Called with each frame that can be decoded now.
  public mutating func finish(decode: MediaReceiver.Decode) throws {
    try media?.release(at: .infinity, decode: decode)
  }

  /// Says goodbye, and ignores media from now on. ``poll(at:decode:)`` repeats the goodbye until
  /// the sender answers, for at most a second: then ``state`` is `closed`.
  /// - Parameter time: The current time.
  public mutating func sayGoodbye(at time: Double) {
    guard state == .open, goodbye == nil else { return }
    goodbye = Goodbye(at: time)
    if goodbye?.step(at: time) == .send { sendGoodbye(at: time) }
  }

  private mutating func sendGoodbye(at time: Double) {
    send((media?.report(at: time) ?? []) + [.bye(source: configuration.source)])
  }

  /// Sends the feedback about missing packets and frames.
  private mutating func sendLossFeedback(at time: Double) {
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
    // If the allowance is too small for the accompanying report, feedback is sent without it, as
    // RFC 5506 allows.
    if !sendWithinAllowance(packets), !sendWithinAllowance(packets.filter { !$0.isReport }) { unsaid += 1 }
  }

  /// Sends packets if the session has then sent no more bytes than it has received.
  private mutating func sendWithinAllowance(_ packets: [RTCPPacket]) -> Bool {
    let datagram = RTCPPacket.compound(packets)
    guard !datagram.isEmpty, bytes.said + datagram.count <= bytes.heard else { return false }
    bytes.said += datagram.count
    outgoing.append(datagram)
    return true
  }
}

extension RTCPPacket {
  /// Whether this is a report or a source description, with which compound packets begin.
  fileprivate var isReport: Bool {
    switch self {
    case .senderReport, .receiverReport, .sourceDescription: true
    default: false
    }
  }
}
