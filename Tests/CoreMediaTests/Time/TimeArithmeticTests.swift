// SPDX-License-Identifier: Apache-2.0
import BigInt
import CoreMedia
import Testing

/// How many random pairs each property is checked on; the environment may ask for more.
private let pairs = ProcessInfo.processInfo.environment["OVT_TIME_PAIRS"].flatMap { Int($0) } ?? 25_000

@Suite struct TimeArithmeticTests {
  @Test func sumsAndDifferencesAgreeWithTheModel() {
    var random = RandomTimes(seed: 1)
    for _ in 0..<pairs {
      let (a, b) = (random.time(), random.time())
      let (sum, difference) = (CMTimeAdd(a, b), CMTimeSubtract(a, b))
      guard same(sum, TimeModel.add(a, b)), same(difference, TimeModel.add(a, b, sign: -1)) else {
        Issue.record("\(a) and \(b): \(sum), \(difference); model \(TimeModel.add(a, b))")
        return
      }
    }
  }

  @Test func orderAgreesWithTheModel() {
    var random = RandomTimes(seed: 2)
    for i in 0..<pairs {
      let a = random.time()
      var b = random.time()
      // Every other time something very near.
      if i & 1 == 0 { b = CMTimeConvertScale(a, timescale: b.timescale, method: .default) }
      guard b.isNumeric else { continue }
      guard CMTimeCompare(a, b) == TimeModel.compare(a, b), CMTimeCompare(b, a) == -CMTimeCompare(a, b) else {
        Issue.record("\(a) and \(b): \(CMTimeCompare(a, b))")
        return
      }
      if a == b, a.hashValue != b.hashValue {
        Issue.record("\(a) and \(b) are equal but hash differently")
        return
      }
    }
  }

  @Test(arguments: [
    CMTimeRoundingMethod.roundHalfAwayFromZero, .roundTowardZero, .roundAwayFromZero, .quickTime,
    .roundTowardPositiveInfinity, .roundTowardNegativeInfinity,
  ]) func conversionAgreesWithTheModel(method: CMTimeRoundingMethod) {
    var random = RandomTimes(seed: 3)
    for _ in 0..<pairs / 6 {
      let (a, scale) = (random.time(), random.timescale())
      let result = CMTimeConvertScale(a, timescale: scale, method: method)
      guard same(result, TimeModel.convert(a, scale, method)) else {
        Issue.record("\(a) to \(scale): \(result), model \(TimeModel.convert(a, scale, method))")
        return
      }
    }
  }

  @Test func productsAgreeWithTheModel() {
    var random = RandomTimes(seed: 4)
    for i in 0..<pairs {
      let a = random.time()
      let factor = Int32(truncatingIfNeeded: random.value())
      guard same(CMTimeMultiply(a, multiplier: factor), TimeModel.multiply(a, factor)) else {
        Issue.record("\(a) x \(factor): \(CMTimeMultiply(a, multiplier: factor))")
        return
      }
      // The model is slow with these.
      guard i & 3 == 0 else { continue }
      // Every other multiplier of any magnitude that can matter.
      let significand = 1 + Double(random.next() >> 12) * 0x1p-52
      var multiplier = Double(sign: .plus, exponent: Int(random.next() % 400) - 200, significand: significand)
      if i & 4 == 0 { multiplier = Double(random.value()) / Double(random.timescale()) }
      let result = CMTimeMultiplyByFloat64(a, multiplier: multiplier)
      guard same(result, TimeModel.multiply(a, by: multiplier)) else {
        Issue.record("\(a) x \(multiplier): \(result), model \(TimeModel.multiply(a, by: multiplier))")
        return
      }
    }
  }

  @Test func ratiosAreExactOrSayThatTheyAreNot() {
    var random = RandomTimes(seed: 5)
    for _ in 0..<pairs {
      let a = CMTime(value: random.value(), timescale: random.timescale())
      let (m, d) = (Int32(truncatingIfNeeded: random.value()), Int32(truncatingIfNeeded: random.value()))
      guard d != 0 else { continue }
      let result = CMTimeMultiplyByRatio(a, multiplier: m, divisor: d)
      // a x m / d as a fraction, and how far the result is from it.
      let numerator = BigInt(a.value) * BigInt(m) * (d < 0 ? -1 : 1)
      let denominator = BigInt(a.timescale) * BigInt(d.magnitude)
      guard result.isNumeric else {
        #expect(numerator.magnitude > denominator.magnitude * BigUInt(Int64.max) * 9 / 10)
        continue
      }
      let error = BigInt(result.value) * denominator - numerator * BigInt(result.timescale)
      guard result.hasBeenRounded == (error != 0), 2 * error.magnitude <= denominator.magnitude else {
        Issue.record("\(a) x \(m) / \(d): \(result)")
        return
      }
    }
  }
}
