// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// The entries of `MacroblockCoder.gridMotion` and `gridReference`: the 8x8 blocks of a macroblock
/// (mbPartIdx 0 to 3) and its neighbours A, B, C and D (6.4.11.7), in three rows of four:
/// ```
///   d         b        bRight    c
///   a         block0   block1    (never available)
///   aLower    block2   block3    (never available)
/// ```
enum MotionGrid {
  /// The block above left of the macroblock.
  static let d = 0
  /// The block above block 0.
  static let b = 1
  /// The block above block 1.
  static let bRight = 2
  /// The block above right of the macroblock.
  static let c = 3
  /// The block at the left of block 0.
  static let a = 4
  /// The block at the left of block 2.
  static let aLower = 8
  /// The upper left block of the macroblock.
  static let block0 = 5
  /// The upper right block.
  static let block1 = 6
  /// The lower left block.
  static let block2 = 9
  /// The lower right block.
  static let block3 = 10

  /// The entry of a block of the macroblock.
  ///
  /// - Parameter i: the block, 0 to 3.
  @inline(__always) static func block(_ i: Int) -> Int { block0 &+ (i >> 1) &* 4 &+ (i & 1) }
}

/// Motion vector prediction (8.4.1) for partitions of 8x8 and larger.
///
/// Reference indices in the grid: -2 not available, -1 intra, else ref_idx_l0.
extension MacroblockCoder {
  /// Fills the grid of list 0 with the neighbours' motion.
  mutating func loadMotionNeighbours() {
    loadMotionNeighbours(picture.syntax.motion, picture.syntax.referenceIndex, into: 0)
  }

  /// Fills a grid with the motion of the neighbouring macroblocks.
  ///
  /// - Parameters:
  ///   - motion: the picture's vectors in one list.
  ///   - reference: the picture's reference indices in that list.
  ///   - grid: the grid's first entry: 0 or `gridL1`.
  @inline(__always) mutating func loadMotionNeighbours(
    _ motion: UnsafePointer<MotionVector>, _ reference: UnsafePointer<Int8>, into grid: Int
  ) {
    let w = stream.geometry.widthInMbs
    @inline(__always) func load(_ slot: Int, _ bit: UInt8, _ n: Int, _ block: Int) {
      if available & bit != 0 {
        gridMotion[grid &+ slot] = motion[n &* 4 &+ block]
        gridReference[grid &+ slot] = reference[n &* 4 &+ block]
      } else {
        gridMotion[grid &+ slot] = .zero
        gridReference[grid &+ slot] = -2
      }
    }
    load(MotionGrid.d, Availability.topLeft, m &- w &- 1, 3)
    load(MotionGrid.b, Availability.top, m &- w, 2)
    load(MotionGrid.bRight, Availability.top, m &- w, 3)
    load(MotionGrid.c, Availability.topRight, m &- w &+ 1, 2)
    load(MotionGrid.a, Availability.left, m &- 1, 1)
    load(MotionGrid.aLower, Availability.left, m &- 1, 3)
    gridReference[grid &+ MotionGrid.block1 &+ 1] = -2
    gridReference[grid &+ MotionGrid.block3 &+ 1] = -2
  }

  /// The median of three vector components.
  @inline(__always) static func median(_ a: Int16, _ b: Int16, _ c: Int16) -> Int16 {
    max(min(a, b), min(max(a, b), c))
  }

  /// Predicts a vector by the median (8.4.1.3).
  ///
  /// - Parameters:
  ///   - slot: the grid's entry of the partition's first 8x8 block.
  ///   - width: the partition's width in 8x8 blocks.
  ///   - reference: its reference index.
  @inline(__always) mutating func predictMotion(slot: Int, width: Int, reference: Int8) -> MotionVector {
    let refA = gridReference[slot &- 1]
    let refB = gridReference[slot &- 4]
    var c = slot &- 4 &+ width
    if gridReference[c] == -2 { c = slot &- 5 }
    let refC = gridReference[c]
    let a = gridMotion[slot &- 1]
    if refB == -2 && refC == -2 && refA != -2 { return a }
    let b = gridMotion[slot &- 4]
    let v = gridMotion[c]
    let matches = (refA == reference ? 1 : 0) &+ (refB == reference ? 2 : 0) &+ (refC == reference ? 4 : 0)
    switch matches {
    case 1: return a
    case 2: return b
    case 4: return v
    default:
      return MotionVector(
        MacroblockCoder.median(a.x, b.x, v.x), MacroblockCoder.median(a.y, b.y, v.y))
    }
  }

  /// Predicts the vector of a 16x8 partition: from its neighbour if that has the same reference
  /// index, else by the median (8.4.1.3).
  ///
  /// - Parameters:
  ///   - index: mbPartIdx, 0 or 1.
  ///   - reference: the partition's reference index.
  @inline(__always) mutating func predictMotion16x8(_ index: Int, reference: Int8) -> MotionVector {
    if index == 0 {
      if gridReference[MotionGrid.b] == reference { return gridMotion[MotionGrid.b] }
      return predictMotion(slot: MotionGrid.block0, width: 2, reference: reference)
    }
    if gridReference[MotionGrid.aLower] == reference { return gridMotion[MotionGrid.aLower] }
    return predictMotion(slot: MotionGrid.block2, width: 2, reference: reference)
  }

  /// Predicts the vector of an 8x16 partition: from its neighbour if that has the same reference
  /// index, else by the median (8.4.1.3).
  ///
  /// - Parameters:
  ///   - index: mbPartIdx, 0 or 1.
  ///   - reference: the partition's reference index.
  @inline(__always) mutating func predictMotion8x16(_ index: Int, reference: Int8) -> MotionVector {
    if index == 0 {
      if gridReference[MotionGrid.a] == reference { return gridMotion[MotionGrid.a] }
      return predictMotion(slot: MotionGrid.block0, width: 1, reference: reference)
    }
    let c = gridReference[MotionGrid.c] == -2 ? MotionGrid.b : MotionGrid.c
    if gridReference[c] == reference { return gridMotion[c] }
    return predictMotion(slot: MotionGrid.block1, width: 1, reference: reference)
  }

  /// Derives the vector of P_Skip (8.4.1.1).
  mutating func predictSkipMotion() -> MotionVector {
    let refA = gridReference[MotionGrid.a]
    let refB = gridReference[MotionGrid.b]
    if refA == -2 || refB == -2 { return .zero }
    if refA == 0 && gridMotion[MotionGrid.a] == .zero { return .zero }
    if refB == 0 && gridMotion[MotionGrid.b] == .zero { return .zero }
    return predictMotion(slot: MotionGrid.block0, width: 2, reference: 0)
  }

  /// Sets the motion of 8x8 blocks in a grid.
  ///
  /// - Parameters:
  ///   - slot: the grid's entry of the first block.
  ///   - width: the number of blocks in a row.
  ///   - height: the number of rows.
  ///   - v: the vector.
  ///   - reference: the reference index.
  @inline(__always) mutating func setGrid(
    _ slot: Int, width: Int, height: Int, _ v: MotionVector, _ reference: Int8
  ) {
    for y in 0..<height {
      for x in 0..<width {
        gridMotion[slot &+ y &* 4 &+ x] = v
        gridReference[slot &+ y &* 4 &+ x] = reference
      }
    }
  }

  // MARK: - Compensation (8.4.2.2)

  /// Predicts the luma of a block, with the reference picture's weight.
  ///
  /// - Parameters:
  ///   - dst: receives the prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - x: the block's position in the macroblock, in luma samples.
  ///   - y: the block's position in the macroblock, in luma samples.
  ///   - width: index of the width in the kernels: 0 for 16 samples, 1 for 8.
  ///   - height: luma rows.
  ///   - v: the vector, in quarter samples.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  @inline(__always) mutating func predictLuma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, x: Int, y: Int, width: Int, height: Int,
    _ v: MotionVector, reference: Int
  ) {
    compensateLuma(dst, dstStride, x: x, y: y, width: width, height: height, v, reference: reference)
    if picture.isWeighted { weighLuma(dst, dstStride, width: width, height: height, reference: reference) }
  }

  /// Predicts the luma of a block without weights; parameters are those of `predictLuma`.
  @inline(__always) mutating func compensateLuma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, x: Int, y: Int, width: Int, height: Int,
    _ v: MotionVector, reference: Int
  ) {
    let vx = Int(v.x)
    let vy = Int(v.y)
    let at =
      stream.references[reference].luma
      + ((mbY &* 16 &+ y &+ (vy >> 2)) &* stride &+ mbX &* 16 &+ x &+ (vx >> 2))
    let (first, second) = stream.quarterOffsets[(vy & 3) &* 4 &+ (vx & 3)]
    if first == second {
      ovt_copy(k, Int32(width), dst, dstStride, at + first, stride, Int32(height))
    } else {
      ovt_average(k, Int32(width), dst, dstStride, at + first, at + second, stride, Int32(height))
    }
  }

  /// Predicts the NV12 chroma of a block, with the reference picture's weights. The vector is in
  /// eighths of a chroma sample (8.4.2.2.2). At 4:4:4 it predicts Cb and Cr into the
  /// reconstruction.
  ///
  /// - Parameters:
  ///   - dst: receives the prediction.
  ///   - dstStride: bytes from one row of `dst` to the next.
  ///   - x: the block's position in the macroblock, in luma samples.
  ///   - y: the block's position in the macroblock, in luma samples.
  ///   - width: index of the width in the kernels: 0 for 16 bytes, 1 for 8.
  ///   - height: the height in luma rows.
  ///   - v: the vector, in quarter luma samples.
  ///   - reference: refIdxL0, or refIdxL1 plus `ReferencePlanes.list1`.
  @inline(__always) mutating func predictChroma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, x: Int, y: Int, width: Int, height: Int,
    _ v: MotionVector, reference: Int
  ) {
    if stream.is444 {
      compensateComponents(dst, x: x, y: y, width: width, height: height, v, reference: reference)
      return
    }
    compensateChroma(dst, dstStride, x: x, y: y, width: width, height: height, v, reference: reference)
    if picture.isWeighted {
      weighChroma(dst, dstStride, width: width, height: height / 2, reference: reference)
    }
  }

  /// Predicts the NV12 chroma of a block without weights; parameters are those of `predictChroma`.
  @inline(__always) mutating func compensateChroma(
    _ dst: UnsafeMutablePointer<UInt8>, _ dstStride: Int, x: Int, y: Int, width: Int, height: Int,
    _ v: MotionVector, reference: Int
  ) {
    let vx = Int(v.x)
    let vy = Int(v.y)
    let at =
      stream.references[reference].chroma
      + ((mbY &* 8 &+ y / 2 &+ (vy >> 3)) &* stride &+ mbX &* 16 &+ x &+ (vx >> 3) &* 2)
    ovt_chroma(
      k, Int32(width), dst, dstStride, at, stride, Int32(vx & 7), Int32(vy & 7), Int32(height / 2))
  }

  /// Predicts the macroblock with the motion in the grid of list 0, into the reconstruction.
  ///
  /// - Parameter type: the macroblock type.
  mutating func predictInter(_ type: UInt8) {
    if stream.is444 {
      predictInterComponents(type)
      return
    }
    switch type {
    case MacroblockType.inter16x16, MacroblockType.skip:
      let v = gridMotion[MotionGrid.block0]
      let r = Int(gridReference[MotionGrid.block0])
      predictLuma(reconstruction, stride, x: 0, y: 0, width: 0, height: 16, v, reference: r)
      predictChroma(reconstructionChroma, stride, x: 0, y: 0, width: 0, height: 16, v, reference: r)
    case MacroblockType.inter16x8:
      for i in 0..<2 {
        let v = gridMotion[MotionGrid.block(2 &* i)]
        let r = Int(gridReference[MotionGrid.block(2 &* i)])
        predictLuma(
          reconstruction + i &* 8 &* stride, stride, x: 0, y: i &* 8, width: 0, height: 8, v, reference: r)
        predictChroma(
          reconstructionChroma + i &* 4 &* stride, stride, x: 0, y: i &* 8, width: 0, height: 8, v,
          reference: r)
      }
    case MacroblockType.inter8x16:
      for i in 0..<2 {
        let v = gridMotion[MotionGrid.block(i)]
        let r = Int(gridReference[MotionGrid.block(i)])
        predictLuma(reconstruction + i &* 8, stride, x: i &* 8, y: 0, width: 1, height: 16, v, reference: r)
        predictChroma(
          reconstructionChroma + i &* 8, stride, x: i &* 8, y: 0, width: 1, height: 16, v, reference: r)
      }
    default:
      for i in 0..<4 {
        let x = (i & 1) &* 8
        let y = (i >> 1) &* 8
        let v = gridMotion[MotionGrid.block(i)]
        let r = Int(gridReference[MotionGrid.block(i)])
        predictLuma(
          reconstruction + (y &* stride &+ x), stride, x: x, y: y, width: 1, height: 8, v, reference: r)
        predictChroma(
          reconstructionChroma + (y / 2 &* stride &+ x), stride, x: x, y: y, width: 1, height: 8, v,
          reference: r)
      }
    }
  }
}
