// SPDX-License-Identifier: Apache-2.0

/// What the coding of a picture's blocks reads of the picture.
struct PictureContext: BitwiseCopyable {
  /// The samples to code.
  var source: Planes
  /// Receives the reconstruction and the motion.
  var target: ReferencePicture
  /// Reference list 0, and from `listSize` on list 1: the pictures, and PicOrderCntVal and kind of
  /// each.
  var references: UnsafeMutablePointer<ReferencePicture>
  var identities: UnsafeMutablePointer<ReferenceIdentity>
  /// num_ref_idx_l0_active; 0 for an I slice.
  var referenceCount = 0
  /// num_ref_idx_l1_active; 0 for I and P slices.
  var referenceCountL1 = 0
  /// PicOrderCntVal
  var order: Int32 = 0
  /// Whether slice_temporal_mvp_enabled_flag is 1.
  var hasTemporalMotion = false
  /// The list of the collocated picture (collocated_from_l0_flag), whose first picture it is.
  var collocatedList = 0
  /// NoBackwardPredFlag (8.5.3.2.9): whether no reference picture is shown after this one.
  var hasOnlyEarlierReferences = true

  /// The room for the pictures of a list.
  static let listSize = 16
  /// Whether the slice is a B slice.
  var isBidirectional: Bool { referenceCountL1 > 0 }

  /// The reference picture with an index in a list.
  @inline(__always) func reference(_ list: Int, _ index: Int) -> ReferencePicture {
    references[list &* Self.listSize &+ index]
  }
  /// PicOrderCntVal and kind of the reference picture with an index in a list.
  @inline(__always) func identity(_ list: Int, _ index: Int16) -> ReferenceIdentity {
    identities[list &* Self.listSize &+ Int(index)]
  }
}
