// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The bits of the rows of a picture: those of written rows, and an estimate of those of rows that
/// are decided but not written.
///
/// Only what is known at a position whatever the number of threads is read: a row begins when the
/// row `lag` rows above it is written, and a coding tree unit is decided when the row above is
/// decided up to the next unit.
struct RowBits: BitwiseCopyable {
  let rows: Int
  let columns: Int
  /// The most rows that are begun and not written.
  let lag: Int
  /// The bits of the slice up to the end of each written row.
  let written: UnsafeMutablePointer<Int>
  /// Estimates in sixteenths of a bit: the sum over the first i units of a row, for i from 0 to
  /// `columns`.
  private let estimates: UnsafeMutablePointer<Int>
  /// The bits that an estimate of 256 sixteenths stood for in the last picture of a kind: of I
  /// and of P pictures.
  private let paces: UnsafeMutablePointer<Int>

  init(rows: Int, columns: Int, memory: inout EncoderMemory) {
    self.rows = rows
    self.columns = columns
    // More rows let more threads work; fewer let the QP follow the bits sooner.
    lag = min(rows < 8 ? 2 : rows < 16 ? 3 : rows < 32 ? 4 : 5, rows)
    written = memory.allocate(Int.self, count: rows)
    estimates = memory.allocate(Int.self, count: rows * (columns + 1))
    paces = memory.allocate(Int.self, count: 2)
    (paces[0], paces[1]) = (16, 16)
  }

  /// Sets the estimate of the bits of a coding tree unit, in sixteenths.
  @inline(__always) func setEstimate(row: Int, column: Int, _ bits: Int) {
    let at = row &* (columns &+ 1) &+ column
    estimates[at &+ 1] = estimates[at] &+ bits
  }

  /// The number of rows that are written for certain when a row begins.
  @inline(__always) func known(before row: Int) -> Int { max(row &- lag &+ 1, 0) }

  /// The bits of the slice before a coding tree unit: those of written rows, and an estimate of the
  /// others.
  /// - Parameters:
  ///   - row: the row of the unit.
  ///   - column: its column.
  ///   - isIntra: whether the picture is an I picture.
  func bits(row: Int, column: Int, isIntra: Bool) -> Int {
    let known = known(before: row)
    let base = known > 0 ? written[known &- 1] : 0
    // The first sums of estimates, over what is decided for certain, and the units that may not be.
    var estimate = 0
    var decided = 0
    var pending = 0
    for y in known...row {
      let count = y == row ? column : min(column &+ 1 &+ row &- y, columns)
      estimate &+= estimates[y &* (columns &+ 1) &+ count]
      decided &+= count
      if y < row { pending &+= columns &- count }
    }
    if decided > 0 { estimate &+= estimate &* pending / decided }
    return base &+ estimate &* pace(rows: known, isIntra) / 256
  }

  /// The bits that an estimate of 256 sixteenths stands for, from the first rows and the last
  /// picture.
  private func pace(rows known: Int, _ isIntra: Bool) -> Int {
    let last = paces[isIntra ? 0 : 1]
    var sum = 0
    for y in 0..<known { sum &+= estimates[y &* (columns &+ 1) &+ columns] }
    guard known > 0, sum > 0 else { return last }
    return min(max(written[known &- 1] &* 256 / sum, 4), 64)
  }

  /// Ends a picture, whose pace is the first one of the next picture.
  func finish(isIntra: Bool) { paces[isIntra ? 0 : 1] = pace(rows: rows, isIntra) }
}
