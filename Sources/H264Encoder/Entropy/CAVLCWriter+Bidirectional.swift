// SPDX-License-Identifier: Apache-2.0
import VideoBitstream

// mb_type, mb_pred() and sub_mb_pred() of inter macroblocks in B slices (7.3.5).
extension CAVLCWriter {
  /// Writes mb_type, sub_mb_type, reference indices and vector differences of an inter macroblock
  /// in a B slice.
  ///
  /// - Parameters:
  ///   - w: the writer of the slice's bits.
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  @inline(never)
  func bidirectionalPrediction(_ w: inout BitWriter, _ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>) {
    let type = mb.pointee.type
    w.ue(picture.bidirectionalType(m))
    if type == MacroblockType.direct { return }
    let isQuartered = type == MacroblockType.inter8x8
    if isQuartered {
      for i in 0..<4 { w.ue(picture.bidirectionalSubType(m, i)) }
    }
    let skipped = isQuartered ? mb.pointee.directBlocks : 0
    let firsts = picture.partitionFirsts(type)
    references(&w, picture.referenceIndex + m &* 4, firsts, skipped, largest: slice.activeReferences &- 1)
    references(&w, picture.referenceIndexL1 + m &* 4, firsts, skipped, largest: slice.activeReferencesL1 &- 1)
    differences(&w, mb, picture.referenceIndex + m &* 4, picture.motionDifference + m &* 16, skipped)
    differences(&w, mb, picture.referenceIndexL1 + m &* 4, picture.motionDifferenceL1 + m &* 16, skipped)
  }

  /// Writes ref_idx_l0 or ref_idx_l1.
  ///
  /// - Parameters:
  ///   - w: the writer of the slice's bits.
  ///   - indices: the reference indices of the macroblock's 8x8 blocks in the list.
  ///   - firsts: a bit for each 8x8 block in which a partition begins.
  ///   - skipped: a bit for each 8x8 block that is direct.
  ///   - largest: num_ref_idx_l0_active_minus1 or num_ref_idx_l1_active_minus1.
  private func references(
    _ w: inout BitWriter, _ indices: UnsafePointer<Int8>, _ firsts: UInt8, _ skipped: UInt8, largest: Int
  ) {
    if largest == 0 { return }
    for i in 0..<4 where (firsts & ~skipped) &>> UInt8(truncatingIfNeeded: i) & 1 != 0 && indices[i] >= 0 {
      w.te(Int(indices[i]), largest: largest)
    }
  }

  /// Writes mvd_l0 or mvd_l1.
  ///
  /// - Parameters:
  ///   - w: the writer of the slice's bits.
  ///   - mb: the macroblock.
  ///   - indices: the reference indices of the macroblock's 8x8 blocks in the list.
  ///   - differences: the vector differences of its 4x4 blocks in the list.
  ///   - skipped: a bit for each 8x8 block that is direct.
  private func differences(
    _ w: inout BitWriter, _ mb: UnsafePointer<MacroblockInfo>, _ indices: UnsafePointer<Int8>,
    _ differences: UnsafePointer<MotionVector>, _ skipped: UInt8
  ) {
    var (blocks, count) = picture.partitions(mb)
    while count > 0 {
      let block = Int(truncatingIfNeeded: blocks & 15)
      let i = block >> 3 &* 2 &+ (block >> 1 & 1)
      if indices[i] >= 0 && skipped &>> UInt8(truncatingIfNeeded: i) & 1 == 0 {
        w.se(Int(differences[block].x))
        w.se(Int(differences[block].y))
      }
      blocks = blocks &>> 4
      count &-= 1
    }
  }
}
