// SPDX-License-Identifier: Apache-2.0
/// slice_type (Table 7-7).
package enum HEVCSliceKind: Int, Sendable, BitwiseCopyable {
  case b, p, i
}

/// slice_segment_header() of HEVC (7.3.6.1) of the base layer.
package struct HEVCSliceHeader: Equatable, Sendable {
  /// A long-term reference picture of the slice header.
  package struct LongTermReference: Equatable, Sendable {
    /// lt_idx_sps: the index in the sequence parameter set; nil where the next two properties give
    /// the picture.
    package var index: Int?
    package var pictureOrderCountLSB = 0
    package var isUsed = false
    /// delta_poc_msb_cycle_lt
    package var msbCycle: Int?

    package init() {}
  }

  /// collocated_from_l0_flag and collocated_ref_idx
  package struct Collocated: Equatable, Sendable {
    package var isFromL0 = true
    package var index = 0

    package init() {}
  }

  /// The NAL unit header.
  package var nal = HEVCNALUnitHeader(type: .trailR)
  /// first_slice_segment_in_pic_flag
  package var isFirstInPicture = true
  /// no_output_of_prior_pics_flag of IRAP pictures.
  package var discardsPriorPictures = false
  package var pictureParameterSetID = 0
  /// dependent_slice_segment_flag: whether the segment has the slice header of the one before it.
  package var isDependent = false
  /// slice_segment_address in coding tree blocks; not present in the first segment of a picture.
  package var segmentAddress = 0
  /// The bits of slice_reserved_flag.
  package var extraBits = 0
  package var kind = HEVCSliceKind.i
  /// pic_output_flag
  package var isOutput = true
  /// colour_plane_id; only with separate colour planes.
  package var colorPlane = 0
  package var pictureOrderCountLSB = 0
  /// short_term_ref_pic_set_idx; nil where the header contains `referencePictureSet`.
  package var referencePictureSetIndex: Int?
  /// The short-term reference picture set in the header, where `referencePictureSetIndex` is nil.
  package var referencePictureSet = HEVCReferencePictureSet()
  /// The long-term references; those of the sequence parameter set are first.
  package var longTermReferences: [LongTermReference] = []
  /// slice_temporal_mvp_enabled_flag
  package var hasTemporalMotion = false
  /// slice_sao_luma_flag
  package var hasLumaSAO = false
  /// slice_sao_chroma_flag
  package var hasChromaSAO = false
  /// num_ref_idx_l0_active_minus1 + 1, 1...15, in P and B slices.
  package var activeReferences = 1
  /// num_ref_idx_l1_active_minus1 + 1, 1...15, in B slices.
  package var activeReferencesL1 = 1
  /// list_entry_l0; nil: the initial list.
  package var list0: [Int]?
  /// list_entry_l1; nil: the initial list.
  package var list1: [Int]?
  /// mvd_l1_zero_flag
  package var isMotionDifferenceL1Zero = false
  /// cabac_init_flag
  package var cabacInit = false
  package var collocated = Collocated()
  /// pred_weight_table(); nil where the slice has none.
  package var weights: HEVCPredictionWeights?
  /// MaxNumMergeCand, 1...5
  package var mergeCandidates = 5
  /// SliceQpY
  package var qp = 26
  /// slice_cb_qp_offset
  package var cbQPOffset = 0
  /// slice_cr_qp_offset
  package var crQPOffset = 0
  /// cu_chroma_qp_offset_enabled_flag
  package var adjustsChromaQP = false
  /// The deblocking filter; nil: that of the picture parameter set.
  package var deblocking: HEVCDeblockingFilter?
  /// slice_loop_filter_across_slices_enabled_flag
  package var isFilteredAcross = false
  /// offset_len_minus1 + 1, 1...32.
  package var entryPointLength = 32
  /// entry_point_offset_minus1 + 1 of each entry point.
  package var entryPoints: [Int] = []
  /// slice_segment_header_extension_data_byte
  package var extensionBytes: [Int] = []

  package init() {}

  /// Whether the slice is an I slice.
  package var isIntra: Bool { kind == .i }

  /// Whether the slice segment of a NAL unit is the first of its picture.
  package static func isFirstSegment<Bytes: Collection<UInt8>>(_ nalUnit: Bytes) -> Bool {
    nalUnit.dropFirst(2).first.map { $0 & 0x80 != 0 } ?? false
  }
}
