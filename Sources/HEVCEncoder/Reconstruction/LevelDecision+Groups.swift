// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels

/// The decision of the levels of a group of 4x4: a sub-block of residual_coding() (7.3.8.11).
extension LevelDecision {
  /// What the decisions in all groups of a block depend on.
  struct BlockCoding: BitwiseCopyable {
    let block: Block
    let scale: DistortionScale
    /// The places of the levels of a group, and those of the groups, in the order of the scan.
    let order: UnsafePointer<UInt8>
    let groupOrder: UnsafePointer<UInt8>
    /// The context variable of sig_coeff_flag of the DC coefficient.
    let significance: Int

    /// - Parameter scale: converts squared errors to those of a level, by the QP.
    @inline(__always) init(_ block: Block, _ tables: ScanTables, depth: Int, scale: Double) {
      self.block = block
      self.scale = DistortionScale(
        factor: Quantiser.factor(block.qp), shift: 21 &+ block.qp / 6 &- depth &- block.log2Size,
        lambda: Int(Double(block.lambda) * scale))
      order = UnsafePointer(tables.places + block.scan &* 16)
      groupOrder = UnsafePointer(tables.groupPlaces + (block.scan &* 4 &+ block.log2Size &- 2) &* 64)
      significance = Contexts.significant &+ (block.isChroma ? 27 : 0)
    }

    /// The squared error that bits are worth.
    @inline(__always) func weigh(_ bits: Int) -> Int { (scale.lambda &* bits) &>> 8 }
  }

  /// The last significant level with the lowest cost.
  struct LastLevel: BitwiseCopyable {
    var cost = Int.max
    /// The bits of its position, less those of levels and flags that come before it in the order of
    /// the decisions.
    var bits = 0
    var group = -1
    var position = -1
  }

  /// The sums over the groups that are decided.
  struct DecidedLevels: BitwiseCopyable {
    /// The change of the squared error by the levels, and the bits of these levels and their flags.
    var error = 0
    var bits = 0
    var last = LastLevel()
    /// The groups that have levels.
    var groups: UInt64 = 0
    /// The group of the last level.
    var lastGroup: Int
    /// Whether the last group with levels ended with greater1Ctx equal to 0.
    var followsGreater = false

    init(lastGroup: Int) { self.lastGroup = lastGroup }
  }

  /// A group, and the contexts of its levels.
  private struct Group: BitwiseCopyable {
    let number: Int
    /// Row * 8 + column.
    let place: Int
    let hasFlag: Bool
    /// The bits of coded_sub_block_flag equal to 1, if it has one, and equal to 0.
    let flagBits: Int
    let emptyBits: Int
    /// The index of its first level in raster order.
    let origin: Int
    /// The base of the context variables of sig_coeff_flag, and what the positions add to it.
    let significance: Int
    let map: UnsafePointer<UInt8>
    /// The positions with each of three context variables in blocks of more than 4x4, and the bits
    /// of sig_coeff_flag equal to 0 with these.
    let masks: UnsafePointer<UInt32>
    let zeros: (Int, Int, Int)
    /// The first context variable of coeff_abs_level_greater1_flag, and that of greater2_flag.
    let greater1: Int
    let greater2: UInt8
  }

  /// The levels of a group that were decided before the present one.
  private struct GroupState: BitwiseCopyable {
    /// greater1Ctx (9.3.4.2.6)
    var greater1 = 1
    var hasGreater = false
    var count = 0
    var rice = 0
    /// The change of the squared error by these levels, and their bits.
    var error = 0
    var bits = 0
    /// The positions that are not decided yet.
    var open: UInt32 = 0xFFFF

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

    @inline(__always) var flags: UInt8 {
      (count < 8 ? 1 : 0) | (hasGreater ? 2 : 0) | UInt8(truncatingIfNeeded: rice &<< 2)
    }
  }

  /// A level, or the one below it.
  private struct Choice: BitwiseCopyable {
    var magnitude: Int
    var bits: Int
    /// The squared error minus the squared error of level 0.
    var error: Int
    var cost: Int
  }

  /// Decides the levels of a group, and whether it has any.
  /// - Parameters:
  ///   - number: the number of the group in the order of the scan.
  ///   - groups: the groups that have rounded levels.
  ///   - decided: the groups after it.
  func decideGroup(
    _ number: Int, _ levels: UnsafeMutablePointer<Int16>, _ coefficients: UnsafePointer<Int16>,
    groups: UInt64, _ coding: BlockCoding, _ decided: inout DecidedLevels
  ) {
    let place = Int(coding.groupOrder[number])
    let log2Size = coding.block.log2Size
    if groups &>> UInt64(place) & 1 == 0 && number > 0 {
      if number < decided.lastGroup {
        decided.bits &+= costs.bits(0, groupFlag(place, coding, decided.groups).context)
      } else {
        decided.lastGroup = number &- 1
      }
      return
    }
    let group = makeGroup(number, place, coding, decided)
    var state = GroupState()
    var context = LevelContext()
    context.greater2 = group.greater2
    var last = decided.last
    var rest = kernels.pointee.scanGroup(
      values, levels + group.origin, 1 &<< log2Size, Int32(coding.block.scan))
    while rest != 0 {
      let position = 31 &- rest.leadingZeroBitCount
      let bit = UInt32(1) &<< UInt32(truncatingIfNeeded: position)
      rest &= ~bit
      state.bits &+= zeroBits(state.open & ~(2 &* bit &- 1), group, coding)
      state.open = bit &- 1
      let at = Int(coding.order[position])
      let index = group.origin &+ (at &>> 2) &<< log2Size &+ (at & 3)
      let significance =
        position == 0 && place == 0
        ? coding.significance : group.significance &+ Int(group.map[at])
      var (noneBits, oneBits) = (costs.bits(0, significance), costs.bits(1, significance))
      // sig_coeff_flag of position 0 is inferred to be 1 where coded_sub_block_flag is 1 and no
      // other level of the sub-block is significant (7.4.9.11).
      if position == 0 && group.hasFlag && state.count == 0 { (noneBits, oneBits) = (0, 0) }
      context.significance = UInt8(truncatingIfNeeded: significance)
      context.greater1 = UInt8(truncatingIfNeeded: group.greater1 &+ state.greater1)
      context.flags = state.flags
      let value = Int(values[position])
      let magnitude = value < 0 ? 0 &- value : value
      let kept = choose(magnitude, Int(coefficients[index]), context, oneBits, coding)
      if magnitude <= 2 && coding.weigh(noneBits) < kept.cost {
        levels[index] = 0
        state.bits &+= noneBits
        continue
      }
      contexts[index] = context
      if kept.magnitude != magnitude {
        levels[index] = Int16(truncatingIfNeeded: value < 0 ? 0 &- kept.magnitude : kept.magnitude)
      }
      let lastBits =
        positionBits(group, at, coding) &- oneBits &- group.flagBits &- decided.bits &- state.bits
      let total = coding.weigh(lastBits) &- decided.error &- state.error
      if total < last.cost {
        last = LastLevel(cost: total, bits: lastBits, group: number, position: position)
      }
      state.take(kept.magnitude)
      state.error &+= kept.error
      state.bits &+= kept.bits
    }
    if place == 0 && state.open & 1 != 0 {
      state.open &= ~1
      state.bits &+= costs.bits(0, coding.significance)
    }
    state.bits &+= zeroBits(state.open, group, coding)
    finish(group, state, last, levels, coding, &decided)
  }

  /// Whether the groups on the right and below have levels (bits 0 and 1), and the context variable
  /// of coded_sub_block_flag.
  @inline(__always) private func groupFlag(
    _ place: Int, _ coding: BlockCoding, _ groups: UInt64
  ) -> (pattern: Int, context: Int) {
    let (gx, gy) = (place & 7, place &>> 3)
    let side = 1 &<< (coding.block.log2Size &- 2)
    let right = gx < side &- 1 ? Int(groups &>> UInt64(place &+ 1) & 1) : 0
    let below = gy < side &- 1 ? Int(groups &>> UInt64(place &+ 8) & 1) : 0
    return (
      right | below &<< 1, Contexts.codedGroup &+ (coding.block.isChroma ? 2 : 0) &+ (right | below)
    )
  }

  @inline(__always) private func makeGroup(
    _ number: Int, _ place: Int, _ coding: BlockCoding, _ decided: DecidedLevels
  ) -> Group {
    let (block, log2Size) = (coding.block, coding.block.log2Size)
    let (pattern, flag) = groupFlag(place, coding, decided.groups)
    let significance = coding.significance &+ Self.significanceOffset(block, place: place)
    let set = (number == 0 || block.isChroma ? 0 : 2) &+ (decided.followsGreater ? 1 : 0)
    groupContexts[place] = UInt8(truncatingIfNeeded: set &<< 2 | pattern)
    let hasFlag = number < decided.lastGroup && number > 0
    return Group(
      number: number, place: place, hasFlag: hasFlag,
      flagBits: hasFlag ? costs.bits(1, flag) : 0, emptyBits: costs.bits(0, flag),
      origin: ((place &>> 3) &* 4) &<< log2Size &+ (place & 7) &* 4, significance: significance,
      map: UnsafePointer(tables.significance + (log2Size == 2 ? 0 : 16 &+ 16 &* pattern)),
      masks: UnsafePointer(tables.patterns + (block.scan &* 4 &+ pattern) &* 3),
      zeros: (
        costs.bits(0, significance), costs.bits(0, significance &+ 1), costs.bits(0, significance &+ 2)
      ),
      greater1: Contexts.greater1 &+ set &* 4 &+ (block.isChroma ? 16 : 0),
      greater2: UInt8(truncatingIfNeeded: Contexts.greater2 &+ set &+ (block.isChroma ? 4 : 0)))
  }

  /// Chooses between a level and the one below it, but for 0.
  @inline(__always) private func choose(
    _ magnitude: Int, _ coefficient: Int, _ context: LevelContext, _ oneBits: Int,
    _ coding: BlockCoding
  ) -> Choice {
    let absolute = coefficient < 0 ? 0 &- coefficient : coefficient
    let exact = (absolute &* coding.scale.factor) &>> coding.scale.shift
    let bits = oneBits &+ levelBits(magnitude, context)
    let error = (magnitude &<< 8) &* (magnitude &<< 8 &- 2 &* exact)
    let cost = error &+ coding.weigh(bits)
    if magnitude > 1 {
      let lowerBits = oneBits &+ levelBits(magnitude &- 1, context)
      let lowerError = ((magnitude &- 1) &<< 8) &* ((magnitude &- 1) &<< 8 &- 2 &* exact)
      let lower = lowerError &+ coding.weigh(lowerBits)
      if lower < cost {
        return Choice(magnitude: magnitude &- 1, bits: lowerBits, error: lowerError, cost: lower)
      }
    }
    return Choice(magnitude: magnitude, bits: bits, error: error, cost: cost)
  }

  /// The bits of the position of the last level.
  @inline(__always) private func positionBits(
    _ group: Group, _ at: Int, _ coding: BlockCoding
  ) -> Int {
    var (x, y) = ((group.place & 7) &* 4 &+ (at & 3), (group.place &>> 3) &* 4 &+ (at &>> 2))
    if coding.block.scan == 2 { swap(&x, &y) }
    return costs.lastBits(x, y, log2Size: coding.block.log2Size, isChroma: coding.block.isChroma)
  }

  /// Decides whether a group has levels.
  /// - Parameter last: the last level, if it has.
  @inline(__always) private func finish(
    _ group: Group, _ state: GroupState, _ last: LastLevel, _ levels: UnsafeMutablePointer<Int16>,
    _ coding: BlockCoding, _ decided: inout DecidedLevels
  ) {
    if group.hasFlag {
      if state.count == 0
        || coding.weigh(group.emptyBits) < state.error &+ coding.weigh(group.flagBits &+ state.bits)
      {
        if state.count > 0 { clear(levels, group.place, coding, from: 0) }
        decided.bits &+= group.emptyBits
        return
      }
    } else if state.count == 0 && group.number > 0 {
      decided.lastGroup = group.number &- 1
      return
    }
    decided.last = last
    decided.error &+= state.error
    decided.bits &+= state.bits &+ group.flagBits
    if state.count > 0 {
      decided.groups |= 1 &<< UInt64(group.place)
      decided.followsGreater = state.greater1 == 0
    }
  }

  /// The bits of sig_coeff_flag equal to 0 at a set of positions, without that of the DC position.
  @inline(__always) private func zeroBits(
    _ positions: UInt32, _ group: Group, _ coding: BlockCoding
  ) -> Int {
    if coding.block.log2Size > 2 {
      return group.zeros.0 &* (positions & group.masks[0]).nonzeroBitCount
        &+ group.zeros.1 &* (positions & group.masks[1]).nonzeroBitCount
        &+ group.zeros.2 &* (positions & group.masks[2]).nonzeroBitCount
    }
    var (rest, sum) = (positions, 0)
    while rest != 0 {
      let at = rest.trailingZeroBitCount
      rest &= rest &- 1
      sum &+= costs.bits(0, group.significance &+ Int(group.map[Int(coding.order[at])]))
    }
    return sum
  }
}
