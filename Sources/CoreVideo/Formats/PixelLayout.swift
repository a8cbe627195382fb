// SPDX-License-Identifier: Apache-2.0
/// The layout of a picture's planes in one block of memory.
struct PixelLayout: Sendable {
  struct Plane: Sendable {
    /// The offset in bytes from the block's start to the picture's first pixel.
    var offset: Int
    /// The size of the plane, in its own samples, without extended pixels.
    var width: Int
    var height: Int
    var bytesPerRow: Int
    /// The offset in bytes from the block's start to the plane's first byte, including extended
    /// pixels.
    var start: Int
    /// The number of rows of blocks in memory, including extended pixels.
    var rows: Int
  }

  /// The alignment of every block of memory in bytes, which suits any SIMD load and a cache line.
  static let blockAlignment = 64

  var planes: [Plane]
  /// The planes of the pixel format.
  var formatPlanes: [PixelFormat.Plane]
  /// The size of the block in bytes.
  var dataSize: Int
  /// The distance of two rows in bytes; for a planar format the block's size divided by the
  /// picture's height, as `CVPixelBufferGetBytesPerRow` returns it.
  var bytesPerRow: Int
  var isPlanar: Bool

  /// Computes the layout of `width` x `height` pixels of a format.
  ///
  /// - Parameters:
  ///   - format: The pixel format.
  ///   - width: The width in pixels.
  ///   - height: The height in pixels.
  ///   - extended: The pixels around the picture.
  ///   - rowAlignment: Every row's length is a multiple of this many bytes (a power of two).
  ///   - planeAlignment: Every plane starts at a multiple of this many bytes (a power of two).
  /// - Throws: `LayoutError.tooLarge` if a row's length does not fit an `Int32`, or a side exceeds
  ///   `maximumDimension`.
  init(
    format: PixelFormat, width: Int, height: Int, extended: ExtendedPixels = .init(),
    rowAlignment: Int = 64, planeAlignment: Int = 1
  ) throws(LayoutError) {
    var planes: [Plane] = []
    var end = 0
    // Checked before the sums, which could overflow.
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

  /// The largest width or height of a picture, in pixels.
  static let maximumDimension = 1 << 16

  enum LayoutError: Error { case tooLarge }
}

/// The quotient, rounded up.
func ceilDivide(_ a: Int, _ b: Int) -> Int { a / b + (a % b > 0 ? 1 : 0) }
/// The smallest multiple of `b` that is not less than `a`.
func roundUp(_ a: Int, to b: Int) -> Int { ceilDivide(a, b) * b }
