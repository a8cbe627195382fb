// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// The deblocking filter (8.7) for rows of macroblocks, in place. Runs behind the analysis: a row may be
/// filtered once the row below it is coded, since intra prediction reads unfiltered samples.
struct DeblockingFilter {
  let k: UnsafePointer<OVTKernels>
  let geometry: PictureGeometry
  let picture: PicturePlanes
  let syntax: PictureSyntax
  let codedBlocks: UnsafePointer<UInt16>
  /// FilterOffsetA and FilterOffsetB.
  let offsetA: Int
  let offsetB: Int
  /// disable_deblocking_filter_idc 2: edges between slices are left alone.
  let withinSlices: Bool
  /// In B pictures the picture that a reference index stands for, those of list 1 from `ReferencePlanes.list1` on;
  /// else nil.
  let pictureIdentities: UnsafePointer<Int8>?

  func filterRow(_ y: Int) {
    for x in 0..<geometry.widthInMbs { filterMacroblock(x, y) }
  }

  /// Thresholds for edges between blocks of a QP, as one word: alpha, beta (0: nothing is filtered), and tC0 for
  /// bS 1, 2, 3 (8.7.2.2).
  private struct Thresholds {
    var alpha: UInt8
    var beta: UInt8
    var tC0: (UInt8, UInt8, UInt8, UInt8)
    var isActive: Bool { alpha != 0 && beta != 0 }
  }

  @inline(__always) private func thresholds(_ qp: Int) -> Thresholds {
    let indexA = min(max(qp &+ offsetA, 0), 51)
    let indexB = min(max(qp &+ offsetB, 0), 51)
    let table = ovt_deblock_tc0()! + indexA &* 3
    return Thresholds(
      alpha: ovt_deblock_alpha()[indexA], beta: ovt_deblock_beta()[indexB],
      tC0: (0, table[0], table[1], table[2]))
  }

  private func filterMacroblock(_ x: Int, _ y: Int) {
    let w = geometry.widthInMbs
    let m = y &* w &+ x
    let info = syntax.info + m
    let hasLeft = x > 0 && (!withinSlices || info[-1].slice == info.pointee.slice)
    let hasTop = y > 0 && (!withinSlices || (info - w).pointee.slice == info.pointee.slice)
    if let pictureIdentities {
      let motion = BidirectionalMotion(syntax: syntax, identities: pictureIdentities)
      filterEdges(x, y, neighbour: hasLeft ? m &- 1 : -1, vertical: true, motion)
      filterEdges(x, y, neighbour: hasTop ? m &- w : -1, vertical: false, motion)
    } else {
      let motion = ForwardMotion(syntax: syntax)
      filterEdges(x, y, neighbour: hasLeft ? m &- 1 : -1, vertical: true, motion)
      filterEdges(x, y, neighbour: hasTop ? m &- w : -1, vertical: false, motion)
    }
  }

  /// The edges of a macroblock in one direction. `neighbour`: the macroblock on the other side of the border; -1: the
  /// border stays.
  @inline(__always) private func filterEdges<Motion: DeblockingMotion>(
    _ x: Int, _ y: Int, neighbour n: Int, vertical: Bool, _ motion: Motion
  ) {
    let m = y &* geometry.widthInMbs &+ x
    let info = syntax.info[m]
    let isIntra = MacroblockType.isIntra(info.type)
    var edges = OVTEdges()
    if n >= 0 {
      edges.bS.0 =
        isIntra || MacroblockType.isIntra(syntax.info[n].type)
        ? 0x0404_0404 : borderStrengths(m, n, vertical: vertical, motion)
    }
    if isIntra {
      edges.bS.2 = 0x0303_0303
      if info.transform8x8 == 0 {
        edges.bS.1 = 0x0303_0303
        edges.bS.3 = 0x0303_0303
      }
    } else if codedBlocks[m] != 0 || !motion.isUniform(info.type) {
      edges.bS.2 = innerStrengths(m, 2, vertical: vertical, motion)
      if info.transform8x8 == 0 {
        edges.bS.1 = innerStrengths(m, 1, vertical: vertical, motion)
        edges.bS.3 = innerStrengths(m, 3, vertical: vertical, motion)
      }
    }
    if edges.bS.0 | edges.bS.1 | edges.bS.2 | edges.bS.3 == 0 { return }

    let stride = geometry.stride
    let luma = picture.luma + (y &* 16 &* stride &+ x &* 16)
    let chroma = picture.chroma + (y &* 8 &* stride &+ x &* 16)
    let qp = Int(info.qp)
    let other = n >= 0 ? Int(syntax.info[n].qp) : qp
    if set(&edges, border: (qp &+ other &+ 1) >> 1, inside: qp) {
      if vertical {
        k.pointee.deblockLumaVerticalEdges(luma, stride, &edges)
      } else {
        k.pointee.deblockLumaHorizontalEdges(luma, stride, &edges)
      }
    }
    // Chroma has the border and the edge in the middle, with the strengths of luma (8.7.2.1).
    if edges.bS.0 | edges.bS.2 == 0 { return }
    let chromaQPs = (chromaQP(qp), chromaQP(other))
    if set(&edges, border: (chromaQPs.0 &+ chromaQPs.1 &+ 1) >> 1, inside: chromaQPs.0) {
      if vertical {
        k.pointee.deblockChromaVerticalEdges(chroma, stride, &edges)
      } else {
        k.pointee.deblockChromaHorizontalEdges(chroma, stride, &edges)
      }
    }
  }

  /// Sets the thresholds for QPs; false if nothing is filtered with them.
  @inline(__always) private func set(_ edges: inout OVTEdges, border: Int, inside: Int) -> Bool {
    let inner = thresholds(inside)
    let outer = border == inside ? inner : thresholds(border)
    edges.alpha = (outer.alpha, inner.alpha)
    edges.beta = (outer.beta, inner.beta)
    edges.tC0 = (outer.tC0, inner.tC0)
    return outer.isActive || inner.isActive
  }

  /// 2 in a byte for each bit: bits 0, 4, 8, 12 (down a vertical edge) or 0 to 3 (along a horizontal one).
  @inline(__always) private func codedStrengths(_ bits: UInt16, vertical: Bool) -> UInt32 {
    let b = UInt32(bits)
    return vertical
      ? ((b & 1) | (b & 0x10) << 4 | (b & 0x100) << 8 | (b & 0x1000) << 12) << 1
      : ((b & 15) &* 0x0020_4081 & 0x0101_0101) << 1
  }

  /// bS of the four quarters of the border between inter macroblocks, a byte each from the lowest (8.7.2.1).
  @inline(__always) private func borderStrengths<Motion: DeblockingMotion>(
    _ m: Int, _ n: Int, vertical: Bool, _ source: Motion
  ) -> UInt32 {
    let coded = codedBlocks[m]
    let codedOther = codedBlocks[n]
    let bits = vertical ? coded | codedOther >> 3 : coded | codedOther >> 12
    let bS = codedStrengths(bits, vertical: vertical)
    if bS == 0x0202_0202 { return bS }
    var motion: UInt32
    if source.isUniform(syntax.info[m].type) && source.isUniform(syntax.info[n].type) {
      motion = source.differs(m, 0, n, 0) ? 0x0101_0101 : 0
    } else {
      motion = source.differs(m, 0, n, vertical ? 1 : 2) ? 0x0101 : 0
      if source.differs(m, vertical ? 2 : 1, n, 3) { motion |= 0x0101_0000 }
    }
    return bS | motion & ~(bS >> 1)
  }

  /// The same for an edge inside.
  @inline(__always) private func innerStrengths<Motion: DeblockingMotion>(
    _ m: Int, _ edge: Int, vertical: Bool, _ source: Motion
  ) -> UInt32 {
    let coded = codedBlocks[m]
    let bits =
      vertical
      ? coded >> UInt16(edge) | coded >> UInt16(edge &- 1)
      : coded >> UInt16(4 &* edge) | coded >> UInt16(4 &* edge &- 4)
    let bS = codedStrengths(bits, vertical: vertical)
    // Vectors change only between 8x8 blocks.
    if edge != 2 || source.isUniform(syntax.info[m].type) { return bS }
    var motion: UInt32 = source.differs(m, 0, m, vertical ? 1 : 2) ? 0x0101 : 0
    if source.differs(m, vertical ? 2 : 1, m, 3) { motion |= 0x0101_0000 }
    return bS | motion & ~(bS >> 1)
  }
}
