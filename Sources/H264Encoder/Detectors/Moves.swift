// SPDX-License-Identifier: Apache-2.0
/// The displacements by which parts of a screen picture (windows, panes, pages) have moved since
/// the previous picture, the one that most of the content follows first.
struct Moves: Equatable {
  /// The largest number of displacements.
  static let limit = 4
  /// The number of displacements, 0 to `limit`.
  private(set) var count = 0
  /// The horizontal components, in luma samples.
  private var x = SIMD4<Int16>.zero
  /// The vertical components, in luma samples.
  private var y = SIMD4<Int16>.zero
  /// Whether the displacements account for most of what has changed. The picture is then no scene
  /// change.
  var explainMost = false
  /// Whether the picture is screen content: a large part of what has changed in it is flat.
  var isScreen = false
  /// The hash table of 8x8 blocks of the previous picture (`RepeatTable.places`); nil where it is
  /// not to be used.
  var repeats: UnsafePointer<UInt32>?

  /// Adds a displacement; does nothing once there are `limit`.
  ///
  /// - Parameters:
  ///   - dx: the horizontal component, in luma samples, from where the content is to where it was.
  ///   - dy: the vertical component.
  mutating func append(x dx: Int, y dy: Int) {
    guard count < Moves.limit else { return }
    x[count] = Int16(clamping: dx)
    y[count] = Int16(clamping: dy)
    count += 1
  }

  /// Displacement `i` as a motion vector, in quarter samples.
  @inline(__always) subscript(i: Int) -> MotionVector { MotionVector(x[i] &* 4, y[i] &* 4) }
}
