// SPDX-License-Identifier: Apache-2.0
import CVideoKernels
import Testing

@testable import VideoEncoding

@Suite("The activity of macroblocks")
struct LocalActivityTests {
  @Test(
    "Only samples of the picture count, in pictures smaller than a macroblock as well",
    arguments: [(8, 8), (14, 8), (64, 8), (8, 40), (16, 16), (40, 24)])
  func energy(width: Int, height: Int) {
    var memory = EncoderMemory()
    let kernels = memory.allocate(OVTVideoKernels.self, count: 1)
    _ = ovt_video_kernels_init(kernels, ovt_cpu_detect())
    let bytesPerRow = width + 16
    let luma = memory.allocate(UInt8.self, count: bytesPerRow * (height + 32))
    for around in [UInt8(0), 255] {
      luma.update(repeating: around, count: bytesPerRow * (height + 32))
      for y in 0..<height {
        for x in 0..<width { luma[y * bytesPerRow + x] = Self.sample(x, y) }
      }
      let source = SourcePicture(
        width: width, height: height, luma: luma, lumaBytesPerRow: bytesPerRow,
        chroma: .interleaved(luma, bytesPerRow: bytesPerRow))
      for y in 0..<(height + 15) / 16 {
        for x in 0..<(width + 15) / 16 {
          let expected = Self.energy(x, y, width, height)
          let found = Double(LocalActivity.energy(source, x, y, kernels))
          // The integers are rounded down twice at most, and a small block is scaled up to 256.
          #expect(abs(found - expected) <= 256 * 2, "\(x), \(y) around \(around)")
        }
      }
    }
  }

  private static func sample(_ x: Int, _ y: Int) -> UInt8 { UInt8((x * 37 + y * 91 + x * y) % 256) }

  /// 256 times the variance of the samples of a macroblock that lie in the picture, after it was
  /// moved inside.
  private static func energy(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> Double {
    let (columns, rows) = (min(width, 16), min(height, 16))
    let (left, top) = (min(x * 16, width - columns), min(y * 16, height - rows))
    var values: [Double] = []
    for row in top..<top + rows {
      for column in left..<left + columns { values.append(Double(sample(column, row))) }
    }
    let mean = values.reduce(0, +) / Double(values.count)
    return values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } * 256 / Double(values.count)
  }
}
