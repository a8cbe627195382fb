// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// RFC 6184: what the packetiser makes, and what the depacketiser makes of it when packets get lost.
@Suite struct PayloadTests {
  private func unit(_ header: UInt8, _ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    [header] + (1..<max(count, 1)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  @Test("Small units are aggregated, large ones are split, the rest stand alone")
  func smallUnitsAreAggregated() {
    let packetiser = H264Packetiser(maximumPayload: 20)
    let sps: [UInt8] = [0x67, 1, 2, 3]
    let pps: [UInt8] = [0x28, 4]
    #expect(packetiser.payloads(of: [sps, pps]) == [[0x78, 0, 4] + sps + [0, 2] + pps])
    #expect(packetiser.payloads(of: [pps]) == [pps])
    // 20 bytes fit alone, but not with the framing of an aggregate.
    let full = [0x41] + [UInt8](repeating: 5, count: 19)
    #expect(packetiser.payloads(of: [pps, full, pps]) == [pps, full, pps])
    let large = [0x65] + (0..<36).map { UInt8($0) }
    let parts = packetiser.payloads(of: [large])
    #expect(parts.map(\.count) == [20, 20])
    #expect(parts.map { Array($0.prefix(2)) } == [[0x7C, 0x85], [0x7C, 0x45]])
    #expect(parts.flatMap { $0.dropFirst(2) } == Array(large.dropFirst()))
    #expect(packetiser.payloads(of: []).isEmpty && packetiser.payloads(of: [[]]).isEmpty)
  }

  @Test("However large payloads may be, sizes in an aggregate are of sixteen bits")
  func sizesInAnAggregateHaveSixteenBits() {
    let large = [0x65] + [UInt8](repeating: 3, count: 70_000)
    for limit in [65_535, 65_538, 100_000, Int.max] {
      let payloads = H264Packetiser(maximumPayload: limit).payloads(of: [[0x67, 1], large, [0x68, 2]])
      #expect(payloads.allSatisfy { $0.count <= 65_535 })
      #expect(payloads.first == [0x67, 1] && payloads.last == [0x68, 2])
      let parts = payloads.dropFirst().dropLast()
      #expect(parts.count == 2 && parts.flatMap { $0.dropFirst(2) } == Array(large.dropFirst()))
    }
  }

  private func packets(
    of frames: [[[UInt8]]], payload: Int, described: Bool
  ) -> [RTPPacket] {
    var result: [RTPPacket] = []
    let packetiser = H264Packetiser(maximumPayload: payload)
    for (index, frame) in frames.enumerated() {
      let payloads = packetiser.payloads(of: frame)
      for (place, payload) in payloads.enumerated() {
        var packet = RTPPacket(
          payloadType: 96, sequenceNumber: UInt16(truncatingIfNeeded: 65_000 + result.count),
          timestamp: UInt32(index) * 3000, source: 7, payload: payload)
        packet.marker = place == payloads.count - 1
        if described {
          var descriptor = FrameDescriptor(number: UInt16(index), previous: UInt16(max(index - 1, 0)))
          descriptor.isFirstPacket = place == 0
          packet.headerExtension = descriptor.headerExtension
        }
        result.append(packet)
      }
    }
    return result
  }

  @Test("Random frames come back as they were; with losses, whole frames are exact and broken ones are known")
  func randomFramesComeBackAsTheyWere() {
    var generator = SeededGenerator(seed: 5)
    for round in 0..<300 {
      let frames = (0..<20).map { _ in
        (0...Int(generator.next() % 4)).map { _ in
          unit(
            [0x67, 0x68, 0x65, 0x41, 0x06][Int(generator.next() % 5)], Int(generator.next() % 90) + 1,
            &generator)
        }
      }
      let described = round % 3 != 0
      let sent = packets(of: frames, payload: 24 + Int(generator.next() % 60), described: described)
      let loss = round % 2 == 0 ? 0 : 0.1
      var depacketiser = H264Depacketiser()
      var unwrapper = SequenceUnwrapper()
      var lostOf: Set<Int> = []
      var lost = 0
      var whole: [Int: [[UInt8]]] = [:]
      for packet in sent {
        let sequence = unwrapper.unwrap(packet.sequenceNumber)
        // A stream without descriptors is trusted to begin at its beginning.
        if generator.unit() < loss, described || packet != sent[0] {
          lostOf.insert(Int(packet.timestamp) / 3000)
          lost += 1
          continue
        }
        for frame in depacketiser.add(packet, sequence: sequence) where frame.isComplete {
          whole[Int(frame.timestamp) / 3000] = frame.units
        }
      }
      // Without a descriptor a frame behind a gap is not trusted.
      if loss == 0 || described { #expect(whole.count == frames.count - lostOf.count) }
      for (index, units) in whole {
        #expect(!lostOf.contains(index) && units == frames[index])
      }
      #expect(depacketiser.malformedCount == 0)
      #expect(depacketiser.lostPackets <= lost)
    }
  }

  @Test("Payloads that no sender should make are counted and spoil their frame alone")
  func malformedPayloadsSpoilTheirFrameAlone() {
    let bad: [[UInt8]] = [
      [0x78, 0, 9, 1], [0x78, 0], [0x78, 0, 0], [0x7C], [0x7C, 0x85], [0x7C, 0xC5, 1], [0x19, 1, 2],
      [0x1D, 1, 2],
      [0x00], [0x1F],
    ]
    for payload in bad {
      var depacketiser = H264Depacketiser()
      var packet = RTPPacket(payloadType: 96, sequenceNumber: 0, timestamp: 0, source: 1, payload: payload)
      packet.marker = true
      let frames = depacketiser.add(packet, sequence: 0)
      #expect(frames.count == 1 && !frames[0].isComplete, "\(payload)")
      packet.payload = [0x41, 1]
      packet.timestamp = 1
      let next = depacketiser.add(packet, sequence: 1)
      #expect(next.map(\.units) == [[[0x41, 1]]])
    }
    // Random bytes do no harm.
    var generator = SeededGenerator(seed: 8)
    var depacketiser = H264Depacketiser()
    for sequence in 0..<20_000 {
      let bytes = (0..<Int(generator.next() % 40)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      if let packet = RTPPacket([0x80] + bytes) { _ = depacketiser.add(packet, sequence: Int64(sequence)) }
    }
  }
}
