// SPDX-License-Identifier: Apache-2.0
extension H264SequenceParameterSet {
  /// max_num_reorder_frames: how many frames may come before one in decoding order and after it in output order.
  ///
  /// Where the stream does not say it (`bitstream_restriction_flag` is 0), the value that clause E.2.1 infers:
  /// MaxDpbFrames, but in profiles with intra pictures alone. What is said or inferred here is safe to wait
  /// for (C.4.5.3): no picture is output before one that is to be seen earlier.
  package var maxReorderFrames: Int { vui?.restriction?.maxReorderFrames ?? inferredMaxReorderFrames }

  /// What E.2.1 infers where the stream does not say.
  package var inferredMaxReorderFrames: Int {
    // The output order is the decoding order (8.2.1.3).
    if pictureOrderCountType == 2 { return 0 }
    let hasIntraProfiles = [44, 86, 100, 110, 122, 244].contains(profileIDC)
    if profileIDC == 44 || hasIntraProfiles && constraintFlags & 0x10 != 0 { return 0 }
    guard let level = H264Level.numbered(levelIDC),
      level.allows(widthInMbs: widthInMbs, heightInMbs: heightInMbs)
    else { return 16 }
    // A stream may hold more than its level allows.
    return max(level.dpbFrames(widthInMbs: widthInMbs, heightInMbs: heightInMbs), min(maxReferenceFrames, 16))
  }
}
