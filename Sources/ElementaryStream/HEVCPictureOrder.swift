// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Counts the order of pictures in HEVC: clause 8.3.1.
struct HEVCPictureOrder: Sendable {
  private var previousMSB = 0
  private var previousLSB = 0

  /// The order of a picture among those since the last one that starts a sequence.
  ///
  /// - Parameter startsSequence: Whether the picture is a random access point with NoRaslOutputFlag equal to 1.
  mutating func order(of slice: HEVCSliceHeader, _ sequence: HEVCSequenceParameterSet, startsSequence: Bool)
    -> Int
  {
    let range = 1 << sequence.log2MaxPictureOrderCountLSB
    var msb = previousMSB
    if startsSequence {
      msb = 0
    } else if slice.pictureOrderCountLSB < previousLSB, previousLSB - slice.pictureOrderCountLSB >= range / 2
    {
      msb = previousMSB &+ range
    } else if slice.pictureOrderCountLSB > previousLSB, slice.pictureOrderCountLSB - previousLSB > range / 2 {
      msb = previousMSB &- range
    }
    if slice.nal.temporalID == 0, !slice.nal.type.isLeading, !slice.nal.type.isSubLayerNonReference {
      (previousMSB, previousLSB) = (msb, slice.pictureOrderCountLSB)
    }
    return msb &+ slice.pictureOrderCountLSB
  }
}
