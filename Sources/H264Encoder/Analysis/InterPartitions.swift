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
    let starts = scratch.startVectors
    let found = scratch.partitions
    let refCost = (lambda &* referenceBits(reference)) >> 4

    var cost8 = (lambda &* 5) >> 4 &* 1 &+ refCost &* 4 &+ (lambda &* 4) >> 4
    for i in 0..<4 {
      let slot = 5 &+ (i >> 1) &* 4 &+ (i & 1)
      let p = predictMotion(slot: slot, width: 1, reference: r)
      starts[0] = best16.v
      starts[1] = p
      let isRepeat = repeats & 1 << UInt8(i) != 0
      if isRepeat { starts[2] = repeatVector(i) }
      found[i] = searchMotion(
        shape: 3, x: (i & 1) &* 8, y: (i >> 1) &* 8, reference: reference, prediction: p,
        starts: starts, count: isRepeat ? 3 : 2)
      cost8 &+= found[i].cost
      gridMotion[slot] = found[i].v
      gridReference[slot] = r
    }
    let (v0, v1, v2, v3) = (found[0].v, found[1].v, found[2].v, found[3].v)
    var best = cost
    if cost8 < best {
      best = cost8
      type = MacroblockType.inter8x8
    }

    // 16x8 and 8x16 are tried only where the vectors of the 8x8 blocks differ that way.
    var halves = (best16, best16)
    if v0 != v2 || v1 != v3 {
      // 16x8
      var c = (lambda &* 3) >> 4 &+ refCost &* 2
      var pair = (best16, best16)
      for i in 0..<2 {
        let p = predictMotion16x8(i, reference: r)
        starts[0] = i == 0 ? v0 : v2
        starts[1] = i == 0 ? v1 : v3
        starts[2] = best16.v
        let result = searchMotion(
          shape: 1, x: 0, y: i &* 8, reference: reference, prediction: p, starts: starts, count: 3)
        c &+= result.cost
        if i == 0 { pair.0 = result } else { pair.1 = result }
        setGrid(5 &+ i &* 4, width: 2, height: 1, result.v, r)
        if c >= best { break }
      }
      if c < best {
        best = c
        type = MacroblockType.inter16x8
        halves = pair
      }
    }
    if v0 != v1 || v2 != v3 {
      // 8x16
      var c = (lambda &* 3) >> 4 &+ refCost &* 2
      var pair = (best16, best16)
      for i in 0..<2 {
        let p = predictMotion8x16(i, reference: r)
        starts[0] = i == 0 ? v0 : v1
        starts[1] = i == 0 ? v2 : v3
        starts[2] = best16.v
        let result = searchMotion(
          shape: 2, x: i &* 8, y: 0, reference: reference, prediction: p, starts: starts, count: 3)
        c &+= result.cost
        if i == 0 { pair.0 = result } else { pair.1 = result }
        setGrid(5 &+ i, width: 1, height: 2, result.v, r)
        if c >= best { break }
      }
      if c < best {
        best = c
        type = MacroblockType.inter8x16
        halves = pair
      }
    }

    cost = best
    switch type {
    case MacroblockType.inter16x8:
      setGrid(5, width: 2, height: 1, halves.0.v, r)
      setGrid(9, width: 2, height: 1, halves.1.v, r)
    case MacroblockType.inter8x16:
      setGrid(5, width: 1, height: 2, halves.0.v, r)
      setGrid(6, width: 1, height: 2, halves.1.v, r)
    case MacroblockType.inter8x8:
      gridMotion[5] = v0
      gridMotion[6] = v1
      gridMotion[9] = v2
      gridMotion[10] = v3
    default:
      setGrid(5, width: 2, height: 2, best16.v, r)
    }
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
      Int(best16.cost) &* 100 < Int(cost) &* picture.tools.partitions.margin16x16
    else { return false }
    let vectors = (gridMotion[5], gridMotion[6], gridMotion[9], gridMotion[10])
    let parts = lumaCost(type, prediction16)
    setGrid(5, width: 2, height: 2, best16.v, Int8(truncatingIfNeeded: reference))
    if lumaCost(MacroblockType.inter16x16, prediction16) <= parts {
      type = MacroblockType.inter16x16
    } else {
      (gridMotion[5], gridMotion[6], gridMotion[9], gridMotion[10]) = vectors
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
        let d = difference(5 &+ i &* 4, predictMotion16x8(i, reference: gridReference[5 &+ i &* 4]))
        for j in 0..<8 { out[i &* 8 &+ j] = d }
      }
    case MacroblockType.inter8x16:
      for i in 0..<2 {
        let d = difference(5 &+ i, predictMotion8x16(i, reference: gridReference[5 &+ i]))
        for y in 0..<4 {
          out[y &* 4 &+ i &* 2] = d
          out[y &* 4 &+ i &* 2 &+ 1] = d
        }
      }
    default:
      picture.syntax.info[m].subType = (0, 0, 0, 0)
      for i in 0..<4 {
        let slot = 5 &+ (i >> 1) &* 4 &+ (i & 1)
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
