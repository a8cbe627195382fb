// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// Records when packets arrive by their transport-wide number, and reports it
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01). Times are in seconds.
struct TransportArrivals: Sendable {
  /// The largest number of packets of a report; more come with the next one.
  private static let maxSpan: Int64 = 1000
  private var unwrapper = SequenceUnwrapper()
  private var times: [Int64: Double] = [:]
  /// The first number that was not reported yet.
  private var next: Int64?
  private var number: UInt8 = 0

  mutating func add(_ sequence: UInt16, at time: Double) {
    let sequence = unwrapper.unwrap(sequence)
    // A packet that was reported as missing is reported again when it has come, unless it is old.
    if let next, sequence < next, next - sequence <= Self.maxSpan { self.next = sequence }
    times[sequence] = time
    guard times.count > 2 * Int(Self.maxSpan) else { return }
    let oldest = sequence - Self.maxSpan
    times = times.filter { $0.key >= oldest }
  }

  /// Makes a report of what has come since the last one; nil if nothing has.
  mutating func report(sender: UInt32, media: UInt32) -> RTCPPacket? {
    guard let last = times.keys.max(), let first = times.keys.min() else { return nil }
    let begin = max(min(next ?? first, first), last - Self.maxSpan + 1)
    let arrivals = (begin...last).map { times[$0].map { Int64($0 / TransportFeedback.unit) } }
    times.removeAll(keepingCapacity: true)
    next = last + 1
    defer { number &+= 1 }
    return .transportFeedback(
      sender: sender, media: media,
      feedback: TransportFeedback(
        first: UInt16(truncatingIfNeeded: begin), number: number, arrivals: arrivals))
  }
}

/// Estimates at the receiver what the path carries, from the send time in packets, for a sender
/// that takes estimates (draft-alvestrand-rmcat-remb-03).
struct ReceiverEstimate: Sendable {
  private var controller: CongestionController
  private var results: [CongestionController.PacketResult] = []
  private var last: (stamp: UInt32, seconds: Double)?
  private var highest: Int64?
  private var unwrapper = SequenceUnwrapper()

  init() {
    var limits = CongestionController.Limits()
    limits.start = 2_000_000
    controller = CongestionController(limits)
  }

  /// Takes a packet of the media's own stream.
  mutating func add(_ number: UInt16, sendTime: UInt32, bits: Int, at time: Double) {
    let before = last ?? (sendTime, 0)
    // 24 bits of 2^-18 s wrap after 64 s.
    let difference = Int32(bitPattern: (sendTime &- before.stamp) << 8) >> 8
    let sent = before.seconds + Double(difference) / 262_144
    last = (sendTime, sent)
    let sequence = unwrapper.unwrap(number)
    if let highest, sequence > highest + 1, sequence - highest < 100 {
      for _ in 0..<(sequence - highest - 1) { results.append(.init(sent: sent, arrived: nil, bits: bits)) }
    }
    highest = max(highest ?? sequence, sequence)
    if results.count < 4096 { results.append(.init(sent: sent, arrived: time, bits: bits)) }
  }

  /// The estimate in bits per second; nil before the first packet.
  mutating func take(at time: Double, roundTrip: Double) -> Double? {
    guard last != nil else { return nil }
    controller.update(results.sorted { $0.sent < $1.sent }, at: time, roundTrip: roundTrip)
    results.removeAll(keepingCapacity: true)
    return controller.targetRate
  }
}
