// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

/// The deblocking filter (8.7), in place, by rows of macroblocks. It runs behind the analysis: a
/// row may be filtered once the row below has been reconstructed, as intra prediction uses samples
/// that are not filtered.
struct DeblockingFilter {
  /// The SIMD kernels of the machine.
  let k: UnsafePointer<OVTKernels>
  /// The picture's size and strides.
  let geometry: PictureGeometry
  /// The reconstruction.
  let picture: PicturePlanes
  /// The picture's macroblocks.
  let syntax: PictureSyntax
  /// For each macroblock, a bit for each luma 4x4 block that has coded levels
  /// (`StreamContext.codedBlocks`).
  let codedBlocks: UnsafePointer<UInt16>
  /// FilterOffsetA
  let offsetA: Int
  /// FilterOffsetB
  let offsetB: Int
  /// Whether edges between slices are not filtered (disable_deblocking_filter_idc 2).
  let withinSlices: Bool
  /// Whether the picture is 4:4:4, whose Cb and Cr are filtered as luma is, with their own QP.
  let is444: Bool
  /// In B pictures, a number for each reference index that is the same for all indices of the same
  /// picture. Those of list 1 begin at `ReferencePlanes.list1`. Nil in other pictures.
  let pictureIdentities: UnsafePointer<Int8>?

  /// Filters a row of macroblocks.
  func filterRow(_ y: Int) {
    for x in 0..<geometry.widthInMbs { filterMacroblock(x, y) }
  }

  /// The thresholds for the mean QP of two blocks (8.7.2.2): alpha, beta, and tC0 for bS 1, 2 and 3
  /// (the first entry is not used). Nothing is filtered where alpha or beta is 0.
  private struct Thresholds {
    var alpha: UInt8
    var beta: UInt8
    var tC0: (UInt8, UInt8, UInt8, UInt8)
    var isActive: Bool { alpha != 0 && beta != 0 }
  }

  /// Looks up the thresholds of a QP (Tables 8-16 and 8-17).
  @inline(__always) private func thresholds(_ qp: Int) -> Thresholds {
    let indexA = min(max(qp &+ offsetA, 0), 51)
    let indexB = min(max(qp &+ offsetB, 0), 51)
    let table = ovt_deblock_tc0()! + indexA &* 3
    return Thresholds(
      alpha: ovt_deblock_alpha()[indexA], beta: ovt_deblock_beta()[indexB],
      tC0: (0, table[0], table[1], table[2]))
  }

  /// Filters the edges of the macroblock in column `x` and row `y`, the vertical ones first.
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

  /// Filters the edges of a macroblock in one direction.
  ///
  /// - Parameters:
  ///   - x: the macroblock's column.
  ///   - y: the macroblock's row.
  ///   - n: the address of the macroblock at the left or above; -1 if the edge to it is not
  ///     filtered.
  ///   - vertical: whether the edges are vertical.
  ///   - motion: the motion of the picture's blocks.
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
    if is444 {
      let qps = (chromaQP(qp), chromaQP(other))
      guard set(&edges, border: (qps.0 &+ qps.1 &+ 1) >> 1, inside: qps.0) else { return }
      for c in 1...2 {
        let plane = luma + c &* geometry.componentOffset
        if vertical {
          k.pointee.deblockLumaVerticalEdges(plane, stride, &edges)
        } else {
          k.pointee.deblockLumaHorizontalEdges(plane, stride, &edges)
        }
      }
      return
    }
    // Chroma is filtered at the macroblock's edge and in its middle, with the bS of luma (8.7.2.1).
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

  /// Sets the thresholds of edges.
  ///
  /// - Parameters:
  ///   - edges: receives the thresholds.
  ///   - border: the mean QP at the macroblock's edge.
  ///   - inside: the macroblock's QP.
  /// - Returns: whether anything is filtered with these.
  @inline(__always) private func set(_ edges: inout OVTEdges, border: Int, inside: Int) -> Bool {
    let inner = thresholds(inside)
    let outer = border == inside ? inner : thresholds(border)
    edges.alpha = (outer.alpha, inner.alpha)
    edges.beta = (outer.beta, inner.beta)
    edges.tC0 = (outer.tC0, inner.tC0)
    return outer.isActive || inner.isActive
  }

  /// Sets bS to 2 along an edge where blocks have coded levels.
  ///
  /// - Parameters:
  ///   - bits: the blocks that have levels: bits 0, 4, 8 and 12 for a vertical edge, 0 to 3 for a
  ///     horizontal one.
  ///   - vertical: whether the edge is vertical.
  /// - Returns: bS of the edge's four segments, a byte each, the first one lowest.
  @inline(__always) private func codedStrengths(_ bits: UInt16, vertical: Bool) -> UInt32 {
    let b = UInt32(bits)
    return vertical
      ? ((b & 1) | (b & 0x10) << 4 | (b & 0x100) << 8 | (b & 0x1000) << 12) << 1
      : ((b & 15) &* 0x0020_4081 & 0x0101_0101) << 1
  }

  /// Derives bS of the edge between two inter macroblocks (8.7.2.1).
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - n: the address of its neighbour at the left or above.
  ///   - vertical: whether the edge is vertical.
  ///   - source: the motion of the picture's blocks.
  /// - Returns: bS of the edge's four segments, a byte each, the first one lowest.
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

  /// Derives bS of an edge inside an inter macroblock (8.7.2.1).
  ///
  /// - Parameters:
  ///   - m: the macroblock's address.
  ///   - edge: the edge's index, 1 to 3.
  ///   - vertical: whether the edge is vertical.
  ///   - source: the motion of the picture's blocks.
  /// - Returns: bS of the edge's four segments, a byte each, the first one lowest.
  @inline(__always) private func innerStrengths<Motion: DeblockingMotion>(
    _ m: Int, _ edge: Int, vertical: Bool, _ source: Motion
  ) -> UInt32 {
    let coded = codedBlocks[m]
    let bits =
      vertical
      ? coded >> UInt16(edge) | coded >> UInt16(edge &- 1)
      : coded >> UInt16(4 &* edge) | coded >> UInt16(4 &* edge &- 4)
    let bS = codedStrengths(bits, vertical: vertical)
    // The motion is the same within an 8x8 block.
    if edge != 2 || source.isUniform(syntax.info[m].type) { return bS }
    var motion: UInt32 = source.differs(m, 0, m, vertical ? 1 : 2) ? 0x0101 : 0
    if source.differs(m, vertical ? 2 : 1, m, 3) { motion |= 0x0101_0000 }
    return bS | motion & ~(bS >> 1)
  }
}
