// SPDX-License-Identifier: Apache-2.0
/// What may be sent again of what a receiver asks for: a share of the rate, and what has been saved up for a burst of losses.
/// A receiver that asks for more, because the path is worse than repair can help or because it wants a flood, is not given it.
/// It has no clock: times are in seconds, rates in bits a second.
public struct RepairBudget: Sendable {
  /// Of the rate. With forward error correction at its strongest the encoder keeps two fifths.
  public static let share = 1.0 / 3
  /// Seconds of the whole rate that a burst may take at once: it is repaired as long as it is young enough to be shown.
  private static let burstSpan = 0.5
  /// Bits that a burst may take at any rate: sixteen large packets.
  private static let leastBurst = 16.0 * 1200 * 8

  /// What is left, and when that was; nil is all that a burst may take.
  private var state: (bits: Double, time: Double)?
  /// Packets that were asked for and not sent again, since there was nothing left for them.
  public private(set) var refused = 0

  public init() {}

  /// Asks for a packet to be sent again.
  /// - Parameters:
  ///   - bits: of the packet.
  ///   - rate: what the path takes and the receiver wants, of media and repair together.
  /// - Returns: Whether it may be sent, which is counted then.
  public mutating func take(bits: Int, rate: Double, at time: Double) -> Bool {
    let most = max(Self.burstSpan * rate, Self.leastBurst)
    let saved = state.map { $0.bits + max(time - $0.time, 0) * Self.share * rate } ?? most
    let left = min(saved, most)
    let isGiven = left >= Double(bits)
    state = (isGiven ? left - Double(bits) : left, max(time, state?.time ?? time))
    if !isGiven { refused += 1 }
    return isGiven
  }
}
