// SPDX-License-Identifier: Apache-2.0
/// What the slowest line of a path carries, whoever else uses it: packets that are sent in one go, as those of a frame, come
/// as far apart as that line takes for each (Dovrolis, Ramanathan, Moore, "Packet-Dispersion Techniques and a
/// Capacity-Estimation Methodology", 2004). Sums of many are taken, since receivers tell times in 1024ths of a second.
struct LineRate: Sendable {
  /// Seconds between packets that are sent in one go, at most.
  static let together = 0.001
  /// What of the sums is left after each packet: some hundred packets count.
  private static let memory = 0.99
  /// Packets that the newest rate is of, at least and at most, and seconds that they are old at most.
  private static let newestCount = 3...8
  private static let newestSpan = 0.12
  /// Share of the usual rate below which the newest is that of a slower line.
  private static let slower = 0.75
  /// A pause counts for no more than so many usual ones.
  private static let longest = 8.0
  /// Seconds for which a line that has become slower is not steady.
  private static let changeSpan = 1.0
  /// Seconds that say something, at least.
  private static let leastSpan = 0.01

  /// What of the last packets' sums is left after each packet: some ten count; and the times that they must be faster than
  /// all for the line to have become so.
  private static let (lateMemory, faster) = (0.9, 1.6)

  private var sums = (bits: 0.0, span: 0.0)
  private var late = (bits: 0.0, span: 0.0)
  private var newest: [(time: Double, bits: Double, pause: Double)] = []
  /// When the line became slower.
  private var slowed = -Double.infinity

  /// Bits a second; nil where packets do not come together, or come at once.
  var bitsPerSecond: Double? { sums.span > Self.leastSpan ? sums.bits / sums.span : nil }

  /// Takes note of a packet that was sent together with the one before it.
  /// - Parameters:
  ///   - pause: seconds from the arrival of that one to its own, not negative.
  ///   - time: when it arrived.
  /// - Returns: whether the line has become faster.
  @discardableResult mutating func add(bits: Int, pause: Double, at time: Double) -> Bool {
    newest.removeAll { $0.time < time - Self.newestSpan }
    if newest.count == Self.newestCount.upperBound { newest.removeFirst() }
    newest.append((time, Double(bits), pause))
    // One pause in which something stood still is not to count for a hundred: a slower line shows in the newest.
    let counted = bitsPerSecond.map { min(pause, Self.longest * Double(bits) / $0) } ?? pause
    sums = (sums.bits * Self.memory + Double(bits), sums.span * Self.memory + counted)
    late = (late.bits * Self.lateMemory + Double(bits), late.span * Self.lateMemory + counted)
    // Of a line that has become faster only the last packets count: else it would be thought slow for seconds.
    guard late.span > Self.leastSpan, late.bits * sums.span > Self.faster * sums.bits * late.span else {
      return false
    }
    sums = late
    return true
  }

  /// Whether the line carries what it did during the last second; nil where the newest packets do not tell. Of one that has
  /// become slower only the newest packets count from now on.
  /// - Parameter time: of the newest arrival.
  mutating func isSteady(at time: Double) -> Bool? {
    newest.removeAll { $0.time < time - Self.newestSpan }
    var (bits, span) = newest.reduce((0.0, 0.0)) { ($0.0 + $1.bits, $0.1 + $1.pause) }
    // Something else may have been the reason for the longest.
    if newest.count > Self.newestCount.lowerBound, let longest = newest.max(by: { $0.pause < $1.pause }) {
      (bits, span) = (bits - longest.bits, span - longest.pause)
    }
    guard newest.count >= Self.newestCount.lowerBound, span > 0, let usual = bitsPerSecond else { return nil }
    if bits / span <= Self.slower * usual {
      sums = (bits, span)
      slowed = time
    }
    // Not for ever, should the other end's clock be set.
    return abs(time - slowed) > Self.changeSpan
  }
}
