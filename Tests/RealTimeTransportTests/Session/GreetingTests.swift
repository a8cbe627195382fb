// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// How two ends meet.
@Suite struct GreetingTests {
  private func sample() -> Greeting {
    var greeting = Greeting(nonce: .init(Array(1...16)), clock: 0x0102_0304_8000_0000, source: 0xAABB_CCDD)
    greeting.recovery = .invalidate
    greeting.retransmits = false
    greeting.frameRate = 29.97
    greeting.clockOffset = -1.25
    greeting.roundTrip = 0.04
    return greeting
  }

  /// Not a good one, but none that zeros match.
  private func authenticate(_ message: [UInt8]) -> [UInt8] {
    var sum: UInt8 = 7
    return (0..<32).map { index in
      for (place, byte) in message.enumerated() where place % 32 == index || place % 7 == index % 7 {
        sum = sum &* 31 &+ byte
      }
      return sum
    }
  }

  @Test("A greeting and its answer come back as they were; the answer is shorter")
  func aGreetingAndItsAnswerComeBackAsTheyWere() throws {
    for key in [nil, authenticate] as [(([UInt8]) -> [UInt8])?] {
      let greeting = sample()
      let bytes = greeting.bytes(authenticate: key)
      #expect(bytes.count == Greeting.size && Greeting.isGreeting(bytes))
      #expect(Greeting(bytes, authenticate: key) == greeting)
      let answer = Greeting.Answer(to: greeting, nonce: .init(Array(21...36)), clock: 99, source: 5)
      let reply = answer.bytes(authenticate: key)
      #expect(reply.count == Greeting.Answer.size && reply.count <= bytes.count)
      #expect(Greeting.Answer(reply, authenticate: key) == answer)
      // One is not taken for the other.
      #expect(Greeting(reply, authenticate: key) == nil && Greeting.Answer(bytes, authenticate: key) == nil)
    }
    // Nor are packets of RTP and RTCP taken for either.
    #expect(
      !Greeting.isGreeting(RTPPacket(payloadType: 96, sequenceNumber: 1, timestamp: 2, source: 3).bytes))
    #expect(!Greeting.isGreeting(RTCPPacket.bye(source: 1).bytes))
  }

  @Test("The codecs are in bits that were 0 before, so that H.264's greetings are those of old ends")
  func codecsAreInBitsThatWereZero() {
    var greeting = sample()
    let old = greeting.bytes()
    greeting.codec = .hevc
    let bytes = greeting.bytes()
    #expect(bytes.indices.filter { bytes[$0] != old[$0] } == [7] && bytes[7] == old[7] | 16)
    #expect(Greeting(bytes) == greeting)
    var answer = Greeting.Answer(to: greeting, nonce: .init([4]), clock: 99, source: 5)
    let bits: [(Set<VideoCodec>, UInt8)] = [([.h264], 0), ([.h264, .hevc], 1), ([.hevc], 3), ([], 2)]
    for (codecs, byte) in bits {
      answer.codecs = codecs
      #expect(answer.bytes()[6] == byte && Greeting.Answer(answer.bytes()) == answer)
    }
  }

  @Test("A rate that its field cannot hold is the nearest that it can, and the greeting stays one")
  func aRateThatItsFieldCannotHoldIsTheNearestThatItCan() {
    for (rate, reported) in [
      (1 / 3600.0, 0.001), (0, 0.001), (-1, 0.001), (.nan, 0.001), (0.5, 0.5), (2e6, 1e6), (.infinity, 1e6),
    ] {
      var greeting = sample()
      greeting.frameRate = rate
      #expect(Greeting(greeting.bytes())?.frameRate == reported, "\(rate)")
    }
  }

  @Test("Any change, and any cut, is refused; so is one without a key where there is one, and the other way")
  func anyChangeOrCutIsRefused() {
    let bytes = sample().bytes(authenticate: authenticate)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1 << UInt8(index % 8)
      #expect(Greeting(changed, authenticate: authenticate) == nil, "byte \(index)")
      #expect(Greeting(Array(bytes[..<index]), authenticate: authenticate) == nil)
    }
    #expect(Greeting(sample().bytes(), authenticate: authenticate) == nil)
    #expect(Greeting(bytes) == nil)
  }

  @Test("Random fields are read and written again as they were, or refused; none traps")
  func randomFieldsAreReadAndWrittenAgainAsTheyWere() {
    var generator = SeededGenerator(seed: 3)
    var (greetings, answers, refused) = (0, 0, 0)
    for round in 0..<10_000 {
      let size = round % 2 == 0 ? Greeting.size : Greeting.Answer.size
      // A length and a tag that are right as often as not.
      let length = round % 8 < 6 ? size : Int(generator.next() % 140)
      var bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
      let head = Greeting.magic + [UInt8(1 + round % 2)]
      bytes.replaceSubrange(..<min(head.count, length), with: head.prefix(length))
      if round % 4 < 3 { bytes = bytes.dropLast(32) + [UInt8](repeating: 0, count: min(length, 32)) }
      // Few numbers are a mode.
      if length > 6, round % 3 > 0 { bytes[6] %= 8 }
      if let greeting = Greeting(bytes) {
        greetings += 1
        #expect(greeting.frameRate > 0 && Greeting(greeting.bytes())?.nonce == greeting.nonce)
      } else if let answer = Greeting.Answer(bytes) {
        answers += 1
        #expect(Greeting.Answer(answer.bytes()) == answer)
      } else {
        refused += 1
      }
    }
    #expect(greetings > 500 && answers > 500 && refused > 500, "\(greetings) \(answers) \(refused)")
  }

  @Test("The clock goes there and back, over the end of an era too")
  func theClockGoesThereAndBack() {
    for start in [3_976_214_400.0, 4_294_967_290.0] {
      let clock = MediaClock(start: start)
      for time in [0, 0.001, 5.5, 12_345.678] {
        #expect(abs(clock.time(ofNTP: clock.ntpTime(at: time)) - time) < 1e-5)
      }
      #expect(abs(clock.time(ofNTP: clock.ntpTime(at: 0) &- 1 << 33) + 2) < 1e-5)
    }
  }
}
