// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Luma at half of its size, a block of 8x8 for each macroblock, with samples around it for vectors that point outside.
struct LowResolutionPicture {
  static let padding = 32
  let width: Int
  let height: Int
  let stride: Int
  /// The sample at (0, 0).
  let luma: UnsafeMutablePointer<UInt8>

  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    width = geometry.widthInMbs * 8
    height = geometry.heightInMbs * 8
    var stride = (width + 2 * LowResolutionPicture.padding + 63) & ~63
    if stride % 1024 == 0 { stride += 64 }
    self.stride = stride
    let plane = memory.allocate(UInt8.self, count: stride * (height + 2 * LowResolutionPicture.padding))
    luma = plane + LowResolutionPicture.padding * stride + LowResolutionPicture.padding
  }

  /// Means of two by two samples, of a row of macroblocks; the edge is repeated to the border of the macroblocks and beyond.
  func fill(_ source: SourcePicture, row: Int) {
    let columns = source.width / 2
    let rows = source.height / 2
    for y in row &* 8..<min(row &* 8 &+ 8, rows) {
      let row = luma + y &* stride
      let pixels = source.luma + 2 &* y &* source.lumaBytesPerRow
      ovt_halve_row(row, pixels, pixels + source.lumaBytesPerRow, Int32(truncatingIfNeeded: columns))
      (row + columns).update(
        repeating: row[columns &- 1], count: width &- columns &+ LowResolutionPicture.padding)
      (row - LowResolutionPicture.padding).update(repeating: row[0], count: LowResolutionPicture.padding)
    }
    let bytes = width + 2 * LowResolutionPicture.padding
    func copy(_ from: Int, _ to: Int) {
      let start = luma - LowResolutionPicture.padding
      UnsafeMutableRawPointer(start + to &* stride).copyMemory(from: start + from &* stride, byteCount: bytes)
    }
    if row == height / 8 - 1 {
      for y in rows..<height + LowResolutionPicture.padding { copy(rows - 1, y) }
    }
    if row == 0 {
      for y in 1...LowResolutionPicture.padding { copy(0, -y) }
    }
  }
}
