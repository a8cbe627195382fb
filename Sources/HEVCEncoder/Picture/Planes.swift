// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import CVideoKernels
import VideoEncoding

/// The layout of the planes of pictures in memory, in samples: coded size, and padding on all
/// sides.
struct PlaneLayout: BitwiseCopyable {
  let width: Int
  let height: Int
  /// The samples from one row to the next.
  let lumaStride: Int
  let chromaStride: Int

  /// The luma samples of padding on each side; chroma has half of it. Vectors may point as far
  /// outside as `reach` allows.
  static let padding = 80
  /// The most luma samples by which a block that is referred to may reach beyond the picture, so
  /// that the taps of the interpolation filter stay within the padding.
  static let reach = 64
  /// Samples after a row and before the first one that kernels may read.
  private static let slack = 64

  init(codedWidth: Int, codedHeight: Int, sampleBytes: Int) {
    width = codedWidth
    height = codedHeight
    // A stride that is a multiple of 1024 bytes would put rows into the same cache sets.
    func stride(_ samples: Int) -> Int {
      let rounded = (samples + 63) & ~63
      return rounded * sampleBytes % 1024 == 0 ? rounded + 64 : rounded
    }
    lumaStride = stride(codedWidth + 2 * Self.padding + 32)
    chromaStride = stride(codedWidth / 2 + Self.padding + 32)
  }

  var lumaCount: Int { lumaStride * (height + 2 * Self.padding) + 2 * Self.slack }
  var chromaCount: Int { chromaStride * (height / 2 + Self.padding) + 2 * Self.slack }
  var lumaOrigin: Int { Self.padding * lumaStride + Self.padding + Self.slack }
  var chromaOrigin: Int { Self.padding / 2 * chromaStride + Self.padding / 2 + Self.slack }
}

/// The samples of a picture: planes of luma, Cb and Cr; the pointers are to the sample at (0, 0).
struct Planes<Sample: HEVCSample>: BitwiseCopyable {
  let luma: UnsafeMutablePointer<Sample>
  let cb: UnsafeMutablePointer<Sample>
  let cr: UnsafeMutablePointer<Sample>

  init(_ layout: PlaneLayout, memory: inout EncoderMemory) {
    luma = memory.allocate(Sample.self, count: layout.lumaCount) + layout.lumaOrigin
    cb = memory.allocate(Sample.self, count: layout.chromaCount) + layout.chromaOrigin
    cr = memory.allocate(Sample.self, count: layout.chromaCount) + layout.chromaOrigin
  }

  /// Copies a source picture, and repeats its last column and row up to the coded size.
  /// - Parameters:
  ///   - source: the picture, not larger than the layout.
  ///   - layout: the layout of these planes.
  ///   - kernels: separates the samples of interleaved chroma.
  func copy(_ source: HEVCSource, _ layout: PlaneLayout, kernels: UnsafePointer<OVTVideoKernels>) {
    for y in 0..<layout.height {
      let to = luma + y * layout.lumaStride
      Sample.copyLuma(source, row: min(y, source.height - 1), to: to)
      for x in source.width..<max(layout.width, source.width) { to[x] = to[source.width - 1] }
    }
    let (width, height) = (source.width / 2, source.height / 2)
    for y in 0..<layout.height / 2 {
      let (b, r) = (cb + y * layout.chromaStride, cr + y * layout.chromaStride)
      Sample.copyChroma(source, row: min(y, height - 1), cb: b, cr: r, kernels)
      for x in width..<max(layout.width / 2, width) {
        b[x] = b[width - 1]
        r[x] = r[width - 1]
      }
    }
  }

  /// Extends a plane beyond its edges by repeating the samples there.
  static func extend(
    _ plane: UnsafeMutablePointer<Sample>, width: Int, height: Int, stride: Int, padding: Int
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
struct ReferencePicture<Sample: HEVCSample>: BitwiseCopyable {
  let planes: Planes<Sample>
  /// Luma at half samples. In an entry of a reference list with weights it is weighted
  /// (`WeightedPlanes`).
  private(set) var halfSamples: HalfSamples<Sample>
  let field: MotionField

  /// The same picture with other planes for the search.
  func searched(in planes: UnsafeMutablePointer<UnsafeMutablePointer<Sample>>) -> Self {
    var copy = self
    copy.halfSamples = HalfSamples(complete: planes)
    return copy
  }

  init(_ layout: PlaneLayout, memory: inout EncoderMemory) {
    planes = Planes(layout, memory: &memory)
    halfSamples = HalfSamples(layout, luma: planes.luma, memory: &memory)
    field = MotionField(
      motion: memory.allocate(MotionPair.self, count: layout.width / 8 * (layout.height / 8)),
      references: memory.allocate(ReferenceIdentity.self, count: 2 * PictureContext.listSize))
  }

  /// Makes the picture a reference picture: extends its planes beyond the edges.
  func extend(_ layout: PlaneLayout) {
    halfSamples.begin()
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
}

/// The motion of a reconstructed picture.
struct MotionField: BitwiseCopyable {
  /// The motion of each 8x8 block.
  let motion: UnsafeMutablePointer<MotionPair>
  /// PicOrderCntVal of the pictures that it refers to, by reference index, and whether they were
  /// long-term reference pictures: those of list 0, and from `PictureContext.listSize` on of list
  /// 1.
  let references: UnsafeMutablePointer<ReferenceIdentity>
}

/// The identity of a reference picture for motion vector prediction.
struct ReferenceIdentity: BitwiseCopyable {
  /// PicOrderCntVal
  var order: Int32 = 0
  var isLongTerm = false
}
