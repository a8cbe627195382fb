// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The luma of a picture at half its width and height, a block of 8x8 samples for each macroblock,
/// with padding for vectors that point outside.
package struct LowResolutionPicture {
  /// The samples of padding on each side.
  package static let padding = 32
  /// The width without padding, in samples: 8 per macroblock.
  package let width: Int
  /// The height without padding, in samples.
  package let height: Int
  /// The distance of rows in bytes.
  package let stride: Int
  /// The first sample of the first row, at (0, 0).
  package let luma: UnsafeMutablePointer<UInt8>

  /// Allocates the picture, with padding. A stride that is a multiple of 1024 is avoided, as rows
  /// would compete for the same lines of the cache.
  package init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    width = geometry.widthInMbs * 8
    height = geometry.heightInMbs * 8
    var stride = (width + 2 * LowResolutionPicture.padding + 63) & ~63
    if stride % 1024 == 0 { stride += 64 }
    self.stride = stride
    let plane = memory.allocate(UInt8.self, count: stride * (height + 2 * LowResolutionPicture.padding))
    luma = plane + LowResolutionPicture.padding * stride + LowResolutionPicture.padding
  }

  /// Fills in a row of macroblocks with the means of 2x2 samples. The edge is repeated to the
  /// border of the macroblocks and in the padding.
  ///
  /// Threads may fill in different rows at the same time: a row reads no sample of another one. Of
  /// an odd height, the last line of the source therefore has a line of its own, though it may be
  /// the only one of its row of macroblocks.
  /// - Parameters:
  ///   - source: the picture at full size.
  ///   - row: the index of the row of macroblocks.
  package func fill(_ source: SourcePicture, row: Int) {
    let columns = source.width / 2
    let rows = (source.height + 1) / 2
    for y in row &* 8..<min(row &* 8 &+ 8, rows) {
      let row = luma + y &* stride
      let pixels = source.luma + 2 &* y &* source.lumaBytesPerRow
      let below = 2 &* y &+ 1 < source.height ? pixels + source.lumaBytesPerRow : pixels
      ovt_halve_row(row, pixels, below, Int32(truncatingIfNeeded: columns))
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
