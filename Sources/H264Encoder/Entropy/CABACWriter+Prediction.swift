// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

// mb_pred() and sub_mb_pred() (7.3.5.1, 7.3.5.2).
extension CABACWriter {
  /// Writes prev_intra4x4_pred_mode_flag and rem_intra4x4_pred_mode of each block (or those of
  /// 8x8), then intra_chroma_pred_mode.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  @inline(never)
  mutating func intraPrediction(_ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>) {
    var e = engine
    let type = mb.pointee.type
    if type != MacroblockType.intra16x16 {
      let modes = picture.intraModes + m &* 16
      let constrained = slice.constrainedIntraPrediction
      let step = type == MacroblockType.intra8x8 ? 4 : 1
      var block = 0  // luma4x4BlkIdx
      while block < 16 {
        let x = block & 1 &+ (block &>> 1 & 2)
        let y = block &>> 1 & 1 &+ (block &>> 2 & 2)
        let predicted = picture.predictedIntraMode(macroblock: m, x: x, y: y, constrained: constrained)
        let mode = modes[y &* 4 &+ x]
        if mode == predicted {
          e.encode(1, 68)
        } else {
          e.encode(0, 68)
          let rest = UInt32(truncatingIfNeeded: mode > predicted ? mode &- 1 : mode)
          e.encode(rest & 1, 69)
          e.encode(rest &>> 1 & 1, 69)
          e.encode(rest &>> 2, 69)
        }
        block &+= step
      }
    }
    if slice.is444 {
      // There is no intra_chroma_pred_mode.
      engine = e
      return
    }
    var context = 64
    if mb.pointee.available & Availability.left != 0 {
      let left = mb - 1
      if left.pointee.type < MacroblockType.pcm && left.pointee.intraChromaMode != 0 { context &+= 1 }
    }
    if mb.pointee.available & Availability.top != 0 {
      let top = mb - picture.widthInMbs
      if top.pointee.type < MacroblockType.pcm && top.pointee.intraChromaMode != 0 { context &+= 1 }
    }
    let mode = mb.pointee.intraChromaMode
    if mode == 0 {
      e.encode(0, context)
    } else {
      e.encode(1, context)
      e.encode(mode > 1 ? 1 : 0, 67)
      if mode > 1 { e.encode(mode > 2 ? 1 : 0, 67) }
    }
    engine = e
  }

  /// Writes sub_mb_type, ref_idx_l0 and mvd_l0.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  @inline(never)
  mutating func interPrediction(_ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>) {
    let type = mb.pointee.type
    if type == MacroblockType.inter8x8 {
      var e = engine
      for i in 0..<4 {
        switch mb.pointee.subMacroblockType(i) {
        case SubMacroblockType.whole8x8:
          e.encode(1, 21)
        case SubMacroblockType.halves8x4:
          e.encode(0, 21)
          e.encode(0, 22)
        case SubMacroblockType.halves4x8:
          e.encode(0, 21)
          e.encode(1, 22)
          e.encode(1, 23)
        default:
          e.encode(0, 21)
          e.encode(1, 22)
          e.encode(0, 23)
        }
      }
      engine = e
    }
    if slice.activeReferences > 1 {
      switch type {
      case MacroblockType.inter16x16:
        reference(m, mb, 0)
      case MacroblockType.inter16x8:
        reference(m, mb, 0)
        reference(m, mb, 2)
      case MacroblockType.inter8x16:
        reference(m, mb, 0)
        reference(m, mb, 1)
      default:
        for i in 0..<4 { reference(m, mb, i) }
      }
    }
    var (blocks, count) = picture.partitions(mb)
    while count > 0 {
      motionDifference(mb, picture.motionDifference + m &* 16, Int(truncatingIfNeeded: blocks & 15))
      blocks = blocks &>> 4
      count &-= 1
    }
  }

  /// Writes ref_idx_l0 of the partition that begins in an 8x8 block.
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - mb: the macroblock.
  ///   - i: the block, 0 to 3.
  @inline(never)
  private mutating func reference(_ m: Int, _ mb: UnsafeMutablePointer<MacroblockInfo>, _ i: Int) {
    var e = engine
    let available = mb.pointee.available
    let own = picture.referenceIndex + m &* 4
    var context = 54
    if i & 1 != 0 {
      if own[i &- 1] > 0 { context &+= 1 }
    } else if available & Availability.left != 0 {
      if own[i &- 3] > 0 { context &+= 1 }
    }
    if i & 2 != 0 {
      if own[i &- 2] > 0 { context &+= 2 }
    } else if available & Availability.top != 0 {
      if (own - picture.widthInMbs &* 4)[i &+ 2] > 0 { context &+= 2 }
    }
    var index = own[i]
    while index > 0 {
      e.encode(1, context)
      context = context < 58 ? 58 : 59
      index &-= 1
    }
    e.encode(0, context)
    engine = e
  }

  /// Writes mvd_l0 or mvd_l1 of the partition that begins in a 4x4 block.
  ///
  /// - Parameters:
  ///   - mb: the macroblock.
  ///   - own: the macroblock's vector differences in the list, for its 4x4 blocks.
  ///   - block: the block in raster order, 0 to 15.
  @inline(never)
  mutating func motionDifference(
    _ mb: UnsafeMutablePointer<MacroblockInfo>, _ own: UnsafePointer<MotionVector>, _ block: Int
  ) {
    let available = mb.pointee.available
    var left = MotionVector.zero
    if block & 3 != 0 {
      left = own[block &- 1]
    } else if available & Availability.left != 0 {
      left = own[block &- 13]
    }
    var top = MotionVector.zero
    if block > 3 {
      top = own[block &- 4]
    } else if available & Availability.top != 0 {
      top = (own - picture.widthInMbs &* 16)[block &+ 12]
    }
    let difference = own[block]
    let aroundX = abs(Int(left.x)) &+ abs(Int(top.x))
    let aroundY = abs(Int(left.y)) &+ abs(Int(top.y))
    component(Int(difference.x), aroundX, 40)
    component(Int(difference.y), aroundY, 47)
  }

  /// Writes a component of mvd: UEG3 with signedValFlag 1 and uCoff 9 (9.3.2.3).
  ///
  /// - Parameters:
  ///   - value: the component.
  ///   - around: the sum of the magnitudes of the component in the blocks at the left and above.
  ///   - base: the first ctxIdx of the component.
  @inline(__always)
  private mutating func component(_ value: Int, _ around: Int, _ base: Int) {
    var e = engine
    let first = base &+ (around > 2 ? 1 : 0) &+ (around > 32 ? 1 : 0)
    if value == 0 {
      e.encode(0, first)
      engine = e
      return
    }
    let magnitude = abs(value)
    e.encode(1, first)
    var context = base &+ 3
    var i = 1
    let prefix = min(magnitude, 9)
    while i < prefix {
      e.encode(1, context)
      if context < base &+ 6 { context &+= 1 }
      i &+= 1
    }
    let sign: UInt32 = value < 0 ? 1 : 0
    if magnitude < 9 {
      e.encode(0, context)
      e.bypass(sign, 1)
    } else {
      // Exp-Golomb code of order 3: for rest + 8, as many ones as it has bits beyond four, a zero,
      // and the bits below its highest one.
      let rest = UInt32(truncatingIfNeeded: magnitude &- 9 &+ 8)
      let length = 32 &- rest.leadingZeroBitCount
      let ones = length &- 4
      e.bypass(((1 &<< UInt32(truncatingIfNeeded: ones)) &- 1) &<< 1, ones &+ 1)
      let low = rest & ((1 &<< UInt32(truncatingIfNeeded: length &- 1)) &- 1)
      e.bypass(low &<< 1 | sign, length)
    }
    engine = e
  }
}
