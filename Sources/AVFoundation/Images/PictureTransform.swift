// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Applies the linear part of a track's preferred transform to a picture, and moves the result to
/// the origin.
struct PictureTransform {
  /// The most pixels of a result in each direction, and in total unless the source has more.
  private static let longestSide = 16384.0
  static let largestArea = Double(1 << 26)

  private let a: Double
  private let b: Double
  private let c: Double
  private let d: Double
  private let naturalSize: CGSize

  /// Creates the transform. If it cannot be inverted, or its result has no pixels or too many, it
  /// is replaced by the identity.
  init(_ transform: CGAffineTransform, of naturalSize: CGSize) {
    self.naturalSize = naturalSize
    var parts = [transform.a, transform.b, transform.c, transform.d].map { Double($0) }
    // Quarter turns in fixed-point numbers may be inexact.
    let integers = parts.map { $0.rounded() }
    if zip(parts, integers).allSatisfy({ abs($0 - $1) < 0.001 }) { parts = integers }
    let box = Self.box(parts[0], parts[1], parts[2], parts[3], naturalSize)
    let determinant = parts[0] * parts[3] - parts[1] * parts[2]
    let limit = max(Self.largestArea, Double(naturalSize.width * naturalSize.height))
    let isUsable =
      parts.allSatisfy(\.isFinite) && abs(determinant) > 1e-6 && box.width >= 1 && box.height >= 1
      && box.width <= Self.longestSide && box.height <= Self.longestSide
      && box.width * box.height <= limit
    if !isUsable { parts = [1, 0, 0, 1] }
    (a, b, c, d) = (parts[0], parts[1], parts[2], parts[3])
  }

  /// The size of the bounding box of a transformed rectangle.
  private static func box(_ a: Double, _ b: Double, _ c: Double, _ d: Double, _ size: CGSize)
    -> (width: Double, height: Double)
  {
    let (w, h) = (Double(size.width), Double(size.height))
    return (abs(a) * w + abs(c) * h, abs(b) * w + abs(d) * h)
  }

  /// The size at which the source is decoded so that the result fits into `limit`. A width or
  /// height of zero sets no limit.
  func sourceSize(fitting limit: CGSize) -> CGSize {
    let box = Self.box(a, b, c, d, naturalSize)
    var scale = 1.0
    if limit.width > 0, box.width > 0 { scale = min(scale, Double(limit.width) / box.width) }
    if limit.height > 0, box.height > 0 { scale = min(scale, Double(limit.height) / box.height) }
    func side(_ length: CGFloat) -> CGFloat {
      let scaled = (Double(length) * scale).rounded()
      return scaled.isFinite ? CGFloat(max(1, min(scaled, Self.longestSide))) : 1
    }
    return CGSize(width: side(naturalSize.width), height: side(naturalSize.height))
  }

  /// Transforms a picture of 32-bit pixels whose fourth byte is alpha.
  /// - Parameters:
  ///   - base: The first pixel.
  ///   - width: The width in pixels.
  ///   - height: The height in pixels.
  ///   - bytesPerRow: The distance between rows in bytes.
  ///   - isStraight: Whether the source has straight alpha. The result has premultiplied alpha.
  /// - Returns: Rows of pixels without padding, transparent where the source does not reach.
  func apply(
    to base: UnsafeRawPointer, width: Int, height: Int, bytesPerRow: Int, isStraight: Bool = false
  ) -> (pixels: Data, width: Int, height: Int) {
    let box = Self.box(a, b, c, d, CGSize(width: width, height: height))
    let outWidth = max(1, Int(min(box.width.rounded(), Self.longestSide)))
    let outHeight = max(1, Int(min(box.height.rounded(), Self.longestSide)))
    var pixels = Data(count: outWidth * outHeight * 4)
    let source = Source(
      base: base, width: width, height: height, bytesPerRow: bytesPerRow, isStraight: isStraight)
    pixels.withUnsafeMutableBytes { (out: UnsafeMutableRawBufferPointer) in
      guard let target = out.baseAddress else { return }
      // Centres of result pixels are mapped to the source; both pictures are centred at the origin.
      let determinant = a * d - b * c
      let isQuarterTurn =
        [a, b, c, d].allSatisfy { abs($0) == 1 || $0 == 0 } && abs(determinant) == 1
        && (a == 0) == (d == 0) && (b == 0) == (c == 0)
      let stepX = (x: d / determinant, y: -b / determinant)
      let stepY = (x: -c / determinant, y: a / determinant)
      for row in 0..<outHeight {
        let v = Double(row) + 0.5 - Double(outHeight) / 2
        for column in 0..<outWidth {
          let u = Double(column) + 0.5 - Double(outWidth) / 2
          let x = u * stepX.x + v * stepY.x + Double(width) / 2
          let y = u * stepX.y + v * stepY.y + Double(height) / 2
          let pixel = isQuarterTurn ? source.pixel(atX: x, y: y) : source.blend(atX: x, y: y)
          target.storeBytes(of: pixel, toByteOffset: 4 * (row * outWidth + column), as: UInt32.self)
        }
      }
    }
    return (pixels, outWidth, outHeight)
  }

  /// The source picture, which is transparent outside its bounds.
  private struct Source {
    let base: UnsafeRawPointer
    let width: Int
    let height: Int
    let bytesPerRow: Int
    let isStraight: Bool

    @inline(__always) func stored(_ x: Int, _ y: Int) -> UInt32 {
      let (x, y) = (max(0, min(x, width - 1)), max(0, min(y, height - 1)))
      let pixel = base.loadUnaligned(fromByteOffset: y * bytesPerRow + 4 * x, as: UInt32.self)
      return isStraight ? Self.multiplied(pixel) : pixel
    }

    /// Multiplies the colours of a pixel by its alpha, which is in the most significant byte.
    @inline(__always) static func multiplied(_ pixel: UInt32) -> UInt32 {
      let alpha = pixel >> 24
      if alpha == 255 { return pixel }
      var result = alpha << 24
      for shift in stride(from: UInt32(0), to: 24, by: 8) {
        result |= ((pixel >> shift & 0xFF) * alpha + 127) / 255 << shift
      }
      return result
    }

    @inline(__always) func pixel(atX x: Double, y: Double) -> UInt32 {
      guard x >= 0, y >= 0, x < Double(width), y < Double(height) else { return 0 }
      return stored(Int(x.rounded(.down)), Int(y.rounded(.down)))
    }

    /// The bilinear interpolation of the four nearest pixels.
    @inline(__always) func blend(atX x: Double, y: Double) -> UInt32 {
      guard x >= 0, y >= 0, x < Double(width), y < Double(height) else { return 0 }
      let left = (x - 0.5).rounded(.down)
      let top = (y - 0.5).rounded(.down)
      let (column, row) = (Int(left), Int(top))
      let right = UInt32((x - 0.5 - left) * 256)
      let down = UInt32((y - 0.5 - top) * 256)
      let weights = ((256 - right) * (256 - down), right * (256 - down), (256 - right) * down, right * down)
      let p = (
        stored(column, row), stored(column + 1, row), stored(column, row + 1), stored(column + 1, row + 1)
      )
      var result: UInt32 = 0
      for shift in stride(from: UInt32(0), to: 32, by: 8) {
        let sum =
          (p.0 >> shift & 0xFF) * weights.0 + (p.1 >> shift & 0xFF) * weights.1
          + (p.2 >> shift & 0xFF) * weights.2 + (p.3 >> shift & 0xFF) * weights.3
        result |= ((sum + 32768) >> 16) << shift
      }
      return result
    }
  }
}
