// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

@Suite struct RTCPTests {
  @Test("Congestion control feedback as RFC 8888 lays it out, and back")
  func congestionFeedbackIsThatOfRFC8888() {
    let packet = RTCPPacket.congestionFeedback(
      sender: 1,
      streams: [
        StreamArrivals(source: 2, first: 65_535, offsets: [5, nil, 0x1FFF]),
        StreamArrivals(source: 3, first: 7, offsets: [0, 1]),
      ], time: 0x0102_0304)
    let bytes: [UInt8] = [
      0x8B, 205, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0, 3, 0x80, 5, 0, 0, 0x9F, 0xFE, 0, 0, 0, 0, 0, 3,
      0, 7,
      0, 2, 0x80, 0, 0x80, 1, 1, 2, 3, 4,
    ]
    #expect(packet.bytes == bytes)
    let parsed = RTCPPacket.parse(bytes)
    #expect(parsed?.first?.bytes == bytes)
    for cut in 1..<bytes.count { _ = RTCPPacket.parse(Array(bytes[..<cut])) }
    // More packets than it has room for.
    var greedy = bytes
    greedy[14] = 0xFF
    #expect(RTCPPacket.parse(greedy) == nil)
  }

  private let block = RTCPPacket.ReportBlock(
    source: 9, fractionLost: 25, cumulativeLost: -3, highestSequence: 0x1_0002, jitter: 77, lastReport: 5,
    delaySinceLastReport: 6)

  @Test("Every packet is a whole number of words, says so, and is read back")
  func everyPacketIsAWholeNumberOfWords() {
    let packets: [RTCPPacket] = [
      .senderReport(.init(source: 1, ntpTime: 0xE000_0000_8000_0000, rtpTime: 3, packets: 4, octets: 5)),
      .receiverReport(source: 2, blocks: [block, block]), .receiverReport(source: 2, blocks: []),
      .sourceDescription(source: 3, name: "receiver@example.com"), .sourceDescription(source: 3, name: ""),
      .pictureLoss(sender: 1, media: 2), .fullIntraRequest(sender: 1, media: 2, number: 200),
      .rateRequest(sender: 1, limit: .init(media: 2, bitsPerSecond: 150_000)),
      .rateNotice(sender: 1, limit: .init(media: 2, bitsPerSecond: 1 << 63)),
      .retransmissionRequest(sender: 1, media: 2, numbers: [7, 8, 24, 65_535, 0]),
      .referenceSelection(sender: 1, media: 2, payloadType: 96, token: 0x0102_0304_0506_0708),
      .lostFrames(sender: 4, frames: [1, 2, 65_535]), .lostFrames(sender: 4, frames: []), .bye(source: 1),
    ]
    for packet in packets {
      let bytes = packet.bytes
      #expect(bytes.count % 4 == 0 && Int(bytes[2]) << 8 | Int(bytes[3]) == bytes.count / 4 - 1)
      #expect(RTCPPacket.parse(bytes) == [packet])
    }
    #expect(RTCPPacket.parse(RTCPPacket.compound(packets)) == packets)
  }

  @Test("Feedback as RFC 4585 lays it out")
  func feedbackIsThatOfRFC4585() {
    #expect(RTCPPacket.pictureLoss(sender: 1, media: 2).bytes == [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2])
    #expect(
      RTCPPacket.referenceSelection(sender: 1, media: 2, payloadType: 96, token: 258).bytes == [
        0x83, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 2, 16, 96, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0,
      ])
    #expect(
      Array(RTCPPacket.receiverReport(source: 2, blocks: [block]).bytes[12..<16]) == [25, 0xFF, 0xFF, 0xFD])
  }

  @Test("Requests to the encoder as RFC 5104 lays them out")
  func requestsToTheEncoderAreThoseOfRFC5104() {
    // 4.3.1: the source of media is in the entry.
    #expect(
      RTCPPacket.fullIntraRequest(sender: 1, media: 2, number: 9).bytes == [
        0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 9, 0, 0, 0,
      ])
    // 4.2.1: 6 bits of exponent, 17 of mantissa, 9 of overhead. 150,000 is 75,000 * 2.
    let word: UInt32 = 1 << 26 | 75_000 << 9 | 40
    #expect(
      RTCPPacket.rateRequest(sender: 1, limit: .init(media: 2, bitsPerSecond: 150_000)).bytes == [
        0x83, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2,
      ] + (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) })
    for rate: UInt64 in [0, 1, 131_071, 131_072, 1_000_001, 1 << 40, .max] {
      let limit = RTCPPacket.RateLimit(media: 2, bitsPerSecond: rate)
      #expect(limit.bitsPerSecond <= rate && Double(limit.bitsPerSecond) >= Double(rate) * 0.9999)
      #expect(RTCPPacket.RateLimit(media: 2, word: limit.word) == limit)
    }
    // Without an entry it says nothing.
    #expect(RTCPPacket.parse([0x84, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0]) == [])
  }

  @Test("Broken packets are refused, unknown ones passed over")
  func brokenPacketsAreRefused() {
    let good = RTCPPacket.receiverReport(source: 2, blocks: [block]).bytes
    for length in 1..<good.count { #expect(RTCPPacket.parse(Array(good.prefix(length))) == nil) }
    #expect(RTCPPacket.parse([0x80, 210, 0, 1, 0, 0, 0, 1]) == [])
    #expect(RTCPPacket.parse([]) == nil)
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<20_000 {
      let bytes = (0..<Int(generator.next() % 30)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      _ = RTCPPacket.parse(
        [0x80 | UInt8(generator.next() % 4), UInt8(200 + generator.next() % 8), 0] + bytes)
    }
  }

  @Test("A receiver's report counts what was lost, since the last one and in all")
  func aReceiversReportCountsWhatWasLost() throws {
    var statistics = ReceptionStatistics(source: 5)
    let none = statistics.report(at: 0)
    #expect(none == nil)
    func packet(_ n: UInt16, _ timestamp: UInt32) -> RTPPacket {
      RTPPacket(payloadType: 96, sequenceNumber: n, timestamp: timestamp, source: 5)
    }
    func report(at time: Double) -> RTCPPacket.ReportBlock? { statistics.report(at: time) }
    for n in 0..<10 where n != 4 { statistics.add(packet(UInt16(n), UInt32(n) * 900), at: Double(n) * 0.01) }
    var found = try #require(report(at: 0.1))
    #expect(found.fractionLost == 25 && found.cumulativeLost == 1 && found.highestSequence == 9)
    #expect(found.jitter == 0)
    statistics.add(.init(source: 5, ntpTime: 0x1234_5678_9ABC_DEF0, rtpTime: 0, packets: 0, octets: 0), at: 1)
    // One comes 16 ms late: its two differences of 1,440 ticks count a sixteenth each.
    statistics.add(packet(10, 9000), at: 0.116)
    statistics.add(packet(11, 9900), at: 0.110)
    found = try #require(report(at: 1.5))
    #expect(found.fractionLost == 0 && found.cumulativeLost == 1)
    #expect((170...180).contains(found.jitter))
    #expect(found.lastReport == 0x5678_9ABC && found.delaySinceLastReport == 32_768)
  }
}
