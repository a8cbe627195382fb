// SPDX-License-Identifier: Apache-2.0
/// A hash table of the positions of 8x8 luma blocks in the previous source picture. Text that a
/// screen has shown before, anywhere, is predicted from there by a vector.
///
/// A sixth of the rows is entered with each picture, in turn. Entries may be out of date: a block
/// that is found is compared with the reference picture like any other candidate of the motion
/// search.
package struct BlockPositionTable: BitwiseCopyable {
  /// Position of a block, x + y * width + 1; 0 where an entry is empty.
  package let positions: UnsafeMutablePointer<UInt32>
  /// For each column, the rolling hash of the rows above (`slot`).
  private let hashes: UnsafeMutablePointer<UInt64>
  /// The first row of the next band to be entered.
  private let next: UnsafeMutablePointer<Int>
  /// The width of the luma plane in samples.
  private let width: Int
  /// The height of the luma plane in samples.
  private let height: Int

  /// The base-2 logarithm of the number of entries.
  package static let bits = 16
  /// With each picture, one in this number of rows is entered.
  private static let part = 6

  /// Allocates the table.
  ///
  /// - Parameters:
  ///   - geometry: the pictures' size.
  ///   - memory: owns the table.
  package init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    width = geometry.width
    height = geometry.height
    positions = memory.allocate(UInt32.self, count: 1 << BlockPositionTable.bits)
    hashes = memory.allocate(UInt64.self, count: geometry.width)
    next = memory.allocate(0)
  }

  /// Hashes a row of eight samples.
  @inline(__always) package static func hash(_ samples: UInt64) -> UInt64 {
    let h = samples &* 0x9E37_79B9_7F4A_7C15
    return h ^ h >> 32
  }

  /// Returns the index of a block's entry.
  ///
  /// - Parameter rows: the sum of the hashes of the block's eight rows, the last row's unshifted
  ///   and that of each row above shifted left by 8 bits more, so that rows further above drop out
  ///   of a rolling hash.
  /// - Returns: the index in `positions`.
  @inline(__always) package static func slot(_ rows: UInt64) -> Int {
    Int(truncatingIfNeeded: (rows &* 0xC2B2_AE3D_27D4_EB4F) >> UInt64(64 &- bits))
  }

  /// Enters the next band of rows.
  ///
  /// - Parameter picture: the luma plane, in rows of `width` bytes.
  package func add(_ picture: UnsafePointer<UInt8>) {
    let band = min(max(height / BlockPositionTable.part, 16), height &- 8)
    let from = next.pointee
    let to = min(from &+ band, height &- 7)
    next.pointee = to >= height &- 7 ? 0 : to
    let count = width &- 7
    for y in from..<to &+ 7 {
      let row = UnsafeRawPointer(picture + y &* width)
      let isWhole = y &- from >= 7
      // A row in the middle of the block that ends in row `y`.
      let middle = UnsafeRawPointer(picture + max(y &- 4, 0) &* width)
      let first = (y &- 7) &* width &+ 1
      for x in 0..<count {
        let h = hashes[x] << 8 &+ BlockPositionTable.hash((row + x).loadUnaligned(as: UInt64.self))
        hashes[x] = h
        guard isWhole else { continue }
        let v = (middle + x).loadUnaligned(as: UInt64.self)
        // Blocks that are nearly flat are predicted well without a match.
        if v == v >> 8 | v << 56 { continue }
        positions[BlockPositionTable.slot(h)] = UInt32(truncatingIfNeeded: first &+ x)
      }
    }
  }
}
