// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// A receiver that requests more repair than a sender may send, because of a bad link or to cause a
/// flood.
@Suite struct GreedyReceiverTests {
  /// The packets sent to the receiver: when, how many bits, and which packet it repeats.
  private struct Sent {
    var time: Double
    var bits: Int
    var repeated: UInt16?
  }

  /// A call whose receiver asks for the last 510 packets every few milliseconds.
  private func flood(
    _ pair: SessionPair, every pause: Double, for seconds: Double, reports: [RTCPPacket.ReportBlock] = []
  ) throws -> [Sent] {
    var sent: [Sent] = []
    var newest: UInt16 = 0
    pair.packetObserver = { bytes, isForth, time in
      guard isForth, !Greeting.isGreeting(bytes), !RTCPPacket.isControl(bytes), let packet = RTPPacket(bytes)
      else { return }
      let isRepeated = packet.payloadType == RTPPayloadType.retransmission
      let original = isRepeated ? UInt16(packet.payload[0]) << 8 | UInt16(packet.payload[1]) : nil
      if packet.payloadType == RTPPayloadType.media { newest = packet.sequenceNumber }
      sent.append(Sent(time: time, bits: bytes.count * 8, repeated: original))
    }
    var time = 0.5
    while time < seconds {
      pair.loop.schedule(at: time) { [pair] in
        let numbers = (0..<510).map { newest &- 509 &+ UInt16($0) }
        pair.sender.receive(
          RTCPPacket.compound([
            .receiverReport(source: 0x2000, blocks: reports),
            .retransmissionRequest(sender: 0x2000, media: 0x1000, numbers: numbers),
          ]), at: pair.loop.now)
        pair.flush()
      }
      time += pause
    }
    try pair.run(frames: Int(seconds * 30), end: seconds)
    return sent
  }

  /// The maximum bit rate in any span of a duration.
  private func maxRate(_ sent: [Sent], over span: Double) -> Double {
    var (first, bits, maximum) = (0, 0, 0)
    for packet in sent {
      bits += packet.bits
      while sent[first].time <= packet.time - span {
        bits -= sent[first].bits
        first += 1
      }
      maximum = max(maximum, bits)
    }
    return Double(maximum) / span
  }

  @Test(
    "A receiver that asks for all packets again and again is sent no more than the limit, and media continues",
    arguments: [0.001, 0.005, 0.05])
  func aReceiverThatAsksAgainAndAgainIsSentNoMoreThanTheLimit(pause: Double) throws {
    let limit = 1_000_000.0
    let pair = SessionPair(delay: 0.0005, bandwidth: .init(constant: 100_000_000)) {
      $0.rates.maximum = limit
      $0.rates.start = limit
    }
    pair.followsRate = true
    let sent = try flood(pair, every: pause, for: 12)
    let rate = maxRate(sent, over: 8)
    #expect(rate < 1.1 * limit, "\(rate)")
    let repeated = sent.reduce(0) { $0 + ($1.repeated == nil ? 0 : $1.bits) }
    let all = sent.reduce(0) { $0 + $1.bits }
    // A third of the rate, and half a second of it once.
    #expect(Double(repeated) < (12 * RepairBudget.share + 0.5) * limit, "\(repeated)")
    #expect(Double(all - repeated) > 0.45 * 12 * limit, "\(all - repeated)")
    #expect(pair.sender.counts.ignoredRequests > 1000, "\(pair.sender.counts)")
    #expect(pair.sender.counts.resentPackets == sent.count { $0.repeated != nil })
  }

  @Test("The same packet is not sent again within a round trip, and copies do not circumvent that")
  func theSamePacketIsNotSentAgainWithinARoundTrip() throws {
    let pair = SessionPair(delay: 0.05, bandwidth: .init(constant: 100_000_000))
    let sent = try flood(pair, every: 0.002, for: 5)
    var times: [UInt16: [Double]] = [:]
    for packet in sent { if let number = packet.repeated { times[number, default: []].append(packet.time) } }
    #expect(times.count > 10)
    for (number, all) in times {
      // A requested packet and its copy, 12 ms later.
      for (first, third) in zip(all, all.dropFirst(2)) {
        #expect(third - first > 0.085, "\(number): \(all)")
      }
    }
  }

  @Test("A receiver that reports heavy losses gets forward error correction within the rate")
  func aReceiverOfHeavyLossesGetsParityWithinTheRate() throws {
    let limit = 1_000_000.0
    let pair = SessionPair(delay: 0.1, bandwidth: .init(constant: 100_000_000)) {
      $0.rates.maximum = limit
      $0.rates.start = limit
      $0.stream.protects = true
    }
    pair.followsRate = true
    var reported: (highest: UInt32, lost: Int32) = (1000, 0)
    for tick in 0..<240 {
      pair.loop.schedule(at: 0.5 + Double(tick) * 0.05) { [pair] in
        reported = (reported.highest + 10, reported.lost + 5)
        let block = RTCPPacket.ReportBlock(
          source: 0x1000, fractionLost: 128, cumulativeLost: reported.lost, highestSequence: reported.highest,
          jitter: 0, lastReport: 0, delaySinceLastReport: 0)
        pair.sender.receive(
          RTCPPacket.compound([.receiverReport(source: 0x2000, blocks: [block])]), at: pair.loop.now)
      }
    }
    let sent = try flood(pair, every: 0.01, for: 12)
    let rate = maxRate(sent, over: 8)
    #expect(pair.sender.counts.parityPackets > 100, "\(pair.sender.counts)")
    #expect(rate < 1.15 * limit, "\(rate)")
  }

  @Test(
    "Repair packets beyond the requests are deducted from the encoder's rate"
  )
  func repairBeyondWhatWasAskedForIsTakenOffTheRate() {
    var sender = ParitySender(source: 3, media: 1, firstSequence: 1)
    sender.strength = 0.02
    var (media, parity) = (0, 0)
    for number in 0..<300 {
      let packet = RTPPacket(
        payloadType: 96, sequenceNumber: UInt16(number), timestamp: UInt32(number), source: 1,
        payload: [UInt8](repeating: 1, count: 500)
      ).bytes
      media += packet.count
      parity += sender.protect([packet], isDiscardable: false, timestamp: 0).reduce(0) { $0 + $1.count }
    }
    let share = Double(parity) / Double(media)
    #expect(share > 0.3 && abs(sender.load - share) < 0.05, "\(share), \(sender.load)")
    sender.strength = 0
    #expect(sender.load == 0)
  }

  @Test("The round-trip time of reports is limited by the one that is measured with greetings")
  func roundTripsInReportsAreBelievedAsFarAsGreetingsProveThem() throws {
    for lie in [0, 3.0, 9.9] {
      let pair = SessionPair(delay: 0.02)
      pair.answers = { [pair] packets in
        packets.map { packet in
          guard case .receiverReport(let source, let blocks) = packet else { return packet }
          let now = UInt32(truncatingIfNeeded: MediaClock.simulated.ntpTime(at: pair.loop.now) >> 16)
          return .receiverReport(
            source: source,
            blocks: blocks.map { block in
              var block = block
              block.lastReport = now &- UInt32(lie * 65_536)
              block.delaySinceLastReport = 0
              return block
            })
        }
      }
      var reported: [Double] = []
      pair.packetObserver = { bytes, isForth, time in
        if isForth, time > 3, let greeting = Greeting(bytes) { reported.append(greeting.roundTrip) }
      }
      try pair.run(frames: 150)
      // The sender reports the round-trip time that it uses. There are 40 ms there and back.
      #expect(reported.count > 1 && reported.allSatisfy { $0 > 0.035 && $0 < 0.2 }, "\(lie): \(reported)")
    }
  }

  @Test("Random losses of 5 % are repaired as without a budget")
  func randomLossesAreRepairedAsWithoutABudget() throws {
    for seed in 1...6 as ClosedRange<UInt64> {
      let pair = SessionPair(loss: .random(0.05), bandwidth: .init(constant: 1_500_000), seed: seed) {
        $0.rates.maximum = 1_500_000
      }
      pair.followsRate = true
      try pair.run(frames: 600)
      #expect(pair.sender.counts.ignoredRequests == 0, "seed \(seed)")
      #expect(pair.shown.count + pair.withheld > 575, "seed \(seed): \(pair.shown.count), \(pair.withheld)")
    }
  }

  @Test(
    "A budget gives a third of the rate over time, half a second of it at once, and counts what it refuses")
  func aBudgetGivesAThirdOfTheRateOverTime() {
    var generator = SeededGenerator(seed: 3)
    for rate in [50_000.0, 1_000_000, 20_000_000] {
      var budget = RepairBudget()
      var given: [(time: Double, bits: Int)] = []
      var (time, asked) = (0.0, 0)
      while time < 20 {
        let bits = 800 + Int(generator.next() % 9000)
        asked += 1
        if budget.spend(bits: bits, rate: rate, at: time) { given.append((time, bits)) }
        time += Double(generator.next() % 1000) / 1000 * 8000 / rate
      }
      let burst = max(rate / 2, 16 * 1200 * 8)
      for start in stride(from: 0, to: 20, by: 0.7) {
        for span in [0.3, 2, 9] {
          let bits = given.reduce(0) { $0 + ((start..<(start + span)).contains($1.time) ? $1.bits : 0) }
          #expect(Double(bits) <= burst + span * rate / 3 + 1, "\(rate) \(start) \(span)")
        }
      }
      #expect(Double(given.reduce(0) { $0 + $1.bits }) > 0.9 * 20 * rate / 3)
      #expect(budget.refused == asked - given.count && budget.refused > 0)
      // A clock that is set back adds nothing to the budget.
      while budget.spend(bits: 1000, rate: rate, at: time) {}
      let before = budget.spend(bits: 1000, rate: rate, at: time - 10)
      let again = budget.spend(bits: 1000, rate: rate, at: time)
      #expect(!before && !again)
    }
  }
}
