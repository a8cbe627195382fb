// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

// What a configuration asks of a level, for a caller that has to choose.

extension H264EncoderConfiguration {
  /// Width times height of the largest pictures that a level allows (MaxFS), in luma samples.
  public static var largestArea: Int { (H264Level.all.last?.frameSize ?? 0) * 256 }

  /// The longest side of a picture that a level allows, in luma samples.
  public static let largestSide = (H264Level.all.last?.largestSide ?? 0) * 16

  /// Most references that fit the level that is set, or the lowest that the stream needs with one; nil if
  /// there is no such level, or the size is none.
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
  /// Vertical motion vectors stay in -n ... n - 0.25 luma samples; what every level allows if there is no such level. Of what level 6
  /// allows half: two vectors then differ by what 16 bits hold.
  var verticalMotion: Int { min(level?.verticalMotion ?? 64, 4096) }
}
