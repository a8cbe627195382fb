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

  /// The levels of a group that were decided before the present one.
  private struct GroupState: BitwiseCopyable {
    /// greater1Ctx (9.3.4.2.6)
    var greater1 = 1
    var hasGreater = false
    var count = 0
    var rice = 0

    @inline(__always) mutating func take(_ magnitude: Int) {
      if count < 8 {
        if magnitude > 1 {
          greater1 = 0
          hasGreater = true
        } else if greater1 > 0 && greater1 < 3 {
          greater1 &+= 1
        }
      }
      count &+= 1
      if magnitude > 3 &<< rice && rice < 4 { rice &+= 1 }
    }

    var flags: UInt8 {
      (count < 8 ? 1 : 0) | (hasGreater ? 2 : 0) | UInt8(truncatingIfNeeded: rice &<< 2)
    }
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
    let log2Size = block.log2Size
    let size = 1 &<< log2Size
    let side = size &>> 2
    let shift = 21 &+ block.qp / 6 &- depth &- log2Size
    let factor = Quantiser.factor(block.qp)
    let lambda = Int(Double(block.lambda) * scale[block.qp])
    let order = tables.places + block.scan &* 16
    let groupOrder = tables.groupPlaces + (block.scan &* 4 &+ log2Size &- 2) &* 64
    let significanceBase = Contexts.significant &+ (block.isChroma ? 27 : 0)
    @inline(__always) func weigh(_ bits: Int) -> Int { (lambda &* bits) &>> 8 }

    var group = 1 &<< (2 &* (log2Size &- 2)) &- 1
    while groups &>> UInt64(groupOrder[group]) & 1 == 0 { group &-= 1 }
    let firstGroup = group
    var lastGroup = group
    // The change of the squared error by the levels decided so far, and the bits of these levels
    // and their flags.
    var sumError = 0
    var sumBits = 0
    // The lowest cost found for the last significant level, its bits and its position.
    var best = Int.max
    var bestBits = 0
    var bestGroup = -1
    var bestPosition = -1
    var coded: UInt64 = 0
    var followsGreater = false
    while group >= 0 {
      let place = Int(groupOrder[group])
      let (gx, gy) = (place & 7, place &>> 3)
      let right = gx < side &- 1 ? Int(coded &>> UInt64(place &+ 1) & 1) : 0
      let below = gy < side &- 1 ? Int(coded &>> UInt64(place &+ 8) & 1) : 0
      let hasFlag = group < lastGroup && group > 0
      let flag = Contexts.codedGroup &+ (block.isChroma ? 2 : 0) &+ (right | below)
      if groups &>> UInt64(place) & 1 == 0 && group > 0 {
        if hasFlag { sumBits &+= costs.bits(0, flag) } else { lastGroup = group &- 1 }
        group &-= 1
        continue
      }
      let origin = (gy &* 4) &<< log2Size &+ gx &* 4
      let pattern = right | below &<< 1
      let map = tables.significance + (log2Size == 2 ? 0 : 16 &+ 16 &* pattern)
      let significance = significanceBase &+ Self.significanceOffset(block, place: place)
      let set = (group == 0 || block.isChroma ? 0 : 2) &+ (followsGreater ? 1 : 0)
      groupContexts[place] = UInt8(truncatingIfNeeded: set &<< 2 | pattern)
      var state = GroupState()
      let greater1Base = Contexts.greater1 &+ set &* 4 &+ (block.isChroma ? 16 : 0)
      var levelContext = LevelContext()
      levelContext.greater2 = UInt8(
        truncatingIfNeeded: Contexts.greater2 &+ set &+ (block.isChroma ? 4 : 0))
      var groupError = 0
      var groupBits = 0
      let before = (best, bestBits, bestGroup, bestPosition)
      let flagBits = hasFlag ? costs.bits(1, flag) : 0
      var rest = kernels.pointee.scanGroup(values, levels + origin, size, Int32(block.scan))
      // The positions that are not decided yet.
      var open: UInt32 = 0xFFFF
      let zeros = (
        costs.bits(0, significance), costs.bits(0, significance &+ 1), costs.bits(0, significance &+ 2)
      )
      let masks = tables.patterns + (block.scan &* 4 &+ pattern) &* 3
      /// The bits of sig_coeff_flag equal to 0 at a set of positions, without that of the DC
      /// position.
      @inline(__always) func zeroBits(_ positions: UInt32) -> Int {
        if log2Size > 2 {
          return zeros.0 &* (positions & masks[0]).nonzeroBitCount
            &+ zeros.1 &* (positions & masks[1]).nonzeroBitCount
            &+ zeros.2 &* (positions & masks[2]).nonzeroBitCount
        }
        var (rest, sum) = (positions, 0)
        while rest != 0 {
          let at = rest.trailingZeroBitCount
          rest &= rest &- 1
          sum &+= costs.bits(0, significance &+ Int(map[Int(order[at])]))
        }
        return sum
      }
      while rest != 0 {
        let position = 31 &- rest.leadingZeroBitCount
        let bit = UInt32(1) &<< UInt32(truncatingIfNeeded: position)
        rest &= ~bit
        groupBits &+= zeroBits(open & ~(2 &* bit &- 1))
        open = bit &- 1
        let at = Int(order[position])
        let index = origin &+ (at &>> 2) &<< log2Size &+ (at & 3)
        let context =
          position == 0 && place == 0 ? significanceBase : significance &+ Int(map[at])
        var (noneBits, oneBits) = (costs.bits(0, context), costs.bits(1, context))
        // sig_coeff_flag of position 0 is inferred to be 1 where coded_sub_block_flag is 1 and no
        // other level of the sub-block is significant (7.4.9.11).
        if position == 0 && hasFlag && state.count == 0 { (noneBits, oneBits) = (0, 0) }
        levelContext.significance = UInt8(truncatingIfNeeded: context)
        levelContext.greater1 = UInt8(truncatingIfNeeded: greater1Base &+ state.greater1)
        levelContext.flags = state.flags
        let value = Int(values[position])
        let magnitude = value < 0 ? 0 &- value : value
        let coefficient = Int(coefficients[index])
        let exact = ((coefficient < 0 ? 0 &- coefficient : coefficient) &* factor) &>> shift
        var kept = magnitude
        var keptBits = oneBits &+ levelBits(magnitude, levelContext)
        // The squared error minus the squared error of level 0.
        var error = (magnitude &<< 8) &* (magnitude &<< 8 &- 2 &* exact)
        var cost = error &+ weigh(keptBits)
        if magnitude > 1 {
          let lowerBits = oneBits &+ levelBits(magnitude &- 1, levelContext)
          let lowerError = ((magnitude &- 1) &<< 8) &* ((magnitude &- 1) &<< 8 &- 2 &* exact)
          let lower = lowerError &+ weigh(lowerBits)
          if lower < cost {
            (kept, keptBits, error, cost) = (magnitude &- 1, lowerBits, lowerError, lower)
          }
        }
        if magnitude <= 2 && weigh(noneBits) < cost {
          levels[index] = 0
          groupBits &+= noneBits
          continue
        }
        contexts[index] = levelContext
        if kept != magnitude {
          levels[index] = Int16(truncatingIfNeeded: value < 0 ? 0 &- kept : kept)
        }
        var (x, y) = (gx &* 4 &+ (at & 3), gy &* 4 &+ (at &>> 2))
        if block.scan == 2 { swap(&x, &y) }
        let last =
          costs.lastBits(x, y, log2Size: log2Size, isChroma: block.isChroma) &- oneBits &- flagBits
          &- sumBits &- groupBits
        let total = weigh(last) &- sumError &- groupError
        if total < best { (best, bestBits, bestGroup, bestPosition) = (total, last, group, position) }
        state.take(kept)
        groupError &+= error
        groupBits &+= keptBits
      }
      if place == 0 && open & 1 != 0 {
        open &= ~1
        groupBits &+= costs.bits(0, significanceBase)
      }
      groupBits &+= zeroBits(open)
      if hasFlag {
        let emptyBits = costs.bits(0, flag)
        if state.count == 0 || weigh(emptyBits) < groupError &+ weigh(flagBits &+ groupBits) {
          (best, bestBits, bestGroup, bestPosition) = before
          if state.count > 0 { clear(levels, place, log2Size, order, from: 0) }
          sumBits &+= emptyBits
          group &-= 1
          continue
        }
      } else if state.count == 0 && group > 0 {
        lastGroup = group &- 1
        group &-= 1
        continue
      }
      sumError &+= groupError
      sumBits &+= groupBits &+ flagBits
      if state.count > 0 {
        coded |= 1 &<< UInt64(place)
        followsGreater = state.greater1 == 0
      }
      group &-= 1
    }
    guard bestGroup >= 0 else { return nil }
    let flags = costs.bits(1, block.codedFlag) &- costs.bits(0, block.codedFlag)
    if sumError &+ best &+ weigh(sumBits &+ flags) >= 0 { return nil }
    // Levels after the last significant level become 0.
    group = firstGroup
    while group > bestGroup {
      let place = UInt64(groupOrder[group])
      if groups &>> place & 1 != 0 { clear(levels, Int(place), log2Size, order, from: 0) }
      coded &= ~(1 &<< place)
      group &-= 1
    }
    let lastPlace = Int(groupOrder[bestGroup])
    clear(levels, lastPlace, log2Size, order, from: bestPosition &+ 1)
    let bits = sumBits &+ bestBits
    guard block.hidesSigns else { return bits }
    let distortionScale = DistortionScale(factor: factor, shift: shift, lambda: lambda)
    return bits
      &+ hideSigns(
        levels, coefficients, block, order, groups: coded, lastPlace: lastPlace, distortionScale)
  }

  /// Sets the levels of a group to 0 from a position of its scan on.
  @inline(__always) private func clear(
    _ levels: UnsafeMutablePointer<Int16>, _ place: Int, _ log2Size: Int, _ order: UnsafePointer<UInt8>,
    from position: Int
  ) {
    let origin = (place &>> 3) &* 4 &<< log2Size &+ (place & 7) &* 4
    var i = position
    while i < 16 {
      let at = Int(order[i])
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
