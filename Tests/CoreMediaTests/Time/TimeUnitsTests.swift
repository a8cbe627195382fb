// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import Testing

/// Times as numbers of units, for code that counts.
@Suite struct TimeUnitsTests {
  @Test func whatIsBeyondTheTypeIsItsEnd() {
    let far = CMTime(value: 1 << 40, timescale: 1)
    #expect(far.units(1_000_000_000, .default) == .max)
    #expect((.zero - far).units(1_000_000_000, .default) == .min)
    #expect(CMTime.positiveInfinity.units(600, .default) == .max)
    #expect(CMTime.negativeInfinity.units(600, .default) == .min)
    #expect(CMTime.invalid.units(600, .default) == 0 && CMTime.indefinite.units(600, .default) == 0)
  }

  @Test func timesWithinTheTypeAreRounded() {
    let time = CMTime(value: -1, timescale: 3)
    #expect(time.units(100, .roundHalfAwayFromZero) == -33)
    #expect(time.units(100, .roundTowardNegativeInfinity) == -34)
    #expect(CMTime(value: 7, timescale: 30).units(90_000, .default) == 21_000)
  }
}
