// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// The layout of the planes of pictures in memory: coded size, and padding on all sides.
struct PlaneLayout: BitwiseCopyable {
  let width: Int
  let height: Int
  /// The bytes from one row to the next.
  let lumaStride: Int
  let chromaStride: Int

  /// The luma samples of padding on each side; chroma has half of it. Vectors may point as far
  /// outside as `reach` allows.
  static let padding = 80
  /// The most luma samples by which a block that is referred to may reach beyond the picture, so
  /// that the taps of the interpolation filter stay within the padding.
  static let reach = 64
  /// Bytes after a row and before the first one that kernels may read.
  private static let slack = 64

  init(codedWidth: Int, codedHeight: Int) {
    width = codedWidth
    height = codedHeight
    // A stride that is a multiple of 1024 would put rows into the same cache sets.
    func stride(_ bytes: Int) -> Int {
      let rounded = (bytes + 63) & ~63
      return rounded % 1024 == 0 ? rounded + 64 : rounded
    }
    lumaStride = stride(codedWidth + 2 * Self.padding + 32)
    chromaStride = stride(codedWidth / 2 + Self.padding + 32)
  }

  var lumaBytes: Int { lumaStride * (height + 2 * Self.padding) + 2 * Self.slack }
  var chromaBytes: Int { chromaStride * (height / 2 + Self.padding) + 2 * Self.slack }
  var lumaOrigin: Int { Self.padding * lumaStride + Self.padding + Self.slack }
  var chromaOrigin: Int { Self.padding / 2 * chromaStride + Self.padding / 2 + Self.slack }
}

/// The samples of a picture: planes of luma, Cb and Cr; the pointers are to the sample at (0, 0).
struct Planes: BitwiseCopyable {
  let luma: UnsafeMutablePointer<UInt8>
  let cb: UnsafeMutablePointer<UInt8>
  let cr: UnsafeMutablePointer<UInt8>

  init(_ layout: PlaneLayout, memory: inout EncoderMemory) {
    luma = memory.allocate(UInt8.self, count: layout.lumaBytes) + layout.lumaOrigin
    cb = memory.allocate(UInt8.self, count: layout.chromaBytes) + layout.chromaOrigin
    cr = memory.allocate(UInt8.self, count: layout.chromaBytes) + layout.chromaOrigin
  }

  /// Copies a source picture, and repeats its last column and row up to the coded size.
  /// - Parameters:
  ///   - source: the picture, not larger than the layout.
  ///   - layout: the layout of these planes.
  ///   - kernels: separates the samples of interleaved chroma.
  func copy(
    _ source: SourcePicture, _ layout: PlaneLayout, kernels: UnsafePointer<OVTVideoKernels>
  ) {
    for y in 0..<layout.height {
      let from = source.luma + min(y, source.height - 1) * source.lumaBytesPerRow
      let to = luma + y * layout.lumaStride
      to.update(from: from, count: source.width)
      for x in source.width..<max(layout.width, source.width) { to[x] = to[source.width - 1] }
    }
    let (width, height) = (source.width / 2, source.height / 2)
    for y in 0..<layout.height / 2 {
      let row = min(y, height - 1)
      let (b, r) = (cb + y * layout.chromaStride, cr + y * layout.chromaStride)
      switch source.chroma {
      case .interleaved(let pairs, let bytesPerRow):
        kernels.pointee.deinterleaveRow(b, r, pairs + row * bytesPerRow, Int32(width))
      case .planar(let sourceCb, let cbBytesPerRow, let sourceCr, let crBytesPerRow):
        b.update(from: sourceCb + row * cbBytesPerRow, count: width)
        r.update(from: sourceCr + row * crBytesPerRow, count: width)
      }
      for x in width..<max(layout.width / 2, width) {
        b[x] = b[width - 1]
        r[x] = r[width - 1]
      }
    }
  }

  /// Extends a plane beyond its edges by repeating the samples there.
  static func extend(
    _ plane: UnsafeMutablePointer<UInt8>, width: Int, height: Int, stride: Int, padding: Int
  ) {
    for y in 0..<height {
      let row = plane + y * stride
      (row - padding).update(repeating: row[0], count: padding)
      (row + width).update(repeating: row[width - 1], count: padding)
    }
    let count = width + 2 * padding
    for y in 1...padding {
      (plane - y * stride - padding).update(from: plane - padding, count: count)
      (plane + (height - 1 + y) * stride - padding)
        .update(from: plane + (height - 1) * stride - padding, count: count)
    }
  }
}

/// A reconstructed picture, which may be a reference picture.
struct ReferencePicture: BitwiseCopyable {
  let planes: Planes
  /// Luma at whole samples, half a sample to the right, half a sample below, and both: the
  /// prediction that 8.5.3.3.3 gives for these positions. The first is `planes.luma`.
  let halfSamples: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>>
  /// The motion of each 8x8 block.
  let motion: UnsafeMutablePointer<MotionPair>
  /// PicOrderCntVal of the pictures that it refers to, by reference index, and whether they were
  /// long-term reference pictures: those of list 0, and from `PictureContext.listSize` on of list 1.
  let references: UnsafeMutablePointer<ReferenceIdentity>

  init(_ layout: PlaneLayout, memory: inout EncoderMemory) {
    planes = Planes(layout, memory: &memory)
    halfSamples = memory.allocate(UnsafeMutablePointer<UInt8>.self, count: 4)
    halfSamples[0] = planes.luma
    for i in 1..<4 {
      halfSamples[i] = memory.allocate(UInt8.self, count: layout.lumaBytes) + layout.lumaOrigin
    }
    motion = memory.allocate(MotionPair.self, count: layout.width / 8 * (layout.height / 8))
    references = memory.allocate(ReferenceIdentity.self, count: 2 * PictureContext.listSize)
  }

  /// Extends the planes beyond the edges.
  func extend(_ layout: PlaneLayout) {
    let padding = PlaneLayout.padding
    Planes.extend(
      planes.luma, width: layout.width, height: layout.height, stride: layout.lumaStride,
      padding: padding)
    for plane in [planes.cb, planes.cr] {
      Planes.extend(
        plane, width: layout.width / 2, height: layout.height / 2, stride: layout.chromaStride,
        padding: padding / 2)
    }
  }

  /// Computes a strip of 32 rows of the planes of half samples, which reach as far as vectors plus
  /// the margin of a search. The planes have to be extended.
  /// - Parameter strip: the number of the strip, from the top.
  /// - Returns: whether there is such a strip.
  func computeHalfSamples(
    strip: Int, _ layout: PlaneLayout, kernels: UnsafePointer<OVTHEVCKernels8>
  ) -> Bool {
    let margin = PlaneLayout.reach + 8
    let stride = layout.lumaStride
    let y = strip * 32 - margin
    guard y < layout.height + margin else { return false }
    let rows = min(32, layout.height + margin - y)
    var x = -margin
    while x < layout.width + margin {
      let columns = min(64, layout.width + margin - x)
      let at = y * stride + x
      let source = planes.luma + at
      for i in 1..<4 {
        kernels.pointee.luma(
          halfSamples[i] + at, stride, source, stride, Int32(columns), Int32(rows),
          i & 1 != 0 ? 2 : 0, i & 2 != 0 ? 2 : 0)
      }
      x += 64
    }
    return true
  }
}

/// What tells reference pictures apart in the prediction of vectors.
struct ReferenceIdentity: BitwiseCopyable {
  /// PicOrderCntVal
  var order: Int32 = 0
  var isLongTerm = false
}
