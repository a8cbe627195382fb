// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Partitions of macroblocks of P pictures.
extension MacroblockCoder {
  /// Tries 8x8 partitions, starting from the 16x16 vector, then 16x8 and 8x16 where the vectors of
  /// the 8x8 blocks differ that way. The cheapest motion, which may be that of 16x16, is left in
  /// the grid.
  ///
  /// - Parameters:
  ///   - type: the macroblock type of the best motion so far; is replaced where partitions are
  ///     cheaper.
  ///   - cost: the cost of the best motion so far; is replaced likewise.
  ///   - best16: the 16x16 vector.
  ///   - reference: the reference index that all partitions have.
  ///   - repeats: a bit for each 8x8 block for which `repeatVector` has a vector.
  mutating func decidePartitions(
    _ type: inout UInt8, _ cost: inout Int32, _ best16: MotionCandidate, _ reference: Int,
    repeats: UInt8 = 0
  ) {
    let r = Int8(truncatingIfNeeded: reference)
    let (quarters, cost8) = searchQuarters(best16, reference, repeats: repeats)
    var best = cost
    if cost8 < best {
      best = cost8
      type = MacroblockType.inter8x8
    }
    // 16x8 and 8x16 are tried only where the vectors of the 8x8 blocks differ that way.
    var halves = (MotionVector.zero, MotionVector.zero)
    if quarters.0 != quarters.2 || quarters.1 != quarters.3 {
      let starts = (quarters.0, quarters.1, quarters.2, quarters.3)
      if let found = searchHalves(MacroblockType.inter16x8, starts, best16, reference, &best) {
        type = MacroblockType.inter16x8
        halves = found
      }
    }
    if quarters.0 != quarters.1 || quarters.2 != quarters.3 {
      let starts = (quarters.0, quarters.2, quarters.1, quarters.3)
      if let found = searchHalves(MacroblockType.inter8x16, starts, best16, reference, &best) {
        type = MacroblockType.inter8x16
        halves = found
      }
    }
    cost = best
    switch type {
    case MacroblockType.inter16x8:
      setGrid(MotionGrid.block0, width: 2, height: 1, halves.0, r)
      setGrid(MotionGrid.block2, width: 2, height: 1, halves.1, r)
    case MacroblockType.inter8x16:
      setGrid(MotionGrid.block0, width: 1, height: 2, halves.0, r)
      setGrid(MotionGrid.block1, width: 1, height: 2, halves.1, r)
    case MacroblockType.inter8x8:
      gridMotion[MotionGrid.block0] = quarters.0
      gridMotion[MotionGrid.block1] = quarters.1
      gridMotion[MotionGrid.block2] = quarters.2
      gridMotion[MotionGrid.block3] = quarters.3
    default:
      setGrid(MotionGrid.block0, width: 2, height: 2, best16.v, r)
    }
  }

  /// A vector for each 8x8 block of a macroblock.
  private typealias FourVectors = (MotionVector, MotionVector, MotionVector, MotionVector)

  /// Searches for the vectors of the four 8x8 blocks, and leaves them in the grid.
  ///
  /// - Parameters:
  ///   - best16: the 16x16 vector, to start from.
  ///   - reference: the reference index.
  ///   - repeats: a bit for each 8x8 block for which `repeatVector` has a vector.
  /// - Returns: the vectors and their cost.
  private mutating func searchQuarters(
    _ best16: MotionCandidate, _ reference: Int, repeats: UInt8
  ) -> (vectors: FourVectors, cost: Int32) {
    let r = Int8(truncatingIfNeeded: reference)
    let starts = scratch.startVectors
    let found = scratch.partitions
    let referenceCost = (lambda &* referenceBits(reference)) >> 4
    // The bits of mb_type and of the four sub_mb_type.
    var cost = (lambda &* 5) >> 4 &+ referenceCost &* 4 &+ (lambda &* 4) >> 4
    for i in 0..<4 {
      let slot = MotionGrid.block(i)
      let p = predictMotion(slot: slot, width: 1, reference: r)
      starts[0] = best16.v
      starts[1] = p
      let isRepeat = repeats & 1 << UInt8(i) != 0
      if isRepeat { starts[2] = repeatVector(i) }
      found[i] = searchMotion(
        shape: 3, x: (i & 1) &* 8, y: (i >> 1) &* 8, reference: reference, prediction: p,
        starts: starts, count: isRepeat ? 3 : 2)
      cost &+= found[i].cost
      gridMotion[slot] = found[i].v
      gridReference[slot] = r
    }
    return ((found[0].v, found[1].v, found[2].v, found[3].v), cost)
  }

  /// Searches for the vectors of both 16x8 or both 8x16 partitions, and leaves those that it has
  /// searched in the grid.
  ///
  /// - Parameters:
  ///   - type: `MacroblockType.inter16x8` or `inter8x16`.
  ///   - blocks: the vectors of the 8x8 blocks of the first partition, then those of the second, to
  ///     start from.
  ///   - best16: the 16x16 vector, to start from.
  ///   - reference: the reference index.
  ///   - least: the least cost so far; is replaced where the partitions cost less.
  /// - Returns: both vectors; nil where they do not cost less.
  private mutating func searchHalves(
    _ type: UInt8, _ blocks: FourVectors, _ best16: MotionCandidate, _ reference: Int, _ least: inout Int32
  ) -> (MotionVector, MotionVector)? {
    let r = Int8(truncatingIfNeeded: reference)
    let starts = scratch.startVectors
    let isTall = type == MacroblockType.inter8x16
    var vectors = (MotionVector.zero, MotionVector.zero)
    var cost = (lambda &* 3) >> 4 &+ (lambda &* referenceBits(reference)) >> 4 &* 2
    for i in 0..<2 {
      let p = isTall ? predictMotion8x16(i, reference: r) : predictMotion16x8(i, reference: r)
      (starts[0], starts[1]) = i == 0 ? (blocks.0, blocks.1) : (blocks.2, blocks.3)
      starts[2] = best16.v
      let found = searchMotion(
        shape: isTall ? 2 : 1, x: isTall ? i &* 8 : 0, y: isTall ? 0 : i &* 8, reference: reference,
        prediction: p, starts: starts, count: 3)
      cost &+= found.cost
      if i == 0 { vectors.0 = found.v } else { vectors.1 = found.v }
      setGrid(
        MotionGrid.block(isTall ? i : 2 &* i), width: isTall ? 1 : 2, height: isTall ? 2 : 1, found.v, r)
      if cost >= least { return nil }
    }
    least = cost
    return vectors
  }

  /// Codes the luma both with the partitions and with one vector, where their estimated costs are
  /// close, and keeps the motion whose rate-distortion cost is less in the grid.
  ///
  /// - Parameters:
  ///   - type: the macroblock type; becomes 16x16 where one vector costs less.
  ///   - cost: the estimated cost of the partitions.
  ///   - best16: the 16x16 vector.
  ///   - reference: the reference index of the 16x16 vector.
  ///   - prediction16: the predicted vector of 16x16.
  /// - Returns: whether both were coded, so that the prediction in the reconstruction has to be
  ///   made again.
  mutating func compareWith16x16(
    _ type: inout UInt8, _ cost: Int32, _ best16: MotionCandidate, _ reference: Int,
    _ prediction16: MotionVector
  ) -> Bool {
    guard type != MacroblockType.inter16x16,
      Int(best16.cost) &* 100 < Int(cost) &* picture.settings.partitions.margin16x16
    else { return false }
    let vectors = (
      gridMotion[MotionGrid.block0], gridMotion[MotionGrid.block1], gridMotion[MotionGrid.block2],
      gridMotion[MotionGrid.block3]
    )
    let parts = lumaCost(type, prediction16)
    setGrid(MotionGrid.block0, width: 2, height: 2, best16.v, Int8(truncatingIfNeeded: reference))
    if lumaCost(MacroblockType.inter16x16, prediction16) <= parts {
      type = MacroblockType.inter16x16
    } else {
      (
        gridMotion[MotionGrid.block0], gridMotion[MotionGrid.block1], gridMotion[MotionGrid.block2],
        gridMotion[MotionGrid.block3]
      ) = vectors
    }
    return true
  }

  /// Codes the luma with the motion in the grid.
  ///
  /// - Parameters:
  ///   - type: the macroblock type.
  ///   - prediction16: the predicted vector of 16x16.
  /// - Returns: squared error plus lambda times bits, with the bits of the motion.
  private mutating func lumaCost(_ type: UInt8, _ prediction16: MotionVector) -> Int {
    storeDifferences(type, prediction16)
    predictInter(type)
    return codeInterLumaByCost().cost &+ (lambdaSSD &* headerBits(type)) >> 12
  }

  /// Stores mvd_l0 of each partition (7.4.5.1), replicated over the 4x4 blocks that it covers.
  ///
  /// - Parameters:
  ///   - type: the macroblock type.
  ///   - prediction16: the predicted vector of 16x16.
  mutating func storeDifferences(_ type: UInt8, _ prediction16: MotionVector) {
    let out = picture.syntax.motionDifference + m &* 16
    @inline(__always) func difference(_ slot: Int, _ p: MotionVector) -> MotionVector {
      MotionVector(gridMotion[slot].x &- p.x, gridMotion[slot].y &- p.y)
    }
    switch type {
    case MacroblockType.inter16x16:
      let d = difference(5, prediction16)
      for i in 0..<16 { out[i] = d }
    case MacroblockType.inter16x8:
      for i in 0..<2 {
        let d = difference(
          MotionGrid.block(2 &* i), predictMotion16x8(i, reference: gridReference[MotionGrid.block(2 &* i)]))
        for j in 0..<8 { out[i &* 8 &+ j] = d }
      }
    case MacroblockType.inter8x16:
      for i in 0..<2 {
        let d = difference(
          MotionGrid.block(i), predictMotion8x16(i, reference: gridReference[MotionGrid.block(i)]))
        for y in 0..<4 {
          out[y &* 4 &+ i &* 2] = d
          out[y &* 4 &+ i &* 2 &+ 1] = d
        }
      }
    default:
      picture.syntax.info[m].subType = (0, 0, 0, 0)
      for i in 0..<4 {
        let slot = MotionGrid.block(i)
        let d = difference(slot, predictMotion(slot: slot, width: 1, reference: gridReference[slot]))
        let p = out + ((i >> 1) &* 8 &+ (i & 1) &* 2)
        p[0] = d
        p[1] = d
        p[4] = d
        p[5] = d
      }
    }
  }
}
