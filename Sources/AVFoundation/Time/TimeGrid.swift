// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Times at a regular distance.
enum TimeGrid {
  /// The first of `start`, `start + step`, `start + 2 step`, ... that is later than `time`, without walking there.
  /// Where there are too many steps to count exactly, the grid begins anew one step after `time`.
  static func first(after time: CMTime, from start: CMTime, every step: CMTime) -> CMTime {
    guard start <= time, step > .zero else { return start }
    let count = ((time - start).seconds / step.seconds).rounded(.down)
    guard count < Double(Int32.max) else { return time + step }
    var next = start + CMTimeMultiply(step, multiplier: Int32(clamping: count))
    // The quotient is rounded: at most a step is missing, or two.
    var attempts = 0
    while next <= time, attempts < 4 {
      next = next + step
      attempts += 1
    }
    return next > time ? next : time + step
  }

  /// A time so and so often; without bound to the factor, but rounded where the product is too large to be exact.
  static func multiple(_ step: CMTime, _ count: Int64) -> CMTime {
    if let factor = Int32(exactly: count) { return CMTimeMultiply(step, multiplier: factor) }
    let (value, overflow) = step.value.multipliedReportingOverflow(by: count)
    guard step.isNumeric, !overflow else { return CMTimeMultiplyByFloat64(step, multiplier: Double(count)) }
    return CMTime(value: value, timescale: step.timescale)
  }

  /// The next multiple of `step` after `time`, or before it if time runs backward. Never `time` itself, nor one behind:
  /// where multiples are too large to be told apart, the one a step further on.
  static func multiple(of step: CMTime, beyond time: CMTime, isBackward: Bool) -> CMTime {
    let quotient = time.seconds / step.seconds
    if isBackward {
      let next = multiple(step, Int64(clamping: (quotient - 1e-9).rounded(.up)).subtractingClamped(1))
      return next.isNumeric && next < time ? next : time - step
    }
    let next = multiple(step, Int64(clamping: (quotient + 1e-9).rounded(.down)).addingClamped(1))
    return next.isNumeric && next > time ? next : time + step
  }
}
