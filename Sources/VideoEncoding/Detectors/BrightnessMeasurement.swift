// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// Measures the brightness of a picture for `FadeDetector`: sums of luma samples for blocks of
/// 32x32, and sums and squares of all three components.
///
/// Each row of blocks has its own sums, so that threads may read rows at the same time and in any
/// order.
package struct BrightnessMeasurement {
  /// Sum, sum of squares and number of samples.
  private struct Sums {
    var sum: UInt64 = 0
    var squares: UInt64 = 0
    var count = 0

    static func += (a: inout Sums, b: Sums) {
      a.sum += b.sum
      a.squares += b.squares
      a.count += b.count
    }

    var level: FadeDetector.BrightnessStatistics { FadeDetector.level(sum, squares, count) }
  }

  /// The sums of one row of blocks; the sums of luma samples are in `blocks`.
  private struct Row {
    var squares: UInt64 = 0
    var cb = Sums()
    var cr = Sums()
  }

  /// Every `rowStep`-th row of samples is read. A block is `blockSize` luma samples wide and high.
  static let (rowStep, blockSize) = (4, 32)

  /// Blocks in a row; 1 or more.
  package let columns: Int
  /// Rows of blocks; 1 or more.
  package let rows: Int
  /// Luma samples of a block that are read.
  package let samples: Int
  /// Sums of the luma samples that are read of each block, in raster order.
  package let blocks: UnsafeMutablePointer<UInt32>
  /// The sums of each row of blocks.
  private let rowSums: UnsafeMutablePointer<Row>

  /// Allocates the sums.
  ///
  /// - Parameters:
  ///   - geometry: the pictures' size.
  ///   - memory: owns the sums.
  package init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    let (size, step) = (BrightnessMeasurement.blockSize, BrightnessMeasurement.rowStep)
    columns = max(geometry.width / size, 1)
    rows = max(geometry.height / size, 1)
    samples = min(size, geometry.width) * (((rows == 1 ? geometry.height : size) + step - 1) / step)
    blocks = memory.allocate(UInt32.self, count: columns * rows)
    rowSums = memory.allocate(Row.self, count: rows)
  }

  /// Reads the row of blocks that begins at a row of macroblocks, if one does. All blocks are read
  /// once this was called for every row of macroblocks.
  ///
  /// - Parameters:
  ///   - source: the picture.
  ///   - y: the row of macroblocks.
  package func read(_ source: SourcePicture, macroblockRow y: Int) {
    if y & 1 == 0, y >> 1 < rows { read(source, row: y >> 1) }
  }

  /// Reads a row of blocks.
  ///
  /// - Parameters:
  ///   - source: the picture.
  ///   - row: the row of blocks.
  package func read(_ source: SourcePicture, row: Int) {
    let (size, step) = (BrightnessMeasurement.blockSize, BrightnessMeasurement.rowStep)
    let isLast = row == rows - 1
    var result = Row()
    let line = blocks + row * columns
    line.update(repeating: 0, count: columns)
    for y in stride(from: row * size, to: rows == 1 ? source.height : (row + 1) * size, by: step) {
      let samples = source.luma + y * source.lumaBytesPerRow
      var ofRow: UInt32 = 0
      if source.width >= size {
        let next = y + step < source.height ? samples + step * source.lumaBytesPerRow : samples
        ovt_block_sums(samples, Int32(columns), line, &ofRow, next)
      } else {
        ovt_sums(samples, Int32(source.width), 1, line, &ofRow)
      }
      result.squares += UInt64(ofRow)
    }
    let width = source.width / 2
    func chroma(_ base: UnsafePointer<UInt8>, _ bytesPerRow: Int, step: Int) -> Sums {
      var result = Sums()
      let end = isLast ? source.height / 2 : (row + 1) * (size / 2)
      for y in Swift.stride(from: row * (size / 2), to: end, by: BrightnessMeasurement.rowStep) {
        var (ofRow, squaresOfRow): (UInt32, UInt32) = (0, 0)
        let samples = base + y * bytesPerRow
        if y + BrightnessMeasurement.rowStep < end {
          ovt_prefetch(samples + BrightnessMeasurement.rowStep * bytesPerRow, 64, Int32(width * step / 64))
        }
        ovt_sums(samples, Int32(width), Int32(step), &ofRow, &squaresOfRow)
        result += Sums(sum: UInt64(ofRow), squares: UInt64(squaresOfRow), count: width)
      }
      return result
    }
    switch source.chroma {
    case .interleaved(let base, let bytesPerRow):
      result.cb = chroma(base, bytesPerRow, step: 2)
      result.cr = chroma(base + 1, bytesPerRow, step: 2)
    case .planar(let cb, let cbBytesPerRow, let cr, let crBytesPerRow):
      result.cb = chroma(cb, cbBytesPerRow, step: 1)
      result.cr = chroma(cr, crBytesPerRow, step: 1)
    }
    rowSums[row] = result
  }

  /// Mean and standard deviation of each component of the picture, once all rows have been read.
  package var levels:
    (
      luma: FadeDetector.BrightnessStatistics, cb: FadeDetector.BrightnessStatistics,
      cr: FadeDetector.BrightnessStatistics
    )
  {
    var luma = Sums()
    var cb = Sums()
    var cr = Sums()
    for i in 0..<columns * rows { luma.sum += UInt64(blocks[i]) }
    for i in 0..<rows {
      luma.squares += rowSums[i].squares
      cb += rowSums[i].cb
      cr += rowSums[i].cr
    }
    luma.count = samples * columns * rows
    return (luma.level, cb.level, cr.level)
  }
}
