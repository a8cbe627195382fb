// SPDX-License-Identifier: Apache-2.0

/// The sum of a changing list of durations, which is updated rather than computed again where
/// possible.
struct DurationSum {
  // The numbers of durations that are not numeric: these determine the sum whatever the others are.
  private var invalid = 0
  private var positive = 0
  private var negative = 0
  private var indefinite = 0
  /// The number of numeric durations with the flag `hasBeenRounded`.
  private var rounded = 0
  /// The sum of the numeric durations; nil if it has to be computed from the list.
  private var numbers: CMTime? = CMTime.zero

  mutating func add(_ duration: CMTime) {
    guard let number = count(duration, 1) else { return }
    numbers = numbers.map { $0 + number }
  }

  mutating func remove(_ duration: CMTime) {
    guard let number = count(duration, -1) else { return }
    // If the difference is not exact, the sum is computed from the list when it is needed.
    numbers = numbers.map { $0 - number }.flatMap { $0.isNumeric && !$0.hasBeenRounded ? $0 : nil }
  }

  /// Returns the sum.
  /// - Parameter durations: All durations of the list, in order, from which the sum is computed if
  ///   necessary.
  mutating func total(_ durations: some Sequence<CMTime>) -> CMTime {
    if invalid > 0 || positive > 0 && negative > 0 { return .invalid }
    if positive > 0 { return .positiveInfinity }
    if negative > 0 { return .negativeInfinity }
    if indefinite > 0 { return .indefinite }
    var sum = numbers ?? durations.reduce(.zero) { $0 + Self.exact($1) }
    numbers = sum
    if rounded > 0, sum.isNumeric { sum.flags.insert(.hasBeenRounded) }
    return sum
  }

  /// Updates the counters of durations that are not numeric; returns the duration if it is numeric.
  private mutating func count(_ duration: CMTime, _ step: Int) -> CMTime? {
    if !duration.isValid {
      invalid += step
    } else if duration.isPositiveInfinity {
      positive += step
    } else if duration.isNegativeInfinity {
      negative += step
    } else if duration.isIndefinite {
      indefinite += step
    } else if duration.timescale <= 0 {
      invalid += step
    } else {
      if duration.hasBeenRounded { rounded += step }
      return Self.exact(duration)
    }
    return nil
  }

  private static func exact(_ duration: CMTime) -> CMTime {
    var exact = duration
    exact.flags.remove(.hasBeenRounded)
    return exact
  }
}
