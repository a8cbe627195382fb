// SPDX-License-Identifier: Apache-2.0
/// slice_type (Table 7-7).
package enum HEVCSliceKind: Int, Sendable {
  case b, p, i
}

/// slice_segment_header() of HEVC (7.3.6.1), of the base layer.
package struct HEVCSliceHeader: Equatable, Sendable {
  /// A long-term reference that the slice names itself.
  package struct LongTermReference: Equatable, Sendable {
    /// lt_idx_sps: of the sequence parameter set's; nil where the next two say it.
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

  package var nal = HEVCNALUnitHeader(type: .trailR)
  /// first_slice_segment_in_pic_flag
  package var isFirstInPicture = true
  /// no_output_of_prior_pics_flag of IRAP pictures.
  package var discardsPriorPictures = false
  package var pictureParameterSetID = 0
  /// A segment that takes what follows from the one before it.
  package var isDependent = false
  /// In coding tree blocks; not of the first.
  package var segmentAddress = 0
  /// slice_reserved_flag bits.
  package var extraBits = 0
  package var kind = HEVCSliceKind.i
  /// pic_output_flag
  package var isOutput = true
  package var colorPlane = 0
  package var pictureOrderCountLSB = 0
  /// short_term_ref_pic_set_idx; nil: `referencePictureSet` is in the header.
  package var referencePictureSetIndex: Int?
  package var referencePictureSet = HEVCReferencePictureSet()
  /// Those of the sequence parameter set come first.
  package var longTermReferences: [LongTermReference] = []
  package var hasTemporalMotion = false
  package var hasLumaSAO = false
  package var hasChromaSAO = false
  /// 1...15, of P and B, and of B.
  package var activeReferences = 1
  package var activeReferencesL1 = 1
  /// list_entry_l0 and l1; nil: the initial lists.
  package var list0: [Int]?
  package var list1: [Int]?
  package var isMotionDifferenceL1Zero = false
  package var cabacInit = false
  package var collocated = Collocated()
  package var weights: HEVCPredictionWeights?
  /// MaxNumMergeCand, 1...5
  package var mergeCandidates = 5
  /// SliceQpY
  package var qp = 26
  package var cbQPOffset = 0
  package var crQPOffset = 0
  package var adjustsChromaQP = false
  /// Nil: that of the picture parameter set.
  package var deblocking: HEVCDeblockingFilter?
  package var isFilteredAcross = false
  /// offset_len_minus1 + 1, 1...32, and entry_point_offset_minus1 + 1 of each.
  package var entryPointLength = 32
  package var entryPoints: [Int] = []
  package var extensionBytes: [Int] = []

  package init() {}

  package var isIntra: Bool { kind == .i }

  /// Whether a NAL unit with a slice segment is the first of its picture.
  package static func isFirstSegment<Bytes: Collection<UInt8>>(_ nalUnit: Bytes) -> Bool {
    nalUnit.dropFirst(2).first.map { $0 & 0x80 != 0 } ?? false
  }
}
