// SPDX-License-Identifier: Apache-2.0
/// By which distances parts of a picture have moved since the last one, best first: windows, panes, pages.
struct Moves: Equatable {
  /// How many there are at most.
  static let limit = 4
  private(set) var count = 0
  private var x = SIMD4<Int16>.zero
  private var y = SIMD4<Int16>.zero
  /// Most of what has changed came from elsewhere as it is: the picture begins no scene.
  var explainMost = false
  /// The picture is a screen's: what has changed in it, or all of it, is flat in large part.
  var isScreen = false
  /// Where blocks of the last picture are (`RepeatTable`), where that is worth looking up.
  var repeats: UnsafePointer<UInt32>?

  /// From where content came, in whole samples; at most `limit`, further ones are left out.
  mutating func append(x dx: Int, y dy: Int) {
    guard count < Moves.limit else { return }
    x[count] = Int16(clamping: dx)
    y[count] = Int16(clamping: dy)
    count += 1
  }

  /// The vector of move `i`.
  @inline(__always) subscript(i: Int) -> MotionVector { MotionVector(x[i] &* 4, y[i] &* 4) }
}
