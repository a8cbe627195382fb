// SPDX-License-Identifier: Apache-2.0
/// The displacements by which parts of a screen picture (windows, panes, pages) have moved since
/// the previous picture, the one that most of the content follows first.
package struct Displacements: Equatable, BitwiseCopyable {
  /// The largest number of displacements.
  package static let limit = 4
  /// The number of displacements, 0 to `limit`.
  package private(set) var count = 0
  /// The horizontal components, in luma samples.
  private var x = SIMD4<Int16>.zero
  /// The vertical components, in luma samples.
  private var y = SIMD4<Int16>.zero
  /// Whether the displacements account for most of what has changed. The picture is then no scene
  /// change.
  package var explainMost = false
  /// Whether the picture is screen content: a large part of what has changed in it is flat.
  package var isScreen = false
  /// The hash table of 8x8 blocks of the previous picture (`BlockPositionTable.positions`); nil
  /// where it is not to be used.
  package var repeats: UnsafePointer<UInt32>?

  /// Begins without displacements.
  package init() {}

  /// Adds a displacement; does nothing once there are `limit`.
  ///
  /// - Parameters:
  ///   - dx: the horizontal component, in luma samples, from where the content is to where it was.
  ///   - dy: the vertical component.
  package mutating func append(x dx: Int, y dy: Int) {
    guard count < Displacements.limit else { return }
    x[count] = Int16(clamping: dx)
    y[count] = Int16(clamping: dy)
    count += 1
  }

  /// Displacement `i` as a motion vector, in quarter samples.
  @inline(__always) package subscript(i: Int) -> SIMD2<Int16> { SIMD2(x[i] &* 4, y[i] &* 4) }
}
