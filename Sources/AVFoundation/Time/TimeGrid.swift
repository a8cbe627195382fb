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
}
