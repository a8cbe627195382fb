// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// What was decided of a picture before it is coded.
struct PicturePlan {
  /// Whether it is an IDR picture.
  var isKeyFrame = false
  /// Whether later pictures may refer to it.
  var isReference = true
  /// TemporalId
  var temporalLayer = 0
  /// PicOrderCntVal
  var order = 0
  /// The QP of the picture: SliceQpY.
  var qp = 26
  /// The bits that its rows share; nil: their QP is that of the picture.
  var budget: RowBudget?
  /// Whether its QP is lower than that of the pictures around it.
  var hasRaisedQuality = false
  /// The slice header.
  var header = HEVCSliceHeader()
}

/// What the coding of a picture gave.
struct PictureStatistics {
  /// The sum of QpY over blocks of 8x8 samples, and the number of intra and skipped blocks.
  var qpSum = 0
  var intraBlocks = 0
  var skippedBlocks = 0
  /// `RowBudget.needed` before the last coding tree unit that was not coded in the cheapest way: a
  /// lower limit leaves out that unit at least. 0: there is none.
  var lastNeeded = 0.0
  var lowestQP = 51
  var highestQP = 0
}
