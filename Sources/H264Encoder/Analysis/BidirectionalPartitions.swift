// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Partitions of macroblocks of B pictures, each predicted by list 0, list 1, or both; blocks of 8x8 direct too.
extension MacroblockCoder {
  /// Tries 8x8, then the halves that agree. Leaves the winner in the grids if it is one of them. Returns the blocks
  /// of it that are direct.
  mutating func decidePartitionsBoth(
    _ type: inout UInt8, _ best: inout BidirectionalCandidate, _ lists: ListMotion, _ directAllowed: Bool
  ) -> UInt8 {
    let found = scratch.partitionsB
    var vectors = ListVectors(lists)
    var directBlocks: UInt8 = 0
    var cost8 = (lambda &* 7) >> 4
    for i in 0..<4 {
      let slot = 5 &+ (i >> 1) &* 4 &+ (i & 1)
      let x = (i & 1) &* 8
      let y = (i >> 1) &* 8
      var limit = Int32.max
      if directAllowed {
        setDirect(i)
        predictLumaBoth(scratch.candidate, 16, slot: slot, x: x, y: y, width: 1, height: 8)
        limit = distortion(shape: 3, source + (y &* 16 &+ x), scratch.candidate, 16) &+ (lambda &* 2) >> 4
      }
      let c = searchPart(
        MacroblockType.inter8x8, i, shape: 3, x: x, y: y, lists, &vectors, starts: 1, bits: (3, 5))
      if limit <= c.cost {
        directBlocks |= 1 << UInt8(truncatingIfNeeded: i)
        cost8 &+= limit
        setDirect(i)
        found[i].references = (directMotion.references[i], directMotion.references[i &+ 4])
        found[i].vectors = (directMotion.vectors[i], directMotion.vectors[i &+ 4])
      } else {
        found[i] = c
        cost8 &+= c.cost
        setGrids(slot, width: 1, height: 1, c)
      }
      // Nothing can come of it any more.
      if i == 1 && cost8 > best.cost { return 0 }
      if i == 3 && cost8 < best.cost {
        best.cost = cost8
        type = MacroblockType.inter8x8
      }
    }
    if cost8 > best.cost &+ best.cost >> 3 { return 0 }

    var halves = (BidirectionalCandidate(), BidirectionalCandidate())
    @inline(__always) func alike(_ a: Int, _ b: Int) -> Bool {
      found[a].references == found[b].references && found[a].vectors.0 == found[b].vectors.0
        && found[a].vectors.1 == found[b].vectors.1
    }
    if !alike(0, 2) || !alike(1, 3) {
      let pair = searchHalves(MacroblockType.inter16x8, lists, vectors, limit: best.cost)
      if pair.cost < best.cost {
        best.cost = pair.cost
        type = MacroblockType.inter16x8
        halves = (pair.first, pair.second)
      }
    }
    if !alike(0, 1) || !alike(2, 3) {
      let pair = searchHalves(MacroblockType.inter8x16, lists, vectors, limit: best.cost)
      if pair.cost < best.cost {
        best.cost = pair.cost
        type = MacroblockType.inter8x16
        halves = (pair.first, pair.second)
      }
    }
    switch type {
    case MacroblockType.inter16x8:
      setGrids(5, width: 2, height: 1, halves.0)
      setGrids(9, width: 2, height: 1, halves.1)
    case MacroblockType.inter8x16:
      setGrids(5, width: 1, height: 2, halves.0)
      setGrids(6, width: 1, height: 2, halves.1)
    case MacroblockType.inter8x8:
      for i in 0..<4 { setGrids(5 &+ (i >> 1) &* 4 &+ (i & 1), width: 1, height: 1, found[i]) }
      return directBlocks
    default: break
    }
    return 0
  }

  /// The best vectors that the search has found in each list for the four 8x8 blocks.
  struct ListVectors {
    var list0: (MotionVector, MotionVector, MotionVector, MotionVector)
    var list1: (MotionVector, MotionVector, MotionVector, MotionVector)

    init(_ lists: ListMotion) {
      let (a, b) = lists.vectors
      list0 = (a, a, a, a)
      list1 = (b, b, b, b)
    }

    func vector(_ list: Int, _ block: Int) -> MotionVector {
      let four = list == 0 ? list0 : list1
      switch block {
      case 0: return four.0
      case 1: return four.1
      case 2: return four.2
      default: return four.3
      }
    }

    mutating func set(_ list: Int, _ block: Int, _ v: MotionVector) {
      var four = list == 0 ? list0 : list1
      switch block {
      case 0: four.0 = v
      case 1: four.1 = v
      case 2: four.2 = v
      default: four.3 = v
      }
      if list == 0 { list0 = four } else { list1 = four }
    }
  }

  /// Both halves of a macroblock, and what they cost.
  private mutating func searchHalves(
    _ type: UInt8, _ lists: ListMotion, _ vectors: ListVectors, limit: Int32
  ) -> (first: BidirectionalCandidate, second: BidirectionalCandidate, cost: Int32) {
    let isTall = type == MacroblockType.inter8x16
    var vectors = vectors
    var cost = (lambda &* 2) >> 4
    let first = searchPart(
      type, 0, shape: isTall ? 2 : 1, x: 0, y: 0, lists, &vectors, starts: 2, bits: (3, 4))
    cost &+= first.cost
    if cost >= limit { return (first, first, Int32.max) }
    setGrids(5, width: isTall ? 1 : 2, height: isTall ? 2 : 1, first)
    let second = searchPart(
      type, 1, shape: isTall ? 2 : 1, x: isTall ? 8 : 0, y: isTall ? 0 : 8, lists, &vectors, starts: 2,
      bits: (3, 4))
    return (first, second, cost &+ second.cost)
  }

  /// Searches for a partition in both lists. `starts`: 8x8 blocks in it along its length whose vectors are tried;
  /// `bits`: of the type with one list and with both.
  private mutating func searchPart(
    _ type: UInt8, _ part: Int, shape: Int32, x: Int, y: Int, _ lists: ListMotion,
    _ vectors: inout ListVectors, starts count: Int, bits: (Int32, Int32)
  ) -> BidirectionalCandidate {
    let starts = scratch.startVectors
    let block = (y >> 3) &* 2 &+ x >> 3
    var best = BidirectionalCandidate()
    var both = BidirectionalCandidate()
    both.references = lists.indices
    for list in 0..<2 {
      let r = list == 0 ? lists.indices.0 : lists.indices.1
      let p = predictPartition(type, part, list: list, reference: r)
      var n = 0
      starts[n] = vectors.vector(list, block)
      n &+= 1
      if count > 1 {
        starts[n] = vectors.vector(list, type == MacroblockType.inter16x8 ? block &+ 1 : block &+ 2)
        starts[n &+ 1] = list == 0 ? lists.vectors.0 : lists.vectors.1
        n &+= 2
      } else {
        starts[n] = p
        n &+= 1
      }
      var c = searchMotion(
        shape: shape, x: x, y: y, reference: Int(r) &+ list &* ReferencePlanes.list1, prediction: p,
        starts: starts, count: n)
      c.cost &+= (lambda &* (referenceBits(Int(r), list: list) &+ bits.0)) >> 4
      if count == 1 { vectors.set(list, block, c.v) }
      if list == 0 { both.vectors.0 = c.v } else { both.vectors.1 = c.v }
      if c.cost < best.cost {
        best = BidirectionalCandidate()
        best.cost = c.cost
        if list == 0 {
          best.references.0 = r
          best.vectors.0 = c.v
        } else {
          best.references.1 = r
          best.vectors.1 = c.v
        }
      }
    }
    joinBoth(&both, type: type, part: part, shape: shape, x: x, y: y, bits: bits.1, limit: best.cost)
    return both.cost < best.cost ? both : best
  }
}
