// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

// Macroblocks of B slices (7.3.5).
extension CABACWriter {
  /// Writes a macroblock of a B slice.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - levels: its levels (`LevelLayout`).
  ///   - pcm: for I_PCM, 256 luma, 64 Cb and 64 Cr samples.
  @inline(never)
  mutating func encodeBidirectional(
    macroblock m: Int, levels: UnsafePointer<Int16>, pcm: UnsafePointer<UInt8>?
  ) {
    var e = engine
    let mb = picture.info + m
    let type = mb.pointee.type
    let left = mb - 1
    let top = mb - picture.widthInMbs
    let hasLeft = mb.pointee.available & Availability.left != 0
    let hasTop = mb.pointee.available & Availability.top != 0

    if isFirst { isFirst = false } else { e.continueSlice() }  // end_of_slice_flag of the one before

    // mb_skip_flag
    var context = 24
    if hasLeft && left.pointee.type != MacroblockType.skip { context &+= 1 }
    if hasTop && top.pointee.type != MacroblockType.skip { context &+= 1 }
    if type == MacroblockType.skip {
      e.encode(1, context)
      mb.pointee.qp = UInt8(truncatingIfNeeded: qp)
      mb.pointee.codedBlockPattern = 0
      mb.pointee.codedDC = 0
      mb.pointee.transform8x8 = 0
      previousDelta = false
      engine = e
      return
    }
    e.encode(0, context)

    // mb_type
    context = 27
    if hasLeft && !Self.isDirectOrSkip(left.pointee.type) { context &+= 1 }
    if hasTop && !Self.isDirectOrSkip(top.pointee.type) { context &+= 1 }
    if MacroblockType.isIntra(type) {
      Self.typeBins(&e, 13, context)
      if intraType(&e, mb, 32, 33, spread: 0) {
        engine = e
        encodePCM(mb, pcm)
        return
      }
      engine = e
      intraPrediction(m, mb)
    } else {
      let number = picture.bidirectionalType(m)
      switch number {
      case 0: e.encode(0, context)
      case 1, 2:
        e.encode(1, context)
        e.encode(0, 30)
        e.encode(UInt32(truncatingIfNeeded: number &- 1), 32)
      case 11: Self.typeBins(&e, 14, context)
      case 22: Self.typeBins(&e, 15, context)
      case 3...10: Self.typeBins(&e, UInt32(truncatingIfNeeded: number &- 3), context)
      default:
        let bins = UInt32(truncatingIfNeeded: number &+ 4)
        Self.typeBins(&e, bins &>> 1, context)
        e.encode(bins & 1, 32)
      }
      engine = e
      if number != 0 { bidirectionalPrediction(m, mb) }
    }
    patternAndResidual(m, mb, levels)
  }

  /// Whether a macroblock type is B_Skip or B_Direct_16x16.
  @inline(__always) private static func isDirectOrSkip(_ type: UInt8) -> Bool { type >= MacroblockType.skip }

  /// Writes the first six bins of an mb_type whose bin string begins with two ones (Table 9-37).
  ///
  /// - Parameters:
  ///   - e: the engine.
  ///   - bins: the bins after the two ones, 4 bits.
  ///   - context: ctxIdx of the first bin.
  @inline(__always) private static func typeBins(_ e: inout CABACEngine, _ bins: UInt32, _ context: Int) {
    e.encode(1, context)
    e.encode(1, 30)
    e.encode(bins &>> 3, 31)
    e.encode(bins &>> 2 & 1, 32)
    e.encode(bins &>> 1 & 1, 32)
    e.encode(bins & 1, 32)
  }

  // MARK: - mb_pred() and sub_mb_pred()

  /// Writes sub_mb_type, ref_idx_l0, ref_idx_l1, mvd_l0 and mvd_l1.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  private mutating func bidirectionalPrediction(_ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>) {
    let type = mb.pointee.type
    var skipped: UInt8 = 0
    if type == MacroblockType.inter8x8 {
      skipped = mb.pointee.directBlocks
      for i in 0..<4 { subType(picture.bidirectionalSubType(m, i)) }
    }
    let wanted = picture.partitionFirsts(type) & ~skipped
    if slice.activeReferences > 1 { references(mb, picture.referenceIndex + m &* 4, wanted) }
    if slice.activeReferencesL1 > 1 { references(mb, picture.referenceIndexL1 + m &* 4, wanted) }
    for list in 0..<2 {
      let indices = (list == 0 ? picture.referenceIndex : picture.referenceIndexL1) + m &* 4
      let differences = (list == 0 ? picture.motionDifference : picture.motionDifferenceL1) + m &* 16
      var (blocks, count) = picture.partitions(mb)
      while count > 0 {
        let block = Int(truncatingIfNeeded: blocks & 15)
        let i = block >> 3 &* 2 &+ (block >> 1 & 1)
        if indices[i] >= 0 && skipped &>> UInt8(truncatingIfNeeded: i) & 1 == 0 {
          motionDifference(mb, differences, block)
        }
        blocks = blocks &>> 4
        count &-= 1
      }
    }
  }

  /// Writes sub_mb_type of a B macroblock (Table 9-38).
  ///
  /// - Parameter number: sub_mb_type, 0 to 12.
  private mutating func subType(_ number: Int) {
    var e = engine
    let n = UInt32(truncatingIfNeeded: number)
    e.encode(n == 0 ? 0 : 1, 36)
    switch n {
    case 0: break
    case 1, 2:
      e.encode(0, 37)
      e.encode(n &- 1, 39)
    case 3...6:
      e.encode(1, 37)
      e.encode(0, 38)
      e.encode((n &- 3) &>> 1, 39)
      e.encode((n &- 3) & 1, 39)
    case 7...10:
      e.encode(1, 37)
      e.encode(1, 38)
      e.encode(0, 39)
      e.encode((n &- 7) &>> 1, 39)
      e.encode((n &- 7) & 1, 39)
    default:
      e.encode(1, 37)
      e.encode(1, 38)
      e.encode(1, 39)
      e.encode(n &- 11, 39)
    }
    engine = e
  }

  /// Writes ref_idx_l0 or ref_idx_l1. For the contexts, derived indices of neighbours count as 0
  /// (9.3.3.1.1.6).
  ///
  /// - Parameters:
  ///   - mb: the macroblock.
  ///   - own: the reference indices of the macroblock's 8x8 blocks in the list.
  ///   - wanted: a bit for each 8x8 block in which a partition begins that is not direct.
  private mutating func references(
    _ mb: UnsafeMutablePointer<MacroblockInfo>, _ own: UnsafePointer<Int8>, _ wanted: UInt8
  ) {
    var e = engine
    let available = mb.pointee.available
    /// Whether a neighbouring block has an index above 0 that is not derived.
    @inline(__always) func isAbove0(
      _ n: UnsafePointer<MacroblockInfo>, _ indices: UnsafePointer<Int8>, _ i: Int
    )
      -> Bool
    { indices[i] > 0 && n.pointee.directBlocks &>> UInt8(truncatingIfNeeded: i) & 1 == 0 }
    let width = picture.widthInMbs
    for i in 0..<4 where wanted &>> UInt8(truncatingIfNeeded: i) & 1 != 0 && own[i] >= 0 {
      var context = 54
      if i & 1 != 0 {
        if isAbove0(mb, own, i &- 1) { context &+= 1 }
      } else if available & Availability.left != 0 {
        if isAbove0(mb - 1, own - 4, i &+ 1) { context &+= 1 }
      }
      if i & 2 != 0 {
        if isAbove0(mb, own, i &- 2) { context &+= 2 }
      } else if available & Availability.top != 0 {
        if isAbove0(mb - width, own - width &* 4, i &+ 2) { context &+= 2 }
      }
      var index = own[i]
      while index > 0 {
        e.encode(1, context)
        context = context < 58 ? 58 : 59
        index &-= 1
      }
      e.encode(0, context)
    }
    engine = e
  }
}
