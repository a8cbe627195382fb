// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Whole sessions that share a link.
@Suite struct FairnessTests {
  /// The rates of the line that two calls share, in bits per second.
  private static let rates = [500_000.0, 1_000_000, 2_000_000, 4_000_000, 10_000_000]

  /// How far each call is from its share in the ten seconds from 30 s after the last has joined, as
  /// a part of that share, and what of the line they used.
  private func distance(
    rate: Double, rtt: Double, joins: [Double], spread: Double, seed: UInt64
  ) throws -> (worst: Double, used: Double) {
    var calls: [SessionPair] = []
    var generator = SeededGenerator(seed: seed &* 77 &+ 5)
    let last = joins.max() ?? 0
    for (index, join) in joins.enumerated() {
      // Cameras do not take their pictures at the same moment, and keep their distance.
      let start = join + generator.unit() / 30
      let call = SessionPair(
        delay: rtt / 2, bandwidth: .init(constant: rate), seed: seed * 10 + UInt64(index),
        sharing: calls.first,
        start: start
      ) {
        $0.rates.maximum = 4 * rate
        $0.stream.protects = true
      }
      call.followsRate = true
      call.spread = spread
      let seconds = last + 41 - join
      call.plan(frames: Int(seconds * 30), end: seconds, wobble: 0.002)
      calls.append(call)
    }
    try calls[0].loop.run()
    let range = last + 30...last + 40
    let bits = calls.map { $0.carried.reduce(0.0) { range.contains($1.time) ? $0 + Double($1.bits) : $0 } }
    let all = bits.reduce(0, +)
    let mean = all / Double(bits.count)
    return (bits.map { abs($0 - mean) / mean }.max() ?? 1, all / 10 / rate)
  }

  @Test(
    "Two calls have their halves of a line half a minute after the second has begun",
    arguments: rates, [0.0, 10, 20])
  func twoCallsHaveTheirHalvesOfALineInHalfAMinute(rate: Double, join: Double) throws {
    // Frames that are nearly as large as they should be, and such as are up to 1.3 times as large.
    // Each is simulated with the shortest and the longest round trip at one rate or another.
    let pairs = [(0.02, 0.05), (0.04, 0.3), (0.1, 0.05), (0.02, 0.3), (0.04, 0.05), (0.1, 0.3)]
    let isOdd = (Self.rates.firstIndex(of: rate) ?? 0) % 2 == 1
    for (rtt, spread) in isOdd ? pairs.prefix(3) : pairs.suffix(3) {
      let found = try distance(rate: rate, rtt: rtt, joins: [0, join], spread: spread, seed: 1)
      #expect(found.worst < 0.2 && found.used > 0.85, "\(found), \(rtt) s, \(spread)")
    }
  }

  @Test("Three calls have their thirds", arguments: [2_000_000.0, 10_000_000], [0.0, 10])
  func threeCallsHaveTheirThirds(rate: Double, join: Double) throws {
    let found = try distance(rate: rate, rtt: 0.04, joins: [0, join, 2 * join], spread: 0.05, seed: 1)
    #expect(found.worst < 0.2 && found.used > 0.85, "\(found)")
  }

  @Test("A line's rate shows in packets that are sent in one go, and so does its fall")
  func aLinesRateShowsInPacketsThatAreSentInOneGo() throws {
    var line = LineRate()
    var time = 0.0
    var reported: [Bool?] = []
    #expect(line.bitsPerSecond == nil && line.isSteady(at: 0) == nil)
    for frame in 0..<60 {
      let rate = frame < 40 ? 4_000_000.0 : 1_000_000
      time = Double(frame) / 30
      for _ in 0..<5 {
        // Times are reported in 1024ths of a second.
        let next = time + 9600 / rate
        line.add(
          bits: 9600, pause: (next * 1024).rounded(.down) / 1024 - (time * 1024).rounded(.down) / 1024,
          at: next)
        time = next
      }
      reported.append(line.isSteady(at: time))
      let found = try #require(line.bitsPerSecond)
      if frame == 39 || frame == 59 { #expect(abs(found - rate) < 0.1 * rate, "\(found)") }
    }
    // It falls once, and is steady again a second later.
    #expect(reported[39] == true && reported[41] == false && reported[59] == false)
    #expect(line.isSteady(at: time + 1.5) == nil)
    for step in 1...4 { line.add(bits: 9600, pause: 0.0096, at: time + 1.5 + 0.0096 * Double(step)) }
    #expect(line.isSteady(at: time + 1.55) == true)
  }

  @Test("A static pause makes no slower line")
  func aPauseInWhichSomethingStoodStillMakesNoSlowerLine() throws {
    var line = LineRate()
    var time = 0.0
    for packet in 0..<200 {
      let pause = packet == 150 ? 0.2 : 9600 / 10_000_000.0
      time += pause
      line.add(bits: 9600, pause: pause, at: time)
      if packet > 155 { #expect(line.isSteady(at: time) == true, "\(packet)") }
      if packet >= 150 {
        let rate = try #require(line.bitsPerSecond)
        #expect(rate > 9_000_000, "\(rate)")
      }
    }
  }

  @Test("A line that has become faster shows within a few packets, and two that came at once make none")
  func aLineThatHasBecomeFasterShowsWithinAFewPackets() throws {
    var line = LineRate()
    var changes: [Int] = []
    for packet in 0..<300 {
      let pause = packet % 7 == 3 ? 0 : 9600 / 500_000.0
      if line.add(bits: 9600, pause: pause, at: Double(packet) / 30) { changes.append(packet) }
    }
    let slow = try #require(line.bitsPerSecond)
    #expect(slow < 650_000, "\(slow)")
    for packet in 300..<320 where line.add(bits: 9600, pause: 9600 / 1_500_000.0, at: Double(packet) / 30) {
      changes.append(packet)
    }
    let fast = try #require(line.bitsPerSecond)
    #expect(fast > 1_100_000, "\(fast)")
    #expect(changes.allSatisfy { $0 > 300 } && !changes.isEmpty, "\(changes)")
  }
}
