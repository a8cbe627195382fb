// SPDX-License-Identifier: Apache-2.0
/// Where a picture is as it was: macroblocks that are P_Skip with no motion, and since when.
///
/// A picture's memory holds an older picture. Where nothing has changed since that one, its samples and half samples
/// are already those of the new one: nothing is copied. (On a still scene copies would be much of the work.)
struct StillMacroblocks {
  private let widthInMbs: Int
  private let heightInMbs: Int
  /// 1 for a macroblock that is P_Skip with no motion, with a border of ones.
  private let flags: UnsafeMutablePointer<UInt8>
  /// For each macroblock the number of the last reference picture in which its samples differ from those of the
  /// reference picture before.
  let changed: UnsafeMutablePointer<UInt64>
  /// The same for the half samples that a row of macroblocks completes, column by column.
  private let changedHalfSamples: UnsafeMutablePointer<UInt64>

  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    widthInMbs = geometry.widthInMbs
    heightInMbs = geometry.heightInMbs
    let bordered = (widthInMbs + 2) * (heightInMbs + 2)
    flags = memory.allocate(UInt8.self, count: bordered)
    flags.update(repeating: 1, count: bordered)
    changed = memory.allocate(UInt64.self, count: geometry.macroblockCount)
    changedHalfSamples = memory.allocate(UInt64.self, count: geometry.macroblockCount)
  }

  /// Everything may differ in this picture: it does not refer to the one before.
  func setAllChanged(_ number: UInt64) {
    changed.update(repeating: number, count: widthInMbs * heightInMbs)
    changedHalfSamples.update(repeating: number, count: widthInMbs * heightInMbs)
  }

  @inline(__always) private func flags(row y: Int) -> UnsafeMutablePointer<UInt8> {
    flags + (y &+ 1) &* (widthInMbs &+ 2)
  }

  /// Takes down row `y` of the picture with this number. Call for the rows in order. Returns whether the half samples
  /// of at least `least` columns can be those of the reference.
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
    if y > 0 { noteSamples(row: y &- 1, number) }
    if y == heightInMbs &- 1 { noteSamples(row: y, number) }
    return count >= least
  }

  /// The samples of a still macroblock are the reference's if its four neighbours are still too: then no edge of it
  /// is filtered.
  private func noteSamples(row y: Int, _ number: UInt64) {
    let (above, row, below) = (flags(row: y &- 1), flags(row: y), flags(row: y &+ 1))
    for x in 0..<widthInMbs
    where row[x] & row[x &+ 1] & row[x &+ 2] & above[x &+ 1] & below[x &+ 1] == 0 {
      changed[y &* widthInMbs &+ x] = number
    }
  }

  /// Whether the half samples of a column, as far as row `y` completes them, are those of the reference.
  ///
  /// They are if this macroblock, the one above and their neighbours to both sides are still: the taps reach 3 samples
  /// further, and deblocking changes 3 samples next to a macroblock that is not still.
  @inline(__always) func hasStillHalfSamples(_ x: Int, row y: Int) -> Bool {
    let (above, row) = (flags(row: y &- 1), flags(row: y))
    return above[x] & above[x &+ 1] & above[x &+ 2] & row[x] & row[x &+ 1] & row[x &+ 2] != 0
  }

  /// Whether half samples have not changed since a picture.
  @inline(__always) func areHalfSamplesSame(_ x: Int, row y: Int, since number: UInt64) -> Bool {
    changedHalfSamples[y &* widthInMbs &+ x] <= number
  }
}
