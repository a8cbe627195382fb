// SPDX-License-Identifier: Apache-2.0
/// The prediction of a macroblock, a part of mb_type (Tables 7-11, 7-13 and 7-14). What else
/// mb_type says (the Intra_16x16 mode, coded_block_pattern, the lists of B macroblocks) is in other
/// fields.
enum MacroblockType {
  /// Intra_4x4
  static let intra4x4: UInt8 = 0
  /// Intra_8x8
  static let intra8x8: UInt8 = 1
  /// Intra_16x16
  static let intra16x16: UInt8 = 2
  /// I_PCM
  static let pcm: UInt8 = 3
  /// One partition.
  static let inter16x16: UInt8 = 4
  /// Two partitions, one above the other.
  static let inter16x8: UInt8 = 5
  /// Two partitions side by side.
  static let inter8x16: UInt8 = 6
  /// Four sub-macroblocks.
  static let inter8x8: UInt8 = 7
  /// P_Skip or B_Skip
  static let skip: UInt8 = 8
  /// B_Direct_16x16. Other inter macroblocks of B pictures have the types `inter16x16` to
  /// `inter8x8`; their reference indices say which lists a partition is predicted from.
  static let direct: UInt8 = 9

  /// Whether a type is an intra type, I_PCM included.
  @inline(__always) static func isIntra(_ type: UInt8) -> Bool { type <= pcm }
}

/// The shape of the sub-macroblock partitions, a part of sub_mb_type (Tables 7-17 and 7-18). In B
/// pictures, 8x8 blocks may also be direct (`MacroblockInfo.directBlocks`).
enum SubMacroblockType {
  /// One partition.
  static let whole8x8: UInt8 = 0
  /// Two partitions, one above the other.
  static let halves8x4: UInt8 = 1
  /// Two partitions side by side.
  static let halves4x8: UInt8 = 2
  /// Four partitions.
  static let quarters4x4: UInt8 = 3
}

/// A motion vector, or the difference of two, in quarter luma samples.
struct MotionVector: Equatable {
  /// The horizontal component.
  var x: Int16
  /// The vertical component.
  var y: Int16

  @inline(__always) init(_ x: Int16, _ y: Int16) {
    self.x = x
    self.y = y
  }
  /// Creates a vector from its components in quarter samples.
  @inline(__always) init(_ components: SIMD2<Int16>) { self.init(components.x, components.y) }
  static let zero = MotionVector(0, 0)
}

/// Bits for the neighbours of a macroblock that are in the same slice, and thus available for
/// prediction (6.4.9).
enum Availability {
  static let left: UInt8 = 1  // A
  static let top: UInt8 = 2  // B
  static let topRight: UInt8 = 4  // C
  static let topLeft: UInt8 = 8  // D
}

/// The syntax elements of a macroblock that are single values.
struct MacroblockInfo {
  /// One of `MacroblockType`.
  var type: UInt8 = 0
  /// QP_Y. Analysis sets the QP that it quantised with. The entropy coder replaces it by the QP
  /// that a decoder derives where mb_qp_delta is not sent, and by 0 for I_PCM (8.7.2.2), since the
  /// deblocking filter uses that.
  var qp: UInt8 = 0
  /// coded_block_pattern: bits 0 to 3 for the 8x8 luma blocks; bits 4 and 5 for chroma (0 none, 1
  /// DC, 2 DC and AC). For Intra_16x16, luma is 0 or 15.
  var codedBlockPattern: UInt8 = 0
  /// transform_size_8x8_flag; always 1 for Intra_8x8.
  var transform8x8: UInt8 = 0
  /// Intra16x16PredMode, 0 to 3.
  var intra16x16Mode: UInt8 = 0
  /// intra_chroma_pred_mode, 0 to 3.
  var intraChromaMode: UInt8 = 0
  /// The neighbours in the same slice, as `Availability` bits.
  var available: UInt8 = 0
  /// coded_block_flag of the DC blocks: bit 0 Intra16x16DCLevel, bit 1 Cb DC, bit 2 Cr DC; at 4:4:4
  /// the latter are CbIntra16x16DCLevel and CrIntra16x16DCLevel.
  var codedDC: UInt8 = 0
  /// sub_mb_type of the four 8x8 blocks, as `SubMacroblockType`.
  var subType: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
  /// The index of the macroblock's slice in the picture.
  var slice: UInt16 = 0
  /// In B pictures, a bit for each 8x8 block whose motion is derived by direct prediction; 15 for
  /// B_Skip and B_Direct_16x16.
  var directBlocks: UInt8 = 0
}

/// The syntax elements of a picture's macroblocks, in one array for each element.
///
/// `m` is the macroblock's address, mbAddr (raster order). The 4x4 blocks of a macroblock are in
/// raster order (y * 4 + x), and so are its 8x8 blocks (y * 2 + x).
struct PictureSyntax {
  /// Macroblocks in a row.
  let widthInMbs: Int
  /// Macroblock rows.
  let heightInMbs: Int
  /// The single values, one for each macroblock.
  let info: UnsafeMutablePointer<MacroblockInfo>
  /// total_coeff of each block, 24 for each macroblock: 16 of luma in raster order, 4 of Cb, 4 of
  /// Cr (AC only).
  ///
  /// For Intra_16x16, luma counts AC levels only. With the 8x8 transform, CAVLC has the counts of
  /// the four interleaved lists, and CABAC has the block's count, 16 at most, in all four entries.
  /// Blocks that coded_block_pattern marks as not coded have 0, those of I_PCM 16.
  ///
  /// At 4:4:4, the counts of luma are followed by those of Cb, `componentCounts` further on, and by
  /// those of Cr, each laid out as luma's are.
  var nonZero: UnsafeMutablePointer<UInt8>
  /// Intra4x4PredMode or Intra8x8PredMode of each 4x4 block, 16 for each macroblock. Macroblocks of
  /// all other types have 2 (DC); inter macroblocks have -1 under constrained_intra_pred_flag.
  let intraModes: UnsafeMutablePointer<Int8>
  /// ref_idx_l0 of each 8x8 block, 4 for each macroblock; -1 for intra, and in B pictures where
  /// list 0 is not used.
  let referenceIndex: UnsafeMutablePointer<Int8>
  /// The list 0 vector of each 8x8 block, 4 for each macroblock, as smaller partitions are not
  /// used; zero for intra.
  let motion: UnsafeMutablePointer<MotionVector>
  /// mvd_l0 of the partition that covers each 4x4 block, 16 for each macroblock; zero for skipped,
  /// direct and intra macroblocks.
  let motionDifference: UnsafeMutablePointer<MotionVector>
  /// In B pictures, ref_idx_l1 of each 8x8 block; -1 where list 1 is not used. Skipped and direct
  /// blocks have the derived index.
  let referenceIndexL1: UnsafeMutablePointer<Int8>
  /// In B pictures, the list 1 vector of each 8x8 block; zero where list 1 is not used. Skipped and
  /// direct blocks have the derived vector.
  let motionL1: UnsafeMutablePointer<MotionVector>
  /// In B pictures, mvd_l1 of the partition that covers each 4x4 block; zero where list 1 is not
  /// used, and for skipped and direct blocks.
  let motionDifferenceL1: UnsafeMutablePointer<MotionVector>

  /// At 4:4:4, the number of entries of `nonZero` from a component to the next.
  @inline(__always) var componentCounts: Int { widthInMbs &* heightInMbs &* 24 }
}

/// Where the levels of a macroblock are in the memory that the entropy coder reads; all lists are
/// in scan order.
///
/// Luma has 256 levels: 16 lists of 16 in luma4x4BlkIdx (z) order, or, with CABAC and the 8x8
/// transform, 4 lists of 64. Then follow Cb AC and Cr AC (4 lists of 16 each), Intra16x16DCLevel
/// (16), Cb DC (4) and Cr DC (4). In AC lists, of chroma and of Intra_16x16 luma, index 0 is unused
/// and zero, and the 15 levels follow.
///
/// At 4:4:4 there are three such lists of lists, for Y, Cb and Cr, of which what is for luma is
/// used.
enum LevelLayout {
  /// The first luma level.
  static let luma = 0
  /// The first AC level of Cb.
  static let chromaAC = 256
  /// The first level of Intra16x16DCLevel.
  static let lumaDC = 384
  /// The first DC level of Cb.
  static let chromaDC = 400
  /// The number of levels.
  static let count = 416

  /// The number of levels of a macroblock.
  @inline(__always) static func count(is444: Bool) -> Int { is444 ? 3 &* count : count }
  /// The number of samples of an I_PCM macroblock.
  @inline(__always) static func samples(is444: Bool) -> Int { is444 ? 768 : 384 }
}
