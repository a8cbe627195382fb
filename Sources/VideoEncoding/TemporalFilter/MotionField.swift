// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// The motion from the blocks of one picture to another picture: for each block of 16x16 luma
/// samples the vector to the samples that resemble it most.
package final class MotionField: @unchecked Sendable {
  // Sendable: nothing changes after the initializer.
  /// A displacement in quarters of a luma sample.
  package struct Vector: Equatable, Sendable, BitwiseCopyable {
    package var x: Int32
    package var y: Int32
  }

  /// The vectors, row by row.
  package let vectors: UnsafePointer<Vector>
  /// The number of vectors.
  package let count: Int
  private var memory = EncoderMemory()

  /// Searches for the motion at a quarter of the size, then at a half, in full, and between the
  /// samples. Each step begins with what the previous one and the neighbours have found.
  ///
  /// - Parameters:
  ///   - picture: the picture whose blocks are searched for.
  ///   - reference: the picture in which they are searched for, of the same size.
  ///   - kernels: the kernels that compare blocks.
  ///   - isFractional: whether vectors point between samples, too.
  package init(
    of picture: FilterPicture, in reference: FilterPicture, kernels: UnsafePointer<OVTVideoKernels>,
    isFractional: Bool = true
  ) {
    count = picture.columns * picture.rows
    let fine = memory.allocate(Vector.self, count: count)
    vectors = UnsafePointer(fine)
    let coarseColumns = (picture.columns + 1) / 2
    let coarseRows = (picture.rows + 1) / 2
    let coarse = memory.allocate(Vector.self, count: coarseColumns * coarseRows)
    let middle = memory.allocate(Vector.self, count: count)
    let scratch = memory.allocate(UInt8.self, count: 2 * 256)
    var search = BlockSearch(
      kernels: kernels, picture: picture.quarter, reference: reference.quarter, size: 8,
      reach: FilterPicture.reach / 2)
    for row in 0..<coarseRows {
      for column in 0..<coarseColumns {
        let at = row &* coarseColumns &+ column
        search.begin(8 &* column, 8 &* row, near: column > 0 ? coarse[at &- 1] : Vector(x: 0, y: 0))
        if row > 0 { search.consider(coarse[at &- coarseColumns]) }
        search.searchWindow(8)
        search.refine(steps: 2)
        coarse[at] = search.best
      }
    }
    search = BlockSearch(
      kernels: kernels, picture: picture.half, reference: reference.half, size: 8,
      reach: FilterPicture.reach / 2)
    for row in 0..<picture.rows {
      for column in 0..<picture.columns {
        let at = row &* picture.columns &+ column
        let parent = (row / 2) &* coarseColumns &+ column / 2
        search.begin(8 &* column, 8 &* row, near: coarse[parent].doubled)
        // The neighbours of the parent on the side of this block.
        let side = column & 1 == 0 ? column / 2 &- 1 : column / 2 &+ 1
        let above = row & 1 == 0 ? row / 2 &- 1 : row / 2 &+ 1
        if side >= 0 && side < coarseColumns {
          search.consider(coarse[row / 2 &* coarseColumns &+ side].doubled)
        }
        if above >= 0 && above < coarseRows {
          search.consider(coarse[above &* coarseColumns &+ column / 2].doubled)
        }
        if column > 0 { search.consider(middle[at &- 1]) }
        if row > 0 { search.consider(middle[at &- picture.columns]) }
        search.refine(steps: 4)
        middle[at] = search.best
      }
    }
    search = BlockSearch(
      kernels: kernels, picture: picture.luma, reference: reference.luma, size: 16,
      reach: FilterPicture.reach)
    for row in 0..<picture.rows {
      for column in 0..<picture.columns {
        let at = row &* picture.columns &+ column
        search.begin(16 &* column, 16 &* row, near: middle[at].doubled)
        if column > 0 { search.consider(fine[at &- 1].whole) }
        if row > 0 { search.consider(fine[at &- picture.columns].whole) }
        search.refine(steps: 4)
        fine[at] = isFractional ? search.refineBetweenSamples(scratch) : search.bestInQuarters
      }
    }
  }
}

extension MotionField.Vector {
  /// The same motion at twice the size, in samples.
  fileprivate var doubled: Self { Self(x: 2 &* x, y: 2 &* y) }
  /// A vector in quarters of samples as the nearest in samples.
  var whole: Self { Self(x: (x &+ 2) >> 2, y: (y &+ 2) >> 2) }
}

/// The search for one block after the other in a plane, by the sum of absolute differences.
struct BlockSearch {
  typealias Vector = MotionField.Vector

  private let sad: OVTCompare
  private let picture: FilterPlane
  private let reference: FilterPlane
  private let size: Int
  private let reach: Int
  /// The cost of a vector per sample of its distance from the predicted vector. It keeps the
  /// vectors of flat blocks, whose differences are noise, equal to those of their neighbours.
  private let price: Int
  private var x = 0
  private var y = 0
  private var expected = Vector(x: 0, y: 0)
  private var block: UnsafeMutablePointer<UInt8>
  private(set) var best = Vector(x: 0, y: 0)
  private var bestCost = Int.max
  /// The differences at the best vector, without its price.
  private var bestDifference = 0

  /// - Parameters:
  ///   - size: the edge of the blocks, 8 or 16.
  ///   - reach: how far a block may lie outside of the picture.
  init(
    kernels: UnsafePointer<OVTVideoKernels>, picture: FilterPlane, reference: FilterPlane, size: Int,
    reach: Int
  ) {
    sad = size == 8 ? kernels.pointee.sad.3! : kernels.pointee.sad.0!
    self.picture = picture
    self.reference = reference
    self.size = size
    self.reach = reach
    price = size * size / 16
    block = picture.origin
  }

  /// Begins with a block: its expected vector and the vector 0 are considered.
  mutating func begin(_ x: Int, _ y: Int, near expected: Vector) {
    self.x = x
    self.y = y
    block = picture.at(x, y)
    bestCost = Int.max
    // The zero vector has no cost, because static content is likely.
    self.expected = Vector(x: 0, y: 0)
    consider(Vector(x: 0, y: 0))
    self.expected = clamped(expected)
    consider(expected)
  }

  /// The nearest vector that does not leave the margins.
  private func clamped(_ vector: Vector) -> Vector {
    Vector(
      x: Int32(min(max(Int(vector.x), -reach &- x), reference.width &+ reach &- size &- x)),
      y: Int32(min(max(Int(vector.y), -reach &- y), reference.height &+ reach &- size &- y)))
  }

  @inline(__always)
  private func distance(_ vector: Vector) -> Int {
    Int(abs(vector.x &- expected.x) &+ abs(vector.y &- expected.y))
  }

  /// Compares the block with the samples at a vector.
  @inline(__always)
  mutating func consider(_ wanted: Vector) {
    let vector = clamped(wanted)
    let samples = reference.at(x &+ Int(vector.x), y &+ Int(vector.y))
    let difference = Int(sad(block, picture.stride, samples, reference.stride))
    let cost = difference &+ price &* distance(vector)
    if cost < bestCost { (bestCost, bestDifference, best) = (cost, difference, vector) }
  }

  /// The best vector in quarters of samples.
  var bestInQuarters: Vector { Vector(x: 4 &* best.x, y: 4 &* best.y) }

  /// Considers every other vector of a square around 0.
  mutating func searchWindow(_ radius: Int32) {
    var dy = -radius
    while dy <= radius {
      var dx = -radius
      while dx <= radius {
        consider(Vector(x: dx, y: dy))
        dx &+= 2
      }
      dy &+= 2
    }
  }

  /// Moves to the best of the eight neighbours while that is better.
  mutating func refine(steps: Int) {
    for _ in 0..<steps {
      let centre = best
      for dy in Int32(-1)...1 {
        for dx in Int32(-1)...1 where dx != 0 || dy != 0 {
          consider(Vector(x: centre.x &+ dx, y: centre.y &+ dy))
        }
      }
      if best == centre { break }
    }
  }

  /// Considers halves and quarters of samples around the best vector.
  ///
  /// - Parameter scratch: memory for 256 samples.
  /// - Returns: the vector in quarters of samples.
  mutating func refineBetweenSamples(_ scratch: UnsafeMutablePointer<UInt8>) -> Vector {
    var centre = bestInQuarters
    // Fractions have no price.
    var difference = bestDifference
    if difference == 0 { return centre }
    for step in [Int32(2), 1] {
      let start = centre
      for (dx, dy) in [(-step, 0), (step, 0), (0, -step), (0, step)] as [(Int32, Int32)] {
        let vector = Vector(x: start.x &+ dx, y: start.y &+ dy)
        Interpolation.luma(reference, x, y, vector, size: size, to: scratch)
        let other = Int(sad(block, picture.stride, scratch, 16))
        if other < difference { (difference, centre) = (other, vector) }
      }
    }
    return centre
  }
}
