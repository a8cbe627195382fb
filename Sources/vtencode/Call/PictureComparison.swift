import Foundation
import VideoToolbox

/// How far a picture is from another, by their luma.
enum PictureComparison {
  /// Mean squared error; infinite if there is nothing to compare.
  static func meanSquaredError(_ one: CVPixelBuffer, _ other: CVPixelBuffer) -> Double {
    PicturePair.with(one, other) { pair in
      guard let luma = pair.planes(0) else { return .infinity }
      var sum: UInt64 = 0
      for row in 0..<luma.height {
        let (p, q) = luma.row(row, as: UInt8.self)
        var rowSum: UInt32 = 0
        for x in 0..<luma.width {
          let difference = Int32(p[x]) &- Int32(q[x])
          rowSum &+= UInt32(truncatingIfNeeded: difference &* difference)
        }
        sum += UInt64(rowSum)
      }
      return Double(sum) / Double(max(luma.width * luma.height, 1))
    }
  }

  /// Whether all samples are the same.
  static func isEqual(_ one: CVPixelBuffer, _ other: CVPixelBuffer) -> Bool {
    let width = CVPixelBufferGetWidth(one)
    let height = CVPixelBufferGetHeight(one)
    guard width == CVPixelBufferGetWidth(other), height == CVPixelBufferGetHeight(other) else { return false }
    return PicturePair.with(one, other) { pair in
      for plane in 0..<2 {
        guard let planes = pair.planes(plane) else { return false }
        // Two samples of chroma for each two of luma: as many bytes in each row.
        for row in 0..<planes.height {
          let (p, q) = planes.row(row, as: UInt8.self)
          if memcmp(p, q, width) != 0 { return false }
        }
      }
      return true
    }
  }

  static func decibels(meanSquaredError error: Double) -> Double {
    error > 0 ? min(10 * log10(255 * 255 / error), 100) : 100
  }

  /// Structural similarity (Wang et al., 2004) over blocks of 8 by 8 samples, every 4 samples: 1 is identical.
  static func structuralSimilarity(_ one: CVPixelBuffer, _ other: CVPixelBuffer) -> Double {
    let c1 = 6.5025
    let c2 = 58.5225
    return PicturePair.with(one, other) { pair in
      guard let luma = pair.planes(0) else { return .infinity }
      var total = 0.0
      var count = 0
      for y in stride(from: 0, through: luma.height - 8, by: 4) {
        for x in stride(from: 0, through: luma.width - 8, by: 4) {
          var (sumA, sumB, squares, products): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
          for row in 0..<8 {
            let (p, q) = luma.row(y + row, as: UInt8.self)
            for column in x..<(x + 8) {
              let (u, v) = (Int32(p[column]), Int32(q[column]))
              sumA &+= u
              sumB &+= v
              squares &+= u &* u &+ v &* v
              products &+= u &* v
            }
          }
          let (meanA, meanB) = (Double(sumA) / 64, Double(sumB) / 64)
          let variances = Double(squares) / 64 - meanA * meanA - meanB * meanB
          let covariance = Double(products) / 64 - meanA * meanB
          total +=
            (2 * meanA * meanB + c1) * (2 * covariance + c2)
            / ((meanA * meanA + meanB * meanB + c1) * (variances + c2))
          count += 1
        }
      }
      return count > 0 ? total / Double(count) : 1
    }
  }
}
