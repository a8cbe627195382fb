// SPDX-License-Identifier: Apache-2.0
/// A frame rate as a ratio of whole numbers in the form that standards prefer: 29.97 is 30000/1001.
public struct FrameRateRatio: Sendable, Equatable {
  /// Frames per `denominator` seconds, 1 or more.
  public var numerator: UInt32
  /// The seconds in which there are `numerator` frames, 1 or more.
  public var denominator: UInt32

  /// Finds the ratio of a frame rate.
  /// - Parameter rate: frames per second. A rate outside 0.01 to 10,000 becomes the nearer of the
  ///   two, and NaN becomes 0.01.
  public init(_ rate: Double) {
    let rate = rate > 0.01 ? min(rate, 10_000) : 0.01
    if abs(rate - rate.rounded()) < 0.0005 {
      (numerator, denominator) = (UInt32(rate.rounded()), 1)
    } else if abs(rate * 1.001 - (rate * 1.001).rounded()) < 0.005, rate > 10 {
      (numerator, denominator) = (UInt32((rate * 1.001).rounded()) * 1000, 1001)
    } else {
      (numerator, denominator) = (UInt32((rate * 1000).rounded()), 1000)
    }
    if numerator == 0 { numerator = 1 }
  }
}
