// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

/// The rounding of a value between two units of a timescale.
public enum CMTimeRoundingMethod: UInt32, Sendable {
  case roundHalfAwayFromZero = 1
  case roundTowardZero = 2
  case roundAwayFromZero = 3
  /// Rounds toward zero for a coarser timescale and away from zero for a finer one. A negative time
  /// never becomes zero.
  case quickTime = 4
  case roundTowardPositiveInfinity = 5
  case roundTowardNegativeInfinity = 6

  public static var `default`: CMTimeRoundingMethod { .roundHalfAwayFromZero }
}

/// Returns a time in another timescale, with the flag `hasBeenRounded` if it had to be rounded.
///
/// A time that is not numeric is returned unchanged. If the value does not fit, the result is
/// infinite; if a timescale is not positive, it is invalid.
@discardableResult
public func CMTimeConvertScale(_ time: CMTime, timescale newTimescale: Int32, method: CMTimeRoundingMethod)
  -> CMTime
{
  guard time.isNumeric else { return time }
  if time.timescale == newTimescale { return time }
  guard newTimescale > 0, time.timescale > 0 else { return .invalid }
  let old = Int128(time.timescale)
  let (quotient, remainder) = (Int128(time.value) * Int128(newTimescale)).quotientAndRemainder(
    dividingBy: old)
  var value = quotient
  if remainder != 0 {
    let away: Int128 = remainder.signum()
    switch method {
    case .roundHalfAwayFromZero: if remainder.magnitude * 2 >= old.magnitude { value += away }
    case .roundTowardZero: break
    case .roundAwayFromZero: value += away
    case .quickTime:
      if newTimescale > time.timescale || (value == 0 && remainder < 0) { value += away }
    case .roundTowardPositiveInfinity: if remainder > 0 { value += 1 }
    case .roundTowardNegativeInfinity: if remainder < 0 { value -= 1 }
    }
  }
  guard let result = CMTimeValue(exactly: value) else { return .infinity(time.value < 0 ? -1 : 1) }
  return CMTime(
    value: result, timescale: newTimescale,
    flags: remainder == 0 ? time.numericFlags : time.numericFlags.union(.hasBeenRounded), epoch: time.epoch)
}

extension CMTime {
  /// Returns the time in another timescale; see `CMTimeConvertScale`.
  public func convertScale(_ newTimescale: Int32, method: CMTimeRoundingMethod) -> CMTime {
    CMTimeConvertScale(self, timescale: newTimescale, method: method)
  }
}
