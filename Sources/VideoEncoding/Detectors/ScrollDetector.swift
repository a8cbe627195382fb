// SPDX-License-Identifier: Apache-2.0
import CVideoKernels

/// Finds by how many rows a picture, or a part of its width, was scrolled vertically since the
/// picture that it refers to.
///
/// A scrolled document moves further between two frames than a motion search that starts from
/// neighbouring vectors finds. The sums of the samples of each row, in four strips side by side,
/// tell the distance, since lines of text make them differ from row to row.
package struct ScrollDetector {
  /// The pictures' size.
  private let geometry: PictureGeometry
  /// The bytes from one row of the reference picture to the next.
  private let stride: Int
  /// A value for each of the four strips.
  private typealias Strips = SIMD4<Int32>
  /// For each row of the reference picture, the sum of the luma samples in each strip.
  private let sums: UnsafeMutablePointer<SIMD4<Int32>>
  /// The same sums for the rows of the source picture that are compared.
  private let rows: UnsafeMutablePointer<SIMD4<Int32>>
  /// Vertical strips, each a quarter of the picture's width.
  private static let strips = 4
  /// The largest number of rows of the source picture that are compared.
  private static let samples = 64
  /// The cap on the difference of two row means, in sample values: a larger difference says no more
  /// than that the rows differ.
  private static let maxLevels = 16
  /// Differences of row means up to this many sample values may be coding noise and count as zero.
  private static let noise = 2
  /// The least distance in rows that is searched: the motion search finds smaller ones.
  private static let nearest = 4

  /// Allocates the sums.
  ///
  /// - Parameters:
  ///   - geometry: the pictures' size.
  ///   - stride: the bytes from one row of reference pictures to the next; nil: as `geometry` has
  ///     it.
  ///   - memory: owns the sums.
  package init(_ geometry: PictureGeometry, stride: Int? = nil, memory: inout EncoderMemory) {
    self.geometry = geometry
    self.stride = stride ?? geometry.stride
    sums = memory.allocate(SIMD4<Int32>.self, count: geometry.height)
    rows = memory.allocate(SIMD4<Int32>.self, count: ScrollDetector.samples)
  }

  /// Finds the distance of a scroll.
  ///
  /// - Parameters:
  ///   - source: the picture.
  ///   - reference: the first luma sample of the reconstruction of the picture that it refers to.
  ///   - limit: the largest vertical vector, in luma samples, that the level allows.
  /// - Returns: the distance in luma rows: row y of the picture shows what is at row y + distance
  ///   of the reference. 0 if nothing was scrolled.
  package func distance(_ source: SourcePicture, from reference: UnsafePointer<UInt8>, limit: Int) -> Int {
    let height = geometry.height
    let wide = geometry.width / ScrollDetector.strips
    // Smaller pictures show no documents.
    guard wide >= 16, height >= 192 else { return 0 }
    let count = min(ScrollDetector.samples, height / 2)
    let cap = Int32(ScrollDetector.maxLevels * wide)
    let measure = Measure(
      noise: Strips(repeating: Int32(ScrollDetector.noise * wide)), cap: Strips(repeating: cap))

    // Where little has changed in place, nothing was scrolled.
    var still = Strips.zero
    var changed: Int32 = 0
    for i in 0..<count {
      let y = i &* height / count
      let sum = Self.sums(source.luma + y &* source.lumaBytesPerRow, wide)
      rows[i] = sum
      let c = measure.cost(sum, Self.sums(reference + y &* stride, wide))
      still &+= c
      changed &+= Strips.zero.replacing(with: 1, where: c .> 0).wrappedSum()
    }
    // Where fewer than an eighth of the compared row parts have changed, nothing was scrolled.
    guard Int(changed) &* 8 >= count &* ScrollDetector.strips else { return 0 }

    for y in 0..<height { sums[y] = Self.sums(reference + y &* stride, wide) }
    // A strip that has not moved says nothing against the others, so a strip's loss does not count
    // against their gain. At least half of the difference has to vanish.
    var best = 0
    var maximum = (still.wrappedSum() &+ 1) / 2 &- 1
    let unknown = Strips(repeating: cap / 4)
    let furthest = min(height * 3 / 4, limit)
    for distance in -furthest...furthest where abs(distance) >= ScrollDetector.nearest {
      var moved = Strips.zero
      var gain = Int32.max
      var i = 0
      // The gain only shrinks with further rows.
      while i < count && gain > maximum {
        let end = min(i &+ 8, count)
        while i < end {
          let y = i &* height / count &+ distance
          // Rows that have come into view have no counterpart; they cost the same at any distance.
          moved &+= y >= 0 && y < height ? measure.cost(rows[i], sums[y]) : unknown
          i &+= 1
        }
        let left = still &- moved
        gain = left.replacing(with: 0, where: left .< 0).wrappedSum()
      }
      if gain > maximum && matches(distance, wide, count, measure) {
        maximum = gain
        best = distance
      }
    }
    return best
  }

  /// Tests a distance on the rows that are in view in both pictures.
  ///
  /// Without this test two unrelated scenes would seem scrolled by a large distance, since the
  /// fewer rows are compared, the less they differ in total.
  ///
  /// - Parameters:
  ///   - distance: the distance in rows.
  ///   - wide: the width of a strip in luma samples.
  ///   - count: the number of rows that are compared.
  ///   - measure: the cost of a difference.
  /// - Returns: whether the distance removes more than half of the difference in the strips that
  ///   gain.
  private func matches(
    _ distance: Int, _ wide: Int, _ count: Int, _ measure: Measure
  ) -> Bool {
    var still = Strips.zero
    var moved = Strips.zero
    for i in 0..<count {
      let y = i &* geometry.height / count
      let from = y &+ distance
      guard from >= 0, from < geometry.height else { continue }
      still &+= measure.cost(rows[i], sums[y])
      moved &+= measure.cost(rows[i], sums[from])
    }
    let gains = still .> moved
    return still.replacing(with: 0, where: .!gains).wrappedSum()
      > moved.replacing(with: 0, where: .!gains).wrappedSum() &* 2
  }

  /// The cost of a difference between two rows' sums: its magnitude, 0 up to `noise` and at most
  /// `cap`.
  private struct Measure {
    let noise: Strips
    let cap: Strips

    /// The cost of the difference between the sums `a` and `b` of each strip.
    @inline(__always) func cost(_ a: Strips, _ b: Strips) -> Strips {
      let d = a &- b
      let size = d.replacing(with: Strips.zero &- d, where: d .< 0)
      let limited = size.replacing(with: cap, where: size .> cap)
      return limited.replacing(with: 0, where: size .<= noise)
    }
  }

  /// Sums the samples of a row in each strip of `wide` samples.
  @inline(__always) private static func sums(_ row: UnsafePointer<UInt8>, _ wide: Int) -> Strips {
    @inline(__always) func sum(_ s: Int) -> Int32 {
      Int32(bitPattern: ovt_sum_bytes(row + s &* wide, Int32(wide)))
    }
    return Strips(sum(0), sum(1), sum(2), sum(3))
  }
}
