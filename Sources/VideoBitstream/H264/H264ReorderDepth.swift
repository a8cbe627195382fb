// SPDX-License-Identifier: Apache-2.0
extension H264SequenceParameterSet {
  /// max_num_reorder_frames: the most frames that precede any frame in decoding order and follow it
  /// in output order.
  ///
  /// Where the stream does not have it (bitstream_restriction_flag is 0), this is the value that
  /// E.2.1 infers: MaxDpbFrames, or 0 in profiles with intra pictures only. A decoder that holds
  /// this number of frames back outputs all frames in the right order (C.4.5.3).
  package var maxReorderFrames: Int { vui?.restriction?.maxReorderFrames ?? inferredMaxReorderFrames }

  /// The value that E.2.1 infers where the stream has none.
  package var inferredMaxReorderFrames: Int {
    // With pic_order_cnt_type 2 output order is decoding order (8.2.1.3).
    if pictureOrderCountType == 2 { return 0 }
    let hasIntraProfiles = [44, 86, 100, 110, 122, 244].contains(profileIDC)
    if profileIDC == 44 || hasIntraProfiles && constraintFlags & 0x10 != 0 { return 0 }
    guard let level = H264Level.numbered(levelIDC),
      level.allows(widthInMbs: widthInMbs, heightInMbs: heightInMbs)
    else { return 16 }
    // A stream may have more reference frames than its level allows.
    return max(level.dpbFrames(widthInMbs: widthInMbs, heightInMbs: heightInMbs), min(maxReferenceFrames, 16))
  }
}
