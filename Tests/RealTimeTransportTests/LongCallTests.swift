// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RealTimeTransport

/// Errors that appear only after hours, or when the numbers of packets have come round.
@Suite struct LongCallTests {
  private func packet(_ number: UInt16, size: Int = 200, fill: UInt8 = 0) -> [UInt8] {
    RTPPacket(
      payloadType: RTPPayloadType.media, sequenceNumber: number, timestamp: 1, source: 7,
      payload: [UInt8](repeating: fill, count: size)
    ).bytes
  }

  @Test(
    "The history of sent packets is bounded for any reported sequence numbers",
    arguments: [1, 7, 1000, Int.max])
  func theNoteOfWhatWasSentStaysSmall(unreported: Int) {
    var sent = SentPackets()
    var reported = 0
    for index in 0..<150_000 {
      let number = UInt16(truncatingIfNeeded: index)
      sent.add(packet(number, size: 4), at: Double(index) / 1000)
      guard unreported < .max, index % unreported != 0 || unreported == 1 else { continue }
      let stream = StreamArrivals(source: 7, first: number, offsets: [0])
      let results = sent.results([stream], stamp: UInt32(truncatingIfNeeded: index * 65))
      #expect(results.map(\.sent) == [Double(index) / 1000])
      reported += results.count
    }
    #expect(sent.memory < 30_000 && (reported > 0) == (unreported < .max))
    // The newest are there still.
    let last = StreamArrivals(
      source: 7, first: UInt16(truncatingIfNeeded: 150_000), offsets: [])
    #expect(sent.results([last], stamp: 0).isEmpty)
    sent.add(packet(77, size: 4), at: 200)
    #expect(sent.results([.init(source: 7, first: 77, offsets: [nil])], stamp: 0).count == 1)
  }

  @Test("Times that are not reported make no delay")
  func timesThatAreNotToldMakeNoDelay() {
    var sent = SentPackets()
    for number in 1...3 as ClosedRange<UInt16> { sent.add(packet(number), at: 1) }
    let results = sent.results([.init(source: 7, first: 1, offsets: [0x1FFF, 10, nil])], stamp: 1 << 16)
    #expect(results.map { $0.arrived != nil } == [true, false])
  }

  @Test("Feedback after an outage is one that the sender takes")
  func feedbackAfterAnOutageIsOneThatTheSenderTakes() throws {
    var recorder = ArrivalRecorder(sources: [7, 8, 9])
    for number in 0..<900 as Range<UInt16> {
      for source in 7...9 as ClosedRange<UInt32> {
        recorder.add(source: source, number: number, at: Double(number) / 1000)
      }
    }
    let made = recorder.report(from: 1, clock: .simulated, at: 1)
    let report = try #require(made)
    let read = try #require(RTCPPacket.parse(report.bytes))
    #expect(read == [report])
  }

  /// Packets of one source that a report tells of, and how many of them as lost.
  private func reported(_ recorder: inout ArrivalRecorder, at time: Double) -> (all: Int, lost: Int)? {
    guard case .congestionFeedback(_, let streams, _) = recorder.report(from: 1, clock: .simulated, at: time)
    else { return nil }
    let offsets = streams.flatMap(\.offsets)
    return (offsets.count, offsets.count { $0 == nil })
  }

  @Test("Packets that one report has no room for are not reported as lost later")
  func packetsBeyondOneReportAreNotToldOfAsLost() throws {
    var recorder = ArrivalRecorder(sources: [7, 8, 9])
    for number in 0..<600 as Range<UInt16> {
      recorder.add(source: 7, number: 65_300 &+ number, at: Double(number) / 1e5)
    }
    var report = try #require(reported(&recorder, at: 0.01))
    #expect(report.all == 170 && report.lost == 0)
    for step in 0..<10 as Range<UInt16> {
      let time = 0.02 + Double(step) / 100
      for number in 0..<2 as Range<UInt16> {
        recorder.add(source: 7, number: 65_300 &+ 600 &+ step * 2 &+ number, at: time)
      }
      report = try #require(reported(&recorder, at: time))
      #expect(report.all == 2 && report.lost == 0)
    }
  }

  @Test("A number that lies far ahead is believed when its successor comes")
  func aNumberThatLiesFarAheadIsBelievedWhenItsSuccessorComes() throws {
    var recorder = ArrivalRecorder(sources: [7])
    for number in 0..<10 as Range<UInt16> {
      recorder.add(source: 7, number: number, at: 0)
      recorder.add(source: 7, number: 20_000 + number * 100, at: 0)
    }
    var report = try #require(reported(&recorder, at: 0.01))
    #expect(report.all == 10 && report.lost == 0)
    // After an outage.
    for number in 9000..<9010 as Range<UInt16> { recorder.add(source: 7, number: number, at: 0.1) }
    report = try #require(reported(&recorder, at: 0.11))
    #expect(report.all == 512 && report.lost == 502)
  }

  @Test("A repair packet that was of no use brings nothing back when its numbers come again")
  func anUnusedRepairPacketBringsNothingBackLater() throws {
    var receiver = ParityReceiver(media: 7)
    let packets = (0..<4).map { packet(UInt16($0), fill: UInt8($0)) }
    // Two are lost for good.
    for number in 0..<2 { #expect(receiver.add(packets[number], at: 0).isEmpty) }
    #expect(receiver.add(try #require(Parity(of: packets)), at: 0.04).isEmpty)
    #expect(receiver.wait > 0.03)
    for index in 4..<65_540 {
      let back = receiver.add(packet(UInt16(truncatingIfNeeded: index), fill: 99), at: Double(index) / 260)
      #expect(back.isEmpty, "\(index)")
    }
    #expect(receiver.wait == 0)
  }
}
