// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Properties of the motion that B_Skip and direct prediction derive for a macroblock. The motion
/// itself is in `MacroblockCoder.directMotion`.
struct DirectMotion {
  /// Whether all four 8x8 blocks have the same motion.
  var isUniform: Bool
  /// Whether the motion can be used: its vectors are within the limits, and list 0 has the pictures
  /// that it refers to.
  var isAllowed: Bool

  /// The division of the macroblock for prediction: 16x16 where the motion is uniform, else 8x8.
  var division: UInt8 { isUniform ? MacroblockType.inter16x16 : MacroblockType.inter8x8 }
}

/// The motion of the four 8x8 blocks of a macroblock in both lists.
struct BlockMotion {
  /// Eight vectors: four of list 0, then four of list 1.
  let vectors: UnsafeMutablePointer<MotionVector>
  /// Eight reference indices in the same order; negative where the list is not used.
  let references: UnsafeMutablePointer<Int8>
}

/// Motion vector prediction (8.4.1) and motion compensation (8.4.2) with two lists.
///
/// The grid of list 1 follows that of list 0 at `gridL1`; its reference pictures follow those of
/// list 0 at `ReferencePlanes.list1`.
extension MacroblockCoder {
  /// The number of entries from list 0 to list 1 in `gridMotion` and `gridReference`.
  static let gridL1 = 12

  /// Fills the grid of list 1 with the neighbours' motion.
  mutating func loadMotionNeighboursL1() {
    loadMotionNeighbours(
      picture.syntax.motionL1, picture.syntax.referenceIndexL1, into: MacroblockCoder.gridL1)
  }

  // MARK: - Direct (8.4.1.2)

  /// Derives the motion of direct prediction into `directMotion`, spatially or temporally as the
  /// slice header says.
  @inline(__always) mutating func deriveDirectMotion() -> DirectMotion {
    picture.usesTemporalDirect ? inferTemporalMotion() : inferSpatialMotion()
  }

  /// Derives the motion of spatial direct prediction (8.4.1.2.2) into `directMotion`.
  mutating func inferSpatialMotion() -> DirectMotion {
    // MinPositive of the neighbours' indices: the minimum of unsigned values, in which negative
    // ones are the largest.
    @inline(__always) func reference(_ o: Int) -> Int8 {
      let c = gridReference[o &+ MotionGrid.c] == -2 ? gridReference[o] : gridReference[o &+ MotionGrid.c]
      let a = min(
        UInt8(bitPattern: gridReference[o &+ MotionGrid.a]),
        UInt8(bitPattern: gridReference[o &+ MotionGrid.b]))
      return max(Int8(bitPattern: min(a, UInt8(bitPattern: c))), -1)
    }
    let o = MacroblockCoder.gridL1
    let r0 = reference(0)
    let r1 = reference(o)
    if r0 < 0 && r1 < 0 {
      setDirectMotion((0, 0), (.zero, .zero), still: 0)
      return DirectMotion(isUniform: true, isAllowed: true)
    }
    let v0 = r0 < 0 ? .zero : predictMotion(slot: MotionGrid.block0, width: 2, reference: r0)
    let v1 = r1 < 0 ? .zero : predictMotion(slot: MotionGrid.block0 &+ o, width: 2, reference: r1)
    var still: UInt8 = 0
    if r0 == 0 && v0 != .zero || r1 == 0 && v1 != .zero { still = stillColocatedBlocks() }
    setDirectMotion((r0, r1), (v0, v1), still: still)
    return DirectMotion(
      isUniform: still == 0 || still == 15, isAllowed: isWithinLimits(v0) && isWithinLimits(v1))
  }

  /// Sets `directMotion` to the motion of spatial direct prediction.
  ///
  /// - Parameters:
  ///   - references: refIdxL0 and refIdxL1.
  ///   - vectors: mvL0 and mvL1.
  ///   - still: colZeroFlag of the four 8x8 blocks, a bit each: a vector with reference index 0 is
  ///     zero there.
  @inline(__always) private mutating func setDirectMotion(
    _ references: (Int8, Int8), _ vectors: (MotionVector, MotionVector), still: UInt8
  ) {
    let d = directMotion
    for i in 0..<4 {
      let stands = still &>> UInt8(truncatingIfNeeded: i) & 1 != 0
      d.vectors[i] = stands && references.0 == 0 ? .zero : vectors.0
      d.vectors[i &+ 4] = stands && references.1 == 0 ? .zero : vectors.1
      d.references[i] = references.0
      d.references[i &+ 4] = references.1
    }
  }

  /// Computes colZeroFlag (8.4.1.2.2) of the four 8x8 blocks, a bit each.
  private mutating func stillColocatedBlocks() -> UInt8 {
    guard let colocated = stream.references[ReferencePlanes.list1].storedMotion else { return 0 }
    var still: UInt8 = 0
    for i in 0..<4 {
      let reference = colocated.references[m &* 4 &+ i]
      let v = colocated.vectors[m &* 4 &+ i]
      let isShort = v.x >= -1 && v.x <= 1 && v.y >= -1 && v.y <= 1
      if isShort && (reference == 0 || reference == Int8(ReferencePlanes.list1)) {
        still |= 1 << UInt8(truncatingIfNeeded: i)
      }
    }
    return still
  }

  /// Whether a vector, in quarter samples, is within the limits of the current macroblock.
  @inline(__always) mutating func isWithinLimits(_ v: MotionVector) -> Bool {
    Int(v.x) >= minX && Int(v.x) <= maxX && Int(v.y) >= minY && Int(v.y) <= maxY
  }

  /// Sets an 8x8 block of the grids to its motion in direct prediction.
  ///
  /// - Parameter block: 0 to 3.
  @inline(__always) mutating func setDirect(_ block: Int) {
    let slot = MotionGrid.block(block)
    let d = directMotion
    gridMotion[slot] = d.vectors[block]
    gridReference[slot] = d.references[block]
    gridMotion[slot &+ MacroblockCoder.gridL1] = d.vectors[block &+ 4]
    gridReference[slot &+ MacroblockCoder.gridL1] = d.references[block &+ 4]
  }

  /// Sets all four 8x8 blocks of the grids to their motion in direct prediction.
  mutating func setDirect() { for i in 0..<4 { setDirect(i) } }

  // MARK: - Compensation

  /// Predicts the luma of a block with the motion in an entry of the grids.
  ///
  /// - Parameters:
  ///   - dst: receives the prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - slot: the entry of the grid of list 0.
  ///   - x: the block's position in the macroblock, in luma samples.
  ///   - y: the block's position in the macroblock, in luma samples.
  ///   - width: index of the width in the kernels: 0 for 16 samples, 1 for 8.
  ///   - height: luma rows.
  @inline(__always) mutating func predictLumaBidirectional(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, slot: Int, x: Int, y: Int, width: Int, height: Int
  ) {
    predictBidirectional(
      isChroma: false, dst, dstStride, slot: slot, x: x, y: y, width: width, height: height)
  }

  /// Predicts the NV12 chroma of a block with the motion in an entry of the grids.
  ///
  /// - Parameters:
  ///   - dst: receives the prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - slot: the entry of the grid of list 0.
  ///   - x: the block's position in the macroblock, in luma samples.
  ///   - y: the block's position in the macroblock, in luma samples.
  ///   - width: index of the width in the kernels: 0 for 16 bytes, 1 for 8.
  ///   - height: the height in luma rows.
  @inline(__always) mutating func predictChromaBidirectional(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, slot: Int, x: Int, y: Int, width: Int, height: Int
  ) {
    predictBidirectional(isChroma: true, dst, dstStride, slot: slot, x: x, y: y, width: width, height: height)
  }

  /// Predicts luma or chroma (see `predictLumaBidirectional` and `predictChromaBidirectional`).
  /// `isChroma` is a constant in each of them, so that its branches vanish when this is inlined.
  @inline(__always) private mutating func predictBidirectional(
    isChroma: Bool, _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, slot: Int, x: Int, y: Int,
    width: Int,
    height: Int
  ) {
    let o = MacroblockCoder.gridL1
    let r0 = Int(gridReference[slot])
    let r1 = Int(gridReference[slot &+ o])
    let v0 = gridMotion[slot]
    let v1 = gridMotion[slot &+ o]
    let second = r1 &+ ReferencePlanes.list1
    let joins = r0 >= 0 && r1 >= 0
    let a = joins ? scratch.predictionL0 : dst
    let b = joins ? scratch.predictionL1 : dst
    let stride = joins ? 16 : dstStride
    if isChroma {
      if r0 >= 0 { compensateChroma(a, stride, x: x, y: y, width: width, height: height, v0, reference: r0) }
      if r1 >= 0 {
        compensateChroma(b, stride, x: x, y: y, width: width, height: height, v1, reference: second)
      }
    } else {
      if r0 >= 0 { compensateLuma(a, stride, x: x, y: y, width: width, height: height, v0, reference: r0) }
      if r1 >= 0 {
        compensateLuma(b, stride, x: x, y: y, width: width, height: height, v1, reference: second)
      }
    }
    guard joins else {
      if picture.isWeighted {
        let reference = r0 >= 0 ? r0 : second
        if isChroma {
          weighChroma(dst, dstStride, width: width, height: height / 2, reference: reference)
        } else {
          weighLuma(dst, dstStride, width: width, height: height, reference: reference)
        }
      }
      return
    }
    joinPredictions(
      isChroma: isChroma, dst, dstStride, a, b, width: width, height: isChroma ? height / 2 : height, r0, r1)
  }

  /// Calls a function for each partition.
  ///
  /// - Parameters:
  ///   - type: the macroblock type.
  ///   - body: receives the coder, the entry of the grid, the position in luma samples (x, y), the
  ///     kernels' width index and the height in luma rows.
  @inline(__always) private mutating func forEachPart(
    _ type: UInt8, _ body: (inout MacroblockCoder, Int, Int, Int, Int, Int) -> Void
  ) {
    switch type {
    case MacroblockType.inter16x16: body(&self, 5, 0, 0, 0, 16)
    case MacroblockType.inter16x8:
      body(&self, 5, 0, 0, 0, 8)
      body(&self, 9, 0, 8, 0, 8)
    case MacroblockType.inter8x16:
      body(&self, 5, 0, 0, 1, 16)
      body(&self, 6, 8, 0, 1, 16)
    default:
      body(&self, 5, 0, 0, 1, 8)
      body(&self, 6, 8, 0, 1, 8)
      body(&self, 9, 0, 8, 1, 8)
      body(&self, 10, 8, 8, 1, 8)
    }
  }

  /// Predicts the macroblock's luma with the motion in the grids, into the reconstruction.
  ///
  /// - Parameter type: the macroblock type; types without a division of their own count as 8x8.
  mutating func predictLumaBidirectional(_ type: UInt8) {
    forEachPart(type) { c, slot, x, y, width, height in
      c.predictLumaBidirectional(
        c.reconstruction + (y &* c.stride &+ x), c.stride, slot: slot, x: x, y: y, width: width,
        height: height)
    }
  }

  /// Predicts the macroblock's chroma with the motion in the grids, into the reconstruction.
  ///
  /// - Parameter type: the macroblock type; types without a division of their own count as 8x8.
  mutating func predictChromaBidirectional(_ type: UInt8) {
    forEachPart(type) { c, slot, x, y, width, height in
      c.predictChromaBidirectional(
        c.reconstructionChroma + (y / 2 &* c.stride &+ x), c.stride, slot: slot, x: x, y: y, width: width,
        height: height)
    }
  }
}
