// SPDX-License-Identifier: Apache-2.0

/// The samples that the coding of a picture's blocks reads and writes.
struct PictureSamples<Sample: HEVCSample>: BitwiseCopyable {
  /// The samples to code.
  var source: Planes<Sample>
  /// Receives the reconstruction.
  var target: ReferencePicture<Sample>
  /// Reference list 0, and from `PictureContext.listSize` on list 1.
  var references: UnsafeMutablePointer<ReferencePicture<Sample>>

  /// The reference picture with an index in a list.
  @inline(__always) func reference(_ list: Int, _ index: Int) -> ReferencePicture<Sample> {
    references[list &* PictureContext.listSize &+ index]
  }
}

/// The state of a picture, without its samples, that the coding of its blocks reads.
struct PictureContext: BitwiseCopyable {
  /// Receives the motion.
  var target: MotionField
  /// The motion of the collocated picture; in I slices that of any picture.
  var collocated: MotionField
  /// PicOrderCntVal and kind of the pictures of reference list 0, and from `listSize` on of list 1.
  var identities: UnsafeMutablePointer<ReferenceIdentity>
  /// The weights of the pictures of reference list 0, and from `listSize` on of list 1.
  var weights: UnsafePointer<ReferenceWeight>
  /// Whether any of them has other weights than the default.
  var isWeighted = false
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

  /// The weights of the reference picture with an index in a list.
  @inline(__always) func weight(_ list: Int, _ index: Int16) -> ReferenceWeight {
    weights[list &* Self.listSize &+ Int(index)]
  }

  /// PicOrderCntVal and kind of the reference picture with an index in a list.
  @inline(__always) func identity(_ list: Int, _ index: Int16) -> ReferenceIdentity {
    identities[list &* Self.listSize &+ Int(index)]
  }
}
