import CH264Kernels

/// Finds by how many rows a picture, or a part of it, was scrolled since the picture that it refers to.
///
/// A scrolled document jumps further between two frames than a descent from its neighbours' vectors finds. The
/// sums of rows, in a few strips, tell the distance: text has lines.
struct ScrollDetector {
  private let geometry: PictureGeometry
  /// Sums of the reference's rows, a strip after another.
  private let sums: UnsafeMutablePointer<Int32>
  private static let strips = 4
  /// Rows of the source that are looked up.
  private static let samples = 64
  /// A difference of row means beyond this many levels says no more than that the rows differ.
  private static let mostLevels = 16
  /// Differences of row means below this many levels may be coding noise.
  private static let noise = 2
  /// Nearer is found from the neighbours' vectors.
  private static let nearest = 4

  init(_ geometry: PictureGeometry) {
    self.geometry = geometry
    sums = allocateAligned(Int32.self, count: geometry.height * ScrollDetector.strips)
  }

  func deallocate() { sums.deallocate() }

  /// The row of the reference that shows what is now at row 0, or 0 if nothing was scrolled.
  ///
  /// - Parameter limit: the furthest that a vector may point.
  func distance(_ source: SourcePicture, from reference: PicturePlanes, limit: Int) -> Int {
    let strips = ScrollDetector.strips
    let height = geometry.height
    let wide = geometry.width / strips
    guard wide >= 16, height >= 128 else { return 0 }
    let count = min(ScrollDetector.samples, height / 2)
    return withUnsafeTemporaryAllocation(of: Int32.self, capacity: count * strips + 2 * strips) { memory in
      guard let rows = memory.baseAddress else { return 0 }
      let still = rows + count * strips
      let moved = still + strips
      let cap = Int32(ScrollDetector.mostLevels * wide)
      let noise = Int32(ScrollDetector.noise * wide)
      @inline(__always) func cost(_ a: Int32, _ b: Int32) -> Int32 {
        let difference = (a &- b).magnitude
        return difference <= UInt32(noise) ? 0 : Int32(min(difference, UInt32(cap)))
      }

      // Where little has changed in place, nothing was scrolled.
      var changed = 0
      for s in 0..<strips { still[s] = 0 }
      for i in 0..<count {
        let y = i &* height / count
        for s in 0..<strips {
          let sum = Self.sum(source.luma + (y &* source.lumaBytesPerRow &+ s &* wide), wide)
          rows[i &* strips &+ s] = sum
          let c = cost(sum, Self.sum(reference.luma + (y &* geometry.stride &+ s &* wide), wide))
          still[s] &+= c
          if c > 0 { changed &+= 1 }
        }
      }
      guard changed &* 8 >= count &* strips else { return 0 }

      for s in 0..<strips {
        for y in 0..<height {
          sums[s &* height &+ y] = Self.sum(reference.luma + (y &* geometry.stride &+ s &* wide), wide)
        }
      }
      var total: Int32 = 0
      for s in 0..<strips { total &+= still[s] }
      var best = 0
      var most: Int32 = 0
      let furthest = min(height * 3 / 4, limit)
      for distance in -furthest...furthest where abs(distance) >= ScrollDetector.nearest {
        for s in 0..<strips { moved[s] = 0 }
        for i in 0..<count {
          let y = i &* height / count &+ distance
          // What has come into view is new in either case.
          let isInside = y >= 0 && y < height
          for s in 0..<strips {
            moved[s] &+= isInside ? cost(rows[i &* strips &+ s], sums[s &* height &+ y]) : cap / 4
          }
        }
        // A strip that stands still is no argument against the others.
        var gain: Int32 = 0
        for s in 0..<strips { gain &+= max(still[s] &- moved[s], 0) }
        if gain > most {
          most = gain
          best = distance
        }
      }
      return most &* 2 >= total ? best : 0
    }
  }

  @inline(__always) private static func sum(_ row: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    var total: Int32 = 0
    for x in 0..<count { total &+= Int32(row[x]) }
    return total
  }
}
