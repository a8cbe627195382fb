// SPDX-License-Identifier: Apache-2.0

/// Forecasts the bits of the pictures of the look-ahead at a QP, where the statistics of a previous
/// pass are known.
///
/// For several pictures together the pass gives the better estimate. Single pictures may have had
/// another type in it: a part of a stream begins with an intra picture where the pass had none, and
/// B pictures may be placed elsewhere. How the pictures differ from each other follows from the
/// look-ahead.
struct PassForecast {
  /// The forecast bits of each picture of the look-ahead, in decoding order.
  private(set) var bits: [Double] = []
  /// The bits of each picture by the residual model and by the pass; both are 0 where it is an
  /// intra picture in either of them.
  private var known: [(model: Double, pass: Double)] = []
  /// The factor `recent.taken / recent.foreseen` as far as it is part of the forecast of the first
  /// picture; 1 where that was not corrected.
  private var biasOfFirst = 1.0
  /// The bits of recent pictures and their forecasts without the factor: sums that decay by
  /// `memory` with each picture.
  private var recent = (taken: 1.0, foreseen: 1.0)
  /// The forecast of the picture planned last, in bits and without the factor, and the QP it is
  /// for; nil where no forecast is to be compared with the result.
  private var planned: (bits: Double, qp: Double)?

  /// How many pictures on each side of a picture are averaged with it.
  static let smoothingRadius = 4
  /// The factor by which the sums of recent pictures decay with each picture.
  private static let memory = 0.9
  /// The difference in QP from which on a picture was coded with another QP than planned.
  private static let nearQP = 1.0

  /// Removes the forecasts of the last call.
  mutating func begin() { bits.removeAll(keepingCapacity: true) }

  /// Adds the next picture with its bits by the residual model.
  mutating func append(_ model: Double) { bits.append(model) }

  /// Scales the forecasts so that in each neighbourhood of pictures they sum up to what the pass
  /// took, times the ratio of recent results to forecasts.
  /// - Parameters:
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - remaining: the statistics of the previous pass.
  ///   - qp: the QP of the forecast, without the offset of the picture type.
  mutating func correct(_ upcoming: [PictureForecast], by remaining: RemainingPass, qp: Double) {
    known.removeAll(keepingCapacity: true)
    for n in upcoming.indices {
      guard let expected = remaining.expected(n, qp: qp) else { break }
      let isIntra = upcoming[n].kind == .intra
      let isAlike = !isIntra && !expected.isIntra
      known.append(isAlike ? (bits[n], expected.bits) : (0, 0))
      if isIntra, expected.isIntra { bits[n] = expected.bits }
    }
    let bias = recent.taken / recent.foreseen
    biasOfFirst = 1
    var sums = (model: 0.0, pass: 0.0)
    for n in -Self.smoothingRadius..<known.count {
      if n + Self.smoothingRadius < known.count {
        sums.model += known[n + Self.smoothingRadius].model
        sums.pass += known[n + Self.smoothingRadius].pass
      }
      if n > Self.smoothingRadius {
        sums.model -= known[n - Self.smoothingRadius - 1].model
        sums.pass -= known[n - Self.smoothingRadius - 1].pass
      }
      guard n >= 0, known[n].model > 0, sums.model > 1 else { continue }
      bits[n] = known[n].model * max(sums.pass / sums.model, 0.01) * bias
      if n == 0 { biasOfFirst = bias }
    }
  }

  /// Keeps the forecast of the first picture, to compare it with the result.
  /// - Parameters:
  ///   - remaining: the statistics of the previous pass.
  ///   - upcoming: the pictures of the look-ahead, in decoding order.
  ///   - qp: the QP that the picture will be coded with, without the offset of its type.
  mutating func plan(_ remaining: RemainingPass, _ upcoming: [PictureForecast], qp: Double) {
    planned = nil
    guard remaining.expected(0, qp: qp) != nil, let first = upcoming.first, first.kind != .intra else {
      return
    }
    planned = (bits[0] / biasOfFirst, qp)
  }

  /// Compares the forecast of the picture planned last with the bits that it took at a QP.
  mutating func record(bits taken: Double, qp: Double) {
    guard let planned, abs(planned.qp - qp) < Self.nearQP, planned.bits > 1 else { return }
    recent = (recent.taken * Self.memory + taken, recent.foreseen * Self.memory + planned.bits)
    self.planned = nil
  }
}
