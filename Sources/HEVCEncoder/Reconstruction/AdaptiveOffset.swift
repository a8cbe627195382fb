// SPDX-License-Identifier: Apache-2.0
import CHEVCKernels
import VideoEncoding

/// Sample adaptive offset (8.7.3) of rows of coding tree units, in place.
struct AdaptiveOffset<Sample: HEVCSample>: BitwiseCopyable {
  private let kernels: UnsafePointer<Sample.Kernels>
  private let layout: PlaneLayout
  /// For each component, the deblocked samples of a row of coding tree units with the line above
  /// and the line below it, laid out as in the planes.
  private let strips: UnsafeMutablePointer<UnsafeMutablePointer<Sample>>
  /// The samples before the first one of a line that may be read.
  private static var margin: Int { 64 }

  init(kernels: UnsafePointer<Sample.Kernels>, layout: PlaneLayout, memory: inout EncoderMemory) {
    self.kernels = kernels
    self.layout = layout
    strips = memory.allocate(UnsafeMutablePointer<Sample>.self, count: 3)
    for i in 0..<3 {
      let count = i == 0 ? layout.lumaStride * 34 : layout.chromaStride * 18
      strips[i] = memory.allocate(Sample.self, count: count + 2 * Self.margin) + Self.margin
    }
  }

  /// Adds the offsets of a row of coding tree units. Rows have to come in order, since the line
  /// below a row is kept as it was. All samples of the row and of the line below have to be
  /// deblocked.
  /// - Parameters:
  ///   - row: the row of coding tree units.
  ///   - planes: the samples.
  ///   - offsets: the parameters of the units of the row.
  func filter(row: Int, _ planes: Planes<Sample>, _ offsets: UnsafePointer<OffsetParameters>) {
    for component in 0..<3 {
      let isLuma = component == 0
      let plane = isLuma ? planes.luma : component == 1 ? planes.cb : planes.cr
      let stride = isLuma ? layout.lumaStride : layout.chromaStride
      let width = isLuma ? layout.width : layout.width / 2
      let height = isLuma ? layout.height : layout.height / 2
      let side = isLuma ? 32 : 16
      let strip = strips[component]
      let y = row &* side
      let lines = min(side, height &- y)
      let columns = (width &+ side &- 1) / side
      // The line above is that which the last row left.
      for line in 0..<min(lines &+ 1, height &- y) {
        (strip + (line &+ 1) &* stride).update(from: plane + (y &+ line) &* stride, count: width)
      }
      for column in 0..<columns {
        let values = offsets[column][component]
        if values.kind == .none { continue }
        let x = column &* side
        let blockWidth = min(side, width &- x)
        var (left, top, right, bottom) = (x, y, x &+ blockWidth, y &+ lines)
        if values.kind == .edge {
          let area = OffsetDecision<Sample>.edgeArea(
            Int(values.choice), x: x, y: y, width: blockWidth, height: lines, planeWidth: width,
            planeHeight: height)
          (left, top, right, bottom) = (area.x, area.y, area.x &+ area.width, area.y &+ area.height)
        }
        guard right > left, bottom > top else { continue }
        let output = plane + top &* stride + left
        let input = strip + (top &- y &+ 1) &* stride + left
        let (w, h) = (Int32(right &- left), Int32(bottom &- top))
        withUnsafeBytes(of: values.values) { bytes in
          guard let four = bytes.baseAddress?.assumingMemoryBound(to: Int8.self) else { return }
          if values.kind == .edge {
            Sample.Kernels.saoEdge(
              kernels, output, stride, input, stride, w, h, Int32(values.choice), four)
          } else {
            Sample.Kernels.saoBand(
              kernels, output, stride, input, stride, w, h, Int32(values.choice), four)
          }
        }
      }
      strip.update(from: strip + lines &* stride, count: width)
    }
  }
}
