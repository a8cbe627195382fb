// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Motion of a block by one list or both, and what it costs: distortion plus lambda times bits.
struct BidirectionalCandidate {
  /// Negative: the list is not used.
  var references: (Int8, Int8) = (-1, -1)
  var vectors: (MotionVector, MotionVector) = (.zero, .zero)
  var cost = Int32.max
}

/// Decision and coding of one macroblock of a B picture.
extension MacroblockCoder {
  /// Codes the macroblock at hand; in next to no bits if the picture's budget is spent (`economy`).
  mutating func codeBidirectional(economy: Bool) {
    let info = f.syntax.info + m
    info.pointee.directBlocks = 0
    loadMotionNeighboursL1()
    let direct = inferDirectMotion()
    let directAllowed = isWithinLimits(direct)
    if economy {
      codeEconomically(direct, allowed: directAllowed)
      return
    }
    // What is wrong here is wrong in one picture only.
    if !f.isReference { lambdaResidual = lambdaSSD }

    // B_Skip: the inferred prediction alone, when what is left quantises to nothing.
    var skipCost = Int.max
    var best = BidirectionalCandidate()
    var type = MacroblockType.direct
    if directAllowed {
      setDirect(direct)
      let division = direct.isUniform ? MacroblockType.inter16x16 : MacroblockType.inter8x8
      predictLumaBoth(division)
      let isClose = ovt_sad(k, 0, source, picture, stride) <= lambda &* 64
      if isClose {
        predictChromaBoth(division)
        let error = f.tools.rateDistortion ? Int(ovt_ssd(k, 0, source, picture, stride)) : 0
        if error &* 187 <= lambdaSSD &* f.tools.skipError && residualIsEmpty() {
          storeSkip(direct)
          return
        }
        if f.tools.rateDistortion {
          k.pointee.ssdNV12(sourceChroma, pictureChroma, stride, errors)
          skipCost = error &+ Int(errors[0]) &+ Int(errors[1])
        }
      }
      best.cost = distortion(shape: 0, source, picture, stride) &+ (lambda &* 2) >> 4
    }

    let whole = searchBoth(direct, directAllowed)
    if whole.cost < best.cost {
      best = whole
      type = MacroblockType.inter16x16
      setGrids(5, width: 2, height: 2, whole)
    }
    var directBlocks: UInt8 = type == MacroblockType.direct ? 15 : 0
    let cost = best.cost

    // Intra, when it could be cheaper.
    if cost > lambda &* f.tools.intraThreshold {
      let intra16 = decideIntra16x16(limit: cost)
      if intra16.cost &+ (lambda &* 9) >> 4 < cost {
        codeIntra(intra16)
        return
      }
    }

    if type == MacroblockType.direct {
      setDirect(direct)
      directBlocks = 15
    }
    info.pointee.type = type
    info.pointee.qp = UInt8(qp)
    info.pointee.codedDC = 0
    info.pointee.directBlocks = directBlocks
    let header = storeDifferencesBoth(type, directBlocks: directBlocks) &+ typeBits(type, best)
    storeMotionBoth()
    let division = type == MacroblockType.direct && direct.isUniform ? MacroblockType.inter16x16 : type
    predictLumaBoth(division)
    predictChromaBoth(division)
    var transform8x8 = f.transform8x8Allowed
    let luma: UInt8
    var coded = 0
    if f.tools.rateDistortion {
      let result = codeInterLumaByCost()
      luma = result.pattern
      transform8x8 = result.transform8x8
      coded = result.cost
    } else {
      luma = codeInterLuma(transform8x8: transform8x8)
    }
    let chroma = codeChroma(intra: false)
    if skipCost < Int.max {
      k.pointee.ssdNV12(sourceChroma, pictureChroma, stride, errors)
      coded &+= Int(errors[0]) &+ Int(errors[1])
      coded &+= (lambdaSSD &* (header &+ chromaBits(chroma))) >> 12
      if skipCost &* 100 <= coded &* (100 &+ f.tools.skipPreference) {
        setDirect(direct)
        let division = direct.isUniform ? MacroblockType.inter16x16 : MacroblockType.inter8x8
        predictLumaBoth(division)
        predictChromaBoth(division)
        storeSkip(direct)
        return
      }
    }
    info.pointee.codedBlockPattern = luma | chroma << 4
    info.pointee.transform8x8 = transform8x8 && luma != 0 ? 1 : 0
    if luma | chroma == 0 && type == MacroblockType.direct { info.pointee.type = MacroblockType.skip }
  }

  /// B_Skip, or the nearest thing to it where its vectors point too far out.
  private mutating func codeEconomically(_ direct: DirectMotion, allowed: Bool) {
    if allowed {
      setDirect(direct)
      let division = direct.isUniform ? MacroblockType.inter16x16 : MacroblockType.inter8x8
      predictLumaBoth(division)
      predictChromaBoth(division)
      storeSkip(direct)
      return
    }
    storeSkip(direct)
    var candidate = BidirectionalCandidate()
    candidate.references.0 = 0
    candidate.vectors.0 = clampToLimits(predictMotion(slot: 5, width: 2, reference: 0))
    setGrids(5, width: 2, height: 2, candidate)
    predictLumaBoth(MacroblockType.inter16x16)
    predictChromaBoth(MacroblockType.inter16x16)
    f.syntax.info[m].type = MacroblockType.inter16x16
    f.syntax.info[m].directBlocks = 0
    _ = storeDifferencesBoth(MacroblockType.inter16x16, directBlocks: 0)
    storeMotionBoth()
  }

  /// SATD, or SAD where the search goes by that.
  @inline(__always) mutating func distortion(
    shape: Int32, _ source: UnsafePointer<UInt8>, _ prediction: UnsafePointer<UInt8>, _ stride: Int
  ) -> Int32 {
    f.tools.refineBySATD
      ? ovt_satd(k, shape, source, prediction, stride) : ovt_sad(k, shape, source, prediction, stride)
  }

  /// Sets blocks of both grids.
  @inline(__always) mutating func setGrids(
    _ slot: Int, width: Int, height: Int, _ c: BidirectionalCandidate
  ) {
    setGrid(slot, width: width, height: height, c.vectors.0, c.references.0)
    setGrid(slot &+ MacroblockCoder.gridL1, width: width, height: height, c.vectors.1, c.references.1)
  }

  /// About how many sixteenths of a bit mb_type and coded_block_pattern take.
  private mutating func typeBits(_ type: UInt8, _ c: BidirectionalCandidate) -> Int {
    switch type {
    case MacroblockType.direct: return 48
    case MacroblockType.inter16x16: return c.references.0 >= 0 && c.references.1 >= 0 ? 112 : 80
    default: return 144
    }
  }

  mutating func referenceBits(_ r: Int, list: Int) -> Int32 {
    let count = list == 0 ? f.referenceCount : f.referenceCountL1
    return count < 2 ? 0 : r == 0 ? 1 : Int32(2 &* r &+ 1)
  }

  // MARK: - 16x16

  /// The best motion for the whole macroblock: list 0, list 1, or both.
  private mutating func searchBoth(_ direct: DirectMotion, _ directAllowed: Bool) -> BidirectionalCandidate {
    let starts = UnsafeMutableRawPointer(trial + 6 &* 512).assumingMemoryBound(to: MotionVector.self)
    var found = (MotionCandidate(v: .zero, cost: Int32.max), MotionCandidate(v: .zero, cost: Int32.max))
    var index = (0, 0)
    for list in 0..<2 {
      let count = min(list == 0 ? f.referenceCount : f.referenceCountL1, f.tools.references)
      for r in 0..<count {
        let o = list &* MacroblockCoder.gridL1
        let best = list == 0 ? found.0.cost : found.1.cost
        if r > 0 && best <= lambda &* f.tools.referenceThreshold { break }
        let p = predictMotion(slot: 5 &+ o, width: 2, reference: Int8(truncatingIfNeeded: r))
        let n = gatherStarts(starts, p, list: list, direct)
        var c = searchMotion(
          shape: 0, x: 0, y: 0, reference: r &+ list &* ReferencePlanes.list1, prediction: p, starts: starts,
          count: n)
        c.cost &+= (lambda &* (referenceBits(r, list: list) &+ 4)) >> 4
        if c.cost < best {
          if list == 0 { (found.0, index.0) = (c, r) } else { (found.1, index.1) = (c, r) }
        }
      }
    }
    var best = BidirectionalCandidate()
    if found.0.cost <= found.1.cost {
      best.references.0 = Int8(truncatingIfNeeded: index.0)
      best.vectors.0 = found.0.v
      best.cost = found.0.cost
    } else {
      best.references.1 = Int8(truncatingIfNeeded: index.1)
      best.vectors.1 = found.1.v
      best.cost = found.1.cost
    }
    var both = BidirectionalCandidate()
    both.references = (Int8(truncatingIfNeeded: index.0), Int8(truncatingIfNeeded: index.1))
    both.vectors = (found.0.v, found.1.v)
    joinBoth(&both, type: MacroblockType.inter16x16, part: 0, shape: 0, x: 0, y: 0, bits: 6, limit: best.cost)
    return both.cost < best.cost ? both : best
  }

  /// Start vectors of a list for 16x16.
  private mutating func gatherStarts(
    _ starts: UnsafeMutablePointer<MotionVector>, _ p: MotionVector, list: Int, _ direct: DirectMotion
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
    add(1)
    add(3)
    add(4)
    return n
  }

  /// Prediction from both lists: costs it, and moves the vectors in turns as long as that pays. `bits`: of the type.
  mutating func joinBoth(
    _ c: inout BidirectionalCandidate, type: UInt8, part: Int, shape: Int32, x: Int, y: Int, bits: Int32,
    limit: Int32
  ) {
    let width = shape <= 1 ? 0 : 1
    let height = shape & 1 == 0 ? 16 : 8
    let src = source + (y &* 16 &+ x)
    let (a, b, sum) = (trial + 512, trial + 768, trial + 1024)
    let r0 = Int(c.references.0)
    let r1 = Int(c.references.1) &+ ReferencePlanes.list1
    let p0 = predictPartition(type, part, list: 0, reference: c.references.0)
    let p1 = predictPartition(type, part, list: 1, reference: c.references.1)
    let fixed =
      (lambda &* (referenceBits(r0, list: 0) &+ referenceBits(Int(c.references.1), list: 1) &+ bits)) >> 4
    predictLuma(a, 16, x: x, y: y, width: width, height: height, c.vectors.0, reference: r0)
    predictLuma(b, 16, x: x, y: y, width: width, height: height, c.vectors.1, reference: r1)
    ovt_average(k, Int32(width), sum, 16, a, b, 16, Int32(height))
    var cost0 = motionCost(Int(c.vectors.0.x), Int(c.vectors.0.y), p0)
    var cost1 = motionCost(Int(c.vectors.1.x), Int(c.vectors.1.y), p1)
    c.cost = distortion(shape: shape, src, sum, 16) &+ cost0 &+ cost1 &+ fixed
    // Far from being worth it.
    if c.cost > limit &+ limit >> 2 { return }
    var rounds = f.tools.jointRounds
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
          predictLuma(
            trial + 1280, 16, x: x, y: y, width: width, height: height, v, reference: list == 0 ? r0 : r1)
          ovt_average(k, Int32(width), sum, 16, trial + 1280, other, 16, Int32(height))
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
          predictLuma(
            own, 16, x: x, y: y, width: width, height: height, bestVector, reference: list == 0 ? r0 : r1)
        }
      }
      if !moved { break }
    }
  }
}
