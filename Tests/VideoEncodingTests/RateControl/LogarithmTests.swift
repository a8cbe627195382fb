// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import VideoEncoding

/// The encoder's own logarithm and power of two, compared with those of the C library.
@Suite struct LogarithmTests {
  @Test("The base-2 logarithm is that of the C library, but for its last bits")
  func theBase2LogarithmIsThatOfTheCLibrary() {
    var x: Float = 1e-6
    while x < 1e9 {
      #expect(abs(log2Approx(x) - log2f(x)) < 2e-6 * max(1, abs(log2f(x))), "\(x)")
      x *= 1.013
    }
    for exponent in -20...30 { #expect(log2Approx(exp2f(Float(exponent))) == Float(exponent)) }
  }

  @Test("The power of two is that of the C library, but for its last bits")
  func thePowerOfTwoIsThatOfTheCLibrary() {
    for n in -4000...4000 {
      let x = Float(n) / 100
      #expect(abs(exp2Approx(x) / exp2f(x) - 1) < 1e-6, "\(x)")
    }
    for x in [-1e30, -126, 126, 1e30] as [Float] { #expect(exp2Approx(x).isFinite && exp2Approx(x) > 0) }
  }
}
