// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

// residual() and residual_block_cabac() (7.3.5.3).
extension CABACWriter {
  /// The contexts of a block's syntax elements, by ctxBlockCat (Tables 9-34 and 9-40).
  struct BlockKind {
    /// The first ctxIdx of coded_block_flag.
    let codedFlag: Int
    /// The first ctxIdx of significant_coeff_flag.
    let significant: Int
    /// The first ctxIdx of last_significant_coeff_flag.
    let last: Int
    /// The first ctxIdx of coeff_abs_level_minus1.
    let magnitude: Int
    /// maxNumCoeff
    let count: Int

    static let lumaDC = BlockKind(codedFlag: 85, significant: 105, last: 166, magnitude: 227, count: 16)
    static let lumaAC = BlockKind(codedFlag: 89, significant: 120, last: 181, magnitude: 237, count: 15)
    static let luma4x4 = BlockKind(codedFlag: 93, significant: 134, last: 195, magnitude: 247, count: 16)
    static let chromaDC = BlockKind(codedFlag: 97, significant: 149, last: 210, magnitude: 257, count: 4)
    static let chromaAC = BlockKind(codedFlag: 101, significant: 152, last: 213, magnitude: 266, count: 15)
    /// At 4:2:0 there is no coded_block_flag of 8x8 blocks.
    static let luma8x8 = BlockKind(codedFlag: 0, significant: 402, last: 417, magnitude: 426, count: 64)
  }

  /// Writes the levels of a macroblock.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  ///   - levels: its levels (`LevelLayout`).
  @inline(never)
  mutating func residual(_ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>, _ levels: UnsafePointer<Int16>)
  {
    let width = picture.widthInMbs
    let type = mb.pointee.type
    let pattern = mb.pointee.codedBlockPattern
    let hasLeft = mb.pointee.available & Availability.left != 0
    let hasTop = mb.pointee.available & Availability.top != 0
    // coded_block_flag of blocks outside of the slice counts as 1 for intra macroblocks
    // (9.3.3.1.1.9).
    let outside: UInt32 = MacroblockType.isIntra(type) ? 0xFF_FFFF : 0
    let counts = picture.nonZero + m &* 24
    let coded = ovt_nonzero_counts24(counts)
    let leftCoded = hasLeft ? ovt_nonzero_counts24(counts - 24) : outside
    let topCoded = hasTop ? ovt_nonzero_counts24(counts - width &* 24) : outside

    if type == MacroblockType.intra16x16 {
      var context = BlockKind.lumaDC.codedFlag
      if !hasLeft || Self.hasLumaDC(mb - 1) { context &+= 1 }
      if !hasTop || Self.hasLumaDC(mb - width) { context &+= 2 }
      flaggedBlock(
        levels + LevelLayout.lumaDC, mb.pointee.codedDC & 1 != 0, context, .lumaDC)
    }
    if pattern & 15 != 0 {
      if mb.pointee.transform8x8 != 0 {
        for i in 0..<4 where pattern &>> UInt8(truncatingIfNeeded: i) & 1 != 0 {
          block8x8(levels + i &* 64, .luma8x8)
        }
      } else {
        // Flags of the blocks at the left (A) and above (B) of each block, in raster order.
        let a = (coded &<< 1 & 0xEEEE) | (leftCoded &>> 3 & 0x1111)
        let b = (coded &<< 4 & 0xFFF0) | (topCoded &>> 12 & 0x000F)
        let isAC = type == MacroblockType.intra16x16
        for i in 0..<4 where pattern &>> UInt8(truncatingIfNeeded: i) & 1 != 0 {
          let corner = (i & 1) &* 2 &+ (i & 2) &* 4
          for j in 0..<4 {
            let raster = UInt32(truncatingIfNeeded: corner &+ (j & 1) &+ (j & 2) &* 2)
            let inc = Int(truncatingIfNeeded: a &>> raster & 1 &+ (b &>> raster & 1) &* 2)
            let flag = coded &>> raster & 1 != 0
            let block = levels + (i &* 4 &+ j) &* 16
            if isAC {
              flaggedBlock(block + 1, flag, BlockKind.lumaAC.codedFlag &+ inc, .lumaAC)
            } else {
              flaggedBlock(block, flag, BlockKind.luma4x4.codedFlag &+ inc, .luma4x4)
            }
          }
        }
      }
    }
    guard pattern >= 16 else {
      // Only this byte is written: another thread may be reading the macroblock's type.
      let dc = mb.pointee.codedDC & 1
      mb.pointee.codedDC = dc
      return
    }
    let leftDC: UInt8 = hasLeft ? (mb - 1).pointee.codedDC : UInt8(truncatingIfNeeded: outside)
    let topDC: UInt8 = hasTop ? (mb - width).pointee.codedDC : UInt8(truncatingIfNeeded: outside)
    for c: UInt8 in 1...2 {
      let inc = Int(leftDC &>> c & 1) &+ Int(topDC &>> c & 1) &* 2
      flaggedBlock(
        levels + LevelLayout.chromaDC + Int(c &- 1) &* 4, mb.pointee.codedDC &>> c & 1 != 0,
        BlockKind.chromaDC.codedFlag &+ inc, .chromaDC)
    }
    if pattern >= 32 {
      let a = (coded &>> 15 & 0xAA) | (leftCoded &>> 17 & 0x55)
      let b = (coded &>> 14 & 0xCC) | (topCoded &>> 18 & 0x33)
      for i in 0..<8 {
        let bit = UInt32(truncatingIfNeeded: i)
        let inc = Int(truncatingIfNeeded: a &>> bit & 1 &+ (b &>> bit & 1) &* 2)
        flaggedBlock(
          levels + LevelLayout.chromaAC + i &* 16 + 1, coded &>> (16 &+ bit) & 1 != 0,
          BlockKind.chromaAC.codedFlag &+ inc, .chromaAC)
      }
    }
  }

  /// Whether a neighbour has a coded Intra16x16DCLevel, which only Intra_16x16 macroblocks and
  /// I_PCM can have.
  @inline(__always)
  private static func hasLumaDC(_ mb: UnsafeMutablePointer<MacroblockInfo>) -> Bool {
    mb.pointee.codedDC & 1 != 0
      && (mb.pointee.type == MacroblockType.intra16x16 || mb.pointee.type == MacroblockType.pcm)
  }

  /// Writes coded_block_flag and, if it is 1, the block.
  ///
  /// - Parameters:
  ///   - levels: the block's levels in scan order.
  ///   - coded: coded_block_flag.
  ///   - context: ctxIdx of the flag.
  ///   - kind: the contexts of the block.
  @inline(__always)
  mutating func flaggedBlock(
    _ levels: UnsafePointer<Int16>, _ coded: Bool, _ context: Int, _ kind: BlockKind
  ) {
    if coded {
      let mask: UInt32
      switch kind.count {
      case 16: mask = ovt_nonzero_levels16(levels)
      case 15: mask = ovt_nonzero_levels16(levels - 1) &>> 1
      default: mask = ovt_nonzero_levels4(levels)
      }
      codedBlock(levels, mask, context, kind.significant, kind.last, kind.magnitude, kind.count)
    } else {
      engine.encode(0, context)
    }
  }

  /// Writes a block of up to 16 levels that has coded_block_flag 1.
  ///
  /// - Parameters:
  ///   - levels: the levels in scan order.
  ///   - mask: a bit for each level that is not zero.
  ///   - flagContext: ctxIdx of coded_block_flag.
  ///   - significant: the first ctxIdx of significant_coeff_flag.
  ///   - last: the first ctxIdx of last_significant_coeff_flag.
  ///   - magnitude: the first ctxIdx of coeff_abs_level_minus1.
  ///   - count: maxNumCoeff.
  @inline(never)
  private mutating func codedBlock(
    _ levels: UnsafePointer<Int16>, _ mask: UInt32, _ flagContext: Int, _ significant: Int, _ last: Int,
    _ magnitude: Int, _ count: Int
  ) {
    var e = engine
    e.encode(1, flagContext)
    // Each position has contexts of its own. This holds for chroma DC as well, whose last position
    // has no flags.
    var left = mask
    var next = 0
    var found = 0
    while left != 0 {
      let position = left.trailingZeroBitCount
      left &= left &- 1
      while next < position {
        e.encode(0, significant &+ next)
        next &+= 1
      }
      positions[found] = UInt8(truncatingIfNeeded: position)
      found &+= 1
      // The flags of the last position are not sent.
      if position == count &- 1 { break }
      e.encode(1, significant &+ position)
      e.encode(left == 0 ? 1 : 0, last &+ position)
      next = position &+ 1
    }

    engine = e
    engine.encodeLevels(levels, at: positions, count: found, base: magnitude, limit: count == 4 ? 3 : 4)
  }

  /// Writes a block of 64 levels (ctxBlockCat 5, 9 and 13) without its coded_block_flag. At 4:2:0
  /// there is none; coded_block_pattern says whether the block is coded.
  ///
  /// - Parameters:
  ///   - levels: the levels in scan order.
  ///   - kind: the contexts of the block.
  @inline(never)
  mutating func block8x8(_ levels: UnsafePointer<Int16>, _ kind: BlockKind) {
    var e = engine
    let mask = ovt_nonzero_levels64(levels)
    let significant = ovt_significant8x8()!
    let last = ovt_last8x8()!
    var left = mask
    var next = 0
    var found = 0
    while left != 0 {
      let position = left.trailingZeroBitCount
      left &= left &- 1
      while next < position {
        e.encode(0, kind.significant &+ Int(significant[next]))
        next &+= 1
      }
      positions[found] = UInt8(truncatingIfNeeded: position)
      found &+= 1
      if position == 63 { break }
      e.encode(1, kind.significant &+ Int(significant[position]))
      e.encode(left == 0 ? 1 : 0, kind.last &+ Int(last[position]))
      next = position &+ 1
    }
    engine = e
    engine.encodeLevels(levels, at: positions, count: found, base: kind.magnitude, limit: 4)
  }
}

extension CABACEngine {
  /// Writes coeff_abs_level_minus1 and coeff_sign_flag of a block's levels, the last one first.
  ///
  /// - Parameters:
  ///   - levels: the levels in scan order.
  ///   - positions: the scan positions of the levels that are not zero.
  ///   - count: the number of positions.
  ///   - base: the first ctxIdx.
  ///   - limit: the largest ctxIdxInc of the bins after the first, minus 5.
  @inline(never)
  fileprivate mutating func encodeLevels(
    _ levels: UnsafePointer<Int16>, at positions: UnsafePointer<UInt8>, count: Int, base: Int, limit: Int
  ) {
    var e = self
    // ctxIdxInc of the first bin while no magnitude was above 1, and the number of magnitudes above
    // 1.
    var ones = 1
    var large = 0
    var left = count
    while left > 0 {
      left &-= 1
      let value = Int32(levels[Int(positions[left])])
      let sign = UInt32(bitPattern: value) &>> 31
      let magnitude = value < 0 ? 0 &- value : value
      let first = base &+ (large > 0 ? 0 : ones)
      if magnitude == 1 {
        e.encode(0, first)
        e.bypass(sign, 1)
        ones = min(ones &+ 1, 4)
        continue
      }
      e.encode(1, first)
      let context = base &+ 5 &+ min(large, limit)
      var i: Int32 = 2
      let prefix = min(magnitude, 15)
      while i < prefix {
        e.encode(1, context)
        i &+= 1
      }
      if magnitude < 15 {
        e.encode(0, context)
        e.bypass(sign, 1)
      } else {
        // Exp-Golomb code of order 0: for rest + 1, a one for each bit below its highest one, a
        // zero, and these bits.
        let rest = UInt32(bitPattern: magnitude &- 14)
        let length = 32 &- rest.leadingZeroBitCount
        e.bypass(((1 &<< UInt32(truncatingIfNeeded: length &- 1)) &- 1) &<< 1, length)
        let low = rest & ((1 &<< UInt32(truncatingIfNeeded: length &- 1)) &- 1)
        e.bypass(low &<< 1 | sign, length)
      }
      large &+= 1
    }
    self = e
  }
}
