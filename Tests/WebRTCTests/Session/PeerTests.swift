// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport
import Testing

@testable import WebRTC

/// Whole sessions between a sender and a receiver.
@Suite struct PeerTests {
  @Test func picturesArriveAsTheyWereSent() throws {
    let pair = try PeerPair()
    try pair.run(for: 3)
    #expect(pair.peers.allSatisfy { $0.state == .connected && $0.refused == 0 })
    #expect(pair.peers[0].profile == "SRTP_AEAD_AES_128_GCM")
    #expect(pair.received.count > 60 && pair.received.count >= pair.sentFrames.count - 2)
    #expect(pair.received.map(\.units) == Array(pair.sentFrames.prefix(pair.received.count)))
    #expect(pair.received.first?.isKeyFrame == true && pair.sender.counts.keyFrames == 1)
    #expect(abs((pair.sender.roundTrip ?? 0) - 0.04) < 0.02)
  }

  @Test(arguments: [true, false]) func lostPacketsAreSentAgain(hasRepair: Bool) throws {
    let pair = try PeerPair(loss: .random(0.05), hasRepair: hasRepair)
    try pair.run(for: 10)
    let counts = pair.receiver.counts
    // Nearly all frames come although each of several packets is lost by one to twenty.
    #expect(Double(pair.received.count) > 0.85 * Double(pair.sentFrames.count), "\(counts)")
    #expect(pair.sentFrames.count > 240)
    #expect(pair.sender.counts.resentPackets > 20)
    #expect(hasRepair ? counts.recoveredPackets > 20 : counts.recoveredPackets == 0)
    let known = Set(pair.sentFrames.map { $0[0] })
    #expect(pair.received.allSatisfy { known.contains($0.units[0]) })
  }

  @Test func picturesHardlyStandStillAtFivePercentLoss() throws {
    let pair = try PeerPair(loss: .random(0.05))
    try pair.run(for: 40)
    // As WebRTC's statistics define it: gaps longer than a frame and 150 ms.
    let gaps = zip(pair.times, pair.times.dropFirst()).map { $1 - $0 }
    let still = gaps.filter { $0 > 1.0 / 30 + 0.15 }.reduce(0, +)
    #expect(still < 0.01 * 40, "\(gaps.sorted().suffix(5))")
    #expect(pair.receiver.counts.requests < 2)
  }

  @Test func whatFeedbackTellsToBeLostIsSentAgainWithoutARequest() throws {
    let pair = try PeerPair(loss: .random(0.03))
    pair.losesRequests = true
    try pair.run(for: 10)
    let counts = pair.receiver.counts
    #expect(pair.sender.counts.resentPackets > 10 && counts.recoveredPackets > 10)
    #expect(Double(counts.incomplete) < 0.2 * Double(counts.lostPackets), "\(counts)")
    // Once for each loss, of the media and of what is sent again.
    #expect(Double(pair.sender.counts.resentPackets) < 1.3 * Double(counts.lostPackets), "\(counts)")
  }

  @Test func aBurstIsHealedByAKeyFrame() throws {
    // Bursts of some eighty packets, longer than requests can repair in time.
    let pair = try PeerPair(loss: .bursts(rate: 0.1, length: 80))
    try pair.run(for: 12)
    #expect(pair.receiver.counts.requests > 0 && pair.sender.counts.keyFrames > 1)
    #expect(pair.received.count(where: \.isKeyFrame) > 1 && pair.received.count > 100)
    // After each gap comes a key frame.
    let numbers = pair.received.map { frame in pair.sentFrames.firstIndex { $0 == frame.units } ?? -1 }
    for (index, number) in numbers.enumerated().dropFirst() where number != numbers[index - 1] + 1 {
      #expect(pair.received[index].isKeyFrame)
    }
  }

  @Test(arguments: [true, false]) func theRateFollowsTheLine(hasFeedback: Bool) throws {
    let pair = try PeerPair(bandwidth: 600_000, hasFeedback: hasFeedback)
    try pair.run(for: 20)
    let rate = pair.sender.targetRate(at: 20)
    // Estimates of the receiver need not be exact, but must hold the sender.
    #expect((hasFeedback ? 250_000...620_000 : 150_000...700_000).contains(rate), "\(rate)")
  }

  @Test func nothingIsSentWithoutConsent() throws {
    let pair = try PeerPair()
    try pair.run(for: 2)
    // The receiver vanishes: nothing of it comes any more.
    let stranded = pair.peers[0]
    var bytes = 0
    for step in 0..<400 {
      let now = 2 + Double(step) * 0.1
      stranded.poll(at: now)
      stranded.send([0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 1, 2, 3], isControl: false, at: now)
      let sent = stranded.takeOutgoing().filter { PeerTransport.Kind($0.bytes) == .media }.count
      if now > 33 { bytes += sent }
    }
    #expect(bytes == 0 && stranded.state == .failed(.silent))
  }

  @Test func packetsFromUnknownAddressesAndReplaysDoNotCount() throws {
    let pair = try PeerPair()
    try pair.run(for: 1)
    let peer = pair.peers[1]
    let unknownAddress = try #require(TransportAddress("198.51.100.3", port: 5))
    let packet: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9] + [UInt8](repeating: 0, count: 40)
    let hello: [UInt8] = [22, 254, 253] + [UInt8](repeating: 0, count: 40)
    let before = peer.refused
    for bytes in [packet, hello, [UInt8](repeating: 0xFF, count: 100), []] {
      #expect(peer.receive(bytes, from: unknownAddress, at: 1) == nil)
    }
    // Not encrypted, from the peer's own address.
    #expect(peer.receive(packet, from: pair.addresses[0], at: 1) == nil)
    #expect(peer.refused == before + 5 && peer.state == .connected)
  }

  @Test func theEndIsReported() throws {
    let pair = try PeerPair()
    try pair.run(for: 1)
    pair.sender.sayGoodbye(at: pair.time)
    try pair.run(for: 0.1, sends: false)
    pair.peers[0].close()
    try pair.run(for: 0.2, sends: false)
    #expect(pair.peers.map(\.state) == [.closed, .closed])
  }
}
