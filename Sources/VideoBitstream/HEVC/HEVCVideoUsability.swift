// SPDX-License-Identifier: Apache-2.0
/// vui_parameters() of HEVC (E.2.1).
package struct HEVCVideoUsability: Equatable, Sendable {
  /// The syntax elements that follow vui_timing_info_present_flag.
  package struct Timing: Equatable, Sendable {
    /// The clock tick, which lasts as long as a picture, or as a field in sequences of fields.
    package var ticks = VideoTicks()
    /// vui_num_ticks_poc_diff_one_minus1 + 1; nil where picture order counts are not proportional
    /// to time.
    package var ticksPerOrderCount: Int?
    package var hrd: HEVCHypotheticalDecoder?

    package init(ticks: VideoTicks = VideoTicks()) { self.ticks = ticks }
  }

  /// The syntax elements that follow bitstream_restriction_flag.
  package struct Restriction: Equatable, Sendable {
    /// tiles_fixed_structure_flag
    package var hasFixedTiles = false
    /// motion_vectors_over_pic_boundaries_flag
    package var motionVectorsOverPictureBoundaries = true
    /// restricted_ref_pic_lists_flag
    package var hasRestrictedLists = false
    /// min_spatial_segmentation_idc
    package var minSpatialSegmentation = 0
    /// max_bytes_per_pic_denom, 0...16; 0: no limit.
    package var maxBytesPerPictureDenominator = 2
    /// max_bits_per_min_cu_denom, 0...16; 0: no limit.
    package var maxBitsPerMinCodingUnitDenominator = 1
    /// log2_max_mv_length_horizontal, in quarter luma samples.
    package var log2MaxHorizontalMotion = 15
    /// log2_max_mv_length_vertical, in quarter luma samples.
    package var log2MaxVerticalMotion = 15

    package init() {}

    mutating func code<Coder: SyntaxCoder>(_ c: inout Coder) {
      c.flag(&hasFixedTiles)
      c.flag(&motionVectorsOverPictureBoundaries)
      c.flag(&hasRestrictedLists)
      c.ue(&minSpatialSegmentation, 0...4095)
      c.ue(&maxBytesPerPictureDenominator, 0...16)
      c.ue(&maxBitsPerMinCodingUnitDenominator, 0...16)
      c.ue(&log2MaxHorizontalMotion, 0...16)
      c.ue(&log2MaxVerticalMotion, 0...15)
    }
  }

  package var appearance = VideoAppearance()
  /// neutral_chroma_indication_flag
  package var hasNeutralChroma = false
  /// field_seq_flag
  package var isFieldSequence = false
  /// frame_field_info_present_flag
  package var hasPictureStructure = false
  /// default_display_window, in units of chroma samples, from the edges of the cropped picture.
  package var displayWindow: CropOffsets?
  package var timing: Timing?
  package var restriction: Restriction?

  package init() {}

  mutating func code<Coder: SyntaxCoder>(_ c: inout Coder, subLayerCount: Int) {
    appearance.code(&c)
    c.flag(&hasNeutralChroma)
    c.flag(&isFieldSequence)
    c.flag(&hasPictureStructure)
    c.optional(&displayWindow, CropOffsets()) { $1.code(&$0) }
    var hasTiming = timing != nil
    c.flag(&hasTiming)
    if hasTiming, c.failure == nil {
      var value = timing ?? Timing()
      value.ticks.code(&c)
      if c.failure == nil { timing = value }
      // The ticks are kept even if what follows is damaged.
      c.optional(&value.ticksPerOrderCount, 1) { $0.ue(&$1, 1...0xFFFF_FFFF) }
      c.optional(&value.hrd, HEVCHypotheticalDecoder()) {
        $1.code(&$0, hasCommon: true, subLayerCount: subLayerCount)
      }
      if c.failure == nil { timing = value }
    }
    c.optional(&restriction, Restriction()) { $1.code(&$0) }
  }
}
