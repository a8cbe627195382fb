// SPDX-License-Identifier: Apache-2.0
import FFmpegMedia
import Foundation

/// Scales pictures to a size of another aspect ratio without distortion, by adding bars or by
/// cropping.
final class PictureFitting: @unchecked Sendable {
  // Sendable: `lock` guards what changes.
  private let width: Int
  private let height: Int
  private let fills: Bool
  private let converter = PixelConverter(filter: .bicubic, threads: 1)
  private let lock = Lock()
  private var pool: CVPixelBufferPool?
  private var poolFormat: OSType = 0

  /// Creates a fitting.
  /// - Parameters:
  ///   - width: The width of the result in pixels.
  ///   - height: The height of the result in pixels.
  ///   - fills: Whether to crop the picture, rather than add bars.
  init(width: Int, height: Int, fills: Bool) {
    self.width = width
    self.height = height
    self.fills = fills
  }

  /// Fits a picture.
  /// - Returns: A picture of the size, or `source` if its aspect ratio is that of the size already.
  /// - Throws: `AVError` if there is no memory or the pixel format cannot be converted.
  func fit(_ source: CVPixelBuffer) throws -> CVPixelBuffer {
    let sourceWidth = CVPixelBufferGetWidth(source)
    let sourceHeight = CVPixelBufferGetHeight(source)
    // The aspect ratios are equal. The encoder scales the picture if needed.
    guard sourceWidth * height != sourceHeight * width else { return source }
    let target = try makeBuffer(CVPixelBufferGetPixelFormatType(source))
    let isWider = sourceWidth * height > sourceHeight * width
    do {
      if fills {
        let cut =
          isWider
          ? Self.centered(
            width: sourceHeight * width / height, height: sourceHeight, in: (sourceWidth, sourceHeight))
          : Self.centered(
            width: sourceWidth, height: sourceWidth * height / width, in: (sourceWidth, sourceHeight))
        try converter.convert(source, sourceRect: cut, to: target)
      } else {
        Self.blacken(target)
        let targetRect =
          isWider
          ? Self.centered(width: width, height: width * sourceHeight / sourceWidth, in: (width, height))
          : Self.centered(width: height * sourceWidth / sourceHeight, height: height, in: (width, height))
        try converter.convert(source, to: target, targetRect: targetRect)
      }
    } catch {
      throw AVError(.encodeFailed, reason: "The picture cannot be fitted: \(error).", underlying: error)
    }
    CVBufferPropagateAttachments(source, target)
    return target
  }

  /// A rectangle in the middle of a picture. Positions and sides are even, as chroma of half the
  /// resolution requires.
  private static func centered(width: Int, height: Int, in whole: (Int, Int)) -> PixelRect {
    let width = max(2, width & ~1)
    let height = max(2, height & ~1)
    return PixelRect(
      x: (whole.0 - width) / 2 & ~1, y: (whole.1 - height) / 2 & ~1, width: min(width, whole.0),
      height: min(height, whole.1))
  }

  private func makeBuffer(_ format: OSType) throws -> CVPixelBuffer {
    try lock.withLock {
      if pool == nil || poolFormat != format {
        let attributes: [CFString: Any] = [
          kCVPixelBufferPixelFormatTypeKey: NSNumber(value: format),
          kCVPixelBufferWidthKey: NSNumber(value: width),
          kCVPixelBufferHeightKey: NSNumber(value: height),
        ]
        CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as NSDictionary, &pool)
        poolFormat = format
      }
      var buffer: CVPixelBuffer?
      if let pool { CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &buffer) }
      guard let buffer else { throw AVError(.outOfMemory, reason: "There is no memory for a picture.") }
      return buffer
    }
  }

  /// Fills a buffer with black, in any format that the converter writes, by scaling up a small
  /// black picture.
  private static func blacken(_ target: CVPixelBuffer) {
    var dot: CVPixelBuffer?
    CVPixelBufferCreate(kCFAllocatorDefault, 16, 16, kCVPixelFormatType_32BGRA, nil, &dot)
    guard let dot else { return }
    CVPixelBufferLockBaseAddress(dot, [])
    if let base = CVPixelBufferGetBaseAddress(dot) {
      for row in 0..<16 {
        let line = base + row * CVPixelBufferGetBytesPerRow(dot)
        for column in 0..<16 {
          line.storeBytes(of: UInt32(0xFF00_0000), toByteOffset: 4 * column, as: UInt32.self)
        }
      }
    }
    CVPixelBufferUnlockBaseAddress(dot, [])
    try? PixelConverter(filter: .nearest).convert(dot, to: target)
  }
}
