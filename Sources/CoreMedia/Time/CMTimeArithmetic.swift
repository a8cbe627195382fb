// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// Arithmetic follows the rules of Apple's documentation:
// - The timescale of a result is the least common multiple of the operands' timescales, limited to
//   `kCMTimeMaxTimescale`. If the value overflows, the timescale is halved until it fits.
// - Results are computed exactly and rounded at most once.
// - A time whose timescale is not positive has no numeric value: arithmetic with it is invalid.

/// Returns the sum of two times. Times in different epochs cannot be added unless one epoch is
/// zero. The sum of two times in the same epoch is a duration, in epoch zero.
@discardableResult
public func CMTimeAdd(_ lhs: CMTime, _ rhs: CMTime) -> CMTime {
  let both = lhs.flags.rawValue | rhs.flags.rawValue
  if lhs.timescale == rhs.timescale, both & ~2 == 1, lhs.flags.rawValue & rhs.flags.rawValue & 1 == 1,
    lhs.epoch | rhs.epoch == 0, lhs.timescale > 0
  {
    let (sum, overflow) = lhs.value.addingReportingOverflow(rhs.value)
    if !overflow {
      return CMTime(value: sum, timescale: lhs.timescale, flags: CMTimeFlags(rawValue: both), epoch: 0)
    }
  }
  return CMTimeCombine(lhs, rhs, negated: false)
}

/// Returns the difference of two times, by the rules of `CMTimeAdd`.
@discardableResult
public func CMTimeSubtract(_ lhs: CMTime, _ rhs: CMTime) -> CMTime {
  let both = lhs.flags.rawValue | rhs.flags.rawValue
  if lhs.timescale == rhs.timescale, both & ~2 == 1, lhs.flags.rawValue & rhs.flags.rawValue & 1 == 1,
    lhs.epoch | rhs.epoch == 0, lhs.timescale > 0
  {
    let (difference, overflow) = lhs.value.subtractingReportingOverflow(rhs.value)
    if !overflow {
      return CMTime(value: difference, timescale: lhs.timescale, flags: CMTimeFlags(rawValue: both), epoch: 0)
    }
  }
  return CMTimeCombine(lhs, rhs, negated: true)
}

/// Returns `a + b`, or `a - b` if `negated` is true, in the general case.
private func CMTimeCombine(_ a: CMTime, _ b: CMTime, negated: Bool) -> CMTime {
  guard a.isValid, b.isValid else { return .invalid }
  let flags = a.flags.union(b.flags).intersection([.valid, .hasBeenRounded])
  switch (a.infinity, negated ? -b.infinity : b.infinity) {
  case (0, 0): break
  case (let x, let y) where x == 0 || y == 0 || x == y: return .infinity(x + y)
  default: return .invalid
  }
  guard !a.isIndefinite, !b.isIndefinite else { return .indefinite }
  guard a.epoch == b.epoch || a.epoch == 0 || b.epoch == 0 else { return .invalid }
  guard a.timescale > 0, b.timescale > 0 else { return .invalid }
  let epoch = a.epoch == b.epoch ? 0 : a.epoch | b.epoch

  let (ta, tb) = (Int64(a.timescale), Int64(b.timescale))
  let common = leastCommonMultiple(ta, tb)
  let x = Int128(a.value) * Int128(common / ta)
  let y = Int128(b.value) * Int128(common / tb)
  return .make(
    numerator: negated ? x - y : x + y, denominator: common, timescale: min(common, CMTime.maximumTimescale),
    flags: flags, epoch: epoch)
}

extension CMTime {
  static let maximumTimescale = Int64(kCMTimeMaxTimescale)

  /// 1 for positive infinity, -1 for negative infinity, otherwise 0.
  var infinity: Int { isPositiveInfinity ? 1 : isNegativeInfinity ? -1 : 0 }

  static func infinity(_ sign: Int) -> CMTime { sign > 0 ? .positiveInfinity : .negativeInfinity }

  var numericFlags: CMTimeFlags { flags.intersection([.valid, .hasBeenRounded]) }

  /// Returns `numerator` / `denominator` seconds in a timescale. If the value does not fit, the
  /// timescale is halved until it does; if it never fits, the result is infinite.
  ///
  /// `denominator` is positive and at most 2^62, and `numerator` x `timescale` fits into 128 bits.
  static func make(
    numerator: Int128, denominator: Int64, timescale: Int64, flags: CMTimeFlags, epoch: CMTimeEpoch
  ) -> CMTime {
    var scale = timescale
    while scale > 0 {
      let (value, exact) = divide(numerator, by: Int128(denominator), times: Int128(scale))
      if let value = CMTimeValue(exactly: value) {
        return CMTime(
          value: value, timescale: CMTimeScale(scale), flags: exact ? flags : flags.union(.hasBeenRounded),
          epoch: epoch)
      }
      scale /= 2
    }
    return .infinity(Int(numerator.signum()))
  }

  /// Returns the integer nearest to `numerator` x `scale` / `denominator`, with halves rounded away
  /// from zero, and whether it is exact.
  private static func divide(_ numerator: Int128, by denominator: Int128, times scale: Int128) -> (
    Int128, Bool
  ) {
    if scale == denominator { return (numerator, true) }
    // Whole seconds and the remainder are multiplied separately, so that the product cannot
    // overflow.
    let (seconds, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: scale)
    guard !overflow else { return (seconds < 0 ? .min : .max, false) }
    let (part, remainder) = (rest * scale).quotientAndRemainder(dividingBy: denominator)
    let up: Int128 = remainder.magnitude * 2 >= denominator.magnitude ? remainder.signum() : 0
    return (whole + part + up, remainder == 0)
  }
}

func greatestCommonDivisor<T: BinaryInteger>(_ a: T, _ b: T) -> T {
  var (a, b) = (a, b)
  while b != 0 { (a, b) = (b, a % b) }
  return a
}

func leastCommonMultiple(_ a: Int64, _ b: Int64) -> Int64 {
  a / greatestCommonDivisor(a, b) * b
}
