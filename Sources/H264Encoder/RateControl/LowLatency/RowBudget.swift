// SPDX-License-Identifier: Apache-2.0
/// Keeps a picture within its bits while it is coded, a macroblock row at a time.
struct RowBudget {
  /// Bits that the picture should take, and that it may take at most.
  var target: Double
  var maximum: Double
  /// Beyond these bits macroblocks are skipped.
  var limit: Double
  /// Bits of a macroblock that is coded as cheaply as can be.
  var cheapest: Double
  var minQP: Int
  var maxQP: Int
  /// Bits that a macroblock of a difficult picture takes at the highest QP.
  static let coarseMacroblock = 24
  /// How much of the picture's bits the rows took in the last picture of its kind; sums to 1.
  var shares: UnsafePointer<Float>

  /// The QP of the next row, when `bits` went into the rows before `row`.
  func qp(row: Int, rows: Int, bits: Int, base: Int, current: Int) -> Int {
    if row == 0 { return base }
    var done = 0.0
    for y in 0..<row { done += Double(shares[y]) }
    let used = Double(bits)
    // What the rest would take at this pace: the shares say, corrected by how right they were so far.
    let expected = max(target * done, 1)
    let pace = min(max(used / expected, 0.3), 4)
    let confidence = min(1, 0.3 + Double(row) / Double(rows))
    let rest = target * (1 - done) * (1 + (pace - 1) * confidence)
    let projected = used + rest
    var qp = current
    if projected > maximum || used > maximum * 0.9 {
      // The rest must shrink to what is left: six QP steps halve it, roughly.
      let room = max(maximum * 0.97 - used, maximum * 0.01)
      let steps = 5 * log2Approx(max(rest / room, 1.05))
      qp += max(1, min(12, Int(steps.rounded(.up))))
    } else if qp > base && projected < maximum * 0.8 {
      qp -= 1
    }
    return min(max(qp, minQP), maxQP)
  }

  /// Bits that rows may take which threads are at, seen from the rows before them: what is usual for them, at the pace of
  /// those, and half as much again. A picture that takes more in the end is coded anew, by one thread.
  /// - Parameters:
  ///   - rows: that are not known yet.
  ///   - bits: of the rows before.
  ///   - largest: what one row takes at most.
  func flying(_ rows: ClosedRange<Int>, bits: Int, largest: Int) -> Int {
    var done = 0.0
    for y in 0..<rows.lowerBound { done += Double(shares[y]) }
    var ahead = 0.0
    for y in rows { ahead += Double(shares[y]) }
    let whole = done > 0.02 ? Double(bits) / done : target
    return Int(min(whole * ahead * 1.5, Double(largest * rows.count)))
  }

  /// Bits of P_Skip, and of an intra prediction of DC without residual (mb_type, the mode of chroma, mb_qp_delta and, with CAVLC,
  /// coeff_token; 7.3.5).
  static func cheapest(isKeyFrame: Bool, cabac: Bool) -> Double { isKeyFrame ? cabac ? 6 : 8 : 0.125 }

  /// Whether nothing but the cheapest macroblocks fits any more: `bits` are used, `left` macroblocks remain.
  func isExhausted(bits: Int, left: Int) -> Bool {
    Double(bits + 512) + Double(left) * cheapest > limit
  }
}
