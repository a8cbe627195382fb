// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

// The limits of levels, for a caller that has to choose a configuration.

extension H264EncoderConfiguration {
  /// The largest area of a picture in luma samples that any level allows (MaxFS).
  public static var largestArea: Int { (H264Level.all.last?.frameSize ?? 0) * 256 }

  /// The longest side of a picture in luma samples that any level allows.
  public static let largestSide = (H264Level.all.last?.largestSide ?? 0) * 16

  /// The most reference pictures that the configured level allows for this size, or, without one,
  /// the lowest level that the stream needs with one reference. Nil if there is no such level or
  /// the size is invalid.
  public var largestReferenceCount: Int? {
    guard isOfValidSize else { return nil }
    var single = demands
    single.referenceFrames = 1
    let fixed = level.flatMap(H264Level.numbered)
    let isRaised = raisesLevel && fixed?.violation(by: single) == .frameSize
    let chosen = (isRaised ? nil : fixed) ?? H264Level.lowest(for: single)
    return chosen?.dpbFrames(widthInMbs: demands.widthInMbs, heightInMbs: demands.heightInMbs)
  }
}

extension H264SequenceParameterSet {
  /// The range of vertical motion vectors: they stay in -n ... n - 0.25 luma samples. It is the
  /// smallest of all levels where the level is unknown, and half of what level 6 allows, since the
  /// difference of two vectors has to fit 16 bits.
  var verticalMotion: Int { min(level?.verticalMotion ?? 64, 4096) }
}
