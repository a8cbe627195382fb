// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// Rate-distortion optimised quantisation (RDOQ) of the levels of a transform block.
///
/// Levels are decided in coding order, from the last position of the scan to the first. Each
/// becomes the rounded level, that level less 1, or 0, whichever has the lowest cost D + lambda *
/// R. In the same way the encoder decides whether a 4x4 sub-block has levels
/// (coded_sub_block_flag), which level is the last one (last_sig_coeff_x_prefix and following), and
/// whether the block has any (cbf). Then, in each sub-block with sign data hiding (signHidden,
/// 7.3.8.11), the level is changed whose change costs least. Squared errors are in units of (1/256
/// of the quantisation step)^2, bits in units of 1/256 bit (`ContextCosts`).
struct LevelDecision: BitwiseCopyable {
  /// The properties of a transform block on which the coding of its levels depends.
  struct Block: BitwiseCopyable {
    var log2Size: Int
    /// The QP of the component with QpBdOffset.
    var qp: Int
    var isChroma: Bool
    /// scanIdx
    var scan: Int
    /// The context variable of its coded block flag.
    var codedFlag: Int
    /// The squared error that a bit is worth, in 256ths.
    var lambda: Int
    var hidesSigns: Bool
  }

  let costs: ContextCosts
  let tables: ScanTables
  /// The contexts of the levels, indexed by position in raster order.
  let contexts: UnsafeMutablePointer<LevelContext>
  /// The context set (bits 2 and up) and the pattern of coded neighbours (bits 0 and 1) of each
  /// decided sub-block, indexed by row * 8 + column of the sub-block.
  let groupContexts: UnsafeMutablePointer<UInt8>
  /// The levels of a group in the order of the scan.
  let values: UnsafeMutablePointer<Int16>
  let kernels: UnsafePointer<OVTHEVCResidualKernels>
  /// The factor that converts a squared error in 1/256 of a squared sample value to units of (1/256
  /// step)^2, indexed by the QP with QpBdOffset.
  private let scale: UnsafeMutablePointer<Double>

  init(
    costs: ContextCosts, tables: ScanTables, kernels: UnsafePointer<OVTHEVCResidualKernels>,
    memory: inout EncoderMemory
  ) {
    self.kernels = kernels
    groupContexts = memory.allocate(UInt8.self, count: 64)
    values = memory.allocate(Int16.self, count: 16)
    self.costs = costs
    self.tables = tables
    contexts = memory.allocate(LevelContext.self, count: 1024)
    scale = memory.allocate(Double.self, count: 64)
    // The step is 2^((QP - 4) / 6) in the units of residual samples.
    for qp in 0..<64 { scale[qp] = 256 * exp2Approx((4 - Double(qp)) / 3) }
  }

  /// The context variables and the coding state with which a level is coded.
  struct LevelContext: BitwiseCopyable {
    /// The context variables of sig_coeff_flag, coeff_abs_level_greater1_flag and greater2_flag.
    var significance: UInt8 = 0
    var greater1: UInt8 = 0
    var greater2: UInt8 = 0
    /// Bit 0: it has coeff_abs_level_greater1_flag; bit 1: a level before it has greater2_flag;
    /// from bit 2 on cRiceParam.
    var flags: UInt8 = 1
  }

  /// The bits of a level without sig_coeff_flag, in 256ths.
  @inline(__always) func levelBits(_ magnitude: Int, _ context: LevelContext) -> Int {
    let flags = Int(context.flags)
    var bits = 256
    var base = 1
    if flags & 1 != 0 {
      bits &+= costs.bits(magnitude > 1 ? 1 : 0, Int(context.greater1))
      if magnitude == 1 { return bits }
      base = 2
      if flags & 2 == 0 {
        bits &+= costs.bits(magnitude > 2 ? 1 : 0, Int(context.greater2))
        base = 3
      }
    }
    if magnitude < base { return bits }
    return bits &+ Self.remainingBits(magnitude &- base, rice: flags &>> 2) &<< 8
  }

  /// The bits of coeff_abs_level_remaining (9.3.3.11).
  @inline(__always) private static func remainingBits(_ value: Int, rice: Int) -> Int {
    // A prefix of up to three ones, or four ones and an Exp-Golomb code.
    if value < 3 &<< rice { return value &>> rice &+ 1 &+ rice }
    let rest = (value &- 3 &<< rice) &>> rice &+ 1
    let extra = Int.bitWidth &- 1 &- rest.leadingZeroBitCount
    return 4 &+ 2 &* extra &+ rice
  }

  /// Decides the levels of a block.
  /// - Parameters:
  ///   - levels: the rounded levels in raster order; receives the levels.
  ///   - coefficients: the coefficients before quantisation.
  ///   - groups: the groups that have levels (`OVTHEVCLevels.groups`); not 0.
  ///   - block: the block.
  ///   - depth: the bits of a sample.
  /// - Returns: the bits of the levels in 256ths; nil if the block is to have none, in which case
  ///   `levels` is undefined.
  func decide(
    _ levels: UnsafeMutablePointer<Int16>, _ coefficients: UnsafePointer<Int16>, groups: UInt64,
    _ block: Block, depth: Int
  ) -> Int? {
    let coding = BlockCoding(block, tables, depth: depth, scale: scale[block.qp])
    var group = 1 &<< (2 &* (block.log2Size &- 2)) &- 1
    while groups &>> UInt64(coding.groupOrder[group]) & 1 == 0 { group &-= 1 }
    let firstGroup = group
    var decided = DecidedLevels(lastGroup: group)
    while group >= 0 {
      decideGroup(group, levels, coefficients, groups: groups, coding, &decided)
      group &-= 1
    }
    let last = decided.last
    guard last.group >= 0 else { return nil }
    let flags = costs.bits(1, block.codedFlag) &- costs.bits(0, block.codedFlag)
    if decided.error &+ last.cost &+ coding.weigh(decided.bits &+ flags) >= 0 { return nil }
    // Levels after the last significant level become 0.
    var coded = decided.groups
    group = firstGroup
    while group > last.group {
      let place = UInt64(coding.groupOrder[group])
      if groups &>> place & 1 != 0 { clear(levels, Int(place), coding, from: 0) }
      coded &= ~(1 &<< place)
      group &-= 1
    }
    let lastPlace = Int(coding.groupOrder[last.group])
    clear(levels, lastPlace, coding, from: last.position &+ 1)
    let bits = decided.bits &+ last.bits
    guard block.hidesSigns else { return bits }
    return bits
      &+ hideSigns(
        levels, coefficients, block, coding.order, groups: coded, lastPlace: lastPlace, coding.scale)
  }

  /// Sets the levels of a group to 0 from a position of its scan on.
  @inline(__always) func clear(
    _ levels: UnsafeMutablePointer<Int16>, _ place: Int, _ coding: BlockCoding, from position: Int
  ) {
    let log2Size = coding.block.log2Size
    let origin = (place &>> 3) &* 4 &<< log2Size &+ (place & 7) &* 4
    var i = position
    while i < 16 {
      let at = Int(coding.order[i])
      levels[origin &+ (at &>> 2) &<< log2Size &+ (at & 3)] = 0
      i &+= 1
    }
  }

  /// The factors that convert a coefficient to 1/256 of a quantisation step, and bits to squared
  /// errors in these units.
  struct DistortionScale: BitwiseCopyable {
    var factor: Int
    var shift: Int
    var lambda: Int
  }

  /// The part of the context of sig_coeff_flag that follows from the block and the group.
  @inline(__always) static func significanceOffset(_ block: Block, place: Int) -> Int {
    if block.log2Size == 2 { return 0 }
    if block.isChroma { return block.log2Size == 3 ? 9 : 12 }
    return (place != 0 ? 3 : 0) &+ (block.log2Size == 3 ? (block.scan == 0 ? 9 : 15) : 21)
  }
}
