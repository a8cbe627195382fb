// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Inter prediction of 4:4:4 pictures: Cb and Cr are interpolated as luma is (8.4.2.2), and count
/// in every comparison, so that a change of colour alone is not lost.
extension MacroblockCoder {
  /// SAD of Cb and Cr with a full-sample vector.
  ///
  /// - Parameters:
  ///   - shape: the block's shape (`OVT_16x16` and so on).
  ///   - src: luma of the source block, in rows of 16 samples.
  ///   - at: luma of the block in the reference picture, at full or half samples.
  @inline(never) mutating func chromaSAD(
    _ shape: Int32, _ src: UnsafePointer<UInt8>, _ at: UnsafePointer<UInt8>
  ) -> Int32 {
    let offset = stream.componentOffset
    return ovt_sad(k, shape, src + MacroblockCoder.componentSamples, at + offset, stride)
      &+ ovt_sad(k, shape, src + 2 &* MacroblockCoder.componentSamples, at + 2 &* offset, stride)
  }

  /// Adds the SADs of Cb and Cr with four vectors to `costs`; parameters as in `ovt_sad_x4`.
  @inline(never) mutating func addChromaSADs(
    _ shape: Int32, _ src: UnsafePointer<UInt8>, _ first: UnsafePointer<UInt8>,
    _ second: UnsafePointer<UInt8>, _ third: UnsafePointer<UInt8>, _ fourth: UnsafePointer<UInt8>
  ) {
    let sums = costs + 4
    for c in 1...2 {
      let offset = c &* stream.componentOffset
      ovt_sad_x4(
        k, shape, src + c &* MacroblockCoder.componentSamples, first + offset, second + offset,
        third + offset, fourth + offset, stride, sums)
      for i in 0..<4 { costs[i] &+= sums[i] }
    }
  }

  /// Predicts Cb and Cr of a block.
  ///
  /// - Parameters:
  ///   - dst: receives Cb; Cr follows after `StreamContext.componentOffset` bytes.
  ///   - x: the block's position in the macroblock.
  ///   - y: the block's position in the macroblock.
  ///   - width: index of the width in the kernels: 0 for 16 samples, 1 for 8.
  ///   - height: rows.
  ///   - v: the vector, in quarter samples.
  ///   - reference: refIdxL0.
  @inline(never) mutating func compensateComponents(
    _ dst: UnsafeMutablePointer<UInt8>, x: Int, y: Int, width: Int, height: Int, _ v: MotionVector,
    reference: Int
  ) {
    let (vx, vy) = (Int(v.x), Int(v.y))
    var at =
      stream.references[reference].luma
      + ((mbY &* 16 &+ y &+ (vy >> 2)) &* stride &+ mbX &* 16 &+ x &+ (vx >> 2))
    let (first, second) = stream.quarterOffsets[(vy & 3) &* 4 &+ (vx & 3)]
    for c in 0..<2 {
      at += stream.componentOffset
      let to = dst + c &* stream.componentOffset
      if first == second {
        ovt_copy(k, Int32(width), to, stride, at + first, stride, Int32(height))
      } else {
        ovt_average(k, Int32(width), to, stride, at + first, at + second, stride, Int32(height))
      }
    }
  }

  /// Predicts all components of the macroblock with the motion in the grid, into the
  /// reconstruction.
  ///
  /// - Parameter type: the macroblock type.
  mutating func predictInterComponents(_ type: UInt8) {
    let columns = type == MacroblockType.inter8x16 || type == MacroblockType.inter8x8 ? 2 : 1
    let rows = type == MacroblockType.inter16x8 || type == MacroblockType.inter8x8 ? 2 : 1
    for i in 0..<(columns &* rows) {
      let (x, y) = columns == 2 ? (i & 1, i >> 1) : (0, i)
      let slot = MotionGrid.block(y &* 2 &+ x)
      let v = gridMotion[slot]
      let r = Int(gridReference[slot])
      let at = reconstruction + (y &* 8 &* stride &+ x &* 8)
      let (width, height) = (columns &- 1, 16 / rows)
      predictLuma(at, stride, x: x &* 8, y: y &* 8, width: width, height: height, v, reference: r)
      compensateComponents(
        at + stream.componentOffset, x: x &* 8, y: y &* 8, width: width, height: height, v, reference: r)
    }
  }

  /// Whether Cb and Cr are predicted so well by what is in the reconstruction that they need no
  /// levels: neither quantises to any, nor is its error above that at which luma is skipped.
  mutating func chromaComponentsAreEmpty() -> Bool {
    let q = stream.quant + chromaQP(qp)
    for c in 1...2 {
      let source = source + c &* MacroblockCoder.componentSamples
      let at = reconstruction + c &* stream.componentOffset
      let error = Int(ovt_ssd(k, 0, source, at, stride))
      if error &* 187 > lambdaSSD &* picture.settings.skip.errorPercent { return false }
      let isEmpty = k.pointee.isEmpty16x16(
        source, at, stride, q.pointee.multiplier4x4, q.pointee.biasInter4x4)
      if isEmpty == 0 { return false }
    }
    return true
  }
}
