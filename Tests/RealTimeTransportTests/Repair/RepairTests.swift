// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Packets that are asked for and sent once more.
@Suite struct RepairTests {
  @Test("A receiver waits as long as packets come late, and no longer than a tenth of a second")
  func aReceiverWaitsAsLongAsPacketsComeLate() {
    var delay = ReorderDelay(start: 0.02)
    #expect(abs(delay.timeout - 0.02) < 1e-9)
    var time = 0.0
    // In order: soon it waits for little.
    for number in 0..<1000 as Range<UInt16> {
      time += 0.01
      delay.add(number, at: time)
    }
    #expect(delay.timeout == 0.01)
    // Each tenth comes 30 ms after the one after it.
    for number in stride(from: 1000, to: 2000, by: 10) as StrideTo<UInt16> {
      for behind in 1..<10 as Range<UInt16> {
        time += 0.01
        delay.add(number + behind, at: time)
        if behind == 4 { delay.add(number, at: time) }
      }
    }
    #expect((0.03...0.04).contains(delay.timeout), "\(delay.timeout)")
    // One that comes after a second is no reason to wait for a second.
    delay.add(5000, at: time)
    delay.add(4998, at: time)
    delay.add(5002, at: time)
    delay.add(5001, at: time + 1)
    #expect(delay.timeout == 0.1)
  }

  @Test("Packets that overtake others are not asked for", arguments: [0.0, 0.015])
  func packetsThatOvertakeOthersAreNotAskedFor(mean: Double) throws {
    let pair = SessionPair(delay: 0.03, jitter: mean, loss: .random(0.01), seed: 5)
    try pair.run(frames: 600, start: 1)
    let counts = pair.receiver.counts
    #expect(pair.shown.count >= 598)
    // Losses and late packets come once; what was requested without need is sent in addition.
    let needless = Double(counts.requestedPackets - counts.lostPackets) / Double(counts.packets)
    #expect(needless < 0.02, "\(counts)")
  }

  private func packet(_ number: UInt16, _ payload: [UInt8] = [1, 2, 3]) -> RTPPacket {
    var packet = RTPPacket(
      payloadType: 96, sequenceNumber: number, timestamp: 9000, source: 5, payload: payload)
    packet.marker = number % 2 == 0
    packet.headerExtension = .init(profile: 0xBEDE, data: [1, 2, 3, 4])
    return packet
  }

  @Test("Generic NACK as RFC 4585 lays it out, and back, over the wrap")
  func retransmissionRequestsAreThoseOfRFC4585() {
    let numbers: [UInt16] = [65_530, 65_531, 65_535, 10, 11, 27, 100]
    let request = RTCPPacket.retransmissionRequest(sender: 1, media: 2, numbers: numbers)
    #expect(
      request.bytes == [
        0x81, 205, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFA, 0x80, 0x11, 0, 11, 0x80, 0, 0, 100, 0, 0,
      ])
    #expect(RTCPPacket.parse(request.bytes) == [request])
    var generator = SeededGenerator(seed: 9)
    for _ in 0..<500 {
      var number = UInt16(truncatingIfNeeded: generator.next())
      let some = (0..<Int(generator.next() % 60)).map { _ in
        number &+= UInt16(1 + generator.next() % 20)
        return number
      }
      let packet = RTCPPacket.retransmissionRequest(sender: 1, media: 2, numbers: some)
      #expect(RTCPPacket.parse(packet.bytes) == [packet])
    }
    // More than a packet asks for.
    let many = RTCPPacket.retransmissionRequest(
      sender: 1, media: 2, numbers: [UInt16](repeating: 5, count: 100_000))
    #expect(RTCPPacket.parse(many.bytes)?.count == 1)
    let mask = [UInt8](repeating: 0xFF, count: 4 * 4000)
    let greedy = RTCPPacket.parse([0x81, 205, 0x0F, 0xA2, 0, 0, 0, 1, 0, 0, 0, 2] + mask)
    guard case .retransmissionRequest(_, _, let asked)? = greedy?.first else {
      Issue.record("no request")
      return
    }
    #expect(asked.count == RTCPPacket.maxRequested)
    // Half an entry is not a packet.
    #expect(RTCPPacket.parse([0x81, 205, 0, 2, 0, 0, 0, 1, 0, 0]) == nil)
  }

  @Test("A packet sent once more is the packet")
  func aPacketSentOnceMoreIsThePacket() throws {
    let first = packet(65_535)
    let again = first.retransmission(payloadType: 97, source: 6, sequenceNumber: 3)
    let received = try #require(RTPPacket(again.bytes))
    #expect(received.payloadType == 97 && received.source == 6 && received.sequenceNumber == 3)
    #expect(received.original(payloadType: 96, source: 5) == first)
    var short = received
    short.payload = [1]
    #expect(short.original(payloadType: 96, source: 5) == nil)
  }

  @Test("A sender keeps what is young, and sends nothing twice in a round trip")
  func aSenderKeepsWhatIsYoung() {
    var buffer = RetransmissionBuffer(span: 1)
    for index in 0..<3000 { buffer.keep(packet(UInt16(index)), at: Double(index) / 1000) }
    #expect((1000...1001).contains(buffer.count))
    #expect(buffer.packetsToResend([100, 1500, 2500], at: 3, interval: 0.1).map(\.sequenceNumber) == [2500])
    #expect(buffer.packetsToResend([2500, 2600], at: 3.05, interval: 0.1).map(\.sequenceNumber) == [2600])
    #expect(buffer.packetsToResend([2500], at: 3.2, interval: 0.1).count == 1)
    #expect(buffer.packetsToResend([2500], at: 4, interval: 0.1).isEmpty)
    for index in 0..<20_000 { buffer.keep(packet(UInt16(truncatingIfNeeded: index)), at: 4) }
    #expect(buffer.count == RetransmissionBuffer.maxPackets)
    // A number that comes twice.
    var twice = RetransmissionBuffer(span: 1)
    for index in 0..<3000 {
      for _ in 0..<2 { twice.keep(packet(UInt16(index)), at: Double(index) / 100) }
    }
    #expect(twice.count <= 102)
  }

  @Test("A receiver asks once a round trip, three times, and for what may still come")
  func aReceiverAsksOnceARoundTrip() throws {
    var requests = RetransmissionRequests(roundTrip: 0.1, tolerance: 0.01)
    for number in [UInt16](65_530...65_535) + [0, 3, 4] { requests.add(number, at: 1) }
    #expect(abs(try #require(requests.deadline) - 1.01) < 1e-9)
    var asked = requests.nextRequests(at: 1.005)
    #expect(asked.isEmpty)
    requests.add(2, at: 1.006)
    asked = requests.nextRequests(at: 1.01)
    #expect(asked == [1])
    asked = requests.nextRequests(at: 1.05)
    #expect(asked.isEmpty)
    // It came: the round trip is known.
    requests.addRetransmitted(1, at: 1.09)
    #expect(requests.deadline == nil && abs(requests.roundTrip - 0.08) < 1e-9)
    // One that never comes.
    requests.add(6, at: 2)
    var times: [Double] = []
    while let deadline = requests.deadline, times.count < 10 {
      asked = requests.nextRequests(at: deadline)
      #expect(asked == [5])
      times.append(deadline)
    }
    #expect(times.count == RetransmissionRequests.maxRequestsPerPacket)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= requests.roundTrip })
    // Requested more than once: the answer cannot be matched.
    requests.addRetransmitted(5, at: 9)
    #expect(abs(requests.roundTrip - 0.08) < 1e-9)
    // Given up, and an outage.
    requests.add(9, at: 10)
    requests.giveUp(before: 65_536 + 9)
    #expect(requests.deadline == nil)
    requests.add(1000, at: 11)
    #expect(requests.deadline == nil)
  }

  /// Numbers that an attacker chose: nothing grows.
  @Test func anyRequestedNumbersGrowNothing() {
    var requests = RetransmissionRequests(roundTrip: 0.1)
    var generator = SeededGenerator(seed: 4)
    var time = 0.0
    for _ in 0..<20_000 {
      time += 0.001
      let number = UInt16(truncatingIfNeeded: generator.next())
      switch generator.next() % 3 {
      case 0: requests.add(number, at: time)
      case 1: requests.addRetransmitted(number, at: time)
      default:
        let asked = requests.nextRequests(at: time)
        #expect(asked.count <= RetransmissionRequests.maxMissing)
      }
    }
  }
}
