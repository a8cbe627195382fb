// SPDX-License-Identifier: Apache-2.0
import RealTimeTransport

/// The packets of all streams that were sent, by their transport-wide number, until feedback about
/// them comes.
struct TransportHistory: Sendable {
  /// The largest number of packets that are remembered.
  private static let capacity = 8192
  private var entries: [Int64: (time: Double, bits: Int, media: UInt16)] = [:]
  private var unwrapper = SequenceUnwrapper()
  /// The highest number so far, and the oldest that may still be in `entries`.
  private var newest: Int64 = 0
  private var oldest: Int64?
  private var lastTime: (units: Int64, seconds: Double)?

  /// - Parameter media: The media packet's own number, which a retransmission shares with it.
  mutating func add(_ number: UInt16, media: UInt16, bits: Int, at time: Double) {
    newest = unwrapper.unwrap(number)
    entries[newest] = (time, bits, media)
    var first = oldest ?? newest
    while entries.count > Self.capacity, first < newest {
      entries[first] = nil
      first += 1
    }
    oldest = first
  }

  /// Matches a report with what was sent. Each packet is returned once: one that has arrived when a
  /// report says so, one that has not with the report that covers it first.
  /// `lost` has the media packets' numbers of those that have not, and when they were sent.
  mutating func results(
    _ feedback: TransportFeedback
  ) -> (packets: [CongestionController.PacketResult], lost: [(number: UInt16, sent: Double)]) {
    var results: [CongestionController.PacketResult] = []
    var lost: [(number: UInt16, sent: Double)] = []
    let first = newest + Int64(Int16(bitPattern: feedback.first &- UInt16(truncatingIfNeeded: newest)))
    for (index, arrival) in feedback.arrivals.enumerated() {
      guard let entry = entries.removeValue(forKey: first + Int64(index)) else { continue }
      results.append(.init(sent: entry.time, arrived: arrival.map { seconds($0) }, bits: entry.bits))
      if arrival == nil { lost.append((entry.media, entry.time)) }
    }
    return (results, lost)
  }

  /// The receiver's time of a report in seconds: the 24 bits of the reference time wrap.
  private mutating func seconds(_ units: Int64) -> Double {
    let span = Int64(1) << 32
    guard let last = lastTime else {
      lastTime = (units, Double(units) * TransportFeedback.unit)
      return Double(units) * TransportFeedback.unit
    }
    var difference = (units - last.units) % span
    if difference > span / 2 { difference -= span }
    if difference < -span / 2 { difference += span }
    let seconds = last.seconds + Double(difference) * TransportFeedback.unit
    lastTime = (units, seconds)
    return seconds
  }
}

/// The rate by the losses that a peer reports, which a peer without transport-wide feedback is sent
/// (draft-ietf-rmcat-gcc-02, 6): it falls above a tenth of losses, and rises below a fiftieth. It
/// never exceeds the peer's own estimate.
struct LossBasedRate: Sendable {
  private let limits: CongestionController.Limits
  private var own: Double
  private var last: Double?
  /// The peer's estimate (REMB) in bits per second; infinite before the first.
  var limit = Double.infinity

  init(_ limits: CongestionController.Limits) {
    self.limits = limits
    own = min(max(limits.start, limits.minimum), limits.maximum)
  }

  var rate: Double { min(max(min(own, limit), limits.minimum), limits.maximum) }

  /// Takes the fraction of lost packets of a report.
  mutating func update(loss: Double, at time: Double) {
    // The factors are of reports a second apart, and browsers report more often.
    let elapsed = min(max(time - (last ?? time - 1), 0), 1)
    last = time
    if loss > 0.1 {
      own *= 1 - 0.5 * loss * elapsed
    } else if loss < 0.02 {
      own = own * (1 + 0.08 * elapsed) + 1000 * elapsed
    }
    own = min(max(own, limits.minimum), min(limits.maximum, limit * 1.5))
  }
}

/// The bits that were sent in the last second.
struct RecentBits: Sendable {
  private var entries: [(time: Double, bits: Int)] = []

  mutating func add(_ bits: Int, at time: Double) {
    if entries.count >= 4096 { entries.removeFirst(2048) }
    entries.append((time, bits))
  }

  /// The rate in bits per second.
  mutating func rate(at time: Double) -> Double {
    entries.removeAll { $0.time < time - 1 }
    return Double(entries.reduce(0) { $0 + $1.bits })
  }
}
