// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

// Limits that the levels of H.264 set, for callers that choose a configuration.

extension H264EncoderConfiguration {
  /// The largest area of a picture in luma samples that any level allows (MaxFS).
  public static var largestArea: Int { (H264Level.all.last?.frameSize ?? 0) * 256 }

  /// The longest side of a picture in luma samples that any level allows.
  public static let largestSide = (H264Level.all.last?.largestSide ?? 0) * 16

  /// The largest number of reference pictures that the stream's level allows for this size. The
  /// level is the configured one; if there is none, or if it has to be raised for the size, it is
  /// the lowest level that allows the stream with one reference picture. Nil if there is no such
  /// level or the size is invalid.
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
  /// The limit n of vertical motion vectors, which have to be from -n to n - 0.25 luma samples. If
  /// the level is unknown, it is the smallest limit of all levels. It is at most half of what level
  /// 6 allows, so that the difference of two vectors fits 16 bits.
  var verticalMotion: Int { min(level?.verticalMotion ?? 64, 4096) }
}
