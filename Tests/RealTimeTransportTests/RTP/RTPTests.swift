// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

@Suite struct RTPTests {
  @Test("A packet's bytes are those of RFC 3550, and are read back")
  func aPacketsBytesAreThoseOfRFC3550() throws {
    var packet = RTPPacket(
      payloadType: 96, sequenceNumber: 0x1234, timestamp: 0x89AB_CDEF, source: 0x0102_0304, payload: [9, 8])
    packet.marker = true
    #expect(
      packet.bytes == [0x80, 0xE0, 0x12, 0x34, 0x89, 0xAB, 0xCD, 0xEF, 1, 2, 3, 4, 9, 8])
    #expect(RTPPacket(packet.bytes) == packet)
    packet.headerExtension = .init(profile: 0xBEDE, data: [0x10, 7, 0, 0])
    #expect(packet.bytes[0] == 0x90)
    #expect(Array(packet.bytes[12..<20]) == [0xBE, 0xDE, 0, 1, 0x10, 7, 0, 0])
    #expect(RTPPacket(packet.bytes) == packet)
  }

  @Test("Malformed packets are rejected; contributing sources and padding are skipped")
  func whatIsNotAPacketIsRefused() throws {
    let good = RTPPacket(payloadType: 96, sequenceNumber: 1, timestamp: 2, source: 3, payload: [5, 6]).bytes
    for length in 0..<12 { #expect(RTPPacket(Array(good.prefix(length))) == nil) }
    var other = good
    other[0] = 0x40
    #expect(RTPPacket(other) == nil)
    // Two contributing sources, and three bytes of padding.
    other = [0xA2] + good[1..<12] + [UInt8](repeating: 7, count: 8) + [5, 6, 0, 0, 3]
    #expect(RTPPacket(other)?.payload == [5, 6])
    other[other.count - 1] = 200
    #expect(RTPPacket(other) == nil)
    // An extension that is longer than the packet.
    #expect(RTPPacket([0x90] + good[1..<12] + [0xBE, 0xDE, 0, 9, 1]) == nil)
  }

  @Test("Of a header extension as much is written as its length can say")
  func aHeaderExtensionIsCutToWhatItsLengthCanSay() throws {
    for count in [262_140, 262_144, 400_000] {
      var packet = RTPPacket(payloadType: 96, sequenceNumber: 1, timestamp: 2, source: 3, payload: [5, 6])
      packet.headerExtension = .init(profile: 0xBEDE, data: [UInt8](repeating: 9, count: count))
      let read = try #require(RTPPacket(packet.bytes))
      #expect(read.headerExtension?.data.count == 262_140 && read.payload == [5, 6])
    }
  }

  @Test("Sequence numbers go on where 16 bits end")
  func sequenceNumbersGoOnWhere16BitsEnd() {
    var unwrapper = SequenceUnwrapper()
    let numbers: [UInt16] = [65_534, 65_535, 0, 2, 1, 65_535, 3]
    let unwrapped = numbers.map { unwrapper.unwrap($0) }
    #expect(unwrapped == [65_534, 65_535, 65_536, 65_538, 65_537, 65_535, 65_539])
  }

  @Test("A frame's descriptor survives among other extensions")
  func aFramesDescriptorSurvivesAmongOtherExtensions() throws {
    var descriptor = FrameDescriptor(number: 65_535, previous: 65_530)
    descriptor.isRefresh = true
    descriptor.isFirstPacket = true
    descriptor.layer = 1
    descriptor.token = -2
    let written = descriptor.headerExtension
    #expect(written.data.count % 4 == 0)
    #expect(FrameDescriptor(written) == descriptor)
    var mixed = written
    mixed.data = [0x30, 1, 0, 0] + written.data
    #expect(FrameDescriptor(mixed) == descriptor)
    mixed.profile = 0x1000
    #expect(FrameDescriptor(mixed) == nil)
    #expect(FrameDescriptor(.init(profile: 0xBEDE, data: [0x14, 0, 0, 0])) == nil)
    #expect(FrameDescriptor(nil) == nil)
    var plain = FrameDescriptor(number: 3, previous: 3)
    plain.isKeyFrame = true
    plain.isDiscardable = true
    #expect(FrameDescriptor(plain.headerExtension) == plain)
  }

  @Test("Packets that overtook each other come in order; one that does not come is given up in time")
  func packetsThatOvertookEachOtherComeInOrder() {
    func packet(_ n: UInt16) -> RTPPacket {
      RTPPacket(payloadType: 96, sequenceNumber: n, timestamp: 0, source: 1)
    }
    var buffer = ReorderBuffer(timeout: 0.02)
    func add(_ n: UInt16, at time: Double) -> [Int64] { buffer.add(packet(n), at: time).map(\.sequence) }
    func release(at time: Double) -> [Int64] { buffer.release(at: time).map(\.sequence) }
    #expect(add(65_535, at: 0) == [65_535])
    #expect(add(1, at: 0.001).isEmpty)
    #expect(buffer.deadline == 0.001 + 0.02)
    #expect(add(0, at: 0.002) == [65_536, 65_537])
    #expect(buffer.deadline == nil)
    #expect(add(4, at: 0.010).isEmpty)
    #expect(add(6, at: 0.015).isEmpty)
    #expect(release(at: 0.029).isEmpty)
    #expect(release(at: 0.0301) == [65_540])
    // Too late, and one that came twice.
    #expect(add(3, at: 0.031).isEmpty)
    #expect(add(6, at: 0.031).isEmpty)
    #expect(buffer.lateOrDuplicate == 2)
    #expect(release(at: 1) == [65_542])
  }
}

/// Packets of a malicious sender.
@Suite struct FloodTests {
  private func packet(_ number: UInt16, payload: [UInt8] = [0x41]) -> RTPPacket {
    RTPPacket(payloadType: 96, sequenceNumber: number, timestamp: 1, source: 2, payload: payload)
  }

  /// Numbers with holes between them do not pile up.
  @Test func holesDoNotPileUp() {
    var buffer = ReorderBuffer(timeout: 10)
    var given = 0
    var number: UInt16 = 0
    for _ in 0..<20_000 {
      given += buffer.add(packet(number), at: 0).count
      number &+= 2
    }
    #expect(given >= 20_000 - ReorderBuffer.maxWaitingPackets - 1)
  }

  /// A frame that never ends does not fill the memory.
  @Test func endlessFramesDoNotFillTheMemory() throws {
    var depacketiser = FrameDepacketiser()
    let payload = [UInt8](repeating: 0x41, count: 60_000)
    var number: Int64 = 0
    for _ in 0..<400 {
      #expect(
        depacketiser.add(packet(UInt16(truncatingIfNeeded: number), payload: payload), sequence: number)
          .isEmpty)
      number += 1
    }
    var last = packet(UInt16(truncatingIfNeeded: number))
    last.marker = true
    let frame = try #require(depacketiser.add(last, sequence: number).first)
    #expect(!frame.isComplete)
    #expect(frame.units.reduce(0) { $0 + $1.count } <= FrameDepacketiser.maxFrameBytes)
  }

  /// A frame of units of one byte, each an array of its own, does not fill the memory either.
  @Test(arguments: [false, true]) func shortUnitsDoNotFillTheMemory(isFragmented: Bool) throws {
    var depacketiser = FrameDepacketiser()
    var several: [UInt8] = [24]
    for _ in 0..<460 { several += [0, 1, 0x41] }
    let halves: [[UInt8]] = [[0x7C, 0x81, 1], [0x7C, 0x41, 2]]
    var number: Int64 = 0
    func add(_ payload: [UInt8], marker: Bool = false) -> FrameDepacketiser.ReassembledFrame? {
      var next = packet(UInt16(truncatingIfNeeded: number), payload: payload)
      next.marker = marker
      defer { number += 1 }
      return depacketiser.add(next, sequence: number).first
    }
    var ended = 0
    for index in 0..<(isFragmented ? 600_000 : 12_000) {
      ended += add(isFragmented ? halves[index % 2] : several) == nil ? 0 : 1
    }
    let frame = try #require(add([0x41], marker: true))
    #expect(ended == 0 && !frame.isComplete && depacketiser.malformedCount > 0)
    // The head of an array, and its representation in the list.
    #expect(frame.units.count <= FrameDepacketiser.maxFrameBytes / (32 + 8))
    #expect(frame.units.count > 100_000)
    // The next one has all the room again.
    for index in 0..<500 {
      var next = packet(UInt16(truncatingIfNeeded: number), payload: several)
      next.timestamp = 2
      next.marker = index == 499
      let whole = depacketiser.add(next, sequence: number).first
      number += 1
      if next.marker { #expect(whole?.units.count == 230_000 && whole?.isComplete == true) }
    }
  }

  /// Frames whose numbers have holes between them, and of which none can be decoded.
  @Test func missingFramesDoNotPileUp() throws {
    var receiver = MediaReceiver(.init(), source: 1, media: 2)
    for index in 0..<5000 as Range<UInt16> {
      var descriptor = FrameDescriptor(number: index &* 600, previous: index &* 600 &- 1)
      descriptor.isFirstPacket = true
      var packet = RTPPacket(
        payloadType: RTPPayloadType.media, sequenceNumber: index, timestamp: UInt32(index), source: 2,
        payload: [0x41])
      packet.marker = true
      packet.headerExtension = descriptor.headerExtension
      try receiver.receive(packet.bytes, at: Double(index) / 100) { _ in true }
    }
    #expect(receiver.counts.unusable == 5000)
    #expect(!receiver.missing.isEmpty && receiver.missing.count <= MediaReceiver.maxMissing)
    #expect(zip(receiver.missing, receiver.missing.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("A stream that begins out of order loses nothing of its beginning")
  func aStreamThatBeginsOutOfOrderLosesNothingOfItsBeginning() {
    func packet(_ number: UInt16) -> RTPPacket {
      RTPPacket(payloadType: 96, sequenceNumber: number, timestamp: 1, source: 2)
    }
    var buffer = ReorderBuffer(timeout: 0.02)
    #expect(buffer.add(packet(11), at: 0, isBeginning: false).isEmpty)
    #expect(buffer.add(packet(12), at: 0, isBeginning: false).isEmpty)
    #expect(buffer.add(packet(10), at: 0.01, isBeginning: true).map(\.packet.sequenceNumber) == [10, 11, 12])
    // The beginning itself was lost.
    buffer = ReorderBuffer(timeout: 0.02)
    #expect(buffer.add(packet(12), at: 0, isBeginning: false).isEmpty)
    #expect(buffer.add(packet(11), at: 0.01, isBeginning: false).isEmpty)
    #expect(buffer.deadline.map { $0 >= 0.02 } == true)
    #expect(buffer.release(at: 0.031).map(\.packet.sequenceNumber) == [11, 12])
    // Packets before the beginning belong to another stream.
    buffer = ReorderBuffer(timeout: 0.02)
    #expect(buffer.add(packet(9), at: 0, isBeginning: false).isEmpty)
    #expect(buffer.add(packet(10), at: 0.01, isBeginning: true).map(\.packet.sequenceNumber) == [10])
    #expect(buffer.release(at: 1).isEmpty && buffer.deadline == nil)
    // Nothing fills the memory.
    buffer = ReorderBuffer(timeout: 0.02)
    var given = 0
    for number in 0..<3000 as Range<UInt16> {
      given += buffer.add(packet(number), at: 0, isBeginning: false).count
    }
    #expect(given >= 3000 - ReorderBuffer.maxWaitingPackets)
  }
}
