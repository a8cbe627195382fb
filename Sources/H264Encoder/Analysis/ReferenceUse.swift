// SPDX-License-Identifier: Apache-2.0
/// Measures how often recent pictures are predicted from other reference pictures than the first,
/// to decide whether the next picture gets several. Where they are seldom used, a single reference
/// picture saves time and the bits of ref_idx.
struct ReferenceUse {
  /// The largest number of pictures between two that have several reference pictures, so that the
  /// measure stays up to date. It is not a multiple of 4, the period of the quality cascade
  /// (`QualityCascade`): with one, the previous picture would always be one of the better ones, or
  /// never.
  static let interval: UInt64 = 7
  /// The factor by which the share of an earlier picture decays with each picture.
  private static let decay = 0.8

  /// The largest share among recent pictures, 0 to 1, with decay.
  private var usedFraction = 1.0
  /// `FrameProperties.index` of the last picture that had several reference pictures.
  private var last: UInt64 = 0

  /// Whether a picture should have several reference pictures.
  ///
  /// - Parameters:
  ///   - index: `FrameProperties.index` of the picture.
  ///   - minimumShare: the share of inter macroblocks predicted from another reference than the
  ///     first, 0 to 1, from which several references are used.
  func shouldUseSeveralReferences(index: UInt64, minimumShare: Double) -> Bool {
    usedFraction >= minimumShare || index >= last + Self.interval
  }

  /// Records the statistics of a coded picture that had several reference pictures.
  ///
  /// - Parameters:
  ///   - index: `FrameProperties.index` of the picture.
  ///   - inOtherReferences: the number of its macroblocks that are predicted from another reference
  ///     picture than the first.
  ///   - inter: the number of its inter macroblocks that are not skipped.
  mutating func record(index: UInt64, inOtherReferences: Int, inter: Int) {
    last = index
    usedFraction *= Self.decay
    if inter > 0 { usedFraction = max(usedFraction, Double(inOtherReferences) / Double(inter)) }
  }
}
