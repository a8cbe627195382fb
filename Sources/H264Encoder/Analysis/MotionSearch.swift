// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// A vector and its cost.
struct MotionCandidate {
  /// The vector, in quarter samples.
  var v: MotionVector
  /// Distortion of luma, at 4:4:4 of all components, plus lambda times the bits of mvd.
  var cost: Int32
  /// SATD of chroma, where the search has measured it; else 0.
  var chroma: Int32 = 0
}

/// Motion search for a block: start vectors, a full-sample diamond, then half- and quarter-sample
/// diamonds (`refineMotion`).
extension MacroblockCoder {
  /// Lambda times the bits of mvd.
  ///
  /// - Parameters:
  ///   - x: the vector's horizontal component, in quarter samples.
  ///   - y: the vector's vertical component.
  ///   - p: the predicted vector.
  @inline(__always) mutating func motionCost(_ x: Int, _ y: Int, _ p: MotionVector) -> Int32 {
    let bits = Int32(stream.motionBits[x &- Int(p.x)]) &+ Int32(stream.motionBits[y &- Int(p.y)])
    return (lambda &* bits) >> 8
  }

  /// Clamps a vector to the limits of the current macroblock.
  @inline(__always) mutating func clampToLimits(_ v: MotionVector) -> MotionVector {
    MotionVector(
      Int16(truncatingIfNeeded: min(max(Int(v.x), minX), maxX)),
      Int16(truncatingIfNeeded: min(max(Int(v.y), minY), maxY)))
  }

  /// Gathers the start vectors of a 16x16 search: the predicted vector, the zero vector, the
  /// neighbours' vectors, those of detected scrolls, moves and camera motion, and those of this
  /// macroblock and the ones at its right and below in the previous picture.
  ///
  /// - Parameters:
  ///   - starts: receives the vectors.
  ///   - p: the predicted vector.
  ///   - r: the reference index.
  /// - Returns: the number of vectors.
  mutating func gatherCandidates(
    _ starts: UnsafeMutablePointer<MotionVector>, _ p: MotionVector, reference r: Int
  ) -> Int {
    starts[0] = p
    starts[1] = .zero
    var n = 2
    @inline(__always) func add(_ slot: Int) {
      if gridReference[slot] >= 0 {
        starts[n] = gridMotion[slot]
        n &+= 1
      }
    }
    add(MotionGrid.b)
    add(MotionGrid.c)
    add(MotionGrid.a)
    if picture.scroll != .zero {
      starts[n] = picture.scroll
      n &+= 1
    }
    if r == 0 {
      for i in 0..<picture.displacements.count {
        starts[n] = MotionVector(picture.displacements[i])
        n &+= 1
      }
    }
    if r == 0 && picture.camera.isKnown {
      starts[n] = MotionVector(picture.camera.vector(mbX, mbY))
      starts[n &+ 1] = MotionVector(picture.camera.seen(m))
      n &+= 2
    }
    if picture.hasTemporalMotion {
      let motion = picture.previous.motion
      starts[n] = motion[m &* 4]
      n &+= 1
      if mbX &+ 1 < stream.geometry.widthInMbs {
        starts[n] = motion[(m &+ 1) &* 4]
        n &+= 1
      }
      if mbY &+ 1 < stream.geometry.heightInMbs {
        starts[n] = motion[(m &+ stream.geometry.widthInMbs) &* 4]
        n &+= 1
      }
    }
    return n
  }
  /// Searches for the best vector of a block.
  ///
  /// - Parameters:
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - x: the block's position in the macroblock, in luma samples.
  ///   - y: the block's position in the macroblock, in luma samples.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  ///   - p: the predicted vector.
  ///   - starts: the vectors to start from.
  ///   - count: the number of start vectors.
  /// - Returns: the best vector and its cost.
  mutating func searchMotion(
    shape: Int32, x: Int, y: Int, reference: Int, prediction p: MotionVector,
    starts: UnsafePointer<MotionVector>, count: Int
  ) -> MotionCandidate {
    if picture.isWeighted && !stream.weights[reference].isDefault {
      return searchWeightedMotion(
        shape: shape, x: x, y: y, reference: reference, prediction: p, starts: starts, count: count)
    }
    return searchMotion(
      source, shape: shape, x: x, y: y, reference: reference, prediction: p, starts: starts, count: count)
  }

  /// Searches for the best vector of a block of a given source.
  ///
  /// - Parameters:
  ///   - source: luma of the macroblock, in rows of 16 samples.
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - x: the block's position in the macroblock, in luma samples.
  ///   - y: the block's position in the macroblock, in luma samples.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  ///   - p: the predicted vector.
  ///   - starts: the vectors to start from.
  ///   - count: the number of start vectors.
  /// - Returns: the best vector and its cost.
  @inline(__always) mutating func searchMotion(
    _ source: UnsafePointer<UInt8>, shape: Int32, x: Int, y: Int, reference: Int,
    prediction p: MotionVector, starts: UnsafePointer<MotionVector>, count: Int
  ) -> MotionCandidate {
    let src = source + (y &* 16 &+ x)
    let origin = stream.references[reference].luma + ((mbY &* 16 &+ y) &* stride &+ mbX &* 16 &+ x)

    // Full samples: the best start vector.
    let compared = scratch.comparedVectors
    var bestX = 0
    var bestY = 0
    var best = Int32.max
    for i in 0..<count {
      let c = clampToLimits(starts[i])
      let cx = (Int(c.x) &+ 2) >> 2
      let cy = (Int(c.y) &+ 2) >> 2
      // Neighbours mostly have the same vectors, which need to be compared only once.
      let key = Int32(truncatingIfNeeded: cx << 16 | cy & 0xFFFF)
      var isKnown = false
      for j in 0..<i where compared[j] == key { isKnown = true }
      compared[i] = key
      if isKnown { continue }
      let at = origin + (cy &* stride &+ cx)
      var cost = ovt_sad(k, shape, src, at, stride) &+ motionCost(cx &* 4, cy &* 4, p)
      if stream.is444 && cost < best { cost &+= chromaSAD(shape, src, at) }
      if cost < best {
        best = cost
        bestX = cx
        bestY = cy
      }
    }

    descend(src, origin, shape: shape, prediction: p, &bestX, &bestY, &best)
    if shape == 0, picture.settings.motion.widestRing > 0,
      best > lambda &* MacroblockCoder.wideSearchThreshold
    {
      searchRings(src, origin, shape: shape, prediction: p, &bestX, &bestY, &best)
    }
    return refineMotion(
      shape: shape, src: src, origin: origin, x: bestX &* 4, y: bestY &* 4, cost: best, prediction: p,
      reference: reference)
  }

  /// Descends on a diamond of one sample to the nearest minimum.
  ///
  /// - Parameters:
  ///   - src: the source block, in rows of 16 samples.
  ///   - origin: the block at the same position in the reference picture.
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - p: the predicted vector.
  ///   - bestX: the vector's horizontal component, in samples.
  ///   - bestY: the vector's vertical component.
  ///   - best: the vector's cost.
  @inline(__always) private mutating func descend(
    _ src: UnsafePointer<UInt8>, _ origin: UnsafePointer<UInt8>, shape: Int32, prediction p: MotionVector,
    _ bestX: inout Int, _ bestY: inout Int, _ best: inout Int32
  ) {
    let lowX = (minX &+ 3) >> 2
    let highX = maxX >> 2
    let lowY = (minY &+ 3) >> 2
    let highY = maxY >> 2
    var steps = picture.settings.motion.fullSampleSteps
    while steps > 0 {
      steps &-= 1
      if bestX <= lowX || bestX >= highX || bestY <= lowY || bestY >= highY { break }
      let at = origin + (bestY &* stride &+ bestX)
      ovt_sad_x4(k, shape, src, at - stride, at + stride, at - 1, at + 1, stride, costs)
      if stream.is444 { addChromaSADs(shape, src, at - stride, at + stride, at - 1, at + 1) }
      let up = costs[0] &+ motionCost(bestX &* 4, bestY &* 4 &- 4, p)
      let down = costs[1] &+ motionCost(bestX &* 4, bestY &* 4 &+ 4, p)
      let left = costs[2] &+ motionCost(bestX &* 4 &- 4, bestY &* 4, p)
      let right = costs[3] &+ motionCost(bestX &* 4 &+ 4, bestY &* 4, p)
      var direction = 0
      if up < best {
        best = up
        direction = 1
      }
      if down < best {
        best = down
        direction = 2
      }
      if left < best {
        best = left
        direction = 3
      }
      if right < best {
        best = right
        direction = 4
      }
      switch direction {
      case 1: bestY &-= 1
      case 2: bestY &+= 1
      case 3: bestX &-= 1
      case 4: bestX &+= 1
      default: steps = 0
      }
    }
  }

  /// Cost in lambda, times 16, above which rings around the best vector are searched.
  static let wideSearchThreshold: Int32 = 16

  /// Searches rings of 16 vectors around the best one, four samples apart, as the uneven
  /// multi-hexagon search does (Chen, Zhou, He: "Fast integer pel and fractional pel motion
  /// estimation", JVT-F017), and descends from a better one that it finds.
  ///
  /// - Parameters:
  ///   - src: the source block, in rows of 16 samples.
  ///   - origin: the block at the same position in the reference picture.
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - p: the predicted vector.
  ///   - bestX: the vector's horizontal component, in samples.
  ///   - bestY: the vector's vertical component.
  ///   - best: the vector's cost.
  private mutating func searchRings(
    _ src: UnsafePointer<UInt8>, _ origin: UnsafePointer<UInt8>, shape: Int32, prediction p: MotionVector,
    _ bestX: inout Int, _ bestY: inout Int, _ best: inout Int32
  ) {
    let (centerX, centerY, before) = (bestX, bestY, best)
    for ring in 1...picture.settings.motion.widestRing {
      for i in 0..<16 {
        let (dx, dy) = MacroblockCoder.ringOffset(i)
        let x = centerX &+ dx &* ring
        let y = centerY &+ dy &* ring
        if x &* 4 < minX || x &* 4 > maxX || y &* 4 < minY || y &* 4 > maxY { continue }
        let at = origin + (y &* stride &+ x)
        var cost = ovt_sad(k, shape, src, at, stride) &+ motionCost(x &* 4, y &* 4, p)
        if stream.is444 && cost < best { cost &+= chromaSAD(shape, src, at) }
        if cost < best { (best, bestX, bestY) = (cost, x, y) }
      }
    }
    if best < before { descend(src, origin, shape: shape, prediction: p, &bestX, &bestY, &best) }
  }

  /// The offset of a vector of the innermost ring, 0 to 15: wider than high, as motion is.
  @inline(__always) private static func ringOffset(_ i: Int) -> (Int, Int) {
    // A nibble for each component, plus 4.
    let x = Int(truncatingIfNeeded: (0x6422_4688_8880_0000 as UInt64) >> UInt64(i &* 4) & 15) &- 4
    let y = Int(truncatingIfNeeded: (0x1017_8765_4322_3456 as UInt64) >> UInt64(i &* 4) & 15) &- 4
    return (x, y)
  }
}
