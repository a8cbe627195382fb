// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels

/// Intra prediction of a block (8.4.4.2): its neighbours, and the samples predicted from them.
extension CodingTreeCoder {
  /// Predicts a luma block from the neighbours collected last (8.4.4.2.6), smoothed where the
  /// standard says so (8.4.4.2.3).
  @inline(__always) func predictLuma(
    _ mode: Int, _ output: UnsafeMutablePointer<Sample>, _ stride: Int, _ log2Size: Int
  ) {
    Kernels.intra(
      kernels, Int32(mode), output, stride, isSmooth(mode, log2Size) ? smoothEdge : edge,
      Int32(log2Size), log2Size < 5 ? 1 : 0)
  }

  /// Whether luma is predicted from smoothed neighbours (filterFlag of 8.4.4.2.3).
  @inline(__always) private func isSmooth(_ mode: Int, _ log2Size: Int) -> Bool {
    guard log2Size > 2 && mode != 1 else { return false }
    let distance = mode == 0 ? 8 : min(abs(mode &- 26), abs(mode &- 10))
    return distance > (log2Size == 3 ? 7 : log2Size == 4 ? 1 : 0)
  }

  /// Makes what `lumaSATD` compares modes from 2 to 17 with, of the neighbours collected last.
  func reverseLuma(_ source: UnsafePointer<Sample>, _ log2Size: Int) {
    let end = 2 &<< log2Size
    for i in (0 &- end)...end {
      reversedEdge[i] = edge[0 &- i]
      reversedSmoothEdge[i] = smoothEdge[0 &- i]
    }
    Kernels.transpose(kernels, transposedSource, 32, source, layout.lumaStride, Int32(log2Size))
  }

  /// The SATD of a luma block of 8x8 samples and more that a mode predicts. For modes from 2 to 17
  /// `reverseLuma` goes before.
  @inline(__always) func lumaSATD(
    _ mode: Int, _ source: UnsafePointer<Sample>, _ log2Size: Int
  ) -> Int {
    let log2 = Int32(log2Size)
    guard mode >= 2 && mode < 18 else {
      predictLuma(mode, searchScratch, 32, log2Size)
      return Int(Kernels.satd8(kernels, log2, source, layout.lumaStride, searchScratch, 32))
    }
    Kernels.intra(
      kernels, Int32(36 &- mode), searchScratch, 32,
      isSmooth(mode, log2Size) ? reversedSmoothEdge : reversedEdge, log2, log2Size < 5 ? 1 : 0)
    return Int(Kernels.satd8(kernels, log2, transposedSource, 32, searchScratch, 32))
  }

  /// Collects the neighbours of a luma block into `edge`, and smoothed into `smoothEdge`.
  func collectLuma(_ x: Int, _ y: Int, _ log2Size: Int) {
    let size = 1 &<< log2Size
    let (right, below) = furtherNeighbours(x, y, size)
    collect(
      pixels.target.planes.luma + y &* layout.lumaStride + x, layout.lumaStride, size,
      hasLeft: x > 0, hasAbove: y > 0, right: right, below: below)
    guard log2Size > 2 else { return }
    Kernels.smoothEdge(kernels, smoothEdge, edge, Int32(log2Size), log2Size == 5 ? 1 : 0)
  }

  /// Collects the neighbours of a chroma block into `edge`.
  /// - Parameters:
  ///   - component: 0 for Cb, 1 for Cr.
  ///   - cx: the position in chroma samples.
  ///   - cy: the position in chroma samples.
  ///   - x: that of the unit in luma samples.
  ///   - y: that of the unit in luma samples.
  ///   - log2Size: log2 of the size in chroma samples.
  func collectChroma(
    _ component: Int, _ cx: Int, _ cy: Int, _ x: Int, _ y: Int, _ log2Size: Int
  ) {
    let size = 1 &<< log2Size
    let (right, below) = furtherNeighbours(x, y, size &* 2)
    let planes = pixels.target.planes
    collect(
      (component == 0 ? planes.cb : planes.cr) + cy &* layout.chromaStride + cx, layout.chromaStride,
      size, hasLeft: cx > 0, hasAbove: cy > 0, right: right &>> 1, below: below &>> 1)
  }

  /// The number of luma samples above right and below left of a block that are available (6.4.1).
  private func furtherNeighbours(_ x: Int, _ y: Int, _ size: Int) -> (right: Int, below: Int) {
    var right = 0
    if y > 0, x &+ size < layout.width, precedes(x &+ size, y &- 1, x, y) {
      right = min(size, layout.width &- x &- size)
    }
    var below = 0
    if x > 0, y &+ size < layout.height, precedes(x &- 1, y &+ size, x, y) {
      below = min(size, layout.height &- y &- size)
    }
    return (right, below)
  }

  /// Whether the 4x4 block at one position in the picture precedes that at another in decoding
  /// order.
  @inline(__always) private func precedes(_ x: Int, _ y: Int, _ currentX: Int, _ currentY: Int) -> Bool {
    let (row, currentRow) = (y &>> 5, currentY &>> 5)
    if row != currentRow { return row < currentRow }
    let (column, currentColumn) = (x &>> 5, currentX &>> 5)
    if column != currentColumn { return column < currentColumn }
    let a = LevelLayout.zIndex(x, y) &* 4 &+ (x &>> 2 & 1) &+ (y &>> 2 & 1) &* 2
    let b =
      LevelLayout.zIndex(currentX, currentY) &* 4 &+ (currentX &>> 2 & 1) &+ (currentY &>> 2 & 1) &* 2
    return a < b
  }

  /// Collects neighbours, and substitutes those that are not available (8.4.4.2.2).
  private func collect(
    _ block: UnsafePointer<Sample>, _ stride: Int, _ size: Int, hasLeft: Bool, hasAbove: Bool, right: Int,
    below: Int
  ) {
    guard hasLeft || hasAbove else {
      (edge - 2 &* size).update(repeating: 1 &<< Sample(Sample.bitDepth &- 1), count: 4 &* size &+ 1)
      return
    }
    let above = block - stride
    if hasLeft {
      let count = size &+ below
      var sample = block - 1
      for i in 0..<count {
        edge[-1 &- i] = sample.pointee
        sample += stride
      }
      let last = edge[0 &- count]
      (edge - 2 &* size).update(repeating: last, count: 2 &* size &- count)
    } else {
      (edge - 2 &* size).update(repeating: above[0], count: 2 &* size &+ 1)
    }
    if hasAbove {
      edge[0] = hasLeft ? above[-1] : above[0]
      let count = size &+ right
      (edge + 1).update(from: above, count: count)
      (edge + 1 + count).update(repeating: above[count &- 1], count: 2 &* size &- count)
    } else {
      (edge).update(repeating: edge[-1], count: 2 &* size &+ 1)
    }
  }
}
