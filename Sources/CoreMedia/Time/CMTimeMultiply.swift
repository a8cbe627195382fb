// SPDX-License-Identifier: Apache-2.0
import CoreFoundation

// An infinite time stays infinite whatever it is multiplied by, its sign following the operands' signs
// (zero counts as positive).

/// The product of a time and a whole number, in the same timescale unless that overflows: then the
/// timescale is halved until the value fits.
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

/// `time` x `multiplier` / `divisor`, exact if it can be: the value times `multiplier`, the timescale times
/// `divisor`, and in lowest terms if those do not fit.
///
/// If the exact result cannot be expressed, it is rounded in the finest timescale that holds it.
/// A divisor of zero gives an infinity, or an invalid time if `time` or `multiplier` is zero as well.
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

/// The product of a time and a floating-point number.
///
/// The timescale is the time's, doubled until it is at least 65536, then halved until the value fits.
/// The product is the exact one, rounded once.
@discardableResult
public func CMTimeMultiplyByFloat64(_ time: CMTime, multiplier: Float64) -> CMTime {
  guard !multiplier.isNaN else { return .invalid }
  let sign = multiplier < 0 ? -1 : 1
  if let special = time.product(sign: sign) { return special }
  guard multiplier.isFinite else {
    return time.value == 0 ? .invalid : .infinity(Int(time.value.signum()) * sign)
  }
  // multiplier = significand x 2^exponent, with a whole significand.
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

/// `factor` x 2^`exponent` x `scale` / `divisor`, rounded to the nearest whole number, halves up, and whether
/// it is exact; nil if it is 2^64 or more.
private func divide(
  _ factor: UInt128, shiftedBy exponent: Int, times scale: Int64, by divisor: Int64
) -> (UInt64, exact: Bool)? {
  guard factor != 0 else { return (0, true) }
  let (high, low) = factor.multipliedFullWidth(by: UInt128(scale))
  let d = UInt128(divisor)
  let whole: UInt128
  /// Of what is shifted out: whether it is half or more, and whether it is anything at all.
  var (half, any) = (false, false)
  if exponent >= 0 {
    // 2^96 and more is out of reach whatever the divisor.
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
  /// The product where no number is involved: invalid, infinite or indefinite. Nil for a time that is a number.
  fileprivate func product(sign: Int) -> CMTime? {
    guard isValid else { return .invalid }
    if infinity != 0 { return .infinity(infinity * sign) }
    if isIndefinite { return .indefinite }
    return timescale > 0 ? nil : .invalid
  }
}
