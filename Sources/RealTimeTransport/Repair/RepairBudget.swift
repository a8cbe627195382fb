// SPDX-License-Identifier: Apache-2.0
/// Limits the retransmissions to a receiver: to a fraction of the rate, plus what has been saved up
/// for a burst of losses. So a receiver cannot cause a flood, on purpose or because the path is
/// worse than repair can help. It has no clock. Times are in seconds, rates in bits per second.
public struct RepairBudget: Sendable {
  /// The fraction of the rate that retransmissions may take in the long run. With forward error
  /// correction at its strongest the encoder keeps two fifths.
  public static let share = 1.0 / 3
  /// The largest number of bits that can be saved up, in seconds of the entire rate: a burst is
  /// repaired while it is recent enough to be shown.
  private static let burstSpan = 0.5
  /// The least number of bits that can be saved up, whatever the rate: sixteen large packets.
  private static let minBurst = 16.0 * 1200 * 8

  /// The number of bits that were saved up, and when; nil before the first request, when all that
  /// can be saved up is available.
  private var state: (bits: Double, time: Double)?
  /// The number of packets that were asked for and not sent again because the budget was spent.
  public private(set) var refused = 0

  public init() {}

  /// Takes the bits of a retransmission from the budget.
  /// - Parameters:
  ///   - bits: The size of the packet.
  ///   - rate: The rate that the path carries and the receiver wants, of media and repair together.
  ///   - time: The current time.
  /// - Returns: Whether the packet may be sent.
  public mutating func spend(bits: Int, rate: Double, at time: Double) -> Bool {
    let maximum = max(Self.burstSpan * rate, Self.minBurst)
    let saved = state.map { $0.bits + max(time - $0.time, 0) * Self.share * rate } ?? maximum
    let left = min(saved, maximum)
    let isGiven = left >= Double(bits)
    state = (isGiven ? left - Double(bits) : left, max(time, state?.time ?? time))
    if !isGiven { refused += 1 }
    return isGiven
  }
}
