// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// The decisions for a picture before it is coded: type, QP, references and header.
struct PicturePlan {
  /// Whether it is a key frame: an IDR picture, or a CRA picture with a look-ahead.
  var isKeyFrame = false
  /// Whether it is a key frame but not an IDR picture.
  var isOpenKeyFrame = false
  /// Whether later pictures may refer to it.
  var isReference = true
  /// TemporalId
  var temporalLayer = 0
  /// PicOrderCntVal
  var order = 0
  /// The QP of the picture: SliceQpY.
  var qp = 26
  /// The QP that its rows begin with where it is above `qp`, up to
  /// `LowLatencySettings.coarsestQP`.
  var plannedQP = 0
  /// The offset from the QP of the picture for each block of 16x16 samples; nil: there is none.
  var blockOffsets: UnsafePointer<Int8>?
  /// The range of the QPs of blocks with offsets.
  var minimumQP = 0
  var maximumQP = 51
  /// The lambda of the picture as a multiple of the lambda of P pictures at the same QP.
  var lambdaScale = 1.0
  /// The bits that its rows share; nil: their QP is that of the picture.
  var budget: RowBudget?
  /// Whether its QP is lower than that of the pictures around it.
  var hasRaisedQuality = false
  /// Rows of coding tree units from `refreshFrom` up to, but not including, `refreshTo` are coded
  /// intra by a gradual intra refresh; those above them refer to refreshed samples alone.
  var refreshFrom = 0
  var refreshTo = 0
  /// Whether a refresh begins with the picture.
  var refreshStarts = false
  /// Whether a reference picture has other weights than the default.
  var isWeighted = false
  /// The motion of large parts of it.
  var screen = ScreenMotion()
  /// The slice header.
  var header = HEVCSliceHeader()
}

/// Statistics of a coded picture.
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
  /// The mean and the highest QP of its rows, before the offsets of their blocks.
  var meanRowQP = 0.0
  var highestRowQP = 0
}
