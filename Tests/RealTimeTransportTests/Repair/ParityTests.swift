// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Forward error correction.
@Suite struct ParityTests {
  private func packet(_ number: UInt16, _ generator: inout SeededGenerator) -> [UInt8] {
    var packet = RTPPacket(
      payloadType: 96, sequenceNumber: number, timestamp: UInt32(truncatingIfNeeded: generator.next()),
      source: 7,
      payload: (0..<Int(generator.next() % 300)).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
    packet.marker = generator.next() % 2 == 0
    if generator.next() % 2 == 0 {
      packet.headerExtension = FrameDescriptor(number: number, previous: 3).headerExtension
    }
    return packet.bytes
  }

  @Test("Any one packet comes back from the others", arguments: [1, 5, 15, 16, 46, 47, 110])
  func anyOnePacketComesBackFromTheOthers(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    // Over the end of the numbers.
    let packets = (0..<count).map { packet(65_500 &+ UInt16($0), &generator) }
    let written = try #require(Parity(of: packets))
    let parity = try #require(Parity(written.bytes))
    #expect(parity == written && parity.numbers == (0..<count).map { 65_500 &+ UInt16($0) })
    for missing in packets.indices {
      let others = packets.indices.filter { $0 != missing }.map { packets[$0] }
      let back = parity.recovered(parity.numbers[missing], source: 7, from: others)
      #expect(back == packets[missing])
    }
    // Others than it was made of give nothing that looks like a packet, but by chance.
    if count > 2 {
      let back = parity.recovered(65_500, source: 7, from: Array(packets.dropFirst(2)))
      #expect(back != packets[0])
    }
  }

  @Test("The header is that of RFC 8627")
  func theHeaderIsThatOfRFC8627() throws {
    var generator = SeededGenerator(seed: 5)
    let (one, two) = (packet(100, &generator), packet(117, &generator))
    let bytes = try #require(Parity(of: [one, two])).bytes
    #expect(bytes[0] == (one[0] ^ two[0]) & 0x3F && bytes[1] == one[1] ^ two[1])
    let length = (one.count - 12) ^ (two.count - 12)
    #expect(Array(bytes[2..<4]) == [UInt8(length >> 8), UInt8(length & 255)])
    let times: [UInt8] = (4..<8).map { one[$0] ^ two[$0] }
    #expect(Array(bytes[4..<8]) == times)
    // Base 100; the first bit of fifteen with another mask after it; the third of that one, and no
    // more.
    #expect(Array(bytes[8..<16]) == [0, 100, 0xC0, 0, 0x10, 0, 0, 0])
    #expect(Parity(of: [one, packet(210, &generator)]) == nil && Parity(of: [two, one]) == nil)
  }

  @Test("Two sets that overlap bring back two packets; noise brings back none and keeps little")
  func twoSetsThatOverlapBringBackTwoPackets() throws {
    var generator = SeededGenerator(seed: 9)
    let packets = (0..<6).map { packet(UInt16($0), &generator) }
    var receiver = ParityReceiver(media: 7)
    // 2 and 3 are lost. The first set lacks both, the second only one of them.
    for number in [0, 1, 4, 5] { #expect(receiver.add(packets[number], at: 0).isEmpty) }
    #expect(receiver.add(try #require(Parity(of: Array(packets[0...3]))), at: 0.05).isEmpty)
    let back = receiver.add(try #require(Parity(of: Array(packets[3...5]))), at: 0.05)
    #expect(Set(back) == [packets[2], packets[3]])
    #expect(abs(receiver.wait - 0.05) < 1e-9)
    for _ in 0..<20_000 {
      let noise = (0..<Int(generator.next() % 60)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      if let parity = Parity(noise) {
        #expect(parity.numbers.count <= Parity.maxSpan && Parity(parity.bytes)?.numbers == parity.numbers)
        for packet in receiver.add(parity, at: 1) { #expect(packet.count <= 12 + 400) }
      }
    }
  }

  @Test("Protection follows the losses, on ways that are too long to ask again first")
  func protectionFollowsTheLosses() {
    #expect(ParitySender.strength(loss: 0, roundTrip: 1, retransmits: true) == 0)
    #expect(ParitySender.strength(loss: 0.05, roundTrip: 0.03, retransmits: true) == 0)
    #expect(abs(ParitySender.strength(loss: 0.05, roundTrip: 0.03, retransmits: false) - 0.3) < 1e-9)
    #expect(abs(ParitySender.strength(loss: 0.05, roundTrip: 0.3, retransmits: true) - 0.3) < 1e-9)
    #expect(abs(ParitySender.strength(loss: 0.05, roundTrip: 0.1, retransmits: true) - 0.15) < 1e-9)
    #expect(ParitySender.strength(loss: 0.9, roundTrip: 0.3, retransmits: true) == ParitySender.maxStrength)
  }

  @Test("Frames that nothing refers to are not protected")
  func framesThatNothingRefersToAreNotProtected() throws {
    var generator = SeededGenerator(seed: 2)
    var sender = ParitySender(source: 9, media: 7, firstSequence: 1)
    sender.strength = 0.5
    var protected: [UInt16] = []
    for frame in 0..<20 {
      let packets = (0..<3).map { packet(UInt16(frame * 3 + $0), &generator) }
      for bytes in sender.protect(packets, isDiscardable: frame % 2 == 1, timestamp: 5) {
        let packet = try #require(RTPPacket(bytes))
        #expect(packet.source == 9 && packet.contributors == [7] && RTPPacket(packet.bytes) == packet)
        protected += try #require(Parity(packet.payload)).numbers
      }
    }
    let wanted = (0..<60 as Range<UInt16>).filter { $0 / 3 % 2 == 0 }
    #expect(protected.sorted() == wanted)
    #expect(sender.packets == 10)
  }

  @Test(
    "On a way of 300 ms, losses are brought back that otherwise cost frames", arguments: [0.02, 0.05, 0.1])
  func lossesOnALongWayAreBroughtBack(loss: Double) throws {
    func call(protects: Bool, seed: UInt64) throws -> (shown: Int, still: Double, pair: SessionPair) {
      let pair = SessionPair(delay: 0.15, loss: .random(loss), recovery: .ltr, seed: seed) {
        $0.stream.protects = protects
      }
      try pair.run(frames: 600, start: 1)
      #expect(zip(pair.shown, pair.shown.dropFirst()).allSatisfy { $0.number < $1.number })
      // As WebRTC counts freezes.
      let gaps = zip(pair.shown, pair.shown.dropFirst()).map { $1.time - $0.time }
      return (pair.shown.count, gaps.reduce(0) { $0 + ($1 > 0.183 ? $1 : 0) }, pair)
    }
    var lost = (with: 0, without: 0)
    var still = (with: 0.0, without: 0.0)
    for seed in 11...16 as ClosedRange<UInt64> {
      let (without, with) = try (call(protects: false, seed: seed), call(protects: true, seed: seed))
      let (sent, received) = (with.pair.sender.counts, with.pair.receiver.counts)
      #expect(without.pair.receiver.counts.parityPackets == 0 && received.restoredPackets > 0)
      #expect(sent.parityBytes < sent.mediaBytes * 6 / 10 && received.decodeErrors == 0)
      lost = (lost.with + 600 - with.shown, lost.without + 600 - without.shown)
      still = (still.with + with.still, still.without + without.still)
    }
    // Half of what is not shown otherwise, at least, and less time in which the picture stands
    // still.
    #expect(lost.with <= lost.without / 2, "\(lost)")
    #expect(still.with < still.without * 0.85, "\(still)")
  }
}
