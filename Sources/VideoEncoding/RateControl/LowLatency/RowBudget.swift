// SPDX-License-Identifier: Apache-2.0
/// Keeps a picture within a number of bits by changing the QP from one macroblock row to the next.
package struct RowBudget {
  /// The bits that the picture should take.
  package var target: Double
  /// The bits that it may take at most; the QP of the remaining rows rises to keep to them.
  package var maximum: Double
  /// The bits beyond which macroblocks are coded in the cheapest way only (P_Skip, or intra DC
  /// prediction without residual).
  package var limit: Double
  /// The bits of a macroblock that is coded in that way.
  package var cheapest: Double
  /// The lowest QP of a row.
  package var minQP: Int
  /// The highest QP of a row; above 51 as in `LowLatencySettings.coarsestQP`.
  package var maxQP: Int
  /// The bits that a macroblock of a complex picture takes at the highest QP.
  package static let coarseMacroblock = 24
  /// The share of the picture's bits that each macroblock row took in recent pictures of the same
  /// type; the shares sum up to 1.
  package var shares: UnsafePointer<Float>

  /// Creates a budget; the properties describe the parameters.
  package init(
    target: Double, maximum: Double, limit: Double, cheapest: Double, minQP: Int, maxQP: Int,
    shares: UnsafePointer<Float>
  ) {
    self.target = target
    self.maximum = maximum
    self.limit = limit
    self.cheapest = cheapest
    self.minQP = minQP
    self.maxQP = maxQP
    self.shares = shares
  }

  /// The QP of the next row.
  /// - Parameters:
  ///   - row: the index of the row, from the top.
  ///   - rows: the number of rows.
  ///   - bits: the bits of the rows above it.
  ///   - base: the QP planned for the picture.
  ///   - current: the QP of the row above.
  package func qp(row: Int, rows: Int, bits: Int, base: Int, current: Int) -> Int {
    if row == 0 { return base }
    var done = 0.0
    for y in 0..<row { done += Double(shares[y]) }
    let used = Double(bits)
    // The remaining rows are estimated by their shares, corrected by how far off the shares were so
    // far.
    let expected = max(target * done, 1)
    let pace = min(max(used / expected, 0.3), 4)
    let confidence = min(1, 0.3 + Double(row) / Double(rows))
    let rest = target * (1 - done) * (1 + (pace - 1) * confidence)
    let projected = used + rest
    var qp = current
    if projected > maximum || used > maximum * 0.9 {
      // The remaining rows have to fit into the bits that are left: five QP steps count as half of
      // the bits.
      let room = max(maximum * 0.97 - used, maximum * 0.01)
      let steps = 5 * log2Approx(max(rest / room, 1.05))
      qp += max(1, min(12, Int(steps.rounded(.up))))
    } else if qp > base && projected < maximum * 0.8 {
      qp -= 1
    }
    return min(max(qp, minQP), maxQP)
  }

  /// An estimate of the bits of rows that other threads are coding: the usual bits of these rows,
  /// at the pace of the rows above, and half as much again. A picture that takes more in the end is
  /// coded again by one thread.
  /// - Parameters:
  ///   - rows: the rows whose bits are not known yet.
  ///   - bits: the bits of the rows above them.
  ///   - largest: the most bits that one row takes.
  package func bitsInFlight(_ rows: ClosedRange<Int>, bits: Int, largest: Int) -> Int {
    var done = 0.0
    for y in 0..<rows.lowerBound { done += Double(shares[y]) }
    var ahead = 0.0
    for y in rows { ahead += Double(shares[y]) }
    let estimatedBits = done > 0.02 ? Double(bits) / done : target
    return Int(min(estimatedBits * ahead * 1.5, Double(largest * rows.count)))
  }

  /// Whether only macroblocks of the cheapest kind fit any more.
  /// - Parameters:
  ///   - bits: the bits used so far.
  ///   - left: the number of macroblocks not coded yet.
  package func isExhausted(bits: Int, left: Int) -> Bool { needed(bits: bits, left: left) > limit }

  /// The bits of the picture if the macroblocks that are left are coded in the cheapest way, with a
  /// reserve.
  /// - Parameters:
  ///   - bits: the bits used so far.
  ///   - left: the number of macroblocks not coded yet.
  package func needed(bits: Int, left: Int) -> Double {
    Double(bits + 512) + Double(left) * cheapest
  }
}
