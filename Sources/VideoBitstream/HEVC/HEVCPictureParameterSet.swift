// SPDX-License-Identifier: Apache-2.0
/// pic_parameter_set_rbsp() of HEVC (7.3.2.3).
package struct HEVCPictureParameterSet: Equatable, Sendable {
  /// The syntax elements that follow tiles_enabled_flag.
  package struct Tiles: Equatable, Sendable {
    /// num_tile_columns_minus1 + 1; 1...20 in all levels.
    package var columns = 1
    /// num_tile_rows_minus1 + 1; 1...22 in all levels.
    package var rows = 1
    /// The widths of all columns but the last and the heights of all rows but the last, in coding
    /// tree blocks; nil: uniform spacing.
    package var sizes: Sizes?
    /// loop_filter_across_tiles_enabled_flag
    package var isFilteredAcross = true

    package struct Sizes: Equatable, Sendable {
      package var widths: [Int]
      package var heights: [Int]

      package init(widths: [Int] = [], heights: [Int] = []) {
        self.widths = widths
        self.heights = heights
      }
    }

    package init() {}

    mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
      c.ue(&columns, 1...1024)
      c.ue(&rows, 1...1024)
      var isUniform = sizes == nil
      c.flag(&isUniform)
      if !isUniform, c.failure == nil {
        var value = sizes ?? Sizes()
        c.list(&value.widths, count: columns - 1, 1) { $0.ue(&$1, 1...65536) }
        c.list(&value.heights, count: rows - 1, 1) { $0.ue(&$1, 1...65536) }
        sizes = value
      }
      c.flag(&isFilteredAcross)
    }
  }

  /// The syntax elements that follow deblocking_filter_control_present_flag.
  package struct Deblocking: Equatable, Sendable {
    /// deblocking_filter_override_enabled_flag
    package var allowsOverride = false
    package var filter = HEVCDeblockingFilter()

    package init() {}
  }

  /// pps_pic_parameter_set_id, 0...63.
  package var id = 0
  /// pps_seq_parameter_set_id, 0...15.
  package var sequenceParameterSetID = 0
  /// dependent_slice_segments_enabled_flag
  package var allowsDependentSegments = false
  /// output_flag_present_flag
  package var hasOutputFlag = false
  /// num_extra_slice_header_bits, 0...7
  package var extraHeaderBits = 0
  /// sign_data_hiding_enabled_flag
  package var hidesSigns = false
  /// cabac_init_present_flag
  package var hasCabacInit = false
  /// num_ref_idx_l0_default_active_minus1 + 1, 1...15.
  package var defaultActiveReferences = 1
  /// num_ref_idx_l1_default_active_minus1 + 1, 1...15.
  package var defaultActiveReferencesL1 = 1
  /// 26 + init_qp_minus26, down to -48 with more than eight bits.
  package var initialQP = 26
  /// constrained_intra_pred_flag
  package var constrainedIntraPrediction = false
  /// transform_skip_enabled_flag
  package var allowsTransformSkip = false
  /// diff_cu_qp_delta_depth; nil where cu_qp_delta_enabled_flag is 0.
  package var qpDeltaDepth: Int?
  /// pps_cb_qp_offset, -12...12.
  package var cbQPOffset = 0
  /// pps_cr_qp_offset, -12...12.
  package var crQPOffset = 0
  /// pps_slice_chroma_qp_offsets_present_flag
  package var hasSliceChromaQPOffsets = false
  /// weighted_pred_flag: whether P slices have explicit weights.
  package var hasWeightedPrediction = false
  /// weighted_bipred_flag: whether B slices have explicit weights.
  package var hasWeightedBiprediction = false
  /// transquant_bypass_enabled_flag
  package var allowsTransquantBypass = false
  /// entropy_coding_sync_enabled_flag: whether rows of coding tree blocks are wavefronts.
  package var isSynchronised = false
  /// The tiles; nil: tiles_enabled_flag is 0.
  package var tiles: Tiles?
  /// pps_loop_filter_across_slices_enabled_flag
  package var isFilteredAcrossSlices = false
  /// The deblocking filter; nil: deblocking_filter_control_present_flag is 0.
  package var deblocking: Deblocking?
  /// The scaling lists; nil: pps_scaling_list_data_present_flag is 0.
  package var scalingLists: HEVCScalingLists?
  /// lists_modification_present_flag
  package var allowsListModification = false
  /// log2_parallel_merge_level_minus2 + 2, 2...6.
  package var log2ParallelMergeLevel = 2
  /// slice_segment_header_extension_present_flag
  package var hasSliceHeaderExtension = false
  /// pps_range_extension(); nil: not present.
  package var rangeExtension: RangeExtension?

  /// pps_range_extension()
  package struct RangeExtension: Equatable, Sendable {
    /// cb_qp_offset_list and cr_qp_offset_list, -12...12.
    package struct ChromaOffset: Equatable, Sendable {
      package var cb = 0
      package var cr = 0

      package init(cb: Int = 0, cr: Int = 0) {
        self.cb = cb
        self.cr = cr
      }
    }

    /// The syntax elements that follow chroma_qp_offset_list_enabled_flag.
    package struct ChromaOffsetList: Equatable, Sendable {
      /// diff_cu_chroma_qp_offset_depth
      package var depth = 0
      /// The chroma QP offset list, 1...6 entries.
      package var offsets: [ChromaOffset] = []

      package init() {}
    }

    /// log2_max_transform_skip_block_size_minus2 + 2, 2...5; only with transform skip.
    package var log2MaxTransformSkipBlock = 2
    /// cross_component_prediction_enabled_flag
    package var hasCrossComponentPrediction = false
    /// The chroma QP offset list; nil: chroma_qp_offset_list_enabled_flag is 0.
    package var chromaOffsets: ChromaOffsetList?
    /// log2_sao_offset_scale_luma
    package var log2SAOOffsetScaleLuma = 0
    /// log2_sao_offset_scale_chroma
    package var log2SAOOffsetScaleChroma = 0

    package init() {}
  }

  package init() {}

  /// Reads a parameter set.
  /// - Parameter nalUnit: the NAL unit with its header, without start code or length.
  /// - Throws: `SyntaxError` if it is invalid, or truncated in its first syntax elements.
  package init<Bytes: Collection<UInt8>>(nalUnit: Bytes) throws(SyntaxError) {
    guard let header = nalUnit.first, header >> 1 & 63 == HEVCNALUnitType.pictureParameterSet.rawValue else {
      throw .invalid
    }
    var set = Self()
    let failure = BitReader.read(nalUnit, headerLength: 2) { reader -> SyntaxError? in
      set.codeStart(&reader)
      let failure = reader.failure
      // Damage in the following syntax elements is ignored: the parameter set still serves to
      // distinguish pictures.
      set.codeTools(&reader)
      set.codeFilters(&reader)
      return failure
    }
    if let failure { throw failure }
    self = set
  }

  /// Writes the raw byte sequence payload, trailing bits included.
  package func write(to bits: inout BitWriter) {
    var set = self
    set.codeStart(&bits)
    set.codeTools(&bits)
    set.codeFilters(&bits)
    bits.trailingBits()
    bits.flush()
  }

  /// The NAL unit with header and emulation prevention bytes.
  package var nalUnit: [UInt8] {
    EmulationPrevention.adding(
      header: HEVCNALUnitHeader(type: .pictureParameterSet).bytes, payload: BitWriter.bytes { write(to: &$0) }
    )
  }

  private mutating func codeStart<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.ue(&id, 0...63)
    c.ue(&sequenceParameterSetID, 0...15)
    c.flag(&allowsDependentSegments)
    c.flag(&hasOutputFlag)
    c.u(&extraHeaderBits, 3)
  }

  private mutating func codeTools<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.flag(&hidesSigns)
    c.flag(&hasCabacInit)
    c.ue(&defaultActiveReferences, 1...15)
    c.ue(&defaultActiveReferencesL1, 1...15)
    c.se(&initialQP, -48...51, above: 26)
    c.flag(&constrainedIntraPrediction)
    c.flag(&allowsTransformSkip)
    c.optional(&qpDeltaDepth, 0) { $0.ue(&$1, 0...3) }
    c.se(&cbQPOffset, -12...12)
    c.se(&crQPOffset, -12...12)
    c.flag(&hasSliceChromaQPOffsets)
    c.flag(&hasWeightedPrediction)
    c.flag(&hasWeightedBiprediction)
    c.flag(&allowsTransquantBypass)
    var hasTiles = tiles != nil
    c.flag(&hasTiles)
    c.flag(&isSynchronised)
    if hasTiles, c.failure == nil {
      var value = tiles ?? Tiles()
      value.code(&c)
      if c.failure == nil { tiles = value }
    }
  }

  private mutating func codeFilters<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.flag(&isFilteredAcrossSlices)
    c.optional(&deblocking, Deblocking()) {
      $0.flag(&$1.allowsOverride)
      $1.filter.code(&$0)
    }
    c.optional(&scalingLists, HEVCScalingLists()) { $1.code(&$0) }
    c.flag(&allowsListModification)
    c.ue(&log2ParallelMergeLevel, 2...6)
    c.flag(&hasSliceHeaderExtension)
    var hasExtension = rangeExtension != nil
    c.flag(&hasExtension)
    guard hasExtension else { return }
    var hasRange = rangeExtension != nil
    c.flag(&hasRange)
    c.reserved(7)
    guard hasRange, c.failure == nil else { return }
    var value = rangeExtension ?? RangeExtension()
    value.code(&c, allowsTransformSkip: allowsTransformSkip)
    if c.failure == nil { rangeExtension = value }
  }
}

extension HEVCPictureParameterSet.RangeExtension {
  fileprivate mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, allowsTransformSkip: Bool) {
    if allowsTransformSkip { c.ue(&log2MaxTransformSkipBlock, 2...5) }
    c.flag(&hasCrossComponentPrediction)
    c.optional(&chromaOffsets, ChromaOffsetList()) {
      $0.ue(&$1.depth, 0...3)
      var count = $1.offsets.count
      $0.ue(&count, 1...6)
      $0.list(&$1.offsets, count: count, ChromaOffset()) {
        $0.se(&$1.cb, -12...12)
        $0.se(&$1.cr, -12...12)
      }
    }
    c.ue(&log2SAOOffsetScaleLuma, 0...8)
    c.ue(&log2SAOOffsetScaleChroma, 0...8)
  }
}

/// The deblocking filter of a picture parameter set or a slice: whether it is off, and its offsets.
package struct HEVCDeblockingFilter: Equatable, Sendable {
  package var isDisabled = false
  /// beta_offset_div2, -6...6.
  package var betaOffset = 0
  /// tc_offset_div2, -6...6.
  package var tcOffset = 0

  package init() {}

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
    c.flag(&isDisabled)
    guard !isDisabled else { return }
    c.se(&betaOffset, -6...6)
    c.se(&tcOffset, -6...6)
  }
}
