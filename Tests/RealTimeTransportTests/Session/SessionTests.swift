// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

@Suite struct SessionTests {
  @Test("Two ends meet, every frame comes, and its age is right though the clocks differ")
  func twoEndsMeet() throws {
    let pair = SessionPair(delay: 0.02, ahead: 12.5)
    try pair.run(frames: 90)
    #expect(pair.early.isEmpty && pair.sender.state == .open)
    #expect(pair.shown.map(\.number) == Array(0..<90))
    #expect(pair.sender.counts.withheld == 0 && pair.sender.counts.refused == 0)
    #expect(pair.receiver.refused == 0 && pair.receiver.counts.incomplete == 0)
    // Both ways take as long, but for their time on the line.
    #expect(abs((pair.sender.clockOffset ?? 0) - 12.5) < 0.002)
    #expect(abs((pair.sender.roundTrip ?? 0) - 0.04) < 0.01)
    // Ages are known from the second greeting on, which tells the offset.
    let delays = pair.shown.dropFirst(40).map(\.delay)
    for delay in delays {
      let delay = try #require(delay)
      // On the receiver's session clock, which its own time of day does not change.
      #expect(abs(delay - 0.026) < 0.01, "\(delay)")
    }
  }

  @Test("Nothing but greetings goes to an address that does not answer")
  func nothingButGreetingsGoesToAnAddressThatDoesNotAnswer() throws {
    let pair = SessionPair()
    pair.meddle = { _ in [] }
    try pair.run(frames: 60, end: 12)
    #expect(pair.early.isEmpty && pair.sender.state == .silent && pair.shown.isEmpty)
    #expect(pair.sender.counts.frames == 0 && pair.sender.counts.withheld == 60)
  }

  @Test(
    "To a player media goes at once, with a key frame every two seconds, and nothing of it is listened to")
  func toAPlayerMediaGoesAtOnce() {
    var configuration = SenderSession.Configuration(source: 1, nonce: .init([1]))
    configuration.isOneWay = true
    configuration.recovery = .keyframe
    var sender = SenderSession(configuration, at: 0)
    var keyFrames: [Int] = []
    var datagrams: [[UInt8]] = []
    for index in 0..<300 {
      let time = Double(index) / 30
      sender.poll(at: time)
      sender.receive(RTCPPacket.compound([.pictureLoss(sender: 2, media: 1), .bye(source: 2)]), at: time)
      let (requirements, attempt) = sender.takeRequirements(at: time)
      if requirements.forcesKeyFrame { keyFrames.append(index) }
      sender.send(
        [[0x65, 1]], .init(isKeyFrame: requirements.forcesKeyFrame), attempt, captured: time, at: time)
      datagrams += sender.takeOutgoing()
    }
    #expect(keyFrames == [0, 60, 120, 180, 240] && sender.counts.frames == 300 && sender.state == .open)
    #expect(
      datagrams.count { !RTCPPacket.isControl($0) } == 300 && !datagrams.contains(where: Greeting.isGreeting))
    // One before the first picture, then one a second.
    #expect((9...11).contains(datagrams.count { RTCPPacket.isControl($0) }))
  }

  @Test("A receiver that goes away is sent nothing more after some seconds, and the session ends")
  func aReceiverThatGoesAwayIsSentNothingMore() throws {
    let pair = SessionPair()
    pair.cut = 2
    try pair.run(frames: 600, end: 22)
    #expect(pair.sender.state == .silent)
    // Some five seconds of the twenty.
    #expect((150...260).contains(pair.sender.counts.frames), "\(pair.sender.counts)")
    #expect(pair.sender.counts.withheld == 600 - pair.sender.counts.frames)
    #expect(pair.receiver.state == .silent)
  }

  @Test("Good-bye ends the other side at once", arguments: [false, true])
  func goodByeEndsTheOtherSideAtOnce(fromReceiver: Bool) throws {
    let pair = SessionPair()
    pair.loop.schedule(at: 1.5) { [pair] in
      if fromReceiver {
        pair.receiver.sayGoodbye(at: pair.loop.now)
      } else {
        pair.sender.sayGoodbye(at: pair.loop.now)
      }
      pair.flush()
    }
    try pair.run(frames: 60)
    if fromReceiver { #expect(pair.sender.state == .closed) } else { #expect(pair.receiver.state == .closed) }
  }

  @Test("A good-bye that was lost is said again, and the answer ends it", arguments: [false, true])
  func aGoodByeThatWasLostIsSaidAgain(fromReceiver: Bool) throws {
    let pair = SessionPair()
    // A burst of losses of 0.3 s, either way, from the first good-bye on.
    pair.meddle = { [pair] in (1.45..<1.75).contains(pair.loop.now) ? [] : [$0] }
    pair.answers = { [pair] in (1.45..<1.75).contains(pair.loop.now) ? [] : $0 }
    var said = (forth: 0, back: 0)
    pair.packetObserver = { bytes, isForth, _ in
      let packets = RTCPPacket.isControl(bytes) ? RTCPPacket.parse(bytes) ?? [] : []
      let count = packets.count { if case .bye = $0 { true } else { false } }
      if isForth { said.forth += count } else { said.back += count }
    }
    pair.loop.schedule(at: 1.5) { [pair] in
      if fromReceiver {
        pair.receiver.sayGoodbye(at: pair.loop.now)
      } else {
        pair.sender.sayGoodbye(at: pair.loop.now)
      }
      pair.flush()
      #expect(pair.sender.state == .open && pair.receiver.state == .open)
    }
    try pair.run(frames: 90)
    #expect(pair.receiver.state == .closed && pair.sender.state == .closed)
    let (asked, answered) = fromReceiver ? (said.back, said.forth) : (said.forth, said.back)
    // One each 40 ms while all is lost, and those that were on the way when the answer came.
    #expect((7...11).contains(asked), "\(said)")
    #expect((3...9).contains(answered) && answered % 3 == 0, "\(said)")
  }

  @Test("Both ends may say goodbye at the same time, and neither waits for a silent peer")
  func bothMaySayGoodByeAtOnce() throws {
    let both = SessionPair()
    both.loop.schedule(at: 1.5) { [both] in
      both.receiver.sayGoodbye(at: both.loop.now)
      both.sender.sayGoodbye(at: both.loop.now)
      both.flush()
    }
    try both.run(frames: 60)
    #expect(both.receiver.state == .closed && both.sender.state == .closed)

    let alone = SessionPair()
    alone.cut = 1.4
    alone.loop.schedule(at: 1.5) { [alone] in
      alone.receiver.sayGoodbye(at: alone.loop.now)
      alone.sender.sayGoodbye(at: alone.loop.now)
      alone.flush()
    }
    for (time, state) in [(2.45, false), (2.6, true)] {
      alone.loop.schedule(at: time) { [alone] in
        #expect((alone.receiver.state == .closed) == state && (alone.sender.state == .closed) == state)
      }
    }
    try alone.run(frames: 90)
  }

  @Test("Two that received a goodbye in each other's name do not answer each other forever")
  func forgedGoodByesAreNotAnsweredForEver() throws {
    let pair = SessionPair()
    try pair.run(frames: 30, end: 1.5)
    #expect(pair.sender.state == .open && pair.receiver.state == .open)
    // The datagrams that each of them would send.
    var (sender, receiver) = (pair.sender, pair.receiver)
    sender.sayGoodbye(at: 1.5)
    receiver.sayGoodbye(at: 1.5)
    var (forth, back) = (sender.takeOutgoing(), receiver.takeOutgoing())
    #expect(!forth.isEmpty && !back.isEmpty)
    var said = 0
    for step in 0..<2000 {
      let time = 1.5 + Double(step) * 0.001
      for bytes in forth { try pair.receiver.receive(bytes, at: time) { _ in true } }
      for bytes in back { pair.sender.receive(bytes, at: time) }
      (forth, back) = (pair.sender.takeOutgoing(), pair.receiver.takeOutgoing())
      said += forth.count + back.count
      guard said < 1000 else { break }
    }
    #expect(pair.receiver.state == .closed && pair.sender.state == .closed)
    #expect(forth.isEmpty && back.isEmpty && (6...150).contains(said), "\(said)")
  }

  @Test("Losses are repaired by packets that are sent again", arguments: [0.01, 0.05, 0.1])
  func lossesAreRepairedByPacketsThatAreSentAgain(rate: Double) throws {
    let pair = SessionPair(loss: .random(rate), seed: 4)
    try pair.run(frames: 300)
    let counts = pair.receiver.counts
    #expect(counts.recoveredPackets > 0 && counts.lostPackets > 0)
    #expect(pair.shown.count > 285, "\(pair.shown.count)")
    #expect(pair.sender.counts.resentPackets >= counts.recoveredPackets)
    #expect(zip(pair.shown, pair.shown.dropFirst()).allSatisfy { $0.number < $1.number })
  }

  @Test(
    "A storm of requests gives at most one key frame a second",
    arguments: [RecoveryMode.keyframe, .ltr, .invalidate, .intraRefresh])
  func aStormOfRequestsGivesAtMostOneKeyFrameASecond(recovery: RecoveryMode) throws {
    let pair = SessionPair(recovery: recovery) { $0.stream.retransmits = false }
    for tick in 0..<1000 {
      pair.loop.schedule(at: 0.5 + Double(tick) * 0.005) { [pair] in
        let newest = UInt16(pair.sentTimes.count)
        pair.sender.receive(
          RTCPPacket.compound([
            .receiverReport(source: 0x2000, blocks: []), .pictureLoss(sender: 0x2000, media: 0x1000),
            // Of a frame that the encoder has no more, as one that took its time.
            .referenceSelection(sender: 0x2000, media: 0x1000, payloadType: 96, token: 999),
            .lostFrames(sender: 0x2000, frames: (1...20).map { newest &- $0 }),
          ]), at: pair.loop.now)
      }
    }
    // The state that the receiver reports would save key frames.
    pair.answers = { $0.filter { if case .referenceSelection = $0 { false } else { true } } }
    try pair.run(frames: 180)
    #expect((3...7).contains(pair.sender.counts.keyFrames), "\(pair.sender.counts.keyFrames) in 6 s")
    #expect(pair.sender.counts.requests >= 1000)
  }

  @Test("Reports from another synchronisation source are ignored and do not renew consent")
  func reportsOfAnotherSourceChangeNothing() throws {
    let pair = SessionPair()
    pair.cut = 2
    for tick in 0..<200 {
      pair.loop.schedule(at: 0.5 + Double(tick) * 0.05) { [pair] in
        for source in [0x2000, 0x2001] as [UInt32] {
          let block = RTCPPacket.ReportBlock(
            source: 0x1000, fractionLost: 200, cumulativeLost: 9000, highestSequence: 20_000, jitter: 0,
            lastReport: 0, delaySinceLastReport: 0)
          var packets: [RTCPPacket] = [
            .receiverReport(source: source, blocks: source == 0x2000 ? [] : [block])
          ]
          if source != 0x2000 { packets.append(.bye(source: source)) }
          pair.sender.receive(RTCPPacket.compound(packets), at: pair.loop.now)
        }
      }
    }
    try pair.run(frames: 300, end: 10.4)
    // Heard, but no answer to a greeting: not closed, and no media after some seconds.
    #expect(pair.sender.state == .open && pair.sender.lossShare == 0)
    #expect((120...230).contains(pair.sender.counts.frames), "\(pair.sender.counts)")
    #expect(pair.sender.counts.refused >= 200)
  }

  @Test("The distance of two clocks is followed when one runs faster")
  func theDistanceOfTwoClocksIsFollowedWhenOneRunsFaster() throws {
    // Answers whose clock gains a thousandth, over a path that was quickest at first.
    var sender = SenderSession(.init(source: 1, nonce: .init([1])), at: 0)
    for second in 0..<120 {
      let time = Double(second)
      sender.poll(at: time)
      for bytes in sender.takeOutgoing() {
        guard let greeting = Greeting(bytes) else { continue }
        let rtt = second < 5 ? 0.01 : 0.02
        let answer = Greeting.Answer(
          to: greeting, nonce: .init([2]),
          clock: MediaClock.simulated.ntpTime(at: 5 + time * 1.001 + rtt / 2),
          source: 3)
        sender.receive(answer.bytes(), at: time + rtt)
      }
      if second == 4 { #expect(abs((sender.clockOffset ?? 0) - 5.004) < 0.005) }
    }
    let offset = try #require(sender.clockOffset)
    #expect(abs(offset - (5 + 0.119)) < 0.04, "\(offset)")
  }

  @Test("The reported loss rate covers the last seconds, independently of the report interval")
  func whatIsSaidOfLossesIsThatOfTheLastSeconds() {
    var losses = ReportedLosses(firstSequence: 100)
    func report(_ highest: UInt32, _ lost: Int32, _ fraction: UInt8) -> RTCPPacket.ReportBlock {
      .init(
        source: 1, fractionLost: fraction, cumulativeLost: lost, highestSequence: highest, jitter: 0,
        lastReport: 0, delaySinceLastReport: 0)
    }
    #expect(losses.share == 0)
    // A tenth is lost in five seconds; reports come after each loss, with nothing but it in their
    // fraction.
    for step in 1...500 {
      let highest = UInt32(99 + step * 2)
      losses.update(report(highest, Int32(step / 5), step % 5 == 0 ? 255 : 0), at: Double(step) / 100)
    }
    #expect(abs(losses.share - 0.1) < 0.02, "\(losses.share)")
    // And nothing in the next five.
    for step in 501...1000 { losses.update(report(UInt32(99 + step * 2), 100, 0), at: Double(step) / 100) }
    #expect(losses.share == 0)
    losses.update(report(5, 100, 0), at: 11)
    #expect(losses.share == 0)
  }

  @Test(
    "The answer to a limit names the requester; one that names the sender, as in earlier versions, is accepted too"
  )
  func theAnswerToALimitNamesWhoAsked() throws {
    for named in [0x2000, 0x1000, 0x3000] as [UInt32] {
      let pair = SessionPair()
      var owners: Set<UInt32> = []
      pair.meddle = { bytes in
        guard !Greeting.isGreeting(bytes), RTCPPacket.isControl(bytes), let packets = RTCPPacket.parse(bytes)
        else { return [bytes] }
        let changed = packets.map { packet -> RTCPPacket in
          guard case .rateNotice(let sender, var limit) = packet else { return packet }
          owners.insert(limit.media)
          limit.media = named
          return .rateNotice(sender: sender, limit: limit)
        }
        return [RTCPPacket.compound(changed)]
      }
      pair.loop.schedule(at: 1) { [pair] in pair.receiver.limitRate(200_000) }
      try pair.run(frames: 60)
      #expect(owners == [0x2000])
      #expect(pair.receiver.agreedRate == (named == 0x3000 ? nil : 200_000))
      #expect(pair.sender.counts.refused == 0 && pair.receiver.refused == 0)
    }
  }

  @Test("A second sender does not disturb the first; what is not of the session is refused")
  func aSecondSenderDoesNotDisturbTheFirst() throws {
    let pair = SessionPair()
    var generator = SeededGenerator(seed: 8)
    pair.loop.schedule(at: 1) { [pair] in
      let other = Greeting(nonce: .init([6, 6, 6]), clock: 5, source: 7)
      let isTaken = pair.receiver.greet(other.bytes(), at: pair.loop.now)
      #expect(!isTaken)
    }
    for index in 0..<5000 {
      pair.loop.schedule(at: 0.4 + Double(index) * 0.0002) { [pair] in
        var noise = (0..<Int(generator.next() % 200)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        if index % 3 == 0, noise.count > 2 {
          noise[0] = 0x80
          noise[1] = index % 2 == 0 ? 96 : 201
        }
        try pair.receiver.receive(noise, at: pair.loop.now) { _ in
          Issue.record("a frame of noise")
          return false
        }
        pair.sender.receive(noise, at: pair.loop.now)
      }
    }
    try pair.run(frames: 60)
    #expect(pair.receiver.refused > 4000 && pair.sender.counts.refused > 4000)
    #expect(pair.shown.count == 60 && pair.receiver.state == .open)
  }

  @Test("The rate follows what the line takes, and pictures stay young", arguments: [400_000.0, 2_000_000])
  func theRateFollowsWhatTheLineTakes(bandwidth: Double) throws {
    let pair = SessionPair(ahead: 3, bandwidth: .init(constant: bandwidth))
    pair.followsRate = true
    try pair.run(frames: 600)
    let late = pair.shown.filter { $0.time > 8 }
    let bits = Double(pair.receiver.counts.bytes * 8) / 20
    #expect(bits > 0.6 * bandwidth && bits < bandwidth, "\(bits)")
    let delays = late.compactMap(\.delay).sorted()
    #expect(late.count > 300 && delays.count == late.count)
    #expect(delays[delays.count * 95 / 100] < 0.2, "\(delays[delays.count * 95 / 100])")
    #expect(pair.sender.queueDelay < 0.2)
  }
}
