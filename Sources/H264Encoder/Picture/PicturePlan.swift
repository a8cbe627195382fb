// SPDX-License-Identifier: Apache-2.0
import VideoBitstream
import VideoEncoding

/// The decisions of an encoder for a picture before it is coded; `PictureCoder` executes them.
struct PicturePlan {
  /// Whether it is an IDR picture.
  var isIDR = false
  /// Whether it is a key frame but no IDR picture: an I picture with a recovery point.
  var isOpenKeyFrame = false
  /// Whether later pictures may refer to it (nal_ref_idc is not 0).
  var isReference = true
  /// Whether it is coded with a lower QP than the pictures around it, which refer to it: a key
  /// frame, or the best picture of a cascade.
  var hasRaisedQuality = false
  /// The QP of its macroblocks, 0 to `LowLatencySettings.coarsestQP`, before the offsets of
  /// macroblocks and rows.
  var qp = 26
  /// The slice header fields that are the same for all slices.
  var header = H264SliceHeader()
  /// The number of pictures in reference list 0 (`PictureCoder.setReference`); 0 for an intra
  /// picture.
  var referenceCount = 0
  /// The number of pictures in reference list 1 of a B picture (`PictureCoder.setReferenceL1`), 1
  /// or more; 0 for other pictures. Both numbers equal those of the active references in the
  /// header.
  var referenceCountL1 = 0
  /// Whether the costs of spatial and temporal direct prediction are compared in a B picture
  /// (`PictureCoder.directCosts`).
  var comparesDirect = false
  /// PicOrderCnt of the picture (8.2.1). It differs between pictures that are references at the
  /// same time.
  var orderCount = 0

  /// Whether decoding can begin with the picture.
  var isKeyFrame: Bool { isIDR || isOpenKeyFrame }
  /// Whether it is a B picture.
  var isBidirectional: Bool { header.kind == .b }
  /// Whether some of its references have explicit weights (`PictureCoder.weights`).
  var isWeighted = false
  /// The picture parameter set that the header refers to; nil: that of the coder.
  var parameterSet: H264PictureParameterSet?
  /// The first macroblock column that a gradual refresh codes as intra macroblocks in this picture.
  var refreshFrom = 0
  /// The column after the last of them; equal to `refreshFrom` where there is no refresh.
  var refreshTo = 0
  /// Whether a refresh is under way: columns before `refreshFrom` have been refreshed, and refer to
  /// refreshed samples only.
  var keepsClean = false
  /// Whether a gradual refresh begins with the picture.
  var startsRefresh = false
  /// The number of luma rows by which the content was scrolled since the first reference
  /// (`ScrollDetector`).
  var scroll = 0
  /// The vectors by which parts of the picture have moved since the first reference.
  var displacements = Displacements()
  /// The motion of the camera since the first reference, where it is known.
  var camera = CameraMotion()
  /// The header of the prefix NAL unit that gives the temporal layer; nil: none is written.
  var scalableHeader: H264ScalableHeader?
  /// The bits that its rows should keep to; nil: their QP does not depend on bits.
  var budget: RowBudget?
}

/// Counts over the macroblocks of a picture that was coded.
struct PictureStatistics {
  /// The sum of QP_Y over the macroblocks that have one.
  var qpSum = 0
  /// The number of macroblocks that have a QP: all but I_PCM.
  var qpCount = 0
  /// The lowest QP of a macroblock.
  var lowestQP = 51
  /// The highest QP of a macroblock.
  var highestQP = 0
  /// The number of intra macroblocks.
  var intra = 0
  /// The number of skipped macroblocks.
  var skipped = 0
  /// The number of inter macroblocks that are not skipped and refer to another than the first
  /// reference of list 0.
  var inOtherReferences = 0
  /// Whether, with several threads, a macroblock took more bits than A.3.1 allows.
  var exceedsMacroblock = false
}
