// SPDX-License-Identifier: Apache-2.0
/// What a receiver lacks, and when it asks for it (generic NACK: RFC 4585, 6.2.1). The round trip is measured on what
/// comes back, as RFC 6298 does it: only of packets that were asked for once.
public struct RetransmissionRequests: Sendable {
  private struct Missing: Sendable {
    /// When it is due to be asked for, for the first time or again.
    var due: Double
    var lastAsked = 0.0
    var times = 0
  }

  /// Seconds from a request to the packet, smoothed.
  public private(set) var roundTrip: Double
  private var variation: Double
  private var isMeasured = false
  /// When that was asked whose answer was measured last.
  private var lastSampled = -Double.infinity
  /// Seconds that a packet may be late before it counts as missing.
  public var tolerance: Double
  private var unwrapper = SequenceUnwrapper()
  private var highest: Int64?
  private var missing: [Int64: Missing] = [:]
  /// The last number that was guessed at, and when.
  private var guessed = (end: Int64.min, time: 0.0)
  /// Packets that are asked for at most: after an outage longer than that a new picture is cheaper.
  public static let mostMissing = 256
  /// Packets beyond the newest that one sent once more may be: as many as are guessed at, or copied unasked, at the end of a frame.
  static let mostSentUnasked: Int64 = 16
  /// Seconds between packets that are sent again for one request: a second copy goes 12 ms behind the first.
  private static let spread = 0.02
  /// How often a packet is asked for.
  public static let mostTimes = 4

  /// - Parameter roundTrip: A guess, until there is a measurement.
  public init(roundTrip: Double, tolerance: Double = 0) {
    self.roundTrip = roundTrip
    self.tolerance = tolerance
    variation = roundTrip / 8
  }

  /// Takes note of a round trip that was measured in another way: a guess that is too short is never put right by what
  /// comes back, since each packet is asked for twice then.
  public mutating func note(roundTrip trip: Double) {
    guard !isMeasured || trip > 1.5 * roundTrip else { return }
    roundTrip = trip
    variation = trip / 8
  }

  /// Seconds after which a request counts as lost.
  public var interval: Double { max(roundTrip * 1.1, roundTrip + 4 * variation) + 0.005 }

  /// Seconds to wait for a missing packet before going on without it: as long as two requests take.
  public var patience: Double { tolerance + interval + roundTrip + 2 * variation + 0.005 }

  /// Takes note of a packet that came in the usual way.
  /// - Parameter isBehindSilence: nothing has come for longer than frames take: what is missing was not overtaken.
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
    guard sequence - last <= Self.mostMissing else {
      missing.removeAll()
      return false
    }
    // The end of a burst: what was asked for while it lasted is most likely lost again.
    if sequence - last > 2 {
      for (asked, entry) in missing where entry.times > 0 {
        missing[asked]?.due = min(entry.due, max(time + tolerance, entry.lastAsked + roundTrip))
      }
    }
    for lacking in (last + 1)..<sequence {
      // What was guessed at is on its way, or lost again; behind a silence most likely that.
      missing[lacking] =
        lacking <= guessed.end && !isBehindSilence
        ? Missing(due: max(time + tolerance, guessed.time + roundTrip), lastAsked: guessed.time, times: 1)
        : Missing(due: time + tolerance)
    }
    trim()
    return sequence > last + 1
  }

  private mutating func trim() {
    let excess = missing.count - Self.mostMissing
    if excess > 0 { for oldest in missing.keys.sorted().prefix(excess) { missing[oldest] = nil } }
  }

  /// Takes note of a packet that was sent once more.
  public mutating func addRetransmitted(_ number: UInt16, at time: Double) {
    let sequence = unwrapper.unwrap(number)
    if let last = highest, sequence > last, sequence - last <= Self.mostSentUnasked {
      // What was guessed at came, and what is before it was lost again.
      highest = sequence
      for lacking in (last + 1)..<sequence { missing[lacking] = Missing(due: time + tolerance) }
      trim()
      return
    }
    guard let entry = missing.removeValue(forKey: sequence), entry.times == 1 else { return }
    expectOthers(of: entry.lastAsked, than: unwrapper.unwrap(number), at: time)
    // The first packet of a request says how long asking takes; the others only how many were asked for.
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

  /// What was asked for at once comes in order: what should have come before is lost once more, and what comes behind is on
  /// its way, however long the request is.
  private mutating func expectOthers(of asked: Double, than number: Int64, at time: Double) {
    let others = missing.filter { $0.value.lastAsked == asked && $0.value.times == 1 }
    // Of a few a second copy may come.
    let wait = others.count < 2 ? Self.spread : min(tolerance, Self.spread)
    for (other, entry) in others {
      missing[other]?.due =
        other < number ? min(entry.due, time + wait) : max(entry.due, time + 2 * Self.spread)
    }
  }

  /// The numbers of so many packets that should have come behind the newest, to be asked for now. They may not exist: what
  /// comes of it says nothing of the round trip.
  public mutating func guess(_ count: Int, at time: Double) -> [UInt16] {
    guard let last = highest else { return [] }
    guessed = (last + Int64(count), time)
    lastSampled = max(lastSampled, time)
    return (0..<Int64(count)).map { UInt16(truncatingIfNeeded: last + 1 + $0) }
  }

  /// Takes note of a packet that was brought back without asking.
  public mutating func addRecovered(_ number: UInt16) { missing[unwrapper.unwrap(number)] = nil }

  /// Forgets what is before a packet: it was given up.
  public mutating func giveUp(before sequence: Int64) {
    guard !missing.isEmpty else { return }
    missing = missing.filter { $0.key >= sequence }
  }

  /// When ``take(at:)`` has something to ask for; nil if never.
  public var deadline: Double? {
    missing.values.lazy.filter { $0.times < Self.mostTimes }.map(\.due).min()
  }

  /// The numbers of the packets to ask for now, the lowest first.
  public mutating func take(at time: Double) -> [UInt16] {
    let due = missing.filter { $0.value.times < Self.mostTimes && $0.value.due <= time + 1e-9 }.keys.sorted()
    let again = time + interval
    for sequence in due {
      missing[sequence]?.times += 1
      missing[sequence]?.lastAsked = time
      missing[sequence]?.due = again
    }
    return due.map { UInt16(truncatingIfNeeded: $0) }
  }
}
