// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// How two ends agree on a codec, and that a call of HEVC is repaired as one of H.264 is.
@Suite struct CodecTests {
  @Test("Frames of HEVC come as they were, however lossy the line", arguments: RecoveryMode.allCases)
  func framesOfHEVCComeAsTheyWere(recovery: RecoveryMode) throws {
    for loss in [LossModel.none, .random(0.05), .bursts(rate: 0.05, length: 6)] {
      let pair = SessionPair(loss: loss, recovery: recovery, seed: 3) { $0.stream.codec = .hevc }
      try pair.run(frames: 300)
      #expect(pair.receiver.codec == .hevc && pair.receiver.malformedCount == 0)
      #expect(pair.shown.count > 240 && pair.early.isEmpty)
      if case .none = loss { #expect(pair.shown.count == pair.units.sent.count) }
      for (shown, units) in zip(pair.shown, pair.units.shown) {
        #expect(units == pair.units.sent[Int(shown.number)])
      }
    }
  }

  @Test("The same line takes and repairs frames of HEVC as it does those of H.264")
  func theSameLineRepairsBothCodecs() throws {
    let calls = try VideoCodec.allCases.map { codec in
      let pair = SessionPair(loss: .random(0.05), recovery: .ltr, seed: 7) {
        $0.stream.codec = codec
        $0.stream.retransmits = false
      }
      try pair.run(frames: 400)
      return pair
    }
    for pair in calls {
      #expect(pair.sender.counts.repairs > 10 && pair.sender.counts.keyFrames == 1)
      #expect(pair.receiver.counts.acknowledgements > 10 && pair.receiver.counts.decodeErrors == 0)
    }
    #expect(abs(calls[0].shown.count - calls[1].shown.count) < 60)
  }

  @Test("A receiver that does not take the codec is sent nothing but greetings, and the sender is notified")
  func aReceiverThatDoesNotTakeTheCodecIsSentNothing() throws {
    for (codec, taken) in [(VideoCodec.hevc, [VideoCodec.h264]), (.h264, [.hevc]), (.hevc, [])] {
      let pair = SessionPair(taking: Set(taken)) { $0.stream.codec = codec }
      var others = 0
      var answers: [[UInt8]] = []
      pair.packetObserver = { bytes, isForth, _ in
        if !Greeting.isGreeting(bytes) { others += 1 }
        if !isForth { answers.append(bytes) }
      }
      try pair.run(frames: 60)
      #expect(pair.sender.state == .refused && pair.sender.deadline == .infinity)
      #expect(pair.receiver.state == .waiting && pair.receiver.refusedCodec == codec)
      #expect(others == 0 && pair.shown.isEmpty && !answers.isEmpty)
      // A receiver of H.264 alone answers as one does that knows no other codec.
      if taken == [.h264] { #expect(answers.allSatisfy { $0[6] == 0 && $0[7] == 0 }) }
    }
  }

  @Test("A sender that does not read an answer's codecs begins no session where HEVC alone is taken")
  func anOldSenderBeginsNoSession() {
    var configuration = ReceiverSession.Configuration(clock: .simulated, source: 9, nonce: .init([2]))
    configuration.codecs = [.hevc]
    var receiver = ReceiverSession(configuration)
    var greeting = Greeting(nonce: .init([1]), clock: 1 << 32, source: 1)
    var belongs = receiver.greet(greeting.bytes(), at: 0)
    greeting.answered = .init([2])
    #expect(receiver.takeOutgoing().count == 1)
    belongs = belongs || receiver.greet(greeting.bytes(), at: 0.1)
    #expect(!belongs && receiver.state == .waiting && receiver.refusedCodec == .h264)
    // It does not know what the answer said, and without further ones it ends.
    #expect(receiver.takeOutgoing().isEmpty)
    // Another sender may still call.
    greeting = Greeting(nonce: .init([5]), clock: 1 << 32, source: 1)
    greeting.codec = .hevc
    greeting.answered = .init([2])
    belongs = receiver.greet(greeting.bytes(), at: 0.2)
    #expect(belongs && receiver.state == .open && receiver.codec == .hevc)
    // In the session the codec stays.
    greeting.codec = .h264
    greeting.clock += 1 << 32
    belongs = receiver.greet(greeting.bytes(), at: 0.3)
    #expect(belongs && receiver.codec == .hevc)
  }
}
