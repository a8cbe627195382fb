// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Arithmetic on times at regular intervals.
enum TimeGrid {
  /// Returns the first of `start`, `start + step`, `start + 2 step`, ... that is later than `time`,
  /// in constant time. If the number of steps is too large to count exactly, the result is `time +
  /// step`.
  static func first(after time: CMTime, from start: CMTime, every step: CMTime) -> CMTime {
    guard start <= time, step > .zero else { return start }
    let count = ((time - start).seconds / step.seconds).rounded(.down)
    guard count < Double(Int32.max) else { return time + step }
    var next = start + CMTimeMultiply(step, multiplier: Int32(clamping: count))
    // The quotient is rounded, so that up to two steps may be missing.
    var attempts = 0
    while next <= time, attempts < 4 {
      next = next + step
      attempts += 1
    }
    return next > time ? next : time + step
  }

  /// Returns `step` multiplied by `count`. The result is rounded if the product is too large to be
  /// exact.
  static func multiple(_ step: CMTime, _ count: Int64) -> CMTime {
    if let factor = Int32(exactly: count) { return CMTimeMultiply(step, multiplier: factor) }
    let (value, overflow) = step.value.multipliedReportingOverflow(by: count)
    guard step.isNumeric, !overflow else { return CMTimeMultiplyByFloat64(step, multiplier: Double(count)) }
    return CMTime(value: value, timescale: step.timescale)
  }

  /// Returns the next multiple of `step` after `time`, or before it if `isBackward`. If multiples
  /// are too large to be distinguished, the result is one step from `time`, so that it always lies
  /// beyond it.
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
