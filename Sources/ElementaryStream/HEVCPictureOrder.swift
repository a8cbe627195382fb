// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

/// Derives the picture order count of HEVC (8.3.1).
struct HEVCPictureOrder: Sendable {
  /// PicOrderCntMsb of prevTid0Pic
  private var previousMSB = 0
  /// slice_pic_order_cnt_lsb of prevTid0Pic
  private var previousLSB = 0

  /// Returns the picture order count of a picture.
  ///
  /// - Parameters:
  ///   - slice: the first slice header of the picture.
  ///   - sequence: its sequence parameter set.
  ///   - startsSequence: whether it is an IRAP picture with NoRaslOutputFlag equal to 1.
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
