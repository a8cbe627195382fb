// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Whether media continues only as long as the receiver answers the greetings that it is sent.
@Suite struct ConsentTests {
  /// The answer of a peer to a greeting: it has the first one's answer, and what it wants of the
  /// newest.
  private typealias Answering = (_ first: Greeting, _ new: Greeting, _ time: Double) -> Greeting.Answer?

  private static func answer(
    _ greeting: Greeting, check: Greeting.Check? = nil, at time: Double
  ) -> Greeting.Answer {
    var answer = Greeting.Answer(
      to: greeting, nonce: .init([2]), clock: MediaClock.simulated.ntpTime(at: time), source: 3)
    if let check { answer.check = check }
    return answer
  }

  /// A sender that encodes for half a minute, and a peer that answers as it likes and continues to
  /// report.
  /// - Returns: When packets of media were sent, and the session.
  private func call(_ answering: Answering) -> (media: [Double], sender: SenderSession) {
    var configuration = SenderSession.Configuration(source: 1, nonce: .init([1]))
    configuration.recovery = .keyframe
    var sender = SenderSession(configuration, at: 0)
    var first: Greeting?
    var media: [Double] = []
    for tick in 0..<6000 {
      let time = Double(tick) * 0.005
      sender.poll(at: time)
      if tick % 6 == 0 {
        let (requirements, attempt) = sender.takeRequirements(at: time)
        sender.send(
          [[0x65, 1, 2, 3]], .init(isKeyFrame: requirements.forcesKeyFrame || tick == 0), attempt,
          captured: time,
          at: time)
      }
      for bytes in sender.takeOutgoing() {
        if let greeting = Greeting(bytes) {
          first = first ?? greeting
          if let first, let said = answering(first, greeting, time) {
            sender.receive(said.bytes(), at: time + 0.002)
          }
        } else if !RTCPPacket.isControl(bytes) {
          media.append(time)
        }
      }
      // It is heard all the time, asks for what came, and for new pictures.
      if tick % 20 == 0 {
        sender.receive(
          RTCPPacket.compound([
            .receiverReport(source: 3, blocks: []), .pictureLoss(sender: 3, media: 1),
            .retransmissionRequest(
              sender: 3, media: 1,
              numbers: (0..<64).map { 1000 &+ UInt16(truncatingIfNeeded: tick / 6 + $0 - 63) }),
          ]), at: time)
      }
    }
    return (media, sender)
  }

  @Test("A peer that answers each greeting is sent media all the time")
  func aPeerThatAnswersEachGreetingIsSentMediaAllTheTime() {
    let (media, sender) = call { _, new, time in Self.answer(new, at: time) }
    #expect(media.count >= 995 && (media.last ?? 0) > 29.9 && sender.state == .open)
  }

  @Test(
    "A peer that answers the first greeting, and makes later answers of that, gets media for five seconds")
  func aPeerThatComputesItsAnswersGetsMediaForFiveSeconds() {
    let makers: [(String, (Greeting, Double, Int) -> Greeting.Check)] = [
      ("the same", { first, _, _ in first.check }),
      (
        "counted on",
        { first, _, count in
          var bytes = first.check.bytes
          bytes[11] &+= UInt8(truncatingIfNeeded: count)
          return .init(bytes)
        }
      ),
      // As it was while the greeting's clock was all that came back.
      (
        "of the clock",
        { first, time, _ in
          let clock = first.clock &+ UInt64(time * 4_294_967_296)
          return .init((0..<8).map { UInt8(truncatingIfNeeded: clock >> UInt64(56 - 8 * $0)) })
        }
      ),
      ("nothing", { _, _, _ in .init([]) }),
    ]
    for (name, make) in makers {
      var count = 0
      let (media, sender) = call { first, new, time in
        count += 1
        return count == 1
          ? Self.answer(new, at: time) : Self.answer(first, check: make(first, time, count), at: time)
      }
      #expect((media.last ?? 99) <= Consent.time + 0.01 && media.count > 100, "\(name): \(media.last ?? -1)")
      #expect(sender.state == .silent, "\(name)")
    }
  }

  @Test("An answer that was kept proves that its greeting came, when that was sent, and once")
  func anAnswerThatWasKeptProvesThatItsGreetingCame() {
    var checks: [Greeting.Check] = []
    // Those of the first three seconds, again and again.
    let (media, sender) = call { first, new, time in
      checks.append(new.check)
      return time < 3
        ? Self.answer(new, at: time) : Self.answer(first, check: checks[checks.count % 3], at: time)
    }
    #expect((media.last ?? 99) < 3 + Consent.time && sender.state == .silent)
    // The newest that is two seconds old is fresh for two more.
    var late: [(due: Double, greeting: Greeting)] = []
    let (slow, open) = call { _, new, time in
      late.append((time + 2, new))
      return late.last { $0.due <= time }.map { Self.answer($0.greeting, at: time) }
    }
    #expect((slow.last ?? 0) > 29 && open.state == .open)
    // Six are too many.
    late = []
    let (never, closed) = call { _, new, time in
      late.append((time + 6, new))
      return late.last { $0.due <= time }.map { Self.answer($0.greeting, at: time) }
    }
    #expect(never.isEmpty && closed.state == .silent)
  }

  @Test("No two greetings have the same number, and what is remembered of them is bounded")
  func noTwoGreetingsHaveTheSameNumber() {
    var checks: Set<Greeting.Check> = []
    var (ones, made) = (0, 0)
    for _ in 0..<20 {
      var sender = SenderSession(.init(source: 1, nonce: .init([1])), at: 0)
      for tick in 0..<49 {
        sender.poll(at: Double(tick) * 0.2)
        for bytes in sender.takeOutgoing() {
          guard let greeting = Greeting(bytes) else { continue }
          // Where the layout says that it is.
          #expect(Array(bytes[68..<80]) == greeting.check.bytes)
          checks.insert(greeting.check)
          made += 1
          ones += greeting.check.bytes.reduce(0) { $0 + $1.nonzeroBitCount }
        }
      }
    }
    #expect(checks.count == made && made > 800)
    // Half of the bits are one.
    let share = Double(ones) / Double(checks.count * 96)
    #expect(abs(share - 0.5) < 0.01, "\(share)")
    var consent = Consent()
    let first = consent.newCheck(at: 0)
    for _ in 0..<200 { _ = consent.newCheck(at: 0.1) }
    #expect(consent.processAnswer(first, clock: 0, at: 0.2) == nil)
  }

  @Test("A sender retransmits nothing to a receiver whose consent has expired")
  func whoHasGoneSilentHasNothingSentAgainEither() throws {
    let pair = SessionPair()
    var resent: [Double] = []
    pair.packetObserver = { bytes, isForth, time in
      if isForth, bytes.count > 1, bytes[1] & 127 == RTPPayloadType.retransmission {
        resent.append(time)
      }
    }
    pair.cut = 2
    for tick in 0..<400 {
      pair.loop.schedule(at: 1 + Double(tick) * 0.02) { [pair] in
        let newest = 1000 + UInt16(pair.sender.counts.packets)
        pair.sender.receive(
          RTCPPacket.compound([
            .receiverReport(source: 0x2000, blocks: []),
            .retransmissionRequest(sender: 0x2000, media: 0x1000, numbers: (1...20).map { newest &- $0 }),
            .rateRequest(sender: 0x2000, limit: .init(media: 0x1000, bitsPerSecond: 500_000)),
          ]), at: pair.loop.now)
        pair.flush()
      }
    }
    try pair.run(frames: 240, end: 9)
    #expect(resent.count > 10 && (resent.last ?? 99) < 2 + Consent.time + 0.1, "\(resent.last ?? -1)")
  }
}
