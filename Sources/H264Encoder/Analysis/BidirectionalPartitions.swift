// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Partitions of macroblocks of B pictures: each is predicted from list 0, list 1 or both; an 8x8
/// block may also be direct.
extension MacroblockCoder {
  /// Tries 8x8 partitions, then 16x8 and 8x16 where the 8x8 blocks do not all have the same motion.
  /// If one of these is cheaper than the best motion so far, it is left in the grids.
  ///
  /// - Parameters:
  ///   - type: the macroblock type of the best motion; is replaced where partitions are cheaper.
  ///   - best: the best motion so far; its cost is replaced likewise.
  ///   - lists: the best 16x16 motion of each list.
  ///   - directAllowed: whether 8x8 blocks may be direct.
  /// - Returns: a bit for each 8x8 block that is direct, if 8x8 partitions are the best.
  mutating func decidePartitionsBidirectional(
    _ type: inout UInt8, _ best: inout BidirectionalCandidate, _ lists: ListMotion, _ directAllowed: Bool
  ) -> UInt8 {
    let found = scratch.partitionsB
    var vectors = ListVectors(lists)
    var directBlocks: UInt8 = 0
    var cost8 = (lambda &* 7) >> 4
    for i in 0..<4 {
      let slot = MotionGrid.block(i)
      let x = (i & 1) &* 8
      let y = (i >> 1) &* 8
      var limit = Int32.max
      if directAllowed {
        setDirect(i)
        predictLumaBidirectional(scratch.candidate, 16, slot: slot, x: x, y: y, width: 1, height: 8)
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
      // Two of the four blocks already cost more than the best motion so far.
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
      setGrids(MotionGrid.block0, width: 2, height: 1, halves.0)
      setGrids(MotionGrid.block2, width: 2, height: 1, halves.1)
    case MacroblockType.inter8x16:
      setGrids(MotionGrid.block0, width: 1, height: 2, halves.0)
      setGrids(MotionGrid.block1, width: 1, height: 2, halves.1)
    case MacroblockType.inter8x8:
      for i in 0..<4 { setGrids(MotionGrid.block(i), width: 1, height: 1, found[i]) }
      return directBlocks
    default: break
    }
    return 0
  }

  /// The best vectors in each list that the search has found for the four 8x8 blocks.
  struct ListVectors {
    var list0: (MotionVector, MotionVector, MotionVector, MotionVector)
    var list1: (MotionVector, MotionVector, MotionVector, MotionVector)

    /// Begins with the 16x16 vectors.
    init(_ lists: ListMotion) {
      let (a, b) = lists.vectors
      list0 = (a, a, a, a)
      list1 = (b, b, b, b)
    }

    /// The vector of an 8x8 block.
    ///
    /// - Parameters:
    ///   - list: 0 or 1.
    ///   - block: 0 to 3.
    func vector(_ list: Int, _ block: Int) -> MotionVector {
      let four = list == 0 ? list0 : list1
      switch block {
      case 0: return four.0
      case 1: return four.1
      case 2: return four.2
      default: return four.3
      }
    }

    /// Sets the vector of an 8x8 block.
    ///
    /// - Parameters:
    ///   - list: 0 or 1.
    ///   - block: 0 to 3.
    ///   - v: the vector.
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

  /// Searches for the motion of both 16x8 or both 8x16 partitions.
  ///
  /// - Parameters:
  ///   - type: `MacroblockType.inter16x8` or `inter8x16`.
  ///   - lists: the best 16x16 motion of each list.
  ///   - vectors: the best vectors of the 8x8 blocks, to start from.
  ///   - limit: the cost from which the second partition is not searched.
  /// - Returns: the motion of both and their cost, `Int32.max` where the search was given up.
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
    setGrids(MotionGrid.block0, width: isTall ? 1 : 2, height: isTall ? 2 : 1, first)
    let second = searchPart(
      type, 1, shape: isTall ? 2 : 1, x: isTall ? 8 : 0, y: isTall ? 0 : 8, lists, &vectors, starts: 2,
      bits: (3, 4))
    return (first, second, cost &+ second.cost)
  }

  /// Searches for the motion of a partition in both lists, and for their combination.
  ///
  /// - Parameters:
  ///   - type: the macroblock type.
  ///   - part: the partition's index (mbPartIdx).
  ///   - shape: the partition's shape (`OVT_16x8` and so on).
  ///   - x: its position in the macroblock, in luma samples.
  ///   - y: its position in the macroblock, in luma samples.
  ///   - lists: the best 16x16 motion of each list; its reference indices are used.
  ///   - vectors: the best vectors of the 8x8 blocks, to start from; for an 8x8 partition its entry
  ///     is replaced.
  ///   - count: the number of 8x8 blocks in the partition whose vectors are tried, 1 or 2.
  ///   - bits: the bits of the type with one list and with both.
  /// - Returns: the best motion and its cost.
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
    searchBiprediction(
      &both, type: type, part: part, shape: shape, x: x, y: y, bits: bits.1, limit: best.cost)
    return both.cost < best.cost ? both : best
  }
}
