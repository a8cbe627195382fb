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

  func filterRow(_ y: Int) {
    for x in 0..<geometry.widthInMbs { filterMacroblock(x, y) }
  }

  /// Thresholds for an edge between blocks of these QPs: nothing is filtered when alpha or beta is 0.
  @inline(__always) private func thresholds(_ qp: Int) -> (indexA: Int, alpha: Int32, beta: Int32) {
    let indexA = min(max(qp &+ offsetA, 0), 51)
    let indexB = min(max(qp &+ offsetB, 0), 51)
    return (indexA, Int32(ovt_deblock_alpha()[indexA]), Int32(ovt_deblock_beta()[indexB]))
  }

  /// bS of the four quarters of an edge, a byte each from the lowest.
  @inline(__always) private func tC0(_ strengths: UInt32, _ indexA: Int) -> UInt32 {
    var result: UInt32 = 0
    let table = ovt_deblock_tc0()! + (indexA &* 3)
    for i in 0..<4 {
      let bS = Int((strengths >> UInt32(8 &* i)) & 0xFF)
      let value: UInt32 = bS == 0 ? 0xFF : UInt32(table[bS &- 1])
      result |= value << UInt32(8 &* i)
    }
    return result
  }

  private func filterMacroblock(_ x: Int, _ y: Int) {
    let w = geometry.widthInMbs
    let m = y &* w &+ x
    let info = syntax.info + m
    let qp = Int(info.pointee.qp)
    let stride = geometry.stride
    let luma = picture.luma + (y &* 16 &* stride &+ x &* 16)
    let chroma = picture.chroma + (y &* 8 &* stride &+ x &* 16)
    let intra = MacroblockType.isIntra(info.pointee.type)
    let inner8x8 = info.pointee.transform8x8 != 0

    let hasLeft = x > 0 && (!withinSlices || info[-1].slice == info.pointee.slice)
    let hasTop = y > 0 && (!withinSlices || (info - w).pointee.slice == info.pointee.slice)

    // Vertical edges, left to right; then horizontal ones, top to bottom.
    for direction in 0..<2 {
      let vertical = direction == 0
      let neighbour = vertical ? m &- 1 : m &- w
      if vertical ? hasLeft : hasTop {
        let average = (qp &+ Int(syntax.info[neighbour].qp) &+ 1) >> 1
        let averageChroma =
          (chromaQP(qp) &+ chromaQP(Int(syntax.info[neighbour].qp)) &+ 1) >> 1
        let t = thresholds(average)
        let tc = thresholds(averageChroma)
        if t.alpha != 0 || tc.alpha != 0 {
          if intra || MacroblockType.isIntra(syntax.info[neighbour].type) {
            if t.alpha != 0 && t.beta != 0 {
              if vertical {
                k.pointee.deblockLumaVerticalStrong(luma, stride, t.alpha, t.beta)
              } else {
                k.pointee.deblockLumaHorizontalStrong(luma, stride, t.alpha, t.beta)
              }
            }
            if tc.alpha != 0 && tc.beta != 0 {
              if vertical {
                k.pointee.deblockChromaVerticalStrong(chroma, stride, tc.alpha, tc.beta)
              } else {
                k.pointee.deblockChromaHorizontalStrong(chroma, stride, tc.alpha, tc.beta)
              }
            }
          } else {
            let bS = outerStrengths(m, neighbour, vertical: vertical)
            if bS != 0 {
              filter(luma, stride, vertical: vertical, isChroma: false, bS, t)
              filter(chroma, stride, vertical: vertical, isChroma: true, bS, tc)
            }
          }
        }
      }
      if info.pointee.type == MacroblockType.skip { continue }
      if !intra && codedBlocks[m] == 0 && info.pointee.type == MacroblockType.inter16x16 { continue }
      let t = thresholds(qp)
      let tc = thresholds(chromaQP(qp))
      if t.alpha == 0 && tc.alpha == 0 { continue }
      for edge in 1..<4 {
        if inner8x8 && edge & 1 == 1 { continue }
        let bS = intra ? 0x0303_0303 : innerStrengths(m, edge, vertical: vertical)
        if bS == 0 { continue }
        let at = vertical ? luma + edge &* 4 : luma + edge &* 4 &* stride
        filter(at, stride, vertical: vertical, isChroma: false, bS, t)
        if edge == 2 {
          // Chroma has one inner edge; its bS are those of the luma edge in its place.
          let c = vertical ? chroma + 8 : chroma + 4 &* stride
          filter(c, stride, vertical: vertical, isChroma: true, bS, tc)
        }
      }
    }
  }

  @inline(__always) private func filter(
    _ at: UnsafeMutablePointer<UInt8>, _ stride: Int, vertical: Bool, isChroma: Bool, _ bS: UInt32,
    _ t: (indexA: Int, alpha: Int32, beta: Int32)
  ) {
    if t.alpha == 0 || t.beta == 0 { return }
    var packed = tC0(bS, t.indexA)
    withUnsafeBytes(of: &packed) { bytes in
      // Four bytes are there: `packed` is a UInt32.
      guard let tc = bytes.baseAddress?.assumingMemoryBound(to: Int8.self) else { return }
      if isChroma {
        if vertical {
          k.pointee.deblockChromaVertical(at, stride, t.alpha, t.beta, tc)
        } else {
          k.pointee.deblockChromaHorizontal(at, stride, t.alpha, t.beta, tc)
        }
      } else if vertical {
        k.pointee.deblockLumaVertical(at, stride, t.alpha, t.beta, tc)
      } else {
        k.pointee.deblockLumaHorizontal(at, stride, t.alpha, t.beta, tc)
      }
    }
  }

  /// 1 where two blocks refer to different pictures or their vectors differ by a sample or more.
  @inline(__always) private func motionDiffers(
    _ m: Int, _ block: Int, _ n: Int, _ other: Int
  ) -> Bool {
    let refM = syntax.referenceIndex[m &* 4 &+ (block >> 3) &* 2 &+ ((block >> 1) & 1)]
    let refN = syntax.referenceIndex[n &* 4 &+ (other >> 3) &* 2 &+ ((other >> 1) & 1)]
    if refM != refN { return true }
    let a = syntax.motion[m &* 16 &+ block]
    let b = syntax.motion[n &* 16 &+ other]
    return abs(Int(a.x) &- Int(b.x)) >= 4 || abs(Int(a.y) &- Int(b.y)) >= 4
  }

  @inline(__always) private func outerStrengths(_ m: Int, _ n: Int, vertical: Bool) -> UInt32 {
    let coded = codedBlocks[m]
    let codedOther = codedBlocks[n]
    var bS: UInt32 = 0
    for i in 0..<4 {
      let block = vertical ? i &* 4 : i
      let other = vertical ? i &* 4 &+ 3 : 12 &+ i
      if (coded >> UInt16(block)) & 1 != 0 || (codedOther >> UInt16(other)) & 1 != 0 {
        bS |= 2 << UInt32(8 &* i)
      } else if motionDiffers(m, block, n, other) {
        bS |= 1 << UInt32(8 &* i)
      }
    }
    return bS
  }

  @inline(__always) private func innerStrengths(_ m: Int, _ edge: Int, vertical: Bool) -> UInt32 {
    let coded = codedBlocks[m]
    // Vectors change only between 8x8 blocks.
    let motion = edge == 2 && syntax.info[m].type != MacroblockType.inter16x16
    var bS: UInt32 = 0
    for i in 0..<4 {
      let block = vertical ? i &* 4 &+ edge : edge &* 4 &+ i
      let other = vertical ? block &- 1 : block &- 4
      if ((coded >> UInt16(block)) | (coded >> UInt16(other))) & 1 != 0 {
        bS |= 2 << UInt32(8 &* i)
      } else if motion && motionDiffers(m, block, m, other) {
        bS |= 1 << UInt32(8 &* i)
      }
    }
    return bS
  }
}
