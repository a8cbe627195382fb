// SPDX-License-Identifier: Apache-2.0
/// Estimates how many bits a picture takes at a QP, from the histogram of its residual
/// (`ResidualHistogram`).
///
/// A macroblock whose residual has the energy E (SATD at half size) takes log2(1 + (E / (x0
/// step))^g)^p units, where `step` is the quantiser step; one factor per picture (`BitRatio`)
/// converts units to bits. A residual below the dead zone takes nothing; far above it, each
/// doubling of E takes about the same number of bits. How fast bits fall with the step therefore
/// follows from the picture itself. x0, g and p were fitted to P pictures of ten clips at QP 22 to
/// 38; the same function and nearly the same factor hold for intra pictures.
enum BitModel {
  /// The constants of the model.
  private static let (x0, g, p) = (73.7, 2.095, 0.735)
  /// The units of a macroblock without residual.
  private static let least = 0.0013
  /// The bits per unit before anything is known of a stream.
  static let typicalRatio = 240.0

  /// The highest QP of either standard.
  static let highestQP = 51
  /// The units of a macroblock, by QP and by the bin of its residual. Rate controls may plan with
  /// a QP above the highest one (`LowLatencySettings.coarsestQP`).
  private static let table: [SIMD32<Float>] = (0...71).map { qp in
    let step = 0.625 * exp2Approx(Double(qp) / 6)
    // The first bin holds macroblocks without residual, which take nothing even at QP 0.
    var costs = SIMD32<Float>(repeating: Float(least))
    for bin in 1..<ResidualHistogram.bins {
      let energy = exp2Approx((Double(bin) + 0.5) / 2) - 1
      let relative = exp2Approx(g * log2Approx(energy / (step * x0)))
      let doublings = log2Approx(1 + relative)
      costs[bin] = Float(exp2Approx(p * log2Approx(doublings)) + least)
    }
    return costs
  }

  /// The units of a picture whose macroblocks have no residual.
  static func leastUnits(_ histogram: ResidualHistogram) -> Double {
    least * Double(histogram.counts.sum())
  }

  /// The units of a picture at the nearest QP from 0 to `highest`, at most 71.
  static func units(_ histogram: ResidualHistogram, _ qp: Int, highest: Int = highestQP) -> Double {
    max(Double((histogram.counts * table[min(max(qp, 0), highest)]).sum()), 1e-6)
  }

  /// The units of a picture at a QP, interpolated between whole QPs.
  static func units(_ histogram: ResidualHistogram, qp: Double, highest: Int = highestQP) -> Double {
    let low = qp.rounded(.down)
    let a = units(histogram, Int(low), highest: highest)
    let part = qp - low
    if part == 0 { return a }
    let b = units(histogram, Int(low) + 1, highest: highest)
    return a + (b - a) * part
  }

  /// How much the bits of a picture say of those of others with residual, 0 to 1.
  ///
  /// A picture without a residual in the model (black, still, or a fade that weighted prediction
  /// predicts) says nothing of those that have one.
  /// - Parameter units: its units at its QP.
  static func informativeness(_ histogram: ResidualHistogram, units: Double) -> Double {
    let perMacroblock = units / max(Double(histogram.counts.sum()), 1) - least
    return min(max(perMacroblock / informativeUnits, 0), 1)
  }

  /// The units per macroblock, beyond those without residual, from which on a picture counts in
  /// full.
  private static let informativeUnits = 0.01
  /// The informativeness below which nothing is learned from a picture.
  static let leastInformativeness = 0.01

  /// The QP, 0 to `highest`, at which a picture takes a number of units.
  static func qp(
    _ histogram: ResidualHistogram, units wanted: Double, highest: Int = highestQP
  ) -> Double {
    var low = 0
    var high = highest
    var atLow = units(histogram, low)
    var atHigh = units(histogram, high, highest: highest)
    if atLow <= wanted { return 0 }
    if atHigh >= wanted { return Double(highest) }
    while high - low > 1 {
      let middle = (low + high) / 2
      let here = units(histogram, middle, highest: highest)
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

/// The factor from units of `BitModel` to bits, learned as a moving mean of logarithms.
struct BitRatio {
  /// The base-2 logarithm of the factor.
  private(set) var logarithm = log2Approx(BitModel.typicalRatio)
  /// How much of a picture the factor has been learned from, 0 to 1.
  private var knowledge = 0.0
  /// Whether the factor has been learned from a picture.
  var isKnown: Bool { knowledge >= 0.5 }

  /// The bits per unit.
  var value: Double { exp2Approx(logarithm) }

  /// Learns from a picture.
  /// - Parameters:
  ///   - bits: the bits that the picture took.
  ///   - units: its units at its QP.
  ///   - weight: the weight of this picture against all before it, 0 to 1; the first picture has
  ///     0.6 at least.
  ///   - informativeness: how much the picture says, 0 to 1: the weights are for 1.
  mutating func learn(bits: Double, units: Double, weight: Double, informativeness: Double = 1) {
    guard bits > 0, units > 0 else { return }
    // Factors beyond 2^3 to 2^13 are outliers: 2^8 is usual.
    let seen = min(max(log2Approx(bits / units), 3), 13)
    let first = max(weight, BitRatio.firstWeight)
    logarithm += (seen - logarithm) * informativeness * (first + (weight - first) * knowledge)
    knowledge = min(knowledge + informativeness, 1)
  }

  private static let firstWeight = 0.6

  /// Begins with the factor `BitModel.typicalRatio`.
  init() {}
  /// An initial guess from another type of picture, `factor` doublings above its factor.
  init(guess: BitRatio, by factor: Double = 0) { logarithm = guess.logarithm + factor }
}
