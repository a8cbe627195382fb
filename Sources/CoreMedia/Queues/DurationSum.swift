// SPDX-License-Identifier: Apache-2.0

/// The sum of durations that come and go, without adding them all up again for each that goes.
struct DurationSum {
  // Those that are no numbers decide the sum whatever the others are: they are counted.
  private var invalid = 0
  private var positive = 0
  private var negative = 0
  private var indefinite = 0
  /// How many of the numbers have been rounded.
  private var rounded = 0
  /// Of the numbers; nil if it has to be added up again.
  private var numbers: CMTime? = CMTime.zero

  mutating func add(_ duration: CMTime) {
    guard let number = count(duration, 1) else { return }
    numbers = numbers.map { $0 + number }
  }

  mutating func remove(_ duration: CMTime) {
    guard let number = count(duration, -1) else { return }
    // What cannot be subtracted exactly is added up again when somebody asks.
    numbers = numbers.map { $0 - number }.flatMap { $0.isNumeric && !$0.hasBeenRounded ? $0 : nil }
  }

  /// The sum; `durations` are those that are there, in order.
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

  /// Counts what a duration is; returns it if it is a number.
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
