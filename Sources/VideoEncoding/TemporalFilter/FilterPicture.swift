// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// A plane of samples of 8 bits with margins, which repeat its edges.
struct FilterPlane {
  /// The address of the first sample of the first row.
  let origin: UnsafeMutablePointer<UInt8>
  /// The samples from one row to the next.
  let stride: Int
  /// The size that blocks cover: the picture's, rounded up.
  let width: Int
  let height: Int
  /// The samples before the first and after the last of `width`, and the rows above and below.
  let margin: Int

  /// Allocates a plane.
  init(width: Int, height: Int, margin: Int, memory: inout EncoderMemory) {
    self.width = width
    self.height = height
    self.margin = margin
    stride = (width + 2 * margin + 31) & ~31
    origin =
      memory.allocate(UInt8.self, count: stride * (height + 2 * margin)) + (margin * stride + margin)
  }

  /// The address of a sample; it may lie in the margins.
  @inline(__always)
  func at(_ x: Int, _ y: Int) -> UnsafeMutablePointer<UInt8> { origin + (y &* stride &+ x) }

  /// Repeats the edges of the part of the plane that is filled.
  ///
  /// - Parameters:
  ///   - filledWidth: the samples of each row that are filled.
  ///   - filledHeight: the rows that are filled.
  func repeatEdges(filledWidth: Int, filledHeight: Int) {
    for y in 0..<filledHeight {
      let row = at(0, y)
      (row - margin).update(repeating: row[0], count: margin)
      (row + filledWidth).update(
        repeating: row[filledWidth - 1], count: width + margin - filledWidth)
    }
    let whole = width + 2 * margin
    for y in -margin..<0 { at(-margin, y).update(from: at(-margin, 0), count: whole) }
    for y in filledHeight..<height + margin {
      at(-margin, y).update(from: at(-margin, filledHeight - 1), count: whole)
    }
  }
}

/// A copy of a picture for the motion search and the temporal filter: three planes with margins,
/// and its luma at a half and at a quarter of the size.
package final class FilterPicture: @unchecked Sendable {
  // Sendable: nothing changes after the initializer.
  /// The edge of the square blocks that motion is searched for, in luma samples.
  package static let blockSize = 16
  /// The furthest that a block may lie outside of the picture, in luma samples: a half of it, since
  /// the margins repeat samples and tell nothing new.
  static let reach = 8

  /// The width in luma samples.
  package let width: Int
  /// The height in luma samples.
  package let height: Int
  /// The luma in full, at half, and at a quarter of the size.
  let luma: FilterPlane
  let half: FilterPlane
  let quarter: FilterPlane
  let cb: FilterPlane
  let cr: FilterPlane
  private var memory = EncoderMemory()

  /// The blocks of a row.
  package var columns: Int { luma.width / Self.blockSize }
  /// The rows of blocks.
  package var rows: Int { luma.height / Self.blockSize }

  /// Copies a picture.
  ///
  /// - Parameters:
  ///   - source: the picture, of any size from 1x1 on; its chroma has half of the size, rounded up.
  ///   - kernels: the kernels that divide pairs of Cb and Cr.
  init(_ source: SourcePicture, kernels: UnsafePointer<OVTVideoKernels>) {
    width = source.width
    height = source.height
    let wide = (width + 15) & ~15
    let high = (height + 15) & ~15
    // Room for the coarsest blocks, which may lie 16 luma samples outside, and for interpolation.
    let margin = 48
    luma = FilterPlane(width: wide, height: high, margin: margin, memory: &memory)
    half = FilterPlane(width: wide / 2, height: high / 2, margin: margin / 2, memory: &memory)
    quarter = FilterPlane(width: wide / 4, height: high / 4, margin: margin / 4, memory: &memory)
    cb = FilterPlane(width: wide / 2, height: high / 2, margin: margin / 2, memory: &memory)
    cr = FilterPlane(width: wide / 2, height: high / 2, margin: margin / 2, memory: &memory)
    for y in 0..<height {
      luma.at(0, y).update(from: source.luma + y * source.lumaBytesPerRow, count: width)
    }
    luma.repeatEdges(filledWidth: width, filledHeight: height)
    copyChroma(source, kernels)
    Self.halve(luma, to: half)
    Self.halve(half, to: quarter)
  }

  private func copyChroma(_ source: SourcePicture, _ kernels: UnsafePointer<OVTVideoKernels>) {
    let chromaWidth = (width + 1) / 2
    let chromaHeight = (height + 1) / 2
    for y in 0..<chromaHeight {
      let (toCb, toCr) = (cb.at(0, y), cr.at(0, y))
      switch source.chroma {
      case .interleaved(let pairs, let bytesPerRow):
        kernels.pointee.deinterleaveRow(toCb, toCr, pairs + y * bytesPerRow, Int32(chromaWidth))
      case .planar(let fromCb, let cbBytesPerRow, let fromCr, let crBytesPerRow):
        toCb.update(from: fromCb + y * cbBytesPerRow, count: chromaWidth)
        toCr.update(from: fromCr + y * crBytesPerRow, count: chromaWidth)
      }
    }
    cb.repeatEdges(filledWidth: chromaWidth, filledHeight: chromaHeight)
    cr.repeatEdges(filledWidth: chromaWidth, filledHeight: chromaHeight)
  }

  private static func halve(_ plane: FilterPlane, to half: FilterPlane) {
    for y in 0..<half.height {
      ovt_halve_row(half.at(0, y), plane.at(0, 2 * y), plane.at(0, 2 * y + 1), Int32(half.width))
    }
    half.repeatEdges(filledWidth: half.width, filledHeight: half.height)
  }
}
