// SPDX-License-Identifier: Apache-2.0

/// What the pictures of the look-ahead would take at a QP, where a pass before is known.
///
/// The pass knows better what some of them take together, though its pictures may have been of other kinds: a part begins
/// anew with an intra picture where the pass did not, and B pictures stand elsewhere. The look-ahead knows how they differ.
struct PassForecast {
  /// Of each picture.
  private(set) var bits: [Double] = []
  /// As the look-ahead and as the pass has them; zeros where only one of them is intra.
  private var known: [(model: Double, pass: Double)] = []
  /// Of what is known of late, in what is foreseen of the first picture; 1 where that was not corrected.
  private var biasOfFirst = 1.0
  /// What pictures took, and what was foreseen, of late.
  private var late = (taken: 1.0, foreseen: 1.0)
  /// Bits that were foreseen for the picture that was planned last, before what is known of late, and at which QP.
  private var planned: (bits: Double, qp: Double)?

  /// Pictures before and behind one that are seen together.
  static let reach = 4
  /// Part of what is known of late that each picture leaves.
  private static let memory = 0.9
  /// Steps of QP beyond which a picture was coded otherwise than planned.
  private static let nearQP = 1.0

  mutating func begin() { bits.removeAll(keepingCapacity: true) }

  /// The next picture, by what the look-ahead knows alone.
  mutating func append(_ model: Double) { bits.append(model) }

  /// Corrects all by what the pass took.
  mutating func correct(_ upcoming: [PictureForecast], by remaining: RemainingPass, qp: Double) {
    known.removeAll(keepingCapacity: true)
    for n in upcoming.indices {
      guard let expected = remaining.expected(n, qp: qp) else { break }
      let isIntra = upcoming[n].kind == .intra
      let isAlike = !isIntra && !expected.isIntra
      known.append(isAlike ? (bits[n], expected.bits) : (0, 0))
      if isIntra, expected.isIntra { bits[n] = expected.bits }
    }
    let bias = late.taken / late.foreseen
    biasOfFirst = 1
    var sums = (model: 0.0, pass: 0.0)
    for n in -Self.reach..<known.count {
      if n + Self.reach < known.count {
        sums.model += known[n + Self.reach].model
        sums.pass += known[n + Self.reach].pass
      }
      if n > Self.reach {
        sums.model -= known[n - Self.reach - 1].model
        sums.pass -= known[n - Self.reach - 1].pass
      }
      guard n >= 0, known[n].model > 0, sums.model > 1 else { continue }
      bits[n] = known[n].model * max(sums.pass / sums.model, 0.01) * bias
      if n == 0 { biasOfFirst = bias }
    }
  }

  /// The first picture, as foreseen last, will be coded at this QP.
  mutating func plan(_ remaining: RemainingPass, _ upcoming: [PictureForecast], qp: Double) {
    planned = nil
    guard remaining.expected(0, qp: qp) != nil, let first = upcoming.first, first.kind != .intra else {
      return
    }
    planned = (bits[0] / biasOfFirst, qp)
  }

  /// What it took.
  mutating func note(bits taken: Double, qp: Double) {
    guard let planned, abs(planned.qp - qp) < Self.nearQP, planned.bits > 1 else { return }
    late = (late.taken * Self.memory + taken, late.foreseen * Self.memory + planned.bits)
    self.planned = nil
  }
}
