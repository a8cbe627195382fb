// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Without a key everybody can send in another's name: what comes of it is never more than what was
/// sent.
@Suite struct AnswerSizeTests {
  private let media: UInt32 = 0x1000
  private let peer: UInt32 = 0x2000

  /// All that a receiver's source may say, alone and in a datagram with others.
  private func messages() -> [(String, [UInt8])] {
    let block = RTCPPacket.ReportBlock(
      source: media, fractionLost: 9, cumulativeLost: 3, highestSequence: 1050, jitter: 0, lastReport: 7,
      delaySinceLastReport: 9)
    let packets: [(String, [RTCPPacket])] = [
      ("rate request", [.rateRequest(sender: peer, limit: .init(media: media, bitsPerSecond: 100_000))]),
      (
        "two rate requests",
        [
          .rateRequest(sender: peer, limit: .init(media: media, bitsPerSecond: 100_000)),
          .rateRequest(sender: peer, limit: .init(media: media, bitsPerSecond: 90_000)),
        ]
      ), ("bye", [.bye(source: peer)]), ("byes", Array(repeating: .bye(source: peer), count: 40)),
      ("report and bye", [.receiverReport(source: peer, blocks: [block]), .bye(source: peer)]),
      ("report", [.receiverReport(source: peer, blocks: [block])]),
      ("picture loss", [.pictureLoss(sender: peer, media: media)]),
      ("intra request", [.fullIntraRequest(sender: peer, media: media, number: 3)]),
      ("lost frames", [.lostFrames(sender: peer, frames: [1, 2, 3])]),
      ("token", [.referenceSelection(sender: peer, media: media, payloadType: 96, token: 1)]),
      ("feedback", [.congestionFeedback(sender: peer, streams: [], time: 9)]),
      ("description", [.sourceDescription(source: peer, name: "x")]),
      ("notice", [.rateNotice(sender: peer, limit: .init(media: media, bitsPerSecond: 1000))]),
      // Of packets that are gone, or never were.
      ("request", [.retransmissionRequest(sender: peer, media: media, numbers: [1, 2, 3])]),
    ]
    return packets.map { ($0, RTCPPacket.compound($1)) }
  }

  @Test("A sender answers no message with more bytes than it had, however often it comes")
  func aSenderAnswersNoMessageWithMoreBytesThanItHad() throws {
    let pair = SessionPair()
    try pair.run(frames: 30, end: 1.5)
    try #require(pair.sender.state == .open)
    var answered = 0
    for (name, bytes) in messages() {
      // Each has a sender of its own, in the same state.
      var sender = pair.sender
      for round in 0..<50 {
        let time = 1.5 + Double(round) * 0.03
        sender.receive(bytes, at: time)
        let said = sender.takeOutgoing().reduce(0) { $0 + $1.count }
        #expect(said <= bytes.count, "\(name): \(said) for \(bytes.count)")
        answered += said > 0 ? 1 : 0
      }
    }
    // Limits and good-byes have their answers all the same.
    #expect(answered > 50)
  }

  @Test("A receiver says no more to its sender's address than has come from there, at any time")
  func aReceiverSaysNoMoreThanHasComeFromItsSender() throws {
    var generator = SeededGenerator(seed: 11)
    for trial in 0..<20 {
      var session = ReceiverSession(.init(clock: .simulated, source: peer, nonce: .init([9])))
      var greeting = Greeting(nonce: .init([1]), clock: 1, source: media)
      greeting.frameRate = 30
      greeting.answered = .init([9])
      var (heard, said) = (0, 0)
      func hear(_ bytes: [UInt8], at time: Double) throws {
        heard += bytes.count
        if Greeting.isGreeting(bytes) {
          _ = session.greet(bytes, at: time)
        } else {
          try session.receive(bytes, at: time) { _ in false }
        }
        said += session.takeOutgoing().reduce(0) { $0 + $1.count }
        #expect(said <= heard, "trial \(trial) at \(time)")
      }
      try hear(greeting.bytes(), at: 0)
      try #require(session.state == .open)
      session.requestKeyFrame(at: 0)
      session.limitRate(100_000)
      var number: UInt16 = 5
      for tick in 1..<2000 {
        let time = Double(tick) * 0.005
        // The shortest packets that make it say something: of media with holes, reports, and
        // good-byes at the end.
        if generator.next() % 4 == 0 {
          number &+= 1 + UInt16(generator.next() % 60)
          let packet = RTPPacket(
            payloadType: 96, sequenceNumber: number, timestamp: UInt32(tick) &* 450, source: media,
            payload: [0x41])
          try hear(packet.bytes, at: time)
        }
        if generator.next() % 100 == 0 {
          try hear(RTCPPacket.sourceDescription(source: media, name: "").bytes, at: time)
        }
        if tick > 1950 { try hear(RTCPPacket.bye(source: media).bytes, at: time) }
        try session.poll(at: time) { _ in false }
        said += session.takeOutgoing().reduce(0) { $0 + $1.count }
        #expect(said <= heard, "trial \(trial) at \(time)")
      }
      #expect(session.unsaid > 0 && session.state == .closed)
    }
  }

  @Test("In a call nothing that a receiver has to say is held back")
  func inACallNothingThatAReceiverHasToSayIsHeldBack() throws {
    let pair = SessionPair(loss: .random(0.1), seed: 3)
    pair.loop.schedule(at: 0.2) { [pair] in pair.receiver.limitRate(600_000) }
    pair.loop.schedule(at: 10) { [pair] in
      pair.receiver.sayGoodbye(at: pair.loop.now)
      pair.flush()
    }
    try pair.run(frames: 300)
    #expect(pair.receiver.unsaid == 0 && pair.receiver.agreedRate == 600_000)
    #expect(pair.sender.state == .closed)
  }

  @Test("A greeting's answer is shorter than it, also before a session, and to as many as there are")
  func aGreetingsAnswerIsShorterThanIt() {
    var session = ReceiverSession(.init(clock: .simulated, source: peer, nonce: .init([9])))
    for index in 0..<500 {
      let bytes = Greeting(nonce: .init([UInt8(index % 256), 7]), clock: UInt64(index), source: media).bytes()
      _ = session.greet(bytes, at: Double(index) * 0.01)
      let said = session.takeOutgoing()
      #expect(said.count == 1 && said.allSatisfy { $0.count < bytes.count })
    }
    #expect(session.state == .waiting)
  }

  @Test("An implausible round-trip time is reported as the longest possible one")
  func anImpossibleRoundTripIsReportedAsTheLongestPossible() throws {
    var bytes = Greeting(nonce: .init([1]), clock: 2, source: 3).bytes()
    bytes.replaceSubrange(48..<52, with: [255, 255, 255, 255])
    #expect(Greeting(bytes)?.roundTrip == Greeting.longestRoundTrip)
  }
}
