// SPDX-License-Identifier: Apache-2.0
/// How long packets come after those that were sent behind them: what a receiver must wait before a gap is a loss.
struct ReorderDelay: Sendable {
  private static let range = 0.01...0.1
  /// Seconds in which what was seen counts half.
  private static let halfLife = 5.0
  private static let mostGaps = 256

  private var unwrapper = SequenceUnwrapper()
  private var highest: Int64?
  /// When a number was passed over first.
  private var gaps: [Int64: Double] = [:]
  private var latest = 0.0
  private var lastTime: Double?

  /// - Parameter start: seconds, before anything was seen.
  init(start: Double) { latest = start / 1.25 }

  /// Seconds.
  var patience: Double { min(max(latest * 1.25, Self.range.lowerBound), Self.range.upperBound) }

  /// Takes note of a packet that came as it was sent, not again.
  mutating func add(_ number: UInt16, at time: Double) {
    let elapsed = max(time - (lastTime ?? time), 0)
    lastTime = time
    latest *= max(1 - elapsed * 0.7 / Self.halfLife, 0)
    let sequence = unwrapper.unwrap(number)
    guard let last = highest else {
      highest = sequence
      return
    }
    guard sequence > last else {
      if let since = gaps.removeValue(forKey: sequence) { latest = max(latest, time - since) }
      return
    }
    highest = sequence
    guard sequence - last <= Self.mostGaps else {
      gaps.removeAll()
      return
    }
    for missing in (last + 1)..<sequence { gaps[missing] = time }
    if gaps.count > Self.mostGaps {
      // What did not come in so long is lost.
      let limit = sequence - Int64(Self.mostGaps)
      gaps = gaps.filter { $0.key > limit }
    }
  }
}
