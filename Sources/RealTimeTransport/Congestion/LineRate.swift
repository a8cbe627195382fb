// SPDX-License-Identifier: Apache-2.0
/// Estimates the capacity of a path's slowest line, whoever else uses it: packets that are sent
/// back to back, as those of a frame, arrive with the spacing of their transmission times on that
/// line (Dovrolis, Ramanathan, Moore, "Packet-Dispersion Techniques and a Capacity-Estimation
/// Methodology", 2004). Sums over many packets are used, because receivers report times in units of
/// 1/1024 s. Times are in seconds.
struct LineRate: Sendable {
  /// The longest time between two packets that count as sent back to back.
  static let together = 0.001
  /// The factor of `sums` after each packet, so that about a hundred packets count.
  private static let memory = 0.99
  /// The least and the largest number of packets in `newest`, and their highest age.
  private static let newestCount = 3...8
  private static let newestSpan = 0.12
  /// The fraction of the usual rate below which the rate of the newest packets means that the line
  /// has become slower.
  private static let slower = 0.75
  /// The longest pause that counts, as a multiple of the usual one.
  private static let longest = 8.0
  /// The time for which a line that has become slower is not steady.
  private static let changeSpan = 1.0
  /// The least sum of pauses from which a rate is computed.
  private static let minSpan = 0.01

  /// The factor of `late` after each packet, so that about ten packets count; and the factor by
  /// which their rate must exceed the usual one for the line to have become faster.
  private static let (lateMemory, faster) = (0.9, 1.6)

  /// The decaying sums of bits and pauses over about a hundred packets.
  private var sums = (bits: 0.0, span: 0.0)
  /// The decaying sums of bits and pauses over about ten packets.
  private var late = (bits: 0.0, span: 0.0)
  /// The newest packets, one by one.
  private var newest: [(time: Double, bits: Double, pause: Double)] = []
  /// When the line last became slower.
  private var slowed = -Double.infinity

  /// The capacity in bits per second; nil if no packets are sent back to back, or they arrive
  /// without spacing.
  var bitsPerSecond: Double? { sums.span > Self.minSpan ? sums.bits / sums.span : nil }

  /// Records a packet that was sent back to back with the one before it.
  /// - Parameters:
  ///   - bits: The size of the packet.
  ///   - pause: The time from the arrival of the packet before it to its own, not negative.
  ///   - time: When it arrived.
  /// - Returns: Whether the line has become faster.
  @discardableResult mutating func add(bits: Int, pause: Double, at time: Double) -> Bool {
    newest.removeAll { $0.time < time - Self.newestSpan }
    if newest.count == Self.newestCount.upperBound { newest.removeFirst() }
    newest.append((time, Double(bits), pause))
    // A single pause in which something stalled must not outweigh a hundred; a slower line shows in
    // `newest`.
    let counted = bitsPerSecond.map { min(pause, Self.longest * Double(bits) / $0) } ?? pause
    sums = (sums.bits * Self.memory + Double(bits), sums.span * Self.memory + counted)
    late = (late.bits * Self.lateMemory + Double(bits), late.span * Self.lateMemory + counted)
    // On a line that has become faster only the last packets count: otherwise the estimate would be
    // too low for seconds.
    guard late.span > Self.minSpan, late.bits * sums.span > Self.faster * sums.bits * late.span else {
      return false
    }
    sums = late
    return true
  }

  /// Whether the line's rate has not fallen during the last second; nil where the newest packets do
  /// not tell. After a fall only the newest packets count.
  /// - Parameter time: When the newest packet arrived.
  mutating func isSteady(at time: Double) -> Bool? {
    newest.removeAll { $0.time < time - Self.newestSpan }
    var (bits, span) = newest.reduce((0.0, 0.0)) { ($0.0 + $1.bits, $0.1 + $1.pause) }
    // The longest pause is left out, because it may have another cause.
    if newest.count > Self.newestCount.lowerBound, let longest = newest.max(by: { $0.pause < $1.pause }) {
      (bits, span) = (bits - longest.bits, span - longest.pause)
    }
    guard newest.count >= Self.newestCount.lowerBound, span > 0, let currentRate = bitsPerSecond else {
      return nil
    }
    if bits / span <= Self.slower * currentRate {
      sums = (bits, span)
      slowed = time
    }
    // By absolute value, so that this ends even if the receiver's clock is set.
    return abs(time - slowed) > Self.changeSpan
  }
}
