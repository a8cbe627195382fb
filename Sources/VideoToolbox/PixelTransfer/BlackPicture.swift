// SPDX-License-Identifier: Apache-2.0
import CoreMedia
import FFmpegMedia

/// Fills pixel buffers with black, in every pixel format that `PixelConverter` can write.
enum BlackPicture {
  /// Fills a buffer with black.
  /// - Parameters:
  ///   - buffer: The buffer.
  ///   - rect: The part to fill; nil for all of it.
  ///   - converter: Converts black to the buffer's pixel format.
  static func fill(
    _ buffer: CVPixelBuffer, rect: PixelRect? = nil, with converter: PixelConverter
  ) throws(PixelConversionError) {
    // Black of limited range (Y 16, Cb and Cr 128) is black in every matrix.
    var made: CVPixelBuffer?
    let width = rect?.width ?? CVPixelBufferGetWidth(buffer)
    let height = rect?.height ?? CVPixelBufferGetHeight(buffer)
    guard
      CVPixelBufferCreate(nil, width, height, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &made)
        == kCVReturnSuccess, let made
    else { throw .failed }
    CVPixelBufferLockBaseAddress(made, [])
    for (plane, value) in [(0, Int32(16)), (1, Int32(128))] {
      if let base = CVPixelBufferGetBaseAddressOfPlane(made, plane) {
        memset(
          base, value,
          CVPixelBufferGetBytesPerRowOfPlane(made, plane) * CVPixelBufferGetHeightOfPlane(made, plane))
      }
    }
    CVPixelBufferUnlockBaseAddress(made, [])
    try converter.convert(made, to: buffer, targetRect: rect)
  }

  /// Fills everything outside a rectangle with black.
  static func fill(
    _ buffer: CVPixelBuffer, around rect: PixelRect, with converter: PixelConverter
  ) throws(PixelConversionError) {
    let width = CVPixelBufferGetWidth(buffer)
    let height = CVPixelBufferGetHeight(buffer)
    let right = rect.x + rect.width
    let bottom = rect.y + rect.height
    let bars = [
      PixelRect(x: 0, y: 0, width: width, height: rect.y),
      PixelRect(x: 0, y: bottom, width: width, height: height - bottom),
      PixelRect(x: 0, y: rect.y, width: rect.x, height: rect.height),
      PixelRect(x: right, y: rect.y, width: width - right, height: rect.height),
    ]
    for bar in bars where bar.width > 0 && bar.height > 0 { try fill(buffer, rect: bar, with: converter) }
  }
}
