// SPDX-License-Identifier: Apache-2.0

/// The bit rate that content behind the look-ahead is expected to take.
///
/// The pictures so far are a good guess of those to come as far as something happens in them. Black, a title or a picture
/// that stands still says little of what follows: a rate control that takes it for the rest of the stream spends all that it
/// has saved on the first pictures that move. So the expectation begins with what usual content of the size takes, and
/// follows the stream's own pictures the more, the longer something has happened in them. What was seen is never expected
/// to become easier.
struct UnseenContentModel {
  /// Bits a second that usual content of this size takes at `usualQP`.
  private let usualRate: Double
  /// Seconds of the stream that tell of what is to come.
  private(set) var evidence = 0.0

  private static let usualQP = 26.0
  /// Steps of QP that halve the bits of usual content.
  private static let halvingSteps = 5.0
  /// Seconds of the stream that count as much as the expectation that it begins with.
  private static let trust = 1.0
  /// Part of its time that a picture counts with in which nothing happens.
  private static let leastEvidence = 0.1
  /// Part of the bits of usual content from which on a picture counts in full.
  private static let fullActivity = 0.1
  /// Seconds of evidence that are kept.
  private static let mostEvidence = 60.0
  /// A QP below which errors are hardly seen (about 50 dB of PSNR).
  private static let finestQP = 14.0
  /// Steps below the QP of usual content at the stream's rate that a stream's pictures may be coded with.
  private static let finestBelowUsual = 6.0

  /// - Parameters:
  ///   - macroblocks: of a picture.
  ///   - frameRate: pictures a second.
  init(macroblocks: Int, frameRate: Double) {
    // 1.7 Mb/s for 1280x720 at 30 pictures a second. Bits grow with the number of macroblocks and of pictures, but less
    // than in proportion: the larger the picture, the smoother each macroblock; the nearer the pictures, the more alike.
    let size = exp2Approx(0.75 * log2Approx(Double(max(macroblocks, 1)) / 3600))
    usualRate = 1.7e6 * size * exp2Approx(0.6 * log2Approx(max(frameRate, 0.01) / 30))
  }

  /// Bits a second that usual content takes at a QP.
  private func usual(_ qp: Double) -> Double {
    usualRate * exp2Approx((Self.usualQP - qp) / Self.halvingSteps)
  }

  /// Seconds of evidence in a picture.
  func evidence(of picture: PictureForecast) -> Double {
    let bits = BitModel.usualRatio * BitModel.units(picture.residual, Int(Self.usualQP))
    let activity = bits / max(usualRate * picture.duration, 1)
    return picture.duration * min(max(activity / Self.fullActivity, Self.leastEvidence), 1)
  }

  /// Takes in a picture that was coded.
  mutating func note(_ picture: PictureForecast) {
    evidence = min(evidence + evidence(of: picture), Self.mostEvidence)
  }

  /// The bits a second to expect.
  /// - Parameters:
  ///   - observed: bits a second that the pictures so far, and those of the look-ahead, take at this QP.
  ///   - qp: 0 to 51.
  ///   - ahead: seconds of evidence in the look-ahead.
  func rate(observed: Double, qp: Double, ahead: Double) -> Double {
    let seen = evidence + ahead
    return max(observed, (observed * seen + usual(qp) * Self.trust) / (seen + Self.trust))
  }

  /// The finest QP that is worth its bits while it is not known what comes behind the look-ahead: one at which errors are
  /// hardly seen, or, at a rate that is rich for the size of the pictures, one a little below that of usual content.
  /// - Parameter rate: bits a second of the stream.
  func finestQP(rate: Double) -> Double {
    let usual = Self.usualQP + Self.halvingSteps * log2Approx(usualRate / max(rate, 1))
    // A stream that has long been easy in motion is likely to stay so, and its rate was asked for.
    let doubt = 1 - evidence / Self.mostEvidence
    return max(min(Self.finestQP, usual - Self.finestBelowUsual), 0) * doubt
  }
}
