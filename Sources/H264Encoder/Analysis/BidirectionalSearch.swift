// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Motion search in both lists.
extension MacroblockCoder {
  /// Searches for the best motion of a 16x16 block: from list 0, list 1 or both.
  ///
  /// - Parameter lists: receives the best motion of each list.
  /// - Returns: the best motion and its cost.
  mutating func searchBidirectional(_ lists: inout ListMotion) -> BidirectionalCandidate {
    let starts = scratch.startVectors
    var found = (MotionCandidate(v: .zero, cost: Int32.max), MotionCandidate(v: .zero, cost: Int32.max))
    var index = (0, 0)
    for list in 0..<2 {
      let count = min(
        list == 0 ? picture.referenceCount : picture.referenceCountL1, picture.settings.motion.references)
      for r in 0..<count {
        let o = list &* MacroblockCoder.gridL1
        let best = list == 0 ? found.0.cost : found.1.cost
        if r > 0 && best <= lambda &* picture.settings.motion.referenceThreshold { break }
        let p = predictMotion(slot: MotionGrid.block0 &+ o, width: 2, reference: Int8(truncatingIfNeeded: r))
        let n = gatherStarts(starts, p, list: list, reference: r)
        var c = searchMotion(
          shape: 0, x: 0, y: 0, reference: r &+ list &* ReferencePlanes.list1, prediction: p, starts: starts,
          count: n)
        c.cost &+= (lambda &* (referenceBits(r, list: list) &+ 4)) >> 4
        if c.cost < best {
          if list == 0 { (found.0, index.0) = (c, r) } else { (found.1, index.1) = (c, r) }
        }
      }
    }
    lists.vectors = (found.0.v, found.1.v)
    lists.indices = (Int8(truncatingIfNeeded: index.0), Int8(truncatingIfNeeded: index.1))
    var best = BidirectionalCandidate()
    if found.0.cost <= found.1.cost {
      best.references.0 = lists.indices.0
      best.vectors.0 = found.0.v
      best.cost = found.0.cost
    } else {
      best.references.1 = lists.indices.1
      best.vectors.1 = found.1.v
      best.cost = found.1.cost
    }
    var both = BidirectionalCandidate()
    both.references = lists.indices
    both.vectors = lists.vectors
    searchBiprediction(
      &both, type: MacroblockType.inter16x16, part: 0, shape: 0, x: 0, y: 0, bits: 6, limit: best.cost)
    return both.cost < best.cost ? both : best
  }

  /// Gathers the start vectors of a 16x16 search: the predicted vector, the zero vector, the
  /// neighbours' vectors, and the scaled vectors of the colocated macroblock and those at its right
  /// and below.
  ///
  /// - Parameters:
  ///   - starts: receives the vectors.
  ///   - p: the predicted vector.
  ///   - list: 0 or 1.
  ///   - reference: the reference index.
  /// - Returns: the number of vectors.
  private mutating func gatherStarts(
    _ starts: UnsafeMutablePointer<MotionVector>, _ p: MotionVector, list: Int, reference: Int
  ) -> Int {
    let o = list &* MacroblockCoder.gridL1
    starts[0] = p
    starts[1] = .zero
    var n = 2
    @inline(__always) func add(_ slot: Int) {
      if gridReference[slot &+ o] >= 0 {
        starts[n] = gridMotion[slot &+ o]
        n &+= 1
      }
    }
    add(MotionGrid.b)
    add(MotionGrid.c)
    add(MotionGrid.a)
    // The distance in PicOrderCnt that the colocated picture's vectors are scaled to.
    let target =
      picture.orderCount &- stream.references[reference &+ list &* ReferencePlanes.list1].orderCount
    addColocated(starts, &n, m, target)
    if mbX &+ 1 < stream.geometry.widthInMbs { addColocated(starts, &n, m &+ 1, target) }
    if mbY &+ 1 < stream.geometry.heightInMbs {
      addColocated(starts, &n, m &+ stream.geometry.widthInMbs, target)
    }
    return n
  }

  /// Adds the vector of a macroblock of the colocated picture, scaled in proportion to distances in
  /// time.
  ///
  /// - Parameters:
  ///   - starts: receives the vector.
  ///   - n: the number of start vectors; is counted up.
  ///   - m: the macroblock's address.
  ///   - distance: PicOrderCnt of the current picture minus that of its reference picture.
  @inline(__always) private mutating func addColocated(
    _ starts: UnsafeMutablePointer<MotionVector>, _ n: inout Int, _ m: Int, _ distance: Int32
  ) {
    let colocated = stream.references + ReferencePlanes.list1
    guard let stored = colocated.pointee.storedMotion else { return }
    let reference = Int(stored.references[m &* 4])
    if reference < 0 { return }
    let v = stored.vectors[m &* 4]
    let span = Int(colocated.pointee.orderCount &- stored.orderCounts[reference])
    if span == 0 || v == .zero { return }
    let scale = Int(distance) &* 256 / span
    starts[n] = MotionVector(
      Int16(clamping: (Int(v.x) &* scale &+ 128) >> 8), Int16(clamping: (Int(v.y) &* scale &+ 128) >> 8))
    n &+= 1
  }

  /// Computes the cost of predicting a partition from both lists, and refines both vectors in turns
  /// by quarter samples as long as that lowers the cost.
  ///
  /// - Parameters:
  ///   - c: the motion in both lists; its vectors and cost are replaced.
  ///   - type: the macroblock type.
  ///   - part: the partition's index (mbPartIdx).
  ///   - shape: the partition's shape (`OVT_16x16` and so on).
  ///   - x: its position in the macroblock, in luma samples.
  ///   - y: its position in the macroblock, in luma samples.
  ///   - bits: the bits of the type.
  ///   - limit: the best cost without biprediction. Vectors are not refined where the cost exceeds
  ///     it by a quarter.
  mutating func searchBiprediction(
    _ c: inout BidirectionalCandidate, type: UInt8, part: Int, shape: Int32, x: Int, y: Int, bits: Int32,
    limit: Int32
  ) {
    let width = shape <= 1 ? 0 : 1
    let height = shape & 1 == 0 ? 16 : 8
    let src = source + (y &* 16 &+ x)
    let (a, b, sum) = (scratch.predictionL0, scratch.predictionL1, scratch.bipredicted)
    let r0 = Int(c.references.0)
    let i1 = Int(c.references.1)
    let r1 = i1 &+ ReferencePlanes.list1
    let p0 = predictPartition(type, part, list: 0, reference: c.references.0)
    let p1 = predictPartition(type, part, list: 1, reference: c.references.1)
    let fixed =
      (lambda &* (referenceBits(r0, list: 0) &+ referenceBits(i1, list: 1) &+ bits)) >> 4
    compensateLuma(a, 16, x: x, y: y, width: width, height: height, c.vectors.0, reference: r0)
    compensateLuma(b, 16, x: x, y: y, width: width, height: height, c.vectors.1, reference: r1)
    joinPredictions(isChroma: false, sum, 16, a, b, width: width, height: height, r0, i1)
    var cost0 = motionCost(Int(c.vectors.0.x), Int(c.vectors.0.y), p0)
    var cost1 = motionCost(Int(c.vectors.1.x), Int(c.vectors.1.y), p1)
    c.cost = distortion(shape: shape, src, sum, 16) &+ cost0 &+ cost1 &+ fixed
    // Refinement would hardly gain that much.
    if c.cost > limit &+ limit >> 2 { return }
    var rounds = picture.settings.motion.bipredictionRounds
    while rounds > 0 {
      rounds &-= 1
      var moved = false
      for list in 0..<2 {
        let center = list == 0 ? c.vectors.0 : c.vectors.1
        let p = list == 0 ? p0 : p1
        let other = list == 0 ? b : a
        let own = list == 0 ? a : b
        let rest = fixed &+ (list == 0 ? cost1 : cost0)
        var bestVector = center
        for d in 0..<8 {
          let dx = Int16(truncatingIfNeeded: (0x2020_1120 >> (d &* 4) & 15) &- 1)
          let dy = Int16(truncatingIfNeeded: (0x2200_2011 >> (d &* 4) & 15) &- 1)
          let v = MotionVector(center.x &+ dx, center.y &+ dy)
          if !isWithinLimits(v) { continue }
          compensateLuma(
            scratch.candidate, 16, x: x, y: y, width: width, height: height, v, reference: list == 0 ? r0 : r1
          )
          let (first, second) = list == 0 ? (scratch.candidate, other) : (other, scratch.candidate)
          joinPredictions(isChroma: false, sum, 16, first, second, width: width, height: height, r0, i1)
          let motion = motionCost(Int(v.x), Int(v.y), p)
          let cost = distortion(shape: shape, src, sum, 16) &+ motion &+ rest
          if cost < c.cost {
            c.cost = cost
            bestVector = v
            if list == 0 { cost0 = motion } else { cost1 = motion }
          }
        }
        if bestVector != center {
          moved = true
          if list == 0 { c.vectors.0 = bestVector } else { c.vectors.1 = bestVector }
          compensateLuma(
            own, 16, x: x, y: y, width: width, height: height, bestVector, reference: list == 0 ? r0 : r1)
        }
      }
      if !moved { break }
    }
  }
}
