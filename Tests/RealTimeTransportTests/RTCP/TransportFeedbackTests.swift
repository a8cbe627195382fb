// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Testing

/// Reports of transport-wide congestion control, and estimates of receivers.
@Suite struct TransportFeedbackTests {
  @Test func whatIsWrittenIsReadAgain() throws {
    var generator = SeededGenerator(seed: 5)
    for round in 0..<500 {
      var time = Int64(generator.next() % 4_000_000)
      let share = generator.unit()
      var arrivals: [Int64?] = (0..<(1 + Int(generator.next() % 600))).map { _ in
        // Now and then a packet comes before its predecessor, or much later.
        time += generator.unit() < 0.05 ? Int64(generator.next() % 600) - 150 : Int64(generator.next() % 40)
        return generator.unit() < share ? time : nil
      }
      arrivals.append(time)
      let packet = RTCPPacket.transportFeedback(
        sender: 1, media: 2,
        feedback: TransportFeedback(
          first: UInt16(truncatingIfNeeded: round &* 999), number: 7, arrivals: arrivals))
      #expect(packet.bytes.count % 4 == 0)
      #expect(RTCPPacket.parse(packet.bytes) == [packet])
    }
  }

  /// A report with chunks of all three kinds, made by hand from the draft, 3.1.
  @Test func aReportMadeByHandIsRead() throws {
    let bytes: [UInt8] = [
      0x8F, 205, 0, 8, 0, 0, 0, 1, 0, 0, 0, 2,
      // From 100 on 13 packets; reference time 3 (768 units), report 9.
      0, 100, 0, 13, 0, 0, 3, 9,
      // Two that came soon; then seven in two bits each: came, not, late, not, came, not, not.
      0x20, 2, 0xC0 | 0x10, 0b0100_1000,
      // Fourteen in one bit each, of which four count: came, not, not, came. Then eight
      // differences.
      0xA4, 0, 4, 8, 1, 0xFF, 0xFE, 2, 3, 5, 0, 0,
    ]
    // The second chunk's symbols: 11 01 00 10 00 01 00 00 would need 16 bits; it holds 01 00 10 00
    // 01 00 00.
    var fixed = bytes
    fixed[22] = 0b1101_0010
    fixed[23] = 0b0001_0000
    let parsed = try #require(RTCPPacket.parse(fixed))
    #expect(
      parsed == [
        .transportFeedback(
          sender: 1, media: 2,
          feedback: TransportFeedback(
            first: 100, number: 9,
            arrivals: [772, 780, 781, nil, 779, nil, 781, nil, nil, 784, nil, nil, 789]))
      ])
  }

  @Test func damagedReportsAreRefused() {
    let packet = RTCPPacket.transportFeedback(
      sender: 1, media: 2, feedback: TransportFeedback(first: 0, number: 0, arrivals: [1, 2, nil, 900, 1000]))
    var bytes = packet.bytes
    // More packets than there are symbols and differences.
    bytes[14] = 7
    #expect(RTCPPacket.parse(bytes) == nil)
    bytes[14] = 0xFF
    #expect(RTCPPacket.parse(bytes) == nil)
  }

  @Test func estimatesKeepEighteenBits() throws {
    for rate: UInt64 in [0, 1, 262_143, 262_144, 1_500_000, 123_456_789_012] {
      let packet = RTCPPacket.receiverEstimate(sender: 9, sources: [4, 5], bitsPerSecond: rate)
      guard case .receiverEstimate(9, [4, 5], let read)? = RTCPPacket.parse(packet.bytes)?.first else {
        Issue.record("no estimate of \(rate)")
        continue
      }
      #expect(read <= rate && Double(read) >= Double(rate) * (1 - 1.0 / 131_072))
    }
  }
}
