// SPDX-License-Identifier: Apache-2.0
import Foundation
import FuzzDriver
import RealTimeTransport

/// Passes arbitrary datagrams to the reorder buffer, the depacketizer and the parsers of RTP, RTCP
/// and the other messages, and serialises the parsed packets again.
private func fuzzDatagrams(_ input: inout FuzzInput, _ codec: VideoCodec) {
  var buffer = ReorderBuffer(timeout: Double(input.byte()) / 100)
  var depacketiser = FrameDepacketiser(codec)
  var statistics = ReceptionStatistics(source: 1, clockRate: 90_000)
  var parities = ParityReceiver(media: 1)
  var time = 0.0
  var bytesIn = 0
  func take(_ packets: [(packet: RTPPacket, sequence: Int64)]) {
    var last: Int64?
    for (packet, sequence) in packets {
      require(last.map { $0 < sequence } ?? true, "packets out of order")
      last = sequence
      for frame in depacketiser.add(packet, sequence: sequence) {
        let size = frame.units.reduce(0) { $0 + $1.count }
        require(size <= bytesIn, "\(size) bytes out of \(bytesIn)")
      }
    }
  }
  while !input.isEmpty {
    let kind = input.byte()
    let data = [UInt8](input.piece())
    bytesIn += data.count
    time += Double(kind & 31) / 1000
    if let packets = RTCPPacket.parse(data) {
      for packet in packets {
        let again = RTCPPacket.parse(packet.bytes)
        require(again != nil, "a packet that was written cannot be read: \(packet)")
        if case .congestionFeedback(_, let streams, _) = packet {
          require(streams.allSatisfy { $0.offsets.count <= StreamArrivals.maxPackets }, "too many packets")
        }
        if case .receiverReport(_, let blocks) = packet { _ = blocks.count }
      }
    }
    if let greeting = Greeting(data) {
      require(Greeting(greeting.bytes())?.nonce == greeting.nonce, "another greeting after a round")
    }
    if let answer = Greeting.Answer(data) {
      require(Greeting.Answer(answer.bytes()) == answer, "another answer after a round")
    }
    if let parity = Parity(data) {
      require(parity.numbers.count <= Parity.maxSpan, "a mask of \(parity.numbers.count) packets")
      // The serialised form uses the shortest mask.
      require(Parity(parity.bytes)?.numbers == parity.numbers, "another repair packet after a round")
      for packet in parities.add(parity, at: time) {
        require(
          packet.count <= bytesIn + RTPPacket.fixedHeaderSize, "\(packet.count) bytes out of \(bytesIn)")
      }
    }
    for packet in parities.add(data, at: time) {
      require(packet.count <= bytesIn + RTPPacket.fixedHeaderSize, "\(packet.count) bytes out of \(bytesIn)")
    }
    if var packet = RTPPacket(data) {
      // Usually the sequence numbers are close together, as those of one sender are.
      if kind & 0x80 == 0 { packet.sequenceNumber = packet.sequenceNumber & 63 }
      let again = RTPPacket(packet.bytes)
      require(again == packet, "another packet after a round")
      _ = FrameDescriptor(packet.headerExtension)
      statistics.add(packet, at: time)
      take(buffer.add(packet, at: time))
    }
    take(buffer.release(at: time))
  }
  take(buffer.release(at: time + 1e9))
  require(buffer.deadline == nil, "packets wait forever")
}

/// Passes foreign datagrams to both ends of a session; some of them have the session's SSRC.
private func fuzzSessions(_ input: inout FuzzInput, _ codec: VideoCodec) {
  var configuration = SenderSession.Configuration(source: 1, nonce: .init([1]))
  configuration.stream.protects = true
  configuration.stream.codec = codec
  var sender = SenderSession(configuration, at: 0)
  var receiver = ReceiverSession(.init(clock: .simulated, source: 9, nonce: .init([2])))
  var time = 0.0
  var frames = 0
  sender.poll(at: time)
  for greeting in sender.takeOutgoing() { _ = receiver.greet(greeting, at: time) }
  for answer in receiver.takeOutgoing() { sender.receive(answer, at: time) }
  // The second greeting returns the receiver's nonce, which opens the session.
  for greeting in sender.takeOutgoing() { _ = receiver.greet(greeting, at: time) }
  _ = receiver.takeOutgoing()
  require(sender.state == .open && receiver.state == .open, "two ends do not meet")
  while !input.isEmpty {
    let kind = input.byte()
    var data = [UInt8](input.piece())
    time += Double(kind & 31) / 1000
    // Usually sets the SSRC of the session's streams.
    if kind & 0x80 == 0, data.count >= 12 {
      data.replaceSubrange(8..<12, with: [0, 0, 0, 1 + (kind & 0x20) / 0x10])
    }
    if kind & 0x40 != 0 {
      sender.receive(data, at: time)
    } else if Greeting.isGreeting(data) {
      _ = receiver.greet(data, at: time)
    } else {
      try? receiver.receive(data, at: time) { frame in
        frames += 1
        return frame.units.count % 2 == 0
      }
    }
    sender.poll(at: time)
    try? receiver.poll(at: time) { _ in true }
    let (requirements, attempt) = sender.takeRequirements(at: time)
    sender.send(
      [[0x41, kind]], .init(isKeyFrame: requirements.forcesKeyFrame), attempt, captured: time, at: time)
    require(sender.takeOutgoing().count < 2000, "much is sent for little")
    require(receiver.takeOutgoing().count < 10, "much is answered to little")
  }
}

runFuzzer { data, size in
  var input = FuzzInput(UnsafeBufferPointer(start: data, count: size))
  let choice = input.byte()
  let codec: VideoCodec = choice & 2 == 0 ? .h264 : .hevc
  if choice & 1 == 0 { fuzzDatagrams(&input, codec) } else { fuzzSessions(&input, codec) }
  return 0
}
