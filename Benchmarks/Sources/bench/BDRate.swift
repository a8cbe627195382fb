// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The Bjontegaard delta rate: the mean difference in bit rate between two rate-quality curves over
/// the range of qualities that both reach. The curves are piecewise cubic interpolations without
/// overshoot (Fritsch-Carlson) of the logarithm of the rate.
enum BDRate {
  typealias Point = (rate: Double, quality: Double)

  /// The difference in percent, which is negative if `test` needs fewer bits. It is nil if the
  /// curves have no quality range in common.
  static func percent(_ test: [Point], against anchor: [Point]) -> Double? {
    guard let a = Curve(anchor), let b = Curve(test) else { return nil }
    let low = max(a.x.first ?? 0, b.x.first ?? 0)
    let high = min(a.x.last ?? 0, b.x.last ?? 0)
    guard high > low else { return nil }
    let steps = 2000
    var sum = 0.0
    for i in 0..<steps {
      let x = low + (high - low) * (Double(i) + 0.5) / Double(steps)
      sum += b.value(x) - a.value(x)
    }
    return (exp(sum / Double(steps)) - 1) * 100
  }

  /// The logarithm of the rate as a function of the quality.
  private struct Curve {
    var x: [Double] = []
    var y: [Double] = []
    private var slopes: [Double] = []

    init?(_ points: [Point]) {
      for point in points.sorted(by: { $0.rate < $1.rate }) where point.quality > (x.last ?? -.infinity) {
        x.append(point.quality)
        y.append(log(point.rate))
      }
      guard x.count >= 2 else { return nil }
      let n = x.count
      var secants: [Double] = []
      for i in 0..<n - 1 { secants.append((y[i + 1] - y[i]) / (x[i + 1] - x[i])) }
      slopes = [Double](repeating: 0, count: n)
      for i in 1..<max(n - 1, 1) where secants[i - 1] * secants[i] > 0 {
        let (h0, h1) = (x[i] - x[i - 1], x[i + 1] - x[i])
        let (w0, w1) = (2 * h1 + h0, h1 + 2 * h0)
        slopes[i] = (w0 + w1) / (w0 / secants[i - 1] + w1 / secants[i])
      }
      slopes[0] = secants[0]
      slopes[n - 1] = secants[n - 2]
    }

    func value(_ at: Double) -> Double {
      let i = max(0, min(x.count - 2, (x.firstIndex { $0 > at } ?? x.count) - 1))
      let h = x[i + 1] - x[i]
      let t = (at - x[i]) / h
      let (t2, t3) = (t * t, t * t * t)
      let ends: Double = (2 * t3 - 3 * t2 + 1) * y[i] + (3 * t2 - 2 * t3) * y[i + 1]
      let bends: Double = (t3 - 2 * t2 + t) * slopes[i] + (t3 - t2) * slopes[i + 1]
      return ends + h * bends
    }
  }
}
