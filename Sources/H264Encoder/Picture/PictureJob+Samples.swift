// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Macroblocks that are sent as samples (I_PCM). Whether one is must be known as soon as it is analysed, since its neighbours
/// are predicted from it; with several threads it is entropy coded later.
extension PictureJob {
  /// Whether a macroblock's levels cannot be sent, or take about as many bits as its samples, or more. It follows from the
  /// macroblock alone, so that the number of threads changes nothing; an estimate. The few that turn out to take more
  /// bits than a macroblock may are found when they are entropy coded.
  @inline(__always) func isForSamples(_ m: Int, _ levels: UnsafePointer<Int16>) -> Bool {
    if hasLongLevel(m, levels) { return true }
    let count = coefficientCount(m)
    guard count >= 128 && estimatesSamples else { return false }
    // What trials have left among the levels makes the bound larger only.
    let magnitudes = Int(ovt_sum_magnitudes(levels, Int32(LevelLayout.count)))
    if LevelEstimate.bound(magnitudes: magnitudes, coded: count, cabac: pps.cabac)
      <= PictureCoder.largestMacroblockBits
    {
      return false
    }
    return estimatedBits(m, levels) > Double(PictureCoder.largestMacroblockBits)
  }

  /// About how many bits the macroblock takes.
  @inline(never) private func estimatedBits(_ m: Int, _ levels: UnsafePointer<Int16>) -> Double {
    var estimate = LevelEstimate()
    // Only what is coded: the rest of the levels is left from trials, which another thread may have made.
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

  /// Whether CAVLC would need a level_prefix above 15, for a level beyond -2063...2063. It is for the High
  /// profiles only, and not every decoder reads it there. At QP 12 and above no level is so large.
  @inline(__always) private func hasLongLevel(_ m: Int, _ levels: UnsafePointer<Int16>) -> Bool {
    if pps.cabac || syntax.info[m].qp >= 12 { return false }
    let type = syntax.info[m].type
    if type == MacroblockType.skip || type == MacroblockType.pcm { return false }
    // Only what is coded: the rest of the levels may be left from another macroblock.
    func any(_ range: Range<Int>) -> Bool {
      for i in range where levels[i] > 2063 || levels[i] < -2063 { return true }
      return false
    }
    let pattern = syntax.info[m].codedBlockPattern
    for i in 0..<4 where pattern >> UInt8(i) & 1 != 0 {
      if any(LevelLayout.luma + i * 64..<LevelLayout.luma + (i + 1) * 64) { return true }
    }
    if pattern >= 32 && any(LevelLayout.chromaAC..<LevelLayout.lumaDC) { return true }
    if type == MacroblockType.intra16x16 && any(LevelLayout.lumaDC..<LevelLayout.chromaDC) { return true }
    return pattern >= 16 && any(LevelLayout.chromaDC..<LevelLayout.count)
  }
}

/// About how many bits levels take: the entropy of their flags and sizes, and what coding them by tables or with contexts that have
/// learned something else takes beyond that (noise at QP 4 to 26: in one of a hundred more).
struct LevelEstimate {
  private var positions = 0
  private var coded = 0
  /// Bins of prefixes that say that a level is larger, bits of suffixes, levels that have one.
  private var continued = 0
  private var suffixes = 0
  private var long = 0

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

  func bits(cabac: Bool) -> Double {
    /// Bits of so many ones and zeros in any order.
    func entropy(_ ones: Int, _ zeros: Int) -> Double {
      func weigh(_ n: Int) -> Double { n > 1 ? Double(n) * log2Approx(Double(n)) : 0 }
      return weigh(ones &+ zeros) - weigh(ones) - weigh(zeros)
    }
    return entropy(coded, positions &- coded) + entropy(continued, coded &- long)
      + Double(coded &+ suffixes &+ Self.flagBits(cabac: cabac))
  }

  /// What `bits` of a macroblock cannot exceed whose levels add up to `magnitudes`, of which `coded` at most are not zero: a bit for each
  /// position and for each bin of a prefix, and signs.
  @inline(__always) static func bound(magnitudes: Int, coded: Int, cabac: Bool) -> Int {
    LevelLayout.count &+ magnitudes &+ 4 &* coded &+ flagBits(cabac: cabac)
  }

  @inline(__always) private static func flagBits(cabac: Bool) -> Int { cabac ? 550 : 700 }
}
