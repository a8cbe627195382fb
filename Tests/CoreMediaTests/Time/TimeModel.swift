// SPDX-License-Identifier: Apache-2.0
import BigInt
import CoreMedia

/// CMTime's rules over integers without bounds, written from the documentation alone.
enum TimeModel {
  static func add(_ a: CMTime, _ b: CMTime, sign: Int = 1) -> CMTime {
    let (ta, tb) = (BigInt(a.timescale), BigInt(b.timescale))
    let common = ta * tb / ta.greatestCommonDivisor(with: tb)
    let numerator = BigInt(a.value) * (common / ta) + BigInt(sign) * BigInt(b.value) * (common / tb)
    return fit(numerator, common, timescale: min(common, BigInt(Int32.max)), flags: a.flags.union(b.flags))
  }

  static func multiply(_ a: CMTime, _ factor: Int32) -> CMTime {
    fit(
      BigInt(a.value) * BigInt(factor), BigInt(a.timescale), timescale: BigInt(a.timescale), flags: a.flags)
  }

  static func multiply(_ a: CMTime, by multiplier: Double) -> CMTime {
    var numerator = BigInt(a.value)
    var denominator = BigInt(a.timescale)
    if multiplier != 0 {
      numerator *= BigInt(
        sign: multiplier < 0 ? .minus : .plus,
        magnitude: BigUInt(multiplier.significandBitPattern | (multiplier.isNormal ? 1 << 52 : 0)))
      let exponent = (multiplier.isNormal ? Int(multiplier.exponentBitPattern) : 1) - 1075
      if exponent >= 0 { numerator <<= exponent } else { denominator <<= -exponent }
    } else {
      numerator = 0
    }
    var timescale = BigInt(a.timescale)
    while timescale < 65536 { timescale *= 2 }
    return fit(numerator, denominator, timescale: timescale, flags: a.flags)
  }

  /// The first of the timescale and its halves that holds the rounded value, or an infinity.
  static func fit(_ numerator: BigInt, _ denominator: BigInt, timescale: BigInt, flags: CMTimeFlags) -> CMTime
  {
    var scale = timescale
    while scale > 0 {
      let (value, exact) = round(numerator * scale, denominator, .roundHalfAwayFromZero)
      if let value = Int64(exactly: value) {
        return CMTime(
          value: value, timescale: Int32(scale), flags: exact ? flags : flags.union(.hasBeenRounded), epoch: 0
        )
      }
      scale /= 2
    }
    return numerator > 0 ? .positiveInfinity : .negativeInfinity
  }

  static func convert(_ a: CMTime, _ timescale: Int32, _ method: CMTimeRoundingMethod) -> CMTime {
    var method = method
    let quickTime = method == .quickTime
    if quickTime { method = timescale > a.timescale ? .roundAwayFromZero : .roundTowardZero }
    var (value, exact) = round(BigInt(a.value) * BigInt(timescale), BigInt(a.timescale), method)
    if quickTime, value == 0, a.value < 0 { value = -1 }
    guard let value = Int64(exactly: value) else {
      return a.value > 0 ? .positiveInfinity : .negativeInfinity
    }
    return CMTime(
      value: value, timescale: timescale, flags: exact ? a.flags : a.flags.union(.hasBeenRounded), epoch: 0)
  }

  static func compare(_ a: CMTime, _ b: CMTime) -> Int32 {
    let x = BigInt(a.value) * BigInt(b.timescale)
    let y = BigInt(b.value) * BigInt(a.timescale)
    return x == y ? 0 : x < y ? -1 : 1
  }

  /// `numerator` / `denominator`, rounded to a whole number through floor and ceiling.
  static func round(_ numerator: BigInt, _ denominator: BigInt, _ method: CMTimeRoundingMethod) -> (
    BigInt, Bool
  ) {
    let floor = flooredQuotient(numerator, denominator)
    if floor * denominator == numerator { return (floor, true) }
    let ceiling = floor + 1
    switch method {
    case .roundTowardNegativeInfinity: return (floor, false)
    case .roundTowardPositiveInfinity: return (ceiling, false)
    case .roundTowardZero, .quickTime: return (numerator > 0 ? floor : ceiling, false)
    case .roundAwayFromZero: return (numerator > 0 ? ceiling : floor, false)
    case .roundHalfAwayFromZero:
      // Twice the distance to the floor against one whole.
      let twice = 2 * (numerator - floor * denominator)
      if twice == denominator { return (numerator > 0 ? ceiling : floor, false) }
      return (twice > denominator ? ceiling : floor, false)
    }
  }

  private static func flooredQuotient(_ a: BigInt, _ b: BigInt) -> BigInt {
    let quotient = a / b
    return a % b < 0 ? quotient - 1 : quotient
  }
}

/// Times that are alike as programs' times are, and others that are as unlike as can be.
struct RandomTimes {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  static let common: [Int32] = [
    1, 24, 25, 30, 600, 1000, 1001, 12800, 24000, 30000, 44100, 48000, 60000, 90000, 1_000_000, 1_000_000_000,
    .max, .max - 1, 1 << 30,
  ]

  mutating func timescale() -> Int32 {
    let pick = next()
    if pick & 1 == 0 { return Self.common[Int(next() % UInt64(Self.common.count))] }
    return max(1, Int32(truncatingIfNeeded: next() >> (33 + (pick >> 1) % 31)))
  }

  mutating func value() -> Int64 {
    let pick = next()
    if pick & 31 == 0 { return [.max, .min, .max - 1, .min + 1, 0, 1, -1][Int((pick >> 5) % 7)] }
    return Int64(bitPattern: next()) >> ((pick >> 5) % 64)
  }

  mutating func time() -> CMTime {
    var time = CMTime(value: value(), timescale: timescale())
    if next() & 15 == 0 { time.flags.insert(.hasBeenRounded) }
    return time
  }
}

/// Equal in every field.
func same(_ a: CMTime, _ b: CMTime) -> Bool {
  a.value == b.value && a.timescale == b.timescale && a.flags == b.flags && a.epoch == b.epoch
}
