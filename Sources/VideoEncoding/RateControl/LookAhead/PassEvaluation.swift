// SPDX-License-Identifier: Apache-2.0

extension StoredPass {
  /// Whether a further pass that is given these statistics would improve a stream with an average
  /// bit rate. That is so if this pass has missed the rate, or if in some second its pictures are
  /// clearly coarser than they would be with the same QP throughout.
  ///
  /// The file is read once more.
  /// - Parameter rate: the average bit rate that was asked for, in bits per second.
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

/// Finds the second of a stream whose pictures are coarsest compared with an even QP.
private struct PassEvaluation {
  /// The deviations from the bit rate that are tolerated, as shares of it: in usual and in short
  /// streams.
  static let (miss, missOfShort) = (0.04, 0.1)
  /// The duration in seconds below which a stream is short.
  static let shortSeconds = 1.5
  /// The difference in QP that is visible.
  static let coarser = 3.0
  /// The model's units per macroblock below which a picture repeats the last one, so that its QP
  /// does not matter.
  private static let least = 0.002

  /// The QP at which the stream would have the wanted size with the same quality throughout.
  private let evenQP: Double
  /// The QP steps above `evenQP` times the duration, summed over the pictures of the present
  /// second.
  private var sum = 0.0
  /// The seconds of those pictures that show something new.
  private var seconds = 0.0
  /// The seconds of all its pictures.
  private var passed = 0.0
  /// The mean QP steps above `evenQP` in the worst second.
  private(set) var worst = 0.0

  /// Begins with no pictures.
  init(evenQP: Double) { self.evenQP = evenQP }

  /// Adds the next picture in decoding order.
  mutating func add(_ picture: PassStatistics.Picture) {
    passed += picture.duration
    let units = BitModel.units(picture.residual, qp: min(max(evenQP, 0), 51))
    if units > Self.least * Double(picture.residual.counts.sum()) {
      sum += max(picture.qp - evenQP, 0) * picture.duration
      seconds += picture.duration
    }
    guard passed >= 1 else { return }
    // A few pictures that change, in a second that is static otherwise, do not make up the
    // impression of it.
    if seconds > 0 { worst = max(worst, sum / max(seconds, 0.25)) }
    (sum, seconds, passed) = (0, 0, 0)
  }
}
