// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// The decided syntax of rows of coding tree units that are not yet written: a ring with an element
/// for each row.
struct CodedRowRingBuffer: BitwiseCopyable {
  /// The number of rows in the ring.
  let rows: Int
  /// The number of coding tree units in a row.
  private let columns: Int
  private let units: UnsafeMutablePointer<CodingUnit>
  private let levels: UnsafeMutablePointer<Int16>

  init(rows: Int, columns: Int, memory: inout EncoderMemory) {
    self.rows = rows
    self.columns = columns
    units = memory.allocate(CodingUnit.self, count: rows * columns * 16)
    levels = memory.allocate(Int16.self, count: rows * columns * LevelLayout.count)
  }

  /// The memory of a coding tree unit.
  @inline(__always) func codingTreeUnit(row: Int, column: Int) -> CodedTreeUnit {
    let at = row % rows &* columns &+ column
    return CodedTreeUnit(units: units + at &* 16, levels: levels + at &* LevelLayout.count)
  }
}
