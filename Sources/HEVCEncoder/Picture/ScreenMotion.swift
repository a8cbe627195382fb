// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// What is known of the motion of large parts of a picture, and of blocks that the last picture
/// showed elsewhere, before it is coded. Vectors are into the first picture of list 0.
struct ScreenMotion: BitwiseCopyable {
  /// The rows by which the picture, or a part of its width, was scrolled: row y shows what was at
  /// row y + scroll. 0: nothing was.
  var scroll = 0
  /// The vectors of parts that were moved, and whether the picture is screen content.
  var displacements = Displacements()
  /// Luma of the source picture with 8 bits per sample, whose blocks are looked up among those of
  /// the last picture; nil: none are.
  var luma: UnsafePointer<UInt8>?
  /// The bytes from one row to the next, and the size in luma samples.
  var bytesPerRow = 0
  var width = 0
  var height = 0

  /// Whether the picture is screen content.
  @inline(__always) var isScreen: Bool { displacements.isScreen }

  /// Removes all vectors.
  mutating func forgetVectors() {
    let isScreen = isScreen
    self = ScreenMotion()
    displacements.isScreen = isScreen
  }

  /// The place in the last picture of 8x8 samples that are equal, or were when they were entered.
  /// - Parameters:
  ///   - x: the position of the block in luma samples.
  ///   - y: the position of the block in luma samples.
  /// - Returns: the vector in samples; nil: the block is not known.
  @inline(__always) func repeated(_ x: Int, _ y: Int) -> (x: Int, y: Int)? {
    guard let luma, let positions = displacements.repeats, x &+ 8 <= width, y &+ 8 <= height else {
      return nil
    }
    var hash: UInt64 = 0
    var row = UnsafeRawPointer(luma + (y &* bytesPerRow &+ x))
    for _ in 0..<8 {
      hash = hash << 8 &+ BlockPositionTable.hash(row.loadUnaligned(as: UInt64.self))
      row += bytesPerRow
    }
    let position = Int(positions[BlockPositionTable.slot(hash)]) &- 1
    guard position >= 0 else { return nil }
    return (position % width &- x, position / width &- y)
  }
}
