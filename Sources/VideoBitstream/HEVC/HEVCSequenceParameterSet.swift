// SPDX-License-Identifier: Apache-2.0
/// seq_parameter_set_rbsp() of HEVC (7.3.2.2).
package struct HEVCSequenceParameterSet: Equatable, Sendable {
  /// The syntax elements that follow pcm_enabled_flag.
  package struct PCM: Equatable, Sendable {
    /// pcm_sample_bit_depth_luma_minus1 + 1, 1...16.
    package var bitDepthLuma = 8
    package var bitDepthChroma = 8
    /// log2_min_pcm_luma_coding_block_size_minus3 + 3, 3...8.
    package var log2MinCodingBlock = 3
    /// log2_diff_max_min_pcm_luma_coding_block_size
    package var log2DiffMaxMin = 0
    /// pcm_loop_filter_disabled_flag
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

  /// sps_video_parameter_set_id, 0...15.
  package var videoParameterSetID = 0
  /// The number of temporal sub-layers, 1...7.
  package var subLayerCount = 1
  /// sps_temporal_id_nesting_flag
  package var isTemporalNested = true
  package var profileTierLevel = HEVCProfileTierLevel()
  /// sps_seq_parameter_set_id, 0...15.
  package var id = 0
  /// chroma_format_idc: 0 grey, 1 4:2:0, 2 4:2:2, 3 4:4:4.
  package var chromaFormat = 1
  /// separate_colour_plane_flag
  package var hasSeparatePlanes = false
  /// pic_width_in_luma_samples, 1...65535.
  package var codedWidth = 1
  /// pic_height_in_luma_samples, 1...65535.
  package var codedHeight = 1
  /// The conformance window offsets in units of `chromaUnit`; nil: no window.
  package var conformanceWindow: CropOffsets?
  /// bit_depth_luma_minus8 + 8, 8...16.
  package var bitDepthLuma = 8
  package var bitDepthChroma = 8
  /// log2_max_pic_order_cnt_lsb_minus4 + 4, 4...16.
  package var log2MaxPictureOrderCountLSB = 4
  package var ordering = HEVCSubLayerOrdering()
  /// log2_min_luma_coding_block_size_minus3 + 3, 3...6.
  package var log2MinCodingBlock = 3
  /// log2_diff_max_min_luma_coding_block_size: the difference to the size of coding tree blocks.
  package var log2DiffMaxMinCodingBlock = 1
  /// log2_min_luma_transform_block_size_minus2 + 2, 2...5.
  package var log2MinTransformBlock = 2
  /// log2_diff_max_min_luma_transform_block_size
  package var log2DiffMaxMinTransformBlock = 3
  /// max_transform_hierarchy_depth_inter
  package var maxTransformHierarchyDepthInter = 0
  /// max_transform_hierarchy_depth_intra
  package var maxTransformHierarchyDepthIntra = 0
  /// scaling_list_enabled_flag
  package var hasScalingLists = false
  /// The scaling lists; nil: the default lists.
  package var scalingLists: HEVCScalingLists?
  /// amp_enabled_flag
  package var hasAsymmetricPartitions = false
  /// sample_adaptive_offset_enabled_flag
  package var hasSampleAdaptiveOffset = false
  /// PCM coding; nil: pcm_enabled_flag is 0.
  package var pcm: PCM?
  /// The short-term reference picture sets, at most 64.
  package var referencePictureSets: [HEVCReferencePictureSet] = []
  /// The candidates for long-term references, at most 32; nil: there are no long-term references.
  package var longTermReferences: [LongTermReference]?
  /// sps_temporal_mvp_enabled_flag
  package var hasTemporalMotion = false
  /// strong_intra_smoothing_enabled_flag
  package var hasStrongIntraSmoothing = false
  /// vui_parameters(); nil: not present.
  package var vui: HEVCVideoUsability?
  /// sps_range_extension()
  package var rangeExtension: RangeExtension?

  package struct RangeExtension: Equatable, Sendable {
    /// The nine flags in the order of the syntax, the first in the highest bit.
    package var flags = 0

    package init(flags: Int = 0) { self.flags = flags }

    /// high_precision_offsets_enabled_flag: whether the offsets of weighted prediction have a wider
    /// range.
    package var hasHighPrecisionOffsets: Bool { flags >> 2 & 1 == 1 }
  }

  package init() {}

  // MARK: - What follows from it

  package var chromaArrayType: Int { hasSeparatePlanes ? 0 : chromaFormat }
  /// The size of a unit of the windows in luma samples (SubWidthC, SubHeightC).
  package var chromaUnit: (x: Int, y: Int) {
    (chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1, chromaArrayType == 1 ? 2 : 1)
  }
  /// The width of the conformance window in luma samples.
  package var width: Int { codedWidth - (conformanceWindow.map { $0.left + $0.right } ?? 0) * chromaUnit.x }
  /// The height of the conformance window in luma samples.
  package var height: Int { codedHeight - (conformanceWindow.map { $0.top + $0.bottom } ?? 0) * chromaUnit.y }
  package var log2CodingTreeBlock: Int { log2MinCodingBlock + log2DiffMaxMinCodingBlock }
  /// PicSizeInCtbsY: the number of coding tree blocks in a picture.
  package var codingTreeBlocks: Int {
    let size = 1 << log2CodingTreeBlock
    return ((codedWidth + size - 1) / size) * codingTreeBlockRows
  }
  /// PicHeightInCtbsY: the number of rows of coding tree blocks.
  package var codingTreeBlockRows: Int {
    let size = 1 << log2CodingTreeBlock
    return (codedHeight + size - 1) / size
  }
  package var isInterlaced: Bool {
    let profile = profileTierLevel.profile
    return vui?.isFieldSequence ?? false || (profile.isInterlacedSource && !profile.isProgressiveSource)
  }
  /// The default display window as offsets in luma samples from the edges of the conformance
  /// window; nil if there is none, or it is larger than the picture.
  package var displayWindow: CropOffsets? {
    guard let window = vui?.displayWindow?.scaled(by: chromaUnit), window.left + window.right < width,
      window.top + window.bottom < height
    else { return nil }
    return window
  }
}
