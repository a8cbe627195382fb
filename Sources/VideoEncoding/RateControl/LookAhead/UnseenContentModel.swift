// SPDX-License-Identifier: Apache-2.0

/// Estimates the bit rate that the content after the look-ahead will take.
///
/// Coded pictures predict later content well only if they contain motion or detail. A black
/// picture, a title or a still picture does not: a rate control that extrapolated it would spend
/// all saved bits on the first pictures with motion. The estimate therefore starts at the bit rate
/// of typical content of the same size. The weight of the stream's own pictures grows with the
/// seconds of motion or detail that they contain. The estimate is never below the bit rate of the
/// pictures so far.
struct UnseenContentModel {
  /// Bits per second that typical content of this size and frame rate takes at `typicalQP`.
  private let typicalRate: Double
  /// Seconds of coded video that count as evidence, at most `maxEvidence`.
  private(set) var evidence = 0.0

  /// The QP at which the bit rate of typical content is given.
  private static let typicalQP = 26.0
  /// The QP steps that halve the bits of typical content.
  private static let halvingSteps = 5.0
  /// The weight of the initial estimate, as the seconds of evidence that count as much as it does.
  private static let priorSeconds = 1.0
  /// The share of its duration with which a picture without residual counts as evidence.
  private static let minEvidence = 0.1
  /// The share of its duration with which a picture without residual counts in the mean of the
  /// pictures so far.
  private static let stillShare = 0.2
  /// The share of the bits of typical content from which on a picture does not count as still.
  private static let stillActivity = 0.005
  /// The share of the bits of typical content from which on a picture counts with its full
  /// duration.
  private static let fullActivity = 0.1
  /// The most seconds of evidence that are counted.
  private static let maxEvidence = 60.0
  /// The QP below which errors are hardly visible (about 50 dB of PSNR).
  private static let finestQP = 14.0
  /// The QP steps by which a stream's pictures may be finer than typical content would be at the
  /// stream's bit rate.
  private static let finestBelowTypical = 6.0

  /// - Parameters:
  ///   - macroblocks: the number of macroblocks in a picture.
  ///   - frameRate: pictures per second.
  init(macroblocks: Int, frameRate: Double) {
    // 1.7 Mb/s for 1280x720 at 30 pictures per second. Bits grow with the number of macroblocks and
    // with the frame rate, but less than in proportion: in a larger picture each macroblock is
    // smoother, and at a higher frame rate pictures are more alike.
    let size = exp2Approx(0.75 * log2Approx(Double(max(macroblocks, 1)) / 3600))
    typicalRate = 1.7e6 * size * exp2Approx(0.6 * log2Approx(max(frameRate, 0.01) / 30))
  }

  /// Bits per second that typical content takes at a QP.
  private func typicalBits(_ qp: Double) -> Double {
    typicalRate * exp2Approx((Self.typicalQP - qp) / Self.halvingSteps)
  }

  /// The seconds of evidence that a picture gives: its duration, or a share of it where its
  /// residual is small.
  func evidence(of picture: PictureForecast) -> Double {
    let bits = BitModel.typicalRatio * BitModel.units(picture.residual, Int(Self.typicalQP))
    let activity = bits / max(typicalRate * picture.duration, 1)
    return picture.duration * min(max(activity / Self.fullActivity, Self.minEvidence), 1)
  }

  /// The seconds that a picture counts for in the mean of the stream's pictures that the content
  /// after the look-ahead is expected to equal: its duration, or a share of it where it stands
  /// still. B pictures of slow motion, which have little residual, count in full.
  func activeSeconds(of picture: PictureForecast) -> Double {
    let units =
      BitModel.units(picture.residual, Int(Self.typicalQP)) - BitModel.leastUnits(picture.residual)
    let activity = BitModel.typicalRatio * units / max(typicalRate * picture.duration, 1)
    return picture.duration * min(max(activity / Self.stillActivity, Self.stillShare), 1)
  }

  /// Adds the evidence of a picture that was coded.
  mutating func add(_ picture: PictureForecast) {
    evidence = min(evidence + evidence(of: picture), Self.maxEvidence)
  }

  /// The bit rate to expect after the look-ahead, in bits per second.
  /// - Parameters:
  ///   - observed: bits per second that the pictures so far and those of the look-ahead take at
  ///     this QP.
  ///   - qp: the QP, 0 to 51.
  ///   - ahead: the seconds of evidence in the look-ahead.
  func rate(observed: Double, qp: Double, ahead: Double) -> Double {
    let seen = evidence + ahead
    return max(observed, (observed * seen + typicalBits(qp) * Self.priorSeconds) / (seen + Self.priorSeconds))
  }

  /// The lowest QP to use while the content after the look-ahead is not known: the one at which
  /// errors are hardly visible or, where the bit rate is high for the size of the pictures, one a
  /// little below that of typical content. It falls to 0 as evidence grows.
  /// - Parameter rate: the bit rate of the stream, in bits per second.
  func finestQP(rate: Double) -> Double {
    let qpAtRate = Self.typicalQP + Self.halvingSteps * log2Approx(typicalRate / max(rate, 1))
    // A stream that has long had little motion or detail is likely to go on so, and its rate was
    // asked for.
    let doubt = 1 - evidence / Self.maxEvidence
    return max(min(Self.finestQP, qpAtRate - Self.finestBelowTypical), 0) * doubt
  }
}
