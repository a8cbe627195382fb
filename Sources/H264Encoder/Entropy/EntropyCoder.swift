// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

/// The values of the slice header and the picture parameter set that macroblock syntax depends on.
struct SliceParameters: Equatable, Sendable {
  /// Whether it is a P slice. If neither this nor `isB` is set, it is an I slice.
  var isP = false
  /// Whether it is a B slice.
  var isB = false
  /// num_ref_idx_l0_active_minus1 + 1
  var activeReferences = 1
  /// num_ref_idx_l1_active_minus1 + 1 (B slices)
  var activeReferencesL1 = 1
  /// transform_8x8_mode_flag of the picture parameter set.
  var transform8x8Mode = false
  /// constrained_intra_pred_flag of the picture parameter set.
  var constrainedIntraPrediction = false
  /// Whether ChromaArrayType is 3 (4:4:4).
  var is444 = false
  /// SliceQP_Y
  var qp = 26
  /// cabac_init_idc
  var cabacInitIDC = 0
}

/// Writes slice data, one slice at a time: `begin`, `encode` for each macroblock in order, then
/// `finish`.
///
/// `encode` reads the syntax elements of the macroblock and of its neighbours in the slice from a
/// `PictureSyntax`. Where a decoder derives values, it sets them in `MacroblockInfo`:
/// - `qp` becomes the QP that a decoder derives where mb_qp_delta is not sent, and 0 for I_PCM.
/// - `transform8x8` becomes 0 where transform_size_8x8_flag is not sent.
/// - I_PCM gets coded_block_pattern 0x2F and all bits of `codedDC`, skipped macroblocks get none.
///
/// Several writers, each with its own memory, may write slices of one picture at the same time.
protocol EntropyCoder: SendableMetatype {
  /// The number of bits so far, with the slice header, as if the slice ended here (within a few
  /// bits).
  var bitCount: Int { get }
  /// Whether the memory was too small, so that the data is of no use.
  var overflowed: Bool { get }
  /// QP_Y,PRED of the next macroblock.
  var predictedQP: Int { get }

  /// Begins a slice.
  ///
  /// - Parameters:
  ///   - slice: the slice's parameters.
  ///   - picture: the picture's macroblocks.
  ///   - bits: the memory, in which the slice header has been written.
  mutating func begin(_ slice: SliceParameters, picture: PictureSyntax, after bits: BitWriter)
  /// Writes a macroblock.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - levels: its levels (`LevelLayout`); not read for skipped macroblocks and I_PCM.
  ///   - pcm: for I_PCM, 256 luma, 64 Cb and 64 Cr samples; at 4:4:4, 256 of each.
  mutating func encode(macroblock m: Int, levels: UnsafePointer<Int16>, pcm: UnsafePointer<UInt8>?)
  /// Ends the slice with its trailing bits.
  ///
  /// - Returns: the size of the RBSP in bytes, with the slice header.
  mutating func finish() -> Int
  /// Stores the state before a macroblock.
  mutating func save()
  /// Returns to the state that `save` has stored. May be called once after each `save`.
  mutating func restore()
}

extension MacroblockInfo {
  /// Whether no sub-macroblock partition is smaller than 8x8 (noSubMbPartSizeLessThan8x8Flag).
  @inline(__always) var hasOnlyWholeSubMacroblocks: Bool {
    subType.0 | subType.1 | subType.2 | subType.3 == 0
  }

  /// The `SubMacroblockType` of 8x8 block `i`.
  @inline(__always) func subMacroblockType(_ i: Int) -> UInt8 {
    switch i {
    case 0: subType.0
    case 1: subType.1
    case 2: subType.2
    default: subType.3
    }
  }
}

extension PictureSyntax {
  /// Predicts the intra mode of a 4x4 block, or of the 8x8 block that begins there:
  /// predIntra4x4PredMode (8.3.1.1) or predIntra8x8PredMode (8.3.2.1).
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - x: the column of the 4x4 block in the macroblock.
  ///   - y: the row of the 4x4 block in the macroblock.
  ///   - constrained: constrained_intra_pred_flag.
  @inline(__always)
  func predictedIntraMode(macroblock m: Int, x: Int, y: Int, constrained: Bool) -> Int8 {
    let modes = intraModes + m &* 16
    let available = info[m].available
    var left: Int8
    if x > 0 {
      left = modes[y &* 4 &+ x &- 1]
    } else {
      if available & Availability.left == 0 { return 2 }
      if constrained && !MacroblockType.isIntra(info[m &- 1].type) { return 2 }
      left = modes[y &* 4 &- 13]
    }
    if y > 0 {
      left = min(left, modes[y &* 4 &+ x &- 4])
    } else {
      if available & Availability.top == 0 { return 2 }
      let above = m &- widthInMbs
      if constrained && !MacroblockType.isIntra(info[above].type) { return 2 }
      left = min(left, intraModes[above &* 16 &+ 12 &+ x])
    }
    return left
  }

  /// Lists the 4x4 blocks in which the partitions of an inter macroblock begin, in the order of
  /// their mvd.
  ///
  /// - Parameter mb: the macroblock.
  /// - Returns: the blocks in raster order, four bits each, the first one lowest; and their number.
  @inline(__always)
  func partitions(_ mb: UnsafePointer<MacroblockInfo>) -> (blocks: UInt64, count: Int) {
    switch mb.pointee.type {
    case MacroblockType.inter16x16: return (0, 1)
    case MacroblockType.inter16x8: return (0x80, 2)
    case MacroblockType.inter8x16: return (0x20, 2)
    default:
      if mb.pointee.hasOnlyWholeSubMacroblocks { return (0xA820, 4) }
      var blocks: UInt64 = 0
      var count = 0
      for i in 0..<4 {
        let first = UInt64(truncatingIfNeeded: i & 1 &* 2 &+ (i &>> 1) &* 8)
        let part: UInt64
        let parts: Int
        switch mb.pointee.subMacroblockType(i) {
        case SubMacroblockType.whole8x8: (part, parts) = (first, 1)
        case SubMacroblockType.halves8x4: (part, parts) = (first &* 0x11 &+ 0x40, 2)
        case SubMacroblockType.halves4x8: (part, parts) = (first &* 0x11 &+ 0x10, 2)
        default: (part, parts) = (first &* 0x1111 &+ 0x5410, 4)
        }
        blocks |= part &<< UInt64(truncatingIfNeeded: count &* 4)
        count &+= parts
      }
      return (blocks, count)
    }
  }
}
