// SPDX-License-Identifier: Apache-2.0
import VideoEncoding

/// Keeps track of the macroblocks of reference pictures that have not changed, which are P_Skip
/// with a zero vector, and since which picture.
///
/// The memory of a reconstruction still holds an older picture. Where nothing has changed since
/// that, its samples and half samples are already those of the new picture, and need not be copied.
/// On a still scene, copies would be much of the work.
struct UnchangedMacroblocks {
  /// Macroblocks in a row.
  private let widthInMbs: Int
  /// Macroblock rows.
  private let heightInMbs: Int
  /// 1 for a macroblock that is P_Skip with a zero vector, with a border of ones around the
  /// picture.
  private let flags: UnsafeMutablePointer<UInt8>
  /// For each macroblock, the number of the last reference picture in which its samples differ from
  /// those of the reference picture before (`PicturePlanes.number`).
  let changed: UnsafeMutablePointer<UInt64>
  /// For each macroblock, the number of the last reference picture in which the half samples that
  /// its row completes in its column differ from those of the reference picture before.
  private let changedHalfSamples: UnsafeMutablePointer<UInt64>

  /// Allocates the arrays.
  ///
  /// - Parameters:
  ///   - geometry: the pictures' size.
  ///   - memory: owns the arrays.
  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    widthInMbs = geometry.widthInMbs
    heightInMbs = geometry.heightInMbs
    let bordered = (widthInMbs + 2) * (heightInMbs + 2)
    flags = memory.allocate(UInt8.self, count: bordered)
    flags.update(repeating: 1, count: bordered)
    changed = memory.allocate(UInt64.self, count: geometry.macroblockCount)
    changedHalfSamples = memory.allocate(UInt64.self, count: geometry.macroblockCount)
  }

  /// Marks all macroblocks as changed, in a picture that does not refer to the one before.
  ///
  /// - Parameter number: the picture's number.
  func setAllChanged(_ number: UInt64) {
    changed.update(repeating: number, count: widthInMbs * heightInMbs)
    changedHalfSamples.update(repeating: number, count: widthInMbs * heightInMbs)
  }

  /// The flags of macroblock row `y`, -1 for the border above; the entry of column x is x + 1.
  @inline(__always) private func flags(row y: Int) -> UnsafeMutablePointer<UInt8> {
    flags + (y &+ 1) &* (widthInMbs &+ 2)
  }

  /// Takes a macroblock row of a coded picture. To be called for all rows in order.
  ///
  /// - Parameters:
  ///   - y: the macroblock row.
  ///   - syntax: the picture's macroblocks.
  ///   - number: the picture's number.
  ///   - least: a number of macroblock columns.
  /// - Returns: whether the half samples of at least `least` columns are those of the reference
  ///   picture.
  func find(row y: Int, _ syntax: PictureSyntax, number: UInt64, atLeast least: Int) -> Bool {
    let w = widthInMbs
    let row = flags(row: y)
    for x in 0..<w {
      let m = y &* w &+ x
      let isStill = syntax.info[m].type == MacroblockType.skip && syntax.motion[m &* 4] == .zero
      row[x &+ 1] = isStill ? 1 : 0
    }
    var count = 0
    for x in 0..<w {
      if hasStillHalfSamples(x, row: y) {
        count &+= 1
      } else {
        changedHalfSamples[y &* w &+ x] = number
      }
    }
    if y > 0 { markChangedSamples(row: y &- 1, number) }
    if y == heightInMbs &- 1 { markChangedSamples(row: y, number) }
    return count >= least
  }

  /// Marks the macroblocks of a row whose samples have changed: all but those that have not changed
  /// and whose four neighbours have not either, since only then no edge is filtered.
  ///
  /// - Parameters:
  ///   - y: the macroblock row.
  ///   - number: the picture's number.
  private func markChangedSamples(row y: Int, _ number: UInt64) {
    let (above, row, below) = (flags(row: y &- 1), flags(row: y), flags(row: y &+ 1))
    for x in 0..<widthInMbs
    where row[x] & row[x &+ 1] & row[x &+ 2] & above[x &+ 1] & below[x &+ 1] == 0 {
      changed[y &* widthInMbs &+ x] = number
    }
  }

  /// Whether the half samples that a macroblock row completes in a column are those of the
  /// reference picture.
  ///
  /// They are if this macroblock, the one above, and the neighbours of both at the left and right
  /// have not changed: the six-tap filter reaches 3 samples further, and deblocking changes three
  /// samples next to a macroblock that has changed.
  ///
  /// - Parameters:
  ///   - x: the macroblock column.
  ///   - y: the macroblock row.
  @inline(__always) func hasStillHalfSamples(_ x: Int, row y: Int) -> Bool {
    let (above, row) = (flags(row: y &- 1), flags(row: y))
    return above[x] & above[x &+ 1] & above[x &+ 2] & row[x] & row[x &+ 1] & row[x &+ 2] != 0
  }

  /// Whether the half samples that a macroblock row completes in a column have not changed since a
  /// picture.
  ///
  /// - Parameters:
  ///   - x: the macroblock column.
  ///   - y: the macroblock row.
  ///   - number: the picture's number.
  @inline(__always) func areHalfSamplesSame(_ x: Int, row y: Int, since number: UInt64) -> Bool {
    changedHalfSamples[y &* widthInMbs &+ x] <= number
  }
}
