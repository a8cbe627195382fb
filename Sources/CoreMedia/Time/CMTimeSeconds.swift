// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// Returns a valid time of `value` / `timescale` seconds in epoch zero.
@discardableResult
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime {
  CMTime(value: value, timescale: timescale)
}

/// Returns a valid time of `value` / `timescale` seconds in an epoch.
@discardableResult
public func CMTimeMakeWithEpoch(value: Int64, timescale: Int32, epoch: Int64) -> CMTime {
  CMTime(value: value, timescale: timescale, flags: .valid, epoch: epoch)
}

/// Returns a number of seconds as a time, rounded toward zero to units of the timescale.
///
/// The preferred timescale is halved until the value fits. The flag `hasBeenRounded` is set if the
/// time, converted back to seconds, differs from the number.
/// - Returns: Invalid if the timescale is not positive or the number is NaN; infinite for an
///   infinite number, or one that does not fit as whole seconds.
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

  /// Creates the time nearest to a computed number of seconds. In contrast, `CMTimeMakeWithSeconds`
  /// rounds toward zero, so that a rounding error just below an integral number of units costs a
  /// unit.
  package init(nearest seconds: Double, preferredTimescale: CMTimeScale) {
    self = .make(seconds: seconds, timescale: preferredTimescale, .toNearestOrAwayFromZero)
  }
}

/// Returns a time in seconds; infinite for an infinite time, NaN for an invalid or indefinite one.
@discardableResult
public func CMTimeGetSeconds(_ time: CMTime) -> Float64 {
  if time.isNumeric, time.timescale != 0 { return Double(time.value) / Double(time.timescale) }
  return time.isPositiveInfinity ? .infinity : time.isNegativeInfinity ? -.infinity : .nan
}

/// Returns the absolute value of a time. A time that is not numeric is returned unchanged, except
/// that negative infinity becomes positive infinity.
@discardableResult
public func CMTimeAbsoluteValue(_ time: CMTime) -> CMTime {
  if time.isNegativeInfinity { return .positiveInfinity }
  guard time.isNumeric, time.value < 0 else { return time }
  return .make(
    numerator: -Int128(time.value), denominator: Int64(max(time.timescale, 1)),
    timescale: Int64(time.timescale), flags: time.numericFlags, epoch: time.epoch)
}

extension CMTime {
  /// Creates a time from a number of seconds; see `CMTimeMakeWithSeconds`.
  public init(seconds: Double, preferredTimescale: CMTimeScale) {
    self = CMTimeMakeWithSeconds(seconds, preferredTimescale: preferredTimescale)
  }

  /// The time in seconds; see `CMTimeGetSeconds`.
  public var seconds: Double { CMTimeGetSeconds(self) }
}
