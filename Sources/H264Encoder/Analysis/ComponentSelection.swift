// SPDX-License-Identifier: Apache-2.0
import CH264Kernels
import VideoEncoding

/// Macroblocks of 4:4:4 pictures, whose Cb and Cr are coded as luma is (ChromaArrayType 3).
///
/// The functions that code luma use pointers to its source, reconstruction, levels and counts.
/// `select` moves these to another component, so that the same functions code all three.
extension MacroblockCoder {
  /// The number of bytes from a sample of luma in `source` to the same one of Cb, and from there to
  /// Cr.
  static let componentSamples = 256

  /// Makes a component the one that functions for luma code, with its QP. Luma is selected whenever
  /// no component is being coded.
  ///
  /// - Parameter c: 0 for Y, 1 for Cb, 2 for Cr.
  mutating func select(_ c: Int) {
    let step = c &- component
    if step == 0 { return }
    if component == 0 {
      lumaQP = qp
      lumaRDOQLambda = picture.rdoqLambda
      qp = chromaQP(lumaQP)
      picture.rdoqLambda =
        (lumaRDOQLambda &* MacroblockCoder.chromaLambda(lumaQP &- qp)) >> 4
    } else if c == 0 {
      qp = lumaQP
      picture.rdoqLambda = lumaRDOQLambda
    }
    component = c
    source += step &* MacroblockCoder.componentSamples
    reconstruction += step &* stream.componentOffset
    levels += step &* LevelLayout.count
    picture.syntax.nonZero += step &* picture.syntax.componentCounts
    rdLevels += step &* 512
    rdSamples += step &* 512
    keptMasks += step &* 4
  }

  /// Copies the source macroblock of a 4:4:4 picture, its components one after the other. Beyond
  /// the picture the last row and column are repeated, as `fetchSource` does.
  mutating func fetchComponents() {
    let g = stream.geometry
    let planes = picture.source
    let (x0, y0) = (mbX &* 16, mbY &* 16)
    let (cb, cr) = (source + 256, source + 512)
    guard x0 &+ 16 <= g.width && y0 &+ 16 <= g.height else {
      fetchComponentsAtBorder()
      return
    }
    ovt_copy(k, 0, source, 16, planes.luma + (y0 &* planes.lumaStride &+ x0), planes.lumaStride, 16)
    if let crPlane = planes.cr {
      ovt_copy(k, 0, cb, 16, planes.chroma + (y0 &* planes.chromaStride &+ x0), planes.chromaStride, 16)
      ovt_copy(k, 0, cr, 16, crPlane + (y0 &* planes.crStride &+ x0), planes.crStride, 16)
      return
    }
    for y in 0..<16 {
      k.pointee.video.deinterleaveRow(
        cb + y &* 16, cr + y &* 16, planes.chroma + ((y0 &+ y) &* planes.chromaStride &+ 2 &* x0), 16)
    }
  }

  /// `fetchComponents` for a macroblock that lies partly outside of the picture.
  private mutating func fetchComponentsAtBorder() {
    let g = stream.geometry
    let planes = picture.source
    for y in 0..<16 {
      let sy = min(mbY &* 16 &+ y, g.height &- 1)
      for x in 0..<16 {
        let sx = min(mbX &* 16 &+ x, g.width &- 1)
        let at = y &* 16 &+ x
        source[at] = planes.luma[sy &* planes.lumaStride &+ sx]
        if let cr = planes.cr {
          source[256 &+ at] = planes.chroma[sy &* planes.chromaStride &+ sx]
          source[512 &+ at] = cr[sy &* planes.crStride &+ sx]
        } else {
          source[256 &+ at] = planes.chroma[sy &* planes.chromaStride &+ 2 &* sx]
          source[512 &+ at] = planes.chroma[sy &* planes.chromaStride &+ 2 &* sx &+ 1]
        }
      }
    }
  }

  /// Clears the counts of the macroblock.
  @inline(__always) mutating func clearCounts() {
    if stream.is444 {
      clearComponentCounts()
      return
    }
    let nonZero = picture.syntax.nonZero + m &* 24
    clearLumaCounts(nonZero)
    clearChromaCounts(nonZero)
  }

  /// The squared error of NV12 chroma.
  @inline(__always) mutating func chromaError() -> Int {
    ovt_ssd_nv12(k, sourceChroma, reconstructionChroma, stride, errors)
    return Int(errors[0]) &+ Int(errors[1])
  }

  /// Clears the level counts of all components.
  mutating func clearComponentCounts() {
    for c in 0..<3 {
      clearLumaCounts(picture.syntax.nonZero + (c &* picture.syntax.componentCounts &+ m &* 24))
    }
  }

  /// The squared error of the reconstruction of all components.
  mutating func componentError() -> Int {
    var error = 0
    for c in 0..<3 {
      error &+= Int(
        ovt_ssd(
          k, 0, source + c &* MacroblockCoder.componentSamples,
          reconstruction + c &* stream.componentOffset, stride))
    }
    return error
  }

  /// Codes the macroblock of a 4:4:4 picture as I_PCM.
  ///
  /// - Parameter samples: receives 256 samples of each component.
  mutating func copyComponents(samples: UnsafeMutablePointer<UInt8>) {
    for c in 0..<3 {
      let from = source + c &* MacroblockCoder.componentSamples
      ovt_copy(k, 0, reconstruction + c &* stream.componentOffset, stride, from, 16, 16)
      (samples + c &* 256).update(from: from, count: 256)
      let counts = picture.syntax.nonZero + (c &* picture.syntax.componentCounts &+ m &* 24)
      counts.update(repeating: 16, count: 16)
    }
  }
}
