// SPDX-License-Identifier: Apache-2.0
import CH264Kernels

/// Finds by how many rows a picture, or a part of it, was scrolled since the picture that it refers to.
///
/// A scrolled document jumps further between two frames than a descent from its neighbours' vectors finds. The
/// sums of rows, in a few strips, tell the distance: text has lines.
struct ScrollDetector {
  private let geometry: PictureGeometry
  /// A number for each strip.
  private typealias Strips = SIMD4<Int32>
  /// Sums of the reference's rows, and of the rows of the source that are looked up.
  private let sums: UnsafeMutablePointer<SIMD4<Int32>>
  private let rows: UnsafeMutablePointer<SIMD4<Int32>>
  private static let strips = 4
  /// Rows of the source that are looked up.
  private static let samples = 64
  /// A difference of row means beyond this many levels says no more than that the rows differ.
  private static let mostLevels = 16
  /// Differences of row means below this many levels may be coding noise.
  private static let noise = 2
  /// Nearer is found from the neighbours' vectors.
  private static let nearest = 4

  init(_ geometry: PictureGeometry, memory: inout EncoderMemory) {
    self.geometry = geometry
    sums = memory.allocate(SIMD4<Int32>.self, count: geometry.height)
    rows = memory.allocate(SIMD4<Int32>.self, count: ScrollDetector.samples)
  }

  /// The row of the reference that shows what is now at row 0, or 0 if nothing was scrolled.
  ///
  /// - Parameter limit: the furthest that a vector may point.
  func distance(_ source: SourcePicture, from reference: PicturePlanes, limit: Int) -> Int {
    let height = geometry.height
    let wide = geometry.width / ScrollDetector.strips
    // Smaller pictures show no documents.
    guard wide >= 16, height >= 192 else { return 0 }
    let count = min(ScrollDetector.samples, height / 2)
    let cap = Int32(ScrollDetector.mostLevels * wide)
    let measure = Measure(
      noise: Strips(repeating: Int32(ScrollDetector.noise * wide)), cap: Strips(repeating: cap))

    // Where little has changed in place, nothing was scrolled.
    var still = Strips.zero
    var changed: Int32 = 0
    for i in 0..<count {
      let y = i &* height / count
      let sum = Self.sums(source.luma + y &* source.lumaBytesPerRow, wide)
      rows[i] = sum
      let c = measure.cost(sum, Self.sums(reference.luma + y &* geometry.stride, wide))
      still &+= c
      changed &+= Strips.zero.replacing(with: 1, where: c .> 0).wrappedSum()
    }
    guard Int(changed) &* 8 >= count &* ScrollDetector.strips else { return 0 }

    for y in 0..<height { sums[y] = Self.sums(reference.luma + y &* geometry.stride, wide) }
    // A strip that stands still is no argument against the others: what one loses does not count. Half of the
    // difference has to go.
    var best = 0
    var most = (still.wrappedSum() &+ 1) / 2 &- 1
    let unknown = Strips(repeating: cap / 4)
    let furthest = min(height * 3 / 4, limit)
    for distance in -furthest...furthest where abs(distance) >= ScrollDetector.nearest {
      var moved = Strips.zero
      var gain = Int32.max
      var i = 0
      // It only gets worse from row to row.
      while i < count && gain > most {
        let end = min(i &+ 8, count)
        while i < end {
          let y = i &* height / count &+ distance
          // What has come into view is new in either case.
          moved &+= y >= 0 && y < height ? measure.cost(rows[i], sums[y]) : unknown
          i &+= 1
        }
        let left = still &- moved
        gain = left.replacing(with: 0, where: left .< 0).wrappedSum()
      }
      if gain > most && matches(distance, reference, wide, count, measure) {
        most = gain
        best = distance
      }
    }
    return best
  }

  /// Whether the rows that are still in view match: of two scenes that have nothing in common, the fewer rows are
  /// compared, the less they differ together.
  private func matches(
    _ distance: Int, _ reference: PicturePlanes, _ wide: Int, _ count: Int, _ measure: Measure
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

  private struct Measure {
    let noise: Strips
    let cap: Strips

    @inline(__always) func cost(_ a: Strips, _ b: Strips) -> Strips {
      let d = a &- b
      let size = d.replacing(with: Strips.zero &- d, where: d .< 0)
      let limited = size.replacing(with: cap, where: size .> cap)
      return limited.replacing(with: 0, where: size .<= noise)
    }
  }

  /// Sums of a row in each strip.
  @inline(__always) private static func sums(_ row: UnsafePointer<UInt8>, _ wide: Int) -> Strips {
    @inline(__always) func sum(_ s: Int) -> Int32 {
      Int32(bitPattern: ovt_sum_bytes(row + s &* wide, Int32(wide)))
    }
    return Strips(sum(0), sum(1), sum(2), sum(3))
  }
}
