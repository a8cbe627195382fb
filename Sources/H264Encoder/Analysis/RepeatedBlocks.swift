// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

extension MacroblockCoder {
  /// On screen content, the 8x8 blocks of a macroblock are looked up where its best 16x16 vector
  /// costs more than this, in units of 16 lambda (`EffortSettings`).
  static let repeatThreshold: Int32 = 24

  /// For each 8x8 block of the macroblock, the vector to the position that the table has; valid
  /// after `findRepeats` for the blocks that it found.
  private var repeats: UnsafeMutablePointer<MotionVector> {
    mutating get {
      scratch.repeatVectors
    }
  }

  /// Looks up the four 8x8 blocks of the macroblock.
  ///
  /// - Returns: a mask with a bit for each block that was found and whose vector is allowed.
  mutating func findRepeats() -> UInt8 {
    guard let positions = picture.displacements.repeats else { return 0 }
    let repeats = repeats
    var found: UInt8 = 0
    for i in 0..<4 {
      let x = (i & 1) &* 8
      let y = (i >> 1) &* 8
      var h: UInt64 = 0
      var row = UnsafeRawPointer(source + (y &* 16 &+ x))
      for _ in 0..<8 {
        h = h << 8 &+ BlockPositionTable.hash(row.loadUnaligned(as: UInt64.self))
        row += 16
      }
      let position = Int(positions[BlockPositionTable.slot(h)]) &- 1
      if position < 0 { continue }
      let dx = (position % stream.geometry.width &- mbX &* 16 &- x) &* 4
      let dy = (position / stream.geometry.width &- mbY &* 16 &- y) &* 4
      // Components are of -2048 to 2047.75 (A.3.1).
      if dx < max(minX, -8000) || dx > min(maxX, 8000) || dy < minY || dy > maxY { continue }
      repeats[i] = MotionVector(Int16(truncatingIfNeeded: dx), Int16(truncatingIfNeeded: dy))
      found |= 1 << UInt8(i)
    }
    return found
  }

  /// The vector to where 8x8 block `i` was found, in quarter samples.
  @inline(__always) mutating func repeatVector(_ i: Int) -> MotionVector { repeats[i] }
}
