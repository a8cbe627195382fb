// SPDX-License-Identifier: Apache-2.0
/// The pixels of an image, for sampling.
struct Picture {
  var width: Int
  var height: Int
  var pixels: [Pixel]

  subscript(x: Int, y: Int) -> Pixel {
    pixels[max(0, min(height - 1, y)) * width + max(0, min(width - 1, x))]
  }

  func nearest(_ u: CGFloat, _ v: CGFloat) -> Pixel {
    self[Int(u.rounded(.down)), Int(v.rounded(.down))]
  }

  /// Returns the bilinear interpolation of the four pixels around a point.
  func smooth(_ u: CGFloat, _ v: CGFloat) -> Pixel {
    let (x, y) = (u - 0.5, v - 0.5)
    let (left, top) = (x.rounded(.down), y.rounded(.down))
    let (fx, fy) = (x - left, y - top)
    let (i, j) = (Int(left), Int(top))
    let (a, b, c, d) = (self[i, j], self[i + 1, j], self[i, j + 1], self[i + 1, j + 1])
    func mix(_ part: KeyPath<Pixel, UInt8>) -> UInt8 {
      let upper = CGFloat(a[keyPath: part]) * (1 - fx) + CGFloat(b[keyPath: part]) * fx
      let lower = CGFloat(c[keyPath: part]) * (1 - fx) + CGFloat(d[keyPath: part]) * fx
      return UInt8(max(0, min(255, (upper * (1 - fy) + lower * fy).rounded())))
    }
    return Pixel(r: mix(\.r), g: mix(\.g), b: mix(\.b), a: mix(\.a))
  }

  /// Returns a smaller picture for scales of 1/2 and below, in which each pixel is the mean of a
  /// block of pixels.
  func averaged(_ scaleX: CGFloat, _ scaleY: CGFloat) -> Picture {
    let (stepX, stepY) = (Self.step(scaleX, width), Self.step(scaleY, height))
    guard stepX > 1 || stepY > 1 else { return self }
    let (columns, rows) = ((width + stepX - 1) / stepX, (height + stepY - 1) / stepY)
    var result = Picture(width: columns, height: rows, pixels: [])
    result.pixels.reserveCapacity(columns * rows)
    for row in 0..<rows {
      for column in 0..<columns {
        var sums: (r: UInt64, g: UInt64, b: UInt64, a: UInt64, n: UInt64) = (0, 0, 0, 0, 0)
        for y in row * stepY..<min(height, (row + 1) * stepY) {
          for x in column * stepX..<min(width, (column + 1) * stepX) {
            let pixel = pixels[y * width + x]
            sums.r += UInt64(pixel.r)
            sums.g += UInt64(pixel.g)
            sums.b += UInt64(pixel.b)
            sums.a += UInt64(pixel.a)
            sums.n += 1
          }
        }
        func mean(_ sum: UInt64) -> UInt8 { UInt8((sum + sums.n / 2) / max(1, sums.n)) }
        result.pixels.append(Pixel(r: mean(sums.r), g: mean(sums.g), b: mean(sums.b), a: mean(sums.a)))
      }
    }
    return result
  }

  /// Returns the size of the blocks along one side. It divides the side, because an incomplete last
  /// block would distort the picture.
  private static func step(_ scale: CGFloat, _ side: Int) -> Int {
    guard scale > 0, scale < 1 else { return 1 }
    // For a scale close to 0, the quotient is infinite.
    var step = Int(max(1, min(CGFloat(side), (1 / scale).rounded(.down))))
    while step > 1, side % step != 0 { step -= 1 }
    return step
  }
}
