// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// What is to be known of the motion that B_Skip and direct blocks infer; the motion itself is in
/// `MacroblockCoder.directMotion`.
struct DirectMotion {
  /// One motion serves all four blocks.
  var isUniform: Bool
  /// All of it can be had: vectors lie where there are samples, and list 0 has the pictures.
  var isAllowed: Bool

  /// How prediction with it is divided.
  var division: UInt8 { isUniform ? MacroblockType.inter16x16 : MacroblockType.inter8x8 }
}

/// Motion of the four 8x8 blocks of a macroblock: those of list 0, then those of list 1. Negative references: the list is
/// not used.
struct BlockMotion {
  let vectors: UnsafeMutablePointer<MotionVector>
  let references: UnsafeMutablePointer<Int8>
}

/// Motion vector prediction (8.4.1) and compensation with two lists. List 1 has its grid `gridL1` after that of list 0,
/// and its references `ReferencePlanes.list1` after those of list 0.
extension MacroblockCoder {
  static let gridL1 = 12

  mutating func loadMotionNeighboursL1() {
    loadMotionNeighbours(
      picture.syntax.motionL1, picture.syntax.referenceIndexL1, into: MacroblockCoder.gridL1)
  }

  // MARK: - Direct (8.4.1.2)

  /// Infers the motion of direct blocks as the slice says.
  @inline(__always) mutating func inferDirectMotion() -> DirectMotion {
    picture.infersTemporally ? inferTemporalMotion() : inferSpatialMotion()
  }

  /// Spatial direct (8.4.1.2.2).
  mutating func inferSpatialMotion() -> DirectMotion {
    // The least index of the neighbours that is not negative: the least of all without a sign.
    @inline(__always) func reference(_ o: Int) -> Int8 {
      let c = gridReference[o &+ 3] == -2 ? gridReference[o] : gridReference[o &+ 3]
      let a = min(UInt8(bitPattern: gridReference[o &+ 4]), UInt8(bitPattern: gridReference[o &+ 1]))
      return max(Int8(bitPattern: min(a, UInt8(bitPattern: c))), -1)
    }
    let o = MacroblockCoder.gridL1
    let r0 = reference(0)
    let r1 = reference(o)
    if r0 < 0 && r1 < 0 {
      setDirectMotion((0, 0), (.zero, .zero), still: 0)
      return DirectMotion(isUniform: true, isAllowed: true)
    }
    let v0 = r0 < 0 ? .zero : predictMotion(slot: 5, width: 2, reference: r0)
    let v1 = r1 < 0 ? .zero : predictMotion(slot: 5 &+ o, width: 2, reference: r1)
    var still: UInt8 = 0
    if r0 == 0 && v0 != .zero || r1 == 0 && v1 != .zero { still = stillColocatedBlocks() }
    setDirectMotion((r0, r1), (v0, v1), still: still)
    return DirectMotion(
      isUniform: still == 0 || still == 15, isAllowed: isWithinLimits(v0) && isWithinLimits(v1))
  }

  /// - Parameter still: a bit for each 8x8 block in which the colocated picture stood still: a vector to index 0 is zero
  ///   there.
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

  /// colZeroFlag of the four 8x8 blocks.
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

  @inline(__always) mutating func isWithinLimits(_ v: MotionVector) -> Bool {
    Int(v.x) >= minX && Int(v.x) <= maxX && Int(v.y) >= minY && Int(v.y) <= maxY
  }

  /// Sets the grids' 8x8 block 0 to 3 to the inferred motion.
  @inline(__always) mutating func setDirect(_ block: Int) {
    let slot = 5 &+ (block >> 1) &* 4 &+ (block & 1)
    let d = directMotion
    gridMotion[slot] = d.vectors[block]
    gridReference[slot] = d.references[block]
    gridMotion[slot &+ MacroblockCoder.gridL1] = d.vectors[block &+ 4]
    gridReference[slot &+ MacroblockCoder.gridL1] = d.references[block &+ 4]
  }

  mutating func setDirect() { for i in 0..<4 { setDirect(i) } }

  // MARK: - Compensation

  /// Predicts the luma of a block at (x, y) in the macroblock with the motion in a slot of the grids. `width` is a
  /// kernel width index (0 = 16, 1 = 8).
  @inline(__always) mutating func predictLumaBoth(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, slot: Int, x: Int, y: Int, width: Int, height: Int
  ) {
    predictBoth(isChroma: false, dst, dstStride, slot: slot, x: x, y: y, width: width, height: height)
  }

  /// The same for its chroma.
  @inline(__always) mutating func predictChromaBoth(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, slot: Int, x: Int, y: Int, width: Int, height: Int
  ) {
    predictBoth(isChroma: true, dst, dstStride, slot: slot, x: x, y: y, width: width, height: height)
  }

  /// `isChroma` is known where this is inlined.
  @inline(__always) private mutating func predictBoth(
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

  /// Calls for each part of the macroblock that one motion serves: slot, position, width index and height.
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

  /// Predicts the macroblock's luma with the motion in the grids into the picture. `type`: how it is divided;
  /// whatever is not known is taken as 8x8.
  mutating func predictLumaBoth(_ type: UInt8) {
    forEachPart(type) { c, slot, x, y, width, height in
      c.predictLumaBoth(
        c.reconstruction + (y &* c.stride &+ x), c.stride, slot: slot, x: x, y: y, width: width,
        height: height)
    }
  }

  /// The same for its chroma.
  mutating func predictChromaBoth(_ type: UInt8) {
    forEachPart(type) { c, slot, x, y, width, height in
      c.predictChromaBoth(
        c.reconstructionChroma + (y / 2 &* c.stride &+ x), c.stride, slot: slot, x: x, y: y, width: width,
        height: height)
    }
  }
}
