// SPDX-License-Identifier: Apache-2.0
/// The packets that a receiver lacks, and the times to ask for them (generic NACK: RFC 4585,
/// 6.2.1). The round trip is measured on the retransmissions as RFC 6298 does it, with packets that
/// were asked for once only. Times are in seconds.
public struct RetransmissionRequests: Sendable {
  private struct Missing: Sendable {
    /// When to ask for the packet next.
    var due: Double
    /// When it was asked for last, and how often.
    var lastAsked = 0.0
    var times = 0
  }

  /// The smoothed time from a request to the retransmission.
  public private(set) var roundTrip: Double
  /// The smoothed deviation of `roundTrip` (RTTVAR of RFC 6298).
  private var variation: Double
  private var isMeasured = false
  /// The time of the request whose answer was measured last.
  private var lastSampled = -Double.infinity
  /// The time by which a packet may be late before it counts as missing.
  public var tolerance: Double
  private var unwrapper = SequenceUnwrapper()
  /// The highest sequence number that has arrived, unwrapped.
  private var highest: Int64?
  /// The missing packets, by unwrapped sequence number.
  private var missing: [Int64: Missing] = [:]
  /// The highest sequence number that `guess` has asked for, and when it did.
  private var guessed = (end: Int64.min, time: 0.0)
  /// The largest number of missing packets: after a longer outage a new picture costs less.
  public static let maxMissing = 256
  /// How far a retransmission's sequence number may exceed the highest one that has arrived: at the
  /// end of a frame, so many packets are guessed at, or copied without a request.
  static let maxUnrequestedDistance: Int64 = 16
  /// The time within which the retransmissions of one request arrive: a second copy is sent 12 ms
  /// after the first.
  private static let spread = 0.02
  /// The largest number of requests for one packet.
  public static let maxRequestsPerPacket = 4

  /// Creates a list without missing packets.
  /// - Parameters:
  ///   - roundTrip: An estimate of the round trip, until there is a measurement.
  ///   - tolerance: The time by which a packet may be late.
  public init(roundTrip: Double, tolerance: Double = 0) {
    self.roundTrip = roundTrip
    self.tolerance = tolerance
    variation = roundTrip / 8
  }

  /// Records a round trip that was measured in another way. An estimate that is too short is not
  /// corrected by retransmissions, because each packet is then asked for twice.
  /// - Parameter rtt: The round trip.
  public mutating func note(roundTrip rtt: Double) {
    guard !isMeasured || rtt > 1.5 * roundTrip else { return }
    roundTrip = rtt
    variation = rtt / 8
  }

  /// The time after which a request counts as lost.
  public var interval: Double { max(roundTrip * 1.1, roundTrip + 4 * variation) + 0.005 }

  /// The time to wait for a missing packet before decoding continues without it: as long as two
  /// requests take.
  public var timeout: Double { tolerance + interval + roundTrip + 2 * variation + 0.005 }

  /// Records a packet that has arrived and was sent for the first time.
  /// - Parameters:
  ///   - number: Its sequence number.
  ///   - time: When it arrived.
  ///   - isBehindSilence: Whether no packet had arrived for longer than usual, so that missing
  ///     packets are lost rather than late.
  /// - Returns: Whether packets before it are missing that were not known to be.
  @discardableResult
  public mutating func add(_ number: UInt16, at time: Double, isBehindSilence: Bool = false) -> Bool {
    let sequence = unwrapper.unwrap(number)
    missing[sequence] = nil
    guard let last = highest else {
      highest = sequence
      return false
    }
    guard sequence > last else { return false }
    highest = sequence
    let tolerance = isBehindSilence ? 0 : tolerance
    guard sequence - last <= Self.maxMissing else {
      missing.removeAll()
      return false
    }
    // This is the end of a burst: packets that were asked for during it were most likely lost
    // again.
    if sequence - last > 2 {
      for (asked, entry) in missing where entry.times > 0 {
        missing[asked]?.due = min(entry.due, max(time + tolerance, entry.lastAsked + roundTrip))
      }
    }
    for toRequest in (last + 1)..<sequence {
      // Packets that were guessed at are on their way, or lost again; after a silence most likely
      // lost.
      missing[toRequest] =
        toRequest <= guessed.end && !isBehindSilence
        ? Missing(due: max(time + tolerance, guessed.time + roundTrip), lastAsked: guessed.time, times: 1)
        : Missing(due: time + tolerance)
    }
    trim()
    return sequence > last + 1
  }

  /// Removes the oldest missing packets if there are too many.
  private mutating func trim() {
    let excess = missing.count - Self.maxMissing
    if excess > 0 { for oldest in missing.keys.sorted().prefix(excess) { missing[oldest] = nil } }
  }

  /// Records a retransmission that has arrived.
  /// - Parameters:
  ///   - number: The sequence number of the original packet.
  ///   - time: When the retransmission arrived.
  public mutating func addRetransmitted(_ number: UInt16, at time: Double) {
    let sequence = unwrapper.unwrap(number)
    if let last = highest, sequence > last, sequence - last <= Self.maxUnrequestedDistance {
      // A packet that was guessed at has arrived, and those before it were lost again.
      highest = sequence
      for toRequest in (last + 1)..<sequence { missing[toRequest] = Missing(due: time + tolerance) }
      trim()
      return
    }
    guard let entry = missing.removeValue(forKey: sequence), entry.times == 1 else { return }
    expectOthers(of: entry.lastAsked, than: unwrapper.unwrap(number), at: time)
    // Only the first retransmission of a request measures the round trip; those after it wait for
    // each other.
    guard entry.lastAsked > lastSampled else { return }
    lastSampled = entry.lastAsked
    let sample = time - entry.lastAsked
    if isMeasured {
      variation += (abs(sample - roundTrip) - variation) / 4
      roundTrip += (sample - roundTrip) / 8
    } else {
      isMeasured = true
      roundTrip = sample
      variation = sample / 8
    }
  }

  /// Corrects the times of the other packets of a request. Their retransmissions come in order:
  /// those that should have come before this one were lost again, and those after it are on their
  /// way, however long the request is.
  private mutating func expectOthers(of asked: Double, than number: Int64, at time: Double) {
    let others = missing.filter { $0.value.lastAsked == asked && $0.value.times == 1 }
    // Of a few packets a second copy may still arrive.
    let wait = others.count < 2 ? Self.spread : min(tolerance, Self.spread)
    for (other, entry) in others {
      missing[other]?.due =
        other < number ? min(entry.due, time + wait) : max(entry.due, time + 2 * Self.spread)
    }
  }

  /// Asks for packets after the newest one, which should have arrived. They may not exist, so that
  /// the round trip is not measured with them.
  /// - Parameters:
  ///   - count: The number of packets.
  ///   - time: The current time.
  /// - Returns: Their sequence numbers.
  public mutating func guess(_ count: Int, at time: Double) -> [UInt16] {
    guard let last = highest else { return [] }
    guessed = (last + Int64(count), time)
    lastSampled = max(lastSampled, time)
    return (0..<Int64(count)).map { UInt16(truncatingIfNeeded: last + 1 + $0) }
  }

  /// Records a packet that was recovered without a request, by forward error correction.
  /// - Parameter number: Its sequence number.
  public mutating func addRecovered(_ number: UInt16) { missing[unwrapper.unwrap(number)] = nil }

  /// Whether a packet was asked for and has not arrived.
  /// - Parameter number: The sequence number.
  package func isAwaited(_ number: UInt16) -> Bool {
    guard let highest else { return false }
    let sequence = highest + Int64(Int16(bitPattern: number &- UInt16(truncatingIfNeeded: highest)))
    return (missing[sequence]?.times ?? 0) > 0
  }

  /// Forgets the missing packets before a sequence number, which are no longer needed.
  /// - Parameter sequence: The sequence number, unwrapped.
  public mutating func giveUp(before sequence: Int64) {
    guard !missing.isEmpty else { return }
    missing = missing.filter { $0.key >= sequence }
  }

  /// The time when ``nextRequests(at:)`` has packets to ask for; nil if there are none.
  public var deadline: Double? {
    missing.values.lazy.filter { $0.times < Self.maxRequestsPerPacket }.map(\.due).min()
  }

  /// Returns the sequence numbers of the packets to ask for now, in ascending order, and records
  /// the request.
  /// - Parameter time: The current time.
  public mutating func nextRequests(at time: Double) -> [UInt16] {
    let due = missing.filter { $0.value.times < Self.maxRequestsPerPacket && $0.value.due <= time + 1e-9 }
      .keys.sorted()
    let again = time + interval
    for sequence in due {
      missing[sequence]?.times += 1
      missing[sequence]?.lastAsked = time
      missing[sequence]?.due = again
    }
    return due.map { UInt16(truncatingIfNeeded: $0) }
  }
}
