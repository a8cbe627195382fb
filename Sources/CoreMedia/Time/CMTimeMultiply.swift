// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// The product with an infinite time is infinite. Its sign is the product of the signs of the
// operands, where zero counts as positive.

/// Returns the product of a time and an integer. The timescale is kept unless the value overflows,
/// in which case it is halved until the value fits.
@discardableResult
public func CMTimeMultiply(_ time: CMTime, multiplier: Int32) -> CMTime {
  if let special = time.product(sign: multiplier < 0 ? -1 : 1) { return special }
  let (value, overflow) = time.value.multipliedReportingOverflow(by: Int64(multiplier))
  if !overflow {
    return CMTime(value: value, timescale: time.timescale, flags: time.numericFlags, epoch: time.epoch)
  }
  return .make(
    numerator: Int128(time.value) * Int128(multiplier), denominator: Int64(time.timescale),
    timescale: Int64(time.timescale), flags: time.numericFlags, epoch: time.epoch)
}

/// Returns `time` x `multiplier` / `divisor`, exactly if possible. The value is multiplied by
/// `multiplier` and the timescale by `divisor`; if those do not fit, the fraction is reduced to
/// lowest terms.
///
/// If the exact result cannot be represented, it is rounded in the finest timescale in which it
/// fits. A divisor of zero gives an infinite time, or an invalid time if `time` or `multiplier` is
/// zero as well.
@discardableResult
public func CMTimeMultiplyByRatio(_ time: CMTime, multiplier: Int32, divisor: Int32) -> CMTime {
  let sign = (multiplier < 0) != (divisor < 0) ? -1 : 1
  if let special = time.product(sign: sign) { return special }
  guard divisor != 0 else {
    guard multiplier != 0, time.value != 0 else { return .invalid }
    return .infinity(Int(time.value.signum()) * sign)
  }
  let numerator = Int128(time.value) * Int128(multiplier.magnitude) * Int128(sign)
  let denominator = Int64(time.timescale) * Int64(divisor.magnitude)
  if denominator <= CMTime.maximumTimescale, let value = CMTimeValue(exactly: numerator) {
    return CMTime(
      value: value, timescale: CMTimeScale(denominator), flags: time.numericFlags, epoch: time.epoch)
  }
  let common = Int64(greatestCommonDivisor(numerator.magnitude, UInt128(denominator)))
  return .make(
    numerator: numerator / Int128(common), denominator: denominator / common,
    timescale: denominator / common <= CMTime.maximumTimescale
      ? denominator / common : CMTime.maximumTimescale,
    flags: time.numericFlags, epoch: time.epoch)
}

/// Returns the product of a time and a floating-point number.
///
/// The timescale is that of the time, doubled until it is at least 65536, and then halved until the
/// value fits. The product is computed exactly and rounded once.
@discardableResult
public func CMTimeMultiplyByFloat64(_ time: CMTime, multiplier: Float64) -> CMTime {
  guard !multiplier.isNaN else { return .invalid }
  let sign = multiplier < 0 ? -1 : 1
  if let special = time.product(sign: sign) { return special }
  guard multiplier.isFinite else {
    return time.value == 0 ? .invalid : .infinity(Int(time.value.signum()) * sign)
  }
  // multiplier = significand x 2^exponent, where the significand is an integer.
  let significand =
    multiplier == 0 ? 0 : UInt64(multiplier.significand * 0x1p52)
  let exponent = multiplier == 0 ? 0 : Int(multiplier.exponent) - 52
  let factor = UInt128(time.value.magnitude) * UInt128(significand)
  let negative = (time.value < 0) != (sign < 0)

  var scale = Int64(time.timescale)
  while scale < 65536 { scale *= 2 }
  while scale > 0 {
    if let (magnitude, exact) = divide(factor, shiftedBy: exponent, times: scale, by: Int64(time.timescale)),
      let value = Int64(exactly: negative ? -Int128(magnitude) : Int128(magnitude))
    {
      return CMTime(
        value: value, timescale: CMTimeScale(scale),
        flags: exact ? time.numericFlags : time.numericFlags.union(.hasBeenRounded), epoch: time.epoch)
    }
    scale /= 2
  }
  return .infinity(negative ? -1 : 1)
}

/// Returns `factor` x 2^`exponent` x `scale` / `divisor`, rounded to the nearest integer with
/// halves rounded up, and whether it is exact. Nil if it is 2^64 or more.
private func divide(
  _ factor: UInt128, shiftedBy exponent: Int, times scale: Int64, by divisor: Int64
) -> (UInt64, exact: Bool)? {
  guard factor != 0 else { return (0, true) }
  let (high, low) = factor.multipliedFullWidth(by: UInt128(scale))
  let d = UInt128(divisor)
  let whole: UInt128
  /// Whether the bits that are shifted out are at least a half, and whether any of them is set.
  var (half, any) = (false, false)
  if exponent >= 0 {
    // A value of 2^96 or more is too large whatever the divisor is.
    guard high == 0, exponent < 96, low.leadingZeroBitCount >= 32 + exponent else { return nil }
    whole = low << UInt128(exponent)
  } else {
    let shift = -exponent
    guard shift < 192 else { return (0, false) }
    if shift <= 128 {
      guard shift == 128 || high >> UInt128(shift) == 0 else { return nil }
      whole = (low >> UInt128(shift)) | (high << UInt128(128 - shift))
      half = low >> UInt128(shift - 1) & 1 == 1
      any = low << UInt128(128 - shift) != 0
    } else {
      whole = high >> UInt128(shift - 128)
      half = high >> UInt128(shift - 129) & 1 == 1
      any = low != 0 || high << UInt128(256 - shift) != 0
    }
  }
  let (quotient, remainder) = whole.quotientAndRemainder(dividingBy: d)
  let up = remainder * 2 >= d || (remainder * 2 == d - 1 && half)
  guard let result = UInt64(exactly: quotient + (up ? 1 : 0)) else { return nil }
  return (result, remainder == 0 && !any)
}

extension CMTime {
  /// Returns the product if the time is not a number: invalid, infinite or indefinite. Nil for a
  /// number.
  fileprivate func product(sign: Int) -> CMTime? {
    guard isValid else { return .invalid }
    if infinity != 0 { return .infinity(infinity * sign) }
    if isIndefinite { return .indefinite }
    return timescale > 0 ? nil : .invalid
  }
}
