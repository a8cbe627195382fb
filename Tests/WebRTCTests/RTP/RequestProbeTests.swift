// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Testing

@testable import WebRTC

/// How losses are repaired for a peer that reports no arrivals, and asks once.
@Suite struct RequestProbeTests {
  /// Frames of three packets, and of one.
  @Test(arguments: [3000, 500], [true, false])
  func picturesHardlyStandStillAtFivePercentLoss(size: Int, repairs: Bool) {
    var peer = ReticentPeer(loss: 0.05, repairs: repairs)
    peer.run(for: 60, size: size)
    // Small frames have few packets in which a gap is found.
    #expect(peer.standstill < (size > 1000 ? 0.01 : 0.02), "\(peer.standstill)")
    #expect(peer.times.count > 1750)
    // The requests that the order of packets causes are not answered.
    let counts = peer.sender.counts
    #expect(Double(counts.resentPackets) < 0.16 * Double(counts.packets), "\(counts)")
  }

  @Test func theRateIsKeptWithTheRepairs() {
    var peer = ReticentPeer(loss: 0.1)
    peer.run(for: 60, size: 2000)
    let counts = peer.sender.counts
    // A third of the rate, of which half a second may be saved up.
    #expect(Double(counts.resentBytes * 8) < 800_000 / 3 * 60.5)
    #expect(peer.standstill < 0.04, "\(peer.standstill)")
  }

  @Test func packetsKeepTheirOrderWhereNothingIsLost() {
    var peer = ReticentPeer(loss: 0)
    peer.run(for: 5, size: 3000)
    #expect(zip(peer.sentNumbers, peer.sentNumbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
    #expect(peer.requests == 0 && peer.sender.counts.resentPackets == 0)
  }

  @Test func packetsKeepTheirOrderForPeersThatReportArrivals() {
    var peer = ReticentPeer(loss: 0.05, repairs: true, hasFeedback: true)
    peer.run(for: 5, size: 3000)
    #expect(zip(peer.sentNumbers, peer.sentNumbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
    #expect(peer.sender.counts.resentPackets > 10)
  }

  @Test func packetsAreInOrderAgainSomeSecondsAfterTheLastLoss() {
    var sender = VideoSender(.init(source: 7, payloadType: 96))
    func numbers(at time: Double) -> [UInt16] {
      sender.send([[0x41] + [UInt8](repeating: 7, count: 3000)], isKeyFrame: false, captured: time, at: time)
      return sender.takeOutgoing().filter { !$0.isControl }.compactMap { RTPPacket($0.bytes)?.sequenceNumber }
    }
    let first = numbers(at: 0)
    #expect(first == first.sorted() && first.count == 3)
    sender.receive([.retransmissionRequest(sender: 1, media: 7, numbers: [first[1]])], at: 0.05)
    #expect(sender.counts.resentPackets == 1)
    _ = sender.takeOutgoing()
    let second = numbers(at: 0.1)
    #expect(second == [first[2] &+ 2, first[2] &+ 1, first[2] &+ 3])
    // The late packet was asked for, and is asked for again since it is lost.
    sender.receive([.retransmissionRequest(sender: 1, media: 7, numbers: [second[1]])], at: 0.15)
    #expect(sender.counts.resentPackets == 1)
    sender.receive([.retransmissionRequest(sender: 1, media: 7, numbers: [second[1]])], at: 0.2)
    #expect(sender.counts.resentPackets == 2)
    _ = sender.takeOutgoing()
    let last = numbers(at: 11)
    #expect(last == last.sorted() && last.count == 3)
  }

  @Test func requestsThatComeLateDoNotKeepTheOrderReversed() {
    var sender = VideoSender(.init(source: 7, payloadType: 96))
    func numbers(at time: Double) -> [UInt16] {
      sender.send([[0x41] + [UInt8](repeating: 7, count: 3000)], isKeyFrame: false, captured: time, at: time)
      return sender.takeOutgoing().filter { !$0.isControl }.compactMap { RTPPacket($0.bytes)?.sequenceNumber }
    }
    let first = numbers(at: 0)
    sender.receive([.retransmissionRequest(sender: 1, media: 7, numbers: [first[1]])], at: 0.05)
    // Each packet that went late is asked for much later than the round trip before one is
    // measured.
    var time = 0.1
    while time < 9.9 {
      let sent = numbers(at: time)
      #expect(sent != sent.sorted(), "\(time)")
      if let late = zip(sent, sent.dropFirst()).first(where: { $0 > $1 })?.1 {
        sender.receive([.retransmissionRequest(sender: 1, media: 7, numbers: [late])], at: time + 0.4)
      }
      time += 0.5
    }
    let last = numbers(at: 11)
    #expect(last == last.sorted())
  }
}
