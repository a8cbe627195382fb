// SPDX-License-Identifier: Apache-2.0

/// What the coding of a picture's blocks reads of the picture.
struct PictureContext: BitwiseCopyable {
  /// The samples to code.
  var source: Planes
  /// Receives the reconstruction and the motion.
  var target: ReferencePicture
  /// Reference list 0: the pictures, and PicOrderCntVal and kind of each.
  var references: UnsafeMutablePointer<ReferencePicture>
  var identities: UnsafeMutablePointer<ReferenceIdentity>
  /// num_ref_idx_l0_active; 0 for an I slice.
  var referenceCount = 0
  /// PicOrderCntVal
  var order: Int32 = 0
  /// Whether slice_temporal_mvp_enabled_flag is 1: the first reference is the collocated picture.
  var hasTemporalMotion = false
}
