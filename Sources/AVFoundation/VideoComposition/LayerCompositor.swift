// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Follows layer instructions: transforms, crops and blends 32-bit BGRA pictures over a background.
final class LayerCompositor: NSObject, AVVideoCompositing, @unchecked Sendable {
  // Sendable: has no state.
  override init() { super.init() }

  var sourcePixelBufferAttributes: [String: any Sendable]? {
    [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
  }
  var requiredPixelBufferAttributesForRenderContext: [String: any Sendable] {
    [kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA]
  }
  func renderContextChanged(_ newRenderContext: AVVideoCompositionRenderContext) {}

  func startRequest(_ request: AVAsynchronousVideoCompositionRequest) {
    guard let target = request.renderContext.newPixelBuffer() else {
      request.finish(with: AVError(.outOfMemory, reason: "There is no memory for a picture."))
      return
    }
    guard let instruction = request.videoCompositionInstruction as? AVVideoCompositionInstruction else {
      request.finish(
        with: AVError(
          .invalidVideoComposition, reason: "Instructions of this class need a compositor of their own.",
          advice: "Set customVideoCompositorClass."))
      return
    }
    CVPixelBufferLockBaseAddress(target, [])
    defer { CVPixelBufferUnlockBaseAddress(target, []) }
    guard let canvas = Pixels(target) else {
      request.finish(with: AVError(.unknown, reason: "The picture cannot be written."))
      return
    }
    canvas.fill(Pixels.value(of: instruction.backgroundColor))
    for layer in instruction.layerInstructions.reversed() {
      guard let source = request.sourceFrame(byTrackID: layer.trackID) else { continue }
      CVPixelBufferLockBaseAddress(source, .readOnly)
      defer { CVPixelBufferUnlockBaseAddress(source, .readOnly) }
      guard let picture = Pixels(source) else { continue }
      let time = request.compositionTime
      canvas.draw(
        picture, layer.transform(at: time), crop: layer.crop(at: time), opacity: layer.opacity(at: time),
        hasAlpha: request.tracksWithAlpha.contains(layer.trackID))
    }
    request.finish(withComposedVideoFrame: target)
  }
}

/// The memory of a picture of 32-bit BGRA.
private struct Pixels {
  let base: UnsafeMutableRawPointer
  let width: Int
  let height: Int
  let bytesPerRow: Int

  init?(_ buffer: CVPixelBuffer) {
    guard CVPixelBufferGetPixelFormatType(buffer) == kCVPixelFormatType_32BGRA,
      let base = CVPixelBufferGetBaseAddress(buffer)
    else { return nil }
    self.base = base
    width = CVPixelBufferGetWidth(buffer)
    height = CVPixelBufferGetHeight(buffer)
    bytesPerRow = CVPixelBufferGetBytesPerRow(buffer)
  }

  /// The colour blended with black, as 0xAARRGGBB with alpha 0xFF.
  static func value(of color: CGColor?) -> UInt32 {
    guard let color, let parts = color.components, let alpha = parts.last else { return 0xFF00_0000 }
    func byte(_ part: CGFloat) -> UInt32 {
      let value = Double(part * alpha)
      return value.isFinite ? UInt32(max(0, min(255, (value * 255).rounded()))) : 0
    }
    let (red, green, blue) =
      parts.count == 4 ? (parts[0], parts[1], parts[2]) : (parts[0], parts[0], parts[0])
    return 0xFF00_0000 | byte(red) << 16 | byte(green) << 8 | byte(blue)
  }

  func fill(_ value: UInt32) {
    for row in 0..<height {
      (base + row * bytesPerRow).assumingMemoryBound(to: UInt32.self)
        .update(repeating: value.littleEndian, count: width)
    }
  }

  /// Draws another picture with a transform, with bilinear interpolation.
  /// - Parameters:
  ///   - source: The picture.
  ///   - transform: From pixels of the source to pixels of this picture.
  ///   - crop: The visible part of the source, in its pixels; nil for all of it.
  ///   - opacity: From 0 to 1.
  ///   - hasAlpha: Whether the source has straight alpha; otherwise it is opaque.
  func draw(
    _ source: Pixels, _ transform: CGAffineTransform, crop: CGRect?, opacity: Float, hasAlpha: Bool
  ) {
    let whole = CGRect(x: 0, y: 0, width: CGFloat(source.width), height: CGFloat(source.height))
    let shown = crop.map { whole.common(with: $0) } ?? whole
    let determinant = Double(transform.a * transform.d - transform.b * transform.c)
    let weight = Int((max(0, min(1, opacity.isFinite ? opacity : 0)) * 256).rounded())
    guard !shown.isNull, shown.width > 0, shown.height > 0, abs(determinant) > 1e-9, determinant.isFinite,
      weight > 0
    else { return }
    let box = shown.applying(transform)
    func clamp(_ value: CGFloat, _ limit: Int) -> Int {
      value.isFinite ? Int(max(0, min(Double(value), Double(limit)))) : 0
    }
    let columns =
      clamp(
        box.minX.rounded(.down), width)..<max(
        clamp(box.minX.rounded(.down), width), clamp(box.maxX.rounded(.up), width))
    let rows =
      clamp(
        box.minY.rounded(.down), height)..<max(
        clamp(box.minY.rounded(.down), height), clamp(box.maxY.rounded(.up), height))
    let inverse = transform.inverted()
    let (left, right) = (Double(shown.minX), Double(shown.maxX))
    let (top, bottom) = (Double(shown.minY), Double(shown.maxY))
    let (a, b, c, d) = (Double(inverse.a), Double(inverse.b), Double(inverse.c), Double(inverse.d))
    let (tx, ty) = (Double(inverse.tx), Double(inverse.ty))
    for row in rows {
      let line = (base + row * bytesPerRow).assumingMemoryBound(to: UInt8.self)
      for column in columns {
        let (u, v) = (Double(column) + 0.5, Double(row) + 0.5)
        let x = a * u + c * v + tx
        let y = b * u + d * v + ty
        guard x >= left, x < right, y >= top, y < bottom else { continue }
        if hasAlpha {
          source.blendStraight(atX: x - 0.5, y: y - 0.5, over: line + 4 * column, weight)
        } else {
          source.blend(atX: x - 0.5, y: y - 0.5, over: line + 4 * column, weight)
        }
      }
    }
  }

  private typealias Pixel = UnsafeMutablePointer<UInt8>

  /// Returns the four pixels around a position, upper row first, and the position's horizontal and
  /// vertical distance from the first one, in 1/256 pixel.
  @inline(__always)
  private func neighbours(atX x: Double, y: Double) -> (
    pixels: (Pixel, Pixel, Pixel, Pixel), right: Int, below: Int
  ) {
    let (floorX, floorY) = (x.rounded(.down), y.rounded(.down))
    let x0 = max(0, min(width - 1, Int(floorX)))
    let x1 = min(width - 1, max(0, Int(floorX) + 1))
    let y0 = max(0, min(height - 1, Int(floorY)))
    let y1 = min(height - 1, max(0, Int(floorY) + 1))
    let first = (base + y0 * bytesPerRow).assumingMemoryBound(to: UInt8.self)
    let second = (base + y1 * bytesPerRow).assumingMemoryBound(to: UInt8.self)
    return (
      (first + 4 * x0, first + 4 * x1, second + 4 * x0, second + 4 * x1),
      Int((x - floorX) * 256 + 0.5), Int((y - floorY) * 256 + 0.5)
    )
  }

  /// Blends the interpolated colour at a position into a pixel. The weight is in units of 1/256.
  @inline(__always)
  private func blend(atX x: Double, y: Double, over target: Pixel, _ weight: Int) {
    let (pixels, right, below) = neighbours(atX: x, y: y)
    for part in 0..<3 {
      let upper = Int(pixels.0[part]) * (256 - right) + Int(pixels.1[part]) * right
      let lower = Int(pixels.2[part]) * (256 - right) + Int(pixels.3[part]) * right
      let colour = (upper * (256 - below) + lower * below + 0x8000) >> 16
      target[part] = UInt8(
        truncatingIfNeeded: (colour * weight + Int(target[part]) * (256 - weight) + 128) >> 8)
    }
    target[3] = 255
  }

  /// Does the same as `blend(atX:y:over:_:)` for a source with straight alpha. Each of the four
  /// pixels contributes in proportion to its alpha.
  @inline(never)
  private func blendStraight(atX x: Double, y: Double, over target: Pixel, _ weight: Int) {
    let (pixels, right, below) = neighbours(atX: x, y: y)
    // The contributions are in units of 1 / (256 * 256 * 255).
    let shares = (
      (256 - right) * (256 - below) * Int(pixels.0[3]), right * (256 - below) * Int(pixels.1[3]),
      (256 - right) * below * Int(pixels.2[3]), right * below * Int(pixels.3[3])
    )
    let whole = 256 * 256 * 255 * 256
    let rest = whole - (shares.0 + shares.1 + shares.2 + shares.3) * weight
    for part in 0..<3 {
      let upper = shares.0 * Int(pixels.0[part]) + shares.1 * Int(pixels.1[part])
      let lower = shares.2 * Int(pixels.2[part]) + shares.3 * Int(pixels.3[part])
      target[part] = UInt8(
        truncatingIfNeeded: ((upper + lower) * weight + Int(target[part]) * rest + whole / 2) / whole)
    }
    target[3] = 255
  }
}
