// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoBitstream

// residual() and residual_block_cavlc() (7.3.5.3, 9.2).
extension CAVLCWriter {
  /// Writes the levels of a macroblock.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  ///   - levels: its levels (`LevelLayout`).
  @inline(never)
  mutating func residual(_ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>, _ levels: UnsafePointer<Int16>)
  {
    let pattern = mb.pointee.codedBlockPattern
    let hasLeft = mb.pointee.available & Availability.left != 0
    let hasTop = mb.pointee.available & Availability.top != 0
    let counts = UnsafePointer(picture.nonZero) + m &* 24
    let topCounts = counts - picture.widthInMbs &* 24
    lumaResidual(mb, counts, levels, codedDC: mb.pointee.codedDC & 1 != 0)
    guard pattern >= 16 else { return }
    for c in 0..<2 {
      let block = levels + LevelLayout.chromaDC + c &* 4
      let coded = mb.pointee.codedDC &>> UInt8(truncatingIfNeeded: c &+ 1) & 1 != 0
      self.block(block, coded ? ovt_nonzero_levels4(block) : 0, 4, 4)
    }
    if pattern >= 32 {
      for i in 0..<8 {
        let own = counts + (16 &+ i)
        let left = i & 1 != 0 ? own - 1 : hasLeft ? own - 23 : nil
        let top = i & 2 != 0 ? own - 2 : hasTop ? topCounts + (18 &+ i) : nil
        let nC = Self.context(left: left, top: top)
        let block = levels + LevelLayout.chromaAC + i &* 16
        if own.pointee == 0 {
          empty(nC)
        } else {
          self.block(block + 1, ovt_nonzero_levels16(block) &>> 1, 15, nC)
        }
      }
    }
  }

  /// Writes the levels of luma, or at 4:4:4 of a component.
  ///
  /// - Parameters:
  ///   - mb: the macroblock.
  ///   - counts: the counts of its blocks.
  ///   - levels: its levels (`LevelLayout`).
  ///   - codedDC: whether Intra16x16DCLevel has levels that are not zero.
  @inline(__always)
  mutating func lumaResidual(
    _ mb: UnsafeMutablePointer<MacroblockInfo>, _ counts: UnsafePointer<UInt8>,
    _ levels: UnsafePointer<Int16>, codedDC: Bool
  ) {
    let pattern = mb.pointee.codedBlockPattern
    let hasLeft = mb.pointee.available & Availability.left != 0
    let hasTop = mb.pointee.available & Availability.top != 0
    let topCounts = counts - picture.widthInMbs &* 24
    let isIntra16x16 = mb.pointee.type == MacroblockType.intra16x16

    if isIntra16x16 {
      let nC = Self.context(
        left: hasLeft ? counts - 21 : nil, top: hasTop ? topCounts + 12 : nil)
      let block = levels + LevelLayout.lumaDC
      self.block(block, codedDC ? ovt_nonzero_levels16(block) : 0, 16, nC)
    }
    for i in 0..<4 where pattern &>> UInt8(truncatingIfNeeded: i) & 1 != 0 {
      for j in 0..<4 {
        let x = (i & 1) &* 2 &+ (j & 1)
        let y = (i & 2) &+ (j &>> 1)
        let own = counts + (y &* 4 &+ x)
        let left = x > 0 ? own - 1 : hasLeft ? own - 21 : nil
        let top = y > 0 ? own - 4 : hasTop ? topCounts + (12 &+ x) : nil
        let nC = Self.context(left: left, top: top)
        let block = levels + (i &* 4 &+ j) &* 16
        if own.pointee == 0 {
          empty(nC)
        } else if isIntra16x16 {
          self.block(block + 1, ovt_nonzero_levels16(block) &>> 1, 15, nC)
        } else {
          self.block(block, ovt_nonzero_levels16(block), 16, nC)
        }
      }
    }
  }

  /// Chooses the coeff_token table by nC (9.2.1).
  ///
  /// - Parameters:
  ///   - left: total_coeff of the block at the left; nil where it is not available.
  ///   - top: total_coeff of the block above; nil where it is not available.
  /// - Returns: 0 to 3 for nC of 0 or 1, 2 or 3, 4 to 7, and 8 or more.
  @inline(__always)
  private static func context(left: UnsafePointer<UInt8>?, top: UnsafePointer<UInt8>?) -> Int {
    var nC = 0
    if let left {
      nC = Int(left.pointee)
      if let top { nC = (nC &+ Int(top.pointee) &+ 1) &>> 1 }
    } else if let top {
      nC = Int(top.pointee)
    }
    if nC < 2 { return 0 }
    if nC < 4 { return 1 }
    return nC < 8 ? 2 : 3
  }

  /// Writes coeff_token of a block without levels.
  ///
  /// - Parameter tokens: the coeff_token table.
  @inline(__always)
  private mutating func empty(_ tokens: Int) {
    let token = UInt32(ovt_coeff_token(Int32(truncatingIfNeeded: tokens))![0])
    bits.put(token &>> 8, Int(truncatingIfNeeded: token & 0xFF))
  }

  /// Writes a block.
  ///
  /// - Parameters:
  ///   - levels: the levels in scan order.
  ///   - mask: a bit for each level that is not zero.
  ///   - count: the number of levels: 4 for chroma DC, 15 for AC, else 16.
  ///   - tokens: the coeff_token table: 0 to 3, or 4 for chroma DC.
  @inline(never)
  private mutating func block(_ levels: UnsafePointer<Int16>, _ mask: UInt32, _ count: Int, _ tokens: Int) {
    var w = bits
    let table = ovt_coeff_token(Int32(truncatingIfNeeded: tokens))!
    if mask == 0 {
      w.put(UInt32(table[0] &>> 8), Int(table[0] & 0xFF))
      bits = w
      return
    }
    let total = mask.nonzeroBitCount

    // trailing_ones_sign_flag, the highest frequency first.
    var left = mask
    var trailingOnes = 0
    var signs: UInt32 = 0
    while left != 0 && trailingOnes < 3 {
      let i = 31 &- (left | 1).leadingZeroBitCount
      let level = levels[i]
      if level != 1 && level != -1 { break }
      signs = signs &<< 1 | (level < 0 ? 1 : 0)
      trailingOnes &+= 1
      left ^= 1 &<< UInt32(truncatingIfNeeded: i)
    }
    let token = UInt32(table[total &* 4 &+ trailingOnes])
    w.put(
      (token &>> 8) &<< UInt32(truncatingIfNeeded: trailingOnes) | signs,
      Int(truncatingIfNeeded: token & 0xFF) &+ trailingOnes)

    // level_prefix and level_suffix.
    if left != 0 {
      let codes = ovt_level_code()!
      var suffixLength = total > 10 && trailingOnes < 3 ? 1 : 0
      var i = 31 &- (left | 1).leadingZeroBitCount
      left ^= 1 &<< UInt32(truncatingIfNeeded: i)
      // With fewer than three trailing ones, the first level cannot be 1 or -1, so its magnitude is
      // sent less one.
      let first = Int(levels[i])
      let sent = trailingOnes < 3 ? (first > 0 ? first &- 1 : first &+ 1) : first
      Self.level(&w, codes, sent, suffixLength)
      suffixLength = first > 3 || first < -3 ? 2 : 1
      while left != 0 {
        i = 31 &- (left | 1).leadingZeroBitCount
        left ^= 1 &<< UInt32(truncatingIfNeeded: i)
        suffixLength = Self.level(&w, codes, Int(levels[i]), suffixLength)
      }
    }

    // total_zeros and run_before.
    var position = 31 &- (mask | 1).leadingZeroBitCount
    var zerosLeft = position &+ 1 &- total
    if total < count {
      let code = UInt32(
        count == 4
          ? ovt_total_zeros_dc()![total &* 4 &+ zerosLeft] : ovt_total_zeros()![total &* 16 &+ zerosLeft])
      w.put(code &>> 8, Int(truncatingIfNeeded: code & 0xFF))
      if zerosLeft > 0 {
        let runs = ovt_run_before()!
        left = mask ^ (1 &<< UInt32(truncatingIfNeeded: position))
        while left != 0 && zerosLeft > 0 {
          let i = 31 &- (left | 1).leadingZeroBitCount
          left ^= 1 &<< UInt32(truncatingIfNeeded: i)
          let run = position &- i &- 1
          let code = UInt32(runs[min(zerosLeft, 7) &* 16 &+ run])
          w.put(code &>> 8, Int(truncatingIfNeeded: code & 0xFF))
          zerosLeft &-= run
          position = i
        }
      }
    }
    bits = w
  }

  /// Writes level_prefix and level_suffix (9.2.2.1).
  ///
  /// - Parameters:
  ///   - w: the writer of the slice's bits.
  ///   - codes: the table of codes of small levels.
  ///   - level: the level.
  ///   - suffixLength: suffixLength.
  /// - Returns: suffixLength of the next level.
  @inline(__always) @discardableResult
  private static func level(
    _ w: inout BitWriter, _ codes: UnsafePointer<UInt16>, _ level: Int, _ suffixLength: Int
  ) -> Int {
    if level &+ 64 >= 0 && level < 64 {
      let code = UInt32(codes[suffixLength &* 128 &+ level &+ 64])
      if code != 0 {
        w.put(code &>> 8, Int(truncatingIfNeeded: code &>> 3 & 31))
        return Int(truncatingIfNeeded: code & 7)
      }
    }
    var rest = level > 0 ? 2 &* level &- 2 : -2 &* level &- 1
    let escape = suffixLength == 0 ? 30 : 15 &<< suffixLength
    if rest < escape {
      // The level is beyond the table, but level_prefix is below 15 because of the long suffix.
      let one = 1 &<< suffixLength
      w.put(UInt32(truncatingIfNeeded: one | rest & (one &- 1)), rest &>> suffixLength &+ 1 &+ suffixLength)
    } else {
      // level_prefix is 15 or more, and level_suffix has 12 bits or more.
      rest &-= escape
      var prefix = 15
      while rest >= 1 &<< (prefix &- 3) {
        rest &-= 1 &<< (prefix &- 3)
        prefix &+= 1
      }
      w.put(1, prefix &+ 1)
      w.put(UInt32(truncatingIfNeeded: rest), prefix &- 3)
    }
    let length = max(suffixLength, 1)
    return min(length &+ (abs(level) > 3 &<< (length &- 1) ? 1 : 0), 6)
  }
}
