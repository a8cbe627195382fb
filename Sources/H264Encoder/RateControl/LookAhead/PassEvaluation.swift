// SPDX-License-Identifier: Apache-2.0

extension StoredPass {
  /// Whether another pass, that knows this one, would serve a stream with an average rate better: this one has missed the
  /// rate, or pictures of some second are clearly coarser than they would be if all had the same quality.
  ///
  /// The pass is read once.
  /// - Parameter rate: the average that was asked for, in bits a second.
  public func isImprovable(rate: Double) -> Bool {
    guard count > 0, seconds > 0, rate > 0 else { return false }
    var bits = 0.0
    var all = cursor()
    while let picture = all.next() { bits += Double(picture.bits) }
    let tolerance = seconds < PassEvaluation.shortSeconds ? PassEvaluation.missOfShort : PassEvaluation.miss
    if abs(bits / (rate * seconds) - 1) > tolerance { return true }
    // Two pictures have no course over time.
    let even = RemainingPass(self).qp(bits: rate * seconds)
    var verdict = PassEvaluation(evenQP: even)
    all = cursor()
    while let picture = all.next() { verdict.add(picture) }
    return verdict.worst > PassEvaluation.coarser
  }
}

/// How much coarser than with an even quality the pictures of a second are.
private struct PassEvaluation {
  /// Shares of the rate that no pass is spent on.
  static let (miss, missOfShort) = (0.04, 0.1)
  /// Seconds below which a stream is short.
  static let shortSeconds = 1.5
  /// Steps of QP that are seen.
  static let coarser = 3.0
  /// Units of the model for each macroblock below which a picture shows nothing new, whatever its QP.
  private static let least = 0.002

  private let evenQP: Double
  private var sum = 0.0
  private var seconds = 0.0
  private var passed = 0.0
  /// Steps of QP: of the second with the most.
  private(set) var worst = 0.0

  init(evenQP: Double) { self.evenQP = evenQP }

  mutating func add(_ picture: PassStatistics.Picture) {
    passed += picture.duration
    let units = BitModel.units(picture.residual, qp: min(max(evenQP, 0), 51))
    if units > Self.least * Double(picture.residual.counts.sum()) {
      sum += max(picture.qp - evenQP, 0) * picture.duration
      seconds += picture.duration
    }
    guard passed >= 1 else { return }
    // A few pictures of a second that stands still else are not all that is seen of it.
    if seconds > 0 { worst = max(worst, sum / max(seconds, 0.25)) }
    (sum, seconds, passed) = (0, 0, 0)
  }
}
