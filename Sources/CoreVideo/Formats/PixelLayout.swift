// SPDX-License-Identifier: Apache-2.0
/// Where the planes of a picture lie in one block of memory.
struct PixelLayout: Sendable {
  struct Plane: Sendable {
    /// Bytes from the block's start to the picture's first pixel.
    var offset: Int
    var width: Int
    var height: Int
    var bytesPerRow: Int
    /// Bytes from the block's start to the plane's first byte, extended pixels included.
    var start: Int
    /// Rows, extended pixels included.
    var rows: Int
  }

  /// Every block starts on a multiple of this, wide enough for any SIMD load and a cache line.
  static let blockAlignment = 64

  var planes: [Plane]
  /// The planes of the format.
  var formatPlanes: [PixelFormat.Plane]
  var dataSize: Int
  var bytesPerRow: Int
  var isPlanar: Bool

  /// The layout of `width` x `height` pixels of a format.
  ///
  /// - Parameters:
  ///   - rowAlignment: Every row's length is a multiple of this many bytes (a power of two).
  ///   - planeAlignment: Every plane starts on a multiple of this many bytes (a power of two).
  /// - Throws: `LayoutError.tooLarge` if the size does not fit an `Int32` row or an `Int` block.
  init(
    format: PixelFormat, width: Int, height: Int, extended: ExtendedPixels = .init(),
    rowAlignment: Int = 64, planeAlignment: Int = 1
  ) throws(LayoutError) {
    var planes: [Plane] = []
    var end = 0
    // Before the sums: anything may be asked for.
    guard max(width, height) <= Self.maximumDimension else { throw .tooLarge }
    let fullWidth = width + extended.left + extended.right
    let fullHeight = height + extended.top + extended.bottom
    guard fullWidth <= Self.maximumDimension, fullHeight <= Self.maximumDimension else { throw .tooLarge }
    for plane in format.planes {
      let pixels = ceilDivide(fullWidth, plane.horizontalSubsampling)
      let rows = ceilDivide(fullHeight, plane.verticalSubsampling)
      let blocks = roundUp(
        ceilDivide(pixels, plane.blockWidth), to: plane.blockHorizontalAlignment)
      let blockRows = roundUp(ceilDivide(rows, plane.blockHeight), to: plane.blockVerticalAlignment)
      let bytesPerRow = roundUp(ceilDivide(blocks * plane.bitsPerBlock, 8), to: rowAlignment)
      guard bytesPerRow <= Int(Int32.max) else { throw .tooLarge }
      let start = roundUp(end, to: planeAlignment)
      let inset =
        extended.top / plane.verticalSubsampling / plane.blockHeight * bytesPerRow
        + extended.left / plane.horizontalSubsampling / plane.blockWidth * plane.bitsPerBlock / 8
      planes.append(
        Plane(
          offset: start + inset, width: ceilDivide(width, plane.horizontalSubsampling),
          height: ceilDivide(height, plane.verticalSubsampling), bytesPerRow: bytesPerRow, start: start,
          rows: blockRows))
      end = start + blockRows * bytesPerRow
    }
    self.planes = planes
    formatPlanes = format.planes
    dataSize = end
    isPlanar = format.isPlanar
    bytesPerRow = isPlanar ? ceilDivide(end, max(height, 1)) : planes[0].bytesPerRow
  }

  /// Neither side of a picture may be longer than this.
  static let maximumDimension = 1 << 16

  enum LayoutError: Error { case tooLarge }
}

func ceilDivide(_ a: Int, _ b: Int) -> Int { a / b + (a % b > 0 ? 1 : 0) }
func roundUp(_ a: Int, to b: Int) -> Int { ceilDivide(a, b) * b }
