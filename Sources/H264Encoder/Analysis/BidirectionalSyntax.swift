// SPDX-License-Identifier: Apache-2.0

/// The syntax elements of a macroblock of a B picture, for its neighbours and for the entropy
/// coder.
extension MacroblockCoder {
  /// Stores the motion in the grids of both lists as that of the macroblock.
  mutating func storeMotionBidirectional() {
    storeMotion()
    let motion = picture.syntax.motionL1 + m &* 4
    let reference = picture.syntax.referenceIndexL1 + m &* 4
    for i in 0..<4 {
      let g = MotionGrid.block(i) &+ MacroblockCoder.gridL1
      reference[i] = gridReference[g]
      motion[i] = gridMotion[g]
    }
  }

  /// Marks the macroblock as not predicted from list 1.
  mutating func storeNoMotionL1() {
    UnsafeMutableRawPointer(picture.syntax.referenceIndexL1 + m &* 4).storeBytes(
      of: 0xFFFF_FFFF, as: UInt32.self)
    clearMotion(picture.syntax.motionL1 + m &* 4)
    clear(picture.syntax.motionDifferenceL1 + m &* 16)
  }

  /// Copies the motion that `storeMotionBidirectional` stored back into the grids.
  mutating func loadMotionBidirectional() {
    for i in 0..<4 {
      let g = MotionGrid.block(i)
      let at = m &* 4 &+ i
      gridMotion[g] = picture.syntax.motion[at]
      gridReference[g] = picture.syntax.referenceIndex[at]
      gridMotion[g &+ MacroblockCoder.gridL1] = picture.syntax.motionL1[at]
      gridReference[g &+ MacroblockCoder.gridL1] = picture.syntax.referenceIndexL1[at]
    }
  }

  /// Stores the macroblock as B_Skip.
  mutating func storeSkip() {
    let info = picture.syntax.info + m
    setDirect()
    storeMotionBidirectional()
    clear(picture.syntax.motionDifference + m &* 16)
    clear(picture.syntax.motionDifferenceL1 + m &* 16)
    info.pointee.type = MacroblockType.skip
    info.pointee.directBlocks = 15
    info.pointee.qp = UInt8(qp)
    info.pointee.codedBlockPattern = 0
    info.pointee.codedDC = 0
    info.pointee.transform8x8 = 0
    stream.codedBlocks[m] = 0
    let nonZero = picture.syntax.nonZero + m &* 24
    clearLumaCounts(nonZero)
    clearChromaCounts(nonZero)
  }

  /// Predicts the vector of a partition (8.4.1.3).
  ///
  /// - Parameters:
  ///   - type: the macroblock type.
  ///   - i: the partition's index (mbPartIdx).
  ///   - list: 0 or 1.
  ///   - r: the reference index.
  /// - Returns: mvpL0 or mvpL1.
  @inline(__always) mutating func predictPartition(_ type: UInt8, _ i: Int, list: Int, reference r: Int8)
    -> MotionVector
  {
    let o = list &* MacroblockCoder.gridL1
    switch type {
    case MacroblockType.inter16x16: return predictMotion(slot: MotionGrid.block0 &+ o, width: 2, reference: r)
    case MacroblockType.inter16x8:
      if i == 0 {
        if gridReference[MotionGrid.b &+ o] == r { return gridMotion[MotionGrid.b &+ o] }
        return predictMotion(slot: MotionGrid.block0 &+ o, width: 2, reference: r)
      }
      if gridReference[MotionGrid.aLower &+ o] == r { return gridMotion[MotionGrid.aLower &+ o] }
      return predictMotion(slot: MotionGrid.block2 &+ o, width: 2, reference: r)
    case MacroblockType.inter8x16:
      if i == 0 {
        if gridReference[MotionGrid.a &+ o] == r { return gridMotion[MotionGrid.a &+ o] }
        return predictMotion(slot: MotionGrid.block0 &+ o, width: 1, reference: r)
      }
      let c = (gridReference[MotionGrid.c &+ o] == -2 ? MotionGrid.b : MotionGrid.c) &+ o
      if gridReference[c] == r { return gridMotion[c] }
      return predictMotion(slot: MotionGrid.block1 &+ o, width: 1, reference: r)
    default:
      let slot = MotionGrid.block(i)
      return predictMotion(slot: slot &+ o, width: 1, reference: r)
    }
  }

  /// Stores mvd_l0 and mvd_l1 of each partition (7.4.5.1), replicated over the 4x4 blocks that it
  /// covers; zero where the list is not used or the motion is derived.
  ///
  /// - Parameters:
  ///   - type: the macroblock type.
  ///   - directBlocks: a bit for each 8x8 block that is direct.
  /// - Returns: the estimated bits of all of them, in sixteenths.
  mutating func storeDifferencesBidirectional(_ type: UInt8, directBlocks: UInt8) -> Int {
    var bits = 0
    picture.syntax.info[m].subType = (0, 0, 0, 0)
    for list in 0..<2 {
      let out = (list == 0 ? picture.syntax.motionDifference : picture.syntax.motionDifferenceL1) + m &* 16
      if type == MacroblockType.direct {
        clear(out)
        continue
      }
      let parts = type == MacroblockType.inter16x16 ? 1 : type == MacroblockType.inter8x8 ? 4 : 2
      let width = type == MacroblockType.inter16x16 || type == MacroblockType.inter16x8 ? 4 : 2
      let height = type == MacroblockType.inter16x16 || type == MacroblockType.inter8x16 ? 4 : 2
      for i in 0..<parts {
        let block = parts == 4 ? i : type == MacroblockType.inter16x8 ? 2 &* i : i
        let slot = MotionGrid.block(block) &+ list &* MacroblockCoder.gridL1
        let r = gridReference[slot]
        var d = MotionVector.zero
        if r >= 0 && directBlocks &>> UInt8(truncatingIfNeeded: block) & 1 == 0 {
          let p = predictPartition(type, i, list: list, reference: r)
          d = MotionVector(gridMotion[slot].x &- p.x, gridMotion[slot].y &- p.y)
          bits &+= Int(stream.motionBits[Int(d.x)]) &+ Int(stream.motionBits[Int(d.y)])
        }
        let first = out + ((block >> 1) &* 8 &+ (block & 1) &* 2)
        for y in 0..<height {
          for x in 0..<width { first[y &* 4 &+ x] = d }
        }
      }
    }
    return bits
  }
}
