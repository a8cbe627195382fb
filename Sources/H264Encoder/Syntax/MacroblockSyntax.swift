// SPDX-License-Identifier: Apache-2.0
/// How a macroblock is coded (mb_type, Tables 7-11 and 7-13), without the parts that other fields say.
enum MacroblockType {
  static let intra4x4: UInt8 = 0
  static let intra8x8: UInt8 = 1
  static let intra16x16: UInt8 = 2
  static let pcm: UInt8 = 3
  static let inter16x16: UInt8 = 4
  static let inter16x8: UInt8 = 5
  static let inter8x16: UInt8 = 6
  static let inter8x8: UInt8 = 7
  static let skip: UInt8 = 8
  /// B_Direct_16x16. B macroblocks have the types from `inter16x16` on too; which lists a partition is predicted from
  /// is in its reference indices.
  static let direct: UInt8 = 9

  @inline(__always) static func isIntra(_ type: UInt8) -> Bool { type <= pcm }
}

/// The shape that sub_mb_type tells (Tables 7-17 and 7-18); B macroblocks have direct blocks too
/// (`MacroblockInfo.directBlocks`).
enum SubMacroblockType {
  static let whole8x8: UInt8 = 0
  static let halves8x4: UInt8 = 1
  static let halves4x8: UInt8 = 2
  static let quarters4x4: UInt8 = 3
}

/// A motion vector or a difference of two, in quarter luma samples.
struct MotionVector: Equatable {
  var x: Int16
  var y: Int16

  @inline(__always) init(_ x: Int16, _ y: Int16) {
    self.x = x
    self.y = y
  }
  static let zero = MotionVector(0, 0)
}

/// Neighbours of a macroblock that are in the same slice (6.4.9), so that prediction may use them.
enum Availability {
  static let left: UInt8 = 1  // A
  static let top: UInt8 = 2  // B
  static let topRight: UInt8 = 4  // C
  static let topLeft: UInt8 = 8  // D
}

/// The scalar syntax of one macroblock.
struct MacroblockInfo {
  /// One of `MacroblockType`.
  var type: UInt8 = 0
  /// QP_Y. The analysis sets the one it quantised with; the entropy coder replaces it by the one that a
  /// decoder infers when no mb_qp_delta is sent, and by 0 for I_PCM (8.7.2.2): the one deblocking uses.
  var qp: UInt8 = 0
  /// coded_block_pattern: bits 0...3 the 8x8 luma blocks, bits 4...5 chroma (0 none, 1 DC, 2 DC and AC).
  /// For Intra_16x16, luma is 0 or 15.
  var codedBlockPattern: UInt8 = 0
  /// transform_size_8x8_flag. Always 1 for intra8x8.
  var transform8x8: UInt8 = 0
  /// Intra16x16PredMode 0...3.
  var intra16x16Mode: UInt8 = 0
  /// intra_chroma_pred_mode 0...3.
  var intraChromaMode: UInt8 = 0
  /// `Availability` bits.
  var available: UInt8 = 0
  /// coded_block_flag of the DC blocks: bit 0 Intra16x16DCLevel, bit 1 Cb DC, bit 2 Cr DC.
  var codedDC: UInt8 = 0
  /// sub_mb_type of the four 8x8 blocks.
  var subType: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0)
  /// The slice that the macroblock belongs to, counted in the picture.
  var slice: UInt16 = 0
  /// In B pictures, a bit for each 8x8 block with inferred motion (direct); 15 for skip and `direct`.
  var directBlocks: UInt8 = 0
}

/// The syntax of a whole picture, one array for each kind of element, macroblock by macroblock.
///
/// Index `m` is mbAddr (raster order). 4x4 blocks are in raster order in the macroblock (y * 4 + x),
/// 8x8 blocks likewise (y * 2 + x).
struct PictureSyntax {
  let widthInMbs: Int
  let heightInMbs: Int
  let info: UnsafeMutablePointer<MacroblockInfo>
  /// total_coeff of each block, 24 for each macroblock: 16 luma in raster order, 4 Cb, 4 Cr (AC only).
  /// Intra_16x16 luma counts AC levels only; CAVLC with the 8x8 transform counts the interleaved lists;
  /// CABAC with the 8x8 transform has the block's count in all four entries. Zero where the
  /// coded_block_pattern says that nothing is coded; 16 everywhere for I_PCM.
  let nonZero: UnsafeMutablePointer<UInt8>
  /// Intra4x4PredMode or Intra8x8PredMode of each 4x4 block, 16 for each macroblock;
  /// 2 (DC) for all macroblocks of other types, inter included.
  let intraModes: UnsafeMutablePointer<Int8>
  /// ref_idx_l0 of each 8x8 block, 4 for each macroblock; -1 for intra.
  let referenceIndex: UnsafeMutablePointer<Int8>
  /// Motion vector of each 8x8 block, 4 for each macroblock (no smaller partitions are used); zero for intra.
  let motion: UnsafeMutablePointer<MotionVector>
  /// mvd_l0 of the partition that covers each 4x4 block, 16 for each macroblock; zero for skip and intra.
  let motionDifference: UnsafeMutablePointer<MotionVector>
  /// The same of list 1, in B pictures. A list that a block does not use has -1 and zeros there; skipped and direct
  /// blocks have what is inferred for them, and no difference.
  let referenceIndexL1: UnsafeMutablePointer<Int8>
  let motionL1: UnsafeMutablePointer<MotionVector>
  let motionDifferenceL1: UnsafeMutablePointer<MotionVector>
}

/// The levels of one macroblock, in scan order, as the entropy coder reads them.
///
/// `base` holds `count` values: luma 256 (CAVLC and 4x4 transform: 16 lists of 16 in luma4x4BlkIdx order
/// — z order; CABAC with the 8x8 transform: 4 lists of 64), then Cb AC 4 x 16, Cr AC 4 x 16,
/// Intra16x16DCLevel 16, Cb DC 4, Cr DC 4. In AC lists (chroma, and luma of Intra_16x16) index 0 is
/// unused and zero; the 15 levels follow.
enum LevelLayout {
  static let luma = 0
  static let chromaAC = 256
  static let lumaDC = 384
  static let chromaDC = 400
  static let count = 416
}
