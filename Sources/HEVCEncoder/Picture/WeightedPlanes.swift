// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// Luma of reference pictures with their weights, at whole and half samples, for the search of
/// motion vectors. Whole samples are exact; the others are weighted after they were rounded.
struct WeightedPlanes<Sample: HEVCSample> {
  private let layout: PlaneLayout
  /// For each entry of the lists, as in `PictureSamples.references`, the planes; nil until they are
  /// needed.
  private var planes: [UnsafeMutablePointer<UnsafeMutablePointer<Sample>>?]
  /// 64x32 intermediate values.
  private let scratch: UnsafeMutablePointer<Int16>

  init(_ layout: PlaneLayout, memory: inout EncoderMemory) {
    self.layout = layout
    planes = Array(repeating: nil, count: 2 * PictureContext.listSize)
    scratch = memory.allocate(Int16.self, count: 64 * 32)
  }

  /// Computes the planes of a reference picture.
  /// - Parameters:
  ///   - entry: the index of the entry.
  ///   - picture: the reference picture, with its planes of half samples.
  ///   - weight: its weights.
  ///   - memory: owns the planes.
  /// - Returns: the picture with its weighted planes in place of those of half samples.
  mutating func weigh(
    _ entry: Int, _ picture: ReferencePicture<Sample>, _ weight: ReferenceWeight,
    kernels: UnsafePointer<Sample.Kernels>, memory: inout EncoderMemory
  ) -> ReferencePicture<Sample> {
    let target: UnsafeMutablePointer<UnsafeMutablePointer<Sample>>
    if let known = planes[entry] {
      target = known
    } else {
      target = memory.allocate(UnsafeMutablePointer<Sample>.self, count: 4)
      for i in 0..<4 {
        target[i] = memory.allocate(Sample.self, count: layout.lumaCount) + layout.lumaOrigin
      }
      planes[entry] = target
    }
    picture.halfSamples.requireAll(layout, kernels)
    let margin = PlaneLayout.reach + 8
    let stride = layout.lumaStride
    let denominator = weight.lumaShift &+ 14 &- Int32(Sample.bitDepth)
    let offset = weight.luma.offset &<< Int32(Sample.extraBits)
    for plane in 0..<4 {
      for y in Swift.stride(from: -margin, to: layout.height + margin, by: 32) {
        let rows = Int32(min(32, layout.height + margin - y))
        for x in Swift.stride(from: -margin, to: layout.width + margin, by: 64) {
          let columns = Int32(min(64, layout.width + margin - x))
          let at = y * stride + x
          Sample.Kernels.lumaHigh(
            kernels, scratch, 64, picture.halfSamples.planes[plane] + at, stride, columns, rows, 0, 0)
          Sample.Kernels.weigh(
            kernels, target[plane] + at, stride, scratch, 64, columns, rows, denominator,
            weight.luma.weight, offset)
        }
      }
    }
    return picture.searched(in: target)
  }
}
