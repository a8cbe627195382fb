/// pic_parameter_set_rbsp() (7.3.2.2), without slice groups and weighted prediction.
struct PictureParameterSet: Equatable, Sendable {
  var id = 0
  var sequenceParameterSetID = 0
  /// entropy_coding_mode_flag: CABAC.
  var cabac = true
  /// num_ref_idx_l0_default_active_minus1 + 1
  var defaultActiveReferences = 1
  /// 26 + pic_init_qp_minus26, 0...51.
  var initialQP = 26
  /// -12...12
  var chromaQPOffset = 0
  var deblockingControlPresent = true
  var constrainedIntraPrediction = false
  /// transform_8x8_mode_flag; High profiles only.
  var transform8x8 = false
  /// second_chroma_qp_index_offset (Cr); nil: the same as `chromaQPOffset`. High profiles only.
  var secondChromaQPOffset: Int?

  /// Writes the payload, trailing bits included.
  func write(to bits: inout BitWriter) {
    bits.ue(id)
    bits.ue(sequenceParameterSetID)
    bits.flag(cabac)
    bits.flag(false)  // bottom_field_pic_order_in_frame_present_flag
    bits.ue(0)  // num_slice_groups_minus1
    bits.ue(defaultActiveReferences - 1)
    bits.ue(0)  // num_ref_idx_l1_default_active_minus1
    bits.flag(false)  // weighted_pred_flag
    bits.put(0, 2)  // weighted_bipred_idc
    bits.se(initialQP - 26)
    bits.se(0)  // pic_init_qs_minus26
    bits.se(chromaQPOffset)
    bits.flag(deblockingControlPresent)
    bits.flag(constrainedIntraPrediction)
    bits.flag(false)  // redundant_pic_cnt_present_flag
    let second = secondChromaQPOffset ?? chromaQPOffset
    if transform8x8 || second != chromaQPOffset {
      bits.flag(transform8x8)
      bits.flag(false)  // pic_scaling_matrix_present_flag
      bits.se(second)
    }
    bits.trailingBits()
    bits.flush()
  }
}
