// SPDX-License-Identifier: Apache-2.0
/// The global motion of a picture whose camera moves: pan, zoom and roll, as a motion vector that
/// is an affine function of the macroblock's position.
///
/// It is fitted by least squares to the vectors that `PreAnalysis` found, and gives the motion
/// search of P pictures start vectors.
package struct CameraMotion: BitwiseCopyable {
  /// Whether the vectors of the picture agree on a global motion. Where this is false, the vectors
  /// of this structure are zero.
  package private(set) var isKnown = false
  /// The vector of macroblock (0, 0), in quarter samples.
  private var origin = SIMD2<Float>.zero
  /// The difference by which the vector changes from one macroblock to its neighbour at the right,
  /// in quarter samples.
  private var perColumn = SIMD2<Float>.zero
  /// The difference by which the vector changes from one macroblock to its neighbour below, in
  /// quarter samples.
  private var perRow = SIMD2<Float>.zero
  /// The vector that the pre-analysis found for each macroblock, in raster order; valid until the
  /// next picture is analysed.
  private var vectors: UnsafePointer<Vector>?

  /// Evaluates the global motion at a macroblock.
  ///
  /// - Parameters:
  ///   - x: the macroblock's column.
  ///   - y: the macroblock's row.
  /// - Returns: the motion vector into the previous picture, in quarter samples.
  @inline(__always) package func vector(_ x: Int, _ y: Int) -> SIMD2<Int16> {
    let v = origin + perColumn * Float(x) + perRow * Float(y)
    // Clamped to a range that holds every vector of any level (Table A-1), so that the conversion
    // to 16 bits cannot overflow.
    let limited = v.clamped(
      lowerBound: SIMD2(repeating: -8192), upperBound: SIMD2(repeating: 8191))
    return SIMD2(Int16(limited.x.rounded()), Int16(limited.y.rounded()))
  }

  /// Returns the vector that the pre-analysis found for one macroblock on its own.
  ///
  /// - Parameter m: the macroblock's address (raster order).
  /// - Returns: the motion vector into the previous picture, in quarter samples; zero where no
  ///   global motion is known.
  @inline(__always) package func seen(_ m: Int) -> SIMD2<Int16> {
    guard let vectors else { return .zero }
    return SIMD2(vectors[m].x &* 8, vectors[m].y &* 8)
  }

  /// A vector in whole samples of the half-size luma picture (`PreAnalysis`).
  package typealias Vector = SIMD2<Int16>

  /// Whether a macroblock's vector counts in the fit.
  package enum Evidence {
    /// The vector does not count: the macroblock has hardly changed, or its best vector does not
    /// explain the change.
    package static let none: UInt8 = 0
    /// The vector counts: its SAD is less than half of the SAD of the zero vector.
    package static let moved: UInt8 = 1
  }

  /// The least share of all macroblocks whose vector has to count (`moved`), and the least share of
  /// those that has to agree with the fitted motion (`agreeing`).
  private static let parts = (moved: 0.35, agreeing: 0.7)
  /// The least length of either component of the vector in the middle of the picture (`least`), and
  /// the largest difference in either component of a vector that agrees with the fitted motion
  /// (`agreeing`); both in half-size samples.
  private static let distances = (least: Float(2), agreeing: Float(1.5))
  /// For each round of the fit, the largest difference in either component, in half-size samples,
  /// between a vector that takes part in the round and the motion that the round before has fitted.
  private static let narrowing: [Float] = [12, 5, 2.5]

  /// Makes a motion that is not known.
  package init() {}

  /// Fits the global motion to a picture's vectors.
  ///
  /// The fit begins with the median vector. Each of three rounds of least squares leaves out the
  /// vectors that are further from the last result than `narrowing` allows, so that objects which
  /// move on their own drop out. The motion stays unknown if too few macroblocks moved, if too few
  /// agree, or if the motion is too small to matter.
  ///
  /// - Parameters:
  ///   - vectors: the vector of each macroblock; must stay valid as long as this value is used.
  ///   - evidence: `Evidence` of each macroblock.
  ///   - width: macroblocks in a row.
  ///   - height: rows of macroblocks.
  ///   - histogram: scratch memory of `histogramCount` entries.
  package init(
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
    // One sample of the half-size picture is two luma samples, which are eight quarter samples.
    origin = p * 8
    perColumn = px * 8
    perRow = py * 8
  }

  /// Entries of the scratch memory for medians: 512 for each component, for values of -256 to 255.
  static let histogramCount = 1024

  /// Computes the median of each component of the vectors that count.
  ///
  /// - Parameters:
  ///   - vectors: the vector of each macroblock.
  ///   - evidence: `Evidence` of each macroblock.
  ///   - count: the number of macroblocks.
  ///   - histogram: scratch memory of `histogramCount` entries.
  /// - Returns: the median in half-size samples, and the number of vectors that count.
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

  /// Sums over macroblocks for the least-squares fit of a plane to both components of their
  /// vectors: `n` macroblocks, their columns `x`, rows `y`, vectors `v`, and the products of these.
  private struct Sums {
    var (n, x, y, xx, xy, yy) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    var (v, xv, yv) = (SIMD2<Double>.zero, SIMD2<Double>.zero, SIMD2<Double>.zero)

    /// Adds a macroblock at column `px` and row `py`.
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

    /// Solves the normal equations.
    ///
    /// - Returns: the vector `p` at (0, 0) and its change per column (`px`) and row (`py`); nil
    ///   where there are fewer than 12 macroblocks, or where they lie on a line.
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
