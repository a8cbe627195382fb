// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

/// Macroblocks that are coded as their samples (I_PCM). Whether one is must be known as soon as it
/// has been analysed, since its neighbours are predicted from it. With several threads it is
/// entropy coded later.
extension PictureJob {
  /// Whether a macroblock has levels that cannot be coded, or is estimated to take more bits than a
  /// macroblock may. That follows from the macroblock alone, so that the number of threads changes
  /// nothing. The few that turn out to take too many bits after all are found by entropy coding.
  /// - Parameters:
  ///   - m: the index of the macroblock.
  ///   - levels: its levels (`LevelLayout`).
  @inline(__always) func isForSamples(_ m: Int, _ levels: UnsafePointer<Int16>) -> Bool {
    if hasLongLevel(m, levels) { return true }
    let count = coefficientCount(m)
    guard count >= 128 && estimatesSamples else { return false }
    // Levels that other trials have left behind can only make the bound larger.
    let magnitudes = Int(ovt_sum_magnitudes(levels, Int32(levelCount)))
    if LevelEstimate.bound(magnitudes: magnitudes, coded: count, positions: levelCount, cabac: pps.cabac)
      <= largestMacroblockBits
    {
      return false
    }
    return estimatedBits(m, levels) > Double(largestMacroblockBits)
  }

  /// The estimated bits of a macroblock.
  @inline(never) private func estimatedBits(_ m: Int, _ levels: UnsafePointer<Int16>) -> Double {
    var estimate = LevelEstimate()
    // Only blocks that are coded count: the other levels are left from trials, perhaps by another
    // thread.
    if configuration.is444 {
      for c in 0..<3 { add(component: c, of: m, levels, to: &estimate) }
      return estimate.bits(cabac: pps.cabac)
    }
    let counts = syntax.nonZero + m &* 24
    for i in 0..<16 {
      let corner = (i & 4) >> 1 &+ i & 8
      if counts[corner &+ i & 1 &+ (i & 2) &* 2] != 0 {
        estimate.add(levels + (LevelLayout.luma &+ i &* 16), 16)
      }
      if i < 8 && counts[16 &+ i] != 0 { estimate.add(levels + (LevelLayout.chromaAC &+ i &* 16), 16) }
    }
    let dc = syntax.info[m].codedDC
    if dc & 1 != 0 { estimate.add(levels + LevelLayout.lumaDC, 16) }
    if dc & 2 != 0 { estimate.add(levels + LevelLayout.chromaDC, 4) }
    if dc & 4 != 0 { estimate.add(levels + (LevelLayout.chromaDC &+ 4), 4) }
    return estimate.bits(cabac: pps.cabac)
  }

  /// Adds the coded levels of a component of a 4:4:4 macroblock to an estimate.
  private func add(
    component c: Int, of m: Int, _ levels: UnsafePointer<Int16>, to estimate: inout LevelEstimate
  ) {
    let levels = levels + c &* LevelLayout.count
    let counts = syntax.nonZero + (c &* syntax.componentCounts &+ m &* 24)
    for i in 0..<16 where counts[Int(ovt_raster(Int32(i)))] != 0 {
      estimate.add(levels + (LevelLayout.luma &+ i &* 16), 16)
    }
    if syntax.info[m].codedDC >> UInt8(c) & 1 != 0 { estimate.add(levels + LevelLayout.lumaDC, 16) }
  }

  /// Whether CAVLC would need a level_prefix above 15, for a level outside -2063...2063. Only the
  /// High profiles have it, and not every decoder of those reads it. At QP 12 and above no level is
  /// that large.
  @inline(__always) private func hasLongLevel(_ m: Int, _ levels: UnsafePointer<Int16>) -> Bool {
    if pps.cabac || syntax.info[m].qp >= 12 { return false }
    let type = syntax.info[m].type
    if type == MacroblockType.skip || type == MacroblockType.pcm { return false }
    // Only blocks that are coded count: the other levels may be left from another macroblock.
    func any(_ range: Range<Int>) -> Bool {
      for i in range where levels[i] > 2063 || levels[i] < -2063 { return true }
      return false
    }
    let pattern = syntax.info[m].codedBlockPattern
    if configuration.is444 {
      for c in 0..<3 {
        let first = c * LevelLayout.count
        let counts = syntax.nonZero + (c * syntax.componentCounts + m * 24)
        for i in 0..<16 where counts[Int(ovt_raster(Int32(i)))] != 0 {
          if any(first + i * 16..<first + (i + 1) * 16) { return true }
        }
        let dc = first + LevelLayout.lumaDC
        if type == MacroblockType.intra16x16 && any(dc..<dc + 16) { return true }
      }
      return false
    }
    for i in 0..<4 where pattern >> UInt8(i) & 1 != 0 {
      if any(LevelLayout.luma + i * 64..<LevelLayout.luma + (i + 1) * 64) { return true }
    }
    if pattern >= 32 && any(LevelLayout.chromaAC..<LevelLayout.lumaDC) { return true }
    if type == MacroblockType.intra16x16 && any(LevelLayout.lumaDC..<LevelLayout.chromaDC) { return true }
    return pattern >= 16 && any(LevelLayout.chromaDC..<LevelLayout.count)
  }
}

/// Estimates the bits of a macroblock's levels: the entropy of their significance flags and sizes,
/// and an allowance for the bits by which code tables, or contexts adapted to other content, exceed
/// it. With noise at QP 4 to 26, one macroblock in a hundred takes more.
struct LevelEstimate {
  /// The number of positions of the blocks added so far.
  private var positions = 0
  /// The number of levels that are not 0.
  private var coded = 0
  /// The number of prefix bins that say that a level is larger.
  private var continued = 0
  /// The bits of suffixes.
  private var suffixes = 0
  /// The number of levels that have a suffix.
  private var long = 0

  /// Adds a block.
  /// - Parameters:
  ///   - list: its levels in scan order.
  ///   - count: their number.
  mutating func add(_ list: UnsafePointer<Int16>, _ count: Int) {
    positions &+= count
    for i in 0..<count where list[i] != 0 {
      let size = Int(list[i].magnitude)
      coded &+= 1
      continued &+= min(size, 15) &- 1
      if size >= 15 {
        suffixes &+= 2 &* (Int.bitWidth &- (size &- 14).leadingZeroBitCount) &- 1
        long &+= 1
      }
    }
  }

  /// The estimated bits of the blocks added so far, and of everything else in the macroblock.
  func bits(cabac: Bool) -> Double {
    /// The entropy in bits of a sequence with a number of ones and zeros.
    func entropy(_ ones: Int, _ zeros: Int) -> Double {
      func weigh(_ n: Int) -> Double { n > 1 ? Double(n) * log2Approx(Double(n)) : 0 }
      return weigh(ones &+ zeros) - weigh(ones) - weigh(zeros)
    }
    return entropy(coded, positions &- coded) + entropy(continued, coded &- long)
      + Double(coded &+ suffixes &+ Self.flagBits(cabac: cabac))
  }

  /// An upper bound of `bits`: a bit for each position and for each bin of a prefix, and the signs.
  /// - Parameters:
  ///   - magnitudes: the sum of the magnitudes of all levels.
  ///   - coded: the largest possible number of levels that are not 0.
  ///   - positions: the number of levels of a macroblock.
  ///   - cabac: whether the entropy coder is CABAC.
  @inline(__always) static func bound(
    magnitudes: Int, coded: Int, positions: Int = LevelLayout.count, cabac: Bool
  ) -> Int {
    positions &+ magnitudes &+ 4 &* coded &+ flagBits(cabac: cabac)
  }

  /// The allowance in bits.
  @inline(__always) private static func flagBits(cabac: Bool) -> Int { cabac ? 550 : 700 }
}
