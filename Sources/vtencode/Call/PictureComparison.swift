import Foundation
import VideoToolbox

/// How far a picture is from another, by their luma.
enum PictureComparison {
  /// Mean squared error.
  static func meanSquaredError(_ one: CVPixelBuffer, _ other: CVPixelBuffer) -> Double {
    withLuma(one, other) { a, b, width, height in
      var sum: UInt64 = 0
      for row in 0..<height {
        let (p, q) = (a.start + row * a.stride, b.start + row * b.stride)
        var rowSum: UInt32 = 0
        for x in 0..<width {
          let difference = Int32(p[x]) &- Int32(q[x])
          rowSum &+= UInt32(truncatingIfNeeded: difference &* difference)
        }
        sum += UInt64(rowSum)
      }
      return Double(sum) / Double(max(width * height, 1))
    }
  }

  /// Whether all samples are the same.
  static func isEqual(_ one: CVPixelBuffer, _ other: CVPixelBuffer) -> Bool {
    CVPixelBufferLockBaseAddress(one, .readOnly)
    CVPixelBufferLockBaseAddress(other, .readOnly)
    defer {
      CVPixelBufferUnlockBaseAddress(other, .readOnly)
      CVPixelBufferUnlockBaseAddress(one, .readOnly)
    }
    for plane in 0..<2 {
      guard let a = CVPixelBufferGetBaseAddressOfPlane(one, plane),
        let b = CVPixelBufferGetBaseAddressOfPlane(other, plane)
      else { return false }
      // Two samples of chroma for each two of luma: as many bytes in each row.
      let width = CVPixelBufferGetWidth(one)
      guard width == CVPixelBufferGetWidth(other) else { return false }
      for row in 0..<CVPixelBufferGetHeightOfPlane(one, plane) {
        let p = a + row * CVPixelBufferGetBytesPerRowOfPlane(one, plane)
        let q = b + row * CVPixelBufferGetBytesPerRowOfPlane(other, plane)
        if memcmp(p, q, width) != 0 { return false }
      }
    }
    return true
  }

  static func decibels(meanSquaredError error: Double) -> Double {
    error > 0 ? min(10 * log10(255 * 255 / error), 100) : 100
  }

  /// Structural similarity (Wang et al., 2004) over blocks of 8 by 8 samples, every 4 samples: 1 is identical.
  static func structuralSimilarity(_ one: CVPixelBuffer, _ other: CVPixelBuffer) -> Double {
    let c1 = 6.5025
    let c2 = 58.5225
    return withLuma(one, other) { a, b, width, height in
      var total = 0.0
      var count = 0
      for y in stride(from: 0, through: height - 8, by: 4) {
        for x in stride(from: 0, through: width - 8, by: 4) {
          var (sumA, sumB, squares, products): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
          for row in 0..<8 {
            let p = a.start + (y + row) * a.stride + x
            let q = b.start + (y + row) * b.stride + x
            for column in 0..<8 {
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

  private typealias Plane = (start: UnsafePointer<UInt8>, stride: Int)

  private static func withLuma(
    _ one: CVPixelBuffer, _ other: CVPixelBuffer, _ body: (Plane, Plane, Int, Int) -> Double
  ) -> Double {
    CVPixelBufferLockBaseAddress(one, .readOnly)
    CVPixelBufferLockBaseAddress(other, .readOnly)
    defer {
      CVPixelBufferUnlockBaseAddress(other, .readOnly)
      CVPixelBufferUnlockBaseAddress(one, .readOnly)
    }
    guard let a = CVPixelBufferGetBaseAddressOfPlane(one, 0),
      let b = CVPixelBufferGetBaseAddressOfPlane(other, 0)
    else { return .infinity }
    return body(
      (UnsafePointer(a.assumingMemoryBound(to: UInt8.self)), CVPixelBufferGetBytesPerRowOfPlane(one, 0)),
      (UnsafePointer(b.assumingMemoryBound(to: UInt8.self)), CVPixelBufferGetBytesPerRowOfPlane(other, 0)),
      min(CVPixelBufferGetWidth(one), CVPixelBufferGetWidth(other)),
      min(CVPixelBufferGetHeight(one), CVPixelBufferGetHeight(other)))
  }
}
