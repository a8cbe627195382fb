// SPDX-License-Identifier: Apache-2.0
/// The motion that most of a picture has in common, where its camera moves: a plane's motion (pan, zoom, roll).
struct CameraMotion {
  /// Whether there is any.
  private(set) var isKnown = false
  /// Quarter samples at macroblock (0, 0), and by how much they change from a macroblock to the next one.
  private var origin = SIMD2<Float>.zero
  private var perColumn = SIMD2<Float>.zero
  private var perRow = SIMD2<Float>.zero
  /// What each macroblock's own vector was taken to be; valid until the next picture is looked at.
  private var vectors: UnsafePointer<Vector>?

  /// From where the camera's motion has a macroblock come, in quarter samples.
  @inline(__always) func vector(_ x: Int, _ y: Int) -> MotionVector {
    let v = origin + perColumn * Float(x) + perRow * Float(y)
    // Within what a picture of any level's size moves: no overflow.
    let whole = v.clamped(
      lowerBound: SIMD2(repeating: -8192), upperBound: SIMD2(repeating: 8191))
    return MotionVector(Int16(whole.x.rounded()), Int16(whole.y.rounded()))
  }

  /// From where macroblock `m` itself seems to come, in quarter samples.
  @inline(__always) func seen(_ m: Int) -> MotionVector {
    guard let vectors else { return .zero }
    return MotionVector(vectors[m].x &* 8, vectors[m].y &* 8)
  }

  /// Vectors are in samples of the half-size picture.
  typealias Vector = SIMD2<Int16>

  /// What a macroblock's vector says.
  enum Evidence {
    /// Nothing: it has not changed, or no vector explains it.
    static let none: UInt8 = 0
    /// Its vector leaves far less than what is in place.
    static let moved: UInt8 = 1
  }

  /// Parts of the picture's macroblocks that must have moved, and parts of those that must agree.
  private static let parts = (moved: 0.35, agreeing: 0.7)
  /// The least mean motion, and how far from the common motion a vector may be that agrees with it.
  private static let distances = (least: Float(2), agreeing: Float(1.5))
  /// How far a vector may be from each estimate to count for the next one.
  private static let narrowing: [Float] = [12, 5, 2.5]

  init() {}

  /// Finds the motion that most of a picture's vectors agree on, by least squares that narrow in on it.
  ///
  /// - Parameters:
  ///   - vectors: of the macroblocks; read as long as this is used.
  ///   - evidence: what each says (`Evidence`).
  ///   - width: macroblocks in a row.
  ///   - height: rows of macroblocks.
  ///   - histogram: scratch of `histogramCount` entries.
  init(
    vectors: UnsafePointer<Vector>, evidence: UnsafePointer<UInt8>, width: Int, height: Int,
    histogram: UnsafeMutablePointer<Int32>
  ) {
    let count = width &* height
    let moved = Self.median(vectors, evidence, count: count, histogram)
    guard Double(moved.count) >= Self.parts.moved * Double(count) else { return }
    var (p, px, py) = (moved.median, SIMD2<Float>.zero, SIMD2<Float>.zero)
    for distance in Self.narrowing {
      var s = Sums()
      for y in 0..<height {
        for x in 0..<width {
          let m = y &* width &+ x
          if evidence[m] == Evidence.none { continue }
          let v = SIMD2<Float>(vectors[m])
          let d = v - (p + px * Float(x) + py * Float(y))
          if abs(d.x) > distance || abs(d.y) > distance { continue }
          s.add(Double(x), Double(y), SIMD2<Double>(v))
        }
      }
      guard let solved = s.solve() else { return }
      p = SIMD2<Float>(solved.p)
      px = SIMD2<Float>(solved.px)
      py = SIMD2<Float>(solved.py)
    }
    var agreeing = 0
    for y in 0..<height {
      for x in 0..<width where evidence[y &* width &+ x] != Evidence.none {
        let v = SIMD2<Float>(vectors[y &* width &+ x])
        let d = v - (p + px * Float(x) + py * Float(y))
        if max(abs(d.x), abs(d.y)) <= Self.distances.agreeing { agreeing &+= 1 }
      }
    }
    let middle = p + px * Float(width) * 0.5 + py * Float(height) * 0.5
    guard Double(agreeing) >= Self.parts.agreeing * Double(moved.count),
      max(abs(middle.x), abs(middle.y)) >= Self.distances.least
    else { return }
    isKnown = true
    self.vectors = vectors
    // A sample at half size is eight quarters.
    origin = p * 8
    perColumn = px * 8
    perRow = py * 8
  }

  /// Entries of a histogram: both components of vectors, each of -256...255.
  static let histogramCount = 1024

  /// The median of both components of the vectors that count, and how many do.
  private static func median(
    _ vectors: UnsafePointer<Vector>, _ evidence: UnsafePointer<UInt8>, count: Int,
    _ histogram: UnsafeMutablePointer<Int32>
  ) -> (median: SIMD2<Float>, count: Int) {
    histogram.update(repeating: 0, count: histogramCount)
    var total = 0
    for m in 0..<count where evidence[m] != Evidence.none {
      let v = vectors[m]
      histogram[min(max(Int(v.x), -256), 255) &+ 256] &+= 1
      histogram[min(max(Int(v.y), -256), 255) &+ 768] &+= 1
      total &+= 1
    }
    func middle(_ h: UnsafeMutablePointer<Int32>) -> Float {
      var below = 0
      for i in 0..<512 {
        below &+= Int(h[i])
        if below &* 2 >= total { return Float(i &- 256) }
      }
      return 0
    }
    return (SIMD2(middle(histogram), middle(histogram + 512)), total)
  }

  /// Sums for a plane through vectors, by least squares.
  private struct Sums {
    var (n, x, y, xx, xy, yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    var (v, xv, yv) = (SIMD2<Double>.zero, SIMD2<Double>.zero, SIMD2<Double>.zero)

    @inline(__always) mutating func add(_ px: Double, _ py: Double, _ vector: SIMD2<Double>) {
      n += 1
      x += px
      y += py
      xx += px * px
      xy += px * py
      yy += py * py
      v += vector
      xv += px * vector
      yv += py * vector
    }

    /// Nil where the macroblocks lie on a line, or are too few.
    func solve() -> (p: SIMD2<Double>, px: SIMD2<Double>, py: SIMD2<Double>)? {
      guard n >= 12 else { return nil }
      let (mx, my) = (x / n, y / n)
      let (a, b, c) = (xx / n - mx * mx, xy / n - mx * my, yy / n - my * my)
      let determinant = a * c - b * b
      guard determinant > 0.01 else { return nil }
      let (u, w) = (xv / n - mx * v / n, yv / n - my * v / n)
      let px = (c * u - b * w) / determinant
      let py = (a * w - b * u) / determinant
      return (v / n - mx * px - my * py, px, py)
    }
  }
}
