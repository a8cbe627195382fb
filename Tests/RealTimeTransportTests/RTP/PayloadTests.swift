// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// RFC 6184 and RFC 7798: what the packetiser makes, and what the depacketiser makes of it when
/// packets get lost.
@Suite struct PayloadTests {
  private func unit(_ header: [UInt8], _ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    header + (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }

  /// Headers of parameter sets, of slices of key frames and of others, and of SEI messages; those
  /// of HEVC with layers too.
  private func headers(of codec: VideoCodec) -> [[UInt8]] {
    switch codec {
    case .h264: [[0x67], [0x68], [0x65], [0x41], [0x06]]
    case .hevc: [[0x40, 1], [0x42, 1], [0x44, 1], [0x26, 1], [0x02, 2], [0x03, 9], [0x4E, 1]]
    }
  }

  @Test("Small units are aggregated, large ones are split, the rest stand alone")
  func smallUnitsAreAggregated() {
    let packetiser = FramePacketiser(maximumPayload: 20)
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
      let payloads = FramePacketiser(maximumPayload: limit).payloads(of: [[0x67, 1], large, [0x68, 2]])
      #expect(payloads.allSatisfy { $0.count <= 65_535 })
      #expect(payloads.first == [0x67, 1] && payloads.last == [0x68, 2])
      let parts = payloads.dropFirst().dropLast()
      #expect(parts.count == 2 && parts.flatMap { $0.dropFirst(2) } == Array(large.dropFirst()))
    }
  }

  private func packets(
    of frames: [[[UInt8]]], _ codec: VideoCodec, payload: Int, described: Bool
  ) -> [RTPPacket] {
    var result: [RTPPacket] = []
    let packetiser = FramePacketiser(codec, maximumPayload: payload)
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

  @Test(
    "Random frames come back as they were; with losses, whole frames are exact and broken ones are known",
    arguments: VideoCodec.allCases)
  func randomFramesComeBackAsTheyWere(codec: VideoCodec) {
    let headers = headers(of: codec)
    var generator = SeededGenerator(seed: 5)
    for round in 0..<300 {
      let frames = (0..<20).map { _ in
        (0...Int(generator.next() % 4)).map { _ in
          unit(headers[Int(generator.next() % UInt64(headers.count))], Int(generator.next() % 90), &generator)
        }
      }
      let described = round % 3 != 0
      let sent = packets(of: frames, codec, payload: 24 + Int(generator.next() % 60), described: described)
      let loss = round % 2 == 0 ? 0 : 0.1
      var depacketiser = FrameDepacketiser(codec)
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
      // Without a descriptor a frame after a gap is not trusted.
      if loss == 0 || described { #expect(whole.count == frames.count - lostOf.count) }
      for (index, units) in whole {
        #expect(!lostOf.contains(index) && units == frames[index])
      }
      #expect(depacketiser.malformedCount == 0)
      #expect(depacketiser.lostPackets <= lost)
    }
  }

  @Test("An aggregation packet has the lowest layers of its units, a fragmentation unit those of its own")
  func layersOfHEVCUnitsAreInTheirPackets() {
    let packetiser = FramePacketiser(.hevc, maximumPayload: 24)
    // nuh_layer_id 33 and 32, nuh_temporal_id_plus1 3 and 2.
    let (one, other): ([UInt8], [UInt8]) = ([0x03, 0x0B, 7], [0x03, 0x02, 8, 9])
    #expect(packetiser.payloads(of: [one, other]) == [[0x61, 0x02, 0, 3] + one + [0, 4] + other])
    #expect(packetiser.payloads(of: [one]) == [one])
    // A unit of the base layer makes the packet one of the base layer.
    #expect(
      packetiser.payloads(of: [one, [0x44, 0x01]]) == [[0x60, 0x01, 0, 3] + one + [0, 2, 0x44, 0x01]])
    // nal_unit_type 19; 42 bytes after the header are two times 21.
    let large: [UInt8] = [0x27, 0x0A] + (0..<42).map { UInt8($0) }
    let parts = packetiser.payloads(of: [large])
    #expect(parts.map(\.count) == [24, 24])
    #expect(parts.map { Array($0.prefix(3)) } == [[0x63, 0x0A, 0x93], [0x63, 0x0A, 0x53]])
    #expect(parts.flatMap { $0.dropFirst(3) } == Array(large.dropFirst(2)))
    // Data without a header is not a unit.
    #expect(packetiser.payloads(of: [[], [0x44]]).isEmpty)
  }

  @Test("Payloads that no sender should make are counted and spoil their frame alone")
  func malformedPayloadsSpoilTheirFrameAlone() {
    let h264: [[UInt8]] = [
      [0x78, 0, 9, 1], [0x78, 0], [0x78, 0, 0], [0x78], [0x78, 0, 1, 0x7C], [0x7C], [0x7C, 0x85],
      [0x7C, 0xC5, 1], [0x19, 1, 2], [0x1D, 1, 2], [0x00], [0x1F],
    ]
    let hevc: [[UInt8]] = [
      // No header, a forbidden bit, and no temporal layer.
      [0x02], [0x82, 1, 5], [0x02, 0, 5],
      // Aggregates: empty, cut, with an empty unit, and with one within another.
      [0x60, 1], [0x60, 1, 0], [0x60, 1, 0, 9, 0x44, 1], [0x60, 1, 0, 0], [0x60, 1, 0, 1, 0x44],
      [0x60, 1, 0, 6, 0x60, 1, 0, 2, 0x44, 1],
      // Fragments: without contents, both the first and the last, and of what is not a unit.
      [0x62, 1], [0x62, 1, 0x93], [0x62, 1, 0xD3, 5], [0x62, 1, 0xB0, 5],
      // PACI, and types that are reserved.
      [0x64, 1, 0x26, 0, 1, 2, 3], [0x66, 1, 2], [0x7E, 1, 2],
    ]
    let kinds: [(VideoCodec, [[UInt8]], [UInt8])] = [(.h264, h264, [0x41, 1]), (.hevc, hevc, [0x02, 1, 9])]
    for (codec, bad, good) in kinds {
      for payload in bad {
        var depacketiser = FrameDepacketiser(codec)
        var packet = RTPPacket(payloadType: 96, sequenceNumber: 0, timestamp: 0, source: 1, payload: payload)
        packet.marker = true
        let frames = depacketiser.add(packet, sequence: 0)
        #expect(frames.count == 1 && !frames[0].isComplete, "\(payload)")
        #expect(frames.allSatisfy { $0.units.isEmpty } && depacketiser.malformedCount == 1, "\(payload)")
        packet.payload = good
        packet.timestamp = 1
        let next = depacketiser.add(packet, sequence: 1)
        #expect(next.map(\.units) == [[good]])
      }
    }
  }

  @Test("Random bytes do no harm", arguments: VideoCodec.allCases)
  func randomBytesDoNoHarm(codec: VideoCodec) {
    var generator = SeededGenerator(seed: 8)
    var depacketiser = FrameDepacketiser(codec)
    var (whole, bytesIn, bytesOut) = (0, 0, 0)
    for sequence in 0..<40_000 {
      var bytes = (0..<Int(generator.next() % 40)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      // Often a payload that is one of the codec's, in a frame with others.
      if sequence % 2 == 0, bytes.count > 14 {
        bytes.replaceSubrange(0..<11, with: [UInt8](repeating: UInt8(sequence / 16 & 0xFF), count: 11))
        bytes[0] = generator.next() % 4 == 0 ? 0xE0 : 0x60
        let kinds: [UInt8] = codec == .h264 ? [0x7C, 0x78, 0x41] : [0x62, 0x60, 0x02]
        bytes[11] = kinds[sequence % 3]
        bytes[12] = codec == .hevc ? 1 : [0x85, 0x45, 0][sequence % 5 % 3]
      }
      guard let packet = RTPPacket([0x80] + bytes) else { continue }
      bytesIn += packet.payload.count
      for frame in depacketiser.add(packet, sequence: Int64(sequence)) {
        whole += frame.isComplete ? 1 : 0
        bytesOut += frame.units.reduce(0) { $0 + $1.count }
      }
    }
    #expect(whole > 100 && depacketiser.malformedCount > 100 && bytesOut > 1000 && bytesOut <= bytesIn)
  }
}
