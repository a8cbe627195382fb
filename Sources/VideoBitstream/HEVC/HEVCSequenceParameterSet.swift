// SPDX-License-Identifier: Apache-2.0
/// seq_parameter_set_rbsp() of HEVC (7.3.2.2).
package struct HEVCSequenceParameterSet: Equatable, Sendable {
  /// pcm_enabled_flag
  package struct PCM: Equatable, Sendable {
    /// 1...16
    package var bitDepthLuma = 8
    package var bitDepthChroma = 8
    /// 3...8
    package var log2MinCodingBlock = 3
    package var log2DiffMaxMin = 0
    package var isLoopFilterDisabled = false

    package init() {}
  }

  /// lt_ref_pic_poc_lsb_sps and used_by_curr_pic_lt_sps_flag
  package struct LongTermReference: Equatable, Sendable {
    package var pictureOrderCountLSB = 0
    package var isUsed = false

    package init(pictureOrderCountLSB: Int = 0, isUsed: Bool = false) {
      self.pictureOrderCountLSB = pictureOrderCountLSB
      self.isUsed = isUsed
    }
  }

  /// 0...15
  package var videoParameterSetID = 0
  /// Temporal sub-layers, 1...7.
  package var subLayerCount = 1
  package var isTemporalNested = true
  package var profileTierLevel = HEVCProfileTierLevel()
  /// 0...15
  package var id = 0
  /// chroma_format_idc: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  package var chromaFormat = 1
  package var hasSeparatePlanes = false
  /// Luma samples, 1...65535.
  package var codedWidth = 1
  package var codedHeight = 1
  /// In `chromaUnit`s.
  package var conformanceWindow: CropOffsets?
  /// 8...16
  package var bitDepthLuma = 8
  package var bitDepthChroma = 8
  /// 4...16
  package var log2MaxPictureOrderCountLSB = 4
  package var ordering = HEVCSubLayerOrdering()
  /// 3...6, and of the coding tree block the difference to it.
  package var log2MinCodingBlock = 3
  package var log2DiffMaxMinCodingBlock = 1
  /// 2...5
  package var log2MinTransformBlock = 2
  package var log2DiffMaxMinTransformBlock = 3
  package var maxTransformHierarchyDepthInter = 0
  package var maxTransformHierarchyDepthIntra = 0
  /// scaling_list_enabled_flag
  package var hasScalingLists = false
  /// Nil: the default lists.
  package var scalingLists: HEVCScalingLists?
  package var hasAsymmetricPartitions = false
  package var hasSampleAdaptiveOffset = false
  package var pcm: PCM?
  /// At most 64.
  package var referencePictureSets: [HEVCReferencePictureSet] = []
  /// At most 32; nil: no long-term references at all.
  package var longTermReferences: [LongTermReference]?
  package var hasTemporalMotion = false
  package var hasStrongIntraSmoothing = false
  package var vui: HEVCVideoUsability?
  /// sps_range_extension()
  package var rangeExtension: RangeExtension?

  package struct RangeExtension: Equatable, Sendable {
    /// The nine flags in their order, the first in the highest bit.
    package var flags = 0

    package init(flags: Int = 0) { self.flags = flags }

    /// high_precision_offsets_enabled_flag, which widens the offsets of weighted prediction.
    package var hasHighPrecisionOffsets: Bool { flags >> 2 & 1 == 1 }
  }

  package init() {}

  // MARK: - What follows from it

  package var chromaArrayType: Int { hasSeparatePlanes ? 0 : chromaFormat }
  /// Luma samples of a unit of the windows.
  package var chromaUnit: (x: Int, y: Int) {
    (chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1, chromaArrayType == 1 ? 2 : 1)
  }
  /// Luma samples of the picture inside the conformance window.
  package var width: Int { codedWidth - (conformanceWindow.map { $0.left + $0.right } ?? 0) * chromaUnit.x }
  package var height: Int { codedHeight - (conformanceWindow.map { $0.top + $0.bottom } ?? 0) * chromaUnit.y }
  package var log2CodingTreeBlock: Int { log2MinCodingBlock + log2DiffMaxMinCodingBlock }
  /// PicSizeInCtbsY
  package var codingTreeBlocks: Int {
    let size = 1 << log2CodingTreeBlock
    return ((codedWidth + size - 1) / size) * codingTreeBlockRows
  }
  /// PicHeightInCtbsY
  package var codingTreeBlockRows: Int {
    let size = 1 << log2CodingTreeBlock
    return (codedHeight + size - 1) / size
  }
  package var isInterlaced: Bool {
    let profile = profileTierLevel.profile
    return vui?.isFieldSequence ?? false || (profile.isInterlacedSource && !profile.isProgressiveSource)
  }
  /// The default display window in luma samples from the cropped picture's edges; nil if there is none that fits.
  package var displayWindow: CropOffsets? {
    guard let window = vui?.displayWindow?.scaled(by: chromaUnit), window.left + window.right < width,
      window.top + window.bottom < height
    else { return nil }
    return window
  }
}
