// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// A whole session over links that change and lose packets.
@Suite struct BadLineTests {
  private func quantile(_ share: Double, _ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[min(Int(Double(values.count) * share), values.count - 1)]
  }

  /// Share of the time in which a picture stood for too long, as WebRTC counts freezes.
  private func standstill(_ pair: SessionPair, _ range: ClosedRange<Double>) -> Double {
    let times = pair.shown.map(\.time).filter(range.contains)
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
    return gaps.reduce(0) { $0 + ($1 > 1.0 / 30 + 0.15 ? $1 : 0) } / (range.upperBound - range.lowerBound)
  }

  @Test(
    "A drop of the bandwidth to a third is detected before a long queue builds up", arguments: [0.02, 0.05],
    [1, 2, 3, 4] as [UInt64])
  func aLineThatFallsToAThirdIsHeardOfBeforeAQueueStandsLong(delay: Double, seed: UInt64) throws {
    let fall = 10 + 0.017 * Double(seed)
    let schedule = try #require(
      BandwidthSchedule([
        .init(time: 0, bitsPerSecond: 1_500_000), .init(time: fall, bitsPerSecond: 500_000),
        .init(time: 20, bitsPerSecond: 1_500_000),
      ]))
    let pair = SessionPair(delay: delay, bandwidth: schedule, seed: seed) { $0.rates.maximum = 6_000_000 }
    pair.followsRate = true
    try pair.run(frames: 900)
    func queue(_ range: ClosedRange<Double>) -> Double {
      quantile(0.95, pair.waits.filter { range.contains($0.time) }.map(\.wait))
    }
    func used(_ range: ClosedRange<Double>, of rate: Double) -> Double {
      Double(pair.carried.reduce(0) { $0 + (range.contains($1.time) ? $1.bits : 0) })
        / (range.upperBound - range.lowerBound) / rate
    }
    // It was 0.18 to 0.41 s with 20 ms each way, and 0.39 to 0.55 s with 50 ms.
    #expect(queue(fall...20) < (delay < 0.03 ? 0.15 : 0.25), "\(queue(fall...20))")
    #expect(queue(3...30) < 0.1, "\(queue(3...30))")
    #expect(used(13...20, of: 500_000) > 0.85 && used(23...30, of: 1_500_000) > 0.85)
    // Pictures that are left out are so while others are still on their way.
    #expect((1...40).contains(pair.withheld), "\(pair.withheld)")
    #expect(standstill(pair, 3...30) < 0.02, "\(standstill(pair, 3...30))")
  }

  @Test(
    "What random losses and bursts leave of a picture that moves",
    arguments: [
      (LossModel.random(0.01), 0.004), (.random(0.02), 0.004), (.random(0.05), 0.01),
      (.bursts(rate: 0.05, length: 8), 0.045),
    ])
  func randomLossesAndBurstsLeaveMovingPictures(model: LossModel, bound: Double) throws {
    var share = 0.0
    var (repair, media) = (0, 0)
    for seed in 1...8 as ClosedRange<UInt64> {
      let pair = SessionPair(loss: model, bandwidth: .init(constant: 2_500_000), seed: seed) {
        $0.rates.maximum = 8_000_000
        $0.stream.protects = true
      }
      pair.followsRate = true
      try pair.run(frames: 600)
      share += standstill(pair, 3...20) / 8
      let counts = pair.sender.counts
      repair += counts.resentBytes + counts.parityBytes
      media += counts.mediaBytes
    }
    #expect(share < bound, "\(share)")
    #expect(Double(repair) < 0.14 * Double(media), "\(repair) of \(media)")
  }

  @Test("Repair leaves pictures out after a burst, and a few packets go twice")
  func repairLeavesPicturesOutBehindABurst() {
    var repair = RepairSchedule(firstSequence: 0)
    let packet = [UInt8](repeating: 0, count: 1172)
    var isBurst = repair.plan([5], at: 1, roundTrip: 0.04, isProtected: false)
    #expect(!isBurst && repair.nextCopy == 1.012)
    var due = [repair.takeCopies(at: 1.011), repair.takeCopies(at: 1.012)]
    #expect(due == [[], [5]] && repair.nextCopy == .infinity)
    // Not where repair packets go, where the way is long, or of a burst.
    isBurst = repair.plan([5], at: 1, roundTrip: 0.04, isProtected: true)
    #expect(!isBurst)
    isBurst = repair.plan([5], at: 1, roundTrip: 0.2, isProtected: false)
    #expect(!isBurst)
    isBurst = repair.plan(Array(5...9), at: 1, roundTrip: 0.04, isProtected: false)
    due = [repair.takeCopies(at: 2)]
    #expect(isBurst && due == [[]])
    // Where little is lost, once is enough.
    for second in 1...30 as ClosedRange<UInt32> {
      let block = RTCPPacket.ReportBlock(
        source: 1, fractionLost: 0, cumulativeLost: 0, highestSequence: second * 100, jitter: 0,
        lastReport: 0,
        delaySinceLastReport: 0)
      repair.update(block, at: Double(second))
    }
    #expect(repair.lossLevel < 0.004 && repair.lossShare == 0)
    isBurst = repair.plan([5], at: 1, roundTrip: 0.04, isProtected: false)
    #expect(!isBurst && repair.nextCopy == .infinity)
    // A hundredth of a second each on 960 kb/s.
    for isBurst in [false, true] {
      for _ in 0..<10 {
        repair.noteSent(packet, at: 2, rate: 960_000)
        repair.noteResent(packet, isBurst: isBurst, at: 2)
      }
      #expect(repair.isOverfull(at: 2.01, rate: 960_000, lastFrame: 2) == isBurst)
      if !isBurst { #expect(repair.isOverfull(at: 2.2, rate: 960_000, lastFrame: 2.19) == false) }
    }
    #expect(!repair.isOverfull(at: 2.15, rate: 960_000, lastFrame: 2.14))
    #expect(!repair.isOverfull(at: 2.05, rate: 960_000, lastFrame: 1.95))
    let rates = [repair.resentRate(at: 3), repair.resentRate(at: 6)]
    #expect(abs(rates[0] - 20 * 1172 * 8 / 3) < 1 && rates[1] == 0)
  }

  @Test("The end of a frame is asked for before the next one comes")
  func theEndOfAFrameIsAskedForBeforeTheNextOneComes() {
    func packet(_ number: UInt16, _ frame: UInt32, ends: Bool = false) -> RTPPacket {
      var packet = RTPPacket(
        payloadType: 96, sequenceNumber: number, timestamp: frame * 3000, source: 1, payload: [1])
      packet.marker = ends
      return packet
    }
    var tail = SilenceDetector()
    tail.add(packet(1, 0), at: 1)
    #expect((1.01...1.02).contains(tail.due))
    tail.add(packet(2, 0, ends: true), at: 1.004)
    #expect(tail.due == .infinity)
    // On a slow line packets of a frame come further apart.
    for index in 3..<10 as Range<UInt16> { tail.add(packet(index, 1), at: 1 + 0.03 * Double(index)) }
    #expect((1.27 + 0.05...1.27 + 0.1).contains(tail.due))
    // Nothing is expected on one that takes a tenth of a second for each: they are only on their
    // way.
    var slow = SilenceDetector()
    for index in 1..<60 as Range<UInt16> { slow.add(packet(index, 1), at: 0.13 * Double(index)) }
    #expect(slow.due == .infinity)
    // One that was overtaken says nothing.
    let due = tail.due
    tail.add(packet(8, 1), at: 1.28)
    #expect(tail.due == due)
    tail.noteAsked(at: 1.3, again: 0.04)
    #expect(tail.due == .infinity)
  }

  @Test("During silence packets are requested when the next frame is due, repeatedly but not forever")
  func aSilenceIsAskedIntoForATime() {
    var tail = SilenceDetector()
    var number: UInt16 = 65_530
    for frame in 0..<12 as Range<UInt32> {
      for index in 0..<4 {
        var packet = RTPPacket(
          payloadType: 96, sequenceNumber: number, timestamp: frame * 3000, source: 1, payload: [1])
        packet.marker = index == 3
        number &+= 1
        tail.add(packet, at: 1 + Double(frame) / 30 + 0.002 * Double(index))
      }
      // Before some frames came, nothing is known of their rate.
      #expect((tail.due < .infinity) == (frame >= 8), "\(frame)")
    }
    let last = 1 + 11.0 / 30
    #expect((last + 0.045...last + 0.055).contains(tail.due), "\(tail.due - last)")
    #expect(tail.expected == 4)
    // Retransmissions are not silence.
    let due = tail.due
    tail.recordOtherPacket(at: due - 0.001)
    #expect(tail.due >= due + 0.01)
    var times = 0
    while tail.due < .infinity, times < 100 {
      times += 1
      tail.noteAsked(at: tail.due, again: 0.04)
    }
    #expect(times == 12)
  }

  @Test(
    "A request for many packets does not make the round trip longer, and its order tells what is lost again")
  func aRequestForManyPacketsDoesNotMakeTheRoundTripLonger() throws {
    var requests = RetransmissionRequests(roundTrip: 0.05)
    requests.add(0, at: 1)
    requests.add(41, at: 1)
    #expect(requests.nextRequests(at: 1).count == 40)
    // One each 10 ms, but for the third.
    for number in 1...40 as ClosedRange<UInt16> where number != 3 {
      requests.addRetransmitted(number, at: 1.05 + 0.01 * Double(number))
    }
    #expect(abs(requests.roundTrip - 0.06) < 1e-9)
    #expect(requests.deadline.map { $0 < 1.11 + 1e-9 } == true)
    #expect(requests.nextRequests(at: 1.5) == [3])
    // What was asked for while a burst went on is asked for once more at its end.
    var others = RetransmissionRequests(roundTrip: 0.05)
    others.add(0, at: 1)
    others.add(2, at: 1.01)
    #expect(others.nextRequests(at: 1.01) == [1])
    let guess = others.guess(3, at: 1.03)
    #expect(guess == [3, 4, 5])
    others.add(9, at: 1.065)
    #expect(others.nextRequests(at: 1.065) == [1, 6, 7, 8] && others.nextRequests(at: 1.081) == [3, 4, 5])
    // The expected packet arrives, and those before it were lost.
    others.addRetransmitted(12, at: 1.09)
    #expect(others.nextRequests(at: 1.09) == [10, 11])
    // After a silence nothing was overtaken; a moment after the last packet it may have been.
    var late = RetransmissionRequests(roundTrip: 0.05, tolerance: 0.02)
    late.add(0, at: 1)
    late.add(5, at: 1.01)
    #expect(late.nextRequests(at: 1.01).isEmpty && late.nextRequests(at: 1.031) == [1, 2, 3, 4])
    let again = late.guess(4, at: 1.09)
    late.add(8, at: 1.1, isBehindSilence: true)
    #expect(again == [6, 7, 8, 9] && late.nextRequests(at: 1.1).contains(7))
  }
}
