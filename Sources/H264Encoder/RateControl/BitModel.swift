// SPDX-License-Identifier: Apache-2.0
/// How many bits a picture takes at a QP, from what `PreAnalysis` saw of it.
///
/// Each macroblock of residual energy E (SATD at half size) takes, up to one factor for the whole picture,
/// log2(1 + (E / (x0 step))^g)^p: a source below the dead zone takes nothing, one far above it a constant for each
/// doubling. So the exponent by which bits fall with the step follows from the picture itself. x0, g and p were fitted
/// on P pictures of ten clips at QP 22 to 38; the same function and nearly the same factor hold for intra pictures.
enum BitModel {
  private static let (x0, g, p) = (73.7, 2.095, 0.735)
  /// Of a macroblock without residual.
  private static let least = 0.0013
  /// Bits for each unit of the sum, before anything is known of a stream.
  static let usualRatio = 240.0

  /// For each QP what a macroblock of each bin takes.
  private static let table: [SIMD32<Float>] = (0...51).map { qp in
    let step = 0.625 * exp2Approx(Double(qp) / 6)
    var costs = SIMD32<Float>()
    for bin in 0..<ResidualHistogram.bins {
      let energy = exp2Approx((Double(bin) + 0.5) / 2) - 1
      let relative = exp2Approx(g * log2Approx(energy / (step * x0)))
      let doublings = log2Approx(1 + relative)
      costs[bin] = Float(exp2Approx(p * log2Approx(doublings)) + least)
    }
    return costs
  }

  /// Bits over the picture's factor, at the nearest QP of 0 to 51.
  static func units(_ histogram: ResidualHistogram, _ qp: Int) -> Double {
    max(Double((histogram.counts * table[min(max(qp, 0), 51)]).sum()), 1e-6)
  }

  /// Bits over the picture's factor.
  static func units(_ histogram: ResidualHistogram, qp: Double) -> Double {
    let low = qp.rounded(.down)
    let a = units(histogram, Int(low))
    let part = qp - low
    if part == 0 { return a }
    let b = units(histogram, Int(low) + 1)
    return a + (b - a) * part
  }

  /// The QP, 0 to 51, at which the picture takes so many units.
  static func qp(_ histogram: ResidualHistogram, units wanted: Double) -> Double {
    var low = 0
    var high = 51
    var atLow = units(histogram, low)
    var atHigh = units(histogram, high)
    if atLow <= wanted { return 0 }
    if atHigh >= wanted { return 51 }
    while high - low > 1 {
      let middle = (low + high) / 2
      let here = units(histogram, middle)
      if here > wanted {
        low = middle
        atLow = here
      } else {
        high = middle
        atHigh = here
      }
    }
    return Double(low) + (atLow - wanted) / max(atLow - atHigh, 1e-9)
  }
}

/// The factor between the model's units and bits, learned as a mean of logarithms.
struct BitRatio {
  private(set) var logarithm = log2Approx(BitModel.usualRatio)
  private(set) var isKnown = false

  var value: Double { exp2Approx(logarithm) }

  /// - Parameter weight: of this picture against all before it, 0...1.
  mutating func learn(bits: Double, units: Double, weight: Double) {
    guard bits > 0, units > 0 else { return }
    // A factor of 2^5 either way is no picture's any more.
    let seen = min(max(log2Approx(bits / units), 3), 13)
    logarithm += (seen - logarithm) * (isKnown ? weight : max(weight, 0.6))
    isKnown = true
  }

  /// What is known of another kind of picture is a guess for this one, so many doublings above it.
  init() {}
  init(guess: BitRatio, by factor: Double = 0) { logarithm = guess.logarithm + factor }
}
