// SPDX-License-Identifier: Apache-2.0
/// 2 to the power of x, without Foundation.
package func exp2Approx(_ x: Double) -> Double {
  let integerPart = x.rounded(.down)
  // The Taylor series of e^(part ln 2) for part in [0, 1): 12 terms have an error below 1e-9.
  let part = (x - integerPart) * 0.693147180559945309
  var term = 1.0
  var sum = 1.0
  for n in 1..<13 {
    term *= part / Double(n)
    sum += term
  }
  return Double(sign: .plus, exponent: Int(max(-1000, min(1000, integerPart))), significand: sum)
}

/// The base-2 logarithm of a number, without Foundation. Numbers that are not above 0 count as the
/// least normal number, and those that are not finite as the greatest one, so the result is always
/// finite.
package func log2Approx(_ number: Double) -> Double {
  let x = number.isFinite ? max(number, .leastNormalMagnitude) : .greatestFiniteMagnitude
  let exponent = Double(x.exponent)
  let m = x.significand  // 1 ..< 2
  // The series of atanh: ln m = 2 (t + t^3 / 3 + ...) with t = (m - 1) / (m + 1), 0 to 1/3.
  let t = (m - 1) / (m + 1)
  let t2 = t * t
  let ln = 2 * t * (1 + t2 * (1.0 / 3 + t2 * (1.0 / 5 + t2 * (1.0 / 7 + t2 / 9))))
  return exponent + ln * 1.4426950408889634
}

// The C library's log2f and exp2f differ in their last bits between systems, and streams with them.

/// The base-2 logarithm of a number, the same on all systems, with an error below 1e-6.
/// - Parameter x: a normal number above 0.
package func log2Approx(_ x: Float) -> Float {
  var exponent = Int(x.bitPattern >> 23) &- 127
  var m = Float(bitPattern: x.bitPattern & 0x7F_FFFF | 0x3F80_0000)
  if m > 1.41421356 {
    m *= 0.5
    exponent &+= 1
  }
  // The series of atanh: ln m = 2 (t + t^3 / 3 + ...) with t = (m - 1) / (m + 1), within 0.172.
  let t = (m - 1) / (m + 1)
  let t2 = t * t
  let ln = 2 * t * (1 + t2 * (1.0 / 3 + t2 * (1.0 / 5 + t2 * (1.0 / 7))))
  return Float(exponent) + ln * 1.44269504
}

/// 2 to the power of x, the same on all systems, with a relative error below 1e-6.
/// - Parameter x: the exponent; counts as -126 to 126 beyond these.
package func exp2Approx(_ x: Float) -> Float {
  let x = max(-126, min(126, x))
  let integerPart = (x + 0.5).rounded(.down)
  // The Taylor series of e^r, for r within 0.347.
  let r = (x - integerPart) * 0.693147181
  let series =
    1 + r * (1 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720))))))
  return series * Float(bitPattern: UInt32(Int(integerPart) &+ 127) << 23)
}
