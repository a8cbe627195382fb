// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// A valid time of `value` / `timescale` seconds in epoch zero.
@discardableResult
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime {
  CMTime(value: value, timescale: timescale)
}

/// A valid time of `value` / `timescale` seconds in an epoch.
@discardableResult
public func CMTimeMakeWithEpoch(value: Int64, timescale: Int32, epoch: Int64) -> CMTime {
  CMTime(value: value, timescale: timescale, flags: .valid, epoch: epoch)
}

/// A number of seconds as a time: as many whole units of the timescale as there are in it, towards
/// zero.
///
/// The preferred timescale is halved as often as it takes for the value to fit. The flag
/// `hasBeenRounded` is set if the time, turned back into seconds, is not the same number.
/// - Returns: an invalid time if the timescale is not positive or the number is not one; infinity
///   for an infinite number or one that does not fit as whole seconds.
@discardableResult
public func CMTimeMakeWithSeconds(_ seconds: Float64, preferredTimescale: Int32) -> CMTime {
  .make(seconds: seconds, timescale: preferredTimescale, .towardZero)
}

extension CMTime {
  fileprivate static func make(
    seconds: Double, timescale preferredTimescale: Int32, _ rounding: FloatingPointRoundingRule
  ) -> CMTime {
    guard preferredTimescale > 0, !seconds.isNaN else { return .invalid }
    var timescale = preferredTimescale
    while timescale > 0, seconds.isFinite {
      let scaled = (seconds * Double(timescale)).rounded(rounding)
      if let value = CMTimeValue(exactly: scaled) {
        var time = CMTime(value: value, timescale: timescale)
        if CMTimeGetSeconds(time) != seconds { time.flags.insert(.hasBeenRounded) }
        return time
      }
      timescale /= 2
    }
    return .infinity(seconds < 0 ? -1 : 1)
  }

  /// The time that is nearest to a number of seconds that was computed: `CMTimeMakeWithSeconds`
  /// makes a unit less of what lies a last digit below a whole number.
  package init(nearest seconds: Double, preferredTimescale: CMTimeScale) {
    self = .make(seconds: seconds, timescale: preferredTimescale, .toNearestOrAwayFromZero)
  }
}

/// A time in seconds: infinite for an infinite time, NaN for one that is invalid or indefinite.
@discardableResult
public func CMTimeGetSeconds(_ time: CMTime) -> Float64 {
  if time.isNumeric, time.timescale != 0 { return Double(time.value) / Double(time.timescale) }
  return time.isPositiveInfinity ? .infinity : time.isNegativeInfinity ? -.infinity : .nan
}

/// The absolute value of a time. A time that is not numeric is returned as it is, except that
/// negative infinity becomes positive.
@discardableResult
public func CMTimeAbsoluteValue(_ time: CMTime) -> CMTime {
  if time.isNegativeInfinity { return .positiveInfinity }
  guard time.isNumeric, time.value < 0 else { return time }
  return .make(
    numerator: -Int128(time.value), denominator: Int64(max(time.timescale, 1)),
    timescale: Int64(time.timescale), flags: time.numericFlags, epoch: time.epoch)
}

extension CMTime {
  /// A number of seconds, as `CMTimeMakeWithSeconds`.
  public init(seconds: Double, preferredTimescale: CMTimeScale) {
    self = CMTimeMakeWithSeconds(seconds, preferredTimescale: preferredTimescale)
  }

  /// The time in seconds, as `CMTimeGetSeconds`.
  public var seconds: Double { CMTimeGetSeconds(self) }
}
