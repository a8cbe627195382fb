// SPDX-License-Identifier: Apache-2.0

/// Estimates from one pass how the model of bits errs with the QP: where the QP changes and the
/// content does not, a picture takes more bits than the model expects at a higher QP, or fewer.
struct QPCourse {
  /// The moving means of the pictures of a type.
  private struct Mean {
    var qp = 0.0
    /// The base-2 logarithm of the bits per unit of the model.
    var ratio = 0.0
    /// The base-2 logarithm of the units at `contentQP`, which tell what the content is like.
    var content = 0.0
    var isKnown = false
  }

  private var means = [Mean(), Mean(), Mean()]
  private var covariance = 0.0
  private var variance = 0.0

  private static let contentQP = 30
  /// The weight of a picture in the means.
  private static let weight = 0.04
  /// The doublings of the units from which on the content is another one.
  private static let otherContent = 0.5
  /// The variance of the QP, in squared steps times bits, that counts as much as what was seen.
  private static let doubt = 4.0
  /// The bits of all pictures that were compared.
  private var compared = 0.0

  /// Adds the next picture in decoding order.
  mutating func add(_ picture: PassStatistics.Picture) {
    let kind = picture.kind.rawValue
    let own = min(max(picture.qp + LookAheadRateControl.offsets[kind], 0), 51)
    let units = BitModel.units(picture.residual, qp: own)
    guard picture.bits > 200,
      BitModel.informativeness(picture.residual, units: units) > BitModel.leastInformativeness
    else { return }
    let bits = Double(picture.bits)
    let ratio = log2Approx(bits / units)
    let content = log2Approx(BitModel.units(picture.residual, Self.contentQP))
    var mean = means[kind]
    guard mean.isKnown, abs(content - mean.content) < Self.otherContent else {
      means[kind] = Mean(qp: picture.qp, ratio: ratio, content: content, isKnown: true)
      return
    }
    let (qpChange, ratioChange) = (picture.qp - mean.qp, ratio - mean.ratio)
    covariance += bits * qpChange * ratioChange
    variance += bits * qpChange * qpChange
    compared += bits
    mean.qp += Self.weight * qpChange
    mean.ratio += Self.weight * ratioChange
    mean.content += Self.weight * (content - mean.content)
    means[kind] = mean
  }

  /// The doublings of the bits, beyond what the model expects, for each QP step.
  var slope: Double { covariance / max(variance + Self.doubt * compared, 1e-9) }
}
