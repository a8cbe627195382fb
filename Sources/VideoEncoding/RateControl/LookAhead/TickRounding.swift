// SPDX-License-Identifier: Apache-2.0

/// Rounds the durations of frames to clock ticks. What a duration loses or gains is carried over to
/// the next one, so that all times stay within half a tick of the time stamps.
package struct TickRounding {
  /// The duration of a clock tick in seconds.
  private let tick: Double
  /// The seconds by which the durations so far exceed the rounded ones; negative where they fall
  /// short of them.
  private var carried = 0.0

  /// The least duration that the look-ahead counts, in seconds.
  package static let shortest = 1e-4

  /// - Parameter tick: the duration of a clock tick in seconds.
  package init(tick: Double) { self.tick = tick }

  /// Sets the time of the first frame in seconds. Ticks are counted from 0.
  package mutating func begin(at seconds: Double) {
    let rest = seconds - (seconds / tick).rounded() * tick
    carried = rest.isFinite ? rest : 0
  }

  /// The longest duration that the look-ahead counts: a frame before a long pause does not get the
  /// bits of the whole pause.
  /// - Parameter usual: the frame interval of the configuration in seconds.
  package static func longest(usual: Double) -> Double { max(1, 3 * usual) }

  /// Rounds the duration of the next frame.
  /// - Parameters:
  ///   - seconds: the duration in seconds; beyond the shortest and the longest one those count.
  ///   - usual: the frame interval of the configuration in seconds.
  /// - Returns: a whole number of ticks, in seconds.
  package mutating func round(_ seconds: Double, usual: Double) -> Double {
    let longest = Self.longest(usual: usual)
    let wanted = min(max(seconds, Self.shortest), longest) + carried
    let maximum = max((longest / tick + 1e-6).rounded(.down), 1)
    let minimum = min(max((Self.shortest / tick - 1e-6).rounded(.up), 1), maximum)
    let rounded = min(max((wanted / tick).rounded(), minimum), maximum) * tick
    carried = wanted - rounded
    return rounded
  }
}
