// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// The requests of a receiver to the encoder (RFC 5104).
@Suite struct EncoderRequestTests {
  @Test(
    "Who comes late is given a key frame, though nothing is lost, and though the request is",
    arguments: [RecoveryMode.ltr, .keyframe, .invalidate, .intraRefresh])
  func whoComesLateIsGivenAKeyFrame(recovery: RecoveryMode) throws {
    let pair = SessionPair(recovery: recovery)
    var keyTimes: [Double] = []
    var requests = 0
    // The first request is lost.
    pair.answers = { packets in
      packets.filter { packet in
        guard case .fullIntraRequest = packet else { return true }
        requests += 1
        return requests > 1
      }
    }
    pair.packetObserver = { bytes, isForth, time in
      guard isForth, let packet = RTPPacket(bytes), packet.payloadType == RTPPayloadType.media,
        let descriptor = FrameDescriptor(packet.headerExtension), descriptor.isFirstPacket,
        descriptor.isKeyFrame
      else { return }
      keyTimes.append(time)
    }
    for time in [2.0, 2.01, 2.02] {
      pair.loop.schedule(at: time) { pair.receiver.requestKeyFrame(at: pair.loop.now) }
    }
    try pair.run(frames: 150)
    // One at the start, and one for three simultaneous requests.
    #expect(keyTimes.count == 2 && (2.05...2.5).contains(keyTimes.last ?? 0), "\(keyTimes)")
    #expect(pair.keyFrames == 2 && pair.shown.count == 150)
    #expect(pair.receiver.counts.requests == 1 && requests > 1)
  }

  @Test("However often it is asked for, a key frame comes once a second at most")
  func aKeyFrameComesOnceASecondAtMost() throws {
    let pair = SessionPair()
    for tick in 0..<500 {
      pair.loop.schedule(at: 1 + Double(tick) / 100) { pair.receiver.requestKeyFrame(at: pair.loop.now) }
    }
    try pair.run(frames: 180)
    #expect((4...7).contains(pair.keyFrames), "\(pair.keyFrames)")
  }

  @Test("A request is repeated with its number, and is another one when nothing came for long")
  func aRequestIsRepeatedWithItsNumber() {
    var receiver = MediaReceiver(.init(), source: 1, media: 2)
    func asked(_ time: Double) -> UInt8? {
      for case .fullIntraRequest(_, 2, let number) in receiver.feedback(at: time) { return number }
      return nil
    }
    #expect(asked(0) == nil)
    receiver.requestKeyFrame(at: 1)
    #expect(asked(1) == 1 && asked(1.1) == nil && asked(1.25) == 1)
    #expect(asked(3) == 2 && asked(3.3) == 2)
    var policy = RecoveryPolicy(
      .ltr, receiverCount: 1, roundTrip: 0.1, clock: .simulated, keyFrameInterval: 1)
    let request = RTCPPacket.fullIntraRequest(sender: 1, media: 2, number: 7)
    policy.receive([request], from: 0, at: 0)
    // Until it was made: rate control may drop it.
    for _ in 0..<3 { #expect(policy.takeRequirements(at: 0).forcesKeyFrame) }
    policy.note(.init(isKeyFrame: true), isRepair: false, at: 0)
    policy.receive([request], from: 0, at: 2)
    #expect(!policy.takeRequirements(at: 2).forcesKeyFrame)
    policy.receive([.fullIntraRequest(sender: 1, media: 2, number: 8)], from: 0, at: 2)
    #expect(policy.takeRequirements(at: 2).forcesKeyFrame)
  }

  @Test("A sender keeps to what the receiver wants, answers, and discards it on request")
  func aSenderKeepsToWhatTheReceiverWants() throws {
    let pair = SessionPair { $0.rates.maximum = 3_000_000 }
    pair.followsRate = true
    var seen: [Double: (target: Double, agreed: Double?)] = [:]
    var requests = 0
    pair.packetObserver = { bytes, isForth, _ in
      guard !isForth, let packets = Greeting.isGreeting(bytes) ? nil : RTCPPacket.parse(bytes) else { return }
      requests += packets.count { if case .rateRequest = $0 { true } else { false } }
    }
    pair.loop.schedule(at: 3) { pair.receiver.limitRate(200_000) }
    pair.loop.schedule(at: 7) { pair.receiver.limitRate(nil) }
    for time in [2.9, 6.9, 9.9] {
      pair.loop.schedule(at: time) { seen[time] = (pair.sender.targetRate, pair.receiver.agreedRate) }
    }
    try pair.run(frames: 300)
    #expect((seen[2.9]?.target ?? 0) > 500_000 && seen[2.9]?.agreed == nil)
    #expect((100_000...200_000).contains(seen[6.9]?.target ?? 0) && seen[6.9]?.agreed == 200_000)
    #expect((seen[9.9]?.target ?? 0) > 400_000 && seen[9.9]?.agreed == nil)
    // Each is said until it is answered, and no longer.
    #expect((2...4).contains(requests), "\(requests)")
    #expect(pair.sender.counts.refused == 0 && pair.receiver.refused == 0)
  }

  @Test("A limit of nothing leaves a stream that shows something; one of another stream is none")
  func aLimitOfNothingLeavesAStreamThatShowsSomething() throws {
    let pair = SessionPair()
    pair.answers = { packets in
      packets + [
        .rateRequest(sender: 0x2000, limit: .init(media: 0x1000, bitsPerSecond: 0)),
        .rateRequest(sender: 0x2000, limit: .init(media: 0x9999, bitsPerSecond: 50_000)),
      ]
    }
    try pair.run(frames: 60)
    #expect(pair.sender.rateLimit == 20_000 && pair.sender.targetRate > 5_000)
  }

  @Test("Retransmissions reduce the bit rate of the encoder")
  func whatIsSentAgainIsTakenOffTheEncodersRate() throws {
    func target(loss: Double) throws -> (target: Double, resent: Int) {
      let pair = SessionPair(loss: loss > 0 ? .random(loss) : .none) {
        // The path takes all of it.
        $0.rates.maximum = 800_000
        $0.rates.start = 800_000
      }
      var targets: [Double] = []
      for tick in 100..<160 {
        pair.loop.schedule(at: Double(tick) / 20) { targets.append(pair.sender.targetRate) }
      }
      try pair.run(frames: 240)
      return (targets.reduce(0, +) / Double(targets.count), pair.sender.counts.resentBytes)
    }
    let (clear, lossy) = try (target(loss: 0), target(loss: 0.05))
    #expect(clear.target == 800_000 * 0.95 && clear.resent == 0)
    #expect(lossy.resent > 10_000)
    // Frames of 3,000 bytes are 720 kb/s; a twentieth of them is 36, and goes twice.
    let expected = 800_000 * 0.95 - Double(lossy.resent * 8) / 8
    #expect(abs(lossy.target - expected) < 60_000 && lossy.target < 730_000, "\(lossy)")
  }

  @Test("On a bad line what is sent again goes twice, some milliseconds apart")
  func onABadLineWhatIsSentAgainGoesTwice() throws {
    func sent(loss: LossModel) throws -> (pair: SessionPair, times: [[UInt8]: [Double]]) {
      let pair = SessionPair(loss: loss)
      var times: [[UInt8]: [Double]] = [:]
      pair.packetObserver = { bytes, isForth, time in
        // Payloads begin with the number of the packet that they were.
        guard isForth, let packet = RTPPacket(bytes),
          packet.payloadType == RTPPayloadType.retransmission
        else { return }
        times[Array(packet.payload.prefix(2)), default: []].append(time)
      }
      try pair.run(frames: 300)
      return (pair, times)
    }
    let bad = try sent(loss: .random(0.08))
    // The share that repair follows takes a while.
    let late = bad.times.values.filter { ($0.first ?? 0) > 3 }
    let twice = late.filter { $0.count > 1 }
    #expect(late.count > 20 && Double(twice.count) > 0.95 * Double(late.count))
    for times in twice { #expect((0.011...0.02).contains(times[1] - times[0]), "\(times)") }
    #expect(bad.pair.shown.count == 300)
  }
}
