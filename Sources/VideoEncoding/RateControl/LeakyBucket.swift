// SPDX-License-Identifier: Apache-2.0

/// A leaky bucket: bits that are held between a source and a sink, one of which has a constant
/// rate.
///
/// A decoder's coded picture buffer fills at the rate and gives up access units (`fill(seconds:)`,
/// `remove(_:)`); a queue in front of a network link takes frames and empties at the rate
/// (`add(_:)`, `drain(seconds:)`).
struct LeakyBucket {
  /// The most bits that it holds; infinite where nothing limits it.
  private(set) var capacity: Double
  /// The constant rate, in bits per second.
  var rate: Double
  /// The bits that it holds, at most `capacity`. Below 0: bits were removed before they arrived.
  private(set) var fullness: Double

  /// Creates a bucket.
  /// - Parameters:
  ///   - capacity: the most bits that it holds.
  ///   - rate: the constant rate, in bits per second.
  ///   - fullness: the bits that it holds first; those beyond the capacity are lost.
  init(capacity: Double = .infinity, rate: Double, fullness: Double = 0) {
    self.capacity = capacity
    self.rate = rate
    self.fullness = min(fullness, capacity)
  }

  /// Adds bits, or takes a negative number away.
  /// - Returns: the bits that overflowed and are lost.
  @discardableResult
  mutating func add(_ bits: Double) -> Double {
    let sum = fullness + bits
    fullness = min(sum, capacity)
    return sum - fullness
  }

  /// Removes bits, whether they have arrived or not.
  mutating func remove(_ bits: Double) { fullness -= bits }

  /// Lets the bits of some seconds arrive; a negative number takes back time that has not passed.
  mutating func fill(seconds: Double) { fullness = min(fullness + rate * seconds, capacity) }

  /// Lets the bits of some seconds leave, as far as there are any.
  mutating func drain(seconds: Double) { fullness = max(fullness - rate * seconds, 0) }

  /// Loses the bits beyond a number.
  mutating func clamp(to maximum: Double) { fullness = min(fullness, maximum) }

  /// The bits beyond `maximum` that there would be if `bits` were removed and the bits of some
  /// seconds arrived; a negative number is free room.
  func excess(over maximum: Double, removing bits: Double, seconds: Double) -> Double {
    fullness + rate * seconds - bits - maximum
  }
}
