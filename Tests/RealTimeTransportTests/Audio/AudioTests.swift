// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Packets of audio between a sender and a receiver, over a line that loses and delays.
@Suite struct AudioTests {
  private static func sender(_ change: (inout AudioSender.Configuration) -> Void = { _ in }) -> AudioSender {
    var configuration = AudioSender.Configuration(source: 7, payloadType: 99)
    configuration.firstSequence = 65_500
    // So that numbers and time stamps wrap soon.
    configuration.timestampOffset = UInt32.max - 10_000
    change(&configuration)
    return AudioSender(configuration)
  }

  private static func receiver(
    _ change: (inout AudioReceiver.Configuration) -> Void = { _ in }
  ) -> AudioReceiver {
    var configuration = AudioReceiver.Configuration(source: 20, payloadTypes: [99])
    change(&configuration)
    return AudioReceiver(configuration)
  }

  /// The payload of a packet, which tells its number.
  private static func payload(_ number: Int) -> [UInt8] {
    [0xFC, UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 1, count: number % 50)
  }

  /// Sends packets of 20 ms for a time over a line of 30 ms.
  private func run(
    _ sender: inout AudioSender, _ receiver: inout AudioReceiver, loss: LossModel, seconds: Double
  ) -> [AudioReceiver.Packet] {
    var (process, time, number) = (LossProcess(loss, seed: 5), 0.0, 0)
    var received: [AudioReceiver.Packet] = []
    var transit: [(at: Double, bytes: [UInt8], isControl: Bool, toReceiver: Bool)] = []
    while time < seconds + 0.6 {
      if time >= Double(number) * 0.02, time < seconds {
        sender.send(
          Self.payload(number), position: Int64(number) * 960, samples: 960,
          captured: Double(number) * 0.02, at: time)
        number += 1
      }
      sender.poll(at: time)
      receiver.poll(at: time)
      for (bytes, isControl) in sender.takeOutgoing() where isControl || !process.losesNext() {
        transit.append((time + 0.03, bytes, isControl, true))
      }
      for packets in receiver.takeOutgoing() {
        transit.append((time + 0.03, RTCPPacket.compound(packets), true, false))
      }
      time += 0.001
      for packet in transit where packet.at <= time {
        if !packet.toReceiver {
          sender.receive(RTCPPacket.parse(packet.bytes) ?? [], at: time)
        } else if packet.isControl {
          receiver.receiveControl(RTCPPacket.parse(packet.bytes) ?? [], at: time)
        } else {
          receiver.receive(packet.bytes, at: time)
        }
      }
      transit.removeAll { $0.at <= time }
      received += receiver.takePackets()
    }
    return received
  }

  @Test func packetsComeInOrderAndTellTheirTime() throws {
    var (sender, receiver) = (Self.sender(), Self.receiver())
    let received = run(&sender, &receiver, loss: .none, seconds: 3)
    #expect(received.map(\.payload) == (0..<150).map { Self.payload($0) })
    #expect(received.map(\.position) == (0..<150).map { Int64($0) * 960 })
    // Each sample's time by the sender's report is when it was taken.
    for (number, packet) in received.enumerated() {
      let time = try #require(receiver.captureTime(of: packet.timestamp))
      #expect(abs(MediaClock.simulated.time(ofNTP: time) - Double(number) * 0.02) < 0.0001)
    }
    #expect(receiver.counts.lostPackets == 0 && receiver.counts.packets == 150)
  }

  @Test(arguments: [true, false]) func lostPacketsComeAgain(hasRepairStream: Bool) {
    var sender = Self.sender {
      $0.retransmits = true
      if hasRepairStream { ($0.repairSource, $0.repairType) = (8, 100) }
    }
    var receiver = Self.receiver {
      $0.retransmits = true
      if hasRepairStream { $0.repairTypes = [100] }
    }
    let received = run(&sender, &receiver, loss: .random(0.1), seconds: 10)
    #expect(sender.counts.resentPackets > 20)
    #expect(received.count >= 495, "\(received.count) of 500")
    #expect(zip(received, received.dropFirst()).allSatisfy { $0.position < $1.position })
    #expect(received.allSatisfy { $0.payload == Self.payload(Int($0.position / 960)) })
    #expect(hasRepairStream == (receiver.counts.recoveredPackets > 0))
  }

  @Test func aLossWithoutRequestsLeavesAGap() {
    var (sender, receiver) = (Self.sender(), Self.receiver())
    let received = run(&sender, &receiver, loss: .random(0.1), seconds: 10)
    #expect(receiver.counts.lostPackets > 20 && receiver.counts.lostPackets + received.count >= 498)
    #expect(received.allSatisfy { $0.payload == Self.payload(Int($0.position / 960)) })
  }

  @Test func markersFollowPauses() throws {
    var sender = Self.sender()
    for (position, time) in [(Int64(0), 0.0), (960, 0.02), (96_000, 2), (96_960, 2.02)] {
      sender.send([1, 2], position: position, samples: 960, captured: time, at: time)
    }
    let packets = sender.takeOutgoing().filter { !$0.isControl }.compactMap { RTPPacket($0.bytes) }
    #expect(packets.map(\.marker) == [true, false, true, false])
    #expect(packets.map(\.timestamp).last == UInt32.max - 10_000 &+ 96_960)
  }

  @Test func whatIsNotAudioIsRefused() {
    var receiver = Self.receiver { $0.media = 7 }
    var packet = RTPPacket(payloadType: 99, sequenceNumber: 1, timestamp: 5, source: 7, payload: [1])
    var taken = [receiver.receive(packet.bytes, at: 0)]
    packet.source = 9
    taken.append(receiver.receive(packet.bytes, at: 5))
    packet.source = 7
    packet.payloadType = 96
    taken.append(receiver.receive(packet.bytes, at: 0))
    packet.payloadType = 99
    packet.payload = [UInt8](repeating: 0, count: AudioReceiver.maxPacket + 3)
    for bytes in [packet.bytes, [0x80], []] { taken.append(receiver.receive(bytes, at: 0)) }
    #expect(taken == [true, false, false, false, false, false])
    let payloads = receiver.takePackets().map(\.payload)
    #expect(payloads == [[1]])
  }

  @Test func packetsThatNobodyTakesAreBounded() {
    var receiver = Self.receiver()
    for number in 0..<5000 {
      let packet = RTPPacket(
        payloadType: 99, sequenceNumber: UInt16(truncatingIfNeeded: number),
        timestamp: UInt32(truncatingIfNeeded: number &* 0x7FFF_FFFF), source: 7, payload: [1])
      receiver.receive(packet.bytes, at: 0.1)
    }
    let count = receiver.takePackets().count
    #expect(count == 1024)
  }

  @Test func aCallCarriesAudio() throws {
    var source = SenderSession.Configuration(source: 100, nonce: .init([1, 2, 3]))
    source.hasAudio = true
    var sender = SenderSession(source, at: 0)
    var receiver = ReceiverSession(.init(clock: .simulated, source: 200, nonce: .init([4, 5])))
    var (time, number, received) = (0.0, 0, [AudioReceiver.Packet]())
    var transit: [(at: Double, bytes: [UInt8], toReceiver: Bool)] = []
    while time < 6 {
      if sender.state == .open, time >= 1, time < 5, time >= 1 + Double(number) * 0.02 {
        sender.sendAudio(
          Self.payload(number), position: Int64(number) * 960, samples: 960,
          captured: 1 + Double(number) * 0.02, at: time)
        number += 1
        #expect(sender.audioRate > 0)
      }
      sender.poll(at: time)
      try receiver.poll(at: time) { _ in true }
      for (index, bytes) in sender.takeOutgoing().enumerated() {
        // Every fifteenth audio packet is lost.
        let packet = RTPPacket(bytes)
        let isLost = packet?.payloadType == RTPPayloadType.audio && number % 15 == 7 && index == 0
        if !isLost { transit.append((time + 0.02, bytes, true)) }
      }
      for bytes in receiver.takeOutgoing() { transit.append((time + 0.02, bytes, false)) }
      time += 0.001
      for datagram in transit where datagram.at <= time {
        if !datagram.toReceiver {
          sender.receive(datagram.bytes, at: time)
        } else if Greeting.isGreeting(datagram.bytes) {
          _ = receiver.greet(datagram.bytes, at: time)
        } else {
          try receiver.receive(datagram.bytes, at: time) { _ in true }
        }
      }
      transit.removeAll { $0.at <= time }
      received += receiver.takeAudio()
    }
    // A second after the last packet the pictures have all of the rate again.
    #expect(sender.audioRate == 0)
    #expect(receiver.hasAudio && number == 200 && sender.audioCounts.resentPackets > 5)
    #expect(received.map(\.payload) == (0..<200).map { Self.payload($0) })
    // The ends' clocks are the same here.
    let last = try #require(received.last)
    let captured = try #require(receiver.audioCaptureTime(of: last.timestamp))
    #expect(abs(captured - (1 + 199 * 0.02)) < 0.002)
    #expect(receiver.refused == 0)
  }
}
