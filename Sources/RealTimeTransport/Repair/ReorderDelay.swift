// SPDX-License-Identifier: Apache-2.0
/// Measures by how long packets arrive after others that were sent after them: the time that a
/// receiver must wait before a gap in the sequence numbers counts as a loss.
struct ReorderDelay: Sendable {
  /// The range of `timeout`, in seconds.
  private static let range = 0.01...0.1
  /// The time in seconds in which the weight of a measurement falls to one half.
  private static let halfLife = 5.0
  /// The largest number of gaps that are remembered.
  private static let maxGaps = 256

  private var unwrapper = SequenceUnwrapper()
  private var highest: Int64?
  /// When each missing packet was first found missing, by its sequence number.
  private var gaps: [Int64: Double] = [:]
  /// The longest delay of a packet in seconds, which decreases with time.
  private var latest = 0.0
  private var lastTime: Double?

  /// Creates a measurement.
  /// - Parameter start: The value of `timeout` in seconds, before any measurement.
  init(start: Double) { latest = start / 1.25 }

  /// The time in seconds that a receiver should wait.
  var timeout: Double { min(max(latest * 1.25, Self.range.lowerBound), Self.range.upperBound) }

  /// Records a packet that has arrived and was sent for the first time.
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
    guard sequence - last <= Self.maxGaps else {
      gaps.removeAll()
      return
    }
    for missing in (last + 1)..<sequence { gaps[missing] = time }
    if gaps.count > Self.maxGaps {
      // Packets that are missing for so long are lost.
      let limit = sequence - Int64(Self.maxGaps)
      gaps = gaps.filter { $0.key > limit }
    }
  }
}
